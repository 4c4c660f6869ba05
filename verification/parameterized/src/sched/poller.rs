//! What the poller reports, and what the embedder's sources have: Gs that come to an M by itself, without a submitter.
//!
//! Which M waits in the poller, and until when, is not drawn.

use super::state::*;
use crate::logic::{Var, all, at, not, some};
use crate::system::Transition;

/// The steps, with one of them wrong if `variant` names it.
pub(super) fn steps(variant: &str) -> Vec<Transition> {
    let is = |name: &str| variant == name;
    let mut steps = Vec::new();
    let mut step = |name, source, make: &dyn Fn(&mut Transition, Var)| {
        let mut t = Transition::new(name, source);
        let m = t.for_each("m", M);
        make(&mut t, m);
        steps.push(t);
    };

    // An M that is back from the poller.
    let source = "sched/netpoll.rs: injectglist";
    step("is_back_without_a_p", source, &|t, m| {
        t.from(m, REST).takes_lock(m);
        if !is("queues-beside-an-idle-p") {
            t.when(not(some_idle()));
        }
        t.queues_batch(PUTS_GLOBAL, m);
    });
    step("is_back_with_nothing", source, &|t, m| {
        t.takes_a_p(m).goes(m, SEARCH);
    });
    step("is_back_with_one", source, &|t, m| {
        t.takes_a_p(m);
        let g = t.for_each("g", G);
        t.queues(g).set(SPILLS, &[m, g]).goes(m, INJECTS_ONE);
    });
    step("is_back_with_more", source, &|t, m| {
        t.takes_a_p(m).queues_batch(SPILLS, m).goes(m, INJECTS);
    });
    step("puts_the_one", source, &|t, m| {
        let g = t.for_each("g", G);
        t.from(m, INJECTS_ONE).puts_the_only_one(m, g).goes(m, SEARCH);
    });
    step("puts_one_of_more", source, &|t, m| {
        let g = t.for_each("g", G);
        t.from(m, INJECTS).puts_from_hand(m, g);
    });
    step("has_put_all", source, &|t, m| {
        t.from(m, INJECTS)
            .when(all("h", G, |h| not(SPILLS.of([m, h]))))
            .goes(m, if is("wakes-nobody-for-more") { SEARCH } else { QUEUED });
    });

    // An M that looks into the poller, and asks the sources, at its turn; and the monitor.
    step("begins_its_turn", "sched/netpoll.rs: take_turn", &|t, m| {
        t.from(m, SEARCH).clear_all(YIELDED, &[m]).goes(m, TURNS);
    });
    step("puts_at_its_turn", "sched/netpoll.rs: take_turn", &|t, m| {
        let g = t.for_each("g", G);
        t.from(m, TURNS).queues(g).set(PUTS, &[m, g]);
    });
    step("ends_its_turn", "sched/find.rs: take", &|t, m| {
        t.from(m, TURNS).goes(m, QUEUED);
    });
    step("runs_it_next", "sched/find.rs: take", &|t, m| {
        let (p, g) = (t.for_each("p", P), t.for_each("g", G));
        t.from(m, SEARCH).when(OWNS.of([m, p]));
        if !is("runs-it-next-beside-others") {
            t.is_alone(m, p);
        }
        t.queues(g).set(PUTS, &[m, g]).clear_all(YIELDED, &[m]).set(YIELDED, &[m, g]);
    });
    step("puts_spinning", "sched/netpoll.rs: take_turn", &|t, m| {
        let g = t.for_each("g", G);
        t.from(m, SPIN).queues(g).set(PUTS, &[m, g]);
    });
    step("finds_extra", "sched/find.rs: take_extra", &|t, m| {
        t.from_any(m, SEARCHING).has_yielded_none(m).goes_if(m, at(m, SPIN), FOUND, RUN);
    });
    step("submits_many", "sched/netpoll.rs: sysmon_netpoll", &|t, m| {
        t.from(m, OUT).takes_lock(m).queues_batch(PUTS_GLOBAL, m).goes(m, QUEUED);
    });
    steps
}

impl Transition {
    /// An M that rests takes an idle P.
    fn takes_a_p(&mut self, m: Var) -> &mut Self {
        let p = self.for_each("p", P);
        self.from(m, REST).takes_lock(m).when(IDLE.of([p])).clear(IDLE, &[p]).set(OWNS, &[m, p])
    }

    /// `m` puts this G, which it has in hand, into its ring.
    pub fn puts_from_hand(&mut self, m: Var, g: Var) -> &mut Self {
        self.when(SPILLS.of([m, g])).clear(SPILLS, &[m, g]).set(PUTS, &[m, g])
    }

    /// The same, of the only one that it has in hand: it searches next, and its own ring comes first.
    pub fn puts_the_only_one(&mut self, m: Var, g: Var) -> &mut Self {
        self.puts_from_hand(m, g).when(all("h", G, |h| not(SPILLS.of([m, h])))).set(YIELDED, &[m, g])
    }

    /// There is nothing in its ring.
    pub fn is_alone(&mut self, m: Var, p: Var) -> &mut Self {
        self.when(not(ring_shows(p))).when(not(some("o", G, |o| PUTS.of([m, o]))))
    }

    /// Its own ring comes first.
    pub fn has_yielded_none(&mut self, m: Var) -> &mut Self {
        self.when(not(some("y", G, |y| YIELDED.of([m, y]))))
    }
}
