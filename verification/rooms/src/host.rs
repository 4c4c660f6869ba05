//! What a room's programs need of a host: threads, moments, and whether a lock is held.

use kernel::host::{self, Host, Nanos, SpawnError};
use std::sync::atomic::Ordering;

/// A moment of a thread.
#[derive(Debug, Clone, Copy)]
pub enum Moment {
    /// In an execution graph.
    Graph(rc11::engine::Moment),
    /// What one counter of the machine said.
    Count(u64),
}

impl Moment {
    /// Has a call that ends at this moment ended before a call that begins at `other`?
    pub fn is_before(&self, other: &Moment) -> bool {
        // A thread that has done nothing is before no other: nothing of it can be known.
        !matches!(self, Moment::Graph(moment) if moment.events == 0) && self.is_seen(other)
    }

    /// Is what was done before this moment seen by what comes after `other`?
    pub fn is_seen(&self, other: &Moment) -> bool {
        match (self, other) {
            (Moment::Graph(one), Moment::Graph(other)) => one.is_known_at(other),
            (Moment::Count(one), Moment::Count(other)) => one < other,
            _ => unreachable!("two moments of one execution"),
        }
    }

    /// Is what a thread did between this moment and its next event before what comes after `other`?
    pub fn is_past(&self, other: &Moment) -> bool {
        match *self {
            Moment::Graph(one) => Moment::Graph(rc11::engine::Moment { events: one.events + 1, ..one }).is_seen(other),
            Moment::Count(_) => self.is_seen(other),
        }
    }

    /// This moment of the calling thread, as late as other threads can tell.
    pub fn at_the_latest(self) -> Self {
        match self {
            Moment::Graph(moment) => Moment::Graph(rc11::engine::at_the_latest(moment)),
            Moment::Count(_) => self,
        }
    }
}

/// The body of a thread.
pub type Body = Box<dyn FnOnce() + Send>;

/// A host on which a room's programs are played.
pub trait RoomHost: Host {
    /// The calling thread's moment.
    fn moment() -> Moment;
    /// The calling thread's number in this execution.
    fn me() -> usize;
    /// Does the calling thread hold a lock?
    fn holds_a_lock() -> bool;
    /// The host refuses so many threads from now on, if it can.
    fn refuse_spawns(_: u64) {}
    /// Starts a thread of the execution, which may be left asleep.
    fn start(body: Body);
}

/// Memory is RC11's, and each execution is explored once.
pub struct Rc11;

/// One word.
pub struct Word(rc11::engine::Word);

impl host::Word for Word {
    #[track_caller]
    fn new(value: u64) -> Self {
        Word(rc11::engine::Word::new(value))
    }
    #[track_caller]
    fn with_ordered_writes(self) -> Self {
        Word(self.0.with_ordered_writes())
    }
    #[track_caller]
    fn load(&self, order: Ordering) -> u64 {
        self.0.load(order)
    }
    #[track_caller]
    fn store(&self, value: u64, order: Ordering) {
        self.0.store(value, order);
    }
    #[track_caller]
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.0.swap(value, order)
    }
    #[track_caller]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.0.fetch_add(value, order)
    }
    #[track_caller]
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        self.0.compare_exchange(current, new, success, failure)
    }
}

/// A lock.
pub struct Lock<T>(rc11::engine::Lock<T>);

impl<T: Send + 'static> host::Lock<T> for Lock<T> {
    #[track_caller]
    fn new(value: T) -> Self {
        Lock(rc11::engine::Lock::new(value))
    }
    #[track_caller]
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        self.0.with(f)
    }
}

/// Where a thread sleeps.
pub struct Parker(rc11::engine::Parker);

impl host::Parker for Parker {
    fn new() -> Self {
        Parker(rc11::engine::Parker::new())
    }
    #[track_caller]
    fn park(&self) {
        self.0.park();
    }
    #[track_caller]
    fn park_timeout(&self, nanos: Nanos) {
        self.0.park_timeout(nanos);
    }
    #[track_caller]
    fn unpark(&self) {
        self.0.unpark();
    }
}

impl Host for Rc11 {
    type Word = Word;
    type Lock<T: Send + 'static> = Lock<T>;
    type Parker = Parker;

    #[track_caller]
    fn fence(order: Ordering) {
        rc11::engine::fence(order);
    }
    fn relax() {}
    #[track_caller]
    fn choose(n: usize) -> usize {
        rc11::engine::choose(n)
    }
    fn now() -> Nanos {
        rc11::engine::now()
    }
    #[track_caller]
    fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        // Boxed: what starts a thread is compiled once.
        let body: Body = Box::new(body);
        rc11::engine::spawn(name, body).map_err(|rc11::engine::Refused| SpawnError { os_error: None })
    }
}

impl RoomHost for Rc11 {
    fn moment() -> Moment {
        Moment::Graph(rc11::engine::moment())
    }
    fn me() -> usize {
        rc11::engine::me()
    }
    fn holds_a_lock() -> bool {
        rc11::engine::holds_a_lock()
    }
    fn refuse_spawns(n: u64) {
        rc11::engine::refuse_spawns(n);
    }
    #[track_caller]
    fn start(body: Body) {
        drop(rc11::engine::fork("client", body));
    }
}
