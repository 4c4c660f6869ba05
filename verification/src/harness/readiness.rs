//! Sockets and a system's poller around [`spinpark::waits::readiness`]: a task that reads, one that writes, the other end, and an M
//! that polls; with the ways in which that may be wrong.
//!
//! What may be relied on of the system: a socket is under a lock of its own, and so are the reports. A socket reports each
//! change, or, armed, once. Who notifies only reads if there is a notice.

use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::is_variant;
use spinpark::atomic::Atomic;
use spinpark::host::{Lock, Parker};
use spinpark::waits::bell::Bell;
use spinpark::waits::interrupt;
use spinpark::waits::readiness::{Direction, Entry, Interest, Refused, Source, Waiting, Waits};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The system's poller, and what an M keeps about it.
pub struct Net<H: ModelHost> {
    reports: H::Lock<Vec<(usize, Interest)>>,
    /// Is there a notice, that ends the next wait?
    notice: Atomic<H, bool>,
    parker: H::Parker,
    /// Which entry has which key.
    entries: H::Lock<Vec<Option<Arc<Socket<H>>>>>,
    /// How many wait.
    pub waiting: Waiting<H>,
    bells: Vec<Bell<H>>,
    /// The M does not poll again.
    is_over: Atomic<H, bool>,
}

/// A socket that somebody has.
pub struct Socket<H: ModelHost> {
    key: usize,
    system: Arc<System<H>>,
    entry: Entry<H, Known<H>, usize>,
}

/// A socket as the system has it.
struct System<H: ModelHost> {
    state: H::Lock<SystemState>,
    reports_changes: bool,
}

#[derive(Default)]
struct SystemState {
    /// What can be done: something can be read, something written.
    ready: Interest,
    /// What is reported once, where it has to be armed.
    armed: Interest,
    /// How often it was armed.
    arms: u64,
    /// It refuses to be armed, once.
    refuses: bool,
    /// The system's poller knows it, as this.
    key: Option<usize>,
}

/// What the poller knows of a socket.
struct Known<H: ModelHost> {
    system: Arc<System<H>>,
    net: Arc<Net<H>>,
}

/// The task that reads.
pub const READER: usize = 0;
/// The task that writes.
pub const WRITER: usize = 1;
/// Where the poller arms, the M is the thread that a model starts with.
const M: usize = 0;

impl<H: ModelHost> Net<H> {
    /// A poller, and two tasks.
    pub fn new() -> Arc<Self> {
        Arc::new(Net {
            reports: H::Lock::new(Vec::new()),
            notice: Atomic::new(false),
            parker: H::Parker::new(),
            entries: H::Lock::new(Vec::new()),
            waiting: Waiting::new(),
            bells: (0..2).map(|_| Bell::new()).collect(),
            is_over: Atomic::new(false),
        })
    }

    /// A socket that the poller knows, as the runtime registers it.
    pub fn register(self: &Arc<Self>, reports_changes: bool) -> Arc<Socket<H>> {
        let system = Arc::new(System { state: H::Lock::new(SystemState::default()), reports_changes });
        let socket = self.entries.with(|entries| {
            let key = entries.iter().position(Option::is_none).unwrap_or(entries.len());
            let socket = Arc::new(Socket { key, system: Arc::clone(&system), entry: Entry::new(!reports_changes) });
            entries.resize(entries.len().max(key + 1), None);
            entries[key] = Some(Arc::clone(&socket));
            socket
        });
        system.state.with(|state| state.key = Some(socket.key));
        socket.entry.open(Known { system, net: Arc::clone(self) });
        socket
    }

    /// Forgets it, as the runtime does.
    pub fn forget(&self, socket: &Socket<H>) {
        self.entries.with(|entries| entries[socket.key] = None);
        let mut wakers = Vec::new();
        socket.entry.forget(&mut wakers);
        self.waiting.gave_up(wakers.len() as u64);
    }

