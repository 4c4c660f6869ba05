//! How the files of this folder lock, and what they say when their runtime has ended.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What waiting ends with when there is no runtime any more.
pub(super) fn shut_down() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the runtime of this socket was shut down")
}

/// A lock of this folder: nothing that can panic happens under it.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
