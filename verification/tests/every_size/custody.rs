//! What the kernel did, as an execution of the protocol of a P's custody.

use super::functions::Functions;
use super::recorded::{Act, Item, Name, Told, numbers, shown};
use spinpark_parameterized::custody::*;
use spinpark_parameterized::finite::{Finite, State};
use spinpark_parameterized::replay::{Move, Replay};
use std::collections::HashMap;

/// So many system calls there may be.
pub(crate) const CALLS: usize = 6;

/// One step of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    pub(crate) m: u8,
    label: Label,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Label {
    Runs(u8),
    /// And is the store visible at once?
    Enters {
        p: u8,
        c: u8,
        is_call: bool,
        shown: bool,
    },
    ShowsPut(u8),
    EntersFence,
    Wanted(bool),
    /// It reads a word: whose call is there, and does it try to take the P?
    Peek {
        p: u8,
        by: Option<u8>,
        tries: bool,
    },
    Takes {
        p: u8,
        won: bool,
    },
    Asks {
        shown: bool,
    },
    ShowsRequest,
    StopFence,
    Stopped,
    /// And of these Ps there is no G: a bit for each.
    Starts {
        idle: u64,
    },
    Held(u8),
    Listed(u8),
    TookIdle(u8),
    SetsNextp {
        w: u8,
        p: u8,
    },
    TakesNextp {
        w: u8,
        p: u8,
    },
    /// It has queued its G, because no P is idle. Had it left its P in a word?
    Rests {
        left: bool,
    },
    Blocks(u8),
    Slept,
}

#[derive(Default, Clone)]
struct Thread {
    /// It is in a system call, and has left its P in a word.
    inside: bool,
    left: bool,
    /// In this hold of the lock it begins to stop the world; these Ps were idle.
    begins: bool,
    held: u64,
    /// Its own, which it hands in before its request has left its store buffer.
    own: Option<u8>,
    /// In this hold of the lock it starts the world; these Ps become idle.
    starts: bool,
    idle: u64,
}

/// The P of a `nextp`, if there is one.
fn p_of(nextp: u64) -> Option<u8> {
    (nextp > 1).then_some((nextp >> 2) as u8)
}

