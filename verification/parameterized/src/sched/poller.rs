//! What the poller reports, and what the embedder's sources have: Gs that come to an M by itself, without a submitter.
//!
//! Which M waits in the poller, and until when, is not drawn.

use super::state::*;
use super::steps::step;
use crate::logic::{Var, at, not, some};
use crate::system::Transition;

/// The steps, with one of them wrong if `variant` names it.
pub fn steps(variant: &str, steps: &mut Vec<Transition>) {
    let is = |name: &str| variant == name;

    // An M that is back from the poller.
    let source = "sched/netpoll.rs: injectglist";
    step(steps, "is_back_without_a_p", source, |t, m| {
        t.from(m, REST).takes_lock(m);
        if !is("queues-beside-an-idle-p") {
            t.when(not(some_idle()));
        }
        t.queues_batch(PUTS_GLOBAL, m);
    });
    step(steps, "is_back_with_nothing", source, |t, m| {
        t.takes_a_p(m).goes(m, SEARCH);
    });
    step(steps, "is_back_with_one", source, |t, m| {
        t.takes_a_p(m);
        let g = t.for_each("g", G);
        t.queues(g).set(SPILLS, &[m, g]).goes(m, INJECTS_ONE);
    });
    step(steps, "is_back_with_more", source, |t, m| {
        t.takes_a_p(m).queues_batch(SPILLS, m).goes(m, INJECTS);
    });
    step(steps, "puts_the_one", source, |t, m| {
        let g = t.for_each("g", G);
        t.from(m, INJECTS_ONE).puts_the_last_in_hand(m, g).set(YIELDED, &[m, g]).goes(m, SEARCH);
    });
    step(steps, "puts_one_of_more", source, |t, m| {
        let g = t.for_each("g", G);
        t.from(m, INJECTS).puts_from_hand(m, g);
    });
    step(steps, "has_put_all", source, |t, m| {
        t.from(m, INJECTS).when(has_none_in_hand(m)).goes(m, if is("wakes-nobody-for-more") { SEARCH } else { QUEUED });
    });

    // An M that looks into the poller, and asks the sources, at its turn; and the monitor.
    step(steps, "begins_its_turn", "sched/netpoll.rs: take_turn", |t, m| {
        t.from(m, SEARCH).clear_all(YIELDED, &[m]).goes(m, TURNS);
    });
    step(steps, "puts_at_its_turn", "sched/netpoll.rs: take_turn", |t, m| {
        let g = t.for_each("g", G);
        t.from(m, TURNS).queues(g).set(PUTS, &[m, g]);
    });
    step(steps, "ends_its_turn", "sched/find.rs: take", |t, m| {
        t.from(m, TURNS).goes(m, QUEUED);
    });
    step(steps, "runs_it_next", "sched/find.rs: take", |t, m| {
        let (p, g) = (t.for_each("p", P), t.for_each("g", G));
        t.from(m, SEARCH).when(OWNS.of([m, p]));
        if !is("runs-it-next-beside-others") {
            t.sees_its_ring_empty(m, p);
        }
        t.queues(g).set(PUTS, &[m, g]).clear_all(YIELDED, &[m]).set(YIELDED, &[m, g]);
    });
    step(steps, "puts_spinning", "sched/netpoll.rs: take_turn", |t, m| {
        let g = t.for_each("g", G);
        t.from(m, SPIN).queues(g).set(PUTS, &[m, g]);
    });
    step(steps, "finds_extra", "sched/find.rs: take_extra", |t, m| {
        t.from_any(m, SEARCHING).has_yielded_none(m).goes_if(m, at(m, SPIN), FOUND, RUN);
    });
    step(steps, "submits_many", "sched/netpoll.rs: sysmon_netpoll", |t, m| {
        t.from(m, OUT).takes_lock(m).queues_batch(PUTS_GLOBAL, m).goes(m, QUEUED);
    });
}

impl Transition {
    /// An M that rests takes an idle P.
    fn takes_a_p(&mut self, m: Var) -> &mut Self {
        let p = self.for_each("p", P);
        self.from(m, REST).gets_idle(m, p, OWNS)
    }

    /// Its own ring comes first.
    pub fn has_yielded_none(&mut self, m: Var) -> &mut Self {
        self.when(not(some("y", G, |y| YIELDED.of([m, y]))))
    }
}
