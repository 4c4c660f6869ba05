//! What comes of a task: its value, or its panic.

use crate::runtime::exec::needs_tokio;
use crate::runtime::guarded::guarded;
use core::any::Any;
use core::fmt;
use std::sync::{Mutex, PoisonError};

/// What a task ends with; `None`: it was unwound, because its runtime is shut down. If the handle does not take it, a panic in its
/// destructor ends here.
pub(in crate::runtime) struct Outcome<T>(Option<Result<T, Panic>>);

impl<T> Outcome<T> {
    pub(in crate::runtime) fn new(result: Option<Result<T, Panic>>) -> Outcome<T> {
        Outcome(result)
    }

    pub(in crate::runtime) fn into_result(mut self) -> Option<Result<T, Panic>> {
        self.0.take()
    }
}

impl<T> Drop for Outcome<T> {
    fn drop(&mut self) {
        if self.0.is_some() {
            guarded(|| drop(self.0.take()));
        }
    }
}

/// What a task panicked with.
///
/// ```
/// use spinpark::JoinError;
///
/// # spinpark::run(async {
/// let task = spinpark::go(|| std::panic::resume_unwind(Box::new("oh")));
/// let Err(JoinError::Panicked(panic)) = task.await else { panic!("it does") };
/// assert_eq!(panic.message(), Some("oh"));
/// let again = std::panic::catch_unwind(|| panic.resume_unwind());
/// assert!(again.is_err());
/// # });
/// ```
pub struct Panic(Box<Inside>); // one word, because every task's outcome has a place for it

struct Inside {
    message: Option<String>,
    /// The mutex is for the compiler: a payload may be sent but not shared, errors want to be both.
    payload: Mutex<Box<dyn Any + Send>>,
}

/// The text that was given to `panic!`.
pub(in crate::runtime) fn message(payload: &(dyn Any + Send)) -> Option<&str> {
    match payload.downcast_ref::<&'static str>() {
        Some(message) => Some(message),
        None => payload.downcast_ref::<String>().map(String::as_str),
    }
}

impl Panic {
    pub(in crate::runtime) fn new(payload: Box<dyn Any + Send>) -> Self {
        let message = message(&*payload).map(str::to_owned);
        needs_tokio::report(message.as_deref());
        Panic(Box::new(Inside { message, payload: Mutex::new(payload) }))
    }

    /// The text that was given to `panic!`. `None` if it was given something else than text.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.0.message.as_deref()
    }

    /// The value that was given to `panic!` or [`panic_any`](std::panic::panic_any).
    #[must_use]
    pub fn into_payload(self) -> Box<dyn Any + Send> {
        self.0.payload.into_inner().unwrap_or_else(PoisonError::into_inner)
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
        f.debug_tuple("Panic").field(&self.0.message).finish()
    }
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message() {
            Some(message) => {
                write!(f, "task panicked: {message}")?;
                needs_tokio::cure(message).map_or(Ok(()), |cure| write!(f, "; {cure}"))
            }
            None => f.write_str("task panicked with a non-string payload"),
        }
    }
}

impl core::error::Error for Panic {}
