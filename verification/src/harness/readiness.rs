//! Sockets and a system's poller around [`spinpark_kernel::waits::readiness`] and [`spinpark_kernel::waits::sockets`]: a task that reads, one that
//! writes, the other end, and an M that polls; with the ways in which that may be wrong.
//!
//! What may be relied on of the system: a socket is under a lock of its own, and so are the reports. A socket reports each
//! change, or, armed, once. The notifier only reads if there is a notice.

use crate::harness::system::{Known, System};
use crate::hosts::model_host::{Cell, ModelHost};
use crate::mutation::mutant::is_variant;
use crate::mutation::variants::sockets as steps;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{Lock, Parker};
use spinpark_kernel::waits::bell::Bell;
use spinpark_kernel::waits::interrupt;
use spinpark_kernel::waits::readiness::{Direction, Interest, Refused, SLOTS, Waits};
use spinpark_kernel::waits::sockets::{Keyed, NotRegistered, Sockets};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The system's poller, and what an M keeps about it.
pub struct Net<H: ModelHost> {
    reports: H::Lock<Vec<(usize, Interest)>>,
    /// Is there a notice, that ends the next wait?
    notice: Atomic<H, bool>,
    parker: H::Parker,
    /// Which sockets it knows, and how many wait.
    pub sockets: Sockets<H, Known<H>, usize>,
    bells: Vec<Bell<H>>,
    /// What became of each task's waker, how often.
    ends: Vec<[H::Cell<u64>; 3]>,
    /// The M does not poll again.
    is_over: Atomic<H, bool>,
}

/// What becomes of a waker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its socket was reported.
    Reported,
    /// Its socket was forgotten.
    Forgotten,
    /// The runtime has ended.
    Closed,
}

/// A socket with an owner.
pub struct Socket<H: ModelHost> {
    /// What the system knows of it.
    pub system: Arc<System<H>>,
    /// What the poller knows of it.
    pub entry: Arc<Keyed<H, Known<H>, usize>>,
}

/// The task that reads.
pub const READER: usize = 0;
/// The task that writes.
pub const WRITER: usize = 1;
impl<H: ModelHost> Net<H> {
    /// A poller, and two tasks.
    pub fn new() -> Arc<Self> {
        Arc::new(Net {
            reports: H::Lock::new(Vec::new()),
            notice: Atomic::new(false),
            parker: H::Parker::new(),
            sockets: Sockets::new(),
            bells: (0..2).map(|_| Bell::new()).collect(),
            ends: (0..2).map(|_| [(); 3].map(|()| Cell::new(0))).collect(),
            is_over: Atomic::new(false),
        })
    }

    /// A socket that the poller knows, as the runtime registers it.
    pub fn register(self: &Arc<Self>, reports_changes: bool) -> Arc<Socket<H>> {
        let registered = self.try_register(&System::new(reports_changes), false);
        registered.unwrap_or_else(|why| unreachable!("none is closed, and the system has no limit: {why:?}"))
    }

    /// Makes this socket known; which the system may refuse, when it has [started](Sockets::register) already.
    pub fn try_register(
        self: &Arc<Self>,
        system: &Arc<System<H>>,
        refuses_to_start: bool,
    ) -> Result<Arc<Socket<H>>, NotRegistered<()>> {
        let add = |key| system.add(self, key);
        let start = |_: &Known<H>| if refuses_to_start { Err(()) } else { Ok(()) };
        let entry = steps::register(&self.sockets, !system.reports_changes, add, start)?;
        Ok(Arc::new(Socket { system: Arc::clone(system), entry }))
    }

    /// Forgets it, as the runtime does. Were those that waited for it the last?
    pub fn forget(&self, socket: &Socket<H>) -> bool {
        steps::forget(&self.sockets, &socket.entry, |waker| self.gives_up(waker, End::Forgotten))
    }

    /// The runtime ends. Did a task wait?
    pub fn close(&self) -> bool {
        steps::close(&self.sockets, |waker| {
            self.gives_up(waker, End::Closed);
            self.bells[waker].ring();
        })
    }

    /// One socket is forgotten, and another made, which gets its key.
    pub fn replace(self: &Arc<Self>, old: &Socket<H>) -> Arc<Socket<H>> {
        if is_variant("readiness-forgets-a-key-that-is-another's") {
            self.sockets.remove(&old.entry);
            let new = self.register(true);
            self.forget(old);
            return new;
        }
        self.forget(old);
        self.register(true)
    }

