//! What is done when there is nothing else to do: closures that may wait for that, and the memory of stacks that no goroutine
//! uses.
//!
//! Go: `gcBgMarkWorker` in idle mode, `stackfree`. Here nothing has to be collected, but what is left to an idle moment
//! is run as there: by a thread that has found no task anywhere and is about to wait, a piece at a time; between two
//! pieces it looks for tasks again.

use crate::runtime::exec::goroutine::stack::Stacks;
use crate::runtime::guarded::{Theirs, guarded};
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

type Closure = Box<dyn FnOnce() + Send>;

/// The idle work of one runtime.
pub(in crate::runtime) struct IdleWork {
    stacks: Option<Arc<Stacks>>,
    queue: Mutex<VecDeque<Theirs<Closure>>>,
    /// How many closures there are, or were a moment ago.
    len: AtomicUsize,
}

impl IdleWork {
    pub(in crate::runtime) fn new(stacks: Option<Arc<Stacks>>) -> IdleWork {
        IdleWork { stacks, queue: Mutex::default(), len: AtomicUsize::new(0) }
    }

    pub(in crate::runtime) fn put(&self, closure: Closure) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.push_back(Theirs::new(closure));
        // Relaxed: a hint; the M that is to see it is woken after this.
        self.len.store(queue.len(), Relaxed);
    }

    fn take(&self) -> Option<Theirs<Closure>> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let closure = queue.pop_front();
        // Relaxed: a hint.
        self.len.store(queue.len(), Relaxed);
        closure
    }

    /// Is there any?
    pub(in crate::runtime) fn is_any(&self) -> bool {
        // Relaxed: a hint.
        self.len.load(Relaxed) > 0 || self.stacks.as_ref().is_some_and(|stacks| stacks.is_dirty())
    }

    /// Does a piece of it.
    pub(in crate::runtime) fn do_some(&self) {
        match self.take() {
            Some(closure) => guarded(closure.into_inner()),
            None => self.stacks.iter().for_each(|stacks| stacks.clean()),
        }
    }

    /// The runtime is closed: what is left is dropped.
    pub(in crate::runtime) fn close(&self) {
        while let Some(closure) = self.take() {
            drop(closure);
        }
    }
}
