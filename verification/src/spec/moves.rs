//! What can be moved, what happens in a move, and what is seen after it.

use spinpark_kernel::host::Nanos;
use spinpark_kernel::protocol::locked::{Wake, Woken};
use spinpark_kernel::protocol::sources::{SearchOrder, Source};
use spinpark_kernel::protocol::syscall::Way;
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::sched::snapshot::Snapshot;

/// So many parties outside of the scheduler may stop its world.
pub(super) const OUTSIDERS: usize = 2;

/// The scheduler's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// Ps at first.
    pub procs: usize,
    /// More that there may be.
    pub spare: usize,
    /// Gs in a ring: 2 to this power.
    pub ring_log: u32,
    /// Is the global queue searched before the other Ps' rings?
    pub global_first: bool,
    /// One dispatch in so many is the global queue's.
    pub global_every: u32,
    /// So many in a row from `runnext`.
    pub inherit_at_most: u32,
    /// So often around the other Ps.
    pub steal_passes: u32,
    /// Ms that there may be,
    pub max_ms: usize,
    /// and so many more while so many are detached.
    pub max_detached: usize,
    /// Are there timers, a poller, and a monitor's thread?
    pub elsewhere: bool,
    /// An M that only looks into the poller does so after so long, in nanoseconds.
    pub peek_every: Nanos,
}

impl Numbers {
    /// How many Gs a ring holds.
    pub fn ring(&self) -> usize {
        1 << self.ring_log
    }

    /// For how many Ps there is a place.
    pub fn capacity(&self) -> usize {
        self.procs + self.spare
    }

    /// For how many Ms there is a number.
    pub fn ms(&self) -> usize {
        self.max_ms + self.max_detached
    }

    /// For the kernel.
    pub fn config(&self) -> Config {
        Config {
            procs: self.procs,
            max_procs: self.capacity(),
            ring: self.ring(),
            order: if self.global_first { SearchOrder::GlobalFirst } else { SearchOrder::StealFirst },
            global_every: self.global_every,
            inherit_at_most: self.inherit_at_most,
            steal_passes: self.steal_passes,
            max_ms: self.max_ms,
            max_detached: self.max_detached,
            peek_every: self.peek_every,
            ..Config::default()
        }
    }
}

/// The party that moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// The M of this number.
    M(usize),
    /// A thread from outside, which stops the world.
    Outsider(usize),
    /// The closer of the scheduler.
    Closer,
    /// The monitor.
    Monitor,
}

/// A move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// What is done.
    pub what: What,
    /// What is sampled at random in it, see [`draw`](crate::hosts::stepped::draw).
    pub seed: u64,
}

/// What is done. An M that is named by its number runs a G, unless it is said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A fresh G is submitted from outside.
    Submit,
    /// A source gets so many fresh Gs, and wakes.
    Arrive(usize),
    /// From now on a source expects Gs, or does not, and wakes.
    Expect(bool),
    /// The same, and wakes no M.
    ExpectSilently(bool),
    /// A party that was asked for begins, one that was woken goes on.
    GoOn(Who),
    /// A sleeper wakes spuriously.
    Stir(Who),
    /// The G of the M readies a fresh one.
    Ready(usize),
    /// The first M is started, as a scheduler's maker does.
    Begin,
    /// The G of the M is over; what is next?
    Next(usize),
    /// The same, but first by the shortest way.
    NextLocal(usize),
    /// The same, and a turn of the global queue is asked for.
    NextTurn(usize),
    /// The G of the M goes behind what waits under the same P; what is next?
    GoYield(usize),
    /// The G of the M goes behind all others; what is next?
    Yield(usize),
    /// The G of the M, which is bound to it, yields if it is asked to.
    YieldBound(usize),
    /// It enters a system call that may be short.
    Enter(usize),
    /// It runs on, and is taken for one in a system call.
    Interrupt(usize),
    /// It enters one that is known to block.
    Block(usize),
    /// The G of the M, which goes on without a P, enters a system call. Is that known to block?
    EnterDetached(usize, bool),
    /// It would go on under an idle P, and waits for none.
    TryReattach(usize),
    /// A caller asks whether a G waits for ever.
    LookForDeadlock,
    /// The M, in a system call, comes back.
    Exit(usize),
    /// The same, with a G that is bound to it.
    ExitBound(usize),
    /// The G, which is bound to its M, waits.
    Park(usize, Wake),
    /// The G that is bound to the M is readied, from outside.
    ReadyBound(usize),
    /// The M ends with the G that is bound to it.
    End(usize),
    /// The monitor looks, so much later.
    Tick(Nanos),
    /// The world is to stop.
    Stop(Who),
    /// The stopper starts the world.
    Start(Who),
    /// The stopper wants so many Ps.
    Resize(Who, usize),
    /// A function is run once under each P.
    ForEachP(Who),
    /// So many threads are refused from now on.
    Refuse(usize),
    /// The scheduler is closed.
    Close,
    /// A timer is set, for so long, by the G of this M, which wakes no M, or from outside.
    Timer(Option<usize>, Nanos),
    /// From now on a G waits for what the poller reports, or none does; one that begins to may run under a P, and wakes
    /// no M.
    Await(Option<usize>, bool),
    /// The poller has so many fresh Gs to report.
    Report(usize),
    /// The monitor's thread is asked for.
    StartMonitor,
    /// The monitor's nap is over, so much later.
    Watch(Nanos),
    /// So are as many naps as it takes to sleep deeply, if there is nothing to see.
    Calm,
}

