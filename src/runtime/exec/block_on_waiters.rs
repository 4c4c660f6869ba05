//! The threads that wait in the `block_on` of a runtime, as the others see them.

use crate::runtime::host::cores::Cores;
use crate::runtime::host::foreign_threads::{self, MayAct};
use crate::waits::bell::{Bells, Counts, LooksAgain};
use core::ops::Deref;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicIsize, AtomicU64};
use std::sync::Arc;

/// The threads that wait in `block_on` of a runtime, each by its bell, on whichever host.
pub(in crate::runtime) struct BlockOnWaiters {
    bells: Bells<Cores, dyn LooksAgain>,
    /// How many threads that run tasks wait with one, and were not woken: a task waits there, without a P.
    ms: Arc<AtomicIsize>,
    guests: Arc<Guests>,
}

/// The threads in `block_on` that run no tasks of the runtime: how many there are, in the upper half, and how many of them sleep and
/// were not woken.
#[derive(Default)]
pub(super) struct Guests(AtomicU64);

/// One there is.
const GUEST: u64 = 1 << 32;

impl Guests {
    /// Is there one, and do all sleep?
    pub(super) fn all_sleep(&self) -> bool {
        // Relaxed: asked under the scheduler's lock, to which an M comes that has woken one, before it rests. One that begins or ends
        // meanwhile does so by itself.
        let word = self.0.load(Relaxed);
        word != 0 && word / GUEST == word % GUEST
    }

    pub(super) fn enter(&self) {
        // Relaxed: as in `all_sleep`.
        self.0.fetch_add(GUEST, Relaxed);
    }

    pub(super) fn leave(&self) {
        // Relaxed: as in `all_sleep`.
        self.0.fetch_sub(GUEST, Relaxed);
    }
}

impl BlockOnWaiters {
    pub(in crate::runtime) fn new() -> BlockOnWaiters {
        BlockOnWaiters { bells: Bells::new(), ms: Arc::default(), guests: Arc::default() }
    }

    /// How many threads that run tasks wait here now, and were not woken. For a moment less, if one is woken before it is counted.
    pub(in crate::runtime) fn ms(&self) -> isize {
        // Relaxed: asked under the scheduler's lock, to which an M comes that wakes one, before it rests; and between the two reads of
        // `at-rest`, which another thread that does changes.
        self.ms.load(Relaxed)
    }

    /// The calling thread runs tasks of this runtime, and waits with one.
    pub(super) fn counts_m(&self) -> Waits {
        Waits::M(Arc::clone(&self.ms))
    }

    /// Those that do not.
    pub(super) fn guests(&self) -> &Arc<Guests> {
        &self.guests
    }
}

impl Deref for BlockOnWaiters {
    type Target = Bells<Cores, dyn LooksAgain>;

    fn deref(&self) -> &Self::Target {
        &self.bells
    }
}

/// As what a thread counts while it waits.
pub(super) enum Waits {
    /// As an M of the runtime that counts so.
    M(Arc<AtomicIsize>),
    /// In no runtime.
    Elsewhere(Elsewhere),
    /// In a runtime that is not its own.
    Guest(Arc<Guests>, Elsewhere),
}

/// As what a thread counts outside of the runtime in which it waits.
#[derive(Clone, Copy)]
pub(super) enum Elsewhere {
    /// As a thread that is no runtime's.
    Thread,
    /// It does not: to its own runtime it is busy.
    Busy,
}

impl Elsewhere {
    /// This thread is in a function of a runtime, as long as what is returned lives.
    pub(super) fn calls(self) -> Option<MayAct> {
        match self {
            Elsewhere::Thread => Some(MayAct::new()),
            Elsewhere::Busy => None,
        }
    }

    fn enter(self) {
        match self {
            Elsewhere::Thread => foreign_threads::enter(),
            Elsewhere::Busy => (),
        }
    }

    fn leave(self) {
        match self {
            Elsewhere::Thread => foreign_threads::leave(),
            Elsewhere::Busy => (),
        }
    }
}

impl Counts for Waits {
    fn enter(&self) {
        match self {
            // Relaxed: as in `ms`.
            Waits::M(ms) => _ = ms.fetch_add(1, Relaxed),
            Waits::Elsewhere(elsewhere) => elsewhere.enter(),
            Waits::Guest(guests, elsewhere) => {
                // Relaxed: as in `all_sleep`. A waker may have come first; then fewer than none sleep, for a moment.
                guests.0.fetch_add(1, Relaxed);
                elsewhere.enter();
            }
        }
    }

    fn leave(&self) {
        match self {
            // Relaxed: as in `ms`.
            Waits::M(ms) => _ = ms.fetch_sub(1, Relaxed),
            Waits::Elsewhere(elsewhere) => elsewhere.leave(),
            Waits::Guest(guests, elsewhere) => {
                // Relaxed: as in `all_sleep`.
                guests.0.fetch_sub(1, Relaxed);
                elsewhere.leave();
            }
        }
    }
}
