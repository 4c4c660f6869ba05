//! Each G that is put into a ring leaves it: it has so many before it, each take brings it nearer, and a thread that fails to take was
//! overtaken by one that took.
//!
//! | obligation | says |
//! |---|---|
//! | `waits/STEP` | a G in the ring is there until the head has passed it, and none comes before it |
//! | `nearer/STEP` | a step that moves the head takes it, or one that is before it |
//! | `overtaken/STEP` | a thread that has not got what it has seen was overtaken: the head has moved since it read it |
//! | `room/STEP` | what is in a slot is taken before the slot is used again (at first none is used) |
//! | `sees_it/STEP` | no thread sees an empty ring meanwhile |
//! | `due/STEP` | the owner can begin to take; a thread that has read slots takes what was in them, or was overtaken |
//!
//! So it has left the ring once as many Gs are taken as were before it, by any threads; and each attempt to take is one of these takes, or
//! has seen another. It is enough that the P's owner comes to its ring again and again: `queues/local.rs` bounds how often `runnext` comes
//! first. A G that is spilled leaves the ring for the global queue, and is not run yet.

use super::*;
use crate::logic::Var;
use crate::obligations::Obligation;
use crate::system::Transition;

/// Steps that move the head.
const TAKES_SOME: &[&str] = &["claims", "claims_to_spill"];
/// Steps of a thread that has failed.
const FAILS: &[&str] = &["is_overtaken", "finds_less", "finds_none", "sees_two_times"];
/// Steps of a thread that has seen an empty ring.
const SEES_NONE: &[&str] = &["sees_nothing", "finds_none", "ends_asking"];

/// It is in the ring.
fn waits(x: Var) -> Formula {
    and([PUBLISHED.of([x]), not(CONSUMED.of([x]))])
}

/// That one is to be taken before it.
fn is_ahead(y: Var, x: Var) -> Formula {
    and([BEFORE.of([y, x]), not(CONSUMED.of([y]))])
}

/// No slot that is used again holds what waits.
fn has_room() -> Formula {
    all("y", X, |y| all("w", X, |w| implies(and([REUSES.of([y, w]), WRITTEN.of([y])]), CONSUMED.of([w]))))
}

/// All of them.
pub fn obligations(system: &System) -> Vec<Obligation> {
    let mut all = Vec::new();
    for (index, t) in system.transitions.iter().enumerate() {
        let (m, later) = (t.params[0], |formula: Formula| formula.after(&t.updates));
        let mut never = |name: &str, wrong: Formula| {
            all.push(Obligation::of_transition(system, index, format!("{name}/{}", t.name), vec![wrong]));
        };
        let of_x = |wrong: &dyn Fn(Var) -> Formula| some("x", X, |x| and([waits(x), wrong(x)]));
        let comes = |x| some("y", X, |y| and([not(is_ahead(y, x)), later(is_ahead(y, x))]));
        let remains = |x| or([later(waits(x)), later(CONSUMED.of([x]))]);
        never("waits", of_x(&|x| or([not(remains(x)), comes(x)])));
        never("room", and([has_room(), not(later(has_room()))]));
        if TAKES_SOME.contains(&t.name) {
            let nearer = |x| some("y", X, |y| and([is_ahead(y, x), not(later(is_ahead(y, x)))]));
            never("nearer", of_x(&|x| not(or([later(CONSUMED.of([x])), nearer(x)]))));
        }
        if FAILS.contains(&t.name) {
            never("overtaken", and([has_room(), not(was_overtaken(m))]));
        }
        if SEES_NONE.contains(&t.name) {
            // It asks from some moment on, and may have seen it empty then.
            let is_asked = if t.name == "ends_asking" { NEVER_EMPTY.of([m]) } else { Formula::Is(true) };
            never("sees_it", and([of_x(&|_| Formula::Is(true)), is_asked]));
        }
    }
    all.extend(["sees_some", "claims"].map(|due| is_due(system, due)));
    all
}

/// The head has moved since it read it.
fn was_overtaken(m: Var) -> Formula {
    some("y", X, |y| and([CONSUMED.of([y]), not(SAW_HEAD.of([m, y]))]))
}

/// The thread can make this step.
///
/// # Panics
/// If it is not drawn.
fn is_due(system: &System, name: &str) -> Obligation {
    let t: &Transition = system.transitions.iter().find(|t| t.name == name).expect("it is drawn");
    let guard = and(t.guard.iter().cloned());
    let (can, before) = match t.params[..] {
        [m] => (guard, and([at(m, AWAY), OWNER.of([m])])),
        // All that it has read, up to this one.
        [m, e] => {
            let last = and([has_read(m, e), all("x", X, |x| implies(BEFORE.of([e, x]), not(has_read(m, x))))]);
            (or([guard, was_overtaken(m)]), and([among(m, Places::of(&[READS, GETS])), last]))
        }
        _ => unreachable!("they have one or two"),
    };
    let wrong = vec![before, some("x", X, waits), not(can)];
    Obligation::never(format!("due/{name}"), t.params.clone(), wrong)
}
