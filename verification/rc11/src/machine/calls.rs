//! What the threads of an execution call.

use super::{Body, MACHINE, MUST_KNOW, Machine, Mode, Over, start, with, yields};
use crate::graph::Loc;
use crate::quarantine;
use crate::step::Ask;
use crate::verdict::Why;
use std::cell::RefCell;
use std::panic::{Location, resume_unwind};

/// Asks, and waits for the answer.
#[track_caller]
pub(crate) fn ask(ask: Ask) -> u64 {
    ask_about(&ask, false)
}

/// The same; what is read and written are addresses.
#[track_caller]
pub(crate) fn ask_of_pointers(ask: Ask) -> u64 {
    ask_about(&ask, true)
}

#[track_caller]
fn ask_about(ask: &Ask, are_pointers: bool) -> u64 {
    let at = Location::caller();
    quarantine::leave();
    let value = loop {
        let answer = with(|machine| machine.answer(ask, at, are_pointers));
        match answer {
            Some(Ok(value)) => break value,
            Some(Err(Over)) => break over(),
            None => suspend(),
        }
    };
    yields::wipe_if_dry();
    quarantine::enter();
    value
}

/// The execution is over: the thread unwinds. What its destructors ask has no meaning, and is answered at once.
pub(super) fn over() -> u64 {
    if with(|machine| !machine.limits.unwind) {
        rest_in_peace();
    }
    let (is_unwinding, asked) = with(|machine| {
        let slot = &mut machine.slots[usize::from(machine.current)];
        slot.asked_in_vain += 1;
        (slot.is_unwinding, slot.asked_in_vain)
    });
    if asked > 10_000 {
        rest_in_peace();
    }
    if is_unwinding && std::thread::panicking() {
        return 0;
    }
    with(|machine| machine.slots[usize::from(machine.current)].is_unwinding = true);
    resume_unwind(Box::new(Over));
}

pub(super) fn suspend() {
    let (yielder, others_unwind) = with(|machine| {
        let slot = &mut machine.slots[usize::from(machine.current)];
        (slot.yielder, slot.others_unwind)
    });
    assert!(!yielder.is_null(), "rc11: asked from outside of a model");
    if !others_unwind {
        let unwinds = std::thread::panicking();
        with(|machine| machine.slots[usize::from(machine.current)].is_unwinding = unwinds);
    }
    // SAFETY: set by this very coroutine when it began, and it has not ended: it is running this.
    unsafe { &*yielder }.suspend(());
}

/// A thread panics in that line. Is it one of an execution's, whose panics are told by what the checker says of it?
pub(crate) fn panics_at(at: Option<&Location<'_>>) -> bool {
    let note = |machine: &RefCell<Machine>| {
        // It is borrowed if it is the checker that panics.
        let Ok(mut machine) = machine.try_borrow_mut() else { return false };
        machine.panicked = at.map(|at| format!("{}:{}", at.file(), at.line()));
        machine.is_on
    };
    quarantine::checker(|| MACHINE.try_with(note).unwrap_or(false))
}

/// A new location of the calling thread's, and how many events the thread has had before: the maker's mark.
#[track_caller]
pub(crate) fn make_location() -> (Loc, u8, u16) {
    let at = Location::caller();
    with(|machine| {
        machine.must_be_on();
        let thread = machine.current;
        let slot = &mut machine.slots[usize::from(thread)];
        slot.locs += 1;
        let (loc, told) = (Loc::new(thread, slot.locs - 1), slot.told);
        if machine.mode == Mode::Replay {
            machine.made.push((loc, thread, told, at));
        }
        (loc, thread, told)
    })
}

/// Which play it is, of all in this process. Is there one at all?
pub(crate) fn play() -> Option<u32> {
    with(|machine| machine.is_on.then_some(machine.play))
}