/// The steps of a trace; `None` if there are more calls than the universe has.
pub(crate) fn steps(items: &[Item], ms: u8, functions: &Functions) -> Option<Vec<Step>> {
    let is_buffered = items.iter().any(|item| item.act == Act::Visible);
    let items = shown(items);
    let mut numbers = numbers(&items, ms);
    let mut threads: HashMap<usize, Thread> = HashMap::new();
    let mut steps: Vec<Step> = Vec::new();
    let mut idle_bits = 0_u64;
    let mut global = 0_u64;
    let mut calls = 0;
    for (at, item) in items.iter().enumerate() {
        let m = numbers.of(item.thread);
        let thread = threads.entry(item.thread).or_default();
        let function = functions.of(item.at).unwrap_or("");
        let mut say = |label| steps.push(Step { m, label });
        match (item.at.0, function, item.act, item.word) {
            ("protocol/syscall.rs", "put", Act::Store(_), Name::Syscall(p)) => {
                // What is interrupted was not said to enter.
                say(Label::Enters { p, c: calls, is_call: thread.inside, shown: !is_buffered });
                calls += 1;
                (thread.inside, thread.left) = (true, true);
            }
            ("protocol/syscall.rs", "put", Act::Shown(_), Name::Syscall(p)) if is_buffered => say(Label::ShowsPut(p)),
            ("protocol/syscall.rs", "entersyscall", Act::Fence, _) => say(Label::EntersFence),
            ("protocol/syscall.rs", "peek", Act::Load(word), Name::Syscall(p)) => {
                let by = (word as u32).checked_sub(1).map(|m| m as u8);
                say(Label::Peek { p, by, tries: tries(&items[at + 1..], item.thread) });
            }
            ("protocol/syscall.rs", "take", Act::Exchange(..), Name::Syscall(p)) => say(Label::Takes { p, won: true }),
            ("protocol/syscall.rs", "take", Act::NoExchange(_), Name::Syscall(p)) => {
                say(Label::Takes { p, won: false })
            }
            ("protocol/stw/wanted.rs", "any", Act::Load(bits), _) => say(Label::Wanted(bits != 0)),
            ("protocol/stw/wanted.rs", "ask", Act::Store(_), _) => {
                (thread.begins, thread.held) = (true, 0);
                say(Label::Asks { shown: !is_buffered });
            }
            (_, _, Act::Unlock, _) => (thread.begins, thread.starts) = (false, false),
            ("protocol/stw/wanted.rs", "ask", Act::Shown(_), _) if is_buffered => {
                say(Label::ShowsRequest);
                thread.own.take().into_iter().for_each(|p| say(Label::Held(p)));
            }
            ("protocol/stw/wanted.rs", "done", Act::Store(_), _) => (thread.starts, thread.idle) = (true, 0),
            ("protocol/stw/wanted.rs", "done", Act::Shown(_), _) => {
                let idle = idled(&items[at..], item.thread) | thread.idle;
                say(Label::Starts { idle });
            }
            (_, _, Act::Event(Told::Listed { p }), _) if thread.starts => thread.idle |= 1 << p,
            ("protocol/stw/mod.rs", "stop", Act::Fence, _) => say(Label::StopFence),
            ("queues/idle.rs", "set", Act::Store(bits), _) => {
                let gone = idle_bits & !bits;
                if thread.begins {
                    thread.held |= gone;
                } else if gone != 0 {
                    say(Label::TookIdle(gone.trailing_zeros() as u8));
                }
                idle_bits = bits;
            }
            ("queues/globq.rs", "set", Act::Store(n), _) => {
                if n > global && thread.inside {
                    say(Label::Rests { left: thread.left });
                }
                global = n;
            }
            ("types/m.rs", "set_nextp", Act::Swap(_, nextp), Name::NextP(w)) => {
                p_of(nextp).into_iter().for_each(|p| say(Label::SetsNextp { w, p }))
            }
            ("types/m.rs", "take_nextp", Act::Swap(nextp, _), Name::NextP(w)) => {
                p_of(nextp).into_iter().for_each(|p| say(Label::TakesNextp { w, p }))
            }
            (_, _, Act::Event(told), _) => match told {
                Told::Entered { p, blocks } => {
                    (thread.inside, thread.left) = (true, false);
                    say(if blocks { Label::Blocks(p) } else { Label::Runs(p) });
                }
                Told::Returned { p, .. } => {
                    thread.inside = false;
                    say(Label::Runs(p));
                }
                Told::Slept => {
                    thread.inside = false;
                    say(Label::Slept);
                }
                Told::Got { p, .. } => {
                    thread.inside = false;
                    say(Label::Runs(p));
                }
                Told::Held { p } if thread.begins && thread.held >> p & 1 == 1 => (),
                Told::Held { p } if thread.begins && is_buffered => thread.own = Some(p),
                Told::Held { p } => say(Label::Held(p)),
                Told::Listed { p } => say(Label::Listed(p)),
                Told::Stopped => say(Label::Stopped),
                _ => (),
            },
            _ => (),
        }
    }
    (usize::from(calls) <= CALLS).then_some(steps)
}

/// Does this thread, having read a word, try to take the P that it has seen?
fn tries(later: &[Item], thread: usize) -> bool {
    let next = later.iter().filter(|item| item.thread == thread).find(|item| matches!(item.word, Name::Syscall(_)));
    next.is_some_and(|item| matches!(item.act, Act::Exchange(..) | Act::NoExchange(_)))
}

/// The Ps that this thread idles before it opens the lock: a bit for each.
fn idled(later: &[Item], thread: usize) -> u64 {
    let mine = later.iter().filter(|item| item.thread == thread).take_while(|item| item.act != Act::Unlock);
    mine.fold(0, |idle, item| if let Act::Event(Told::Listed { p }) = item.act { idle | 1 << p } else { idle })
}

