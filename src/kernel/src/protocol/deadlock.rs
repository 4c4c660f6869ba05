//! Deadlock detection: can any G still run?
//!
//! Go: `checkdead`.
//!
//! **Reported only if no M can ever run a G again, and always then**, as long as a G waits. An M that sleeps, rests, ends,
//! or releases its P asks, under the lock, so the last M to do so sees it.
//!
//! An M in a system call counts as running: it may come back. So does a G that a thread outside may ready. A task that
//! waits in ways that the scheduler does not know counts as running too.
//!
//! Checked by: verification/rooms/src/rooms/locked.rs, verification/src/models/locked.rs

use crate::protocol::locked::Woken;

/// What the Ms do, counted under the lock.
///
/// ```
/// use spinpark_kernel::protocol::{deadlock::Census, locked::Woken};
/// let all_wait = Census { alive: 2, sleeping: 1, waiting: 1, busy_ps: 0, may_start: true, queued: 0 };
/// assert_eq!(all_wait.verdict(|| false), Some(Woken::Deadlock));
/// assert_eq!(all_wait.verdict(|| true), None); // a timer may still fire
/// let queued = Census { queued: 1, sleeping: 0, alive: 1, may_start: false, ..all_wait };
/// assert!(queued.lacks_ms());
/// assert_eq!(queued.verdict(|| false), Some(Woken::NoThread));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Census {
    /// Ms that were started and have not ended.
    pub alive: usize,
    /// Of these, those that sleep, with nothing to do.
    pub sleeping: usize,
    /// Of these, those that wait for a G of the same scheduler.
    pub waiting: usize,
    /// Ps that are not idle: their owners may run the Gs in their rings. While the world is stopped all are.
    pub busy_ps: usize,
    /// Could one more M be started?
    pub may_start: bool,
    /// Gs in the global queue. (The rings of idle Ps are empty.)
    pub queued: usize,
}

impl Census {
    /// Does every M that there can be wait, so that none is left to run what is queued?
    pub fn lacks_ms(self) -> bool {
        self.sleeping == 0 && !self.may_start
    }

    /// Why the Gs that wait will wait for ever; `None`: a G can still run. `is_expecting`: has a source work, or can it still
    /// get some, from a timer for instance? It may have to ask the system, so it is asked last, and only if that decides.
    pub fn verdict(self, is_expecting: impl FnOnce() -> bool) -> Option<Woken> {
        let somebody_runs = self.alive > self.sleeping + self.waiting || self.busy_ps > 0;
        if somebody_runs || self.waiting == 0 {
            None
        } else if self.queued == 0 && !is_expecting() {
            Some(Woken::Deadlock)
        } else if self.lacks_ms() {
            // Even if work arrives.
            Some(Woken::NoThread)
        } else {
            None
        }
    }
}
