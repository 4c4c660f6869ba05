//! How far the argument goes that an M which answers for a G comes to it: a rank, which steps should lower.
//!
//! | obligation | says |
//! |---|---|
//! | `descends/STEP` | a step that moves an M which answers lowers the M's rank, or the M answers no longer |
//! | `passes_down/STEP` | an M that answers no longer leaves each G to an M of a lower rank, if a P is idle |
//!
//! If both held of every step, then weak fairness of each M would be enough: the rank cannot fall for ever. The first fails
//! of two steps, the second of those at which one M relies on another. See docs/evidence/every-size.md.

use super::state::*;
use crate::logic::{Places, Update, all, among, and, at, not, or, some};
use crate::obligations::Obligation;
use crate::system::{System, Transition};

/// The places at which an M answers for every G, or scans for it; the highest rank first.
pub const RANKS: &[u8] = &[
    INJECTS,
    TURNS,
    KICKS,
    SPILL,
    SEES_NEED,
    CALLED,
    GOT_P,
    WOKEN_COUNTED,
    CLEAR,
    SPIN,
    IDLED,
    SCAN_RETIRED,
    SAW_WORK,
    FOUND,
    SCAN_FOUND,
    QUEUED,
    FENCED,
    ELECT,
    REQUESTED,
    SEES_IDLE,
    ELECTED,
    HAND_SEES_NEED,
    HAND_CALLED,
    START,
    NEWM,
    NO_THREAD,
];

/// Steps that move an M which answers, and do not lower its rank: with that, what bounds them.
pub const RISES: &[(&str, &str)] = &[("gets_p_for_work", "nothing: work was seen, and may be gone, or none")];

/// Steps at which one M relies on another that may be farther from the G than itself.
pub const RELIES: &[&str] =
    &["trusts", "is_not_elected", "is_refused", "leaves", "ends_scan_found", "ends_scan_retired", "wakes_m", "starts"];

fn answering() -> Places {
    Places::of(RANKS)
}

/// Those of this rank, and those above; or below it.
fn from(rank: usize) -> (Places, Places) {
    (Places::of(&RANKS[..=rank]), Places::of(&RANKS[rank + 1..]))
}

/// The threads that a transition moves.
fn moved(transition: &Transition) -> Vec<crate::logic::Var> {
    let goes = transition.updates.iter().filter_map(|update| match update {
        Update::Goes { m, .. } => Some(*m),
        Update::Rel { .. } => None,
    });
    goes.collect()
}

/// One for each step that moves an M which answers.
pub fn descends(system: &System) -> Vec<Obligation> {
    let of = |(index, transition): (usize, &Transition)| {
        let rises = |m| {
            let at_rank = |rank: usize| and([at(m, RANKS[rank]), among(m, from(rank).0).after(&transition.updates)]);
            or((0..RANKS.len()).map(at_rank))
        };
        let rises = or(moved(transition).into_iter().map(rises));
        Obligation::of_transition(system, index, format!("descends/{}", transition.name), vec![rises])
    };
    system.transitions.iter().enumerate().map(of).collect()
}

/// One for each step after which an M answers no longer.
pub fn passes_down(system: &System) -> Vec<Obligation> {
    let is_left = some("g", G, |g| or([GLOBAL.of([g]), some("p", P, |p| RING.of([g, p]))]));
    let is_idle = some("i", P, |i| IDLE.of([i]));
    let of = |(index, transition): (usize, &Transition)| {
        let relies = |m| {
            let at_rank = |rank: usize| {
                let nobody_lower = all("n", M, |n| not(among(n, from(rank).1)));
                let left = and([not(among(m, answering())), is_left.clone(), is_idle.clone(), nobody_lower]);
                and([at(m, RANKS[rank]), left.after(&transition.updates)])
            };
            or((0..RANKS.len()).map(at_rank))
        };
        let relies = or(moved(transition).into_iter().map(relies));
        Obligation::of_transition(system, index, format!("passes_down/{}", transition.name), vec![relies])
    };
    system.transitions.iter().enumerate().map(of).collect()
}

/// Both.
pub fn obligations(system: &System) -> Vec<Obligation> {
    descends(system).into_iter().chain(passes_down(system)).collect()
}
