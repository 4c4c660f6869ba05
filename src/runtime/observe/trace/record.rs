//! What a trace consists of.

use crate::host::Nanos;
use crate::kernel::protocol::locked::Woken;
use crate::kernel::protocol::syscall::Way;
use core::fmt;
use core::panic::Location;

/// An event: when, of which object, and what.
///
/// Ms and Ps have the scheduler's numbers; Gs are numbered 1, 2, 3… in the order in which they were made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// When, in nanoseconds since the runtime was built.
    pub at: Nanos,
    /// The M it happened to; of [`What::Created`] and of [`What::Runnable`] the one that did it. `None`: another thread.
    pub m: Option<u32>,
    /// The P it happened to, or under.
    pub p: Option<u32>,
    /// The G it happened to.
    pub g: Option<u64>,
    /// The G that did it, if it was one: that made `g`, readied it, or for which the M was woken or started.
    pub by: Option<u64>,
    /// What.
    pub what: What,
}

/// Where a G waits for its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Queue {
    /// It is the next of this P: `runnext`.
    Next(u32),
    /// In the ring of this P.
    Ring(u32),
    /// In the global queue.
    Global,
    /// With the timers, or in the system's poller: it was found there and run at once.
    Sources,
}

/// Where a G was that runs from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum From {
    /// In its P's `runnext`.
    Next,
    /// In its P's ring.
    Ring,
    /// In the global queue: there was nothing else, or that comes first.
    Global,
    /// In the global queue, whose turn it was.
    GlobalTurn,
    /// With the timers, or in the system's poller.
    Sources,
    /// With this other P, and was stolen.
    Stolen(u32),
    /// On its own thread, on which it has waited; now that has a P.
    Thread,
}

/// What a G does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// It was made, and is in no queue yet.
    Created,
    /// It waits for its turn. Go: `_Grunnable`.
    Runnable,
    /// It runs. Go: `_Grunning`.
    Executing,
    /// It is in a system call. Go: `_Gsyscall`.
    Syscall,
    /// It waits for something: what. Go: `_Gwaiting`, and `waitReason`.
    Waiting(&'static str),
    /// It is over. Go: `_Gdead`.
    Dead,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// The G was made, there.
    Created {
        /// Where.
        at: &'static Location<'static>,
    },
    /// The G can run: it was put there.
    Runnable {
        /// Where it waits for its turn.
        queue: Queue,
        /// It ran until now, and yields.
        yields: bool,
    },
    /// The G runs.
    Executing {
        /// Where it was.
        from: From,
    },
    /// The G waits.
    Waiting {
        /// For what.
        why: &'static str,
    },
    /// The G is in a system call.
    Syscall {
        /// It is known to block: the P was handed on at once.
        blocks: bool,
    },
    /// The M has a P again after a system call, or after its G ran without one: the G goes on.
    Returned {
        /// How it got the P.
        way: Way,
    },
    /// The G is over.
    Dead,
    /// The M stole from another P. The first of them it runs, the others are in its P's ring.
    Stole {
        /// Whose they were.
        victim: u32,
        /// Which.
        gs: Vec<u64>,
    },
    /// The P's ring was full: its older half went to the global queue, with the one that did not fit.
    Spilled {
        /// Which.
        gs: Vec<u64>,
    },
    /// More of the global queue than the G that is run went into the P's ring.
    Shared {
        /// Which.
        gs: Vec<u64>,
    },
    /// The M, which had none, has this P.
    Got {
        /// The M that handed it on, or from which it was taken. `None`: it was idle.
        from: Option<u32>,
    },
    /// The M hands this P on.
    Left,
    /// The M looks for work.
    Spinning,
    /// The M has found some, or gives up.
    Sought,
    /// The M sleeps.
    Slept,
    /// The M waits for timers and sockets.
    Polling,
    /// It has.
    Polled,
    /// The M is woken.
    Woken,
    /// A thread is started for the M.
    Starting,
    /// No thread could be had.
    Refused,
    /// The M is no more.
    Exited,
    /// The P is idle.
    Idle,
    /// The P was taken out of the M's system call, or from a G that does not yield.
    Retaken,
    /// The P is held for the thread that stops the world.
    Held,
    /// The G under this P has run for a whole slice, and is asked to yield.
    Preempted,
    /// The world is stopped.
    Stopped,
    /// It goes on.
    Started {
        /// With how many Ps.
        procs: u32,
    },
    /// The M found that another one waits for a P, and gives it its own.
    Ticket {
        /// Which waits.
        of: u32,
    },
    /// Nothing can happen any more, and the G on this M gets a deadlock.
    Deadlock {
        /// What is wrong.
        why: Woken,
    },
}

