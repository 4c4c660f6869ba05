//! What the kernel did, as an execution of the protocol that stops the world.

use super::custody::idled;
use super::functions::Functions;
use super::recorded::{Act, Item, Name, Told, numbers, shown};
use spinpark_parameterized::finite::{Finite, State};
use spinpark_parameterized::replay::{Move, Replay};
use spinpark_parameterized::stw::*;
use std::collections::HashMap;

/// One step of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    pub(crate) m: u8,
    label: Label,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Label {
    Busy(u8),
    NoLongerBusy(u8),
    TookIdle(u8),
    Listed(u8),
    Held(u8),
    /// A P goes from one thread to another.
    Passes {
        from: u8,
        to: u8,
        p: u8,
    },
    Queued,
    TookGlobal,
    QueuesUp,
    IsFirst,
    IsNotFirst,
    Begins,
    IsStopped,
    IsNotStopped,
    /// And these Ps become idle: a bit for each.
    Starts {
        idle: u64,
    },
    Wakep,
    Wakes(u8),
    Woken,
}

/// Where a stopper is, as far as that says what its next hold of the lock is for.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Stop {
    #[default]
    No,
    /// It has made its parker, and is about to queue up.
    Made,
    InLine,
    Begins,
    Waits,
    Stopped,
    /// It has yet to call `wakep`.
    Started,
}

#[derive(Default, Clone)]
struct Thread {
    stop: Stop,
    parker: Option<u32>,
    /// Where to say what it saw in its last hold of the lock.
    unlocked: usize,
    /// In this hold of the lock it begins to stop the world; these Ps were idle.
    held: u64,
    /// In this hold of the lock it starts the world; these Ps become idle.
    starts: bool,
    idle: u64,
}

/// What is in a P's queue.
#[derive(Default, Clone, Copy)]
struct Queue {
    next: u64,
    head: u64,
    tail: u64,
}

impl Queue {
    fn is_busy(self) -> bool {
        self.next != 0 || self.head != self.tail
    }
}

fn p_of(nextp: u64) -> Option<u8> {
    (nextp > 1).then_some((nextp >> 2) as u8)
}

