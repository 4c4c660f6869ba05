//! Places outside of the kernel where Gs become runnable: a poller, timers.
//!
//! Go: what `findRunnable` asks besides queues: `netpoll`, `p.timers`; and what makes it look again: `wakeNetPoller`,
//! `netpollBreak`.
//!
//! **The contract.** A source that gets work wakes the scheduler, after the work can be seen: [`Waker::wake`]. Then an M
//! spins, as for a G in a queue: it is the third column of `work/spinning`.
//!
//! | a source                                | a spinning M that retires, in `spinning::retire` |
//! |-----------------------------------------|-----------------------------------------------|
//! | 1. has work: [`has_work`] is true       | 1. leaves `nmspinning`                        |
//! | 2. StoreLoad, in [`Waker::wake`]        | 2. StoreLoad                                  |
//! | 3. reads `nmspinning`                   | 3. asks `has_work`                            |
//!
//! A source without a waker would be missed (golang/go #60693, #14179). It cannot be added: it is made from a waker,
//! and has to show that one. `find`, `handoff`, and a spinning M that retires ask the same sources.
//!
//! [`has_work`]: WorkSource::has_work
//!
//! Checked by: verification/src/models/work_source.rs, proptests/tests/work_source.rs

use crate::host::{NEVER, Nanos};
use crate::types::g::G;
use crate::types::p::PId;
use alloc::sync::{Arc, Weak};

/// A place where Gs become runnable.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
/// use spinpark_kernel::protocol::work_source::{Waker, WorkSource};
/// use spinpark_kernel::types::p::PId;
///
/// struct Inbox(Arc<Mutex<Vec<G>>>, Waker);
/// impl WorkSource for Inbox {
///     fn waker(&self) -> &Waker { &self.1 }
///     fn has_work(&self) -> bool { !self.0.lock().unwrap().is_empty() }
///     fn take(&self, _: Option<PId>, put: &mut dyn FnMut(G)) { self.0.lock().unwrap().drain(..).for_each(put) }
///     fn is_expecting(&self) -> bool { false }
/// }
///
/// let (inbox, mut wake) = (Arc::new(Mutex::new(Vec::new())), None);
/// let (sender, ran) = mpsc::channel();
/// let life = move |sched: &Arc<Sched<Os>>, mut worker| {
///     while let Some((mine, g)) = sched.next(worker) {
///         worker = mine;
///         sender.send(g.into_raw().get()).unwrap();
///     }
/// };
/// let sched = Sched::with_sources(Config::default(), (), life, |waker| {
///     wake = Some(waker.clone());
///     vec![Box::new(Inbox(inbox.clone(), waker.clone()))]
/// });
/// inbox.lock().unwrap().push(g(7)); // it can be seen, and then:
/// wake.unwrap().wake();
/// assert_eq!(ran.recv(), Ok(7));
/// sched.unwrap().close();
/// # }
/// ```
pub trait WorkSource: Send + Sync + 'static {
    /// The waker it was made from.
    fn waker(&self) -> &Waker;

    /// Is there a G to take? Asked often, without the lock, behind a StoreLoad; reads a word or two.
    fn has_work(&self) -> bool;

    /// Gives its Gs to `put`, oldest first; must not block. Called by an M with P `p`, or by the monitor, with none; by several
    /// at once, so it may find that another call has taken them.
    fn take(&self, p: Option<PId>, put: &mut dyn FnMut(G));

    /// When it will have work by itself: when the earliest timer is due. [`NEVER`]: it will not. A thread that makes it
    /// earlier calls [`Waker::announce`], unless it holds a P. Reads a few words.
    fn deadline(&self) -> Nanos {
        NEVER
    }

    /// Can it still get work when no G runs any more: does a timer run, does a task wait for a socket? Asked under the
    /// scheduler's lock, for deadlock detection. A source has its work before it stops expecting it; and one that stops
    /// expecting, because a timer was cancelled, wakes too: then an M searches, finds no G, and asks again.
    fn is_expecting(&self) -> bool;

    /// Called by the monitor at every tick. A source that is usually polled by an idle M checks here whether it was not
    /// polled for [`SLICE`](crate::protocol::sysmon::SLICE), gets its work ready and wakes.
    fn tick(&self, now: Nanos) {
        let _ = now;
    }
}

