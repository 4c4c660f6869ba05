//! Which M waits in the poller, and until when.
//!
//! Go: the end of `findRunnable`: `sched.lastpoll`, `sched.pollUntil`, `netpoll`; `wakeNetPoller`, `netpollBreak`; and
//! the poll duty of `sysmon`.
//!
//! **At most one thread is in the poller. While a timer runs or a task waits for a socket, an M is awake, or one waits
//! in the poller, no longer than until the earliest timer.** So the last M that goes to sleep does it there.
//!
//! | a thread adds a timer, in [`announce`](Netpoll::announce) | an M waits, in [`prepare`](Netpoll::prepare) |
//! |-----------------------------------------------------------|----------------------------------------------|
//! | 1. the timer is there                                     | 1. sets `who` and `until`                    |
//! | 2. StoreLoad                                              | 2. StoreLoad                                 |
//! | 3. reads `who`, `until`: interrupts, or wakes an M        | 3. reads the deadline again                  |
//!
//! Pair `timer/poll`. Whichever StoreLoad comes second, its thread sees what the other wrote. An interrupt that comes
//! before the wait is remembered (the poller's contract), so it does not matter where between 1 and the wait it comes.
//!
//! A thread that adds a timer and holds a P need not announce it: its M reads the deadline before it sleeps, in
//! [`claim`](Netpoll::claim), and interrupts the poller then if need be. (Go breaks the poll at once, which costs a system call
//! for each timeout that is earlier than those before.) If its G is CPU-bound, the monitor sees that the timer is due.
//!
//! An M that leaves the poller has a StoreLoad of its own between setting `who` and looking for a P: a timer whose adder still
//! read that an M waits is seen by the M that has left, and by every M that idles a P after it.
//!
//! **No thread takes an event that was meant for another** (golang/go #42515). A scan without waiting, [`peek`](Netpoll::peek),
//! and a wait exclude each other; an M that would wait while a thread peeks sets `MISSED` and sleeps, and the thread that
//! peeked wakes an M.
//!
//! Pair `poll`: what a thread did in the poller, with its buffers, before it left comes before what the next one does there.
//!
//! Checked by: verification/rooms/src/rooms/netpoll.rs, verification/src/models/whole.rs

use crate::atomic::{Atomic, store_load};
use crate::host::{Host, NEVER, Nanos};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// An M waits in the poller. (Go: `lastpoll == 0`.)
const BLOCKED: u64 = 0;
/// A thread peeks into it, without waiting.
const PEEKING: u64 = 1;
/// The same, and an M that would have waited has gone to sleep instead.
const MISSED: u64 = 2;
/// From here on: the poller is empty; it is the time of the last poll.
const SINCE: u64 = 3;

/// The thread in the poller.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::protocol::netpoll::{Neighbours, Netpoll};
/// #[derive(Default)]
/// struct Timer { due: AtomicU64, interrupts: AtomicU64 } // what the rest of the scheduler says
/// impl Neighbours for Timer {
///     fn deadline(&self) -> Nanos { self.due.load(Ordering::SeqCst) }
///     fn is_awaited(&self) -> bool { false }
///     fn interrupt(&self) { self.interrupts.fetch_add(1, Ordering::SeqCst); }
///     fn wakep(&self) {}
/// }
/// let (netpoll, timer) = (Netpoll::<Os>::new(), Timer { due: AtomicU64::new(900), ..Timer::default() });
/// assert!(netpoll.is_missing(&timer)); // no M waits for it
/// let poll = netpoll.claim(&timer).expect("there is a timer to wait for");
/// assert_eq!(netpoll.prepare(&poll, &timer), 900);
/// assert!(netpoll.claim(&timer).is_none()); // one M waits, no more
/// assert!(netpoll.is_blocked() && netpoll.neglected_since().is_none());
/// assert!(!netpoll.peek(&timer, || 0, || panic!("it is in use")));
///
/// timer.due.store(500, Ordering::SeqCst);
/// netpoll.announce(500, &timer); // earlier: the M wakes
/// assert_eq!(timer.interrupts.load(Ordering::SeqCst), 1);
/// netpoll.leave(poll, 400);
/// assert_eq!(netpoll.neglected_since(), Some(400));
/// # }
/// ```
pub struct Netpoll<H: Host> {
    who: Atomic<H, u64>,
    /// Until when the M in the poller will wait.
    until: Atomic<H, u64>,
}