/// The steps of a trace.
pub(crate) fn steps(items: &[Item], ms: u8, functions: &Functions) -> Vec<Step> {
    let items = shown(items);
    let mut numbers = numbers(&items, ms);
    let mut threads: HashMap<usize, Thread> = HashMap::new();
    let mut steps: Vec<Option<Step>> = Vec::new();
    let mut queues: HashMap<u8, Queue> = HashMap::new();
    let mut stoppers: HashMap<u32, u8> = HashMap::new();
    let (mut idle_bits, mut global, mut is_stopping, mut is_made) = (0_u64, 0_u64, false, false);
    for (at, item) in items.iter().enumerate() {
        let m = numbers.of(item.thread);
        let thread = threads.entry(item.thread).or_default();
        let function = functions.of(item.at).unwrap_or("");
        if let Some((p, now)) = changed(item, &mut queues) {
            steps.push(Some(Step { m, label: if now { Label::Busy(p) } else { Label::NoLongerBusy(p) } }));
        }
        let mut say = |label| steps.push(Some(Step { m, label }));
        match (item.at.0, function, item.act, item.word) {
            // Those of Ms are made before all else, by the main thread, which then submits.
            (_, _, Act::Lock, _) => is_made = true,
            (_, _, Act::NewParker(number), _) if is_made || item.thread != items[0].thread => {
                stoppers.insert(number, m);
                (thread.stop, thread.parker) = (Stop::Made, Some(number));
            }
            (_, _, Act::Unlock, _) if thread.starts => thread.starts = false,
            (_, _, Act::Unlock, _) => match thread.stop {
                Stop::Made | Stop::InLine => {
                    if thread.stop == Stop::Made {
                        say(Label::QueuesUp);
                        thread.stop = Stop::InLine;
                    }
                    thread.unlocked = steps.len();
                    steps.push(None);
                }
                Stop::Begins => thread.stop = Stop::Waits,
                Stop::Waits => {
                    thread.unlocked = steps.len();
                    steps.push(None);
                }
                _ => (),
            },
            (_, _, Act::Parks(number), _) if thread.parker == Some(number) => {
                let label = if thread.stop == Stop::InLine { Label::IsNotFirst } else { Label::IsNotStopped };
                steps[thread.unlocked] = Some(Step { m, label });
            }
            (_, _, Act::Parked(number), _) if thread.parker == Some(number) => say(Label::Woken),
            (_, _, Act::Unparks(number), _) => {
                stoppers.get(&number).into_iter().for_each(|s| say(Label::Wakes(*s)));
            }
            ("protocol/stw/wanted.rs", "ask", Act::Store(_), _) => {
                say(Label::Begins);
                steps[thread.unlocked] = Some(Step { m, label: Label::IsFirst });
                (thread.stop, thread.held, is_stopping) = (Stop::Begins, 0, true);
            }
            ("protocol/stw/wanted.rs", "done", Act::Store(_), _) => (thread.starts, thread.idle) = (true, 0),
            ("protocol/stw/wanted.rs", "done", Act::Shown(_), _) => {
                say(Label::Starts { idle: idled(&items[at..], item.thread) | thread.idle });
                (thread.stop, is_stopping) = (Stop::Started, false);
            }
            ("protocol/spinning.rs", "wakep", Act::Fence, _) if thread.stop == Stop::Started => {
                say(Label::Wakep);
                thread.stop = Stop::No;
            }
            ("queues/idle.rs", "set", Act::Store(bits), _) => {
                let gone = idle_bits & !bits;
                if thread.stop == Stop::Begins {
                    thread.held |= gone;
                } else if gone != 0 {
                    say(Label::TookIdle(gone.trailing_zeros() as u8));
                }
                idle_bits = bits;
            }
            ("queues/globq.rs", "set", Act::Store(n), _) => {
                match n.cmp(&global) {
                    std::cmp::Ordering::Greater if is_stopping => say(Label::Queued),
                    std::cmp::Ordering::Less if n == 0 => say(Label::TookGlobal),
                    _ => (),
                }
                global = n;
            }
            ("types/m.rs", "set_nextp", Act::Swap(_, nextp), Name::NextP(w)) => {
                p_of(nextp).into_iter().for_each(|p| say(Label::Passes { from: m, to: w, p }))
            }
            ("types/m.rs", "take_nextp", Act::Swap(nextp, _), Name::NextP(w)) if w != m => {
                p_of(nextp).into_iter().for_each(|p| say(Label::Passes { from: w, to: m, p }))
            }
            ("protocol/syscall.rs", "take", Act::Exchange(before, _), Name::Syscall(p)) => {
                let by = (before as u32 - 1) as u8;
                if by != m {
                    say(Label::Passes { from: by, to: m, p });
                }
            }
            (_, _, Act::Event(Told::Held { p }), _) if thread.stop == Stop::Begins && thread.held >> p & 1 == 1 => (),
            (_, _, Act::Event(Told::Held { p }), _) => say(Label::Held(p)),
            (_, _, Act::Event(Told::Listed { p }), _) if thread.starts => thread.idle |= 1 << p,
            (_, _, Act::Event(Told::Listed { p }), _) => say(Label::Listed(p)),
            (_, _, Act::Event(Told::Stopped), _) => {
                steps[thread.unlocked] = Some(Step { m, label: Label::IsStopped });
                thread.stop = Stop::Stopped;
            }
            _ => (),
        }
    }
    steps.into_iter().flatten().collect()
}

/// Does this make a P's queue empty, or no longer?
fn changed(item: &Item, queues: &mut HashMap<u8, Queue>) -> Option<(u8, bool)> {
    let (Name::Next(p) | Name::Head(p) | Name::Tail(p)) = item.word else { return None };
    let (Act::Shown(now) | Act::Swap(_, now) | Act::Exchange(_, now)) = item.act else { return None };
    let queue = queues.entry(p).or_default();
    let before = queue.is_busy();
    match item.word {
        Name::Next(_) => queue.next = now,
        Name::Head(_) => queue.head = now,
        _ => queue.tail = now,
    }
    (queue.is_busy() != before).then_some((p, queue.is_busy()))
}

/// The kernel is at rest when a trace ends: no thread stops the world, and every P is idle.
pub(crate) fn is_at_rest(finite: &Finite<'_>, state: &State) -> bool {
    (0..finite.sizes[0]).all(|m| state.places[m] == OUT)
        && (0..finite.sizes[1] as u8).all(|p| finite.holds(state, IDLE, &[p]))
        && !finite.holds(state, STOPPING, &[])
        && !finite.tuples(OWES).iter().any(|pair| finite.holds(state, OWES, pair))
}

