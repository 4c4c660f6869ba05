//! Each stop begins and ends: a chain of phases of the stopper that is the first in the queue, each with a step that is due.
//!
//! | obligation | says |
//! |---|---|
//! | `due/PHASE` | in this phase a step that is due is possible, if the lock is free |
//! | `leads_on/PHASE` | it leads to a later phase; or takes one out of a set |
//! | `stays/PHASE/STEP` | no other step of any thread leads back, or puts one into that set |
//! | `covers` | the first in the queue is in one of the phases |
//! | `line/STEP` | no thread comes into the queue before one that is in it, and one that leaves is before none |
//! | `stoppers/STEP` | in the queue are threads that wait for their turn, or have it while the world is to stop |
//!
//! So a stop ends, and the next begins, if there are finitely many threads and Ps, and if each step that is due is made at some time: by the
//! stopper itself, or one that owes it a wake (weak fairness of threads); and by some owner of each P that is not held: an M that the world's
//! stop does not reach, as its G can neither be preempted nor asks for anything, stops it for ever. That each such P has an owner that is
//! awake is safety: `every_p_can_be_handed_in`. A step that takes the lock is due whenever the lock is free: the lock is fair.

use super::calls::is_scanned;
use super::state::*;
use super::stops::{all_held, is_first, is_held_or_spare};
use crate::logic::{Formula, Places, Sort, Update, Var, all, among, and, at, not, or, same, some};
use crate::obligations::Obligation;
use crate::system::{System, Transition};

/// A phase of the stopper `f`.
struct Phase {
    name: &'static str,
    /// `f` is in it, or is due to be woken out of it by `w`.
    says: fn(f: Var, w: Var) -> Formula,
    /// The steps of which one is due, and of whom their first parameters are.
    due: &'static [(&'static str, &'static [Of])],
    left: Option<Left>,
}

/// What is left to be done before a phase ends, and of which sort; each step that is due does one of it, or leads on.
type Left = (Sort, fn(f: Var, x: Var) -> Formula, Within);

/// Where less of it is progress.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    /// In this phase.
    Itself,
    /// In this phase, and it is assumed that a step that is due comes.
    ItselfByOthers,
    /// In each phase of the scan: the stopper goes from one to the other, and back.
    Scan,
}

/// It has yet to look at the word of this P.
const WORDS: Option<Left> = Some((P, |f, p| not(SCANNED.of([f, p])), Within::Scan));

/// Of whom a step that is due is.
#[derive(Clone, Copy)]
enum Of {
    Stopper,
    Waker,
    /// Any thread that can.
    Any,
}

/// The steps by which a P is handed in. That some owner does one is assumed.
const HANDS_IN: &[(&str, &[Of])] =
    &[("hands_in", &[]), ("hands_in_counted", &[]), ("hands_in_what_it_hands_on", &[]), ("hands_in_refused", &[])];

