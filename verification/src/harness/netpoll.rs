//! The smallest scheduler around `netpoll`: two timers that are words, a G that waits for a socket or not, idle Ps that
//! are a number under a lock. No M really waits: one that has claimed the poller and published until when has come to
//! rest.

use crate::hosts::model_host::{Cell, ModelHost};
use crate::mutation::variants::netpoll::Polling;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{Lock, NEVER, Nanos};
use spinpark_kernel::protocol::netpoll::{Neighbours, Netpoll, Poll};
use std::cell::Cell as StdCell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};

/// The smallest scheduler around the room.
pub struct Tiny<H: ModelHost, D> {
    /// The room.
    pub room: Netpoll<H>,
    /// When each timer is due.
    timers: Box<[Atomic<H, u64>]>,
    /// Does a G wait for a socket?
    awaited: Atomic<H, bool>,
    /// Was the poller interrupted, and has not seen it yet?
    interrupted: Atomic<H, bool>,
    /// What the poller uses: its buffer of events.
    buffer: H::Cell<u64>,
    central: H::Lock<Central>,
    polling: PhantomData<fn() -> D>,
}

/// Neighbours of the room that are plain values: what is to be waited for, and how often they were asked to act.
#[derive(Debug)]
pub struct StubNeighbours {
    /// The earliest timer.
    pub deadline: Nanos,
    /// Does a G wait for a socket?
    pub is_awaited: bool,
    /// How often the poller was interrupted.
    pub interrupts: StdCell<usize>,
    /// How often a spinning M was asked for.
    pub wakes: StdCell<usize>,
}

impl StubNeighbours {
    /// Nothing was asked of them.
    pub fn new(deadline: Nanos, is_awaited: bool) -> Self {
        StubNeighbours { deadline, is_awaited, interrupts: StdCell::new(0), wakes: StdCell::new(0) }
    }

    /// Is there anything to wait for?
    pub fn has_something(&self) -> bool {
        self.is_awaited || self.deadline != NEVER
    }
}

impl Neighbours for StubNeighbours {
    fn deadline(&self) -> Nanos {
        self.deadline
    }
    fn is_awaited(&self) -> bool {
        self.is_awaited
    }
    fn interrupt(&self) {
        self.interrupts.set(self.interrupts.get() + 1);
    }
    fn wakep(&self) {
        self.wakes.set(self.wakes.get() + 1);
    }
}

/// What is under the lock.
struct Central {
    /// How many Ps are idle.
    idle: u32,
    /// Is a spinning M asked for?
    asked: bool,
    /// How many Ms were given a P, to look for what there is.
    woken: u32,
}

/// How an M ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It has a P, and looks for work.
    Looks,
    /// It has a P, and runs a G for long.
    Busy,
    /// It sleeps.
    Asleep,
    /// It waits in the poller, until then.
    Waits(Nanos),
}

impl<H: ModelHost, D: Polling> Neighbours for Tiny<H, D> {
    fn deadline(&self) -> Nanos {
        // Relaxed: as the kernel's.
        self.timers.iter().map(|when| when.load(Relaxed)).min().unwrap_or(NEVER)
    }
    fn is_awaited(&self) -> bool {
        // Relaxed: the room's fences have to do.
        self.awaited.load(Relaxed)
    }
    fn interrupt(&self) {
        self.interrupted.swap(true, AcqRel);
    }
    fn wakep(&self) {
        self.central.with(|c| match c.idle.checked_sub(1) {
            Some(left) => (c.idle, c.woken) = (left, c.woken + 1),
            None => c.asked = true,
        });
    }
}

impl<H: ModelHost, D: Polling> Tiny<H, D> {
    /// With one timer, or [`NEVER`]. The parties hold the Ps.
    pub fn new(timer: Nanos) -> Arc<Self> {
        Self::with_timers(&[timer, NEVER])
    }

    /// With so many words for timers, some of which are there.
    pub fn with_timers(timers: &[Nanos]) -> Arc<Self> {
        Arc::new(Tiny {
            room: Netpoll::new(),
            timers: timers.iter().map(|when| Atomic::new(*when)).collect(),
            awaited: Atomic::new(false),
            interrupted: Atomic::new(false),
            buffer: Cell::new(0),
            central: H::Lock::new(Central { idle: 0, asked: false, woken: 0 }),
            polling: PhantomData,
        })
    }

    /// The second timer is there, due at `when`. An M with a P does no more than that.
    pub fn add(&self, when: Nanos) {
        self.set(1, when);
    }

    /// The timer of this index is due at `when` from now on.
    pub fn set(&self, index: usize, when: Nanos) {
        // Relaxed: as the kernel's.
        self.timers[index].store(when, Relaxed);
    }

    /// The first timer is gone.
    pub fn remove(&self) {
        self.put_off(NEVER);
    }

    /// The first timer is due at `when` now.
    pub fn put_off(&self, when: Nanos) {
        self.set(0, when);
    }

    /// The second timer is there, set by a thread without a P.
    pub fn add_from_outside(&self, when: Nanos) {
        self.set_from_outside(1, when);
    }

