//! Waiting for a task's outcome, and the ways in which there is none.

use super::packet::{Joinable, Outcome};
use super::worker;
use core::any::Any;
use core::fmt;
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
    /// Blocks the thread, so from inside a task it is refused unless the task has finished: the thread would keep its
    /// P, and with one P the awaited task could never run. (A task of *another* runtime may wait, and blocks a P of
    /// its own meanwhile.) A task that [`shutdown`](crate::Runtime::shutdown) gave back is waited for until its
    /// [`Unstarted`](crate::Unstarted) is run or dropped.
    ///
    /// # Errors
    /// [`JoinError::Panicked`] if the task panicked, [`JoinError::NeverStarted`] if its runtime was shut down before it
    /// ran, [`JoinError::OnWorker`], with the handle, if the task has not finished and the caller is a task of the same
    /// runtime.
    pub fn join(self) -> Result<T, JoinError<T>> {
        if worker::current() == Some(self.home) && !self.is_finished() {
            return Err(JoinError::OnWorker(self));
        }
        match self.packet.wait() {
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
    /// It has not finished, and waiting for it here, in a task of the same runtime, would hold up a P that it may need.
    /// The handle comes back: give it to another thread, or send the value through a channel instead.
    OnWorker(JoinHandle<T>),
}

impl<T> fmt::Debug for JoinError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinError::Panicked(panic) => f.debug_tuple("Panicked").field(panic).finish(),
            JoinError::NeverStarted => f.write_str("NeverStarted"),
            JoinError::OnWorker(handle) => f.debug_tuple("OnWorker").field(handle).finish(),
        }
    }
}

impl<T> fmt::Display for JoinError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinError::Panicked(panic) => panic.fmt(f),
            JoinError::NeverStarted => f.write_str("the task was never run: its runtime was shut down before"),
            JoinError::OnWorker(_) => f.write_str(
                "a task cannot wait for another of its own runtime: join from outside, \
                 or let that one send its value to a third",
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