/// The last comes first.
const PHASES: &[Phase] = &[
    Phase { name: "starts", says: |f, _| at(f, STOPPED), due: &[("starts_the_world", &[Of::Stopper])], left: None },
    Phase {
        name: "sees_that_all_are_held",
        says: |f, _| and([at(f, WAITS), all_held(), not(owes(f))]),
        due: &[("is_stopped", &[Of::Stopper])],
        left: None,
    },
    Phase {
        name: "wakes_others_first",
        says: |f, _| and([at(f, WAITS), all_held(), owes(f)]),
        due: &[("unparks", &[Of::Stopper, Of::Any])],
        left: Some((M, |f, x| OWES.of([f, x]), Within::Itself)),
    },
    Phase {
        name: "wakes_up_when_all_are_held",
        says: |f, _| and([at(f, SLEEPS), all_held(), TOKEN.of([f])]),
        due: &[("is_woken", &[Of::Stopper])],
        left: None,
    },
    Phase {
        name: "is_to_be_woken_when_all_are_held",
        says: |f, w| and([at(f, SLEEPS), all_held(), not(TOKEN.of([f])), OWES.of([w, f])]),
        due: &[("unparks", &[Of::Waker, Of::Stopper])],
        left: None,
    },
    Phase {
        name: "waits_for_ps",
        says: |f, _| and([STOPPING.of([]), among(f, WAITERS), not(all_held())]),
        due: HANDS_IN,
        left: Some((P, |_, p| not(is_held_or_spare(p)), Within::ItselfByOthers)),
    },
    Phase {
        name: "has_looked_at_each_word",
        says: |f, _| and([at(f, SCANS), all("p", P, |p| is_scanned(f, p))]),
        due: &[("ends_scan", &[Of::Stopper])],
        left: None,
    },
    Phase {
        name: "has_seen_a_call",
        says: |f, _| and([at(f, SEES), sees_a_call(f)]),
        due: &[("takes_stopping", &[Of::Stopper]), ("misses_stopping", &[Of::Stopper])],
        left: WORDS,
    },
    Phase {
        name: "looks_at_words",
        says: |f, _| and([at(f, SCANS), some("p", P, |p| not(is_scanned(f, p)))]),
        due: &[("sees_no_call", &[Of::Stopper]), ("sees_call_stopping", &[Of::Stopper])],
        left: WORDS,
    },
    Phase {
        name: "has_taken_a_p",
        says: |f, _| and([at(f, HOLDS), hands_a_p(f)]),
        due: &[("holds_it", &[Of::Stopper])],
        left: WORDS,
    },
    Phase { name: "says_it", says: |f, _| at(f, SAYS), due: &[("fences_stopping", &[Of::Stopper])], left: None },
    Phase {
        name: "stops",
        says: |f, _| at(f, FIRST),
        due: &[("begins_to_stop", &[Of::Stopper]), ("begins_to_stop_with_a_p", &[Of::Stopper])],
        left: None,
    },
    Phase { name: "sees_its_turn", says: |f, _| at(f, ASKS), due: &[("is_first", &[Of::Stopper])], left: None },
    Phase {
        name: "wakes_up_at_its_turn",
        says: |f, _| and([at(f, SLEEPS_IN_LINE), TOKEN.of([f])]),
        due: &[("is_woken_in_line", &[Of::Stopper])],
        left: None,
    },
    Phase {
        name: "is_to_be_woken_at_its_turn",
        says: |f, w| and([at(f, SLEEPS_IN_LINE), not(TOKEN.of([f])), OWES.of([w, f])]),
        due: &[("unparks", &[Of::Waker, Of::Stopper])],
        left: None,
    },
];

fn owes(f: Var) -> Formula {
    some("o", M, |o| OWES.of([f, o]))
}

fn hands_a_p(f: Var) -> Formula {
    some("p", P, |p| HANDS.of([f, p]))
}

/// In the word of one P, at which it has not looked before.
fn sees_a_call(f: Var) -> Formula {
    let seen = |p| some("c", C, |c| SEEN.of([f, p, c]));
    and([some("p", P, seen), all("p", P, |p| not(and([seen(p), SCANNED.of([f, p])])))])
}

impl Phase {
    fn holds(&self, f: Var, w: Var) -> Formula {
        and([is_first(f), (self.says)(f, w)])
    }

    /// The step is due, and its first parameters are these.
    fn binds(due: &[Of], params: &[Var], f: Var, w: Var) -> Formula {
        and(params.iter().zip(due).map(|(param, of)| match of {
            Of::Stopper => same(*param, f),
            Of::Waker => same(*param, w),
            Of::Any => Formula::Is(true),
        }))
    }

    /// What is left has lost one. Of a phase without it: never.
    fn shrinks(&self, f: Var, updates: &[Update]) -> Formula {
        let Some((sort, left, _)) = self.left else { return Formula::Is(false) };
        some("x", sort, |x| and([left(f, x), not(left(f, x).after(updates))]))
    }

    /// One has come into it.
    fn grows(&self, f: Var, updates: &[Update]) -> Formula {
        let Some((sort, left, _)) = self.left else { return Formula::Is(false) };
        some("x", sort, |x| and([not(left(f, x)), left(f, x).after(updates)]))
    }

    fn is_within(&self, within: Within) -> bool {
        self.left.is_some_and(|(.., w)| w == within)
    }

    /// It stays, or less is left of what is left in each phase of the scan.
    fn goes_on(&self, f: Var, w: Var, updates: &[Update]) -> Formula {
        let scan = PHASES.iter().filter(|phase| self.is_within(Within::Scan) && phase.is_within(Within::Scan));
        let in_scan = or(scan.map(|phase| phase.holds(f, w).after(updates)));
        let stays = or([self.holds(f, w).after(updates), and([self.shrinks(f, updates), in_scan])]);
        and([stays, not(self.grows(f, updates))])
    }
}

