//! A runtime out of its numbers.

use crate::host::NEVER;
use crate::kernel::sched::config::Config;
use crate::runtime::build_error::BuildError;
use crate::runtime::builder::Builder;
use crate::runtime::env;
#[cfg(all(unix, feature = "signal"))]
use crate::runtime::exec::dump::Dump;
use crate::runtime::exec::goroutine::stack::Stacks;
use crate::runtime::exec::mloop::mstart;
use crate::runtime::exec::platform::Platform;
use crate::runtime::exec::preempt::DetachedTasks;
use crate::runtime::exec::scheduler::Scheduler;
use crate::runtime::exec::sources::sources;
#[cfg(all(unix, feature = "signal"))]
use crate::runtime::exec::tasks::Tasks;
#[cfg(feature = "tokio-context")]
use crate::runtime::exec::theirs;
use crate::runtime::exec::time_here;
use crate::runtime::exec::turn_pace::Turns;
use crate::runtime::host::cores::Cores;
use crate::runtime::host::sim::{self, sim_host::Sim};
use crate::runtime::host::thread_config::{Plan, ThreadConfig};
use crate::runtime::host::{cpus, signal};
use crate::runtime::id::RuntimeId;
use crate::runtime::io::netpoll::choice::Poller;
use crate::runtime::observe::meter::Meter;
use crate::runtime::runtime::Runtime;
use crate::runtime::shared::{Parts, Shared};
use core::time::Duration;
use std::io;

/// The default number of Ps of a deterministic runtime.
const SIMULATED_PROCS: usize = 4;

impl Builder {
    /// Makes the runtime and starts its first thread and its monitor; others are started when there is work for them.
    ///
    /// # Errors
    /// If a number or a name is not allowed, here or in the environment, or the system does not give a thread, or not the
    /// file to [`trace`](Builder::trace) to.
    ///
    /// ```
    /// let error = spinpark::Runtime::builder().procs(0).build().unwrap_err();
    /// println!("{error}"); // which number, and what is allowed
    /// ```
    pub fn build(self) -> Result<Runtime, BuildError> {
        let trace_every = env::schedtrace()?;
        let config = self.numbers()?;
        #[cfg(feature = "console")]
        if self.seed.is_some()
            && let Some(console) = &self.watchers.console
        {
            let reason = "a deterministic runtime has none: only its own thread may look at it".into();
            return Err(BuildError::Console { address: console.address(), reason });
        }
        #[cfg(feature = "tokio-context")]
        if self.seed.is_some() && self.has_tokio {
            return Err(BuildError::DeterministicTokio);
        }
        self.plan.check()?;
        if !(Stacks::SMALLEST..=Stacks::LARGEST).contains(&self.goroutine_stack) {
            return Err(BuildError::GoroutineStack(self.goroutine_stack));
        }
        // Checked before anything is made from it.
        config.check().map_err(BuildError::Config)?;
        let machine = sim::machine_for(self.seed).ok_or(BuildError::Nested)?;
        match machine.is_any() {
            false => self.build_on::<Cores>(machine, config, trace_every),
            true => self.build_on::<Sim>(machine, config, None).inspect_err(|_| sim::abandon()),
        }
    }

