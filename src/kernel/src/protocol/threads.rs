//! Handing a P to a sleeping or a new M, and falling asleep.
//!
//! Go: `startm`, `newm`, `stopm`.
//!
//! **One wake a sleep.** The thread that takes an M off the list of sleepers, under the lock, sets its `nextp` exactly once,
//! and an M that is woken finds its `nextp` (see `m`). No M holds a P while it waits.
//!
//! **No P is lost when no M is available.** The system may refuse a thread, or the table of Ms may be full. The P is then
//! idled again and a spinning M is asked for, under one hold of the lock; an M that is about to sleep checks that request
//! under the same lock. So as long as one M lives, the work is run, if later.
//!
//! Checked by: verification/rooms/src/rooms/threads.rs

use crate::host::{Host, SpawnError};
use crate::types::m::{M, MId, NextP};

/// Where an M comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Available {
    /// One that sleeps; it is off the list now, and the caller's to wake.
    Sleeping(MId),
    /// A number for a new one; it counts as alive from now on.
    New(MId),
    /// None: every M is busy and there may be no more.
    None,
}

/// What this room asks of the rest of the scheduler.
pub trait Neighbours<H: Host> {
    /// Finds an M, under the lock. Go: `mget`, `mReserveID`.
    fn mget(&self) -> Available;
    /// Lists `m` as sleeping, under the lock; or returns what it should do instead. Go: `mput`.
    fn mput(&self, m: MId) -> Option<NextP>;
    /// Starts the thread of a new M. Go: `newm`.
    ///
    /// # Errors
    /// If thread creation failed.
    fn newm(&self, m: MId) -> Result<(), SpawnError>;
    /// No M was available: under the lock, puts back what `nextp` holds and asks for a spinning M, and takes `m`'s number
    /// back if there was one. Unless some M fell asleep meanwhile: then that one, to be woken with the `nextp`.
    fn refused(&self, nextp: NextP, m: Option<MId>) -> Option<(MId, NextP)>;
}

/// Gives `nextp` to some M: a sleeping one if there is one, else a new one.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::protocol::threads::{Available, Neighbours, give_back, startm, stopm};
/// use spinpark_kernel::types::m::{M, MId, NextP};
/// struct OneSleeps; // the rest of the scheduler: M 0 sleeps
/// impl Neighbours<Os> for OneSleeps {
///     fn mget(&self) -> Available { Available::Sleeping(MId(0)) }
///     fn mput(&self, _: MId) -> Option<NextP> { None }
///     fn newm(&self, _: MId) -> Result<(), SpawnError> { unreachable!("it need not be started") }
///     fn refused(&self, nextp: NextP, _: Option<MId>) -> Option<(MId, NextP)> { Some((MId(0), nextp)) }
/// }
/// let ms = [M::<Os>::new()];
/// startm(NextP::Exit, &ms, &OneSleeps);
/// assert!(matches!(stopm(MId(0), &ms, &OneSleeps), NextP::Exit)); // the M wakes
/// give_back(NextP::Exit, None, &ms, &OneSleeps); // M 0 fell asleep meanwhile
/// assert!(ms[0].take_nextp().is_some());
/// # }
/// ```
pub fn startm<H: Host>(nextp: NextP, ms: &[M<H>], others: &impl Neighbours<H>) {
    start(others.mget(), nextp, ms, others);
}

/// The same on the M that [`mget`](Neighbours::mget) has found.
///
/// ```
/// use spinpark_kernel::{host::Host, protocol::threads::{Available, Neighbours, start}, types::m::{M, NextP}};
/// // An M was found under the lock, as the P was taken:
/// fn wakes<H: Host>(found: Available, nextp: NextP, ms: &[M<H>], others: &impl Neighbours<H>) {
///     start(found, nextp, ms, others);
/// }
/// ```
pub fn start<H: Host>(m: Available, nextp: NextP, ms: &[M<H>], others: &impl Neighbours<H>) {
    match m {
        Available::Sleeping(m) => ms[m.index()].wake_with(nextp),
        Available::New(m) => {
            ms[m.index()].set_nextp(nextp);
            if others.newm(m).is_err()
                && let Some(nextp) = ms[m.index()].take_nextp()
            {
                give_back(nextp, Some(m), ms, others);
            }
        }
        Available::None => give_back(nextp, None, ms, others),
    }
}

/// No M was available for `nextp`.
///
/// ```
/// use spinpark_kernel::{host::Host, protocol::threads::{Neighbours, give_back}, types::m::{M, NextP}};
/// // As `startm` does it when there may be no more threads:
/// fn no_thread<H: Host>(nextp: NextP, ms: &[M<H>], others: &impl Neighbours<H>) {
///     give_back(nextp, None, ms, others);
/// }
/// ```
pub fn give_back<H: Host>(nextp: NextP, m: Option<MId>, ms: &[M<H>], others: &impl Neighbours<H>) {
    if let Some((late, nextp)) = others.refused(nextp, m) {
        ms[late.index()].wake_with(nextp);
    }
}

/// Sleeps until `nextp` is set. The caller, M `me`, has no P and is not spinning.
///
/// ```
/// use spinpark_kernel::{host::Host, protocol::threads::{Neighbours, stopm}, types::m::{M, MId, NextP}};
/// // An M that has found nothing:
/// fn must_end<H: Host>(me: MId, ms: &[M<H>], others: &impl Neighbours<H>) -> bool {
///     match stopm(me, ms, others) {
///         NextP::Exit => true,
///         NextP::Run { p, token } => { others.refused(NextP::Run { p, token }, None); false } // or it runs Gs under `p`
///     }
/// }
/// ```
pub fn stopm<H: Host>(me: MId, ms: &[M<H>], others: &impl Neighbours<H>) -> NextP {
    match others.mput(me) {
        Some(instead) => instead,
        None => ms[me.index()].wait_nextp(),
    }
}
