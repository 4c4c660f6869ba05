//! How an M with a P finds the next G: a loop of named steps.
//!
//! Go: `findRunnable`, `schedule`, `stealWork`.
//!
//! **An M that holds a P either runs a G, or scans the queues before it releases the P.** A spinning M scans all of them, and
//! all of them again after it has released the P. An M that may not spin, because enough others do, leaves the other Ps'
//! rings to them; the global queue it checks under the lock.
//!
//! ```text
//!   search ──► found ──► run it
//!     │ nothing
//!   idle: under the lock ──► a global G, or a spinning M is asked for: go on
//!     │ the P is idle
//!   retire, if spinning ──► there was work after all: search
//!     │ nothing
//!   stop: sleep ──► `nextp`: search           ──► exit
//! ```
//!
//! Checked by: verification/src/models/sched.rs

use crate::protocol::sources::Source;
use crate::types::g::G;
use crate::types::m::{MId, NextP, SpinningToken};
use crate::types::p::{OwnedP, PId};

/// An M that holds a P: what a thread needs to run Gs. There is one for each P in use, and it is moved, never copied.
///
/// It belongs to one scheduler: another one that is given it panics. Dropped, it panics too, in every build, unless the thread is
/// panicking already: its M and P are [lost](crate::sched::Sched::lost). Give it to [`next`](crate::sched::Sched::next), or to
/// [`end`](crate::sched::Sched::end).
#[must_use = "a Worker that is dropped loses its P"]
#[derive(Debug)]
pub struct Worker {
    /// Which M.
    pub(crate) m: MId,
    /// Its P.
    pub(crate) p: OwnedP,
    /// Is it counted as looking for work?
    pub(crate) token: Option<SpinningToken>,
    /// Is the M counted as detached? Its G lost the P once, or yielded it on this thread, and has it again: the M serves no
    /// other G until this one has left it.
    pub(crate) is_detached: bool,
    /// The embedder asks for a turn of the global queue: [`next_turn`](crate::sched::Sched::next_turn), which begins and ends with it.
    pub(crate) asks_turn: bool,
    /// Whose M it is.
    pub(crate) sched: usize,
}

/// How idling a P ended.
pub enum Idled {
    /// Not: there was a G in the global queue.
    Work(Worker, G),
    /// Not: a spinning M is asked for, and this M is it now.
    NeedSpinning(Worker),
    /// The P is on the list, or a stop, a safepoint or a bound G has it.
    Idle(MId, Option<SpinningToken>),
    /// The scheduler is closed, and the P was released.
    Closed(MId),
}

/// What this room asks of the rest of the scheduler.
pub trait Neighbours {
    /// Takes a G from one source, or nothing.
    fn take(&self, worker: &mut Worker, from: Source) -> Option<G>;
    /// A G was found: gives up spinning, and passes the baton.
    fn found(&self, worker: &mut Worker);
    /// Idles the P, under the lock, unless there is a reason not to.
    fn idle(&self, worker: Worker) -> Idled;
    /// Scans the queues again, if it was spinning; else, or if they are empty, sleeps until `nextp` is set.
    fn stop(&self, m: MId, token: Option<SpinningToken>) -> NextP;
}

/// The next G to run, and the M with the P to run it under; or the M alone.
///
/// # Errors
/// The M, if the scheduler is closed and it has to end.
///
/// ```
/// use spinpark_kernel::protocol::find::{Neighbours, Worker, find_runnable};
/// use spinpark_kernel::{protocol::sources::SearchOrder, types::{g::G, m::MId}};
/// // As `Sched::next` does it, whose `Neighbours` are the real queues:
/// fn next(worker: Worker, others: &impl Neighbours) -> Result<(Worker, G), MId> {
///     find_runnable(worker, SearchOrder::GlobalFirst.sources(), others)
/// }
/// ```
pub fn find_runnable(mut worker: Worker, sources: &[Source], others: &impl Neighbours) -> Result<(Worker, G), MId> {
    let sched = worker.sched;
    loop {
        if let Some(g) = search(&mut worker, sources, others) {
            return Ok((worker, g));
        }
        worker = match others.idle(worker) {
            Idled::Work(mut worker, g) => {
                others.found(&mut worker);
                return Ok((worker, g));
            }
            Idled::NeedSpinning(worker) => worker,
            Idled::Closed(m) => return Err(m),
            Idled::Idle(m, token) => match others.stop(m, token) {
                NextP::Run { p, token } => Worker::woken(sched, m, p, token),
                NextP::Exit => return Err(m),
            },
        }
    }
}

fn search(worker: &mut Worker, sources: &[Source], others: &impl Neighbours) -> Option<G> {
    let g = sources.iter().find_map(|&source| others.take(worker, source))?;
    others.found(worker);
    Some(g)
}

impl Worker {
    /// With a G.
    pub(crate) fn new(sched: usize, m: MId, p: OwnedP, is_detached: bool) -> Worker {
        Worker { m, p, token: None, is_detached, asks_turn: false, sched }
    }

    /// Without one: it looks for it next.
    pub(crate) fn woken(sched: usize, m: MId, p: OwnedP, token: Option<SpinningToken>) -> Worker {
        Worker { m, p, token, is_detached: false, asks_turn: false, sched }
    }

    /// For an M that gives its P away while it has a G. The caller has seen to `is_detached`.
    pub(crate) fn take_apart(self) -> (MId, OwnedP) {
        debug_assert!(self.token.is_none(), "find: M{} has a G, and spins", self.m.0);
        (self.m, self.p)
    }

    /// Which M this is.
    pub fn m(&self) -> MId {
        self.m
    }

    /// Which P it holds.
    pub fn p(&self) -> PId {
        self.p.id()
    }
}

static_assertions::assert_impl_all!(Worker: Send, Sync);
