//! An M with its P, and one that has left it, each with the scheduler whose they are: so no P is ever used in another's.

use crate::host::{Host, Nanos};
use crate::kernel::protocol::find::Worker;
use crate::kernel::protocol::locked::{Wake, Woken};
use crate::kernel::protocol::stw::safepoint::SafepointFn;
use crate::kernel::protocol::syscall::{Away, Way};
use crate::kernel::sched::stw::StoppedWorld;
use crate::kernel::types::m::MId;
use crate::kernel::types::p::PId;
use crate::runtime::exec::scheduler::Scheduler;
use crate::runtime::exec::task::Task;
use crate::runtime::observe::event::Event;
use crate::runtime::shared::Shared;
use std::sync::Arc;

/// An M with its P.
pub(in crate::runtime) struct CurrentWorker<H: Host> {
    sched: Scheduler<H>,
    worker: Worker,
}

impl<H: Host> CurrentWorker<H> {
    pub(in crate::runtime) fn new(sched: Scheduler<H>, worker: Worker) -> Self {
        CurrentWorker { sched, worker }
    }

    /// Queues `task` to run next under this P.
    #[inline]
    pub(in crate::runtime) fn ready(&mut self, task: Task) {
        self.sched.ready(&mut self.worker, task);
    }

    /// Queues `task`, which has just run, behind the others of this P.
    #[inline]
    pub(in crate::runtime) fn goyield(&mut self, task: Task) {
        self.sched.goyield(&mut self.worker, task);
    }

    /// Queues `task`, which was about to run, behind all others.
    pub(in crate::runtime) fn gosched(&mut self, task: Task) {
        self.sched.gosched(&mut self.worker, task);
    }

    /// The next task to run, if that is one of this P's; and what its wakers carry. `None`: ask [`next`](CurrentWorker::next).
    #[inline]
    pub(in crate::runtime) fn next_local(&self) -> Option<(Task, usize)> {
        self.sched.next_local(&self.worker)
    }

    /// The next task to run, and what its wakers carry. `None`: the scheduler is closed.
    #[inline]
    pub(in crate::runtime) fn next(self) -> Option<(Self, Task, usize)> {
        let CurrentWorker { sched, worker } = self;
        let (worker, (task, address)) = sched.next(worker)?;
        Some((CurrentWorker { sched, worker }, task, address))
    }

    /// The same; and before that it `is_turn` of the global queue, timers and sockets.
    #[inline]
    pub(in crate::runtime) fn next_at_turn(self, is_turn: bool) -> Option<(Self, Task, usize)> {
        if !is_turn {
            return self.next();
        }
        let CurrentWorker { sched, worker } = self;
        let (worker, (task, address)) = sched.next_turn(worker)?;
        Some((CurrentWorker { sched, worker }, task, address))
    }

    /// The task at this address is about to run. `Some`: report when it has.
    #[inline(always)]
    pub(in crate::runtime) fn begins(&self, address: u64) -> Option<Nanos> {
        self.shared().meter.begins(self.p(), address)
    }

    /// The task that began then has run.
    #[cold]
    pub(in crate::runtime) fn ended(&self, since: Nanos) {
        self.shared().meter.ended(self.p(), since);
    }

    /// Leaves the P for a system call; handed on at once if it is `known_to_block`.
    #[inline]
    pub(in crate::runtime) fn leave(self, known_to_block: bool) -> InSyscall<H> {
        let CurrentWorker { sched, worker } = self;
        let kernel = sched.kernel();
        let away = if known_to_block { kernel.entersyscallblock(worker) } else { kernel.entersyscall(worker) };
        InSyscall { sched, away }
    }

    /// Waits, without a P, until another task readies this M.
    pub(in crate::runtime) fn park(self, wake: Wake) -> (Self, Woken) {
        let CurrentWorker { sched, worker } = self;
        let (worker, woken) = sched.kernel().park_bound(worker, wake);
        (CurrentWorker { sched, worker }, woken)
    }

    /// Is the task asked to yield?
    #[inline]
    pub(in crate::runtime) fn should_yield(&self) -> bool {
        self.sched.kernel().should_yield(&self.worker)
    }

    /// Has the monitor requested preemption of its task?
    pub(in crate::runtime) fn is_preempted(&self) -> bool {
        self.sched.kernel().is_preempted(&self.worker)
    }

    /// May its task go on without the P? As many may as there may be threads for them.
    pub(in crate::runtime) fn can_detach(&self) -> bool {
        self.sched.kernel().can_detach(&self.worker)
    }

