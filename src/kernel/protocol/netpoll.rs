//! Who waits in the poller, and until when.
//!
//! Go: the end of `findRunnable`: `sched.lastpoll`, `sched.pollUntil`, `netpoll`; `wakeNetPoller`, `netpollBreak`; and
//! the poll duty of `sysmon`.
//!
//! **At most one thread is in the poller. While a timer runs or somebody waits for a socket, an M is awake, or one waits
//! in the poller, no longer than until the earliest timer.** So the last M that goes to sleep does it there.
//!
//! | who adds a timer, in [`announce`](Netpoll::announce) | who waits, in [`prepare`](Netpoll::prepare)  |
//! |------------------------------------------------------|----------------------------------------------|
//! | 1. the timer is there                                | 1. sets `who` and `until`                    |
//! | 2. StoreLoad                                         | 2. StoreLoad                                 |
//! | 3. reads `who`, `until`: interrupts, or wakes an M   | 3. reads the deadline again                  |
//!
//! Pair `timer/poll`. Whichever StoreLoad comes second, its thread sees what the other wrote. An interrupt that comes
//! before the wait is remembered (the poller's contract), so it does not matter where between 1 and the wait it comes.
//!
//! Who adds a timer and holds a P need not announce it: its M looks before it sleeps, in [`claim`](Netpoll::claim), and
//! says then what has to be said. (Go breaks the poll at once, which costs a system call for each timeout that is earlier
//! than those before.) If its G runs on for long, the monitor sees that the timer is due.
//!
//! Whoever leaves the poller has a StoreLoad of its own between saying so and looking for a P: who has not seen that the
//! poller is empty is seen by it, and by every M that idles a P after it.
//!
//! **Nobody eats what was meant for another** (golang/go #42515). A look without waiting, [`peek`](Netpoll::peek), and a
//! wait exclude each other; an M that would wait and finds somebody peeking leaves word and sleeps, and who peeked wakes
//! an M.
//!
//! Pair `poll`: what was done in the poller, with its buffers, before it was left comes before what is done there next.
//!
//! Checked by: verification/src/models/netpoll.rs, verification/src/models/whole.rs

use crate::atomic::{Atomic, store_load};
use crate::host::{Host, NEVER, Nanos};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Somebody waits in the poller. (Go: `lastpoll == 0`.)
const BLOCKED: u64 = 0;
/// Somebody looks, without waiting.
const PEEKING: u64 = 1;
/// The same, and an M that would have waited has gone to sleep instead.
const MISSED: u64 = 2;
/// From here on: nobody; it is the time of the last look.
const SINCE: u64 = 3;

/// Who is in the poller.
pub struct Netpoll<H: Host> {
    who: Atomic<H, u64>,
    /// Until when who waits will wait.
    until: Atomic<H, u64>,
}

/// The right to wait in the poller.
#[must_use = "who claims the poller has to leave it"]
#[derive(Debug)]
pub struct Poll(());

/// What this room asks of the rest of the scheduler.
pub trait Neighbours {
    /// When a source will have work by itself, the earliest.
    fn deadline(&self) -> Nanos;
    /// Does anybody wait for what the poller reports?
    fn is_awaited(&self) -> bool;
    /// Ends the wait that goes on, or the next.
    fn interrupt(&self);
    /// Makes sure that somebody looks for work, and so waits in the poller if there is none.
    fn wakep(&self);
}

impl<H: Host> Netpoll<H> {
    /// Nobody.
    #[track_caller]
    pub fn new() -> Self {
        Netpoll { who: Atomic::new(SINCE), until: Atomic::new(NEVER) }
    }

    /// An M without a P is about to sleep. `Some`: it has to wait in the poller instead.
    pub fn claim(&self, others: &impl Neighbours) -> Option<Poll> {
        let deadline = others.deadline();
        if deadline == NEVER && !others.is_awaited() {
            return None;
        }
        // `timer/poll`, adder's half, for timers that our Gs have added and not announced.
        store_load::<H>();
        loop {
            // Relaxed: the exchange below decides; or `timer/poll` came just before.
            let who = self.who.load(Relaxed);
            let mine = match who {
                BLOCKED => {
                    self.interrupt_if_later(deadline, others);
                    return None;
                }
                MISSED => return None,
                PEEKING => MISSED,
                _ => BLOCKED,
            };
            // Relaxed: `poll` is in the StoreLoad of `prepare`, which comes before the wait.
            if self.who.compare_exchange(who, mine, Relaxed, Relaxed).is_ok() {
                return (mine == BLOCKED).then_some(Poll(()));
            }
        }
    }

