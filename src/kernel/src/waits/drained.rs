//! When a try found that there is no more, so that the next waits without one. tokio: `clear_readiness`.
//!
//! **A task that waits without a try waits for a report that is yet to come.** A try finds out that there is no more if it would
//! block. Of a stream it knows that too if it got fewer bytes than it had asked for: all that were there. But the end, or an error,
//! is found by a try that gets no bytes only.
//!
//! | a task that tries, and later waits                     | the other end, then the M that polls                       |
//! |--------------------------------------------------------|------------------------------------------------------------|
//! | 1. reads the tick                                      | 1. more comes, or the end                                  |
//! | 2. tries: it would block, or gets less than it wanted  | 2. the system reports what is so                           |
//! | 3. that tick is `set` as drained                       | 3. counts the tick, [marks](LAST) it if the end has come   |
//! | 4. is the tick of now drained, by `is`? waits          | 4. takes those that wait                                   |
//!
//! What comes after 2 of the task is reported after it, and counted: the tick is another then, also for 4, which compares once more
//! under the lock before it waits. What had come before, the try took, but for the end: if the end had come, and was counted before
//! 1, the tick has the mark. A tick with the mark is never drained.
//!
//! Only where a socket reports every change: one that is armed for each report is not armed yet when it is drained.
//!
//! Checked by: verification/rooms/src/rooms/drained.rs

use crate::atomic::Atomic;
use crate::host::Host;
use crate::waits::readiness::Direction;
use core::sync::atomic::Ordering::Relaxed;

/// In a tick: from now on a try that got fewer bytes than it had asked for says nothing. The end has come, or an error, or urgent
/// bytes, at which a read stops.
pub const LAST: u64 = 1 << 63;

/// The tick at which each direction was last found drained.
pub(super) struct Drained<H: Host>([Atomic<H, u64>; 2]);

impl<H: Host> Drained<H> {
    /// At no tick.
    #[track_caller]
    pub(super) fn new() -> Self {
        Drained([Atomic::new(LAST), Atomic::new(LAST)])
    }

    /// A try in this direction, before which the tick was `seen`, found that there is no more.
    pub(super) fn set(&self, direction: Direction, seen: u64) {
        if seen & LAST == 0 {
            // Relaxed: the value is all that it says. One that is older than what another task has put here costs a try.
            self.0[direction as usize].store(seen, Relaxed);
        }
    }

    /// Is there no more in this direction, unless the tick is not `seen` any more?
    pub(super) fn is(&self, direction: Direction, seen: u64) -> bool {
        // Relaxed: as in `set`. A waiter compares the tick under the lock, where it is written.
        seen & LAST == 0 && self.0[direction as usize].load(Relaxed) == seen
    }
}
