//! Stopping the world, and the queue of stoppers.
//!
//! Go: `stopTheWorld`, `stopTheWorldWithSema`, `startTheWorldWithSema`, `worldsema`, `gcstopm`.
//!
//! **After [`stop`] returns, no P runs: the stopper holds every one, each counted once**, because each is a value in
//! one list. Until [`WorldState::resume`] no other thread gets one.
//!
//! | a stopper, in [`stop`]                          | an M with a P                                          |
//! |-------------------------------------------------|--------------------------------------------------------|
//! | 1. under the lock: stopping; holds the idle Ps  | about to idle its P, or handing it on, under the lock: |
//! |                                                 | holds it for the stopper instead                       |
//! | 2. StoreLoad                                    | entering a system call: leaves its P in its word;      |
//! | 3. reads the words: holds the Ps in them        | StoreLoad; reads `wanted`: hands the P on              |
//! | 4. sleeps until all are held                    | the M that hands in the last P wakes the stopper       |
//!
//! Pair `syscall/stop`: see `syscall`.
//!
//! Stoppers queue, first come, first served, and the first keeps its place until the world runs again
//! (golang/go #40459, #10618). Go: `worldsema`.
//!
//! Checked by: verification/rooms/src/rooms/stw.rs, verification/src/models/stw.rs

pub mod resize;
pub mod safepoint;
pub mod wanted;

use crate::atomic::store_load;
use crate::host::Host;
use crate::types::p::OwnedP;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The state of the world. Lives inside the scheduler's lock.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::{protocol::stw::WorldState, types::p::OwnedP};
/// let (mut world, me, other) = (WorldState::<Os>::new(2), Arc::new(OsParker::new()), Arc::new(OsParker::new()));
/// assert!(world.queue_up(&me) && !world.queue_up(&other)); // one stopper at a time
/// world.begin_stop();
/// assert!(world.is_stopping() && !world.is_stopped()); // two Ps are to be held
/// let hold = |world: &mut WorldState<Os>, p: OwnedP| world.hold(p).is_some_and(|stopper| { stopper.unpark(); true });
/// # let _: fn(&mut WorldState<Os>, OwnedP) -> bool = hold;
/// fn start(world: &mut WorldState<Os>) -> (Vec<OwnedP>, Option<Arc<OsParker>>) { // once both are held
///     assert_eq!(world.resize(2).len(), 2); // three Ps: see `procresize`
///     (world.resume(), world.leave_line()) // to be run or idled; to be woken
/// }
/// # let _: fn(&mut WorldState<Os>) -> (Vec<OwnedP>, Option<Arc<OsParker>>) = start;
/// assert!(world.is_first(&me) && !world.is_first(&other));
/// # }
/// ```
pub struct WorldState<H: Host> {
    procs: usize,
    held: Vec<OwnedP>,
    is_stopping: bool,
    /// The stoppers, in order. The first may stop the world.
    line: VecDeque<Arc<H::Parker>>,
}

impl<H: Host> WorldState<H> {
    /// It runs, with `procs` Ps.
    pub fn new(procs: usize) -> Self {
        WorldState { procs, held: Vec::new(), is_stopping: false, line: VecDeque::new() }
    }

    /// Queues the caller. May it stop the world at once?
    #[must_use]
    pub fn queue_up(&mut self, me: &Arc<H::Parker>) -> bool {
        self.line.push_back(Arc::clone(me));
        self.is_first(me)
    }

    /// Is this stopper the first?
    pub fn is_first(&self, me: &Arc<H::Parker>) -> bool {
        self.line.front().is_some_and(|first| Arc::ptr_eq(first, me))
    }

    /// The first stopper leaves the queue; the next has to be woken. Only once the world runs again.
    #[must_use = "the next has to be woken"]
    pub fn leave_line(&mut self) -> Option<Arc<H::Parker>> {
        debug_assert!(!self.is_stopping, "stw: worldsema released before the world was started");
        self.line.pop_front();
        self.line.front().cloned()
    }

    /// From now on, an M that releases a P holds it here.
    pub fn begin_stop(&mut self) {
        debug_assert!(!self.is_stopping && self.held.is_empty(), "stw: stopped twice");
        self.is_stopping = true;
    }

    /// Is the world being stopped, or stopped?
    pub fn is_stopping(&self) -> bool {
        self.is_stopping
    }

    /// Is every P held?
    pub fn is_stopped(&self) -> bool {
        self.is_stopping && self.held.len() == self.procs
    }

    /// Holds `p` for the stopper. `Some`: it was the last, the stopper has to be woken.
    #[must_use = "the stopper has to be woken"]
    pub fn hold(&mut self, p: OwnedP) -> Option<Arc<H::Parker>> {
        self.held.push(p);
        debug_assert!(self.is_stopping && self.held.len() <= self.procs, "stw: stopwait underflow");
        if self.is_stopped() { self.line.front().cloned() } else { None }
    }

    /// How many are held.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// The Ps, for `procresize`; `procs` is how many there shall be. Only while stopped.
    pub fn resize(&mut self, procs: usize) -> &mut Vec<OwnedP> {
        debug_assert!(self.is_stopped(), "stw: resized while a P runs");
        self.procs = procs;
        &mut self.held
    }

    /// The world is to run again: every P, to be run or idled.
    pub fn resume(&mut self) -> Vec<OwnedP> {
        debug_assert!(self.is_stopped(), "stw: started before it was stopped");
        self.is_stopping = false;
        core::mem::take(&mut self.held)
    }
}

impl<H: Host> Drop for WorldState<H> {
    /// The scheduler ends, and its Ps with it.
    fn drop(&mut self) {
        for p in self.held.drain(..) {
            p.relinquish();
        }
    }
}

/// What this room asks of the rest of the scheduler.
pub trait Neighbours {
    /// Under the lock: from now on an M that releases a P holds it for the stopper; `own` and the idle Ps are held now.
    fn begin(&self, own: Option<OwnedP>);
    /// Takes every P that is in a system call, and holds it.
    fn take_from_syscalls(&self);
    /// Is every P held?
    fn is_stopped(&self) -> bool;
    /// Sleeps until that may have changed.
    fn sleep(&self);
}

/// Stops the world. The caller is the first stopper, and has released its P, or gives it here. Go:
/// `stopTheWorldWithSema`.
///
/// ```
/// use spinpark_kernel::{host::Host, protocol::stw::{Neighbours, stop}, types::p::OwnedP};
/// // As `Sched::stop_the_world` does it, once it is the first stopper:
/// fn stop_from_an_m<H: Host>(own: OwnedP, others: &impl Neighbours) {
///     stop::<H>(Some(own), others);
///     assert!(others.is_stopped());
/// }
/// ```
pub fn stop<H: Host>(own: Option<OwnedP>, others: &impl Neighbours) {
    others.begin(own);
    // `syscall/stop`, the stopper's half. The other half is in `syscall::entersyscall`.
    store_load::<H>();
    others.take_from_syscalls();
    while !others.is_stopped() {
        others.sleep();
    }
}