/// For each thread, the idle P that it has taken for another M.
pub(crate) type Wakers = HashMap<u8, u8>;

/// Plays one step. `false`: no transition allows it.
pub(crate) fn play(replay: &mut Replay<'_>, step: Step, wakers: &mut Wakers) -> bool {
    let m = step.m;
    let own = |name: &'static str| Some(vec![vec![Move::new(name, &[("m", m)])]]);
    let of_p = |name: &'static str, p: u8| Some(vec![vec![Move::new(name, &[("m", m), ("p", p)])]]);
    let owns =
        |finite: &Finite<'_>, state: &State| (0..finite.sizes[1] as u8).any(|p| finite.holds(state, OWNS, &[m, p]));
    let owes =
        |finite: &Finite<'_>, state: &State| (0..finite.sizes[0] as u8).any(|s| finite.holds(state, OWES, &[m, s]));
    let is_at = |replay: &Replay<'_>, place: u8| replay.states.iter().all(|state| state.places[m as usize] == place);
    // A waker sets the `nextp` at once, or puts the P back.
    let passes = match step.label {
        Label::Passes { p, .. } | Label::Listed(p) | Label::Held(p) => Some(p),
        _ => None,
    };
    if wakers.remove(&m).is_some_and(|p| passes != Some(p)) {
        return false;
    }
    // And a thread that has started the world wakes the next stopper, and calls `wakep`, before all else.
    if is_at(replay, WAKES) && !matches!(step.label, Label::Wakes(_) | Label::Wakep) {
        return false;
    }
    match step.label {
        Label::Busy(p) => replay.step(|_, _| of_p("readies", p)),
        Label::NoLongerBusy(p) => replay.step(|_, _| of_p("takes_gs", p)),
        Label::TookIdle(p) => {
            if replay.states.iter().all(|state| owns(replay.finite, state)) {
                wakers.insert(m, p);
            }
            replay.step(|_, _| of_p("gets_a_p", p))
        }
        Label::Listed(p) => replay.step(|_, _| of_p("idles", p)),
        Label::Held(p) => replay.step(|_, _| of_p("hands_in", p)),
        Label::Passes { from, to, p } => {
            let (step, m, n) = if m == to { ("takes_over", to, from) } else { ("hands_on", from, to) };
            replay.step(|_, _| Some(vec![vec![Move::new(step, &[("m", m), ("n", n), ("p", p)])]]))
        }
        Label::Queued => {
            replay.silently(&[Move::new("submits", &[("m", m)])]);
            replay.only(|finite, state| finite.holds(state, UNSERVED, &[]))
        }
        Label::TookGlobal => {
            replay.silently(&[Move::new("takes_global", &[("m", m)])]);
            replay.only(|finite, state| !finite.holds(state, UNSERVED, &[]))
        }
        Label::QueuesUp => replay.step(|_, _| own("queues_up")),
        Label::IsFirst => replay.step(|_, _| own("is_first")),
        Label::IsNotFirst => replay.step(|_, _| own("is_not_first")),
        Label::Begins => replay.step(|_, _| own("begins_to_stop")),
        Label::IsStopped => replay.step(|_, _| own("is_stopped")),
        Label::IsNotStopped => replay.step(|_, _| own("is_not_stopped")),
        Label::Starts { idle } => {
            let are = |finite: &Finite<'_>, state: &State| {
                (0..finite.sizes[1] as u8).all(|p| finite.holds(state, IDLE, &[p]) == (idle >> p & 1 == 1))
            };
            replay.step(|_, _| own("starts_the_world")) && replay.only(are)
        }
        Label::Wakep => replay.only(|finite, state| !owes(finite, state)) && replay.step(|_, _| own("calls_wakep")),
        Label::Wakes(s) => replay.step(|_, _| Some(vec![vec![Move::new("wakes", &[("m", m), ("s", s)])]])),
        Label::Woken => replay.step(|_, state| {
            let [woken, spuriously] = match state.places[m as usize] {
                SLEEPS_IN_LINE => ["is_woken_in_line", "wakes_spuriously_in_line"],
                _ => ["is_woken", "wakes_spuriously"],
            };
            Some([woken, spuriously].map(|name| vec![Move::new(name, &[("m", m)])]).to_vec())
        }),
    }
}
