//! What an observer of a runtime is told: what the scheduler does, and what only the runtime knows of its tasks.
//!
//! Go: `traceGoCreate`, `traceGoPark`, `traceGoEnd`, and those of the scheduler.
//!
//! A task's states can be told from it: `Created`; then of the scheduler's, `Queued` (runnable), `Found` (running), `Entered`
//! and `Returned` (in a system call); `Waiting`; and `Dead`.

use crate::kernel::sched::observer;
use crate::kernel::types::m::MId;
use crate::kernel::types::p::PId;
use core::panic::Location;

/// Something that happened in a runtime.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The scheduler has made a transition.
    Sched(observer::Event<'a>),
    /// A task was made.
    Created {
        /// Its number: [`G::address`](crate::kernel::types::g::G::address).
        g: u64,
        /// Where.
        at: &'static Location<'static>,
    },
    /// The task that an M runs is about to wait until it is woken.
    Waiting {
        /// The M.
        m: MId,
        /// Its P; `None`: the task was preempted, and runs without one.
        p: Option<PId>,
        /// The task's number.
        g: u64,
        /// For what. Go: `waitReason`.
        why: &'static str,
    },
    /// The task that an M ran is over.
    Dead {
        /// The M.
        m: MId,
        /// Its P; `None`: the task was preempted, and ends without one.
        p: Option<PId>,
        /// The task's number.
        g: u64,
    },
    /// The system call of this M is over, and it is about to ask for a P.
    SyscallOver {
        /// The M.
        m: MId,
    },
}

/// Watches a runtime. See [`Builder::observer`](crate::Builder::observer).
///
/// An event is reported while its maker still owns the object, some of them under the scheduler's lock: an observer must not
/// call back into the runtime, and must neither block nor take long.
pub trait Observer: Send + Sync + 'static {
    /// Something happened.
    fn event(&self, event: Event<'_>) {
        let _ = event;
    }
}

impl Observer for () {}
