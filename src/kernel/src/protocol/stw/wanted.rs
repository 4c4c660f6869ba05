//! What every M is asked to attend to: a few bits, written under the scheduler's lock and read without it.
//!
//! Go: `sched.gcwaiting`, `p.runSafePointFn`, and the test for both at each scheduling point.
//!
//! **A bit is a hint; what it stands for is under the lock.** An M that misses it runs one more G. Where missing it
//! would cost more, in a system call, the pair `syscall/stop` orders it.
//!
//! Checked by: verification/rooms/src/rooms/stw.rs

use crate::atomic::{Atomic, UnderLock};
use crate::host::Host;
use core::sync::atomic::Ordering::Relaxed;

/// Something to attend to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Want {
    /// The world is to stop.
    Stop = 1,
    /// A function is to be run once under each P.
    Safepoint = 2,
    /// The scheduler is closed.
    Close = 4,
}

/// The bits.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::protocol::stw::wanted::{Want, Wanted};
/// let wanted = Wanted::<Os>::new();
/// wanted.ask(Want::Safepoint);
/// assert!(wanted.any() && !wanted.is_end() && wanted.is(Want::Safepoint));
/// wanted.done(Want::Safepoint);
/// wanted.ask(Want::Close);
/// assert!(wanted.is_end());
/// # }
/// ```
pub struct Wanted<H: Host>(Atomic<H, u64, UnderLock>);

impl<H: Host> Wanted<H> {
    /// Nothing.
    #[track_caller]
    pub fn new() -> Self {
        Wanted(Atomic::new(0))
    }

    /// Asks for `want`. Under the lock.
    pub fn ask(&self, want: Want) {
        // Relaxed: written under the lock only, so a load and a store do.
        let bits = self.0.load(Relaxed);
        // Relaxed: a hint. Where more depends on it, `syscall/stop` follows.
        self.0.store(bits | want as u64, Relaxed);
    }

    /// No longer. Under the lock.
    pub fn done(&self, want: Want) {
        // Relaxed: as in `ask`.
        let bits = self.0.load(Relaxed);
        // Relaxed: a hint. An M that reads an old one checks under the lock.
        self.0.store(bits & !(want as u64), Relaxed);
    }

    /// Is anything wanted?
    #[inline(always)]
    pub fn any(&self) -> bool {
        // Relaxed: a hint. In a system call `syscall/stop` came before.
        self.0.load(Relaxed) != 0
    }

    /// Is no G to be run any more, for now or for ever?
    #[inline(always)]
    pub fn is_end(&self) -> bool {
        // Relaxed: a hint.
        self.0.load(Relaxed) & (Want::Stop as u64 | Want::Close as u64) != 0
    }

    /// Is `want` wanted?
    #[inline(always)]
    pub fn is(&self, want: Want) -> bool {
        // Relaxed: a hint.
        self.0.load(Relaxed) & want as u64 != 0
    }
}
