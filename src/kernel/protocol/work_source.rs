//! Places outside of the kernel where Gs become runnable: a poller, timers.
//!
//! Go: what `findRunnable` asks besides queues: `netpoll`, `p.timers`; and what makes it look again: `wakeNetPoller`,
//! `netpollBreak`.
//!
//! **The contract.** A source that gets work wakes, after it can be seen: [`Waker::wake`]. Then somebody looks, as for
//! a G in a queue: it is the third column of `work/spinning`.
//!
//! | a source                                | a spinning M that gives up, in `spinning::retire` |
//! |-----------------------------------------|-----------------------------------------------|
//! | 1. has work: [`has_work`] is true       | 1. leaves `nmspinning`                        |
//! | 2. StoreLoad, in [`Waker::wake`]        | 2. StoreLoad                                  |
//! | 3. reads `nmspinning`                   | 3. asks `has_work`                            |
//!
//! A source without a waker would be missed (golang/go #60693, #14179). It cannot be put in: it is made from a waker,
//! and has to show that one. `find`, `handoff`, and the second look of a spinning M ask the same sources.
//!
//! [`has_work`]: WorkSource::has_work
//!
//! Checked by: verification/src/models/work_source.rs, proptests/tests/work_source.rs

use crate::host::{NEVER, Nanos};
use crate::kernel::types::g::G;
use crate::kernel::types::p::PId;
use alloc::sync::{Arc, Weak};

/// A place where Gs become runnable.
pub trait WorkSource: Send + Sync + 'static {
    /// The waker it was made from.
    fn waker(&self) -> &Waker;

    /// Is there a G to take? Asked often, without the lock, behind a StoreLoad; reads a word or two.
    fn has_work(&self) -> bool;

    /// Gives what there is to `put`, oldest first; must not block. Asked by an M with P `p`, or by the monitor, with
    /// none; by several at once; it may so find that another was faster.
    fn take(&self, p: Option<PId>, put: &mut dyn FnMut(G));

    /// When it will have work by itself, if nothing else happens: when the earliest timer is due.
    /// [`NEVER`]: it will not. Who makes it earlier calls [`Waker::announce`], unless its thread
    /// holds a P. Reads a few words.
    fn deadline(&self) -> Nanos {
        NEVER
    }

    /// Can it still get work when no G runs any more: does a timer run, is a socket waited for? Asked under the
    /// scheduler's lock, by who looks for a deadlock. A source has its work before it stops expecting it; and one that
    /// stops expecting, because a timer was given up, wakes too: then somebody looks, finds nothing, and asks again.
    fn is_expecting(&self) -> bool;

    /// The monitor's duty: called at every tick. A source that is usually looked after by an idle M, a poller, sees
    /// here whether it was neglected for [`SLICE`](crate::kernel::protocol::sysmon::SLICE), gets its work ready and wakes.
    fn tick(&self, now: Nanos) {
        let _ = now;
    }
}

/// Where an M waits that has nothing to do, as long as a source has a deadline or somebody waits for what this reports:
/// a poller of sockets. One M at a time does so; see [`netpoll`](crate::kernel::protocol::netpoll).
pub trait Poller: Send + Sync + 'static {
    /// Does anybody wait for what it reports? Lowered only after what it reported is runnable (golang/go #61454). Who
    /// makes it so without a P calls [`Waker::announce`] with [`NEVER`]; who ends the last wait
    /// calls [`interrupt`](Poller::interrupt).
    fn is_awaited(&self) -> bool;

    /// Waits until something is ready, until the moment `until`, until an interrupt, or spuriously; gives the Gs that
    /// are runnable so to `put`. Never called by two at once.
    fn poll(&self, until: Nanos, put: &mut dyn FnMut(G));

    /// Looks whether something is ready, without waiting. Never called by two at once.
    fn peek(&self, put: &mut dyn FnMut(G)) {
        let _ = put;
    }

    /// Ends the wait that goes on now; if none does, the next. From any thread.
    fn interrupt(&self);
}

/// What a waker wakes.
pub trait Wakep: Send + Sync {
    /// Makes sure that somebody looks for work.
    fn wakep(self: Arc<Self>);
    /// A source has an earlier deadline.
    fn announce(self: Arc<Self>, when: Nanos);
}

/// Tells a scheduler that a source has work. Cloned at will; wakes nothing once the scheduler is gone.
#[derive(Clone)]
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

    /// A source has work by itself at `when`, earlier than before. Or, with [`NEVER`]: somebody
    /// waits for what the poller reports. Needless for who holds a P. From any thread, but not under the scheduler's
    /// lock.
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

impl core::fmt::Debug for Waker {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Waker").finish_non_exhaustive()
    }
}
