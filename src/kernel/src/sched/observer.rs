//! Observation: every transition, reported while the thread that makes it still owns the object.
//!
//! Go: `traceAcquire`, `traceRelease` around each transition.
//!
//! An observer that does nothing, such as `()`, costs nothing: the calls vanish. One that does something must not call
//! back into the scheduler, and must neither block nor take long: some events are reported under the scheduler's lock.
//! It may unpark a thread, or signal one.
//!
//! A G is runnable after `Queued`, runs after `Found`, is in a system call from `Entered` to `Returned`. That it was made,
//! waits, or is over, only the embedder knows, which makes the Gs and runs them: it has events of its own for that.

use crate::host::Nanos;
use crate::protocol::locked::Woken;
use crate::protocol::sources::Source;
use crate::protocol::syscall::Way;
use crate::types::g::G;
use crate::types::m::MId;
use crate::types::p::PId;

/// Something that happened.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// `g` is about to be queued; under `p`, or globally.
    Queued {
        /// The P whose queue it goes to; `None`: the global queue.
        p: Option<PId>,
        /// The G.
        g: &'a G,
        /// Is it to run next, before what is in the P's ring?
        next: bool,
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
        /// Was it in the P's `runnext`?
        next: bool,
    },
    /// An M stole from another P: one G to run, the others are in its own ring now.
    Stole {
        /// The M.
        m: MId,
        /// Its P.
        p: PId,
        /// Whose they were.
        victim: PId,
        /// How many, the one to run included.
        gs: usize,
    },
    /// An M that had no P, because it slept or its G waited for one, has this one from now on.
    Got {
        /// The M.
        m: MId,
        /// The P.
        p: PId,
    },
    /// An M has handed its P off: its G, which cannot leave it, waits or yields; or it found the ticket of another M's G,
    /// which gets the P.
    Left {
        /// The M.
        m: MId,
        /// The P.
        p: PId,
        /// Does its G wait to be readied? Else it only yields, or there is none.
        waits: bool,
    },
    /// An M starts to spin, and is counted from now on.
    Spinning {
        /// The M.
        m: MId,
    },
    /// An M that is counted already starts to spin: it was woken, or asked, to do so.
    Called {
        /// The M.
        m: MId,
    },
    /// A spinning M has found work, or gives up. (Not reported when the scheduler stops or closes.)
    Sought {
        /// The M.
        m: MId,
    },
    /// A P was put on the idle list. Under the lock.
    Idled {
        /// The M that released it.
        m: MId,
        /// The P.
        p: PId,
    },
    /// A P was put on the idle list, by any thread. Under the lock.
    Listed {
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
    /// An M without a P begins to wait in the poller.
    Polling {
        /// The M.
        m: MId,
        /// Until when at the most.
        until: Nanos,
    },
    /// It has waited.
    Polled {
        /// The M.
        m: MId,
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
    /// No M was available; the work waits for one. Under the lock.
    Refused,
    /// The G of an M is about to make a system call.
    Entered {
        /// The M.
        m: MId,
        /// The P that it leaves.
        p: PId,
        /// Is it known to block, and the P handed off at once?
        blocks: bool,
    },
    /// A G has run for a whole slice and its preemption is requested: at each tick of the monitor until it yields.
    Preempt {
        /// The P under which it runs.
        p: PId,
        /// Is this the first time in this slice?
        first: bool,
    },
    /// A G that ignores preemption keeps its P: as many Ms are detached as may be. At each tick of the monitor.
    Undetachable {
        /// The P under which it runs.
        p: PId,
    },
    /// An M got a P back after a system call.
    Returned {
        /// The M.
        m: MId,
        /// The P.
        p: PId,
        /// How.
        way: Way,
    },
    /// A P was taken out of a system call by the monitor, and is about to be handed off.
    Retaken {
        /// The P.
        p: PId,
    },
    /// A P was released, and is held for the stopper. Under the lock.
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
    /// No G can run any more, but Gs wait: the wait of this one ends with the reason. Under the lock.
    Deadlock {
        /// The M of that G.
        m: MId,
        /// What is wrong.
        why: Woken,
    },
    /// An M is done; another may get its number from now on. Under the lock.
    Exited {
        /// The M.
        m: MId,
    },
    /// A panic ended an M's life: it and its P are lost. Under the lock.
    Lost {
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

/// Watches a scheduler.
pub trait Observer: Send + Sync + 'static {
    /// Something happened.
    #[inline(always)]
    fn event(&self, event: Event<'_>) {
        let _ = event;
    }
}

impl Observer for () {}
