//! A channel, as both of its ends have it: its state, and the lock around it.

use crate::runtime::sync::chan::errors::{Closed, TryRecvError};
use crate::runtime::sync::chan::state::{Refused, State};
use crate::runtime::sync::chan::waking;
use core::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What both ends have in common.
pub(super) struct Channel<T> {
    state: Mutex<State<T>>,
}

impl<T> Channel<T> {
    pub(super) fn new(capacity: usize) -> Channel<T> {
        Channel { state: Mutex::new(State::new(capacity)) }
    }

    #[inline]
    pub(super) fn lock(&self) -> MutexGuard<'_, State<T>> {
        // Nothing under it panics but for want of memory; the next to lock it need not suffer.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn try_put(&self, value: T) -> Result<(), Refused<T>> {
        let woken = self.lock().put(value)?;
        waking::wake(woken);
        Ok(())
    }

    pub(super) fn try_take(&self) -> Result<T, TryRecvError> {
        let (value, woken) = self.lock().take()?;
        waking::wake(woken);
        Ok(value)
    }

    /// `None`: nothing is there now.
    pub(super) fn try_recv_or_closed(&self) -> Option<Result<T, Closed>> {
        match self.try_take() {
            Ok(value) => Some(Ok(value)),
            Err(TryRecvError::Closed) => Some(Err(Closed)),
            Err(TryRecvError::Empty) => None,
        }
    }

    pub(super) fn close(&self) -> bool {
        let woken = self.lock().close();
        let is_first = woken.is_some();
        waking::wake(woken.into_iter().flatten());
        is_first
    }

    pub(super) fn capacity(&self) -> Option<usize> {
        match self.lock().capacity() {
            usize::MAX => None,
            capacity => Some(capacity),
        }
    }

    pub(super) fn show(&self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        let (len, is_closed) = {
            let state = self.lock();
            (state.len(), state.is_closed())
        };
        f.debug_struct(name).field("len", &len).field("is_closed", &is_closed).finish_non_exhaustive()
    }
}