/// It is in one of the phases that come later, or has left the queue.
fn is_later(phase: usize, f: Var) -> Formula {
    let later = PHASES[..phase].iter().map(|phase| some("w", M, |w| phase.holds(f, w)));
    or(later.chain([not(IN_LINE.of([f]))]))
}

/// Some thread is in this phase, and so.
fn in_phase(phase: &Phase, so: impl FnOnce(Var, Var) -> Formula) -> Formula {
    some("f", M, |f| some("w", M, |w| and([phase.holds(f, w), so(f, w)])))
}

/// If it is in the queue it waits for its turn, or has it; and the world is to stop for which it waits.
fn is_stopper(s: Var) -> Formula {
    let waits = Places::of(&[ASKS, SLEEPS_IN_LINE, FIRST]);
    let holds = or([not(at(s, SEES)), sees_a_call(s)]);
    let stops = and([among(s, STOPPERS), STOPPING.of([]), holds, or([not(at(s, HOLDS)), hands_a_p(s)])]);
    or([not(IN_LINE.of([s])), among(s, waits), stops])
}

/// All of them.
///
/// # Panics
/// If a step that is due is not drawn.
pub fn obligations(system: &System) -> Vec<Obligation> {
    let mut them: Vec<Obligation> = Vec::new();
    let covers = some("f", M, |f| {
        let nowhere = PHASES.iter().map(|phase| not(some("w", M, |w| phase.holds(f, w))));
        and([is_first(f), is_stopper(f)].into_iter().chain(nowhere))
    });
    them.push(Obligation::never("covers".to_owned(), Vec::new(), vec![covers]));
    for (n, phase) in PHASES.iter().enumerate() {
        of_what_is_due(system, n, phase, &mut them);
    }
    for (index, t) in system.transitions.iter().enumerate() {
        let mut never = |name: String, wrong: Formula| {
            them.push(Obligation::of_transition(system, index, format!("{name}/{}", t.name), vec![wrong]));
        };
        for (n, phase) in PHASES.iter().enumerate() {
            let leads_back = |f, w| not(or([phase.goes_on(f, w, &t.updates), is_later(n, f).after(&t.updates)]));
            never(format!("stays/{}", phase.name), in_phase(phase, leads_back));
        }
        let pushes_in = |s: Var, a: Var| {
            let is_before = AHEAD.of([a, s]);
            let comes = and([IN_LINE.of([s]), not(is_before.clone())]);
            let remains = and([is_before.clone(), IN_LINE.of([a]), not(IN_LINE.of([a]).after(&t.updates))]);
            and([or([comes, remains]), is_before.after(&t.updates)])
        };
        never("line".to_owned(), some("s", M, |s| some("a", M, |a| pushes_in(s, a))));
        never("stoppers".to_owned(), some("s", M, |s| and([is_stopper(s), not(is_stopper(s).after(&t.updates))])));
    }
    them
}

fn of_what_is_due(system: &System, n: usize, phase: &Phase, them: &mut Vec<Obligation>) {
    let steps: Vec<(usize, &Transition, &[Of])> = phase
        .due
        .iter()
        .map(|(name, of)| {
            let index = system.transitions.iter().position(|t| t.name == *name).expect("what is due is drawn");
            (index, &system.transitions[index], *of)
        })
        .collect();
    if !phase.is_within(Within::ItselfByOthers) {
        let can = |f, w| {
            or(steps.iter().map(|(_, due, of)| {
                let guard = and([and(due.guard.iter().cloned()), Phase::binds(of, &due.params, f, w)]);
                due.params.iter().fold(guard, |guard, param| Formula::Some(*param, Box::new(guard)))
            }))
        };
        let cannot = and([lock_is_free(), in_phase(phase, |f, w| not(can(f, w)))]);
        them.push(Obligation::never(format!("due/{}", phase.name), Vec::new(), vec![cannot]));
    }
    for (index, due, of) in steps {
        let leads_nowhere = in_phase(phase, |f, w| {
            let on = or([is_later(n, f).after(&due.updates), phase.shrinks(f, &due.updates)]);
            and([Phase::binds(of, &due.params, f, w), not(on)])
        });
        let name = if phase.due.len() == 1 { String::new() } else { format!("/{}", due.name) };
        them.push(Obligation::of_transition(
            system,
            index,
            format!("leads_on/{}{name}", phase.name),
            vec![leads_nowhere],
        ));
    }
}
