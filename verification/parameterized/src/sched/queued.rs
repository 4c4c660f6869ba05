//! Where a G is: in one queue, or in one thread's hands on its way into one, or in none, and then no thread queues it but its owner.

use super::state::*;
use crate::logic::{Formula, Rel, Var, all, among, and, implies, not, or, same, some};
use crate::system::{Conjunct, Transition, at_most_one};

/// No thread has put it there.
fn no_thread(rel: Rel, g: Var) -> Formula {
    all("n", M, |n| not(rel.of([n, g])))
}

fn in_no_ring(g: Var) -> Formula {
    all("q", P, |q| not(RING.of([g, q])))
}

fn of_mg(body: impl FnOnce(Var, Var) -> Formula) -> Formula {
    all("m", M, |m| all("g", G, |g| body(m, g)))
}

/// What the steps have in common.
impl Transition {
    /// This G comes into a queue: the caller had it.
    pub fn queues(&mut self, g: Var) -> &mut Self {
        self.when(UNQUEUED.of([g])).clear(UNQUEUED, &[g])
    }

    /// For each set of Gs of which the caller has at least one: they come into `rel`, of `m`.
    pub fn queues_batch(&mut self, rel: Rel, m: Var) -> &mut Self {
        self.for_each_batch(|b| UNQUEUED.of([b]));
        self.assign(UNQUEUED, |x| and([UNQUEUED.of([x[0]]), not(BATCH.of([x[0]]))])).puts_batch(rel, m)
    }

    /// For each set of Gs of which this is so, and at least one.
    pub fn for_each_batch(&mut self, is_so: impl FnOnce(Var) -> Formula) -> &mut Self {
        self.for_each_set(BATCH).when(some("b", G, |b| BATCH.of([b])));
        self.when(all("b", G, |b| implies(BATCH.of([b]), is_so(b))))
    }

    /// For each such set in the ring of `p`: they are no more there.
    pub fn takes_batch(&mut self, p: Var) -> &mut Self {
        self.for_each_batch(|b| RING.of([b, p]));
        self.assign(RING, |x| and([RING.of([x[0], x[1]]), not(and([BATCH.of([x[0]]), same(x[1], p)]))]))
    }

    /// The Gs of that set are in `rel`, of `m`.
    pub fn puts_batch(&mut self, rel: Rel, m: Var) -> &mut Self {
        self.assign(rel, |x| or([rel.of([x[0], x[1]]), and([same(x[0], m), BATCH.of([x[1]])])])).with_set_done()
    }

    /// `m` takes such a set out of the global queue, under the lock, into the ring of `p`.
    pub fn takes_share(&mut self, m: Var, p: Var) -> &mut Self {
        self.takes_lock(m).for_each_batch(|b| GLOBAL.of([b]));
        self.assign(GLOBAL, |x| and([GLOBAL.of([x[0]]), not(BATCH.of([x[0]]))]));
        self.assign(RING, |x| or([RING.of([x[0], x[1]]), and([same(x[1], p), BATCH.of([x[0]])])])).with_set_done()
    }

    /// Only if this G is in the ring of `p`: it is taken out, to be run.
    pub fn takes_out(&mut self, g: Var, p: Var) -> &mut Self {
        self.when(RING.of([g, p])).clear(RING, &[g, p]).set(UNQUEUED, &[g])
    }

    /// `m` puts this G, which it has in hand, into its ring.
    pub fn puts_from_hand(&mut self, m: Var, g: Var) -> &mut Self {
        self.when(SPILLS.of([m, g])).clear(SPILLS, &[m, g]).set(PUTS, &[m, g])
    }

    /// The same; and has none left.
    pub fn puts_the_last_in_hand(&mut self, m: Var, g: Var) -> &mut Self {
        self.puts_from_hand(m, g).when(has_none_in_hand(m))
    }

    /// There is nothing in its ring, and nothing on its way there.
    pub fn sees_its_ring_empty(&mut self, m: Var, p: Var) -> &mut Self {
        self.when(not(some("o", G, |o| PUTS.of([m, o])))).when(not(ring_shows(p)))
    }

    /// `m` puts the Gs that it has in hand into the global queue, and `g`, which it has too, or which is new.
    pub fn puts_spilled(&mut self, m: Var, g: Var) -> &mut Self {
        self.when(or([UNQUEUED.of([g]), SPILLS.of([m, g])])).clear(UNQUEUED, &[g]).set(PUTS_GLOBAL, &[m, g]);
        self.assign(PUTS_GLOBAL, |x| or([PUTS_GLOBAL.of([x[0], x[1]]), and([same(x[0], m), SPILLS.of([m, x[1]])])]));
        self.clear_all(SPILLS, &[m])
    }
}

