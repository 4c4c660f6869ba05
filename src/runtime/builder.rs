//! The numbers of a runtime.

mod paused;
mod pollers;
#[cfg(all(unix, feature = "signal"))]
mod sigquit;
mod threads;
mod turns;

use crate::host::Nanos;
use crate::kernel::protocol::sources::SearchOrder;
use crate::kernel::sched::config::Config;
use crate::runtime::exec::goroutine::stack::Stacks;
use crate::runtime::host::duration;
use crate::runtime::host::thread_config::Plan;
use crate::runtime::io::netpoll::choice::Poller;
use crate::runtime::observe::event::Observer;
use crate::runtime::observe::trace::Recorder;
use crate::runtime::observe::watchers::Watchers;
use core::time::Duration;
use std::path::PathBuf;
use std::sync::Arc;

/// The default limit of threads for preempted tasks. Go: 10,000 threads in all.
const PREEMPTED_THREADS: usize = 10_000;

/// The default of [`turn_every`](Builder::turn_every).
const TURN_EVERY: Nanos = 200_000;

/// How a [`Runtime`](crate::Runtime) shall be. Every number has a default.
///
/// Three variables of the environment are read in [`build`](Builder::build), and not later; empty, they are as not set.
///
/// | variable | meaning |
/// |----------|---------|
/// | `SPINPARK_PROCS=N` | the default of [`procs`](Builder::procs), 1 to 4096. Go: `GOMAXPROCS` |
/// | `SPINPARK_POLLER=epoll` or `io_uring` | the default of [`poller`](Builder::poller) |
/// | `SPINPARK_DEBUG=schedtrace=N` | print a line of [`schedtrace`](crate::Runtime::schedtrace) to standard error every N milliseconds. Go: `GODEBUG` |
///
/// ```
/// use std::time::Duration;
///
/// let runtime = spinpark::Runtime::builder()
///     .procs(2)
///     .thread_name("crawler")
///     .thread_keep_alive(Duration::from_secs(60))
///     .on_thread_start(|| println!("one thread more"))
///     .build()?;
/// let name = runtime.go(|| std::thread::current().name().map(str::to_owned)).join()?;
/// assert!(name.is_some_and(|name| name.starts_with("crawler-m")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The other numbers, with their defaults for the most part:
///
/// ```
/// use spinpark::kernel::protocol::sources::SearchOrder;
/// use std::time::Duration;
///
/// let runtime = spinpark::Runtime::builder()
///     .max_procs(8)
///     .ring(256)
///     .order(SearchOrder::default())
///     .inherit_at_most(16)
///     .global_every(61)
///     .turn_every(Duration::from_micros(200))
///     .peek_every(Duration::from_millis(1))
///     .steal_passes(4)
///     .poller(spinpark::Poller::Auto)
///     .latency_histogram(false)
///     .detect_deadlock(true)
///     .foreign_threads(true)
///     .time_slice(Duration::from_millis(10))
///     .max_preempted_threads(100)
///     .goroutine_stack_size(64 << 10)
///     .preemption(true)
///     .build()?;
/// # drop(runtime);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until `build`"]
pub struct Builder {
    pub(super) config: Config,
    /// `None`: as many as the environment says, or as there are.
    pub(super) procs: Option<usize>,
    /// `None`: the default, or as many as there are Ps if that is more.
    pub(super) max_threads: Option<usize>,
    pub(super) detects_deadlock: bool,
    pub(super) has_foreign_threads: bool,
    pub(super) is_timed: bool,
    pub(super) turn_every: Nanos,
    pub(super) preempts: bool,
    /// Have closures stacks of their own?
    pub(super) is_stackful: bool,
    pub(super) goroutine_stack: usize,
    pub(super) seed: Option<u64>,
    pub(super) starts_paused: bool,
    pub(super) poller: Poller,
    /// Are its threads in the context of a runtime of tokio's?
    pub(super) has_tokio: bool,
    pub(super) plan: Plan,
    pub(super) watchers: Watchers,
}

impl Builder {
    pub(super) fn new() -> Self {
        Builder {
            config: Config { max_procs: 64, max_detached: PREEMPTED_THREADS, ..Config::default() },
            procs: None,
            max_threads: None,
            detects_deadlock: true,
            has_foreign_threads: true,
            is_timed: false,
            turn_every: TURN_EVERY,
            preempts: true,
            is_stackful: false,
            goroutine_stack: Stacks::DEFAULT,
            seed: None,
            starts_paused: false,
            poller: Poller::Auto,
            has_tokio: false,
            plan: Plan::default(),
            watchers: Watchers::default(),
        }
    }

