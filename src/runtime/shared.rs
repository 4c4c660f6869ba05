//! What belongs to a runtime besides its scheduler: which tasks wait, for what, and until when.

#[cfg(feature = "tokio-context")]
use crate::runtime::companion::Companion;
use crate::runtime::exec::block_on_waiters::BlockOnWaiters;
use crate::runtime::exec::goroutine::stack::Stacks;
use crate::runtime::exec::idle::IdleWork;
use crate::runtime::exec::owned::OwnedTasks;
use crate::runtime::exec::preempt::DetachedTasks;
use crate::runtime::exec::turn_pace::Turns;
use crate::runtime::exec::wait_graph::WaitGraph;
#[cfg(feature = "tokio-context")]
use crate::runtime::guarded::guarded;
use crate::runtime::host::sim;
use crate::runtime::host::thread_config::ThreadConfig;
use crate::runtime::id::RuntimeId;
use crate::runtime::io::netpoll::choice::Poller;
use crate::runtime::io::reactor::Reactor;
use crate::runtime::observe::event::Event;
use crate::runtime::observe::meter::Meter;
use crate::runtime::observe::schedtrace::Printer;
#[cfg(all(unix, feature = "signal"))]
use crate::runtime::observe::sigquit::Dumper;
use crate::runtime::observe::watch::Watch;
use crate::runtime::time::timer::TimerQueue;
use std::io;
use std::sync::Arc;

pub(super) struct Shared {
    pub(super) runtime_id: RuntimeId,
    /// The machine that it runs on, if that is simulated.
    pub(super) machine: sim::Number,
    /// Tasks that wait for others, on a thread of their own.
    pub(super) wait_graph: WaitGraph,
    /// Tasks that wait, without a thread.
    pub(super) owned_tasks: Arc<OwnedTasks>,
    pub(super) timers: Arc<TimerQueue>,
    pub(super) reactor: Arc<Reactor>,
    /// Threads in `block_on`.
    pub(super) block_on_waiters: BlockOnWaiters,
    /// Is a wait without end an error, where it is certain?
    pub(super) detects_deadlock: bool,
    /// May a thread that no runtime knows wake a task?
    pub(super) has_foreign_threads: bool,
    /// What is counted.
    pub(super) meter: Meter,
    /// How its threads are.
    pub(super) thread_config: ThreadConfig,
    /// What prints a line of `schedtrace` now and then.
    pub(super) printer: Printer,
    /// What prints at SIGQUIT what its tasks wait for.
    #[cfg(all(unix, feature = "signal"))]
    pub(super) dumper: Dumper,
    /// What goroutines run on.
    /// `None`: closures run on their threads' own stacks.
    pub(super) stacks: Option<Arc<Stacks>>,
    /// Tasks that run without a P.
    pub(super) detached_tasks: DetachedTasks,
    /// tokio's runtime beside it, if one is needed.
    #[cfg(feature = "tokio-context")]
    pub(super) companion: Companion,
    /// tokio's runtime, in whose poller it waits, if it was asked for.
    #[cfg(feature = "tokio-context")]
    pub(super) tokio: Option<::tokio::runtime::Handle>,
    /// When its threads ask for turns of the global queue.
    pub(super) turns: Arc<Turns>,
    /// Its observers, if there are any.
    watch: Option<Box<Watch>>,
}

/// What has to be known of a runtime to make it.
pub(super) struct Parts {
    pub(super) procs: usize,
    pub(super) runtime_id: RuntimeId,
    pub(super) machine: sim::Number,
    pub(super) detects_deadlock: bool,
    pub(super) has_foreign_threads: bool,
    pub(super) meter: Meter,
    pub(super) thread_config: ThreadConfig,
    pub(super) stacks: Option<Arc<Stacks>>,
    pub(super) poller: Poller,
    pub(super) has_tokio: bool,
    pub(super) detached_tasks: DetachedTasks,
    pub(super) turns: Turns,
    pub(super) watch: Option<Box<Watch>>,
}

impl Shared {
    /// # Errors
    /// If the system gives no poller.
    pub(super) fn new(parts: Parts) -> io::Result<Shared> {
        let Parts {
            procs,
            runtime_id,
            machine,
            detects_deadlock,
            has_foreign_threads,
            meter,
            thread_config,
            stacks,
            poller,
            has_tokio,
            detached_tasks,
            turns,
            watch,
        } = parts;
        let timers = Arc::new(TimerQueue::new(procs));
        let idle = IdleWork::new(stacks.clone());
        let reactor = Arc::new(Reactor::new(runtime_id, !machine.is_any(), poller, has_tokio, idle)?);
        Ok(Shared {
            runtime_id,
            machine,
            wait_graph: WaitGraph::default(),
            owned_tasks: Arc::new(OwnedTasks::new(procs)),
            timers,
            reactor,
            block_on_waiters: BlockOnWaiters::new(),
            detects_deadlock,
            has_foreign_threads,
            meter,
            thread_config,
            printer: Printer::default(),
            #[cfg(all(unix, feature = "signal"))]
            dumper: Dumper::default(),
            stacks,
            detached_tasks,
            #[cfg(feature = "tokio-context")]
            companion: Companion::new(),
            #[cfg(feature = "tokio-context")]
            tokio: None,
            turns: Arc::new(turns),
            watch,
        })
    }

    /// The scheduler is closed: tasks that wait are dropped.
    pub(super) fn close(&self) {
        self.owned_tasks.clear();
        // After the tasks, which may use it; before what its own may use.
        #[cfg(feature = "tokio-context")]
        guarded(|| drop(self.companion.close()));
        #[cfg(feature = "tokio-context")]
        if self.tokio.is_some() {
            self.reactor.netpoll.leave_outer();
        }
        // From now on, of a simulated machine too; and what its tasks have left.
        self.timers.close();
        self.reactor.close();
        self.printer.end();
        #[cfg(all(unix, feature = "signal"))]
        self.dumper.end();
        self.watch.iter().for_each(|watch| watch.close());
    }

    /// Is it to be reported when a task runs: to be measured, or for an observer?
    pub(super) fn is_seen(&self) -> bool {
        self.meter.is_timed() || self.is_watched()
    }

    /// Is there an observer?
    pub(super) fn is_watched(&self) -> bool {
        self.watch.is_some()
    }

    /// Where a server listens that shows the runtime.
    #[cfg(feature = "console")]
    pub(super) fn console_addr(&self) -> Option<std::net::SocketAddr> {
        self.watch.as_ref().and_then(|watch| watch.address())
    }

    /// Something happened: it is reported to the watchers.
    #[inline(always)]
    pub(super) fn report(&self, event: Event<'_>) {
        if let Some(watch) = &self.watch {
            watch.report(event);
        }
    }

    /// Can something still arrive: from a timer, from a socket?
    pub(super) fn is_expecting(&self) -> bool {
        self.timers.is_expecting() || self.reactor.is_awaited()
    }
}
