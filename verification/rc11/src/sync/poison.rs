//! Poisoning: a lock whose holder has panicked says so to later holders. A panic that no thread catches ends the execution,
//! so that this is for caught panics alone.

use crate::machine;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{LockResult, PoisonError};

/// Is a lock poisoned? Written and read by its holders, in the order in which they have it.
#[derive(Debug, Default)]
pub(super) struct Poison {
    is_set: AtomicBool,
}

impl Poison {
    // Relaxed, here and below: a play is one thread of the machine.
    pub(super) fn is_set(&self) -> bool {
        self.is_set.load(Relaxed) && !machine::is_over()
    }

    pub(super) fn clear(&self) {
        self.is_set.store(false, Relaxed);
    }

    /// The lock is given back by a guard; did its holder unwind when it was taken?
    pub(super) fn given_back(&self, has_unwound: bool) {
        if !has_unwound && machine::unwinds() && !machine::is_over() {
            self.is_set.store(true, Relaxed);
        }
    }

    /// What a lock gives that has this.
    pub(super) fn result<T>(&self, given: T) -> LockResult<T> {
        if self.is_set() { Err(PoisonError::new(given)) } else { Ok(given) }
    }
}
