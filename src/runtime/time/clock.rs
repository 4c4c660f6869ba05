//! A runtime's time: its host's, until it is paused.
//!
//! tokio: `time::pause`, `advance`, `resume`, `start_paused`.
//!
//! Timers are kept by this time. The kernel waits by its host's: it is told a deadline [`on_host`](Clock::on_host). While time is paused,
//! a timer that is due was due long ago, and any other is as far away as can be, but for [`NEVER`]: so an M waits in the poller,
//! and that decides when time may jump.

use crate::host::{NEVER, Nanos};
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// When a timer is due, to the kernel, that time has to jump to.
pub(in crate::runtime) const FAR: Nanos = NEVER - 1;

/// The time of one runtime.
pub(in crate::runtime) struct Clock {
    /// Was it never paused?
    is_hosts: AtomicBool,
    time: Mutex<Time>,
}

#[derive(Clone, Copy)]
enum Time {
    /// It was `here` when its host's was `there`, and goes on with that.
    Runs {
        here: Nanos,
        there: Nanos,
    },
    Paused {
        at: Nanos,
    },
}

impl Clock {
    pub(in crate::runtime) const fn new() -> Clock {
        Clock { is_hosts: AtomicBool::new(true), time: Mutex::new(Time::Runs { here: 0, there: 0 }) }
    }

    fn time(&self) -> MutexGuard<'_, Time> {
        self.time.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What time it is here, when it is `host` on the host.
    #[inline]
    pub(in crate::runtime) fn now(&self, host: Nanos) -> Nanos {
        // Relaxed: a thread that nothing orders behind the first pause cannot tell whether it has come.
        match self.is_hosts.load(Relaxed) {
            true => host,
            false => self.time().now(host),
        }
    }

    /// When it will be `when` here, by the host's time.
    #[inline]
    pub(in crate::runtime) fn on_host(&self, when: Nanos) -> Nanos {
        // Relaxed: as in `now`. The thread that pauses makes an M look again.
        match self.is_hosts.load(Relaxed) || when == NEVER {
            true => when,
            false => self.time().on_host(when),
        }
    }

    /// It stands still from now on. `false`: it does already.
    pub(in crate::runtime) fn pause(&self, host: Nanos) -> bool {
        // Relaxed: as in `now`; the lock orders those that come after.
        self.is_hosts.store(false, Relaxed);
        let mut time = self.time();
        let runs = matches!(*time, Time::Runs { .. });
        *time = Time::Paused { at: time.now(host) };
        runs
    }

    /// It goes on. `false`: it does already.
    pub(in crate::runtime) fn resume(&self, host: Nanos) -> bool {
        let mut time = self.time();
        let Time::Paused { at } = *time else { return false };
        *time = Time::Runs { here: at, there: host };
        true
    }

    /// It is so much later, if it is paused. `false`: it is not.
    pub(in crate::runtime) fn advance(&self, by: Nanos) -> bool {
        let mut time = self.time();
        let Time::Paused { at } = *time else { return false };
        *time = Time::Paused { at: at.saturating_add(by) };
        true
    }

    /// It is `when`, if it is paused, and was earlier.
    pub(in crate::runtime) fn jump(&self, when: Nanos) {
        let mut time = self.time();
        if let Time::Paused { at } = *time
            && when != NEVER
        {
            *time = Time::Paused { at: at.max(when) };
        }
    }
}

impl Time {
    fn now(self, host: Nanos) -> Nanos {
        match self {
            // A host's time that was read before the pause ended may be earlier.
            Time::Runs { here, there } => here.saturating_add(host.saturating_sub(there)),
            Time::Paused { at } => at,
        }
    }

    fn on_host(self, when: Nanos) -> Nanos {
        match self {
            Time::Runs { here, there } => there.saturating_add(when.saturating_sub(here)).min(FAR),
            Time::Paused { at } if when <= at => 0,
            Time::Paused { .. } => FAR,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    mod a_clock {
        use super::*;

        #[test]
        fn that_was_never_paused_is_its_hosts() {
            let clock = Clock::new();
            assert_eq!((clock.now(5), clock.on_host(7), clock.on_host(NEVER)), (5, 7, NEVER));
            assert!(!clock.resume(5) && !clock.advance(1));
            clock.jump(9);
            assert_eq!(clock.now(6), 6);
        }

        #[test]
        fn stands_still_while_it_is_paused() {
            let clock = Clock::new();
            assert!(clock.pause(10) && !clock.pause(20));
            assert_eq!((clock.now(10), clock.now(1000)), (10, 10));
            assert!(clock.advance(5));
            assert_eq!((clock.now(30), clock.on_host(15), clock.on_host(16)), (15, 0, FAR));
            clock.jump(12); // no way back
            clock.jump(NEVER);
            assert_eq!(clock.now(30), 15);
            clock.jump(17);
            assert_eq!(clock.now(30), 17);
        }

        #[test]
        fn that_goes_on_is_ahead_of_its_host_or_behind() {
            let clock = Clock::new();
            clock.pause(10);
            clock.advance(100);
            assert!(clock.resume(20) && !clock.resume(20));
            assert_eq!((clock.now(20), clock.now(25)), (110, 115));
            assert_eq!((clock.on_host(115), clock.on_host(90), clock.on_host(NEVER)), (25, 20, NEVER));
            clock.pause(30);
            clock.resume(1000);
            assert_eq!((clock.now(1000), clock.on_host(121)), (120, 1001));
        }
    }
}
