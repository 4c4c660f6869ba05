//! Seeing what happens: every transition, reported while whoever makes it still owns the object.
//!
//! Go: `traceAcquire`, `traceRelease` around each transition.
//!
//! An observer that does nothing, such as `()`, costs nothing: the calls vanish. One that does something must not call
//! back into the scheduler, and must neither block nor take long: some events are reported under the scheduler's lock.
//! It may unpark a thread.

use super::g::G;
use super::locked::Woken;
use super::m::MId;
use super::p::PId;
use super::sources::Source;
use super::syscall::Way;

/// Something that happened.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// `g` is about to be queued; under `p`, or globally.
    Queued {
        /// The P whose queue it goes to; `None`: the global queue.
        p: Option<PId>,
        /// The G.
        g: &'a G,
    },
    /// `g` was taken from `from`, and is about to run.
    Found {
        /// The M that runs it.
        m: MId,
        /// The P it runs under.
        p: PId,
        /// The G.
        g: &'a G,
        /// Where it was.
        from: Source,
    },
    /// An M starts to look at other Ps.
    Spinning {
        /// The M.
        m: MId,
    },
    /// A P was put on the idle list. Under the lock.
    Idled {
        /// The M that let go of it.
        m: MId,
        /// The P.
        p: PId,
    },
    /// An M is about to sleep. Under the lock.
    Slept {
        /// The M.
        m: MId,
        /// How many sleep now, this one included.
        sleeping: usize,
        /// How many there are.
        alive: usize,
    },
    /// A sleeping M was taken off the list, to be woken. Under the lock.
    Woken {
        /// The M.
        m: MId,
    },
    /// A thread is about to be started for a new M.
    Starting {
        /// The M.
        m: MId,
    },
    /// No M could be had; the work waits for one. Under the lock.
    Refused,
    /// An M got a P back after a system call.
    Returned {
        /// The M.
        m: MId,
        /// The P.
        p: PId,
        /// How.
        way: Way,
    },
    /// A P was taken out of a system call by the monitor, and is about to be handed on.
    Retaken {
        /// The P.
        p: PId,
    },
    /// A P was let go of, and is held for who stops the world. Under the lock.
    Held {
        /// The P.
        p: PId,
    },
    /// The world is stopped.
    Stopped,
    /// The world is about to run again. Under the lock.
    Started {
        /// With how many Ps.
        procs: usize,
    },
    /// Nothing can happen any more, but Gs wait: this one is told. Under the lock.
    Deadlock {
        /// The M whose G is told.
        m: MId,
        /// What is wrong.
        why: Woken,
    },
    /// An M is done; another may get its number from now on. Under the lock.
    Exited {
        /// The M.
        m: MId,
    },
    /// An M that is done is no longer counted. Under the lock.
    Gone {
        /// How many sleep now.
        sleeping: usize,
        /// How many there are.
        alive: usize,
    },
}

/// Somebody who watches.
pub trait Observer: Send + Sync + 'static {
    /// Something happened.
    #[inline(always)]
    fn event(&self, event: Event<'_>) {
        let _ = event;
    }
}

impl Observer for () {}
