//! What a runtime has counted, for its user.
//!
//! Go: `runtime/metrics`.

use crate::kernel::protocol::sources::Source;
use crate::runtime::exec::tasks::Tasks;
use crate::runtime::observe::histogram::Histogram;
use crate::runtime::observe::meter::{PMeter, RUNNEXT};
use core::time::Duration;
use crossbeam_utils::CachePadded;

/// What a runtime has done so far, and what it looks like now. From [`Runtime::metrics`](crate::Runtime::metrics).
///
/// The counts only grow. They are read one after the other while others write them: each was true at some moment, but not
/// all at the same one.
///
/// ```
/// let runtime = spinpark::Runtime::builder().procs(2).build()?;
/// let before = runtime.metrics();
/// runtime.go(|| ()).join()?;
/// let after = runtime.metrics();
/// assert_eq!(after.procs, 2);
/// assert!(after.dispatches() > before.dispatches());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// How long the runtime has been there.
    pub uptime: Duration,
    /// How many tasks may run at once: the number of Ps. Go: `/sched/gomaxprocs:threads`.
    pub procs: usize,
    /// Ps that no M uses now. Go: `idleprocs`.
    pub idle_procs: usize,
    /// By P; also those of which there are more now than [`procs`](Metrics::procs).
    pub per_p: Vec<PMetrics>,
    /// Tasks that wait in the global queue now. Go: `runqueue`.
    pub global_queue: usize,
    /// Threads now, the monitor not among them. Go: `/sched/threads/total:threads`.
    pub threads: usize,
    /// Those of them that sleep. Go: `idlethreads`.
    pub threads_sleeping: usize,
    /// Those of them that look for work. Go: `spinningthreads`.
    pub threads_spinning: usize,
    /// Those of them that wait for timers and sockets: one, or none.
    pub threads_polling: usize,
    /// How many threads were asked for so far, the monitor not among them.
    pub threads_started: u64,
    /// How often no thread could be had though there was work: as many as there may be were busy, or the system gave none.
    pub threads_refused: u64,
    /// How often a thread went to sleep because there was nothing to do. Go: `stopm`.
    pub sleeps: u64,
    /// How often one was woken. Go: `notewakeup` of an M.
    pub wakes: u64,
    /// How often a thread with nothing to do waited for timers and sockets.
    pub polls: u64,
    /// How often a thread began to look for work. Go: `becomeSpinning`.
    pub spins: u64,
    /// For how long threads have looked for work, all together, from when each began to look until it had found something
    /// or gave up.
    pub spinning_time: Duration,
    /// How often the monitor took the P of a task that was in a [`syscall`](crate::syscall). Go: `retake`.
    pub retakes: u64,
    /// How often a task lost its P because it ran for a whole slice and ignored preemption. Go: `asyncPreempt`.
    pub interrupts: u64,
    /// Tasks that go on without a P now, because they were preempted and are CPU-bound, that yield on their thread and wait
    /// for their turn, or have had it and go on: each on a thread of its own, until it waits or ends.
    pub detached: usize,
    /// How often the monitor has found one that kept its P instead, because [`max_preempted_threads`](crate::Builder::max_preempted_threads)
    /// already went on without.
    pub undetachable: u64,
    /// Was the handler of `SIGURG` replaced, so that tasks that ignore preemption keep their Ps?
    pub preemption_lost: bool,
    /// Stacks of goroutines, used or not; each for one at a time.
    pub stacks: usize,
    /// How often the world was stopped, to change the number of Ps too.
    pub stops: u64,
    /// Tasks that have waited at least once, for anything but their turn, without a thread, and have not ended. A goroutine that keeps its
    /// thread while it waits, the default, is none of them: its thread is one of [`threads`](Metrics::threads). Go:
    /// `/sched/goroutines/waiting:goroutines`, which counts those that wait now.
    pub tasks_waiting: usize,
    /// Timers that run.
    pub timers: usize,
    /// Which of the system's pollers it waits in: `"epoll"`, `"io_uring"`, or `"polling"` on other systems. See
    /// [`Builder::poller`](crate::Builder::poller).
    pub poller: &'static str,
    /// The last error of the system's poller that had no caller to be returned to, if there was one.
    pub poller_error: Option<String>,
    /// How long tasks waited for their turn, from becoming runnable to running; one time in eight is measured. `None`
    /// without [`latency_histogram`](crate::Builder::latency_histogram). Go: `/sched/latencies:seconds`.
    pub latency: Option<Histogram>,
    /// How long a task ran until it waited, yielded or ended; of the same ones. What it waited for on its thread is
    /// within: a [`syscall`](crate::syscall), a [`join`](crate::JoinHandle::join). One that is preempted and ends before it has a P
    /// again is left out.
    pub run_time: Option<Histogram>,
}

