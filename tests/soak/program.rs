//! A program: what is played in a process of its own. It ends, whatever the schedule; that is what the watchdog relies on.
//!
//! Each operation that waits brings the task along that it waits for, so no two programs' parts can wait for each other.
//! What is shared are locks, held over a yield and never two at a time.

use serde::{Deserialize, Serialize};

/// What one process plays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Program {
    pub(crate) setup: Setup,
    pub(crate) disturbance: Disturbance,
    /// Spawned from the main thread, in order.
    pub(crate) tasks: Vec<TaskSpec>,
    /// Ordinary threads beside the runtime.
    pub(crate) threads: Vec<Vec<ThreadOp>>,
    pub(crate) end: End,
}

/// The numbers of the runtime.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) procs: usize,
    /// Threads beyond those that the program's own waits may take.
    pub(crate) spare_threads: usize,
    /// Goroutines on stacks of their own, or on the stacks of threads.
    pub(crate) stackful: bool,
    /// The time slice, in microseconds.
    pub(crate) slice_us: u64,
    /// How many preempted CPU-bound tasks may have threads.
    pub(crate) max_preempted: usize,
    pub(crate) preemption: bool,
    pub(crate) ring: usize,
    pub(crate) global_first: bool,
    pub(crate) inherit_at_most: u32,
    pub(crate) global_every: u32,
    /// In microseconds.
    pub(crate) keep_alive_us: u64,
    /// The process may use one core only.
    pub(crate) one_core: bool,
}

/// What other processes do to this one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Disturbance {
    /// Threads of another process that spin.
    pub(crate) burners: usize,
    /// Each thread gets a signal after so many microseconds: by turns `SIGURG`, which the runtime handles, and one whose
    /// handler does not restart system calls.
    pub(crate) signals_us: Option<u64>,
}

/// What a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    Future,
    Goroutine,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TaskSpec {
    pub(crate) kind: Kind,
    pub(crate) ops: Vec<Op>,
    pub(crate) outcome: Outcome,
}

/// How a task ends that has done its operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Outcome {
    Value,
    Panic,
    /// It panics with a payload whose destructor panics.
    PanicWithBomb,
}

/// What a spawner does with a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Then {
    Await,
    /// `JoinHandle::join`, also in a future.
    Join,
    Detach,
    /// `JoinHandle::abort` after so many microseconds, and then awaits it.
    Abort(u64),
}

/// One operation of a task. In a future each wait is an `.await`, in a goroutine a `.wait()`; also in a future inside of
/// those operations that have operations of their own, but for `BlockOn` and `Local`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Op {
    Yield,
    Checkpoint,
    Sleep {
        us: u64,
    },
    /// So many tasks compute until another one, spawned after them, has run.
    Hogs {
        hogs: usize,
        partner: Kind,
    },
    Compute {
        us: u64,
        checkpoints: bool,
    },
    Syscall {
        us: u64,
    },
    Blocking {
        us: u64,
    },
    /// A sleep under a deadline that elapses before.
    Timeout {
        us: u64,
    },
    Interval {
        us: u64,
        ticks: u32,
    },
    /// Receives what new tasks send. No capacity: unbounded.
    Channel {
        capacity: Option<usize>,
        senders: usize,
        messages: u64,
        partner: Kind,
        select: bool,
    },
    /// To and fro with a new task.
    PingPong {
        rounds: u64,
        partner: Kind,
        compute_us: u64,
    },
    /// One more under a lock that others want too.
    Lock {
        lock: usize,
        sleeps: bool,
    },
    /// The same under a lock with readers.
    RwLock {
        writes: bool,
    },
    WaitGroup {
        workers: usize,
        partner: Kind,
    },
    Cond {
        partner: Kind,
    },
    Tcp {
        bytes: usize,
        partner: Kind,
    },
    Unix {
        bytes: usize,
        partner: Kind,
    },
    Udp {
        partner: Kind,
    },
    /// `.wait()` in whatever this is.
    Sync(Vec<Op>),
    SyscallWith(Vec<Op>),
    LockThread {
        ops: Vec<Op>,
        keeps: bool,
    },
    /// Again and again, and each panic caught.
    Catch {
        ops: Vec<Op>,
        times: u32,
    },
    BlockOn(Vec<Op>),
    /// Twice, as two tasks of a `LocalSet` in `block_on`.
    Local(Vec<Op>),
    /// As a task of a runtime inside of this one.
    Inner(Vec<Op>),
    Spawn {
        task: TaskSpec,
        then: Then,
    },
    /// Has a value with this destructor from now on.
    Hold(Destructor),
    StopTheWorld {
        us: u64,
    },
    SetProcs {
        n: usize,
    },
    ForEachP(Closure),
    WhenIdle(Closure),
    DropRuntime,
}

/// What a closure does that the runtime calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Closure {
    Counts,
    Panics,
    PanicsWithBomb,
    Spawns,
    DropsRuntime,
}

