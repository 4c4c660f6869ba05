//! A runtime's scheduler, whichever host it is on: what the code outside of its threads has of it.
//!
//! ```text
//!   Handle, block_on, wakers ──► Tasks ──┬─► Scheduler<Cores>
//!                                        └─► Scheduler<Sim>
//! ```
//!
//! An M knows its host, and has the [`Scheduler`] itself: of what it does again and again nothing goes through here.

use crate::host::SpawnError;
use crate::kernel::protocol::stw::safepoint::SafepointFn;
use crate::kernel::sched::config::Config;
use crate::kernel::sched::snapshot::Snapshot;
use crate::kernel::types::m::MId;
use crate::runtime::exec::scheduler::{Kernel, Scheduler};
use crate::runtime::exec::task::Task;
use crate::runtime::host::cores::Cores;
use crate::runtime::host::sim::{self, sim_host::Sim};
use crate::runtime::id::RuntimeId;
use crate::runtime::observe::schedtrace;
use crate::runtime::shared::Shared;
use std::sync::{Arc, Weak};

/// The scheduler of a runtime.
#[derive(Clone)]
pub(in crate::runtime) enum Tasks {
    /// On real cores.
    Cores(Scheduler<Cores>),
    /// On a machine that is simulated.
    Sim(Scheduler<Sim>),
}

/// The same, without keeping it.
#[derive(Clone)]
pub(in crate::runtime) enum WeakTasks {
    Cores(Weak<Kernel<Cores>>),
    Sim(Weak<Kernel<Sim>>),
}

/// Runs the expression with the scheduler of the host that it is on.
macro_rules! on_host {
    ($tasks:expr, $sched:ident => $do:expr) => {
        match $tasks {
            $crate::runtime::exec::tasks::Tasks::Cores($sched) => $do,
            $crate::runtime::exec::tasks::Tasks::Sim($sched) => $do,
        }
    };
}
pub(in crate::runtime) use on_host;

impl From<Scheduler<Cores>> for Tasks {
    fn from(sched: Scheduler<Cores>) -> Tasks {
        Tasks::Cores(sched)
    }
}

impl From<Scheduler<Sim>> for Tasks {
    fn from(sched: Scheduler<Sim>) -> Tasks {
        Tasks::Sim(sched)
    }
}

impl WeakTasks {
    /// It, if it lives.
    pub(in crate::runtime) fn upgrade(&self) -> Option<Tasks> {
        match self {
            WeakTasks::Cores(weak) => weak.upgrade().map(|kernel| Tasks::Cores(Scheduler::of(&kernel))),
            WeakTasks::Sim(weak) => weak.upgrade().map(|kernel| Tasks::Sim(Scheduler::of(&kernel))),
        }
    }
}

impl Tasks {
    pub(in crate::runtime) fn downgrade(&self) -> WeakTasks {
        match self {
            Tasks::Cores(sched) => WeakTasks::Cores(sched.downgrade()),
            Tasks::Sim(sched) => WeakTasks::Sim(sched.downgrade()),
        }
    }

    /// Starts the first M, and the monitor.
    pub(in crate::runtime) fn start(&self) -> Result<(), SpawnError> {
        on_host!(self, sched => sched.kernel().start())?;
        self.shared().thread_config.announce();
        on_host!(self, sched => sched.kernel().start_sysmon())
    }

    /// A deterministic runtime is used by one thread only, and no other by that thread.
    ///
    /// # Panics
    /// If this is another; or that one.
    #[inline]
    pub(in crate::runtime) fn check_thread(&self) {
        sim::check(self.shared().machine, || self.runtime_id().is_open());
    }

    /// Queues `task`; closed, gives it back.
    pub(in crate::runtime) fn submit(&self, task: Task) -> Result<(), Task> {
        self.check_thread();
        on_host!(self, sched => sched.submit(task))
    }

    /// What the task that is bound to `m` waits for has happened.
    pub(in crate::runtime) fn ready_bound(&self, m: MId) {
        self.check_thread();
        on_host!(self, sched => sched.kernel().ready_bound(m));
    }

    /// If no task can ever run again, and one waits for another, that one gets a deadlock. Returns whether one would have
    /// got it, but for what a source expects for now.
    pub(in crate::runtime) fn checkdead(&self) -> bool {
        on_host!(self, sched => sched.kernel().look_for_deadlock())
    }

    /// No task waits for a socket any more.
    pub(in crate::runtime) fn break_idle_poll(&self) {
        on_host!(self, sched => sched.kernel().break_idle_poll());
    }

    /// Runs `f` under each P, from a thread that has none of them.
    pub(in crate::runtime) fn for_each_p(&self, f: &Arc<SafepointFn>) {
        self.check_thread();
        let is_away = on_host!(self, sched => sched.kernel().for_each_p(None, f).is_some());
        debug_assert!(!is_away, "tasks: the safepoint was passed while a G is still away");
    }

    /// Could one more thread take over now?
    pub(in crate::runtime) fn can_start_m(&self) -> bool {
        on_host!(self, sched => sched.kernel().can_start_m())
    }

    pub(in crate::runtime) fn snapshot(&self) -> Snapshot {
        on_host!(self, sched => sched.kernel().snapshot())
    }

    /// The line of `schedtrace`.
    pub(in crate::runtime) fn schedtrace(&self) -> String {
        let seen = on_host!(self, sched => sched.kernel().detailed_snapshot());
        format!("SCHED {}ms: {}", self.shared().meter.uptime().as_millis(), schedtrace::Line(seen))
    }

    pub(in crate::runtime) fn config(&self) -> &Config {
        on_host!(self, sched => sched.kernel().config())
    }

    pub(in crate::runtime) fn procs(&self) -> usize {
        on_host!(self, sched => sched.kernel().procs())
    }

    /// What belongs to the runtime besides its scheduler.
    pub(in crate::runtime) fn shared(&self) -> &Shared {
        on_host!(self, sched => sched.shared())
    }

    /// Which runtime this is.
    pub(in crate::runtime) fn runtime_id(&self) -> RuntimeId {
        self.shared().runtime_id
    }
}
