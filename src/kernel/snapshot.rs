//! A picture of a scheduler, and the invariants of quiescence.
//!
//! Go: `schedtrace`, `checkdead`.
//!
//! **When every M sleeps, no G waits while a P is idle, nobody is counted as spinning, every P is idle, and masks equal
//! lists.**
//!
//! Checked by: verification/src/models/sched.rs

use alloc::vec::Vec;

/// A scheduler at one moment, taken under its lock. What others own is a guess while they run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Gs in each P's queues.
    pub local: Vec<usize>,
    /// Gs in the global queue.
    pub global: usize,
    /// Idle Ps.
    pub idle_ps: usize,
    /// Do the list of idle Ps, their bits and their count agree?
    pub masks_agree: bool,
    /// Ms counted as looking for work.
    pub nmspinning: usize,
    /// Ms that sleep.
    pub sleeping: usize,
    /// Ms that were started and have not ended.
    pub alive: usize,
}

impl Snapshot {
    /// Do all Ms sleep? Then nothing moves until somebody submits.
    pub fn is_quiescent(&self) -> bool {
        self.sleeping == self.alive
    }

    /// At quiescence: what is wrong, if anything. Invariants 30 to 34.
    pub fn violation(&self) -> Option<&'static str> {
        let queued = self.global + self.local.iter().sum::<usize>();
        if queued > 0 && self.idle_ps > 0 {
            Some("a G waits and a P is idle, but every M sleeps")
        } else if self.nmspinning != 0 {
            Some("every M sleeps, but some are counted as spinning")
        } else if self.idle_ps != self.local.len() {
            Some("every M sleeps, but a P is not idle")
        } else if !self.masks_agree {
            Some("the idle list and its mask differ")
        } else {
            None
        }
    }
}