/// What a destructor does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Destructor {
    Counts,
    HandleCurrent,
    Spawns,
    /// Makes a sleep, and drops it.
    MakesSleep,
    /// Waits for a sleep.
    Waits,
    Panics,
}

/// One operation of an ordinary thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum ThreadOp {
    Nap { us: u64 },
    Metrics,
    BlockOn(Vec<Op>),
    Spawn(TaskSpec),
    EnterAndSpawn(TaskSpec),
    StopTheWorld { us: u64 },
    SetProcs { n: usize },
    ForEachP(Closure),
    WhenIdle(Closure),
}

/// How a program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct End {
    /// So many microseconds after all was spawned; `None`: when all has ended.
    pub(crate) after_us: Option<u64>,
    pub(crate) how: How,
}

/// How a runtime is shut down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum How {
    Drop,
    Shutdown,
    /// And what was not started is run.
    ShutdownAndRun,
    DropInTask,
}

impl Op {
    /// What it is called in a report.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Op::Yield => "yield_now",
            Op::Checkpoint => "checkpoint",
            Op::Sleep { .. } => "sleep",
            Op::Compute { .. } => "compute",
            Op::Hogs { .. } => "CPU-bound tasks",
            Op::Syscall { .. } => "syscall",
            Op::Blocking { .. } => "blocking",
            Op::Timeout { .. } => "timeout",
            Op::Interval { .. } => "interval",
            Op::Channel { select: false, .. } => "channel: recv",
            Op::Channel { select: true, .. } => "channel: select!",
            Op::PingPong { .. } => "channel ping-pong",
            Op::Lock { .. } => "Mutex",
            Op::RwLock { .. } => "RwLock",
            Op::WaitGroup { .. } => "WaitGroup",
            Op::Cond { .. } => "Cond",
            Op::Tcp { .. } => "TCP",
            Op::Unix { .. } => "Unix stream",
            Op::Udp { .. } => "UDP",
            Op::Sync(_) => "wait",
            Op::SyscallWith(_) => "in syscall",
            Op::LockThread { .. } => "in lock_thread",
            Op::Catch { .. } => "in catch_unwind",
            Op::BlockOn(_) => "in block_on",
            Op::Local(_) => "in LocalSet",
            Op::Inner(_) => "in an inner runtime",
            Op::Spawn { then: Then::Await, .. } => "await a JoinHandle",
            Op::Spawn { then: Then::Join, .. } => "join",
            Op::Spawn { then: Then::Detach, .. } => "spawn",
            Op::Spawn { then: Then::Abort(_), .. } => "abort",
            Op::Hold(_) => "hold",
            Op::StopTheWorld { .. } => "stop_the_world",
            Op::SetProcs { .. } => "set_procs",
            Op::ForEachP(_) => "for_each_p",
            Op::WhenIdle(_) => "when_idle",
            Op::DropRuntime => "drop(runtime)",
        }
    }

    /// The operations in it, and how often they are done.
    fn inside(&self) -> (&[Op], usize) {
        match self {
            Op::Sync(ops) | Op::SyscallWith(ops) | Op::BlockOn(ops) => (ops, 1),
            Op::LockThread { ops, .. } => (ops, 1),
            Op::Local(ops) => (ops, 2),
            Op::Catch { ops, times } => (ops, *times as usize),
            // Its threads are its own.
            Op::Inner(_) => (&[], 0),
            Op::Spawn { task, .. } => (&task.ops, 1),
            _ => (&[], 0),
        }
    }

    /// Does a task that does it wait on its thread?
    fn occupies_thread(&self) -> bool {
        matches!(
            self,
            Op::Syscall { .. }
                | Op::Blocking { .. }
                | Op::Sync(_)
                | Op::SyscallWith(_)
                | Op::LockThread { .. }
                | Op::Catch { .. }
                | Op::BlockOn(_)
                | Op::Local(_)
                | Op::Inner(_)
                | Op::StopTheWorld { .. }
                | Op::SetProcs { .. }
                | Op::ForEachP(_)
                | Op::Spawn { then: Then::Join, .. }
                | Op::DropRuntime
        )
    }

    /// How many threads may be occupied at once by the tasks that it brings along.
    fn threads(&self, stackful: bool) -> usize {
        let of = |partner: Kind, n: usize| if partner == Kind::Goroutine && !stackful { n } else { 0 };
        let (ops, times) = self.inside();
        let inner: usize = ops.iter().map(|op| op.threads(stackful)).sum();
        let own = match self {
            Op::Channel { senders, partner, .. } => of(*partner, *senders),
            Op::WaitGroup { workers, partner } => of(*partner, *workers),
            Op::Hogs { partner, .. } => of(*partner, 1),
            Op::PingPong { partner, .. } | Op::Cond { partner } | Op::Tcp { partner, .. } => of(*partner, 1),
            Op::Unix { partner, .. } | Op::Udp { partner } => of(*partner, 1),
            Op::Spawn { task, .. } => task.own_thread(stackful),
            _ => 0,
        };
        inner * times + own
    }

    /// Does a task that does it panic?
    pub(crate) fn panics(&self) -> bool {
        match self {
            Op::Hold(Destructor::Panics) => true,
            Op::Sync(ops) | Op::SyscallWith(ops) | Op::BlockOn(ops) => ops.iter().any(Op::panics),
            Op::LockThread { ops, .. } => ops.iter().any(Op::panics),
            _ => false,
        }
    }

    fn hogs(&self) -> usize {
        let (ops, times) = self.inside();
        let own = if let Op::Hogs { hogs, .. } = self { *hogs } else { 0 };
        own + times * ops.iter().map(Op::hogs).sum::<usize>()
    }

    fn count(&self) -> usize {
        1 + self.nested().iter().map(Op::count).sum::<usize>()
    }

    fn nested(&self) -> &[Op] {
        if let Op::Inner(ops) = self { ops } else { self.inside().0 }
    }

    fn any(&self, f: &impl Fn(&Op) -> bool) -> bool {
        f(self) || self.nested().iter().any(|op| op.any(f))
    }
}