    /// The taker of this waker reports its end. One after the other, or two have it.
    fn becomes(&self, waker: usize, end: End) {
        let times = &self.ends[waker][end as usize];
        times.set(times.get() + 1);
    }

    /// The same, before it is counted down.
    fn gives_up(&self, waker: usize, end: End) {
        assert!(self.sockets.waiting().is_any(), "a waker is counted down before it is woken or dropped");
        self.becomes(waker, end);
    }

    /// What became of this task's waker. It was on a list once.
    pub fn end_of(&self, waker: usize) -> End {
        let times = [End::Reported, End::Forgotten, End::Closed].map(|end| (end, self.ends[waker][end as usize].get()));
        let mut ended = times.iter().filter(|&&(_, times)| times > 0);
        match (ended.next(), ended.next()) {
            (Some(&(end, 1)), None) => end,
            _ => panic!("a waker that was on a list once: {times:?}"),
        }
    }

    /// Was the task woken by the end?
    pub fn is_closed(&self, waker: usize) -> bool {
        self.ends[waker][End::Closed as usize].get() > 0
    }

    /// The system reports.
    pub(super) fn report(&self, key: usize, what: Interest) {
        self.reports.with(|reports| reports.push((key, what)));
        self.notify();
    }

    /// The system's: a notice, unless there is one.
    fn notify(&self) {
        // Relaxed: it orders nothing.
        if self.notice.compare_exchange(false, true, Relaxed, Relaxed).is_ok() {
            self.parker.unpark();
        }
    }

    /// The system's: waits for a notice.
    fn wait(&self) {
        self.parker.park();
        // Relaxed: as above.
        self.notice.swap(false, Relaxed);
    }

    /// Ends a wait.
    pub fn interrupt(&self) {
        interrupt::interrupt::<H, _>(|| self.notify());
    }

    /// Waits.
    pub fn wait_for_interrupt(&self) {
        interrupt::wait::<H, _>(|| self.wait());
    }

    /// The life of the M that polls.
    pub fn run_m(self: &Arc<Self>) {
        // Relaxed: the thread that sets it interrupts after it.
        while !self.is_over.load(Relaxed) {
            self.wait_for_interrupt();
            self.poll();
        }
    }

    /// Looks what is reported, and wakes.
    pub fn poll(&self) {
        let mut wakers = Vec::new();
        for (key, what) in self.reports.with(std::mem::take) {
            if let Some(entry) = self.sockets.get(key) {
                assert!(entry.take_ready(what, Interest::default(), &mut wakers).is_ok(), "the system always arms");
            }
        }
        wakers.iter().for_each(|&waker| self.becomes(waker, End::Reported));
        if is_variant("readiness-counts-down-before-it-wakes") {
            self.sockets.waiting().woken(wakers.len() as u64);
            return wakers.into_iter().for_each(|waker| self.bells[waker].ring());
        }
        let woken = wakers.len() as u64;
        wakers.into_iter().for_each(|waker| self.bells[waker].ring());
        self.sockets.waiting().woken(woken);
    }

    /// The M polls no more.
    pub fn is_over(&self) {
        // Relaxed: an interrupt brings it.
        self.is_over.store(true, Relaxed);
        self.interrupt();
    }

    /// One more waits. What announces that is the kernel's affair.
    fn counts(&self) {
        self.sockets.waiting().add();
    }

    /// A task waits until it is woken.
    pub fn sleep(&self, task: usize) {
        assert!(self.bells[task].wait(|| Ok::<(), ()>(())).is_ok(), "a task that never gives up");
    }

    /// No task waits, and none is counted.
    pub fn check_at_rest(&self) {
        assert!(self.sockets.waiting().count() == 0, "{} are counted that do not wait", self.sockets.waiting().count());
    }
}

impl<H: ModelHost> Socket<H> {
    /// See [`System::change`].
    pub fn change(&self, net: &Net<H>, direction: Direction) {
        self.system.change(net, direction);
    }

    /// Does it, if it would not block.
    fn attempt(&self, direction: Direction) -> bool {
        self.system.state.with(|state| match direction {
            Direction::Read => std::mem::take(&mut state.ready.read),
            Direction::Write => std::mem::take(&mut state.ready.write),
        })
    }

    /// A task does it, and waits until it does not block. How often it tried. `None`: the wait is over.
    pub fn io(&self, net: &Net<H>, direction: Direction, task: usize) -> Option<u64> {
        self.io_by(net, direction, task, Some(self.entry.next_id()))
    }

