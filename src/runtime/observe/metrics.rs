//! Counting what the scheduler does.
//!
//! Go: `runtime/metrics`, `schedstats`.
//!
//! What happens at each dispatch is counted by who owns the P, in a line of memory of that P's own, by a load and a
//! store: nothing is shared, and nothing is locked. What is rare, because a thread sleeps or wakes for it, is counted in
//! one place for all.

use crate::host::{Host, Nanos};
use crate::kernel::protocol::sources::Source;
use crate::kernel::sched::observer::Event;
use crate::kernel::types::p::PId;
use crate::runtime::Cores;
use crate::runtime::exec::task::Tasks;
use crate::runtime::observe::histogram::{Bins, Histogram};
use crate::runtime::observe::sampling::{self, Timed};
use core::cell::Cell;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use core::time::Duration;
use crossbeam_utils::CachePadded;

/// How often something happened.
#[derive(Debug, Default)]
pub(in crate::runtime) struct Count(AtomicU64);

impl Count {
    /// Counted by one thread at a time.
    #[inline(always)]
    pub(in crate::runtime) fn add_alone(&self, n: u64) {
        // Relaxed: written by us only; who reads gets a number that was true a moment ago.
        let before = self.0.load(Relaxed);
        // Relaxed: as above.
        self.0.store(before.wrapping_add(n), Relaxed);
    }

    /// Counted by any.
    fn add(&self, n: u64) {
        // Relaxed: a count, and nothing is told by it.
        self.0.fetch_add(n, Relaxed);
    }

    pub(in crate::runtime) fn get(&self) -> u64 {
        // Relaxed: as above.
        self.0.load(Relaxed)
    }
}

thread_local! {
    /// Since when this thread looks for work; 0: it does not.
    static LOOKS_SINCE: Cell<Nanos> = const { Cell::new(0) };
}

/// Since when a simulated thread looks for work, while another runs.
#[derive(Default)]
pub(in crate::runtime) struct SavedThreadState(Cell<Nanos>);

impl SavedThreadState {
    /// Exchanges it with that of the thread that plays it.
    pub(in crate::runtime) fn swap(&self) {
        let _ = LOOKS_SINCE.try_with(|since| since.swap(&self.0));
    }
}

/// Where a runtime counts.
pub(in crate::runtime) struct Meter {
    ps: Box<[CachePadded<PMeter>]>,
    times: Option<(Timed, Box<[CachePadded<Times>]>)>,
    rare: CachePadded<Rare>,
    since: Nanos,
}

/// Counted by who owns the P.
#[derive(Default)]
struct PMeter {
    /// By [`Source`]; the last are those from `runnext`.
    found: [Count; RUNNEXT + 1],
    gs_stolen: Count,
}

const RUNNEXT: usize = 5;

/// Measured by who owns the P.
struct Times {
    latency: Bins,
    run_time: Bins,
}

/// Counted by any.
#[derive(Default)]
struct Rare {
    spins: Count,
    spinning_nanos: Count,
    sleeps: Count,
    wakes: Count,
    polls: Count,
    starts: Count,
    retakes: Count,
    refused: Count,
    stops: Count,
}

impl Meter {
    /// For so many Ps. Does it measure times?
    pub(in crate::runtime) fn new(ps: usize, is_timed: bool) -> Meter {
        let times = || CachePadded::new(Times { latency: Bins::new(), run_time: Bins::new() });
        Meter {
            ps: (0..ps).map(|_| CachePadded::default()).collect(),
            times: is_timed.then(|| (Timed::new(), (0..ps).map(|_| times()).collect())),
            rare: CachePadded::default(),
            since: Cores::now(),
        }
    }

    /// Something was reported.
    #[inline(always)]
    pub(in crate::runtime) fn note(&self, event: &Event<'_>) {
        match *event {
            Event::Found { p, from, next, .. } => {
                let place = if next { RUNNEXT } else { from as usize };
                self.ps[p.index()].found[place].add_alone(1);
            }
            Event::Queued { .. } | Event::Returned { .. } => (),
            _ => self.note_rare(event),
        }
    }