impl TaskSpec {
    fn own_thread(&self, stackful: bool) -> usize {
        let waits = self.kind == Kind::Goroutine && !stackful;
        // What a destructor waits for, it waits for on the thread.
        let occupies = |op: &Op| op.occupies_thread() || matches!(op, Op::Hold(Destructor::Waits));
        usize::from(waits || self.ops.iter().any(occupies))
    }

    fn threads(&self, stackful: bool) -> usize {
        self.own_thread(stackful) + self.ops.iter().map(|op| op.threads(stackful)).sum::<usize>()
    }
}

impl Program {
    /// So many threads may be occupied by tasks that wait, at most; one more runs the others.
    pub(crate) fn max_threads(&self) -> usize {
        let stackful = self.setup.stackful;
        let outside = |op: &ThreadOp| match op {
            ThreadOp::BlockOn(ops) => ops.iter().map(|op| op.threads(stackful)).sum(),
            ThreadOp::Spawn(task) | ThreadOp::EnterAndSpawn(task) => task.threads(stackful),
            _ => 0,
        };
        let tasks: usize = self.tasks.iter().map(|task| task.threads(stackful)).sum();
        let threads: usize = self.threads.iter().flatten().map(outside).sum();
        // The task that drops the runtime.
        tasks + threads + 2 + self.setup.spare_threads
    }

    fn top(&self) -> impl Iterator<Item = &Op> {
        let of_threads = self.threads.iter().flatten().flat_map(|op| match op {
            ThreadOp::BlockOn(ops) => ops.as_slice(),
            ThreadOp::Spawn(task) | ThreadOp::EnterAndSpawn(task) => &task.ops,
            _ => &[],
        });
        self.tasks.iter().flat_map(|task| &task.ops).chain(of_threads)
    }

    pub(crate) fn operations(&self) -> usize {
        self.top().map(Op::count).sum::<usize>() + self.threads.iter().map(Vec::len).sum::<usize>()
    }

    /// So many CPU-bound tasks may be preempted at once.
    pub(crate) fn max_preempted(&self) -> usize {
        self.top().map(Op::hogs).sum::<usize>() + self.setup.max_preempted
    }

    /// May a task compute until others have run? A stopper waits for it, and then they do not.
    pub(crate) fn may_hog(&self) -> bool {
        let stops = |op: &Op| matches!(op, Op::StopTheWorld { .. });
        let stops_outside = |op: &ThreadOp| matches!(op, ThreadOp::StopTheWorld { .. });
        self.setup.preemption
            && !self.top().any(|op| op.any(&stops))
            && !self.threads.iter().flatten().any(stops_outside)
    }

    /// Does each task that has begun end inside of the runtime? One that was aborted by an ordinary thread does not, nor
    /// one that is run after the shutdown.
    pub(crate) fn drops_inside(&self) -> bool {
        let aborts = |op: &Op| matches!(op, Op::Spawn { then: Then::Abort(_), .. });
        self.end.how != How::ShutdownAndRun && !self.top().any(|op| op.any(&aborts))
    }

    /// For a reader.
    pub(crate) fn picture(&self) -> Vec<String> {
        let Program { setup, disturbance, tasks, threads, end } = self;
        let mut lines = vec![format!("{setup:?}, max_threads {}", self.max_threads()), format!("{disturbance:?}")];
        for (n, task) in tasks.iter().enumerate() {
            lines.push(format!("task {n}, {:?}, ends with {:?}:", task.kind, task.outcome));
            lines.extend(task.ops.iter().map(|op| format!("  {op:?}")));
        }
        for (n, thread) in threads.iter().enumerate() {
            lines.push(format!("thread {n}:"));
            lines.extend(thread.iter().map(|op| format!("  {op:?}")));
        }
        lines.push(format!("{end:?}"));
        lines
    }
}