    /// One socket is forgotten, and another made, which gets its key.
    pub fn replace(self: &Arc<Self>, old: &Socket<H>) -> Arc<Socket<H>> {
        if !is_variant("readiness-forgets-a-key-that-is-another's") {
            self.forget(old);
            return self.register(true);
        }
        self.entries.with(|entries| entries[old.key] = None);
        let new = self.register(true);
        self.forget(old);
        new
    }

    /// The system reports.
    fn report(&self, key: usize, what: Interest) {
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
        // Relaxed: whoever says so interrupts.
        while !self.is_over.load(Relaxed) {
            self.wait_for_interrupt();
            self.poll();
        }
    }

    /// Looks what is reported, and wakes.
    pub fn poll(&self) {
        let mut wakers = Vec::new();
        for (key, what) in self.reports.with(std::mem::take) {
            let socket = self.entries.with(|entries| entries.get(key).cloned().flatten());
            if let Some(socket) = socket {
                assert!(
                    socket.entry.take_ready(what, Interest::default(), &mut wakers).is_ok(),
                    "the system always arms"
                );
            }
        }
        if is_variant("readiness-counts-down-before-it-wakes") {
            self.waiting.woken(wakers.len() as u64);
            return wakers.into_iter().for_each(|waker| self.bells[waker].ring());
        }
        let woken = wakers.len() as u64;
        wakers.into_iter().for_each(|waker| self.bells[waker].ring());
        self.waiting.woken(woken);
    }

    /// The M polls no more.
    pub fn is_over(&self) {
        // Relaxed: an interrupt brings it.
        self.is_over.store(true, Relaxed);
        self.interrupt();
    }

    /// One more waits. What announces that is the kernel's affair.
    fn counts(&self) {
        self.waiting.add();
    }

    /// A task waits until it is woken.
    pub fn sleep(&self, task: usize) {
        assert!(self.bells[task].wait(|| Ok::<(), ()>(())).is_ok(), "a task that never gives up");
    }

    /// Nobody waits, and nobody is counted.
    pub fn check_at_rest(&self) {
        assert!(self.waiting.count() == 0, "{} are counted that do not wait", self.waiting.count());
    }
}

impl<H: ModelHost> Source for Known<H> {
    type Error = ();

    fn arm(&self, interest: Interest) -> Result<(), ()> {
        if is_variant("readiness-the-poller-arms-nothing") && H::me() == M {
            return Ok(());
        }
        assert!(!self.system.reports_changes, "a socket that reports all changes is armed");
        let due = self.system.state.with(|state| {
            if std::mem::take(&mut state.refuses) {
                return Err(());
            }
            state.armed = interest;
            state.arms += 1;
            Ok(state.take_report(false))
        })?;
        due.into_iter().for_each(|(key, what)| self.net.report(key, what));
        Ok(())
    }
}

impl<H: ModelHost> Drop for Known<H> {
    fn drop(&mut self) {
        // An execution that has failed is over: its locks are nobody's any more.
        if !std::thread::panicking() {
            self.system.state.with(|state| state.key = None);
        }
    }
}

impl SystemState {
    /// What is to be reported of what is so.
    fn take_report(&mut self, reports_changes: bool) -> Option<(usize, Interest)> {
        let Interest { read, write } = self.ready;
        let what = match reports_changes {
            true => self.ready,
            false => Interest { read: read && self.armed.read, write: write && self.armed.write },
        };
        let key = self.key.filter(|_| what != Interest::default())?;
        self.armed = Interest::default();
        Some((key, what))
    }
}

impl<H: ModelHost> Socket<H> {
    /// The other end sends, or takes: something can be done in this direction.
    pub fn change(&self, net: &Net<H>, direction: Direction) {
        let due = self.system.state.with(|state| {
            match direction {
                Direction::Read => state.ready.read = true,
                Direction::Write => state.ready.write = true,
            }
            state.take_report(self.system.reports_changes)
        });
        due.into_iter().for_each(|(key, what)| net.report(key, what));
    }

