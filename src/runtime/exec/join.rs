//! Waiting for a task's outcome, and the ways in which there is none.

use crate::kernel::protocol::role::Waits;
use crate::runtime::exec::block_on;
use crate::runtime::exec::blocking::blocking;
use crate::runtime::exec::context::Context;
use crate::runtime::exec::goroutine::{self, Wait as _};
use crate::runtime::exec::outcome::{Outcome, Panic};
use crate::runtime::exec::task::{Awaited, Meta};
use crate::runtime::exec::wait_graph::Deadlock;
use crate::runtime::exec::waits::{self, Unmet};
use crate::runtime::exec::waker::Gentle;
use crate::runtime::id::RuntimeId;
use crate::runtime::observe::watch;
use async_task::FallibleTask;
use core::fmt;
use core::future::Future;
use core::panic::Location;
use core::pin::Pin;
use core::task::{self, Poll, Waker};
use std::sync::{Mutex, PoisonError};

/// The right to a task's value: `.await` it, or [`join`](JoinHandle::join) it on a thread that may wait. Dropping it does
/// not stop the task; its value, or its panic, is then lost.
///
/// Go has no such thing: `go f()` returns nothing, and one writes the channel by hand.
pub struct JoinHandle<T> {
    /// The mutex is for `abort`, which takes the task by a shared reference.
    state: Mutex<State<T>>,
    /// The runtime whose task it is.
    runtime_id: RuntimeId,
    /// Where it was spawned.
    spawned_at: &'static Location<'static>,
    /// What wakes us, if it is not to be trusted.
    gentle: Option<Box<Gentle>>,
}

enum State<T> {
    /// The task goes on.
    Live(FallibleTask<Outcome<T>, Meta>),
    /// It was aborted.
    Aborting(Pin<Box<dyn Future<Output = Option<Outcome<T>>> + Send>>),
    /// It was aborted, and has ended; `None`: without an outcome.
    Ended(Option<Box<Outcome<T>>>),
    /// Its outcome was taken.
    Taken,
}

impl<T> State<T> {
    fn poll(&mut self, cx: &mut task::Context<'_>) -> Poll<Option<Outcome<T>>> {
        let ended = match self {
            State::Live(task) => Pin::new(task).poll(cx),
            State::Aborting(task) => task.as_mut().poll(cx),
            State::Ended(outcome) => Poll::Ready(outcome.take().map(|outcome| *outcome)),
            State::Taken => panic!("a JoinHandle was polled after it had given its value"),
        };
        if ended.is_ready() {
            *self = State::Taken;
        }
        ended
    }
}

impl<T> JoinHandle<T> {
    pub(in crate::runtime) fn new(task: Awaited<T>, runtime_id: RuntimeId) -> Self {
        let spawned_at = task.metadata().spawned_at();
        JoinHandle { state: Mutex::new(State::Live(task.fallible())), runtime_id, spawned_at, gentle: None }
    }

    /// Waits until the task has finished, and returns its value. In a future `.await` the handle instead: this occupies
    /// a thread. In a goroutine with a stack of its own it does not: it is the same as [`wait`](crate::Wait::wait).
    ///
    /// From inside a task of the same runtime the caller's P goes to another thread meanwhile, so that the awaited task
    /// can run, with one P too; the caller's thread is occupied. A task of *another* runtime waits as in
    /// [`blocking`]. A task that [`shutdown`](crate::Runtime::shutdown) gave back is waited for until
    /// its [`Unstarted`](crate::Unstarted) is run or dropped.
    ///
    /// # Errors
    /// [`JoinError::Panicked`] if the task panicked; [`JoinError::Aborted`] if it was [aborted](JoinHandle::abort);
    /// [`JoinError::ShutDown`] if its runtime was shut down before it ended. With the handle, because waiting would never
    /// end: [`JoinError::Deadlock`] if no task of the runtime can go on.
    /// And from inside a task of the same runtime:
    /// [`JoinError::Closed`] if the runtime is being shut down; [`JoinError::WorldStopped`] if the caller has stopped
    /// the world. From outside, [`JoinError::Deadlock`] comes from a deterministic runtime only.
    #[track_caller]
    pub fn join(mut self) -> Result<T, JoinError<T>> {
        let at = Location::caller();
        if Context::stopped() == Some(self.runtime_id) && !self.is_finished() {
            return Err(JoinError::WorldStopped(self));
        }
        match goroutine::waits() {
            Waits::Suspend => return self.wait(),
            Waits::Block if Context::current() == Some(self.runtime_id) => (),
            Waits::Block | Waits::WithoutP => {
                let runtime_id = self.runtime_id;
                return blocking(|| block_on::join(runtime_id, self, at)).unwrap_or_else(
                    |(unmet, handle)| match unmet {
                        Unmet::Deadlock(deadlock) => Err(JoinError::Deadlock(deadlock, handle)),
                        Unmet::Closed => Err(JoinError::Closed(handle)),
                    },
                );
            }
        }
        let for_task = self.spawned_at;
        match waits::wait_inside(&mut self, at, for_task) {
            Ok(result) => result,
            Err(Unmet::Closed) => Err(JoinError::Closed(self)),
            Err(Unmet::Deadlock(deadlock)) => Err(JoinError::Deadlock(deadlock, self)),
        }
    }

