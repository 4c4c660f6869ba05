//! What the kernel did with one P's queue, as an execution of the run queue's protocol.

use super::functions::Functions;
use super::recorded::{Act, Item, Name};
use spinpark_parameterized::finite::{Finite, State};
use spinpark_parameterized::replay::{Move, Replay};
use spinpark_parameterized::runq::*;
use std::collections::HashMap;

/// So many puts there may be.
pub(crate) const PUTS_AT_MOST: usize = 8;

/// One step of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    pub(crate) t: u8,
    label: Label,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Label {
    PutReadsHead,
    Writes(u8),
    Publishes,
    ReadsHead,
    ReadsTail,
    FindsNone,
    ReadsSlot(u8),
    MisreadsSlot(u8),
    Claims(u8),
    Spills(u8),
    TakesSpilled(u8),
    PutsNext,
    TakesNext,
    AsksRing,
    AsksNext,
    SaysEmpty,
    EndsAsking { said: bool },
}

/// What a thread has done to this queue, and what of it is not said yet.
#[derive(Default)]
struct Thread {
    head: u64,
    tail: u64,
    /// The next slot to be read, as a position.
    next: u64,
    /// The next slot to be written, as a position.
    write: u64,
    /// Where a thief has begun to fill this ring, its own: said only if it comes to publish that.
    fills: Vec<(usize, Label)>,
    /// It has read head and tail, and did nothing with them yet.
    reads: bool,
}

/// The steps of one P's queue; `None` if there are more puts than the universe has.
pub(crate) fn steps(items: &[Item], p: u8, functions: &Functions) -> Option<Vec<Step>> {
    let mut numbers: HashMap<usize, u8> = HashMap::new();
    let mut threads: HashMap<usize, Thread> = HashMap::new();
    // What was put at each position; and what each slot of the ring holds now.
    let mut put: Vec<u64> = Vec::new();
    let mut steps: Vec<(usize, Step)> = Vec::new();
    let mut tail = 0;
    for (at, item) in items.iter().enumerate() {
        let of_p = match item.word {
            Name::Next(q) | Name::Head(q) | Name::Tail(q) | Name::Slot(q) => q == p,
            Name::Syscall(_) | Name::NextP(_) | Name::Other(_) => false,
        };
        if !of_p {
            continue;
        }
        let n = numbers.len() as u8;
        let t = *numbers.entry(item.thread).or_insert(n);
        let thread = threads.entry(item.thread).or_default();
        let function = functions.of(item.at).unwrap_or("");
        // A thief fills its own ring while it empties another's.
        let is_own = functions.line(item.at).contains("mine.");
        let mut say = |label| steps.push((at, Step { t, label }));
        match (function, item.word, item.act) {
            ("put", Name::Head(_), Act::Load(_)) | ("put_batch", Name::Head(_), Act::Load(_)) => {
                thread.write = tail;
                say(Label::PutReadsHead);
                // A full ring: nothing is written.
                let mut later = items[at + 1..].iter().filter(|i| i.thread == item.thread);
                let then = later.find(|i| matches!(i.word, Name::Slot(_) | Name::Head(_)));
                if function == "put" && !then.is_some_and(|i| matches!((i.word, i.act), (Name::Slot(_), Act::Store(_))))
                {
                    say(Label::Publishes);
                }
            }
            ("put" | "put_batch", Name::Slot(_), Act::Store(g)) => {
                put.truncate(thread.write as usize);
                put.push(g);
                say(Label::Writes(thread.write as u8));
                thread.write += 1;
            }
            ("put" | "put_batch", Name::Tail(_), Act::Store(now)) => {
                tail = now;
                say(Label::Publishes);
            }
            ("get", Name::Tail(_), Act::Load(n)) => thread.tail = n,
            ("get", Name::Head(_), Act::Load(n)) => {
                (thread.head, thread.next) = (n, n);
                say(Label::ReadsHead);
                say(Label::ReadsTail);
                if n == thread.tail {
                    say(Label::FindsNone);
                }
            }
            ("get" | "steal_some", Name::Slot(_), Act::Load(g)) => {
                let x = thread.next;
                thread.next += 1;
                let is_right = put.get(x as usize) == Some(&g);
                say(if is_right { Label::ReadsSlot(x as u8) } else { Label::MisreadsSlot(x as u8) });
            }
            ("get" | "steal_some", Name::Head(_), Act::Exchange(_, now)) => {
                thread.reads = false;
                say(Label::Claims(now as u8 - 1));
            }
            ("get", Name::Head(_), Act::NoExchange(n)) => {
                (thread.head, thread.next) = (n, n);
                [Label::FindsNone, Label::ReadsHead, Label::ReadsTail].into_iter().for_each(&mut say);
                if n == thread.tail {
                    say(Label::FindsNone);
                }
            }
            ("steal_some", Name::Head(_), Act::NoExchange(_)) => {
                thread.reads = false;
                say(Label::FindsNone);
            }
            // A thief reads its own tail first, and its own head later: it is about to fill its own ring.
            ("steal_some", Name::Tail(_), Act::Load(n)) if is_own => thread.write = n,
            ("steal_some", Name::Head(_), Act::Load(_)) if is_own => {
                thread.write = tail;
                thread.fills = vec![(at, Label::PutReadsHead)];
            }
            ("steal_some", Name::Slot(_), Act::Store(g)) => {
                put.truncate(thread.write as usize);
                put.push(g);
                thread.fills.push((at, Label::Writes(thread.write as u8)));
                thread.write += 1;
            }
            ("steal_some", Name::Tail(_), Act::Store(now)) => {
                tail = now;
                for (at, label) in thread.fills.drain(..) {
                    steps.push((at, Step { t, label }));
                }
                steps.push((at, Step { t, label: Label::Publishes }));
            }
            ("steal_some", Name::Head(_), Act::Load(n)) => {
                // It saw two times at once, and begins again.
                if std::mem::take(&mut thread.reads) {
                    say(Label::FindsNone);
                }
                (thread.head, thread.next) = (n, n);
                say(Label::ReadsHead);
            }
            ("steal_some", Name::Tail(_), Act::Load(n)) => {
                say(Label::ReadsTail);
                thread.reads = n != thread.head;
                if n == thread.head {
                    say(Label::FindsNone);
                }
            }
            ("spill_half", Name::Head(_), Act::Exchange(before, now)) => {
                thread.next = before;
                say(Label::Spills(now as u8 - 1));
            }
            ("next", Name::Slot(_), Act::Load(_)) => {
                say(Label::TakesSpilled(thread.next as u8));
                thread.next += 1;
            }
            ("put", Name::Next(_), Act::Swap(0, _)) => say(Label::PutsNext),
            ("take" | "steal", Name::Next(_), Act::Swap(1.., _)) => say(Label::TakesNext),
            ("looks_empty", Name::Head(_), Act::Load(n)) => thread.head = n,
            ("looks_empty", Name::Tail(_), Act::Load(n)) => {
                thread.tail = n;
                if n == thread.head {
                    say(Label::AsksRing);
                }
            }
            ("is_set_acquire", Name::Next(_), Act::Load(g)) => {
                say(if g == 0 { Label::AsksNext } else { Label::EndsAsking { said: false } })
            }
            ("is_still_at", Name::Tail(_), Act::Load(n)) => {
                let said = n == thread.tail;
                if said {
                    say(Label::SaysEmpty);
                }
                say(Label::EndsAsking { said });
            }
            _ => (),
        }
    }
    steps.sort_by_key(|(at, _)| *at);
    (put.len() <= PUTS_AT_MOST).then(|| steps.into_iter().map(|(_, step)| step).collect())
}