    /// The timer of this index is there, set by a thread without a P.
    pub fn set_from_outside(&self, index: usize, when: Nanos) {
        self.set(index, when);
        D::announce(&self.room, when, self);
    }

    /// A thread without a P begins to wait for a socket.
    pub fn awaits(&self) {
        // Relaxed: the room's fences have to do.
        self.awaited.store(true, Relaxed);
        D::announce(&self.room, NEVER, self);
    }

    /// An M that has a P has nothing to do. An M that waits so never comes back.
    pub fn goes_to_sleep(&self) -> End {
        self.idles().0
    }

    /// An M that has a P has nothing to do.
    pub fn idles(&self) -> (End, Option<Poll>) {
        let is_called = self.central.with(|c| {
            let is_called = std::mem::take(&mut c.asked);
            c.idle += u32::from(!is_called);
            is_called
        });
        if is_called { (End::Looks, None) } else { self.sleeps() }
    }

    /// The same of one that has none.
    fn sleeps(&self) -> (End, Option<Poll>) {
        let Some(poll) = D::claim(&self.room, self) else {
            return (if self.is_called() { End::Looks } else { End::Asleep }, None);
        };
        let until = D::prepare(&self.room, &poll, self);
        if self.is_called() {
            self.room.leave(poll, 1);
            return (End::Looks, None);
        }
        self.uses_the_poller();
        (End::Waits(until), Some(poll))
    }

    /// An M that has none, and does not sleep, takes an idle one. Was there one?
    pub fn takes_p(&self) -> bool {
        self.central.with(|c| {
            let left = c.idle.checked_sub(1);
            c.idle = left.unwrap_or(0);
            left.is_some()
        })
    }

    /// One waits, and no other M is there yet.
    ///
    /// # Panics
    /// If it may not.
    pub fn waits(&self) -> Poll {
        let poll = self.room.claim(self).expect("there is a timer, and no M waits");
        let _ = self.room.prepare(&poll, self);
        poll
    }

    /// One that waited does no longer: because a timer `is_due`, and it needs a P to serve it, or because it was interrupted.
    pub fn comes_back(&self, poll: Poll, is_due: bool) -> End {
        self.returns(poll, is_due).0
    }

    /// The same; it may wait again.
    pub fn returns(&self, poll: Poll, is_due: bool) -> (End, Option<Poll>) {
        self.uses_the_poller();
        self.interrupted.swap(false, AcqRel);
        D::comes_back(&self.room, poll, self);
        if !is_due {
            return self.sleeps();
        }
        // Without a P it sleeps, and does not claim the poller again.
        (if self.takes_p() || self.is_called() { End::Looks } else { End::Asleep }, None)
    }

    /// An M that has a P looks into the poller, and goes on.
    pub fn peeks(&self) -> bool {
        D::peek(&self.room, self, || {
            self.uses_the_poller();
            // What a look that does not wait sees, the next wait does not see again.
            self.interrupted.swap(false, AcqRel);
        })
    }

    /// An M hands its P on, and does not sleep. Does another M run it?
    pub fn hands_on(&self) -> bool {
        self.central.with(|c| {
            let is_run = std::mem::take(&mut c.asked) || D::is_missing(&self.room, self);
            if is_run {
                c.woken += 1;
            } else {
                c.idle += 1;
            }
            is_run
        })
    }

    fn is_called(&self) -> bool {
        self.central.with(|c| {
            let is_called = c.asked && c.idle > 0;
            if is_called {
                (c.asked, c.idle) = (false, c.idle - 1);
            }
            is_called
        })
    }

    fn uses_the_poller(&self) {
        let n = self.buffer.get();
        self.buffer.set(n + 1);
    }

    /// All parties have come to rest.
    ///
    /// # Panics
    /// If there is something to wait for, a P is idle, and no M looks, nor waits for it in time; or if two wait.
    pub fn check_at_rest(&self, ends: &[End]) -> String {
        let until: Vec<Nanos> =
            ends.iter().filter_map(|end| if let End::Waits(until) = end { Some(*until) } else { None }).collect();
        assert!(until.len() <= 1, "{} Ms wait in the poller", until.len());
        let (deadline, awaited) = (self.deadline(), self.is_awaited());
        let interrupted = self.interrupted.load(Relaxed);
        let (idle, woken) = self.central.with(|c| (c.idle, c.woken));
        let looks = woken > 0 || ends.contains(&End::Looks);
        let is_something = deadline != NEVER || awaited;
        let in_time = until.iter().any(|until| *until <= deadline || interrupted);
        assert!(
            !is_something || idle == 0 || looks || in_time,
            "a timer is due at {deadline}, or a socket is waited for ({awaited}), but no M looks, and there wait \
             {until:?}"
        );
        let is_told = self.room.neglected_since().is_none();
        assert!(is_told == (until.len() == 1), "those that wait are {until:?}, and the room says so: {is_told}");
        let interrupted = if interrupted { ", interrupted" } else { "" };
        format!("{ends:?}, woken {woken}{interrupted}")
    }
}