impl What {
    /// The party that does it.
    pub fn by(self) -> Option<Who> {
        match self {
            What::GoOn(who) | What::Stir(who) | What::Stop(who) | What::Start(who) => Some(who),
            What::Resize(who, _) | What::ForEachP(who) => Some(who),
            What::Ready(m) | What::Next(m) | What::NextLocal(m) | What::NextTurn(m) => Some(Who::M(m)),
            What::GoYield(m) | What::Yield(m) => Some(Who::M(m)),
            What::YieldBound(m) | What::Enter(m) | What::Interrupt(m) | What::Block(m) => Some(Who::M(m)),
            What::TryReattach(m) => Some(Who::M(m)),
            What::EnterDetached(m, _) | What::Exit(m) | What::ExitBound(m) | What::Park(m, _) => Some(Who::M(m)),
            What::End(m) | What::Timer(Some(m), _) | What::Await(Some(m), _) => Some(Who::M(m)),
            What::Close => Some(Who::Closer),
            What::StartMonitor | What::Watch(_) | What::Calm => Some(Who::Monitor),
            What::Submit | What::Arrive(_) | What::Expect(_) | What::ExpectSilently(_) | What::ReadyBound(_) => None,
            What::Begin | What::LookForDeadlock | What::Refuse(_) | What::Tick(_) => None,
            What::Timer(None, _) | What::Await(None, _) | What::Report(_) => None,
        }
    }
}

/// What waits in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// A G.
    G(u64),
    /// The ticket of the G that is bound to this M.
    Ticket(usize),
}

/// What happens in a move: the kernel's events, with plain numbers, and what comes back from its functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Ev {
    Queued(Option<usize>, Item),
    /// To run next under this P.
    QueuedNext(usize, Item),
    Found {
        m: usize,
        p: usize,
        item: Item,
        from: Source,
        /// Was it to run next?
        next: bool,
    },
    Stole {
        m: usize,
        p: usize,
        victim: usize,
        gs: usize,
    },
    /// The source gives what it has, to this P.
    Gives(Option<usize>),
    Spinning(usize),
    /// The M no longer looks: it has found something, or gives up.
    Sought(usize),
    /// The M, which had none, has this P.
    Got {
        m: usize,
        p: usize,
    },
    /// The M is to look for work.
    Called(usize),
    /// The M is in a system call. Is that known to block?
    Entered {
        m: usize,
        p: usize,
        blocks: bool,
    },
    /// The M gives its P to others. Does its G wait?
    Left {
        m: usize,
        p: usize,
        waits: bool,
    },
    Idled {
        m: usize,
        p: usize,
    },
    Slept {
        m: usize,
        sleeping: usize,
        alive: usize,
    },
    Woken(usize),
    Starting(usize),
    Refused,
    Returned {
        m: usize,
        p: usize,
        way: Way,
    },
    Retaken(usize),
    /// The G under this P is asked to yield. For the first time?
    Preempt(usize, bool),
    /// It cannot be detached: as many as may be are.
    Undetachable(usize),
    Held(usize),
    /// This P is idle.
    Listed(usize),
    Stopped,
    Started(usize),
    Deadlock(usize, Woken),
    Exited(usize),
    Gone {
        sleeping: usize,
        alive: usize,
    },
    /// The safepoint's function was run under this P.
    Ran(usize),
    /// The wait of the M's G is over.
    WaitOver(usize, Woken),
    /// There were so many Ps.
    Were(usize),
    /// Could the first M be started?
    Began(bool),
    /// Did the monitor's tick retake a P?
    Ticked(bool),
    /// A caller is told whether a G waits for ever.
    IsDead(bool),
    /// The G was not taken: the scheduler is closed.
    TurnedAway(u64),
    /// A G that was left when the scheduler was closed.
    Over(Item),
    /// There is no room for so many Ps.
    NoRoom(usize),
    /// The M is about to wait in the poller, until then; it has waited.
    Polling(usize, Nanos),
    Polled(usize),
    /// An M waits in the poller, or only looks into it; and so many are seen to wait in it then.
    Looks {
        waits: bool,
        polling: usize,
    },
    /// The poller is told that its wait is over.
    Interrupted,
}

/// Where a party is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// Not there.
    Nowhere,
    /// Its thread was asked for.
    Suspended,
    /// It sleeps. Was it woken?
    Asleep(bool),
    /// It runs a G under a P. Is that asked to yield: because the P is wanted, or because it has run for long?
    Runs {
        /// The G.
        g: u64,
        /// The P.
        p: usize,
        /// For either reason.
        should_yield: bool,
        /// For the second.
        is_preempted: bool,
    },
    /// It is in a system call, with its G.
    Away(u64),
    /// It has stopped the world.
    HasStopped,
}

/// What is seen after a move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// What happened in it.
    pub events: Vec<Ev>,
    /// Each M.
    pub ms: Vec<Activity>,
    /// Those outside, the closer last.
    pub outside: Vec<Activity>,
    /// Could an M be had?
    pub can_start_m: bool,
    /// The scheduler.
    pub snapshot: Snapshot,
}
