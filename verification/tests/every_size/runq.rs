//! What the kernel did with one P's queue, as an execution of the run queue's protocol. That each path of an operation is one of the
//! drawing, spinpark-paths knows; here is what it takes for granted of whole executions: a tail is its owner's own, a slot below the tail
//! holds what was put there, a thief's ring has room, and the ring goes with its P.

use super::functions::Functions;
use super::recorded::{Act, Item, Name};
use spinpark_parameterized::finite::{Finite, State};
use spinpark_parameterized::replay::{Move, Replay};
use spinpark_parameterized::runq::*;
use std::collections::HashMap;

/// So many puts there may be.
pub(crate) const PUTS_AT_MOST: usize = 8;

/// A transition, of which thread and which put; and what a thread that reads a slot finds there: is it what was put?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    pub(crate) t: u8,
    label: &'static str,
    put: Option<(&'static str, u8)>,
    finds: Option<bool>,
}

/// What a thread knows of this queue.
#[derive(Default)]
struct Thread {
    head: u64,
    tail: u64,
    /// The next slot to be read, and to be written, as positions.
    next: u64,
    write: u64,
    /// A thief that has begun to fill this ring, its own.
    fills: bool,
}

/// The steps of one P's queue; `None` if there are more puts than the universe has.
pub(crate) fn steps(items: &[Item], p: u8, capacity: u64, functions: &Functions) -> Option<Vec<Step>> {
    let mut numbers: HashMap<usize, u8> = HashMap::new();
    let mut threads: HashMap<usize, Thread> = HashMap::new();
    let mut put: Vec<u64> = Vec::new();
    let mut steps = Vec::new();
    for item in items {
        let thread = threads.entry(item.thread).or_default();
        let (Name::Next(q) | Name::Head(q) | Name::Tail(q) | Name::Slot(q)) = item.word else { continue };
        let ends_filling = q != p && thread.fills && matches!(item.act, Act::Exchange(..) | Act::NoExchange(_));
        if q != p && !ends_filling {
            continue;
        }
        let n = numbers.len() as u8;
        let t = *numbers.entry(item.thread).or_insert(n);
        if ends_filling {
            // It lost what it began to put here, or took one, to run it.
            thread.fills = matches!(item.act, Act::Exchange(before, now) if now > before + 1);
            if !thread.fills {
                steps.push(Step { t, label: "gives_up", put: None, finds: None });
            }
            continue;
        }
        let function = functions.of(item.at).unwrap_or("");
        // A thief fills its own ring while it empties another's.
        let function = if functions.line(item.at).contains("mine.") { "fill" } else { function };
        for (label, x) in labels(function, item, thread, capacity) {
            let param = if label.starts_with("claims") { "e" } else { "x" };
            let finds = (label == "reads_slot").then(|| x.and_then(|x| put.get(x as usize)) == read(item).as_ref());
            steps.push(Step { t, label, put: x.map(|x| (param, x as u8)), finds });
        }
        if let (Name::Slot(_), Act::Store(g)) = (item.word, item.act) {
            put.truncate(thread.write as usize - 1);
            put.push(g);
        }
    }
    (put.len() <= PUTS_AT_MOST).then_some(steps)
}

fn read(item: &Item) -> Option<u64> {
    if let Act::Load(g) = item.act { Some(g) } else { None }
}

/// A cursor, or a slot, is put to use: where it was, and the next is the one after.
fn after(cursor: &mut u64) -> Option<u64> {
    *cursor += 1;
    Some(*cursor - 1)
}

