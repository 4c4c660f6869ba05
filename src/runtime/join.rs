//! Waiting for a task's outcome, and the ways in which there is none.

use super::block::blocking;
use super::board::Deadlock;
use super::packet::{Joinable, Outcome};
use super::worker::{self, Unmet};
use core::any::Any;
use core::fmt;
use core::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

/// The right to a task's value. Dropping it does not stop the task; its value, or its panic, is then lost.
///
/// Go has no such thing: `go f()` returns nothing, and one writes the channel by hand.
pub struct JoinHandle<T> {
    packet: Arc<dyn Joinable<T>>,
    /// The runtime whose task it is.
    home: usize,
}

impl<T> JoinHandle<T> {
    pub(super) fn new(packet: Arc<dyn Joinable<T>>, home: usize) -> Self {
        JoinHandle { packet, home }
    }

    /// Waits until the task has finished, and returns its value.
    ///
    /// From inside a task of the same runtime the caller's P goes to another thread meanwhile, so that the awaited task
    /// can run, with one P too; the caller's thread is occupied. A task of *another* runtime waits as in
    /// [`blocking`](crate::blocking). A task that [`shutdown`](crate::Runtime::shutdown) gave back is waited for until
    /// its [`Unstarted`](crate::Unstarted) is run or dropped.
    ///
    /// # Errors
    /// [`JoinError::Panicked`] if the task panicked; [`JoinError::NeverStarted`] if its runtime was shut down before it
    /// ran. From inside a task of the same runtime also, with the handle, because waiting would never end:
    /// [`JoinError::Deadlock`] if no task of the runtime can go on; [`JoinError::Closed`] if the runtime is being shut
    /// down; [`JoinError::WorldStopped`] if the caller has stopped the world.
    #[track_caller]
    pub fn join(self) -> Result<T, JoinError<T>> {
        let at = Location::caller();
        if worker::stopped() == self.home && !self.is_finished() {
            return Err(JoinError::WorldStopped(self));
        }
        let outcome = if worker::holds_p_of(self.home) {
            match worker::wait_inside(&*self.packet, at) {
                Ok(()) => self.packet.wait(),
                Err(Unmet::Closed) => return Err(JoinError::Closed(self)),
                Err(Unmet::Deadlock(deadlock)) => return Err(JoinError::Deadlock(deadlock, self)),
            }
        } else {
            blocking(|| self.packet.wait())
        };
        match outcome {
            Outcome::Value(value) => Ok(value),
            Outcome::Panicked(panic) => Err(JoinError::Panicked(panic)),
            Outcome::NeverStarted => Err(JoinError::NeverStarted),
        }
    }

    /// Would [`join`](JoinHandle::join) return at once? True also of a task that panicked or will never run.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.packet.is_finished()
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
    /// Its runtime was shut down before it was run, and nobody ran it afterwards.
    NeverStarted,
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
            JoinError::NeverStarted => f.write_str("NeverStarted"),
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
            JoinError::NeverStarted => f.write_str("the task was never run: its runtime was shut down before"),
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

/// What a task panicked with.
pub struct Panic {
    message: Option<String>,
    /// The mutex is for the compiler: a payload may be sent but not shared, errors want to be both.
    payload: Mutex<Box<dyn Any + Send>>,
}

impl Panic {
    pub(super) fn new(payload: Box<dyn Any + Send>) -> Self {
        let message = match payload.downcast_ref::<&'static str>() {
            Some(message) => Some((*message).to_owned()),
            None => payload.downcast_ref::<String>().cloned(),
        };
        Panic { message, payload: Mutex::new(payload) }
    }

    /// The text that was given to `panic!`. `None` if it was given something else than text.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// The value that was given to `panic!` or [`panic_any`](std::panic::panic_any).
    #[must_use]
    pub fn into_payload(self) -> Box<dyn Any + Send> {
        self.payload.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on panicking, here. The panic hook is not called again.
    ///
    /// # Panics
    /// Always.
    pub fn resume_unwind(self) -> ! {
        std::panic::resume_unwind(self.into_payload())
    }
}

impl fmt::Debug for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Panic").field(&self.message).finish()
    }
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message() {
            Some(message) => write!(f, "the task panicked: {message}"),
            None => f.write_str("the task panicked, with a value that is no text"),
        }
    }
}

impl core::error::Error for Panic {}

static_assertions::assert_impl_all!(JoinError<u8>: Send, Sync);
static_assertions::assert_impl_all!(JoinHandle<u8>: Send, Sync);