    /// The same by a function.
    pub fn poll_io(&self, net: &Net<H>, direction: Direction, task: usize) -> Option<u64> {
        self.io_by(net, direction, task, None)
    }

    /// One poll by a function, which is given up.
    pub fn poll_once(&self, net: &Net<H>, direction: Direction, task: usize) {
        let seen = self.entry.ticks(direction);
        _ = self.entry.wait(direction, None, task, seen, Self::wakes_the_same, || net.counts());
    }

    /// Are two wakers one task's? The wrong one has one place for all that poll by functions.
    fn wakes_the_same(one: &usize, other: &usize) -> bool {
        one == other || is_variant("readiness-one-place-for-all-polls")
    }

    fn io_by(&self, net: &Net<H>, direction: Direction, task: usize, id: Option<u64>) -> Option<u64> {
        let mut tries = 1;
        loop {
            let mut seen = self.entry.ticks(direction);
            if self.attempt(direction) {
                // One that was polled for another reason may still be on the list.
                if let (Some(id), true) = (id, tries > 1)
                    && self.entry.leave(direction, id).is_some()
                {
                    net.sockets.waiting().gave_up(1);
                }
                return Some(tries);
            }
            if is_variant("readiness-reads-the-tick-after-the-try") {
                seen = self.entry.ticks(direction);
            }
            match self.entry.wait(direction, id, task, seen, Self::wakes_the_same, || net.counts()) {
                Ok(Waits::Added | Waits::Replaced(_)) => {
                    net.sleep(task);
                    let waits = id.and_then(|id| self.entry.is_waiting(direction, id));
                    assert!(waits != Some(true), "a task was woken, and is on the list still");
                }
                Ok(Waits::Changed(_)) => (),
                Err(Refused::Closed(_)) => return None,
                Err(Refused::Arm((), _)) => unreachable!("the system always arms"),
            }
            tries += 1;
        }
    }

    /// A task that would block, and is on the list; the first of this socket.
    pub fn begin(&self, net: &Net<H>, direction: Direction, task: usize) {
        let (id, seen) = (self.entry.next_id(), self.entry.ticks(direction));
        let waits = self.entry.wait(direction, Some(id), task, seen, |a, b| a == b, || net.counts());
        assert!(matches!(waits, Ok(Waits::Added)), "nothing was reported yet");
    }

