//! Can anything still happen?
//!
//! Go: `checkdead`.
//!
//! **Reported only if no M can ever run a G again, and always then**, as long as something waits. Whoever sleeps,
//! rests, ends, or lets go of a P asks, under the lock, so the last one to do so sees it.
//!
//! An M in a system call counts as one that runs: it may come back. So does a G that somebody outside may ready. What a
//! task waits for in ways that the scheduler does not know, it takes for work.
//!
//! Checked by: verification/src/models/locked.rs, proptests/tests/locked.rs

use crate::kernel::protocol::locked::Woken;

/// Who does what, under the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Census {
    /// Ms that were started and have not ended.
    pub alive: usize,
    /// Of these, those that sleep, with nothing to do.
    pub sleeping: usize,
    /// Of these, those that wait for a G of the same scheduler.
    pub waiting: usize,
    /// Ps that are not idle: somebody has them, and may run what is in their rings. While the world is stopped all are.
    pub busy_ps: usize,
    /// Could one more M be started?
    pub may_start: bool,
    /// Gs in the global queue. (The rings of idle Ps are empty.)
    pub queued: usize,
    /// Is there work in a source, or can it still arrive there, by a timer for instance?
    pub is_expecting: bool,
}

impl Census {
    /// Why the Gs that wait will wait for ever; `None`: something can still happen.
    pub fn verdict(self) -> Option<Woken> {
        let somebody_runs = self.alive > self.sleeping + self.waiting || self.busy_ps > 0;
        let has_work = self.queued > 0 || self.is_expecting;
        if somebody_runs || self.waiting == 0 {
            None
        } else if !has_work {
            Some(Woken::Deadlock)
        } else if self.sleeping == 0 && !self.may_start {
            // Whatever comes, every M that there can be waits for it to have run.
            Some(Woken::NoThread)
        } else {
            None
        }
    }
}
