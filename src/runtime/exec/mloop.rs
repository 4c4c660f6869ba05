//! An M's life: find a task, run it, over and over.
//!
//! Go: `mstart`, `schedule`, `execute`.
//!
//! ```text
//!   mstart ─► schedule ──► next ─► execute ─► next of the same P ─► execute ─► … ─► next
//!                │                                                                   │
//!                └ the scheduler is closed, or a task ended that was bound: the M ends ◄
//! ```

use crate::host::Nanos;
use crate::kernel::protocol::find::Worker;
use crate::runtime::exec::context::{Context, Role};
use crate::runtime::exec::current_worker::{CurrentWorker, InSyscall};
#[cfg(feature = "tokio-context")]
use crate::runtime::exec::entered::EnterGuard;
use crate::runtime::exec::goroutine;
#[cfg(feature = "tokio-context")]
use crate::runtime::exec::inside::InTokio;
use crate::runtime::exec::platform::Platform;
use crate::runtime::exec::polling;
use crate::runtime::exec::scheduler::{Kernel, Scheduler};
use crate::runtime::exec::task::Task;
use crate::runtime::exec::thread_hooks::ThreadHooks;
use crate::runtime::exec::turn_pace::TurnPace;
use crate::runtime::guarded::guarded;
use crate::runtime::host::cores::Cores;
use crate::runtime::host::signal::{self, Interrupted};
use crate::runtime::observe::watch;
use core::cell::Cell;
use core::panic::Location;
use std::sync::Arc;

/// Runs tasks until the scheduler is closed, or a task ends that is still bound to the thread.
pub(in crate::runtime) fn mstart<H: Platform>(kernel: &Arc<Kernel<H>>, worker: Worker) {
    let current = CurrentWorker::new(Scheduler::of(kernel), worker);
    let _room = signal::Stack::of_this_thread();
    #[cfg(feature = "tokio-context")]
    let tasks = current.shared().tokio.is_some().then(|| H::tasks(current.sched().clone()));
    #[cfg(feature = "tokio-context")]
    let _inside = tasks.as_ref().map(|tasks| (InTokio::of(tasks), EnterGuard::new(tasks)));
    let _hooks = ThreadHooks::run(current.sched());
    let lived = Context::try_with(|context| {
        context.runtime_id.set(Some(current.shared().runtime_id));
        context.number.set(signal::this_thread());
        goroutine::with_place(|goroutine| {
            let me: &dyn Interrupted = &OnThread { context, goroutine };
            // Where threads are played by one, none of them is preempted by a signal.
            let _heard = match H::IS_SIMULATED {
                true => signal::Heard::of_faults(&me),
                false => signal::Heard::new(&me),
            };
            let is_watched = current.shared().is_watched();
            let _watched = is_watched.then(|| watch::Present::new(current.shared().runtime_id, current.m()));
            // Once, not at each task.
            match current.shared().is_seen() {
                false => context.schedule::<H, false>(current),
                true => context.schedule::<H, true>(current),
            }
        });
        context.put_spare();
    });
    assert!(lived.is_some(), "mloop: an M was started on a thread that is ending");
}

/// What the signal handlers of this thread ask.
struct OnThread<'a> {
    context: &'a Context,
    goroutine: &'a Cell<goroutine::Current>,
}

impl Interrupted for OnThread<'_> {
    /// The task has run for a whole slice, and ignores preemption: if it runs its own code under its P, it goes on without.
    fn preempt(&self) {
        self.context.role::<Cores>().interrupt(|current| match current.is_preempted() && current.can_detach() {
            true => Ok(current.interrupt()),
            false => Err(current),
        });
    }

    fn overflows(&self, address: usize) -> Option<(&'static Location<'static>, usize)> {
        goroutine::overflows(self.goroutine, address)
    }
}

impl Context {
    fn schedule<H: Platform, const IS_SEEN: bool>(&self, mut current: CurrentWorker<H>) {
        let (mut pace, mut is_turn) = (TurnPace::new(Arc::clone(&current.shared().turns), H::now()), false);
        while let Some((next, task, address)) = current.next_at_turn(is_turn) {
            self.takes(next);
            self.execute::<H, IS_SEEN>(task, address);
            // As long as there are tasks of the same P, it stays where it is.
            while !self.locks.get().is_locked()
                && {
                    is_turn = pace.is_due(H::now);
                    !is_turn
                }
                && let Some((task, address)) = self.next_local::<H>()
            {
                self.execute::<H, IS_SEEN>(task, address);
            }
            let mine = self.role::<H>().take(InSyscall::reattach);
            let mine = mine.unwrap_or_else(|| unreachable!("mloop: no P after the task"));
            if self.locks.get().is_locked() {
                // Stays locked to its end: the thread that takes its P over is started from a clean one.
                return mine.end();
            }
            current = mine;
        }
    }

    #[inline]
    fn execute<H: Platform, const IS_SEEN: bool>(&self, task: Task, address: usize) {
        if H::defers(address) {
            return self.run_later::<H>(task);
        }
        self.spawned_at.set(Some(task.spawned_at()));
        polling::begins(address);
        self.unwound.set(0);
        let timed = if IS_SEEN { self.is_seen::<H>(address) } else { None };
        guarded(|| task.run());
        H::has_run(polling::has_yielded);
        polling::begins(0);
        if let Some(since) = timed {
            self.with_current_worker::<H, _>(|current| current.ended(since));
        }
    }

    #[inline]
    fn next_local<H: Platform>(&self) -> Option<(Task, usize)> {
        self.with_current_worker::<H, _>(CurrentWorker::next_local)
    }

    /// The task at this address is about to run, and the runtime is measured or watched. `Some`: report when it has.
    fn is_seen<H: Platform>(&self, address: usize) -> Option<Nanos> {
        watch::begins();
        self.with_current_worker::<H, _>(|current| current.begins(address as u64))
    }

    /// A seed says that others come first: those of the same P, or all.
    #[cold]
    fn run_later<H: Platform>(&self, task: Task) {
        self.role::<H>().try_with_mut(|role| {
            if let Role::Running(current) = role {
                match H::choose(2) {
                    0 => current.goyield(task),
                    _ => current.gosched(task),
                }
            }
        });
    }

    #[inline(always)]
    fn with_current_worker<H: Platform, R: Default>(&self, f: impl FnOnce(&CurrentWorker<H>) -> R) -> R {
        self.role::<H>().with(|role| match role {
            Role::Running(current) => f(current),
            _ => R::default(),
        })
    }
}