pub(super) fn invariant() -> Vec<Conjunct> {
    let conjunct = Conjunct::new;
    let in_hand = [PUTS, PUTS_GLOBAL, SPILLS];
    vec![
        conjunct("in_one_ring", "a G is in one ring", at_most_one(RING, 1)),
        conjunct("put_once", "one thread has put it into its ring, and the store is not visible", at_most_one(PUTS, 0)),
        conjunct("put_global_once", "or into the global queue", at_most_one(PUTS_GLOBAL, 0)),
        conjunct("in_one_hand", "or has it in hand", at_most_one(SPILLS, 0)),
        conjunct(
            "in_a_ring_only",
            "a G in a ring is nowhere else",
            all("g", G, |g| {
                let elsewhere =
                    [GLOBAL.of([g]), UNQUEUED.of([g])].map(not).into_iter().chain(in_hand.map(|rel| no_thread(rel, g)));
                all("p", P, |p| implies(RING.of([g, p]), and(elsewhere)))
            }),
        ),
        conjunct(
            "in_the_global_queue_only",
            "nor one in the global queue",
            all("g", G, |g| {
                implies(
                    GLOBAL.of([g]),
                    and([not(UNQUEUED.of([g]))].into_iter().chain(in_hand.map(|rel| no_thread(rel, g)))),
                )
            }),
        ),
        conjunct(
            "put_only",
            "nor one that was put into a ring",
            of_mg(|m, g| {
                implies(PUTS.of([m, g]), and([not(UNQUEUED.of([g])), no_thread(PUTS_GLOBAL, g), no_thread(SPILLS, g)]))
            }),
        ),
        conjunct(
            "put_global_only",
            "nor one that was put into the global queue",
            of_mg(|m, g| implies(PUTS_GLOBAL.of([m, g]), and([not(UNQUEUED.of([g])), no_thread(SPILLS, g)]))),
        ),
        conjunct(
            "in_hand_only",
            "nor one that is in hand",
            of_mg(|m, g| implies(SPILLS.of([m, g]), not(UNQUEUED.of([g])))),
        ),
        conjunct("no_g_is_lost", "each G is somewhere", all("g", G, is_somewhere)),
        conjunct(
            "putters_have_a_p",
            "a thread whose put into its ring is not visible has a P",
            of_mg(|m, g| implies(PUTS.of([m, g]), has_p(m))),
        ),
        conjunct(
            "runners_have_a_p",
            "and so has one that runs a G, or searches",
            all("m", M, |m| implies(among(m, WITH_P), has_p(m))),
        ),
    ]
}

fn is_somewhere(g: Var) -> Formula {
    let in_hand = some("m", M, |m| or([PUTS, PUTS_GLOBAL, SPILLS].map(|rel| rel.of([m, g]))));
    or([UNQUEUED.of([g]), GLOBAL.of([g]), some("p", P, |p| RING.of([g, p])), in_hand])
}

pub(super) fn safety() -> Conjunct {
    let says = all("g", G, |g| {
        let hands = [PUTS, PUTS_GLOBAL, SPILLS];
        let one_hand = hands.map(|rel| of_one(rel, g, hands.into_iter().filter(|other| *other != rel).collect()));
        let in_no_hand = || and(hands.map(|rel| no_thread(rel, g)));
        let ring = all("p", P, |p| {
            let only = all("q", P, |q| implies(RING.of([g, q]), same(p, q)));
            implies(RING.of([g, p]), and([only, not(GLOBAL.of([g])), not(UNQUEUED.of([g])), in_no_hand()]))
        });
        let global = implies(GLOBAL.of([g]), and([not(UNQUEUED.of([g])), in_no_ring(g), in_no_hand()]));
        let unqueued = implies(UNQUEUED.of([g]), and([in_no_ring(g), in_no_hand()]));
        and([is_somewhere(g), ring, global, unqueued].into_iter().chain(one_hand))
    });
    Conjunct::new("every_g_is_in_one_place", "each G is in one queue, or in one hand on its way, or in none", says)
}

/// If a thread has it so, no other thread has, and none has it otherwise.
fn of_one(rel: Rel, g: Var, others: Vec<Rel>) -> Formula {
    all("m", M, |m| {
        let only = all("n", M, |n| implies(rel.of([n, g]), same(m, n)));
        implies(rel.of([m, g]), and([only].into_iter().chain(others.into_iter().map(|other| no_thread(other, g)))))
    })
}