    #[inline(never)]
    fn note_rare(&self, event: &Event<'_>) {
        let rare = &self.rare;
        match *event {
            Event::Stole { p, gs, .. } => self.ps[p.index()].gs_stolen.add_alone(gs as u64),
            Event::Spinning { .. } | Event::Called { .. } => {
                rare.spins.add(1);
                let _ = LOOKS_SINCE.try_with(|since| since.set(Cores::now().max(1)));
            }
            Event::Sought { .. } => {
                let since = LOOKS_SINCE.try_with(Cell::take).unwrap_or(0);
                if since > 0 {
                    rare.spinning_nanos.add(Cores::now().saturating_sub(since));
                }
            }
            Event::Slept { .. } => rare.sleeps.add(1),
            Event::Woken { .. } => rare.wakes.add(1),
            Event::Polling { .. } => rare.polls.add(1),
            Event::Starting { .. } => rare.starts.add(1),
            Event::Retaken { .. } => rare.retakes.add(1),
            Event::Refused => rare.refused.add(1),
            Event::Stopped => rare.stops.add(1),
            _ => (),
        }
    }

    /// Does it measure times?
    pub(in crate::runtime) fn is_timed(&self) -> bool {
        self.times.is_some()
    }

    /// The task at this address is about to run under `p`. `Some`: tell when it has run.
    #[inline(always)]
    pub(in crate::runtime) fn begins(&self, p: PId, address: u64) -> Option<Nanos> {
        let (_, times) = self.times.as_ref()?;
        let readied = sampling::begins(address)?;
        let now = Cores::now();
        times[p.index()].latency.add(now.saturating_sub(readied));
        Some(now)
    }

    /// It has run since then, and now it waits or ends, under `p`.
    #[cold]
    pub(in crate::runtime) fn ended(&self, p: PId, since: Nanos) {
        if let Some((_, times)) = &self.times {
            times[p.index()].run_time.add(Cores::now().saturating_sub(since));
        }
    }

    /// How long the runtime has been there.
    pub(in crate::runtime) fn uptime(&self) -> Duration {
        Duration::from_nanos(Cores::now().saturating_sub(self.since))
    }

    fn histogram(&self, which: fn(&Times) -> &Bins) -> Option<Histogram> {
        self.times.as_ref().map(|(_, times)| Histogram::sum(times.iter().map(|times| which(times))))
    }
}

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
    /// Ps that nobody uses now. Go: `idleprocs`.
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
    /// Tasks that go on without a P now, because they were preempted and are CPU-bound, or that yield and wait for their
    /// turn: each on a thread of its own.
    pub detached: usize,
    /// How often the monitor has found one that kept its P instead, because [`max_preempted_threads`](crate::Builder::max_preempted_threads)
    /// already went on without.
    pub undetachable: u64,
    /// Was the handler of `SIGURG` replaced by somebody, so that tasks that ignore preemption keep their Ps?
    pub preemption_lost: bool,
    /// Stacks of goroutines, used or not; each for one at a time.
    pub stacks: usize,
    /// How often the world was stopped, to change the number of Ps too.
    pub stops: u64,
    /// Tasks that have waited at least once, for anything but their turn, and have not ended. Go:
    /// `/sched/goroutines/waiting:goroutines`, which counts those that wait now.
    pub tasks_waiting: usize,
    /// Timers that run.
    pub timers: usize,
    /// The last error of the system's poller that could be told to nobody, if there was one.
    pub poller_error: Option<String>,
    /// How long tasks waited for their turn, from becoming runnable to running; one time in eight is measured. `None`
    /// without [`latency_histogram`](crate::Builder::latency_histogram). Go: `/sched/latencies:seconds`.
    pub latency: Option<Histogram>,
    /// How long a task ran until it waited, yielded or ended; of the same ones. What it waited for on its thread is
    /// within: a [`syscall`](crate::syscall), a [`join`](crate::JoinHandle::join).
    pub run_time: Option<Histogram>,
}

/// What was done under one P so far. A dispatch is one task that runs until it waits, yields or ends, or one that waits
/// on a thread of its own and gets a P again.
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
            poller_error: shared.reactor.netpoll.last_error().map(|error| error.to_string()),
            latency: meter.histogram(|times| &times.latency),
            run_time: meter.histogram(|times| &times.run_time),
        }
    }
}

static_assertions::const_assert!((Source::Steal as usize) < RUNNEXT);