    /// Would [`join`](JoinHandle::join) return at once? True also of a task that panicked or will never run.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        match &*self.state.lock().unwrap_or_else(PoisonError::into_inner) {
            State::Live(task) => task.is_finished(),
            State::Aborting(_) => false,
            State::Ended(_) | State::Taken => true,
        }
    }

    /// Aborts the task: it is not run again, and its future is dropped, now or, if it runs just now, when it next
    /// waits; a goroutine is unwound. One that does not wait any more ends as it would have. Whatever awaits the handle waits for that, and gets
    /// [`JoinError::Aborted`], or the value if the task was faster.
    pub fn abort(&self)
    where
        T: Send + 'static,
    {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = match core::mem::replace(&mut *state, State::Taken) {
            State::Live(task) if !task.is_finished() => {
                let mut stopped: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(task.cancel());
                // Polled once, it has said so; whatever awaits us polls it on.
                match stopped.as_mut().poll(&mut task::Context::from_waker(Waker::noop())) {
                    Poll::Ready(outcome) => State::Ended(outcome.map(Box::new)),
                    Poll::Pending => State::Aborting(stopped),
                }
            }
            other => other,
        };
    }
}

/// No value of type `T` is ever pinned in it.
impl<T> Unpin for JoinHandle<T> {}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError<T>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let state = this.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let was_aborted = matches!(state, State::Aborting(_) | State::Ended(None));
        let polled = match Gentle::around(&mut this.gentle, cx.waker()) {
            Some(gentle) => state.poll(&mut task::Context::from_waker(&gentle)),
            None => state.poll(cx),
        };
        if polled.is_pending() {
            watch::waits_for("join");
        }
        polled.map(|outcome| match outcome.and_then(Outcome::into_result) {
            Some(Ok(value)) => Ok(value),
            Some(Err(panic)) => Err(JoinError::Panicked(panic)),
            None if was_aborted => Err(JoinError::Aborted),
            None => Err(JoinError::ShutDown),
        })
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let State::Live(task) = core::mem::replace(state, State::Taken) {
            task.detach();
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}

/// A task has no value to give.
pub enum JoinError<T> {
    /// It panicked.
    Panicked(Panic),
    /// It was aborted: [`abort`](JoinHandle::abort).
    Aborted,
    /// Its runtime was shut down before it ended.
    ShutDown,
    /// It will never finish, nor will the caller's task if it goes on waiting: each task of the runtime waits for
    /// another. The handle comes back.
    Deadlock(Deadlock, JoinHandle<T>),
    /// The runtime is being shut down, and starts no task any more; this one may be among those that it gives back. The
    /// handle comes back.
    Closed(JoinHandle<T>),
    /// It has not finished, and cannot go on: the caller has stopped the world. The handle comes back.
    WorldStopped(JoinHandle<T>),
}

impl<T> fmt::Debug for JoinError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinError::Panicked(panic) => f.debug_tuple("Panicked").field(panic).finish(),
            JoinError::Aborted => f.write_str("Aborted"),
            JoinError::ShutDown => f.write_str("ShutDown"),
            JoinError::Deadlock(deadlock, handle) => f.debug_tuple("Deadlock").field(deadlock).field(handle).finish(),
            JoinError::Closed(handle) => f.debug_tuple("Closed").field(handle).finish(),
            JoinError::WorldStopped(handle) => f.debug_tuple("WorldStopped").field(handle).finish(),
        }
    }
}

impl<T> fmt::Display for JoinError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinError::Panicked(panic) => panic.fmt(f),
            JoinError::Aborted => f.write_str("task was aborted"),
            JoinError::ShutDown => f.write_str("the task did not run to its end: its runtime was shut down before"),
            JoinError::Deadlock(deadlock, _) => deadlock.fmt(f),
            JoinError::Closed(_) => f.write_str(
                "the runtime is being shut down and starts no more tasks, perhaps not this one either: join it from \
                 outside, after shutdown",
            ),
            JoinError::WorldStopped(_) => f.write_str(
                "the task has not finished, and the caller has stopped the world in which it would: join it after",
            ),
        }
    }
}

impl<T> core::error::Error for JoinError<T> {}

static_assertions::assert_impl_all!(JoinError<u8>: Send, Sync);
static_assertions::assert_impl_all!(JoinHandle<u8>: Send, Sync);
