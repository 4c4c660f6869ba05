//! What stands beside a runtime until its end: another crate's runtime, started when it is first needed.

use core::any::Any;
use core::mem;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// The place for it. One kind only. Panics if another kind is asked for.
pub(super) struct Companion(Mutex<Place>);

enum Place {
    Free,
    Taken(Arc<dyn Any + Send + Sync>),
    /// The runtime was shut down.
    Closed,
}

impl Companion {
    pub(super) fn new() -> Self {
        Companion(Mutex::new(Place::Free))
    }

    /// What is there, or `start`s it. `None`: it has ended with the runtime.
    ///
    /// # Errors
    /// That of `start`. The next caller tries again.
    pub(super) fn get_or_start<C: Any + Send + Sync>(
        &self,
        start: impl FnOnce() -> io::Result<C>,
    ) -> io::Result<Option<Arc<C>>> {
        let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let companion = match &*place {
            Place::Closed => return Ok(None),
            Place::Taken(companion) => Arc::clone(companion),
            Place::Free => {
                let started: Arc<dyn Any + Send + Sync> = Arc::new(start()?);
                *place = Place::Taken(Arc::clone(&started));
                started
            }
        };
        Ok(Some(companion.downcast().expect("there is one kind")))
    }

    /// Takes it away for ever. Its destructor is the caller's to run, under no lock.
    pub(super) fn close(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match mem::replace(&mut *place, Place::Closed) {
            Place::Taken(companion) => Some(companion),
            Place::Free | Place::Closed => None,
        }
    }
}