/// What the calling thread does cannot be right; the execution is over.
pub(crate) fn fail(what: &str) {
    let is_on = with(|machine| {
        machine.fails(Why::Panic(what.to_owned()));
        machine.is_on
    });
    if is_on {
        over();
    }
}

/// Which of the graph's threads the calling one is.
pub(crate) fn current() -> u8 {
    with(|machine| {
        machine.must_be_on();
        machine.current
    })
}

/// How many of its events the calling thread has had the answers to.
pub(crate) fn told() -> u16 {
    with(|machine| machine.slots[usize::from(machine.current)].told)
}

/// From here on other ways are noted, or are not.
pub(crate) fn note_other_ways(notes: bool) {
    with(|machine| machine.is_stopped = !notes);
}

/// From here on no other ways are noted.
pub(crate) fn note_no_more_ways() {
    with(|machine| machine.is_ending = true);
}

/// What the calling thread asks next is of a location that `maker` made after `told` events: it must know of that.
#[inline]
pub(crate) fn must_know(maker: u8, told: u16) {
    MUST_KNOW.set(Some((maker, told)));
}

/// Starts a thread; the number by which to join it.
#[track_caller]
pub(crate) fn fork(name: &str, nth: u8, body: Body) -> u8 {
    let child = ask(Ask::Fork { nth }) as u8;
    if !with(|machine| machine.is_over) {
        start(child, name, body);
    }
    child
}

/// May a block lie where one that was freed lay, in this exploration?
pub(crate) fn reuses() -> bool {
    with(|machine| machine.limits.reuse > 0)
}

/// Is one explored of the executions that symmetric threads make of one?
pub(crate) fn reduces_by_symmetry() -> bool {
    with(|machine| machine.limits.symmetry)
}

/// Is that one of symmetric threads?
pub(crate) fn is_one_of_many(thread: u8) -> bool {
    with(|machine| machine.is_on && machine.graph.threads.get(usize::from(thread)).is_some_and(|thread| thread.nth > 0))
}

/// May `park` wake spuriously in this exploration?
pub(crate) fn may_wake_spuriously() -> bool {
    with(|machine| machine.graph.spurious > 0)
}

/// How many starts of threads are to be refused in this execution.
pub(crate) fn refusals() -> u64 {
    with(|machine| machine.refusals)
}

/// So many are. Before the first thread starts.
pub(crate) fn refuse_spawns(n: u64) {
    with(|machine| machine.refusals = n);
}

/// Threads that wait when the main thread has ended are left as they are.
pub(crate) fn leave_waiting() {
    with(|machine| machine.leaves_waiting = true);
}

/// The model uses what is no location, but the checker's.
pub(crate) fn is_seen() {
    with(|machine| machine.is_seen = true);
}

/// A word is accessed plainly in this execution.
pub(crate) fn mixes() {
    with(|machine| machine.mixes = true);
}

/// Which one the calling thread is, in the order in which threads were started in this play.
pub(crate) fn me() -> usize {
    with(|machine| machine.slots.get(usize::from(machine.current)).map_or(0, |slot| slot.number))
}

/// What the calling thread is called in pictures.
pub(crate) fn name_thread(name: &str) {
    with(|machine| {
        let (thread, mode) = (machine.current, machine.mode);
        if mode == Mode::Replay && usize::from(thread) < machine.slots.len() {
            machine.slots[usize::from(thread)].name = machine.unlike_the_others(thread, name);
        }
    });
}

/// Is the execution over, so that nothing that is asked has a meaning?
pub(crate) fn is_over() -> bool {
    with(|machine| machine.is_over)
}

/// Does the calling thread unwind?
pub(crate) fn unwinds() -> bool {
    std::thread::panicking()
        && with(|machine| !machine.slots.get(usize::from(machine.current)).is_some_and(|s| s.others_unwind))
}

/// The calling thread can neither go on nor unwind: it is left as it is, for ever.
pub(crate) fn rest_in_peace() -> ! {
    loop {
        suspend();
    }
}