    /// Says until when the caller will wait, and returns it. Nothing that is due earlier can be added after this without
    /// an interrupt.
    pub fn prepare(&self, _poll: &Poll, others: &impl Neighbours) -> Nanos {
        let mut until = others.deadline();
        loop {
            // Relaxed: `timer/poll`.
            self.until.store(until, Relaxed);
            // `timer/poll`, waiter's half. The other half is in `announce`, and in `claim`.
            store_load::<H>();
            let now = others.deadline();
            if now >= until {
                return until;
            }
            until = now;
        }
    }

    /// The caller has waited. After this it has to look for a P, or to sleep without claiming the poller.
    pub fn leave(&self, poll: Poll, now: Nanos) {
        let Poll(()) = poll;
        // Release: `poll`.
        self.who.store(now.max(SINCE), Release);
        // `timer/poll`: who has read that we wait, and trusts us, has its timer seen by us, and by who comes after us.
        store_load::<H>();
    }

    /// Runs `look`, which must not wait, if nobody is in the poller. Go: `netpoll(0)`.
    pub fn peek(&self, others: &impl Neighbours, now: impl FnOnce() -> Nanos, look: impl FnOnce()) -> bool {
        // Relaxed: the exchange decides.
        let who = self.who.load(Relaxed);
        // Acquire: `poll`.
        if who < SINCE || self.who.compare_exchange(who, PEEKING, Acquire, Relaxed).is_err() {
            return false;
        }
        look();
        // Release: `poll`. Who missed us had a StoreLoad before it said so, and `wakep` has one.
        if self.who.swap(now().max(SINCE), Release) == MISSED {
            others.wakep();
        }
        true
    }

    /// A timer was added that is due at `when`, earlier than others, by somebody without a P. Or, with
    /// [`NEVER`], somebody without a P waits for a socket from now on. Go: `wakeNetPoller`.
    pub fn announce(&self, when: Nanos, others: &impl Neighbours) {
        // `timer/poll`, adder's half. The other half is in `prepare`.
        store_load::<H>();
        // Relaxed: `timer/poll` came just before.
        if self.who.load(Relaxed) == BLOCKED {
            self.interrupt_if_later(when, others);
        } else {
            others.wakep();
        }
    }

    /// Is there something to wait for, and nobody does so, nor in time? Asked under the scheduler's lock by who is about
    /// to idle a P without going to sleep itself; elsewhere a hint.
    pub fn is_missing(&self, others: &impl Neighbours) -> bool {
        let deadline = others.deadline();
        if deadline == NEVER && !others.is_awaited() {
            return false;
        }
        // `timer/poll`, adder's half, for timers that the P's Gs have added and not announced.
        store_load::<H>();
        // Relaxed: `timer/poll`. Who has left the poller, and found no P under the lock before us, is seen to have left.
        let is_blocked = self.who.load(Relaxed) == BLOCKED;
        // Relaxed: as above.
        !is_blocked || self.until.load(Relaxed) > deadline
    }

    /// Since when nobody has looked; `None`: somebody is in the poller. A hint.
    pub fn neglected_since(&self) -> Option<Nanos> {
        // Relaxed: a hint.
        Some(self.who.load(Relaxed)).filter(|&who| who >= SINCE)
    }

    /// Does somebody wait in the poller? Exact only for who excludes others from claiming it.
    pub fn is_blocked(&self) -> bool {
        // Relaxed: who claimed it before us has been under the lock since, or will look there before it waits.
        self.who.load(Relaxed) == BLOCKED
    }

    fn interrupt_if_later(&self, when: Nanos, others: &impl Neighbours) {
        // Relaxed: `timer/poll` came before.
        if self.until.load(Relaxed) > when {
            others.interrupt();
        }
    }
}

impl<H: Host> Default for Netpoll<H> {
    fn default() -> Self {
        Self::new()
    }
}

static_assertions::assert_not_impl_any!(Poll: Copy, Clone);
