//! What borrows, as something that may be kept anywhere: its type says nothing of what it borrows.

#![allow(unsafe_code)]

use crate::runtime::exec::goroutine::Goroutine;
use crate::runtime::guarded::guarded;
use crate::runtime::id::RuntimeId;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

type Borrowing<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
type Calls<'a> = Box<dyn FnOnce() + Send + 'a>;

/// A future that may borrow. `None`: it was dropped.
pub(super) struct Erased(Option<Borrowing<'static>>);

impl Erased {
    /// # Safety
    /// It is dropped before anything that `future` borrows ends, or never.
    pub(super) unsafe fn future<'a>(future: impl Future<Output = ()> + Send + 'a) -> Erased {
        let future: Borrowing<'a> = Box::pin(future);
        // SAFETY: only the lifetime is another, and the caller promises that nothing is used after it.
        Erased(Some(unsafe { core::mem::transmute::<Borrowing<'a>, Borrowing<'static>>(future) }))
    }

    /// A goroutine of the runtime `runtime_id`.
    ///
    /// # Safety
    /// As [`future`](Erased::future).
    #[track_caller]
    pub(super) unsafe fn closure<'a>(runtime_id: RuntimeId, f: impl FnOnce() + Send + 'a) -> Erased {
        let f: Calls<'a> = Box::new(f);
        // SAFETY: as above.
        let f = unsafe { core::mem::transmute::<Calls<'a>, Calls<'static>>(f) };
        Erased(Some(Box::pin(Goroutine::new(runtime_id, f))))
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().map_or(Poll::Ready(()), |future| future.as_mut().poll(cx))
    }
}

impl Drop for Erased {
    fn drop(&mut self) {
        guarded(|| drop(self.0.take()));
    }
}