    /// Does it, if it would not block.
    fn attempt(&self, direction: Direction) -> bool {
        self.system.state.with(|state| match direction {
            Direction::Read => std::mem::take(&mut state.ready.read),
            Direction::Write => std::mem::take(&mut state.ready.write),
        })
    }

    /// A task does it, and waits until it does not block. How often it tried. `None`: nobody waits any more.
    pub fn io(&self, net: &Net<H>, direction: Direction, task: usize) -> Option<u64> {
        let id = Some(self.entry.next_id());
        let mut tries = 1;
        loop {
            let mut seen = self.entry.ticks(direction);
            if self.attempt(direction) {
                // One that was polled for another reason may still be on the list.
                if let (Some(id), true) = (id, tries > 1)
                    && self.entry.leave(direction, id).is_some()
                {
                    net.waiting.gave_up(1);
                }
                return Some(tries);
            }
            if is_variant("readiness-reads-the-tick-after-the-try") {
                seen = self.entry.ticks(direction);
            }
            match self.entry.wait(direction, id, task, seen, |a, b| a == b, || net.counts()) {
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

    /// A task that would block, and is on the list.
    pub fn begin(&self, net: &Net<H>, direction: Direction, task: usize) {
        let seen = self.entry.ticks(direction);
        let waits = self.entry.wait(direction, None, task, seen, |a, b| a == b, || net.counts());
        assert!(matches!(waits, Ok(Waits::Added)), "nothing was reported yet");
    }

    /// What becomes of two tasks that wait, step by step: in which places, who is woken by what, and who is counted.
    pub fn step_by_step(&self, net: &Net<H>) {
        let (read, write) = (Direction::Read, Direction::Write);
        let wait = |direction, id, waker| {
            let mut is_first = None;
            let seen = self.entry.ticks(direction);
            let waits =
                self.entry.wait(direction, id, waker, seen, |a, b| a == b, || is_first = Some(net.waiting.add()));
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
            net.waiting.woken(wakers.len() as u64);
            wakers
        };
        let refuse = || self.system.state.with(|state| state.refuses = true);
        if !self.system.reports_changes {
            // Refused, nobody waits; and who comes next asks again.
            refuse();
            assert_eq!(wait(read, None, READER), ("refused", Some(true)));
            assert!(net.waiting.gave_up(1), "nobody waits");
            assert_eq!((wait(read, None, READER), arms()), (("added", Some(true)), 1));
            assert_eq!((wait(write, None, WRITER), arms()), (("added", Some(false)), 2));
            // Refused to the poller, all are woken.
            refuse();
            let mut wakers = Vec::new();
            let taken = self.entry.take_ready(Interest { read: true, write: false }, Interest::default(), &mut wakers);
            assert_eq!((taken, &wakers[..]), (Err(()), &[READER, WRITER][..]));
            net.waiting.woken(2);
        }
        // Without a place of its own one is there once, under each of its wakers.
        assert_eq!(wait(read, None, READER), ("added", Some(true)));
        assert_eq!(wait(read, None, READER), ("instead of the reader", None));
        let so_far = arms();
        assert_eq!(wait(read, None, WRITER), ("added", Some(false)));
        assert_eq!(arms(), so_far, "it was armed for that already");
        assert_eq!(take(Interest { read: true, write: false }), [READER, WRITER]);
        let armed = self.system.state.with(|state| state.armed);
        assert_eq!(armed, Interest::default(), "nobody waits, and it is armed");
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
        assert!(!net.waiting.gave_up(0) && !net.waiting.gave_up(1), "one waits still");
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
        assert!(net.waiting.gave_up(2), "they were the last");
        let is_known = self.system.state.with(|state| state.key.is_some());
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
            net.waiting.gave_up(1);
        }
        waits && !gave_up
    }

    /// Nobody waits for it any more.
    pub fn close(&self, net: &Net<H>) {
        let mut wakers = Vec::new();
        self.entry.close(&mut wakers);
        let woken = wakers.len() as u64;
        wakers.into_iter().for_each(|waker| net.bells[waker].ring());
        net.waiting.gave_up(woken);
    }
}