    /// What becomes of two tasks that wait, step by step: in which places, which is woken by what, and which are
    /// counted.
    pub fn step_by_step(&self, net: &Net<H>) {
        let (read, write) = (Direction::Read, Direction::Write);
        let wait = |direction, id, waker| {
            let mut is_first = None;
            let seen = self.entry.ticks(direction);
            let waits = self.entry.wait(
                direction,
                id,
                waker,
                seen,
                |a, b| a == b,
                || is_first = Some(net.sockets.waiting().add()),
            );
            match waits {
                Ok(Waits::Added) => ("added", is_first),
                Ok(Waits::Replaced(old)) => (if old == READER { "instead of the reader" } else { "instead" }, is_first),
                Ok(Waits::Changed(_)) => ("changed", is_first),
                Err(_) => ("refused", is_first),
            }
        };
        let arms = || self.system.state.with(|state| state.arms);
        let take = |what| {
            let mut wakers = Vec::new();
            // The report disarms.
            self.system.state.with(|state| state.armed = Interest::default());
            assert!(self.entry.take_ready(what, Interest::default(), &mut wakers).is_ok(), "the system always arms");
            net.sockets.waiting().woken(wakers.len() as u64);
            wakers
        };
        let refuse = || self.system.refuse();
        if !self.system.reports_changes {
            // Refused, no task waits; and the next one asks again.
            refuse();
            assert_eq!(wait(read, None, READER), ("refused", Some(true)));
            assert!(net.sockets.waiting().gave_up(1), "no task waits");
            assert_eq!((wait(read, None, READER), arms()), (("added", Some(true)), 1));
            assert_eq!((wait(write, None, WRITER), arms()), (("added", Some(false)), 2));
            // Refused to the poller, all are woken.
            refuse();
            let mut wakers = Vec::new();
            let taken = self.entry.take_ready(Interest { read: true, write: false }, Interest::default(), &mut wakers);
            assert_eq!((taken, &wakers[..]), (Err(()), &[READER, WRITER][..]));
            net.sockets.waiting().woken(2);
        }
        // By functions each task has one place; one more than there are takes that of the oldest, and is counted in its stead.
        assert_eq!(wait(read, None, READER), ("added", Some(true)));
        assert_eq!(wait(read, None, WRITER), ("added", Some(false)));
        assert_eq!(wait(read, None, WRITER), ("instead", None));
        let so_far = arms();
        let more = WRITER + 1..WRITER + SLOTS;
        more.clone().skip(1).for_each(|task| assert_eq!(wait(read, None, task), ("added", Some(false))));
        assert_eq!(wait(read, None, more.start), ("instead of the reader", None));
        assert_eq!(arms(), so_far, "it was armed for that already");
        let woken: Vec<usize> = [WRITER].into_iter().chain(more.clone().skip(1)).chain([more.start]).collect();
        assert_eq!(take(Interest { read: true, write: false }), woken);
        let armed = self.system.state.with(|state| state.armed);
        assert_eq!(armed, Interest::default(), "no task waits, and it is armed");
        // In a place of its own one changes its waker.
        let (id, other) = (self.entry.next_id(), self.entry.next_id());
        assert_eq!(wait(read, Some(id), READER), ("added", Some(true)));
        assert_eq!(wait(read, Some(other), READER), ("added", Some(false)));
        assert_eq!(wait(read, Some(id), WRITER), ("instead of the reader", None));
        assert_eq!(wait(write, Some(id), WRITER), ("added", Some(false)));
        let so_far = arms();
        assert_eq!(wait(write, None, READER), ("added", Some(false)));
        assert_eq!(arms(), so_far, "it was armed for both already");
        assert_eq!(take(Interest { read: false, write: true }), [WRITER, READER]);
        assert_eq!(wait(write, Some(id), WRITER), ("added", Some(false)));
        assert_eq!(self.entry.is_waiting(read, id), Some(true));
        assert_eq!(take(Interest { read: false, write: true }), [WRITER], "a report is for one direction");
        assert_eq!(self.entry.is_waiting(write, id), Some(false));
        assert_eq!(self.entry.leave(read, other), Some(READER));
        assert!(!net.sockets.waiting().gave_up(0) && !net.sockets.waiting().gave_up(1), "one waits still");
        assert_eq!(self.entry.is_waiting(read, other), Some(false));
        assert_eq!(self.entry.is_waiting(read, id), Some(true));
        // What was reported since the try is worth another.
        let seen = self.entry.ticks(write);
        assert_eq!(take(Interest { read: false, write: true }), [0; 0]);
        assert!(self.entry.ticks(write) > seen, "a report is not counted");
        assert_eq!(self.entry.is_armed_each_time(), !self.system.reports_changes);
        assert_eq!(self.entry.with_source(|_| ()), Some(()));
        assert_eq!(wait(write, Some(other), READER), ("added", Some(false)));
    }

    /// The end of the two that wait [then](Socket::step_by_step): the socket's, or the runtime's.
    pub fn ends(&self, net: &Net<H>, is_forgotten: bool) {
        let mut wakers = Vec::new();
        match is_forgotten {
            true => self.entry.forget(&mut wakers),
            false => self.entry.close(&mut wakers),
        }
        assert_eq!(wakers, [WRITER, READER], "those that waited");
        assert!(net.sockets.waiting().gave_up(2), "they were the last");
        let is_known = self.system.is_known();
        assert!(is_known != is_forgotten, "is the socket known to the system: {is_known}");
        assert_eq!(self.entry.is_waiting(Direction::Read, 0), (is_forgotten).then_some(false));
    }

    /// A task that tries once, waits, and gives up. Was it reported meanwhile?
    pub fn give_up(&self, net: &Net<H>, task: usize) -> bool {
        let id = self.entry.next_id();
        let seen = self.entry.ticks(Direction::Read);
        if self.attempt(Direction::Read) {
            return true;
        }
        let waits = self.entry.wait(Direction::Read, Some(id), task, seen, |a, b| a == b, || net.counts());
        assert!(!matches!(waits, Ok(Waits::Replaced(_))), "a task has taken the place of another");
        let waits = matches!(waits, Ok(Waits::Added));
        let gave_up = self.entry.leave(Direction::Read, id).is_some();
        if gave_up {
            net.sockets.waiting().gave_up(1);
        }
        waits && !gave_up
    }
}