/// The right to wait in the poller.
#[must_use = "an M that claims the poller has to leave it"]
#[derive(Debug)]
pub struct Poll(());

/// What this room asks of the rest of the scheduler.
pub trait Neighbours {
    /// When a source will have work by itself, the earliest.
    fn deadline(&self) -> Nanos;
    /// Does a task wait for what the poller reports?
    fn is_awaited(&self) -> bool;
    /// Ends the current wait, or the next.
    fn interrupt(&self);
    /// Makes sure that an M looks for work, and so waits in the poller if there is none.
    fn wakep(&self);
}

impl<H: Host> Netpoll<H> {
    /// The poller is empty.
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

    /// Sets until when the caller will wait, and returns it. No timer that is due earlier can be added after this without
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
        // `timer/poll`: the timer of a thread that has read that we wait is seen by us, and by every M after us.
        store_load::<H>();
    }

    /// Runs `look`, which must not wait, if no thread is in the poller. Go: `netpoll(0)`.
    pub fn peek(&self, others: &impl Neighbours, now: impl FnOnce() -> Nanos, look: impl FnOnce()) -> bool {
        // Relaxed: the exchange decides.
        let who = self.who.load(Relaxed);
        // Acquire: `poll`.
        if who < SINCE || self.who.compare_exchange(who, PEEKING, Acquire, Relaxed).is_err() {
            return false;
        }
        look();
        // Release: `poll`. The M that set `MISSED` had a StoreLoad before it, and `wakep` has one.
        if self.who.swap(now().max(SINCE), Release) == MISSED {
            others.wakep();
        }
        true
    }

    /// A thread without a P has added a timer that is due at `when`, earlier than others. Or, with [`NEVER`], it waits for
    /// a socket from now on. Go: `wakeNetPoller`.
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

    /// Is there a timer or a socket to wait for, and no M that waits, or none in time? Asked under the scheduler's lock by an
    /// M that is about to idle a P without going to sleep itself; elsewhere a hint.
    pub fn is_missing(&self, others: &impl Neighbours) -> bool {
        let deadline = others.deadline();
        if deadline == NEVER && !others.is_awaited() {
            return false;
        }
        // `timer/poll`, adder's half, for timers that the P's Gs have added and not announced.
        store_load::<H>();
        // Relaxed: `timer/poll`. An M that has left the poller, and found no P under the lock before us, is seen to have left.
        let is_blocked = self.who.load(Relaxed) == BLOCKED;
        // Relaxed: as above.
        !is_blocked || self.until.load(Relaxed) > deadline
    }

    /// Since when the poller was not polled; `None`: a thread is in it. A hint.
    pub fn neglected_since(&self) -> Option<Nanos> {
        // Relaxed: a hint.
        Some(self.who.load(Relaxed)).filter(|&who| who >= SINCE)
    }

    /// Does an M wait in the poller? Exact only for a caller that excludes others from claiming it.
    pub fn is_blocked(&self) -> bool {
        // Relaxed: an M that claimed it before us has entered the lock since, or will enter it before it waits.
        self.who.load(Relaxed) == BLOCKED
    }

    fn interrupt_if_later(&self, when: Nanos, others: &impl Neighbours) {
        // Relaxed: `timer/poll` came before.
        if self.until.load(Relaxed) > when {
            others.interrupt();
        }
    }
}

static_assertions::assert_not_impl_any!(Poll: Copy, Clone);