    /// How many tasks may run at once: the number of Ps, 1 to 4096. Go: `GOMAXPROCS`.
    ///
    /// Default: what the variable `SPINPARK_PROCS` says. If it is not set, as in Go: the number of cores that the calling
    /// thread may run on; or, if the process runs in a control group (cgroup, version 1 or 2) with a quota of processor
    /// time, so many cores' time rounded up, but 2 at least, if that is less. All of it is looked at once, in
    /// [`build`](Builder::build), and a quota that is changed later changes nothing; Go looks again every second. The
    /// quotas of the groups around the process's own count too, where they can be seen; Go asks the innermost only.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(2).build()?;
    /// assert_eq!(runtime.procs(), 2);
    /// # Ok::<(), spinpark::runtime::BuildError>(())
    /// ```
    pub fn procs(mut self, n: usize) -> Self {
        self.procs = Some(n);
        self
    }

    /// How many Ps [`set_procs`](crate::Runtime::set_procs) may ask for later. Default 64, or `procs` if that is more. Some
    /// two kilobytes for each are taken at once.
    pub fn max_procs(mut self, n: usize) -> Self {
        self.config.max_procs = n;
        self
    }

    /// How many tasks the local queue of a P holds before half of them go to the global one: a power of two.
    /// Default 256, as Go's.
    pub fn ring(mut self, n: usize) -> Self {
        self.config.ring = n;
        self
    }

    /// Where to look for work first, at other Ps or in the global queue. Default: at other Ps.
    pub fn order(mut self, order: SearchOrder) -> Self {
        self.config.order = order;
        self
    }

    /// How many tasks in a row may overtake those that wait in the queue of their P, because they were spawned from
    /// inside a task, last. Default 16; 0: none, so that tasks run in order. Go bounds the time instead.
    pub fn inherit_at_most(mut self, k: u32) -> Self {
        self.config.inherit_at_most = k;
        self
    }

    /// How often a thread without work goes round the other Ps before it gives up: 1 to 64 times. The last time it takes
    /// what is to run next there, too. Default 4, as Go's.
    pub fn steal_passes(mut self, n: u32) -> Self {
        self.config.steal_passes = n;
        self
    }

    /// Is it measured how long tasks wait for their turn, and how long they run then? For one time in eight, at random. See
    /// [`Metrics::latency`](crate::Metrics::latency). Default: no, as it asks for the time. (What is merely counted always
    /// is.) If there are many runtimes in the process, and one measures, the others pay for half of it.
    pub fn latency_histogram(mut self, yes: bool) -> Self {
        self.is_timed = yes;
        self
    }

    /// Is a wait without end an error, where it is certain that it has none? Default: yes. See
    /// [`block_on`](crate::Runtime::block_on).
    pub fn detect_deadlock(mut self, yes: bool) -> Self {
        self.detects_deadlock = yes;
        self
    }