/// What was done under one P so far. A dispatch is one task that runs until it waits, yields or ends, or one that waits
/// on a thread of its own and gets a P again.
///
/// ```
/// let runtime = spinpark::Runtime::builder().procs(1).build()?;
/// runtime.spawn(async {}).join()?;
/// assert!(runtime.metrics().per_p[0].dispatches() > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PMetrics {
    /// Tasks that wait in its own queue now, the one in `runnext` among them.
    pub queue: usize,
    /// Dispatches from the slot for what was readied last, `runnext`.
    pub from_runnext: u64,
    /// Dispatches from its ring.
    pub from_ring: u64,
    /// Dispatches from the global queue.
    pub from_global: u64,
    /// Dispatches of what timers and sockets had made runnable, found by a thread that had nothing else to do.
    pub from_sources: u64,
    /// Dispatches of what was stolen from another P: as many as there were thefts.
    pub from_steal: u64,
    /// Tasks that were stolen from other Ps, those that were run at once among them.
    pub tasks_stolen: u64,
}

impl PMetrics {
    /// All dispatches. Go: `schedtick`, which does not count those from `runnext`.
    #[must_use]
    pub fn dispatches(&self) -> u64 {
        self.from_runnext + self.from_ring + self.from_global + self.from_sources + self.from_steal
    }
}

impl Metrics {
    /// All dispatches, under all Ps.
    #[must_use]
    pub fn dispatches(&self) -> u64 {
        self.per_p.iter().map(PMetrics::dispatches).sum()
    }

    /// Tasks that wait for their turn now, in all queues. Go: `/sched/goroutines/runnable:goroutines`.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// println!("{} tasks wait for their turn", runtime.metrics().tasks_queued());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn tasks_queued(&self) -> usize {
        self.global_queue + self.per_p.iter().map(|p| p.queue).sum::<usize>()
    }

    pub(in crate::runtime) fn of(tasks: &Tasks) -> Metrics {
        let (shared, now) = (tasks.shared(), tasks.snapshot());
        let (meter, rare) = (&shared.meter, &*shared.meter.rare);
        let of_p = |(meter, &queue): (&CachePadded<PMeter>, &usize)| {
            let found = |from: Source| meter.found[from as usize].get();
            PMetrics {
                queue,
                from_runnext: meter.found[RUNNEXT].get(),
                from_ring: found(Source::Local),
                from_global: found(Source::GlobalTurn) + found(Source::Global),
                from_sources: found(Source::Extra),
                from_steal: found(Source::Steal),
                tasks_stolen: meter.gs_stolen.get(),
            }
        };
        Metrics {
            uptime: meter.uptime(),
            procs: now.procs,
            idle_procs: now.idle_ps,
            per_p: meter.ps.iter().zip(&now.local).map(of_p).collect(),
            global_queue: now.global,
            threads: now.alive,
            threads_sleeping: now.sleeping,
            threads_spinning: now.nmspinning,
            threads_polling: now.polling,
            threads_started: rare.starts.get(),
            threads_refused: rare.refused.get(),
            sleeps: rare.sleeps.get(),
            wakes: rare.wakes.get(),
            polls: rare.polls.get(),
            interrupts: shared.detached_tasks.total(),
            detached: now.detached,
            undetachable: shared.detached_tasks.undetachable(),
            preemption_lost: shared.detached_tasks.is_lost(),
            stacks: shared.stacks.as_ref().map_or(0, |stacks| stacks.made()),
            spins: rare.spins.get(),
            spinning_time: Duration::from_nanos(rare.spinning_nanos.get()),
            retakes: rare.retakes.get(),
            stops: rare.stops.get(),
            tasks_waiting: shared.owned_tasks.len(),
            timers: shared.timers.len(),
            poller: shared.reactor.netpoll.name(),
            poller_error: shared.reactor.netpoll.last_error().map(|error| error.to_string()),
            latency: meter.histogram(|times| &times.latency),
            run_time: meter.histogram(|times| &times.run_time),
        }
    }
}
