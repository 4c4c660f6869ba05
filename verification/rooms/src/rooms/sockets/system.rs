//! What may be relied on of the system: all is under one lock. A socket reports each change, or, armed, once; at once if it is ready already.

use crate::host::RoomHost;
use kernel::host::Lock as _;
use kernel::waits::readiness::{Direction, Interest, Source};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Both directions, by number.
pub const BOTH: [Direction; 2] = [Direction::Read, Direction::Write];

/// By direction.
pub type Both = [bool; 2];

/// The same for the kernel.
pub fn interest([read, write]: Both) -> Interest {
    Interest { read, write }
}

/// A socket.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Socket {
    /// What can be done.
    pub ready: Both,
    armed: Both,
    /// How often it was armed.
    arms: usize,
    /// The key by which it is reported, and how many times it had one before.
    key: Option<(usize, usize)>,
    keys: usize,
}

/// All sockets, and what is reported.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// Has each to be armed for each report?
    is_armed_each_time: bool,
    /// Each that there is.
    pub sockets: [Socket; 3],
    /// What is reported of which key, and was not looked at.
    reports: VecDeque<(usize, Both)>,
    /// What comes next is refused.
    pub refuses: bool,
}

impl State {
    /// No socket is known.
    pub fn new(is_armed_each_time: bool) -> Self {
        State { is_armed_each_time, sockets: Default::default(), reports: VecDeque::new(), refuses: false }
    }

    fn report(&mut self, socket: usize) {
        let of = &mut self.sockets[socket];
        let is_due = |at: usize| of.ready[at] && (of.armed[at] || !self.is_armed_each_time);
        let what = [is_due(0), is_due(1)];
        if let Some((key, _)) = of.key.filter(|_| what != [false; 2]) {
            of.armed = [false; 2];
            self.reports.push_back((key, what));
        }
    }

    /// The other end sends, or takes. How often it was armed so far.
    pub fn change(&mut self, socket: usize, at: usize) -> usize {
        self.sockets[socket].ready[at] = true;
        self.report(socket);
        self.sockets[socket].arms
    }

    /// Does it, if it would not block.
    pub fn attempt(&mut self, socket: usize, at: usize) -> bool {
        std::mem::take(&mut self.sockets[socket].ready[at])
    }

    fn is_let(&mut self) -> Result<(), ()> {
        if std::mem::take(&mut self.refuses) { Err(()) } else { Ok(()) }
    }

    /// What `interest` asks for is reported once.
    pub(super) fn arm(&mut self, socket: usize, interest: Both) -> Result<(), ()> {
        self.is_let()?;
        self.sockets[socket].armed = interest;
        self.sockets[socket].arms += 1;
        self.report(socket);
        Ok(())
    }

    /// Knows it by this key. Which time that is.
    pub(super) fn add(&mut self, socket: usize, key: usize) -> Result<usize, ()> {
        self.is_let()?;
        let of = &mut self.sockets[socket];
        (of.key, of.armed) = (Some((key, of.keys)), [false; 2]);
        of.keys += 1;
        Ok(of.keys - 1)
    }

    /// Forgets the socket that was known that time.
    pub fn forget(&mut self, socket: usize, nth: usize) {
        let key = &mut self.sockets[socket].key;
        *key = key.filter(|(_, known)| *known != nth);
    }

    /// The oldest report.
    pub(super) fn next(&mut self) -> Option<(usize, Both)> {
        self.reports.pop_front()
    }

    /// Is there one for this direction of this key?
    pub fn is_reported(&self, key: usize, at: usize) -> bool {
        self.reports.iter().any(|(other, what)| *other == key && what[at])
    }
}

/// The system on a host.
pub struct System<H: RoomHost>(H::Lock<State>);

impl<H: RoomHost> System<H> {
    /// See [`State::new`].
    pub fn new(is_armed_each_time: bool) -> Arc<Self> {
        Arc::new(System(H::Lock::new(State::new(is_armed_each_time))))
    }

    /// Under its lock.
    pub fn with<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        self.0.with(f)
    }
}

/// What the poller knows of a socket. Dropped, the system reports it no more.
pub struct Known<H: RoomHost> {
    /// The system.
    pub system: Arc<System<H>>,
    /// Which socket.
    pub socket: usize,
    /// Which time it is known.
    pub nth: usize,
    /// The system has forgotten it by itself. Of the threads that have a share, the last is another each time.
    pub is_gone: AtomicBool,
}

impl<H: RoomHost> Source for Known<H> {
    type Error = ();

    fn arm(&self, interest: Interest) -> Result<(), ()> {
        self.system.with(|state| {
            assert!(state.is_armed_each_time, "a socket that reports all changes is armed");
            state.arm(self.socket, [interest.read, interest.write])
        })
    }
}

impl<H: RoomHost> Drop for Known<H> {
    fn drop(&mut self) {
        // An execution that is cut off unwinds its threads: its locks have no owner any more.
        if !std::thread::panicking() && !self.is_gone.load(Relaxed) {
            self.system.with(|state| state.forget(self.socket, self.nth));
        }
    }
}