    /// Gives each closure that is a task ([`go`](crate::go)) a stack of its own, as Go does: when it waits, its thread leaves
    /// the stack and runs others, and it may go on on another thread. So a hundred thousand may wait at once, and a wait
    /// costs tens of nanoseconds. Without this, a closure runs on the stack of a thread, which sleeps while it waits.
    ///
    /// It is off by default because safe code can break memory safety with it; and the one promise that makes it sound can
    /// only be given by a caller that knows all the code that runs in closures of this runtime.
    ///
    /// # Safety
    /// **Nothing that belongs to a thread may be held across a wait** in a closure of this runtime: not by its own code, nor
    /// by a library that it calls, nor by the callers of such code up to the closure. A wait is [`Wait::wait`](crate::Wait::wait),
    /// [`JoinHandle::join`](crate::JoinHandle::join), and every function that calls them. Futures ([`spawn`](crate::spawn))
    /// are not concerned: the compiler checks them. What must not be held:
    ///
    /// | what | then |
    /// |------|------|
    /// | a reference that [`LocalKey::with`](std::thread::LocalKey::with) lends: a wait inside of its closure | use after free, when that thread ends; a data race with what runs there next |
    /// | an `Rc` of which the thread, or something else on it, has another clone; `Cell`s and `RefCell`s shared so | counts without atomics: use after free |
    /// | a handle to a generator of the thread's, such as `rand::rng()` | numbers drawn twice |
    /// | a lock that a thread re-enters or must release: `stdout().lock()`, a guard of [`std::sync::Mutex`] | a panic ("already borrowed"); a lock that another thread releases |
    /// | a scope that waits for its thread: [`std::thread::scope`] with a wait in its closure | it hangs |
    /// | a panic: a wait in a destructor that runs while the thread unwinds | the runtime waits with the thread then; do not rely on it in code that counts panics |
    /// | tasks that are not `Send`: [`LocalSet::run_until`](crate::LocalSet::run_until), driven by a wait | they move to another thread |
    /// | anything else of which a library says that it is `!Send`, or keeps in a thread local while it calls back: the current span of `tracing` (`Span::enter`), the context of another runtime (`tokio::runtime::Handle::enter`), `scoped_tls` | as it says there |
    ///
    /// And the *address* of a thread local must not be kept over a wait: a function that touches a thread local, waits, and
    /// touches it again, is compiled as if the thread were the same. Do one of the two in a function that is not inlined. (std has thread
    /// locals in functions that may be inlined, in a program with `lto = "fat"` above all: `HashMap::new`, `thread::current`, `catch_unwind`
    /// around a wait. What is spinpark's own keeps to this.)
    /// [`lock_thread`](crate::lock_thread) keeps a closure on its thread while its guard lives: what belongs to the thread may
    /// then be held.
    ///
    /// ```
    /// use spinpark::Wait;
    ///
    /// // SAFETY: the closures below hold nothing of their threads across a wait.
    /// let runtime = unsafe { spinpark::Runtime::builder().procs(1).stackful_goroutines() }.build()?;
    /// let (send, receive) = spinpark::chan::bounded(1);
    /// let all: Vec<_> = (0..1000u64)
    ///     .map(|n| {
    ///         let send = send.clone();
    ///         runtime.go(move || send.send(n).wait().is_ok())
    ///     })
    ///     .collect();
    /// let sum = runtime.go(move || (0..1000).map(|_| receive.recv().wait().unwrap_or(0)).sum::<u64>());
    /// assert_eq!(sum.join()?, 499_500);
    /// for one in all {
    ///     assert!(one.join()?);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A program without `unsafe` cannot have it:
    ///
    /// ```compile_fail,E0133
    /// let runtime = spinpark::Runtime::builder().procs(1).stackful_goroutines().build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[allow(unsafe_code)]
    pub unsafe fn stackful_goroutines(mut self) -> Self {
        self.is_stackful = true;
        self
    }

    /// For how long a task may run while others wait, before preemption is requested: 20 us or more. Default 10 ms, as
    /// Go's `forcePreemptNS`. The monitor looks twice in that time.
    pub fn time_slice(mut self, time: Duration) -> Self {
        self.config.slice = duration::nanos(time);
        self
    }

    /// How many threads there may be for tasks that were [preempted](Builder::preemption) and go on without a P, or that
    /// yield on their thread ([`checkpoint`](crate::checkpoint)), from then on until they wait or end, besides
    /// [`max_threads`](Builder::max_threads): 65,536 at most. Default 10,000. Go: `SetMaxThreads`, where it is the bound
    /// for all, and reaching it is fatal.
    ///
    /// If so many go on, the next task that ignores preemption keeps its P, and others wait until it ends or yields: that is
    /// counted ([`Metrics::undetachable`](crate::Metrics::undetachable)), and `tracing` is warned once. With 0 none is ever
    /// preempted that ignores it.
    pub fn max_preempted_threads(mut self, n: usize) -> Self {
        self.config.max_detached = n;
        self
    }

    /// How many bytes the stack of a [goroutine with a stack of its own](Builder::stackful_goroutines) has: 16 KiB to 1 GiB,
    /// rounded up to whole pages. Default 256 KiB. Memory
    /// is taken only for the pages that were touched, so a goroutine that waits has one or two of them whatever this
    /// says. Below its stack lies a guard page: code that touches it has used up the stack, and the process ends with
    /// a message that names the goroutine. Go's stacks grow, up to 1 GB.
    pub fn goroutine_stack_size(mut self, bytes: usize) -> Self {
        self.goroutine_stack = bytes;
        self
    }

    /// Is the P taken from a task that has run for a [slice](Builder::time_slice), and does not yield though preemption is
    /// requested? Default: yes, where the system can do it (Linux); elsewhere this changes nothing.
    ///
    /// Its thread is interrupted by a signal (`SIGURG`, as Go's), and goes on with the task without a P, beside the others,
    /// until the task waits, ends, or yields: then it first waits for its turn, as after a [`syscall`](crate::syscall).
    /// So a loop that never ends stalls no other task, at the price of more threads than Ps that run at a time
    /// ([`max_preempted_threads`](Builder::max_preempted_threads)). A system call that such a task makes outside of
    /// `syscall` may end with `EINTR`. Go: `asyncpreemptoff`.
    ///
    /// The signal's handler is installed when the first runtime is built, calls the one that was there before, and is never
    /// removed. If another handler has replaced it since, and does not call it, [`build`](Builder::build) fails, unless this is
    /// `false`; a runtime that is there already says so by [`Metrics::preemption_lost`](crate::Metrics::preemption_lost).
    pub fn preemption(mut self, yes: bool) -> Self {
        self.preempts = yes;
        self
    }

