//! Futures that must not leave their thread, as tasks that may be woken from any.

#![allow(unsafe_code)]

use core::future::Future;
use core::mem::ManuallyDrop;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::thread::{self, ThreadId};

/// A future that stays on the thread on which it was made: elsewhere it is neither polled nor dropped.
pub(in crate::runtime) struct OnThread<F> {
    thread: ThreadId,
    future: ManuallyDrop<F>,
}

// SAFETY: on another thread the future is not touched.
unsafe impl<F> Send for OnThread<F> {}

impl<F> OnThread<F> {
    pub(in crate::runtime) fn new(future: F) -> Self {
        OnThread { thread: thread::current().id(), future: ManuallyDrop::new(future) }
    }

    fn is_here(&self) -> bool {
        self.thread == thread::current().id()
    }
}

impl<F: Future> Future for OnThread<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        assert!(self.is_here(), "a local task was polled by a thread that is not its own");
        // SAFETY: the future is pinned as we are: nothing moves it out of here.
        unsafe { self.map_unchecked_mut(|this| &mut *this.future) }.poll(cx)
    }
}

impl<F> Drop for OnThread<F> {
    fn drop(&mut self) {
        // Elsewhere it is forgotten: what it owns is lost, and nobody is harmed.
        if self.is_here() {
            // SAFETY: it is dropped once, in place, and not used after that.
            unsafe { ManuallyDrop::drop(&mut self.future) };
        }
    }
}