/// Where the system may be at first: any thread may be the owner.
pub(crate) fn begins(finite: &Finite<'_>, capacity: u8) -> Vec<State> {
    let mut state = State::EMPTY;
    finite.put(&mut state, OWNER, &[0], true);
    for y in 0..finite.sizes[1] as u8 {
        (0..y).for_each(|x| finite.put(&mut state, BEFORE, &[x, y], true));
        if y >= capacity {
            finite.put(&mut state, REUSES, &[y, y - capacity], true);
        }
    }
    vec![state]
}

/// The kernel is at rest when a trace ends: all that was put was taken, and no thread is in the queue.
pub(crate) fn is_at_rest(finite: &Finite<'_>, state: &State) -> bool {
    let xs = 0..finite.sizes[1] as u8;
    (0..finite.sizes[0]).all(|t| matches!(state.places[t], AWAY | SPILLS))
        && xs.clone().all(|x| finite.holds(state, PUBLISHED, &[x]) == finite.holds(state, CONSUMED, &[x]))
        && !(0..finite.sizes[0] as u8).any(|t| xs.clone().any(|x| finite.holds(state, CLAIMED, &[t, x])))
        && !finite.holds(state, NEXT, &[])
}

/// Plays one step. `false`: no transition allows it.
pub(crate) fn play(replay: &mut Replay<'_>, step: Step) -> bool {
    let t = step.t;
    let of = |name: &'static str, param: &'static str, rest: &[(&'static str, u8)]| {
        Move::new(name, &[&[(param, t)], rest].concat())
    };
    replay.silently(&[of("ends_spilling", "o", &[])]);
    // A P that comes to another M brings its ring.
    if matches!(step.label, Label::PutReadsHead | Label::Spills(_) | Label::PutsNext) {
        replay.step(|finite, state| {
            if finite.holds(state, OWNER, &[t]) {
                None
            } else {
                Some(vec![vec![Move::new("owner_changes", &[("u", t)])]])
            }
        });
    }
    let step = match step.label {
        Label::PutReadsHead => of("begins_to_put", "o", &[]),
        Label::Writes(x) => of("writes_slot", "o", &[("x", x)]),
        Label::Publishes => of("publishes", "o", &[]),
        Label::ReadsHead => of("reads_head", "t", &[]),
        Label::ReadsTail => of("reads_tail", "t", &[]),
        Label::FindsNone => of("finds_none", "t", &[]),
        Label::ReadsSlot(x) => of("reads_slot", "t", &[("x", x)]),
        Label::MisreadsSlot(x) => of("misreads_slot", "t", &[("x", x)]),
        Label::Claims(e) => of("claims", "t", &[("e", e)]),
        Label::Spills(e) => of("claims_to_spill", "o", &[("e", e)]),
        Label::TakesSpilled(x) => of("takes_claimed", "o", &[("x", x)]),
        Label::PutsNext => of("puts_next", "o", &[]),
        Label::TakesNext => of("takes_next", "t", &[]),
        Label::AsksRing => of("asks_ring", "t", &[]),
        Label::AsksNext => of("asks_next", "t", &[]),
        Label::SaysEmpty => of("asks_tail", "t", &[]),
        Label::EndsAsking { said } => {
            if !replay.only(|_, state| (state.places[t as usize] == SAYS_EMPTY) == said) {
                return false;
            }
            of("ends_asking", "t", &[])
        }
    };
    replay.step(|_, _| Some(vec![vec![step.clone()]]))
}
