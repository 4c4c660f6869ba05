//! A function run once under every P, without stopping them all at once: the ragged barrier.
//!
//! Go: `forEachP`, `runSafePointFn`.
//!
//! **The function runs exactly once for each P, by the owner of that P**; when the barrier is passed, it has run for all.
//!
//! **When the caller is woken no M refers to the function.** What it owns is the user's, and dropping that may take time, take locks
//! or panic: the caller drops it, which has lent it, never an M that holds a P. So an M gives its reference back as it counts.
//!
//! | the P is                      | the function is run by                                 |
//! |-------------------------------|--------------------------------------------------------|
//! | idle, or in a system call     | the caller, which takes the P, and hands it off after  |
//! | the caller's                  | the caller                                             |
//! | running, or on its way        | its M, before it looks for the next G, hands the P off,|
//! |                               | or enters a system call                                |
//!
//! Pair `syscall/stop`, as for a stop.
//!
//! Checked by: verification/rooms/src/rooms/stw.rs, verification/src/models/stw.rs

use crate::atomic::store_load;
use crate::host::Host;
use crate::types::p::{OwnedP, PId};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What is to be run under each P.
pub type SafepointFn = dyn Fn(PId) + Send + Sync;

/// A barrier that is being passed. Lives inside the scheduler's lock.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::{protocol::stw::safepoint::Safepoint, types::p::OwnedP};
/// fn reach<H: Host>(safepoint: &mut Safepoint<H>, p: &OwnedP) { // under the lock; the function runs outside of it
///     if let Some(run) = safepoint.begin(p) {
///         assert!(!safepoint.wants(p)); // once under each P
///         run(p.id());
///         if let Some(caller) = safepoint.ran(run) { caller.unpark() }
///     }
/// }
/// let safepoint = Safepoint::<Os>::new(2, Arc::new(|_| ()), Arc::new(OsParker::new()));
/// assert!(!safepoint.is_passed());
/// # }
/// ```
pub struct Safepoint<H: Host> {
    run: Arc<SafepointFn>,
    /// For which Ps it has yet to begin.
    pending: Box<[bool]>,
    /// For how many it has yet to end.
    left: usize,
    caller: Arc<H::Parker>,
}

impl<H: Host> Safepoint<H> {
    /// For `procs` Ps.
    pub fn new(procs: usize, run: Arc<SafepointFn>, caller: Arc<H::Parker>) -> Self {
        Safepoint { run, pending: (0..procs).map(|_| true).collect(), left: procs, caller }
    }

    /// Has it yet to run under `p`?
    pub fn wants(&self, p: &OwnedP) -> bool {
        self.pending.get(p.id().index()).is_some_and(|pending| *pending)
    }

    /// What the owner of `p` has to run now, if anything. After that it calls [`ran`](Safepoint::ran).
    #[must_use]
    pub fn begin(&mut self, p: &OwnedP) -> Option<Arc<SafepointFn>> {
        let pending = self.pending.get_mut(p.id().index())?;
        core::mem::take(pending).then(|| Arc::clone(&self.run))
    }

    /// `run`, from [`begin`](Safepoint::begin), has run for one more P. `Some`: for the last; the caller has to be woken.
    #[must_use = "the caller has to be woken"]
    pub fn ran(&mut self, run: Arc<SafepointFn>) -> Option<Arc<H::Parker>> {
        drop(run); // not the last: the safepoint has one
        self.left -= 1;
        (self.left == 0).then(|| Arc::clone(&self.caller))
    }

    /// Has it run for every P?
    pub fn is_passed(&self) -> bool {
        self.left == 0
    }
}

/// What this room asks of the rest of the scheduler.
pub trait Neighbours {
    /// Under the lock: from now on the function is wanted under each P. Takes the idle ones.
    fn begin(&self) -> Vec<OwnedP>;
    /// Takes every P that is in a system call.
    fn take_from_syscalls(&self) -> Vec<OwnedP>;
    /// Runs the function under `p` if it has not run there, and hands `p` off.
    fn pass(&self, p: OwnedP);
    /// Sleeps until the function has run for every P, and takes the request back.
    fn finish(&self);
}

/// Runs a function under every P. The caller's M has no P after it, if it had one: `own`. Go: `forEachP`.
///
/// ```
/// use spinpark_kernel::{host::Host, protocol::stw::safepoint::{Neighbours, for_each_p}};
/// // As `Sched::for_each_p` does it for a thread that is no M:
/// fn from_outside<H: Host>(others: &impl Neighbours) {
///     for_each_p::<H>(None, others);
/// }
/// ```
pub fn for_each_p<H: Host>(own: Option<OwnedP>, others: &impl Neighbours) {
    let idle = others.begin();
    // `syscall/stop`, the caller's half. The other half is in `syscall::entersyscall`.
    store_load::<H>();
    own.into_iter().chain(idle).for_each(|p| others.pass(p));
    others.take_from_syscalls().into_iter().for_each(|p| others.pass(p));
    others.finish();
}