type Labels = Vec<(&'static str, Option<u64>)>;

/// What this is in the drawing.
fn labels(function: &str, item: &Item, thread: &mut Thread, capacity: u64) -> Labels {
    let only = |label| vec![(label, None)];
    match (function, item.word, item.act) {
        ("put" | "put_batch", Name::Head(_), Act::Load(n)) => {
            thread.head = n;
            only("begins_to_put")
        }
        ("put" | "put_batch", Name::Tail(_), Act::Load(n)) => {
            thread.write = n;
            if function == "put" && n - thread.head >= capacity { only("gives_up") } else { Vec::new() }
        }
        ("fill", Name::Tail(_), Act::Load(n)) => {
            thread.tail = n;
            Vec::new()
        }
        ("fill", Name::Head(_), Act::Load(_)) => {
            (thread.write, thread.fills) = (thread.tail, true);
            only("begins_to_put")
        }
        ("put" | "put_batch" | "fill", Name::Slot(_), Act::Store(_)) => vec![("writes_slot", after(&mut thread.write))],
        ("put" | "put_batch" | "fill", Name::Tail(_), Act::Store(_)) => {
            thread.fills = false;
            only("publishes")
        }
        ("put", Name::Next(_), Act::Swap(0, _)) => only("puts_next"),
        ("take" | "steal", Name::Next(_), Act::Swap(1.., _)) => only("takes_next"),
        ("get" | "steal_some", Name::Slot(_), Act::Load(_)) => vec![("reads_slot", after(&mut thread.next))],
        ("get" | "steal_some", _, Act::Exchange(_, now)) => vec![("claims", Some(now - 1))],
        ("steal_some" | "spill_half", _, Act::NoExchange(_)) => only("is_overtaken"),
        ("spill_half", _, Act::Exchange(before, now)) => {
            (thread.next, thread.tail) = (before, now);
            vec![("claims_to_spill", Some(now - 1))]
        }
        ("next", Name::Slot(_), Act::Load(_)) => {
            let is_last = thread.next + 1 == thread.tail;
            vec![(if is_last { "takes_the_last" } else { "takes_claimed" }, after(&mut thread.next))]
        }
        ("is_set_acquire", _, Act::Load(g)) => only(if g == 0 { "asks_next" } else { "sees_next" }),
        ("is_still_at", _, Act::Load(n)) if n == thread.tail => vec![("asks_tail", None), ("ends_asking", None)],
        ("is_still_at", ..) => only("sees_a_put"),
        _ => cursors(function, item, thread, capacity),
    }
}

/// A thread reads where the cursors are.
fn cursors(function: &str, item: &Item, thread: &mut Thread, capacity: u64) -> Labels {
    let label = match (function, item.word, item.act) {
        ("get" | "spill_half", Name::Tail(_), Act::Load(n)) => {
            thread.tail = n;
            return Vec::new();
        }
        (_, Name::Head(_), Act::Load(n) | Act::NoExchange(n)) => {
            (thread.head, thread.next) = (n, n);
            match (function, item.act) {
                ("get", Act::Load(_)) if n != thread.tail => "sees_some",
                ("get", Act::NoExchange(_)) => {
                    if n == thread.tail {
                        "finds_none"
                    } else {
                        "finds_less"
                    }
                }
                ("spill_half", _) if thread.tail - n == capacity => "sees_it_full",
                ("steal_some", _) => "reads_head",
                ("looks_empty", _) => "asks_head",
                _ => return Vec::new(),
            }
        }
        ("steal_some", Name::Tail(_), Act::Load(n)) => match n - thread.head {
            0 => "sees_nothing",
            n if n > capacity => "sees_two_times",
            _ => "reads_tail",
        },
        ("looks_empty", Name::Tail(_), Act::Load(n)) => {
            thread.tail = n;
            if n == thread.head { "asks_ring" } else { "sees_the_ring" }
        }
        _ => return Vec::new(),
    };
    vec![(label, None)]
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
    let mut xs = 0..finite.sizes[1] as u8;
    (0..finite.sizes[0]).all(|t| state.places[t] == AWAY)
        && xs.all(|x| finite.holds(state, PUBLISHED, &[x]) == finite.holds(state, CONSUMED, &[x]))
        && !finite.holds(state, NEXT, &[])
}

/// Plays one step. `false`: no transition allows it.
pub(crate) fn play(replay: &mut Replay<'_>, step: Step) -> bool {
    let t = step.t;
    // A P that comes to another M brings its ring.
    if matches!(step.label, "begins_to_put" | "sees_some" | "sees_it_full" | "puts_next") {
        replay.step(|finite, state| {
            let comes = Some(vec![vec![Move::new("owner_changes", &[("u", t)])]]);
            if finite.holds(state, OWNER, &[t]) { None } else { comes }
        });
    }
    let args: Vec<(&'static str, u8)> = [("m", t)].into_iter().chain(step.put).collect();
    replay.step(|_, _| Some(vec![vec![Move::new(step.label, &args)]]))
        && step
            .finds
            .zip(step.put)
            .is_none_or(|(right, (_, x))| replay.only(|finite, state| finite.holds(state, READ, &[t, x]) == right))
}
