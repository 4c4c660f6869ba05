//! What wakes a thread that waits for a future: `block_on`, and a join outside of a task.
//!
//! **A ring that comes after the bell was taken last ends the wait; who took it sees what was written before.** A bell may
//! ring for ever after: whoever has it rings in vain.
//!
//! | a waker, in [`ring`](Bell::ring)       | the thread, in [`wait`](Bell::wait)             |
//! |----------------------------------------|-------------------------------------------------|
//! | 1. `has_rung` becomes true             | 1. takes `has_rung`: was it true? polls again   |
//! | 2. it was false: unparks               | 2. parks; from 1 again                          |
//!
//! Pair `bell`. Read-modify-writes: one that takes the second of two rings sees what came before either.
//!
//! A thread that runs tasks waits in vain once its runtime is being shut down. So it puts its bell on a list first:
//!
//! | who shuts down, in [`close`](Bells::close) | the thread, in [`enter`](Bells::enter) and `wait` |
//! |--------------------------------------------|---------------------------------------------------|
//! | 1. sets `is_closing`                       | 1. lists its bell, under the lock                 |
//! | 2. under the lock, unparks all listed      | 2. reads `is_closing`, before each sleep          |
//!
//! Who comes to the lock second has seen the other's first step: the thread the flag, or the closer the bell, whose unpark
//! brings the flag along. Deadlock detection asks each of them to look again in the same way.
//!
//! Checked by: verification/src/models/bell.rs

use crate::atomic::Atomic;
use crate::host::{Host, Lock, Parker};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// What wakes one thread.
pub struct Bell<H: Host> {
    parker: H::Parker,
    has_rung: Atomic<H, bool>,
}

impl<H: Host> Bell<H> {
    /// It has not rung.
    #[track_caller]
    pub fn new() -> Self {
        Bell { parker: H::Parker::new(), has_rung: Atomic::new(false) }
    }

    /// Rings. From anywhere, as often as one likes.
    pub fn ring(&self) {
        // Release: `bell`, waker's half: the poll that follows sees what was done before. Rung twice, it is enough to wake once.
        if !self.has_rung.swap(true, Release) {
            self.parker.unpark();
        }
    }

    /// Has it rung since it was last asked?
    fn take(&self) -> bool {
        // Acquire: `bell`, the thread's half: what was done before it rang is seen; a later ring is not lost.
        self.has_rung.swap(false, Acquire)
    }

    /// The thread asks once more whether it waits in vain.
    pub fn look_again(&self) {
        self.parker.unpark();
    }

    /// Sleeps until it rings, which it may have already. Before each sleep the thread asks whether it waits in vain; what
    /// it gets lives as long as that sleep.
    ///
    /// # Errors
    /// Why it does.
    pub fn wait<T, E>(&self, mut before_sleep: impl FnMut() -> Result<T, E>) -> Result<(), E> {
        while !self.take() {
            let sleeping = match before_sleep() {
                Ok(sleeping) => sleeping,
                // It may have rung while that was asked.
                Err(_) if self.take() => break,
                Err(why) => return Err(why),
            };
            self.parker.park();
            drop(sleeping);
        }
        Ok(())
    }
}

impl<H: Host> Default for Bell<H> {
    fn default() -> Self {
        Self::new()
    }
}

/// A bell, on whichever host.
pub trait LooksAgain: Send + Sync {
    /// As [`Bell::look_again`].
    fn look_again(&self);
}

impl<H: Host> LooksAgain for Bell<H> {
    fn look_again(&self) {
        Bell::look_again(self);
    }
}

/// The bells of those that wait in a runtime.
pub struct Bells<H: Host, B: LooksAgain + ?Sized + 'static> {
    /// How many are listed, for who does not hold the lock.
    count: Atomic<H, u64>,
    /// The runtime is being shut down.
    is_closing: Atomic<H, bool>,
    listed: H::Lock<Vec<Arc<B>>>,
}

impl<H: Host, B: LooksAgain + ?Sized + 'static> Bells<H, B> {
    /// None.
    #[track_caller]
    pub fn new() -> Self {
        Bells { count: Atomic::new(0), is_closing: Atomic::new(false), listed: H::Lock::new(Vec::new()) }
    }

    /// A thread will wait.
    pub fn enter(&self, bell: Arc<B>) {
        self.listed.with(|listed| listed.push(bell));
        // Relaxed: a hint, it is looked at again.
        self.count.fetch_add(1, Relaxed);
    }

    /// It waits no more.
    pub fn leave(&self, bell: &Arc<B>) {
        self.listed.with(|listed| listed.retain(|other| !Arc::ptr_eq(other, bell)));
        // Relaxed: a hint.
        self.count.fetch_sub(1, Relaxed);
    }

    /// Does anybody wait?
    pub fn is_any(&self) -> bool {
        // Relaxed: a hint.
        self.count.load(Relaxed) > 0
    }

    /// The runtime is being shut down: a task that waits here has to end.
    pub fn close(&self) {
        // Relaxed: the lock brings it to those that list their bells after this, an unpark to the others.
        self.is_closing.store(true, Relaxed);
        self.all_look_again();
    }

    /// Is the runtime being shut down? For a thread that has listed its bell.
    pub fn is_closing(&self) -> bool {
        // Relaxed: as in `close`.
        self.is_closing.load(Relaxed)
    }

    /// Each that waits asks again whether it waits in vain. One that comes after this asks by itself, before it sleeps.
    pub fn all_look_again(&self) {
        self.listed.with(|listed| listed.iter().for_each(|bell| bell.look_again()));
    }
}

impl<H: Host, B: LooksAgain + ?Sized + 'static> Default for Bells<H, B> {
    fn default() -> Self {
        Self::new()
    }
}