/// Where the system may be at first.
pub(crate) fn begins(finite: &Finite<'_>, ms: u8) -> Vec<State> {
    let mut state = (finite.system.begins)(finite.system, &finite.sizes)[0];
    (0..ms as usize).for_each(|m| state.places[m] = ASLEEP);
    vec![state]
}

/// The kernel is at rest when a trace ends: all sleep, and every P is idle.
pub(crate) fn is_at_rest(finite: &Finite<'_>, state: &State, ms: u8) -> bool {
    (0..finite.sizes[0]).all(|m| state.places[m] == if m < ms as usize { ASLEEP } else { OUT })
        && (0..finite.sizes[1] as u8).all(|p| finite.holds(state, IDLE, &[p]))
        && !finite.holds(state, STOPPING, &[])
        && !finite.holds(state, WANTED, &[])
}

/// Plays one step. `false`: no transition allows it.
pub(crate) fn play(replay: &mut Replay<'_>, step: Step) -> bool {
    let m = step.m;
    let own = |name: &'static str| Move::new(name, &[("m", m)]);
    let of_p = |name: &'static str, p: u8| Move::new(name, &[("m", m), ("p", p)]);
    let one = |step: Move| Some(vec![vec![step]]);
    let none = || Some(Vec::new());
    let here = |state: &State| state.places[m as usize];
    let ps = |finite: &Finite<'_>| 0..finite.sizes[1] as u8;
    let has = |finite: &Finite<'_>, state: &State, rel, p: u8| finite.holds(state, rel, &[m, p]);
    match step.label {
        Label::Runs(p) => {
            // It has taken an idle P, and keeps it.
            replay.silently(&[of_p("keeps", p)]);
            replay.only(|finite, state| here(state) == RUN && has(finite, state, OWNS, p))
        }
        Label::Blocks(p) => {
            replay.step(|_, state| if here(state) == RUN { one(of_p("begins_to_hand_off", p)) } else { none() })
        }
        Label::Enters { p, c, is_call, shown } => replay.step(|_, _| {
            let enters = Move::new(if is_call { "enters" } else { "is_interrupted" }, &[("m", m), ("p", p), ("c", c)]);
            Some(vec![[enters].into_iter().chain(shown.then(|| of_p("shows_put", p))).collect()])
        }),
        Label::ShowsPut(p) => replay.step(|_, _| one(of_p("shows_put", p))),
        Label::EntersFence => {
            replay.step(|_, state| if here(state) == ENTERED { one(own("fences_entering")) } else { none() })
        }
        Label::Wanted(is_wanted) => replay.step(|finite, state| match (here(state), is_wanted) {
            (CHECKS, true) => one(own("is_wanted")),
            (CHECKS, false) => one(own("is_not_wanted")),
            (ENTERED | GIVES | TAKES_BACK, _) => none(),
            // It hands its P off.
            (INSIDE, _) if !ps(finite).any(|p| has(finite, state, HANDS, p)) => none(),
            _ => None,
        }),
        Label::Peek { p, by: None, .. } => {
            let calls = |finite: &Finite<'_>| 0..finite.sizes[2] as u8;
            replay.only(|finite, state| !calls(finite).any(|c| finite.holds(state, WORD, &[p, c])))
                && replay.step(|finite, state| match here(state) {
                    // A stopper reads them in order.
                    SCANS if (0..p).any(|q| !has(finite, state, SCANNED, q)) => none(),
                    SCANS => one(of_p("sees_no_call", p)),
                    _ => None,
                })
        }
        // The monitor leaves it there.
        Label::Peek { tries: false, .. } => replay.only(|_, state| here(state) == OUT),
        Label::Peek { p, by: Some(by), tries: true } => {
            let sees = replay.step(|_, state| match here(state) {
                SCANS => one(of_p("sees_call_stopping", p)),
                BACK => one(of_p("sees_old_p", p)),
                OUT => Some(vec![vec![of_p("sees_call", p)], vec![own("left_none"), of_p("sees_old_p", p)]]),
                _ => none(),
            });
            let is_by = |finite: &Finite<'_>, state: &State, c| {
                finite.holds(state, SEEN, &[m, p, c]) && finite.holds(state, BY, &[c, by])
            };
            sees && replay.only(|finite, state| (0..finite.sizes[2] as u8).any(|c| is_by(finite, state, c)))
        }
        Label::Takes { p, won } => replay.step(|_, state| match (here(state), won) {
            (GIVES, true) => one(of_p("gives", p)),
            (GIVES, false) => one(own("has_none_to_give")),
            (INSIDE, true) => one(of_p("exits_kept", p)),
            (INSIDE, false) => one(own("finds_its_p_gone")),
            (TAKES_BACK, true) => one(of_p("takes_back", p)),
            (TAKES_BACK, false) => one(of_p("misses_old_p", p)),
            (RETAKES, true) => one(of_p("retakes", p)),
            (RETAKES, false) => one(of_p("misses_call", p)),
            (SEES, true) => one(of_p("takes_stopping", p)),
            (SEES, false) => one(of_p("misses_stopping", p)),
            _ => none(),
        }),
        Label::Asks { shown } => {
            // A G that stops the world brings its P.
            replay.silently(&[own("begins_to_hand_off")]);
            let shows = || shown.then(|| own("shows_request"));
            let begins = || Some(vec![[own("begins_to_stop")].into_iter().chain(shows()).collect()]);
            replay.step(|_, state| if here(state) == OUT { begins() } else { none() })
        }
        Label::ShowsRequest => replay.step(|_, _| one(own("shows_request"))),
        Label::StopFence => {
            replay.step(|_, state| if here(state) == SAYS { one(own("fences_stopping")) } else { none() })
        }
        Label::Stopped => {
            replay.silently(&[own("ends_scan")]);
            replay.step(|_, state| if here(state) == WAITS { one(own("stops")) } else { none() })
        }
        Label::Starts { idle } => replay.step(|finite, _| {
            let idles = ps(finite).filter(|p| idle >> p & 1 == 1).map(|p| of_p("idles", p));
            Some(vec![[own("starts_the_world")].into_iter().chain(idles).collect()])
        }),
        Label::Held(p) => replay.step(|finite, state| one_after_handing(finite, state, m, p, "holds_for_stopper")),
        Label::Listed(p) => replay.step(|finite, state| one_after_handing(finite, state, m, p, "idles")),
        Label::TookIdle(p) => replay.step(|_, state| match here(state) {
            BACK => one(of_p("exits_to_idle_p", p)),
            _ => one(of_p("gets_idle_p", p)),
        }),
        Label::SetsNextp { w, p } => replay.step(|finite, state| {
            let sets = Move::new("sets_nextp", &[("m", m), ("w", w), ("p", p)]);
            let hands = has(finite, state, OWNS, p).then(|| of_p("begins_to_hand_off", p));
            Some(vec![hands.into_iter().chain([sets]).collect()])
        }),
        Label::TakesNextp { w, p } if w == m => replay.step(|_, _| one(of_p("takes_nextp", p))),
        Label::TakesNextp { w, p } => {
            replay.step(|_, _| one(Move::new("takes_nextp_again", &[("m", m), ("w", w), ("p", p)])))
        }
        Label::Rests { left } => replay.step(|_, state| match here(state) {
            BACK if left => one(own("rests")),
            OUT if !left => None,
            _ => none(),
        }),
        Label::Slept => replay.step(|_, state| if here(state) == OUT { one(own("sleeps")) } else { none() }),
    }
}

/// An M that runs, and gives its P away, hands it off first.
fn one_after_handing(finite: &Finite<'_>, state: &State, m: u8, p: u8, name: &'static str) -> Option<Vec<Vec<Move>>> {
    let of_p = |name: &'static str| Move::new(name, &[("m", m), ("p", p)]);
    let hands = finite.holds(state, OWNS, &[m, p]).then(|| of_p("begins_to_hand_off"));
    Some(vec![hands.into_iter().chain([of_p(name)]).collect()])
}
