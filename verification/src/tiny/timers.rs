//! The word of a shelf of timers, and its wrong twins.

use crate::stage::Stage;
use spinpark::atomic::Atomic;
use spinpark::host::{Lock, Nanos};
use spinpark::kernel::protocol::timers::{NEVER, Timers};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Timers on one shelf: the kernel's, or a wrong twin.
pub enum Shelf<H: Stage> {
    /// As it is.
    Right(Timers<H, u64>),
    /// `when` is told after the lock is released.
    Late(H::Lock<Vec<Nanos>>, Atomic<H, u64>),
    /// `when` is not told when a timer is removed. (The shape of golang/go #51654.)
    Stale(Timers<H, u64>, Atomic<H, u64>),
}

impl<H: Stage> Shelf<H> {
    /// Empty; by the twin that is asked for on this thread.
    ///
    /// # Panics
    /// If there is none of that name.
    pub fn new() -> Arc<Self> {
        Arc::new(match crate::mutant::twin() {
            None => Shelf::Right(Timers::new(1)),
            Some("tells-when-late") => Shelf::Late(H::Lock::new(Vec::new()), Atomic::new(NEVER)),
            Some("forgets-to-tell-when") => Shelf::Stale(Timers::new(1), Atomic::new(NEVER)),
            Some(other) => panic!("timers has no twin `{other}`"),
        })
    }

    /// Adds a timer, and removes it again if asked to.
    ///
    /// # Panics
    /// If it is not there any more.
    pub fn add(&self, when: Nanos, remove: bool) {
        match self {
            Shelf::Right(timers) => {
                let (key, _) = timers.add(0, when, when);
                assert!(!remove || timers.remove(key) == Some(when), "a timer that is not due was taken");
            }
            Shelf::Stale(timers, told) => {
                let (key, _) = timers.add(0, when, when);
                told.store(timers.deadline(), Relaxed);
                assert!(!remove || timers.remove(key) == Some(when), "a timer that is not due was taken");
            }
            Shelf::Late(lock, told) => {
                let tell = |change: &mut dyn FnMut(&mut Vec<Nanos>)| {
                    let first = lock.with(|timers| {
                        change(timers);
                        timers.iter().min().copied().unwrap_or(NEVER)
                    });
                    told.store(first, Relaxed);
                };
                tell(&mut |timers| timers.push(when));
                if remove {
                    tell(&mut |timers| timers.retain(|other| *other != when));
                }
            }
        }
    }

    /// What the shelf says: when the earliest is due.
    pub fn deadline(&self) -> Nanos {
        match self {
            Shelf::Right(timers) => timers.deadline(),
            Shelf::Late(_, told) | Shelf::Stale(_, told) => told.load(Relaxed),
        }
    }
}
