//! How a thread comes to a goroutine's stack and back: [`stackful`] over corosensei's coroutines.

use crate::kernel::task::stackful;
use crate::runtime::exec::goroutine::stack::Stack;
use crate::runtime::exec::goroutine::{self, Frame};
use crate::runtime::exec::task_locals::{self, Scopes};
use core::task::Waker;
use corosensei::{Coroutine, CoroutineResult};
use std::panic::{AssertUnwindSafe, catch_unwind};

impl stackful::Frame for Frame {
    type Waker = Waker;
    type OnStack<'a> = OnStack<'a>;

    #[inline(always)]
    fn set_waker(&self, waker: &Waker) {
        self.waker.set(waker);
    }

    #[inline(always)]
    fn enter(&self) -> OnStack<'_> {
        OnStack::of(self)
    }

    fn set_ends(&self) {
        self.ends.set(true);
    }
}

/// A closure on a stack of its own.
pub(super) struct OnOwnStack<T>(pub(super) Coroutine<(), (), T, Stack>);

impl<T> stackful::Stack for OnOwnStack<T> {
    type Output = T;

    #[inline(always)]
    fn resume(&mut self) -> Option<T> {
        match self.0.resume(()) {
            CoroutineResult::Yield(()) => None,
            CoroutineResult::Return(value) => Some(value),
        }
    }

    fn unwind(&mut self) -> bool {
        match catch_unwind(AssertUnwindSafe(|| self.0.resume(()))) {
            Ok(CoroutineResult::Yield(())) => false,
            Ok(CoroutineResult::Return(_)) => true,
            Err(payload) => {
                core::mem::forget(payload); // ours; or a destructor's, which the panic hook has reported
                true
            }
        }
    }

    fn has_ended(&self) -> bool {
        self.0.done()
    }
}

/// This thread is on the stack of a goroutine, as long as this lives. Inlined: the resumer is on the same thread
/// afterwards.
pub(in crate::runtime) struct OnStack<'a> {
    frame: &'a Frame,
    before: *const Frame,
    around: Scopes,
}

impl OnStack<'_> {
    #[inline(always)]
    fn of(frame: &Frame) -> OnStack<'_> {
        OnStack { frame, before: goroutine::exchange(frame), around: task_locals::exchange(frame.scopes.take()) }
    }
}

impl Drop for OnStack<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.frame.scopes.set(task_locals::exchange(self.around.take()));
        goroutine::exchange(self.before);
    }
}
