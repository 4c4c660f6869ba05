//! Rings from outside of the machine.
//!
//! A thread that a machine does not play runs beside it. The thread that waits would find it in the middle of its ring, and the machine
//! cannot wait for it. So it only sets a flag, and the thread that waits rings by itself when it looks next.

use crate::runtime::host::sim::{self, Number};
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Acquire, Release};

/// Rings from outside of the machine that plays one thread.
pub(in crate::runtime) struct Outside {
    machine: Number,
    has_rung: AtomicBool,
}

impl Outside {
    /// Of the machine that plays the calling thread.
    pub(in crate::runtime) fn new() -> Outside {
        Outside { machine: sim::number(), has_rung: AtomicBool::new(false) }
    }

    /// The calling thread rings. `false`: the same machine plays it, and it is to ring as on real cores.
    pub(in crate::runtime) fn ring(&self) -> bool {
        let is_outside = sim::number() != self.machine;
        if is_outside {
            // Release: `outside`, the waker: what it has done before is seen by the poll that follows.
            self.has_rung.store(true, Release);
        }
        is_outside
    }

    /// Has one rung since the thread that waits last asked?
    pub(in crate::runtime) fn take(&self) -> bool {
        // Acquire: `outside`, the thread that waits.
        self.has_rung.swap(false, Acquire)
    }
}
