//! Threads as coroutines: their start, their turns and their end.

use super::{Body, End, Machine, Mode, Next, Over, is_over, with};
use crate::quarantine;
use corosensei::stack::{DefaultStack, Stack as _};
use corosensei::{Coroutine, CoroutineResult};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

pub(super) fn start(thread: u8, name: &str, body: Body) {
    let stack = with(|machine| machine.stacks.pop());
    let stack = stack.unwrap_or_else(|| DefaultStack::new(STACK).expect("memory for a stack"));
    let (stack_begins, stack_ends) = (stack.base().get(), stack.limit().get());
    let coroutine = Coroutine::with_stack(stack, move |yielder, ()| {
        with(|machine| machine.slots[usize::from(thread)].yielder = yielder);
        let result = catch_unwind(AssertUnwindSafe(|| if is_over() { never(body) } else { body() }));
        with(|machine| machine.ends(thread, result));
    });
    with(|machine| {
        let slot = &mut machine.slots[usize::from(thread)];
        slot.thread = Some(coroutine);
        (slot.stack_begins, slot.stack_ends) = (stack_begins, stack_ends);
        slot.number = machine.started;
        machine.started += 1;
        if machine.mode == Mode::Replay {
            machine.slots[usize::from(thread)].name = machine.unlike_the_others(thread, name);
        }
    });
}

/// It has not begun, and never will. What it was given may mind to be dropped, unless the thread unwinds; what its
/// destructors ask is answered as of one that unwinds.
fn never(body: Body) {
    let _body = body;
    with(|machine| machine.slots[usize::from(machine.current)].is_unwinding = true);
    resume_unwind(Box::new(Over));
}

/// Twice as much as shuttle gives its threads: a part is kept for what recursion without end leaves to be done.
const STACK: usize = 0x4_0000;

pub(super) fn drive() -> End {
    loop {
        match with(Machine::who_is_next) {
            Next::Thread(thread) => resume(thread),
            Next::End(end) => return end,
        }
    }
}

pub(super) fn resume(thread: u8) {
    let coroutine = with(|machine| {
        machine.current = thread;
        let slot = &mut machine.slots[usize::from(thread)];
        slot.others_unwind = std::thread::panicking() && !slot.is_unwinding;
        slot.thread.take()
    });
    let mut coroutine = coroutine.expect("a thread that can go on");
    quarantine::enter();
    let result = coroutine.resume(());
    quarantine::leave();
    with(|machine| match result {
        CoroutineResult::Yield(()) => machine.slots[usize::from(thread)].thread = Some(coroutine),
        CoroutineResult::Return(()) => machine.stacks.push(coroutine.into_stack()),
    });
}

/// Ends every thread that has not come to its end.
pub(super) fn end_all(unwind: bool) {
    if unwind {
        unwind_all();
    } else {
        with(Machine::abandon_all);
    }
    with(|machine| machine.is_on = false);
}

fn unwind_all() {
    let left: Vec<u8> = with(|machine| {
        machine.is_over = true;
        let left = (0..machine.slots.len()).filter(|&n| machine.slots[n].thread.is_some());
        left.map(|n| n as u8).collect()
    });
    for thread in left {
        resume(thread);
        // One that cannot unwind is left alone, with its stack.
        std::mem::forget(with(|machine| machine.slots[usize::from(thread)].thread.take()));
    }
}