impl Record {
    /// What the G does after this, if this says so.
    #[must_use]
    pub fn state(&self) -> Option<State> {
        Some(match self.what {
            What::Created { .. } => State::Created,
            What::Runnable { .. } => State::Runnable,
            What::Executing { .. } => State::Executing,
            What::Returned { .. } if self.g.is_some() => State::Executing,
            What::Syscall { .. } => State::Syscall,
            What::Waiting { why } => State::Waiting(why),
            What::Dead => State::Dead,
            _ => return None,
        })
    }
}

/// `      12.345 µs  M0 P1 G3  executing, from the ring`; without what is none.
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>9}.{:03} µs ", self.at / 1000, self.at % 1000)?;
        let named = [('M', self.m.map(u64::from)), ('P', self.p.map(u64::from)), ('G', self.g)];
        named.iter().try_for_each(|(kind, n)| n.map_or(Ok(()), |n| write!(f, " {kind}{n}")))?;
        write!(f, "  {}", self.what)?;
        self.by.map_or(Ok(()), |g| write!(f, ", by G{g}"))
    }
}

/// `G1 G2`
struct Gs<'a>(&'a [u64]);

impl fmt::Display for Gs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(i, g)| write!(f, "{}G{g}", if i == 0 { "" } else { " " }))
    }
}

impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Queue::Next(p) => write!(f, "next of P{p}"),
            Queue::Ring(p) => write!(f, "ring of P{p}"),
            Queue::Global => f.write_str("global queue"),
            Queue::Sources => f.write_str("timers and sockets"),
        }
    }
}

impl fmt::Display for From {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            From::Next => f.write_str("runnext"),
            From::Ring => f.write_str("the ring"),
            From::Global => f.write_str("the global queue"),
            From::GlobalTurn => f.write_str("the global queue in its turn"),
            From::Sources => f.write_str("timers and sockets"),
            From::Stolen(p) => write!(f, "P{p}, stolen"),
            From::Thread => f.write_str("its own thread"),
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::Created { at } => write!(f, "created at {}", place(at)),
            What::Runnable { queue, yields } => {
                write!(f, "runnable, {queue}{}", if *yields { ", yields" } else { "" })
            }
            What::Executing { from } => write!(f, "executing, from {from}"),
            What::Waiting { why } => write!(f, "waiting, {why}"),
            What::Syscall { blocks } => write!(f, "in a system call{}", if *blocks { " that blocks" } else { "" }),
            What::Returned { way } => write!(f, "back with a P: {way:?}"),
            What::Dead => f.write_str("dead"),
            What::Stole { victim, gs } => write!(f, "stole from P{victim}: {}", Gs(gs)),
            What::Spilled { gs } => write!(f, "ring full, to the global queue: {}", Gs(gs)),
            What::Shared { gs } => write!(f, "global queue to ring: {}", Gs(gs)),
            What::Got { from: Some(m) } => write!(f, "has the P from M{m}"),
            What::Got { from: None } => f.write_str("has the P"),
            What::Left => f.write_str("hands the P on"),
            What::Spinning => f.write_str("spinning"),
            What::Sought => f.write_str("spins no more"),
            What::Slept => f.write_str("sleeps"),
            What::Polling => f.write_str("waits in the poller"),
            What::Polled => f.write_str("left the poller"),
            What::Woken => f.write_str("woken"),
            What::Starting => f.write_str("started"),
            What::Refused => f.write_str("thread creation failed"),
            What::Exited => f.write_str("ends"),
            What::Idle => f.write_str("idle"),
            What::Retaken => f.write_str("retaken"),
            What::Held => f.write_str("held for a stop"),
            What::Preempted => f.write_str("asked to yield"),
            What::Stopped => f.write_str("the world is stopped"),
            What::Started { procs } => write!(f, "the world is started, {procs} Ps"),
            What::Ticket { of } => write!(f, "gives its P to M{of}"),
            What::Deadlock { why } => write!(f, "deadlock: {why:?}"),
        }
    }
}

/// `main.rs:34`: without the directory, which is another on each machine.
pub(super) fn place(at: &Location<'_>) -> String {
    let file = at.file().rsplit(['/', '\\']).next().unwrap_or_default();
    format!("{file}:{}", at.line())
}
