//! More Ps or fewer, in a stopped world.

use super::state::*;
use super::steps::step;
use super::stops::of_mp;
use crate::logic::{Formula, all, and, implies, not};
use crate::system::{Conjunct, Transition};

/// In a stopped world there may be more Ps, or fewer.
pub(super) fn steps(variant: &str, steps: &mut Vec<Transition>) {
    let source = "protocol/stw/resize.rs: procresize";
    step(steps, "empties_a_p", "sched/stw.rs: procresize", |t, m| {
        let (p, g) = (t.for_each("p", P), t.for_each("g", G));
        // It holds the lock, so no other thread does.
        t.from(m, STOPPED).when(lock_is_free()).when(HELD.of([p]));
        t.when(RING.of([g, p])).clear(RING, &[g, p]).set(PUTS_GLOBAL, &[m, g]);
    });
    step(steps, "ends_a_p", source, |t, m| {
        let p = t.for_each("p", P);
        t.from(m, STOPPED).when(HELD.of([p]));
        if variant != "ends-a-p-with-gs" {
            t.when(not(ring_shows(p)));
        }
        t.clear(HELD, &[p]).set(SPARE, &[p]);
    });
    step(steps, "begins_a_p", source, |t, m| {
        let p = t.for_each("p", P);
        t.from(m, STOPPED).when(SPARE.of([p])).clear(SPARE, &[p]).set(HELD, &[p]);
    });
}

fn has_no_g() -> Formula {
    all("p", P, |p| implies(SPARE.of([p]), not(ring_shows(p))))
}

/// What is true of a P that is none of those that there are.
pub(super) fn invariant() -> Vec<Conjunct> {
    let conjunct = Conjunct::new;
    vec![
        conjunct(
            "spare_only",
            "a P that is none of those that there are is nowhere else",
            of_mp(|m, p| implies(SPARE.of([p]), and([not(IDLE.of([p])), not(HELD.of([p])), not(has(m, p))]))),
        ),
        conjunct("spare_ring_is_empty", "and its ring is empty", has_no_g()),
    ]
}

/// What is wanted of it.
pub(super) fn safety() -> Conjunct {
    Conjunct::new("a_p_that_ends_has_no_g", "the ring of a P that a resize has ended is empty", has_no_g())
}
