//! How often a thread that waits looks whether anything can still wake it.
//!
//! The Ms and the monitor have it look when all comes to rest. A thread that is no runtime's tells none when it ends, or comes to wait, or
//! drops the last timer: so the thread that waits looks by itself, when it has waited twice as long as at its last look. **Such a
//! deadlock is reported after twice the time at most, and at most a minute late. An idle process wakes once a minute.**

use crate::host::{NEVER, Nanos};
use crate::runtime::exec::platform::Platform;

/// So often in one wait the monitor is woken, if it sleeps, to look again for some 0.1 s: an M may be in the poller, or another thread not be
/// seen yet to wait or to have ended.
const LOOKS: u32 = 50;
/// The shortest pause, and the longest.
const PAUSES: (Nanos, Nanos) = (100_000_000, 60_000_000_000);

/// The looks of one wait.
pub(super) struct Looks {
    left: u32,
    /// When it first slept; when it slept last. Both zero: not yet.
    since: Nanos,
    last: Nanos,
}

impl Looks {
    pub(super) fn new() -> Looks {
        Looks { left: LOOKS, since: 0, last: 0 }
    }

    /// Has it slept, so that this is not its first look?
    pub(super) fn has_slept(&self) -> bool {
        self.since > 0
    }

    /// The thread looks: may it wake the monitor, so that this looks too?
    pub(super) fn may_look<H: Platform>(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0 || !H::IS_SIMULATED && H::now().saturating_sub(self.last) >= PAUSES.0
    }

    /// How long it sleeps until it looks by itself.
    pub(super) fn pause<H: Platform>(&mut self) -> Nanos {
        if H::IS_SIMULATED {
            return NEVER; // the machine sees what all its threads do
        }
        self.last = H::now();
        if !self.has_slept() {
            self.since = self.last;
        }
        (self.last - self.since).clamp(PAUSES.0, PAUSES.1)
    }
}