    fn build_on<H: Platform>(
        self,
        machine: sim::Number,
        config: Config,
        trace_every: Option<Duration>,
    ) -> Result<Runtime, BuildError> {
        let runtime_id = RuntimeId::new();
        signal::listen();
        let poller = self.chosen_poller()?;
        let preempts = self.preempts && !H::IS_SIMULATED && config.max_detached > 0;
        if preempts && !signal::is_heard() {
            return Err(BuildError::SignalReplaced);
        }
        #[cfg(all(unix, feature = "signal"))]
        let dumps = self.watchers.dumps_on_sigquit && !H::IS_SIMULATED;
        let parts = Parts {
            procs: config.procs,
            runtime_id,
            machine,
            detects_deadlock: self.detects_deadlock,
            has_foreign_threads: self.has_foreign_threads,
            meter: Meter::new(config.capacity(), self.is_timed, H::now),
            thread_config: ThreadConfig::new(self.plan),
            stacks: self.is_stackful.then(|| Stacks::new(config.procs, self.goroutine_stack)),
            poller,
            has_tokio: self.has_tokio,
            detached_tasks: DetachedTasks::new(config.capacity(), preempts),
            turns: Turns::new(if H::IS_SIMULATED || config.global_every == 0 { 0 } else { self.turn_every }),
            watch: self.watchers.open(runtime_id, &config)?,
        };
        let shared = shared(parts)?;
        if self.starts_paused && !H::IS_SIMULATED {
            time_here::pause(&shared, H::now());
        }
        let sources = sources::<H>(&shared);
        let tasks = H::tasks(Scheduler::new(config, shared, mstart::<H>, sources).map_err(BuildError::Config)?);
        runtime_id.open(&tasks);
        if H::IS_SIMULATED {
            let checkdead = move || {
                if let Some(tasks) = runtime_id.find() {
                    tasks.shared().timers.look_again();
                }
            };
            let deadline = move || runtime_id.find().map_or(NEVER, |tasks| tasks.shared().timers.deadline());
            sim::belongs_to(checkdead, deadline);
        }
        let start_trace = |every| {
            tasks.shared().thread_config.announce();
            tasks.shared().printer.start(every, move || runtime_id.find().map(|tasks| tasks.schedtrace()))
        };
        if let Err(error) = tasks.start().and_then(|()| trace_every.map_or(Ok(()), start_trace)) {
            drop(tasks.close());
            return Err(BuildError::Spawn(error));
        }
        #[cfg(all(unix, feature = "signal"))]
        if dumps && let Err(error) = start_dumper(&tasks, runtime_id) {
            drop(tasks.close());
            return Err(error);
        }
        Ok(Runtime::from_tasks(tasks))
    }

    /// Which poller to ask for.
    fn chosen_poller(&self) -> Result<Poller, BuildError> {
        Ok(match self.poller {
            // A ring has its report when a thread that has asked it comes to the system again: time may have jumped by then.
            _ if self.starts_paused => Poller::Epoll,
            // It is a source of tokio's poller.
            _ if self.has_tokio => Poller::Epoll,
            Poller::Auto => env::poller()?.unwrap_or_default(),
            poller => poller,
        })
    }

    /// With the defaults.
    fn numbers(&self) -> Result<Config, BuildError> {
        let procs = match self.procs {
            Some(procs) => procs,
            // Not what differs from machine to machine.
            None if self.seed.is_some() => SIMULATED_PROCS,
            None => env::procs()?.unwrap_or_else(cpus::default_procs),
        };
        let max_ms = self.max_threads.unwrap_or(self.config.max_ms.max(procs).min(Config::MAX_MS));
        Ok(Config { procs, max_ms, ..self.config.clone() })
    }
}

/// A runtime's state, with tokio's runtime if it was asked for.
fn shared(parts: Parts) -> Result<Shared, BuildError> {
    let make = || {
        #[cfg(feature = "tokio-context")]
        if parts.has_tokio {
            let mut shared = Shared::new(parts)?;
            shared.tokio = Some(theirs::open(&shared.reactor)?);
            return Ok(shared);
        }
        Shared::new(parts)
    };
    make().map_err(|error: io::Error| BuildError::Poller(error.raw_os_error()))
}

/// From now on SIGQUIT prints what the tasks of this runtime wait for.
#[cfg(all(unix, feature = "signal"))]
fn start_dumper(tasks: &Tasks, runtime_id: RuntimeId) -> Result<(), BuildError> {
    tasks.shared().thread_config.announce();
    let started = tasks.shared().dumper.start(move || runtime_id.find().map(|tasks| Dump::of(&tasks).to_string()));
    started.map_err(|error| BuildError::Sigquit(error.raw_os_error()))
}

impl Plan {
    fn check(&self) -> Result<(), BuildError> {
        if let Some(name) = &self.name
            && (name.is_empty() || name.contains('\0'))
        {
            return Err(BuildError::ThreadName(name.clone()));
        }
        match self.stack {
            Some(bytes) if !(Plan::SMALLEST_STACK..=Plan::LARGEST_STACK).contains(&bytes) => {
                Err(BuildError::ThreadStack(bytes))
            }
            _ => Ok(()),
        }
    }
}
