//! What the kernel did, as an execution of the scheduler.

use super::functions::Functions;
use super::recorded::{Act, Item, Name, Told, numbers, shown};
use spinpark_kernel::protocol::sources::{SearchOrder, Source};
use spinpark_parameterized::finite::{Finite, State};
use spinpark_parameterized::replay::{Move, Replay};
use spinpark_parameterized::sched::state::*;
use std::collections::{HashMap, VecDeque};

/// So many Gs there may be: they are numbered from 1.
pub(crate) const GS: usize = 6;
/// So many system calls there may be.
pub(crate) const CALLS: usize = 6;

/// One step of a trace: who, what, and what of it is known only later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    pub(crate) m: u8,
    label: Label,
}

/// At which place of its thread it is which transition.
type Table = &'static [(u8, &'static str)];
const FENCES: Table = &[(QUEUED, "fences")];
const RECHECKS: Table = &[(SEARCH, "rechecks"), (HAND_OFF, "rechecks_handing")];
const ELECTED_NOW: Table = &[
    (ELECT, "is_elected"),
    (SEES_IDLE, "is_elected"),
    (RECHECK, "elects_itself"),
    (HAND_RECHECK, "elects_itself_handing"),
];
const NOT_ELECTED: Table = &[
    (ELECT, "is_not_elected"),
    (SEES_IDLE, "is_not_elected"),
    (RECHECK, "trusts_a_count"),
    (HAND_RECHECK, "trusts_a_count_handing"),
];
const COUNTED_LOCKED: Table =
    &[(SEES_NEED, "counts_called"), (HAND_SEES_NEED, "counts_called_handing"), (GOT_P, "counts_itself")];
const COUNTED_FREE: Table = &[(SEARCH, "begins_to_spin"), (GOT_P, "counts_itself")];
const NEED_SET: Table = &[(ASK, "asks"), (SAW_WORK, "asks_for_work"), (REFUSED_ASK, "asks_refused")];
const TOOK_OWN: Table = &[(SEARCH, "takes_own"), (SPIN, "takes_own"), (REFUSED_DRAIN, "drains_refused")];
const SPILLED: Table = &[(RUN, "spills"), (KICKS, "spills")];
const GLOBAL_TAKEN: Table = &[(SEARCH, "takes_global"), (SPIN, "takes_global")];
const GLOBAL_SHARED: Table = &[(SEARCH, "takes_share"), (SPIN, "takes_share")];
const LISTED: Table = &[
    (SPIN, "idles_spinning"),
    (SEARCH, "idles_beside_another"),
    (IDLES, "idles"),
    (HAND_OFF, "settles_beside_another"),
    (HAND_IDLES, "settles"),
    (REFUSED_DRAIN, "idles_refused"),
];
const REFUSED: Table = &[(START, "is_refused"), (START_UNCOUNTED, "is_refused_uncounted")];
const WAKES_M: Table = &[(START, "wakes_m"), (START_UNCOUNTED, "wakes_m_uncounted")];
const RESERVED: Table = &[(START, "reserves"), (START_UNCOUNTED, "reserves_uncounted")];
const STARTED: Table = &[(NEWM, "starts"), (NEWM_UNCOUNTED, "starts_uncounted")];
const TAKES_NEXTP: Table = &[(WOKEN, "takes_nextp"), (WOKEN_COUNTED, "takes_nextp")];
const FENCED_CALL: Table = &[(ENTERED, "fences_entering")];
/// It tries to take a P out of a word: it has it, or has not.
const TAKEN: Table = &[(GIVES, "gives"), (INSIDE, "exits_kept"), (TAKES_BACK, "takes_back"), (RETAKES, "retakes")];
const MISSED: Table = &[
    (GIVES, "has_none_to_give"),
    (INSIDE, "finds_its_p_gone"),
    (TAKES_BACK, "misses_old_p"),
    (RETAKES, "misses_call"),
];

