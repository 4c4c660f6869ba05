//! A future's life as a task: its panics, its end, and where it is known while it waits.

use crate::runtime::exec::context::Context;
use crate::runtime::exec::outcome::{Outcome, Panic};
use crate::runtime::exec::owned::{Key, OwnedTask, OwnedTasks};
use crate::runtime::exec::report;
use crate::runtime::exec::unwind::Unwound;
use crate::runtime::guarded::guarded;
use crate::runtime::id::RuntimeId;
use crate::runtime::observe::watch;
use core::future::Future;
use core::pin::Pin;
use core::task::{self, Poll, Waker};
use pin_project_lite::pin_project;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

pin_project! {
    /// A future that harms no other task: not by a panic, not by its destructor's; and that can be found while it waits.
    pub(in crate::runtime) struct Life<F: Future, W: Registration> {
        #[pin]
        future: Option<F>,
        // Where it is known: from the first time that it has to wait until it ends.
        place: W,
    }

    impl<F: Future, W: Registration> PinnedDrop for Life<F, W> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            let mut future = this.future;
            if future.is_some() {
                guarded(|| future.set(None));
                this.place.is_dropped();
            }
        }
    }
}

/// In which [`OwnedTasks`] a task is known, and where there.
pub(in crate::runtime) trait Registration {
    /// It waits, and is not ours any more when we return.
    fn insert(&mut self, waker: &Waker);
    /// It has ended.
    fn remove(&mut self, waker: &Waker);
    /// It has ended, because it was dropped.
    fn is_dropped(&mut self);
}

impl<F: Future, W: Registration> Life<F, W> {
    pub(in crate::runtime) fn new(future: F, place: W) -> Self {
        Life { future: Some(future), place }
    }
}

impl<F: Future, W: Registration> Future for Life<F, W> {
    type Output = Outcome<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut future = this.future;
        let mut value = None;
        // What the future leaves broken, only it could show: it is not polled again.
        let caught = catch_unwind(AssertUnwindSafe(|| {
            if let Some(running) = future.as_mut().as_pin_mut()
                && let Poll::Ready(ready) = running.poll(cx)
            {
                value = Some(ready);
                // Its destructor is part of its life; if that panics, the value stands.
                future.set(None);
            }
        }));
        let result = match (value, caught) {
            (None, Ok(())) => {
                this.place.insert(cx.waker());
                return Poll::Pending;
            }
            (Some(value), Ok(())) => Some(Ok(value)),
            (Some(value), Err(payload)) => {
                core::mem::forget(payload);
                Some(Ok(value))
            }
            (None, Err(payload)) => {
                guarded(|| future.set(None));
                (!payload.is::<Unwound>()).then(|| Err(Panic::new(payload)))
            }
        };
        this.place.remove(cx.waker());
        Poll::Ready(Outcome::new(result))
    }
}

/// A task of a runtime: they are found by the runtime's number.
pub(in crate::runtime) struct InRuntime {
    runtime_id: RuntimeId,
    key: Option<Key>,
}

impl InRuntime {
    pub(in crate::runtime) fn new(runtime_id: RuntimeId) -> Self {
        InRuntime { runtime_id, key: None }
    }
}

impl InRuntime {
    /// It waits: for the first time, or there is an observer.
    #[inline(never)] // not among what is done each time
    fn insert_or_report(&mut self, waker: &Waker) {
        if self.key.is_none() {
            self.key = Context::with_owned_tasks(self.runtime_id, |owned_tasks, row| {
                owned_tasks.insert(row, OwnedTask::of(waker))
            });
        }
        if watch::is_on() {
            report::waits(waker);
        }
    }

    /// It is known no more. What the owned tasks has of it, if it was known.
    #[inline]
    fn leave(&mut self) -> Option<OwnedTask> {
        // If the runtime is gone, so are its owned tasks.
        self.key.take().and_then(|key| {
            Context::with_owned_tasks(self.runtime_id, |owned_tasks, _| owned_tasks.ended(key)).flatten()
        })
    }
}

impl Registration for InRuntime {
    #[inline(always)]
    fn insert(&mut self, waker: &Waker) {
        if self.key.is_none() || watch::is_on() {
            self.insert_or_report(waker);
        }
    }

    #[inline]
    fn remove(&mut self, waker: &Waker) {
        if watch::is_on() {
            report::ended(waker);
        }
        drop(self.leave()); // not under the lock: it may be the last that knew of its task
    }

    fn is_dropped(&mut self) {
        let owned = self.leave();
        if watch::is_on() {
            match &owned {
                Some(owned) => report::ended(owned.waker()),
                None => report::dropped(),
            }
        }
    }
}

/// A task that is known in these.
pub(in crate::runtime) struct InOwnedTasks {
    owned_tasks: Arc<OwnedTasks>,
    key: Option<Key>,
}

impl InOwnedTasks {
    pub(in crate::runtime) fn new(owned_tasks: Arc<OwnedTasks>) -> Self {
        InOwnedTasks { owned_tasks, key: None }
    }
}

impl Registration for InOwnedTasks {
    fn insert(&mut self, waker: &Waker) {
        if self.key.is_none() {
            self.key = Some(self.owned_tasks.insert(0, OwnedTask::of(waker)));
        }
    }

    fn remove(&mut self, _waker: &Waker) {
        self.is_dropped();
    }

    fn is_dropped(&mut self) {
        drop(self.key.take().map(|key| self.owned_tasks.ended(key)));
    }
}