    /// All threads of the runtime are played by the one that builds it, in an order that `seed` decides, and its time is a
    /// number that jumps: the same program does the same for the same seed, and something else for most others. For tests:
    /// try many seeds, and replay the one that failed. See [`deterministic`](crate::deterministic), which says what is
    /// chosen and what is not.
    ///
    /// Only the thread that builds the runtime may use it; tasks run while that thread waits in
    /// [`block_on`](crate::Runtime::block_on), [`join`](crate::JoinHandle::join), or for the world to stop. One such runtime may
    /// live on a thread, and no other be built or used there meanwhile. [`procs`](Builder::procs) is then 4 by default,
    /// whatever the machine and the environment are; stacks are of 1 MiB by default; no line of `schedtrace` is printed;
    /// [`detect_deadlock`](Builder::detect_deadlock) is always on.
    ///
    /// ```
    /// use spinpark::time::sleep;
    /// use std::time::Duration;
    ///
    /// let run = |seed| {
    ///     let runtime = spinpark::Runtime::builder().procs(2).deterministic(seed).build().expect("a runtime");
    ///     runtime.block_on(async { sleep(Duration::from_secs(3600)).await }).expect("no deadlock");
    ///     spinpark::deterministic::fingerprint()
    /// };
    /// assert_eq!(run(7), run(7)); // two hours, which are over at once
    /// ```
    pub fn deterministic(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Reports to `observer` everything that the scheduler reports, and what becomes of each task. May be called several times;
    /// a builder that is cloned gives the same ones to each runtime.
    ///
    /// It is called on the thread on which it happens, and while it lasts nothing else happens there; some events are reported
    /// under the scheduler's lock (their documentation says which). So it must neither block nor take long, and must not
    /// call the runtime: no spawning, no waking of a task, no [`metrics`](crate::Runtime::metrics). It may send to a channel that
    /// has room, count, and signal or unpark a thread. If it panics, the panic hook says so, the runtime goes on, and the
    /// observer is called no more. A G's number is an address: it is used again after [`Event::Dead`].
    ///
    /// [`Event::Dead`]: crate::runtime::Event::Dead
    ///
    /// ```
    /// use spinpark::runtime::{Event, Observer};
    ///
    /// struct Prints;
    /// impl Observer for Prints {
    ///     fn event(&self, event: Event<'_>) {
    ///         println!("{event:?}");
    ///     }
    /// }
    /// let runtime = spinpark::Runtime::builder().procs(1).observer(Prints).build()?;
    /// # drop(runtime);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.watchers.observers.push(Arc::new(observer));
        self
    }

    /// Keeps everything that happens in `recorder`, to be looked at: see [`trace`](crate::trace). It keeps one runtime at a
    /// time: what it had of another is forgotten.
    ///
    /// ```
    /// let recorder = spinpark::trace::Recorder::new();
    /// let runtime = spinpark::Runtime::builder().procs(1).record(&recorder).build()?;
    /// # drop(runtime);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn record(mut self, recorder: &Recorder) -> Self {
        self.watchers.recorders.push(recorder.clone());
        self
    }

    /// Writes everything that happens to this file, which is made anew; to be looked at in <https://ui.perfetto.dev> or
    /// `chrome://tracing`. Go: `trace.Start`.
    ///
    /// The file is written by a thread of its own, a tenth of a second behind at most, and is complete when the runtime was
    /// [shut down](crate::Runtime::shutdown) or dropped; without its end it can be looked at too. If the disk is slower than the
    /// runtime, the runtime waits. If it is full, a line on standard error says so, and the runtime goes on. What it
    /// costs: docs/guide/seeing.md.
    ///
    /// ```
    /// let path = std::env::temp_dir().join(format!("spinpark-trace-{}", std::process::id()));
    /// let runtime = spinpark::Runtime::builder().procs(1).trace(&path).build()?;
    /// drop(runtime); // the file is complete
    /// std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn trace(mut self, path: impl Into<PathBuf>) -> Self {
        self.watchers.path = Some(path.into());
        self
    }
}
