//! The word of a shard of timers, and its wrong variants.

use crate::hosts::model_host::ModelHost;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{Lock, NEVER, Nanos};
use spinpark_kernel::queues::timers::Timers;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Timers on one shard: the kernel's, or a wrong variant.
pub enum Shard<H: ModelHost> {
    /// As it is.
    Right(Timers<H, u64>),
    /// `when` is told after the lock is released.
    Late(H::Lock<Vec<Nanos>>, Atomic<H, u64>),
    /// `when` is not told when a timer is removed. (The shape of golang/go #51654.)
    Stale(Timers<H, u64>, Atomic<H, u64>),
}

impl<H: ModelHost> Shard<H> {
    /// Empty; by the variant that is asked for on this thread.
    ///
    /// # Panics
    /// If there is none of that name.
    pub fn new() -> Arc<Self> {
        Arc::new(match crate::mutation::mutant::variant() {
            None => Shard::Right(Timers::new(1)),
            Some("tells-when-late") => Shard::Late(H::Lock::new(Vec::new()), Atomic::new(NEVER)),
            Some("forgets-to-tell-when") => Shard::Stale(Timers::new(1), Atomic::new(NEVER)),
            Some(other) => panic!("timers has no variant `{other}`"),
        })
    }

    /// Adds a timer, and removes it again if asked to.
    ///
    /// # Panics
    /// If it is not there any more.
    pub fn add(&self, when: Nanos, remove: bool) {
        match self {
            Shard::Right(timers) => {
                let (key, _) = timers.add(0, when, when);
                assert!(!remove || timers.remove(key) == Some(when), "a timer that is not due was taken");
            }
            Shard::Stale(timers, told) => {
                let (key, _) = timers.add(0, when, when);
                told.store(timers.deadline(), Relaxed);
                assert!(!remove || timers.remove(key) == Some(when), "a timer that is not due was taken");
            }
            Shard::Late(lock, told) => {
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

    /// What the shard says: when the earliest is due.
    pub fn deadline(&self) -> Nanos {
        match self {
            Shard::Right(timers) => timers.deadline(),
            Shard::Late(_, told) | Shard::Stale(_, told) => told.load(Relaxed),
        }
    }
}
