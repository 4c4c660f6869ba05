//! In which order, and how long it may take: the rooms one after the other, the quickest first, so that verdicts come at
//! once; and in a room the longest first, so that no core waits for the last one.

use spinpark_verification::job::Order;
use spinpark_verification::kept::{self, Kept};
use std::collections::HashMap;
use std::path::Path;

/// A process is started for each, and says how it goes.
const PROCESS: f64 = 0.02;

/// How long each order may take, in seconds, on a machine like the one of the record.
pub(crate) struct Estimate {
    kept: Kept,
}

impl Estimate {
    /// From the record of this source tree, if it is there: it is a guess in any case.
    pub(crate) fn of_this_tree() -> Estimate {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../record.jsonl");
        Estimate { kept: Kept::read(&path).unwrap_or_default() }
    }

    pub(crate) fn seconds(&self, order: &Order) -> f64 {
        let guess = match (&order.mutant, order.engine) {
            // The first execution that fails ends it.
            (Some(_), _) => Some(0.05),
            (None, engine) => self.kept.run(&order.model, &kept::key(engine, order.bounds)).map(|run| run.seconds),
        };
        let unknown = || if order.engine.is_complete() { 0.3 } else { 0.7 };
        guess.unwrap_or_else(unknown).min(order.bounds.seconds) + PROCESS
    }
}

/// The room that an order is about.
pub(crate) fn room(order: &Order) -> &str {
    order.model.split("::").next().unwrap_or(&order.model)
}

/// The places of `orders` in the order in which they are to be done.
pub(crate) fn sequence(orders: &[Order], seconds: &[f64]) -> Vec<usize> {
    let mut rooms: HashMap<&str, f64> = HashMap::new();
    for (order, seconds) in orders.iter().zip(seconds) {
        *rooms.entry(room(order)).or_default() += seconds;
    }
    let mut places: Vec<usize> = (0..orders.len()).collect();
    places.sort_by(|&one, &other| {
        let (one_room, other_room) = (room(&orders[one]), room(&orders[other]));
        let by_room = rooms[one_room].total_cmp(&rooms[other_room]).then_with(|| one_room.cmp(other_room));
        let is_kill = |i: usize| orders[i].mutant.is_some();
        by_room.then(is_kill(one).cmp(&is_kill(other))).then(seconds[other].total_cmp(&seconds[one]))
    });
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use spinpark_verification::engines::{Engine, Verdict};
    use spinpark_verification::kept::KeptRun;
    use spinpark_verification::model;
    use std::collections::BTreeMap;

    fn order(model: &str, mutant: Option<&str>) -> Order {
        Order::new(model, Engine::Sc, model::usual(Engine::Sc).bounds, mutant, 1)
    }

    #[test]
    fn quick_rooms_come_first_and_in_a_room_what_takes_longest() {
        let orders =
            [order("slow::a", None), order("quick::a", None), order("quick::b", Some("m")), order("slow::b", None)];
        assert_eq!(sequence(&orders, &[3.0, 0.1, 0.5, 9.0]), [1, 2, 3, 0]);
    }

    #[test]
    fn what_is_known_is_expected_but_no_longer_than_it_may_take() {
        let bounds = model::usual(Engine::Sc).bounds;
        let run = KeptRun { verdict: Verdict::Proved, executions: 1, seconds: 1e6, outcomes: 0, hash: String::new() };
        let runs = BTreeMap::from([(kept::key(Engine::Sc, bounds), run)]);
        let kept = Kept { models: BTreeMap::from([("slow::a".to_owned(), runs)]), ..Kept::default() };
        let estimate = Estimate { kept };
        assert_eq!(estimate.seconds(&order("slow::a", None)), bounds.seconds + PROCESS);
        assert!(estimate.seconds(&order("slow::b", None)) < 1.0);
    }
}
