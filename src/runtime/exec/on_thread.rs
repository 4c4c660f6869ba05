//! Futures that must not leave their thread, as tasks that may be woken from any.

#![allow(unsafe_code)]

use crate::runtime::host::thread_state::thread_state;
use core::cell::Cell;
use core::future::Future;
use core::mem::ManuallyDrop;
use core::pin::Pin;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use core::task::{Context, Poll};
use std::io::Write;

/// A future that stays on the thread on which it was made: elsewhere it is neither polled nor dropped.
pub(in crate::runtime) struct OnThread<F> {
    thread: u64,
    future: ManuallyDrop<F>,
}

// SAFETY: on another thread the future is not touched.
unsafe impl<F> Send for OnThread<F> {}

impl<F> OnThread<F> {
    pub(in crate::runtime) fn new(future: F) -> Self {
        OnThread { thread: this_thread(), future: ManuallyDrop::new(future) }
    }
}

impl<F: Future> Future for OnThread<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        assert!(self.thread == this_thread(), "a local task was polled by a thread that is not its own");
        // SAFETY: the future is pinned as we are: nothing moves it out of here.
        unsafe { self.map_unchecked_mut(|this| &mut *this.future) }.poll(cx)
    }
}

impl<F> Drop for OnThread<F> {
    /// Elsewhere it aborts the process: the future cannot be dropped there, and without that the memory in which it was pinned must
    /// not be given back, which the caller is about to do.
    fn drop(&mut self) {
        if self.thread != this_thread() {
            // Without a place to write to, nothing can be said.
            let _ =
                writeln!(std::io::stderr(), "spinpark: a local task ended on a thread that is not its own; aborting");
            std::process::abort();
        }
        // SAFETY: it is dropped once, in place, and not used after that.
        unsafe { ManuallyDrop::drop(&mut self.future) };
    }
}

/// A number of this thread that no other ever has. std's is not to be had while thread locals are destroyed, and a set may be one.
fn this_thread() -> u64 {
    thread_state!(
        static NUMBER: Cell<u64> = Cell::new(0);
    );
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NUMBER::with(|number| {
        if number.get() == 0 {
            // Relaxed: only that no number comes twice.
            number.set(NEXT.fetch_add(1, Relaxed));
        }
        number.get()
    });
    number.unwrap_or_else(|| unreachable!("a thread local without a destructor is there"))
}