/// Where an M waits that finds no work, as long as a source has a deadline or a task waits for what this reports: a poller of
/// sockets. One M at a time does so; see [`netpoll`](crate::protocol::netpoll).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
/// use spinpark_kernel::host::NEVER;
/// use spinpark_kernel::protocol::work_source::Poller;
///
/// /// Reports one G, at the first interrupt.
/// struct Once(OsParker, Mutex<Option<G>>);
/// impl Poller for Once {
///     fn is_awaited(&self) -> bool { self.1.lock().unwrap().is_some() }
///     fn poll(&self, until: Nanos, put: &mut dyn FnMut(G)) {
///         match until {
///             NEVER => self.0.park(),
///             _ => self.0.park_timeout(until.saturating_sub(Os::now())),
///         }
///         self.1.lock().unwrap().take().map(put);
///     }
///     fn interrupt(&self) { self.0.unpark() }
/// }
///
/// let poller = Once(OsParker::new(), Mutex::new(Some(g(7))));
/// let sched = Sched::<Os>::with_poller(Config::default(), (), live, |_| (Vec::new(), Box::new(poller))).unwrap();
/// sched.submit(g(1)).unwrap(); // the M that runs it waits in the poller then
/// while sched.snapshot().polling == 0 {
///     thread::yield_now();
/// }
/// sched.break_idle_poll();
/// sched.close();
/// # }
/// ```
pub trait Poller: Send + Sync + 'static {
    /// Does a task wait for what it reports? False again only after the Gs that it reported are runnable (golang/go #61454). A
    /// thread without a P that begins the first wait calls [`Waker::announce`] with [`NEVER`]; the thread that ends the last
    /// wait calls [`interrupt`](Poller::interrupt).
    fn is_awaited(&self) -> bool;

    /// Waits until a G is ready, until the moment `until`, or until an interrupt; may return spuriously. Gives the Gs that
    /// are runnable to `put`. Never called by two threads at once.
    fn poll(&self, until: Nanos, put: &mut dyn FnMut(G));

    /// Gives the Gs that are ready to `put`, without waiting. Never called by two threads at once.
    fn peek(&self, put: &mut dyn FnMut(G)) {
        let _ = put;
    }

    /// Ends the current wait; if there is none, the next. From any thread.
    fn interrupt(&self);
}

/// A scheduler, as a [`Waker`] sees it. Named after Go's `wakep`, "wake a P": see that an M looks for work.
pub trait Wakep: Send + Sync {
    /// Makes sure that an M looks for work.
    fn wakep(self: Arc<Self>);
    /// A source has an earlier deadline.
    fn announce(self: Arc<Self>, when: Nanos);
}

/// Wakes a scheduler when a source has work. Can be cloned; wakes nothing once the scheduler is dropped.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::{host::NEVER, protocol::work_source::Waker};
/// let weak: std::sync::Weak<Sched<Os>> = std::sync::Weak::new();
/// let waker = Waker::new(weak.clone()); // as `Sched::with_sources` makes it; here of a scheduler that is gone
/// waker.wake();
/// waker.announce(NEVER);
/// assert!(waker.is_same(&waker.clone()));
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Waker(Weak<dyn Wakep>);

impl Waker {
    /// Of this scheduler.
    pub fn new(sched: Weak<dyn Wakep>) -> Waker {
        Waker(sched)
    }

    /// There is work, and [`has_work`](WorkSource::has_work) says so. From any thread, but not under the scheduler's
    /// lock.
    pub fn wake(&self) {
        if let Some(sched) = self.0.upgrade() {
            sched.wakep();
        }
    }

    /// A source has work by itself at `when`, earlier than before. Or, with [`NEVER`]: a task waits for what the poller
    /// reports. Needless for a thread that holds a P. From any thread, but not under the scheduler's lock.
    pub fn announce(&self, when: Nanos) {
        if let Some(sched) = self.0.upgrade() {
            sched.announce(when);
        }
    }

    /// Do both wake the same scheduler?
    pub fn is_same(&self, other: &Waker) -> bool {
        Weak::ptr_eq(&self.0, &other.0)
    }
}