    /// Leaves the P, in a signal handler, while the task goes on.
    pub(in crate::runtime) fn interrupt(self) -> InSyscall<H> {
        let CurrentWorker { sched, worker } = self;
        sched.shared().detached_tasks.detached();
        let away = sched.kernel().interrupt(worker);
        InSyscall { sched, away }
    }

    /// Yields to others, and comes back.
    pub(in crate::runtime) fn yield_p(self) -> Self {
        let CurrentWorker { sched, worker } = self;
        let worker = sched.kernel().yield_bound(worker);
        CurrentWorker { sched, worker }
    }

    /// Stops the world.
    pub(in crate::runtime) fn stop(self) -> StoppedWorld {
        let CurrentWorker { sched, worker } = self;
        sched.kernel().stop_the_world(Some(worker))
    }

    /// Runs `f` under each P.
    pub(in crate::runtime) fn for_each_p(self, f: &Arc<SafepointFn>) -> Option<InSyscall<H>> {
        let CurrentWorker { sched, worker } = self;
        let away = sched.kernel().for_each_p(Some(worker), f)?;
        Some(InSyscall { sched, away })
    }

    /// The thread ends, though the scheduler is open.
    pub(in crate::runtime) fn end(self) {
        self.sched.kernel().end(self.worker);
    }

    /// Which M this is.
    pub(in crate::runtime) fn m(&self) -> MId {
        self.worker.m()
    }

    /// Which P it holds.
    pub(in crate::runtime) fn p(&self) -> PId {
        self.worker.p()
    }

    /// The scheduler.
    pub(in crate::runtime) fn sched(&self) -> &Scheduler<H> {
        &self.sched
    }

    /// What belongs to the runtime besides its scheduler.
    #[inline(always)]
    pub(in crate::runtime) fn shared(&self) -> &Shared {
        self.sched.shared()
    }
}

/// An M that has left its P.
pub(in crate::runtime) struct InSyscall<H: Host> {
    sched: Scheduler<H>,
    away: Away,
}

impl<H: Host> InSyscall<H> {
    /// That has stopped the world, in which it has no P.
    pub(in crate::runtime) fn new(sched: Scheduler<H>, away: Away) -> Self {
        InSyscall { sched, away }
    }

    /// Which M this is.
    pub(in crate::runtime) fn m(&self) -> MId {
        self.away.m()
    }

    /// Gets a P back; waits for it if need be.
    #[inline]
    pub(in crate::runtime) fn come_back(self) -> CurrentWorker<H> {
        self.exit_syscall().0
    }

    /// The same; and how it got it.
    #[inline]
    pub(in crate::runtime) fn exit_syscall(self) -> (CurrentWorker<H>, Way) {
        let InSyscall { sched, away } = self;
        if sched.shared().is_watched() {
            sched.shared().report(Event::SyscallOver { m: away.m() });
        }
        let (worker, way) = sched.kernel().exitsyscall_bound(away);
        (CurrentWorker { sched, worker }, way)
    }

    /// Its task was preempted, and wants a P again: behind those that wait for one.
    #[cold]
    pub(in crate::runtime) fn reattach(self) -> CurrentWorker<H> {
        self.shared().detached_tasks.reattached();
        let (current, way) = self.exit_syscall();
        match way {
            Way::Queued => current,
            // It was preempted to let others run.
            Way::Kept | Way::TookBack | Way::Idle => current.yield_p(),
        }
    }

    /// Its task was preempted, and has something to queue: it goes on under an idle P, if there is one. It never waits.
    #[cold]
    pub(in crate::runtime) fn try_reattach(self) -> Result<CurrentWorker<H>, InSyscall<H>> {
        let InSyscall { sched, away } = self;
        match sched.kernel().try_reattach(away) {
            Ok(worker) => {
                sched.shared().detached_tasks.reattached();
                Ok(CurrentWorker { sched, worker })
            }
            Err(away) => Err(InSyscall { sched, away }),
        }
    }

    /// Its task was preempted, and enters a system call: it has no P to leave, and no stopper waits for it to come to a
    /// checkpoint any more.
    #[cold]
    pub(in crate::runtime) fn enter_syscall(self, known_to_block: bool) -> InSyscall<H> {
        self.shared().detached_tasks.reattached();
        let InSyscall { sched, away } = self;
        let away = sched.kernel().enter_syscall_detached(away, known_to_block);
        InSyscall { sched, away }
    }

    /// The scheduler.
    pub(in crate::runtime) fn sched(&self) -> &Scheduler<H> {
        &self.sched
    }

    /// What belongs to the runtime besides its scheduler.
    #[inline(always)]
    pub(in crate::runtime) fn shared(&self) -> &Shared {
        self.sched.shared()
    }
}