/// Of which G, P or M it is, and of which set of Gs.
type Args = [Option<(&'static str, u8)>; 3];
const NONE: Args = [None; 3];

fn of(name: &'static str, x: u8) -> Args {
    [Some((name, x)), None, None]
}

fn batch(gs: &[u8]) -> (&'static str, u8) {
    (BATCH.name, gs.iter().fold(0, |set, g| set | 1 << g))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Label {
    /// One of these, by the place of its thread.
    Is(Table, Args),
    ElectRead(bool),
    Lowered {
        last: bool,
    },
    /// And is the store visible at once?
    NeedCleared {
        shown: bool,
    },
    ShowsCleared,
    ShowsPut(u8),
    NeedRead(bool),
    /// Is a spinning M asked for? Read without the lock.
    RequestRead(bool),
    /// How many Ps are idle, read without the lock.
    IdleRead(u64),
    GlobalRead {
        n: u8,
        locked: bool,
    },
    RingEmpty(u8),
    RingShows {
        locked: bool,
    },
    Put {
        g: u8,
        yields: bool,
        shown: bool,
    },
    PutNext {
        g: u8,
        kicked: u8,
    },
    PublishedStolen,
    GlobalPut {
        g: u8,
        exits: bool,
    },
    GlobalSame,
    /// It takes this idle P.
    Took {
        p: u8,
        inside: bool,
    },
    Unlocked,
    Got(u8),
    Called,
    /// And is the store visible at once?
    Enters {
        p: u8,
        c: u8,
        shown: bool,
    },
    ShowsWord(u8),
    Wanted(bool),
    /// It reads a word: whose call is there, and does it try to take the P?
    Peek {
        p: u8,
        by: Option<u8>,
        tries: bool,
    },
    SetsNextp {
        w: u8,
        p: u8,
    },
    Returned(u8),
    Found(u8),
    Sought,
}

/// What the steps of each thread are so far.
#[derive(Default, Clone)]
struct Thread {
    locked: bool,
    /// The idle P that it has just taken off the list, or put there, if that is not visible yet.
    relisted: Option<Label>,
    /// The M that it wakes with that P.
    wakes: Option<Label>,
    inside: bool,
    /// The step at which it opened the lock last.
    unlocked: usize,
    /// The G that it runs.
    runs: u8,
    /// What was told last to be queued.
    queued: Option<(u8, bool)>,
    /// What was put into slots since the tail was moved.
    slots: Vec<u8>,
    /// What was read from slots since head was read.
    read: Vec<u8>,
    /// What a test for emptiness has seen.
    tail: u64,
    head: u64,
    /// The step that would say that a ring is empty.
    empty: Option<usize>,
    shared: Vec<u8>,
    /// What was stolen since the tail was moved.
    stolen: Vec<u8>,
    /// What each store to a tail that is not visible yet puts there.
    puts: VecDeque<Vec<u8>>,
    /// So many of its stores to the length of the global queue are not visible.
    lowers: usize,
    /// What it has found meanwhile.
    found: Option<u8>,
    /// Its clear of `needspinning`, under the lock, is not visible.
    clears_locked: bool,
}

impl Thread {
    /// A P's place on the list is visible; and then, under the same hold of the lock, who is woken with it.
    fn relists(&mut self) -> impl Iterator<Item = Label> + use<> {
        let relisted = self.relisted.take();
        let wakes = relisted.and_then(|_| self.wakes.take());
        relisted.into_iter().chain(wakes)
    }
}

/// The P of a `nextp`, if there is one.
fn p_of(nextp: u64) -> Option<u8> {
    (nextp > 1).then_some((nextp >> 2) as u8)
}

/// The steps of a trace; `None` if there are more calls than the universe has. `ms`: how many Ms there may be.
pub(crate) fn steps(items: &[Item], ms: u8, functions: &Functions) -> Option<Vec<Step>> {
    let is_buffered = items.iter().any(|item| item.act == Act::Visible);
    let items = &shown(items);
    let mut numbers = numbers(items, ms);
    let mut threads: HashMap<usize, Thread> = HashMap::new();
    let mut steps: Vec<Option<Step>> = Vec::new();
    let mut idle_bits = 0_u64;
    let mut global = 0_u64;
    let mut calls = 0;
    for (at, item) in items.iter().enumerate() {
        let m = numbers.of(item.thread);
        let thread = threads.entry(item.thread).or_default();
        let function = functions.of(item.at).unwrap_or("");
        let mut say = |label| steps.push(Some(Step { m, label }));
        if let (Name::Tail(_), Act::Shown(_)) = (item.word, item.act) {
            let gs = thread.puts.pop_front().unwrap_or_default();
            gs.into_iter().filter(|_| is_buffered).for_each(|g| say(Label::ShowsPut(g)));
        }
        match (item.at.0, function, item.act) {
            (_, _, Act::Lock) => thread.locked = true,
            (_, _, Act::Unlock) => {
                thread.locked = false;
                steps.extend(thread.relists().map(|label| Some(Step { m, label })));
                thread.unlocked = steps.len();
                steps.push(Some(Step { m, label: Label::Unlocked }));
            }
            ("protocol/spinning.rs", "wakep" | "wakep_under", Act::Fence) => say(Label::Is(FENCES, NONE)),
            ("protocol/spinning.rs", "must_recheck", Act::Fence) => say(Label::Is(RECHECKS, NONE)),
            ("protocol/spinning.rs", "elect_unless", Act::Load(n)) => say(Label::ElectRead(n == 0)),
            ("protocol/spinning.rs", "elect_unless", Act::Exchange(..)) => say(Label::Is(ELECTED_NOW, NONE)),
            ("protocol/spinning.rs", "elect_unless", Act::NoExchange(_)) => say(Label::Is(NOT_ELECTED, NONE)),
            ("protocol/spinning.rs", "become_spinning", Act::Add(..)) => {
                say(Label::Is(if thread.locked { COUNTED_LOCKED } else { COUNTED_FREE }, NONE))
            }
            // Under the lock it counts from where it is visible.
            ("protocol/spinning.rs", "become_spinning", Act::Store(_)) if thread.locked && is_buffered => {
                thread.clears_locked = true;
            }
            ("protocol/spinning.rs", "become_spinning", Act::Store(_)) => {
                say(Label::NeedCleared { shown: !is_buffered })
            }
            ("protocol/spinning.rs", "become_spinning", Act::Shown(_)) if is_buffered => {
                let is_first = std::mem::take(&mut thread.clears_locked);
                say(if is_first { Label::NeedCleared { shown: true } } else { Label::ShowsCleared });
            }
            // Under the lock, and read there: it counts from where it is visible.
            ("protocol/spinning.rs", "set_needspinning", Act::Shown(_)) => say(Label::Is(NEED_SET, NONE)),
            ("protocol/spinning.rs", "take_needspinning", Act::Load(n)) => say(Label::NeedRead(n != 0)),
            ("protocol/spinning.rs", "is_needspinning", Act::Load(n)) if !thread.locked => {
                say(Label::RequestRead(n != 0))
            }
            ("queues/idle.rs", "npidle", Act::Load(n)) if !thread.locked => say(Label::IdleRead(n)),
            ("protocol/spinning.rs", "leave", Act::Add(before, _)) => say(Label::Lowered { last: before == 1 }),
            ("queues/globq.rs", "peek", Act::Load(n)) => say(Label::GlobalRead { n: n as u8, locked: thread.locked }),
            // Written under the lock, and read without it: it counts from where it is visible.
            ("queues/globq.rs", "set", Act::Store(_)) => thread.lowers += 1,
            ("queues/globq.rs", "set", Act::Shown(n)) => {
                thread.lowers -= 1;
                if n > global {
                    let (g, exits) =
                        if thread.inside { (thread.runs, true) } else { (thread.queued.map_or(0, |(g, _)| g), false) };
                    steps.push(Some(Step { m, label: Label::GlobalPut { g, exits } }));
                } else if n < global {
                    let told = thread.found.take();
                    let first = told.unwrap_or_else(|| later_found(items, at, item.thread));
                    let shared = std::mem::take(&mut thread.shared);
                    let share = Label::Is(GLOBAL_SHARED, [Some(batch(&shared)), None, None]);
                    steps.extend((!shared.is_empty()).then_some(Some(Step { m, label: share })));
                    steps.push(Some(Step { m, label: Label::Is(GLOBAL_TAKEN, of("g", first)) }));
                    steps.extend(told.map(|g| Some(Step { m, label: Label::Found(g) })));
                } else {
                    say(Label::GlobalSame);
                }
                global = n;
            }
            ("queues/idle.rs", "set", Act::Store(bits)) => {
                let (gone, come) = (idle_bits & !bits, bits & !idle_bits);
                let p = |bits: u64| (thread.locked && bits != 0).then(|| bits.trailing_zeros() as u8);
                let took = p(gone).map(|p| Label::Took { p, inside: thread.inside });
                thread.relisted = took.or(p(come).map(|p| Label::Is(LISTED, of("p", p))));
                idle_bits = bits;
            }
            // It counts from where `npidle` is visible, which is read without the lock.
            ("queues/idle.rs", "count", Act::Shown(_)) => {
                steps.extend(thread.relists().map(|label| Some(Step { m, label })));
            }
            ("queues/runnext.rs", "put", Act::Swap(before, g)) => {
                say(Label::PutNext { g: g as u8, kicked: before as u8 });
                // The G that was there goes into the ring.
                thread.queued = (before != 0).then_some((before as u8, true)).or(thread.queued);
            }
            ("queues/runnext.rs", "take", Act::Swap(g, _)) if g != 0 => say(Label::Is(TOOK_OWN, of("g", g as u8))),
            ("queues/runnext.rs", "steal", Act::Swap(g, _)) if g != 0 => {
                if let Name::Next(v) = item.word {
                    say(Label::Is(&[(SPIN, "steals")], [Some(("v", v)), Some(("g", g as u8)), None]));
                }
            }
            ("queues/runnext.rs", "is_set_acquire", Act::Load(g)) => {
                if let Name::Next(_) = item.word {
                    if g != 0 {
                        say(Label::RingShows { locked: thread.locked });
                    } else {
                        // It is said later whether the ring was empty now.
                        thread.empty = Some(steps.len());
                        steps.push(None);
                    }
                }
            }
            ("queues/runq.rs", "looks_empty", Act::Load(n)) => match item.word {
                Name::Head(_) => thread.head = n,
                Name::Tail(_) => {
                    thread.tail = n;
                    if n != thread.head {
                        say(Label::RingShows { locked: thread.locked });
                    }
                }
                _ => (),
            },
            ("queues/runq.rs", "is_still_at", Act::Load(n)) => {
                if let (Name::Tail(p), Some(then)) = (item.word, thread.empty.take())
                    && n == thread.tail
                {
                    steps[then] = Some(Step { m, label: Label::RingEmpty(p) });
                }
            }
            ("queues/runq.rs", "put", Act::Store(g)) => match item.word {
                Name::Slot(_) => thread.slots = vec![g as u8],
                Name::Tail(_) => {
                    let yields = thread.queued.is_some_and(|(_, next)| !next);
                    thread.puts.push_back(thread.slots.clone());
                    thread.slots.drain(..).for_each(|g| say(Label::Put { g, yields, shown: !is_buffered }));
                }
                _ => (),
            },
            ("queues/runq.rs", "put_batch", Act::Store(g)) if matches!(item.word, Name::Slot(_)) => {
                thread.shared.push(g as u8);
            }
            ("queues/runq.rs", "get", Act::Load(g)) => {
                if let Name::Slot(_) = item.word {
                    thread.read = vec![g as u8];
                }
            }
            ("queues/runq.rs", "get", Act::Exchange(..)) => {
                thread.read.drain(..).for_each(|g| say(Label::Is(TOOK_OWN, of("g", g))))
            }
            ("queues/runq.rs", "steal_some", act) => match (item.word, act) {
                (Name::Head(_), Act::Load(_)) => {
                    // The thief's own head is read after the victim's: what was read of slots is from there on.
                    thread.read.clear();
                }
                (Name::Slot(_), Act::Load(g)) => thread.read.push(g as u8),
                (Name::Head(v), Act::Exchange(..)) => {
                    let mut gs = thread.read.drain(..);
                    let first = gs.next().map(|g| ("g", g));
                    thread.stolen = gs.collect();
                    let more = (!thread.stolen.is_empty()).then(|| batch(&thread.stolen));
                    let steals: Table = if more.is_some() { &[(SPIN, "steals_more")] } else { &[(SPIN, "steals")] };
                    say(Label::Is(steals, [Some(("v", v)), first, more]));
                }
                (Name::Tail(_), Act::Store(_)) => {
                    thread.puts.push_back(std::mem::take(&mut thread.stolen));
                    if !is_buffered {
                        say(Label::PublishedStolen);
                    }
                }
                _ => (),
            },
            ("queues/runq.rs", "spill_half", Act::Exchange(head, after)) => {
                let gs = later_slots(items, at, item.thread, (after - head) as usize);
                say(Label::Is(SPILLED, [Some(batch(&gs)), None, None]));
            }
            ("queues/runq.rs", "put_batch", Act::Store(_)) if matches!(item.word, Name::Tail(_)) => {
                // Those of a share are in the ring as they leave the global queue.
                thread.puts.push_back(Vec::new());
            }
            ("protocol/syscall.rs", act, of_word) => {
                if let Some(label) = of_call(act, of_word, item, calls, is_buffered) {
                    calls += u8::from(matches!(label, Label::Enters { .. }));
                    let label = match label {
                        Label::Peek { p, by, .. } => Label::Peek { p, by, tries: tries(&items[at + 1..], item.thread) },
                        label => label,
                    };
                    say(label);
                }
            }
            ("protocol/stw/wanted.rs", "any", Act::Load(bits)) => say(Label::Wanted(bits != 0)),
            ("types/m.rs", "set_nextp", Act::Swap(_, nextp)) => {
                if let (Name::NextP(w), Some(p)) = (item.word, p_of(nextp)) {
                    say(Label::SetsNextp { w, p });
                }
            }
            ("types/m.rs", "take_nextp", Act::Swap(nextp, _)) => {
                p_of(nextp).into_iter().for_each(|p| say(Label::Is(TAKES_NEXTP, of("p", p))));
            }
            (_, _, Act::Event(told)) => match told {
                Told::Queued { g, next, .. } => thread.queued = Some((g as u8, next)),
                Told::Found { g, .. } => {
                    thread.runs = g as u8;
                    if thread.lowers > 0 {
                        // It is taken out of the queue when the length is visible.
                        thread.found = Some(g as u8);
                    } else {
                        say(Label::Found(g as u8));
                    }
                }
                Told::Got { p, .. } => say(Label::Got(p)),
                Told::Called => say(Label::Called),
                Told::Spinning => (),
                Told::Sought => say(Label::Sought),
                Told::Slept => {
                    thread.inside = false;
                    say(Label::Is(&[(REST, "sleeps")], NONE));
                }
                Told::Woken { m } if thread.relisted.is_some() => thread.wakes = Some(Label::Is(WAKES_M, of("w", m))),
                Told::Woken { m } => say(Label::Is(WAKES_M, of("w", m))),
                // Its number was taken under the lock.
                Told::Starting { m: w } => {
                    steps[thread.unlocked] = Some(Step { m, label: Label::Is(RESERVED, of("w", w)) });
                    steps.push(Some(Step { m, label: Label::Is(STARTED, of("w", w)) }));
                }
                Told::Refused => say(Label::Is(REFUSED, NONE)),
                Told::Entered { p, blocks } => {
                    thread.inside = true;
                    if blocks {
                        say(Label::Is(&[(RUN, "enters_blocking")], of("p", p)));
                    }
                }
                Told::Returned { p, .. } => {
                    thread.inside = false;
                    say(Label::Returned(p));
                }
                Told::Listed { .. } | Told::Held { .. } | Told::Stopped => (),
            },
            _ => (),
        }
    }
    (usize::from(calls) <= CALLS).then(|| steps.into_iter().flatten().collect())
}

/// What a thread does with the word of a P.
fn of_call(function: &str, act: Act, item: &Item, calls: u8, is_buffered: bool) -> Option<Label> {
    match (function, act, item.word) {
        ("put", Act::Store(_), Name::Syscall(p)) => Some(Label::Enters { p, c: calls, shown: !is_buffered }),
        ("put", Act::Shown(_), Name::Syscall(p)) if is_buffered => Some(Label::ShowsWord(p)),
        ("entersyscall", Act::Fence, _) => Some(Label::Is(FENCED_CALL, NONE)),
        ("peek", Act::Load(word), Name::Syscall(p)) => {
            Some(Label::Peek { p, by: (word as u32).checked_sub(1).map(|m| m as u8), tries: false })
        }
        ("take", Act::Exchange(..), Name::Syscall(p)) => Some(Label::Is(TAKEN, of("p", p))),
        ("take", Act::NoExchange(_), Name::Syscall(_)) => Some(Label::Is(MISSED, NONE)),
        _ => None,
    }
}

/// Does this thread, having read a word, try to take the P that it has seen?
fn tries(later: &[Item], thread: usize) -> bool {
    let next = later.iter().filter(|item| item.thread == thread).find(|item| matches!(item.word, Name::Syscall(_)));
    next.is_some_and(|item| matches!(item.act, Act::Exchange(..) | Act::NoExchange(_)))
}

/// The G that this thread finds next.
fn later_found(items: &[Item], at: usize, thread: usize) -> u8 {
    let found = items[at..].iter().filter(|item| item.thread == thread).find_map(|item| match item.act {
        Act::Event(Told::Found { g, .. }) => Some(g as u8),
        _ => None,
    });
    found.unwrap_or(0)
}

/// What this thread reads next from slots.
fn later_slots(items: &[Item], at: usize, thread: usize, n: usize) -> Vec<u8> {
    let slots = items[at..].iter().filter(|item| item.thread == thread && matches!(item.word, Name::Slot(_)));
    slots.filter_map(|item| if let Act::Load(g) = item.act { Some(g as u8) } else { None }).take(n).collect()
}

/// Where the system may be at first.
pub(crate) fn begins(finite: &Finite<'_>, ms: u8) -> Vec<State> {
    let mut state = State::EMPTY;
    for m in 0..finite.sizes[0] {
        state.places[m] = if m < ms as usize { NEW } else { OUT };
    }
    (0..finite.sizes[1] as u8).for_each(|p| finite.put(&mut state, IDLE, &[p], true));
    (0..finite.sizes[2] as u8).for_each(|g| finite.put(&mut state, UNQUEUED, &[g], true));
    vec![state]
}

/// The kernel is at rest when a trace ends: all sleep, and every P is idle.
pub(crate) fn is_at_rest(finite: &Finite<'_>, state: &State) -> bool {
    let is_queued =
        |g| finite.holds(state, GLOBAL, &[g]) || (0..finite.sizes[1] as u8).any(|p| finite.holds(state, RING, &[g, p]));
    (0..finite.sizes[0]).all(|m| matches!(state.places[m], OUT | NEW | ASLEEP))
        && (0..finite.sizes[1] as u8).all(|p| finite.holds(state, IDLE, &[p]))
        && !(0..finite.sizes[2] as u8).any(is_queued)
}

/// How far each thread has come in its scan: the kernel reads each source in order.
#[derive(Debug, Default, Clone)]
pub(crate) struct Scans(HashMap<u8, usize>);

impl Scans {
    /// Is this the read that comes next, if the thread scans; and if not, is its scan over?
    fn follows(&mut self, step: Step, order: SearchOrder, procs: usize) -> bool {
        let Some(at) = self.0.get(&step.m).copied() else { return true };
        let mut reads = Vec::new();
        for source in order.sources() {
            match source {
                Source::GlobalTurn | Source::Global => reads.push(None),
                Source::Steal => reads.extend((0..procs as u8).map(Some)),
                Source::Local | Source::Extra => (),
            }
        }
        let (is_next, is_over) = match step.label {
            Label::GlobalRead { n, .. } => (reads[at].is_none(), n > 0),
            Label::RingEmpty(p) => (reads[at] == Some(p), false),
            Label::RingShows { .. } => (reads[at].is_some(), true),
            _ => (false, true),
        };
        if is_over || at + 1 == reads.len() {
            self.0.remove(&step.m);
        } else {
            self.0.insert(step.m, at + 1);
        }
        is_next
    }
}

/// Plays one step. `false`: no transition allows it.
pub(crate) fn play(replay: &mut Replay<'_>, step: Step, scans: &mut Scans, order: SearchOrder) -> bool {
    let m = step.m;
    let is_scanning = scans.0.contains_key(&m);
    if !scans.follows(step, order, replay.finite.sizes[1]) {
        return false;
    }
    let own = |name: &'static str| Move::new(name, &[("m", m)]);
    let one = |name| Some(vec![vec![Move::new(name, &[("m", m)])]]);
    let with = |name, args: &[(&'static str, u8)]| Some(vec![vec![Move::new(name, &[&[("m", m)], args].concat())]]);
    let none = || Some(Vec::new());
    // A scan that is over; and what a thread may do before it shows anything.
    replay.silently(&[own("ends_scan_found"), own("ends_scan_retired")]);
    match step.label {
        Label::Is(FENCES, _) => replay.silently(&[own("wakes")]),
        Label::Is(table, _) if table.iter().any(|(place, _)| SEARCHING.has(*place)) => {
            replay.silently(&[own("ends_its_run")]);
        }
        Label::NeedRead(_) => replay.silently(&[own("ends_its_run")]),
        _ => (),
    }
    let here = |state: &State| state.places[m as usize];
    match step.label {
        Label::Is(table, args) => replay.step(|_, state| {
            let transition = table.iter().find(|(place, _)| *place == here(state));
            let args: Vec<(&'static str, u8)> = args.into_iter().flatten().collect();
            transition.map_or_else(none, |(_, name)| with(name, &args))
        }),
        Label::ElectRead(zero) => replay.step(|_, state| match (here(state), zero) {
            (FENCED, true) => one("sees_none_counted"),
            (FENCED, false) => one("trusts"),
            (RECHECK | HAND_RECHECK, true) => None,
            (RECHECK, false) => one("trusts_a_count"),
            (HAND_RECHECK, false) => one("trusts_a_count_handing"),
            _ => none(),
        }),
        Label::RequestRead(is_asked) => {
            replay.only(|finite, state| finite.holds(state, NEED, &[]) == is_asked)
                && replay.step(|_, state| match (here(state), is_asked) {
                    (ELECT, true) => one("sees_a_request"),
                    (ELECT, false) => None,
                    _ => none(),
                })
        }
        Label::IdleRead(n) => replay.step(|_, state| match (here(state), n) {
            (REQUESTED, 0) => one("trusts_a_request"),
            (REQUESTED, _) => one("sees_an_idle_p"),
            _ => None,
        }),
        Label::NeedCleared { shown } => replay.step(|_, state| match here(state) {
            CLEAR => Some(vec![[own("clears")].into_iter().chain(shown.then(|| own("flushes_clear"))).collect()]),
            CALLED => one("clears_called"),
            HAND_CALLED => one("clears_called_handing"),
            _ => none(),
        }),
        Label::NeedRead(need) => {
            replay.only(|finite, state| finite.holds(state, NEED, &[]) == need)
                && replay.step(|_, state| match (here(state), need) {
                    (SEARCH, true) => one("is_called"),
                    (HAND_OFF, true) => one("is_called_handing"),
                    (REST, true) => one("is_called_resting"),
                    (_, true) => none(),
                    (_, false) => None,
                })
        }
        Label::Lowered { last } => {
            let scans_next = replay.states.iter().all(|state| here(state) == IDLED || here(state) == FOUND && last);
            if scans_next {
                scans.0.insert(m, 0);
            }
            replay.step(|_, state| match here(state) {
                ELECTED => Some(vec![vec![own("gets_no_p"), own("lowers")]]),
                FOUND => one(if last { "leaves_last" } else { "leaves" }),
                IDLED => one("retires"),
                REFUSED_LOWER => one("lowers_refused"),
                _ => none(),
            })
        }
        Label::GlobalRead { n, locked } => {
            let gs = |finite: &Finite<'_>, state: &State| {
                (0..finite.sizes[2] as u8).filter(|g| finite.holds(state, GLOBAL, &[*g])).count()
            };
            replay.only(|finite, state| gs(finite, state) == n as usize)
                && replay.step(|finite, state| match (here(state), n) {
                    (SCAN_FOUND | SCAN_RETIRED, _) if !is_scanning => none(),
                    // It is read twice: once as the global queue's turn.
                    (SCAN_FOUND | SCAN_RETIRED, 0) if finite.holds(state, SAW_GLOBAL, &[m]) => None,
                    (SCAN_FOUND | SCAN_RETIRED, 0) => one("sees_no_global"),
                    (SCAN_FOUND, _) => one("sees_work_found"),
                    (SCAN_RETIRED, _) => one("sees_work_retired"),
                    (HAND_OFF, 1..) => one(if locked { "has_work_handing" } else { "sees_work_handing" }),
                    (
                        QUEUED | FENCED | ELECT | REQUESTED | SEES_IDLE | SAW_WORK | GOT_P | START | START_UNCOUNTED,
                        _,
                    ) => none(),
                    _ => None,
                })
        }
        Label::RingEmpty(p) => replay.step(|_, state| match here(state) {
            SCAN_FOUND | SCAN_RETIRED if !is_scanning => none(),
            SCAN_FOUND | SCAN_RETIRED => with("sees_no_ring", &[("p", p)]),
            QUEUED | FENCED | ELECT | REQUESTED | SEES_IDLE | SAW_WORK | GOT_P | START | START_UNCOUNTED => none(),
            _ => None,
        }),
        Label::RingShows { locked } => replay.step(|_, state| match here(state) {
            SCAN_FOUND => one("sees_work_found"),
            SCAN_RETIRED => one("sees_work_retired"),
            HAND_OFF => one(if locked { "has_work_handing" } else { "sees_work_handing" }),
            QUEUED | FENCED | ELECT | REQUESTED | SEES_IDLE | SAW_WORK | GOT_P | START | START_UNCOUNTED => none(),
            _ => None,
        }),
        // If it is the one that is asked for under the lock, it was visible at once.
        Label::ShowsCleared => {
            replay.step(|finite, state| if finite.holds(state, CLEARS, &[m]) { one("flushes_clear") } else { None })
        }
        Label::ShowsPut(g) => replay.step(|_, _| with("flushes_put", &[("g", g)])),
        Label::Put { g, yields, shown } => replay.step(|_, state| {
            let flush = shown.then(|| Move::new("flushes_put", &[("m", m), ("g", g)]));
            let put = |name| Some(vec![[Move::new(name, &[("m", m), ("g", g)])].into_iter().chain(flush).collect()]);
            match here(state) {
                KICKS => put("puts_kicked"),
                RUN if yields => put("yields_here"),
                RUN => put("readies"),
                _ => none(),
            }
        }),
        Label::PutNext { g, kicked: 0 } => replay.step(|_, state| match here(state) {
            RUN => Some(vec![vec![
                Move::new("readies", &[("m", m), ("g", g)]),
                Move::new("flushes_put", &[("m", m), ("g", g)]),
            ]]),
            _ => none(),
        }),
        Label::PutNext { g, kicked } => replay
            .step(|_, state| if here(state) == RUN { with("kicks", &[("g", g), ("old", kicked)]) } else { none() }),
        Label::PublishedStolen => {
            replay.silently(&[own("flushes_put")]);
            replay.only(|finite, state| (0..finite.sizes[2] as u8).all(|g| !finite.holds(state, PUTS, &[m, g])))
        }
        Label::GlobalPut { g, exits } => {
            replay.step(|_, state| {
                let flush = Move::new("flushes_global", &[("m", m)]);
                match here(state) {
                    OUT if exits => Some(vec![vec![Move::new("exits_and_queues", &[("m", m), ("g", g)]), flush]]),
                    OUT | RUN => Some(vec![vec![Move::new("submits", &[("m", m), ("g", g)]), flush]]),
                    SPILL => with("puts_spilled", &[("g", g)]),
                    REFUSED_DRAIN => None,
                    _ => none(),
                }
            }) && shows_global(replay, m)
        }
        Label::GlobalSame => true,
        Label::Took { p, inside } => replay.step(|_, state| match here(state) {
            ELECTED => with("gets_idle_p", &[("p", p)]),
            SAW_WORK => with("gets_p_for_work", &[("p", p)]),
            OUT if inside => with("exits_to_idle_p", &[("p", p)]),
            // It was called to spin as it was about to sleep.
            SPIN => None,
            _ => none(),
        }),
        Label::Unlocked => replay.step(|_, state| match here(state) {
            ELECTED | SAW_WORK => none(),
            _ => None,
        }),
        Label::Got(p) => replay.only(|finite, state| finite.holds(state, OWNS, &[m, p])),
        Label::Called => replay.only(|finite, state| finite.holds(state, COUNTED, &[m])),
        Label::Enters { p, c, shown } => replay.step(|_, state| {
            let enters = Move::new("enters", &[("m", m), ("p", p), ("c", c)]);
            let flush = shown.then(|| Move::new("flushes_word", &[("m", m), ("p", p)]));
            if here(state) == RUN { Some(vec![[enters].into_iter().chain(flush).collect()]) } else { none() }
        }),
        Label::ShowsWord(p) => replay.step(|_, _| with("flushes_word", &[("p", p)])),
        Label::Wanted(is_wanted) => {
            replay.only(|finite, state| finite.holds(state, WANTED, &[]) == is_wanted)
                && replay.step(|_, state| match (here(state), is_wanted) {
                    (CHECKS, true) => one("is_wanted"),
                    (CHECKS, false) => one("is_not_wanted"),
                    (ENTERED | GIVES | INSIDE | TAKES_BACK | RETAKES, _) => none(),
                    _ => None,
                })
        }
        Label::Peek { p, by: None, .. } => {
            let calls = |finite: &Finite<'_>| 0..finite.sizes[3] as u8;
            replay
                .only(|finite, state| here(state) == OUT && !calls(finite).any(|c| finite.holds(state, WORD, &[p, c])))
        }
        // The monitor leaves it there.
        Label::Peek { tries: false, .. } => replay.only(|_, state| here(state) == OUT),
        // An M that is back, or the monitor: what it does next says which.
        Label::Peek { p, by: Some(by), tries: true } => {
            let sees = ["sees_old_p", "sees_call"].map(|name| vec![Move::new(name, &[("m", m), ("p", p)])]);
            let is_by = |finite: &Finite<'_>, state: &State, c| {
                finite.holds(state, SEEN, &[m, p, c]) && finite.holds(state, BY, &[c, by])
            };
            replay.step(|_, state| if here(state) == OUT { Some(sees.to_vec()) } else { none() })
                && replay.only(|finite, state| (0..finite.sizes[3] as u8).any(|c| is_by(finite, state, c)))
        }
        Label::SetsNextp { w, p } => replay.only(|finite, state| finite.holds(state, NEXTP, &[w, p])),
        Label::Returned(p) => replay.only(|finite, state| here(state) == RUN && finite.holds(state, OWNS, &[m, p])),
        Label::Found(g) => replay.only(|finite, state| {
            let is_queued = finite.holds(state, GLOBAL, &[g])
                || (0..finite.sizes[1] as u8).any(|p| finite.holds(state, RING, &[g, p]));
            matches!(here(state), RUN | FOUND) && !is_queued
        }),
        Label::Sought => replay.only(|_, state| matches!(here(state), FOUND | IDLED)),
    }
}

/// Under sequential consistency a store is seen at once.
fn shows_global(replay: &mut Replay<'_>, m: u8) -> bool {
    replay.silently(&[Move::new("flushes_global", &[("m", m)])]);
    replay.only(|finite, state| (0..finite.sizes[2] as u8).all(|g| !finite.holds(state, PUTS_GLOBAL, &[m, g])))
}
