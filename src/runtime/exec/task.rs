//! A future as a G, and the scheduler as something that takes and gives tasks.
//!
//! The kernel knows a G as a number. Here, and nowhere else, a task becomes its number and a number its task: and the
//! code that does so is unsafe. It is sound because no other G can get into the scheduler of a [`Tasks`], and because the
//! kernel gives each G back exactly once, which is what its models check.

#![allow(unsafe_code)]

use crate::host::{Nanos, SpawnError};
use crate::kernel::protocol::find::Worker;
use crate::kernel::protocol::locked::{Wake, Woken};
use crate::kernel::protocol::stw::safepoint::SafepointFn;
use crate::kernel::protocol::syscall::{Away, Way};
use crate::kernel::sched::config::{Config, ConfigError};
use crate::kernel::sched::snapshot::{DetailedSnapshot, Snapshot};
use crate::kernel::sched::stw::StoppedWorld;
use crate::kernel::sched::{Closed, Sched};
use crate::kernel::types::g::G;
use crate::kernel::types::m::MId;
use crate::kernel::types::p::PId;
use crate::runtime::Cores;
use crate::runtime::exec::goroutine::Goroutine;
use crate::runtime::exec::owned::{InRuntime, Life, Outcome};
use crate::runtime::exec::registry::{RuntimeId, WeakTasks};
use crate::runtime::exec::worker;
use crate::runtime::exec::worker::Return;
use crate::runtime::host::sim;
use crate::runtime::observe::event::Event;
use crate::runtime::observe::{sampling, spans, watch};
use crate::runtime::shared::Shared;
use async_task::{Runnable, ScheduleInfo, WithInfo};
use core::future::Future;
use core::num::NonZeroU64;
use core::panic::Location;
use core::ptr::NonNull;
use std::sync::Arc;
use std::thread;

/// The right to a task's outcome.
pub(in crate::runtime) type Awaited<T> = async_task::Task<Outcome<T>, Meta>;

/// What is known of a task whatever it runs.
pub(in crate::runtime) struct Meta {
    /// Where it was spawned.
    spawned_at: &'static Location<'static>,
    /// The runtime whose task it is.
    runtime_id: RuntimeId,
}

impl Meta {
    /// Of a task of the runtime `runtime_id` that is spawned at the caller's place.
    #[track_caller]
    pub(in crate::runtime) fn here(runtime_id: RuntimeId) -> Meta {
        Meta { spawned_at: Location::caller(), runtime_id }
    }

    /// Where it was spawned.
    pub(in crate::runtime) fn spawned_at(&self) -> &'static Location<'static> {
        self.spawned_at
    }
}

/// A task that can run now. Dropped, its future is dropped, and its handle says so.
pub(in crate::runtime) struct Task(Runnable<Meta>);

impl Task {
    /// A task of the runtime `runtime_id`, and the right to its outcome.
    #[track_caller]
    pub(in crate::runtime) fn new<F>(runtime_id: RuntimeId, future: F) -> (Task, Awaited<F::Output>)
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        // It captures nothing: if it did, async-task would count the task up and down around each call.
        let schedule = WithInfo(|runnable: Runnable<Meta>, info: ScheduleInfo| {
            let runtime_id = runnable.metadata().runtime_id;
            worker::schedule(runtime_id, Task(runnable), info.woken_while_running);
        });
        let life = Life::new(spans::task(future), InRuntime::new(runtime_id));
        let (runnable, awaited) = async_task::Builder::new().metadata(Meta::here(runtime_id)).spawn(|_| life, schedule);
        watch::created(runtime_id, || runnable.waker(), Location::caller());
        (Task(runnable), awaited)
    }

    /// A goroutine of the runtime `runtime_id`.
    #[track_caller]
    pub(in crate::runtime) fn of_closure<F, T>(runtime_id: RuntimeId, f: F) -> (Task, Awaited<T>)
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        Task::new(runtime_id, Goroutine::new(runtime_id, f))
    }

    /// Runs it, here and now, until it waits or ends.
    #[inline]
    pub(in crate::runtime) fn run(self) {
        self.0.run();
    }

    /// Where it was spawned.
    pub(in crate::runtime) fn spawned_at(&self) -> &'static Location<'static> {
        self.0.metadata().spawned_at
    }

    /// As a number that owns it.
    #[inline]
    pub(in crate::runtime) fn into_g(self) -> G {
        let address = self.0.into_raw().as_ptr().expose_provenance() as u64;
        sampling::readied(address);
        G::from_raw(NonZeroU64::new(address).expect("task: an address is not null"))
    }

    /// Back from the number.
    ///
    /// # Safety
    /// `g` came out of [`into_g`](Task::into_g), and no G of the same number was given to `from_g` since.
    #[inline]
    unsafe fn from_g(g: G) -> Task {
        let address = core::ptr::with_exposed_provenance_mut::<()>(g.into_raw().get() as usize);
        let address = NonNull::new(address).expect("task: a G is not 0");
        // SAFETY: `into_g` made this address from a runnable of the same metadata, and gave that up; by this function's
        // own contract nobody has taken it back before us.
        Task(unsafe { Runnable::from_raw(address) })
    }
}

/// The scheduler of a runtime, watched by what belongs to it.
pub(in crate::runtime) type Kernel = Sched<Cores, Shared>;

/// A scheduler in which every G is a task: nothing else can put one in.
#[derive(Clone)]
pub(in crate::runtime) struct Tasks(Arc<Kernel>);

impl From<Arc<Kernel>> for Tasks {
    fn from(kernel: Arc<Kernel>) -> Tasks {
        Tasks(kernel)
    }
}

impl Tasks {
    /// A scheduler with no M yet.
    pub(in crate::runtime) fn new(config: Config, shared: Shared) -> Result<Tasks, ConfigError> {
        let life = |sched: &Arc<Kernel>, worker| {
            worker::live(CurrentWorker { tasks: Tasks(Arc::clone(sched)), worker });
        };
        let sources = shared.sources();
        let tasks = Sched::with_poller(config, shared, life, sources).map(Tasks)?;
        tasks.runtime_id().open(&tasks);
        if tasks.shared().machine.is_any() {
            sim::belongs_to(tasks.runtime_id());
        }
        Ok(tasks)
    }

    pub(in crate::runtime) fn downgrade(&self) -> WeakTasks {
        Arc::downgrade(&self.0)
    }

    /// Starts the first M, and the monitor.
    pub(in crate::runtime) fn start(&self) -> Result<(), SpawnError> {
        self.0.start()?;
        self.shared().thread_config.announce();
        self.0.start_sysmon()
    }

    /// A deterministic runtime is used by one thread only.
    ///
    /// # Panics
    /// If this is another.
    #[inline]
    pub(in crate::runtime) fn check_thread(&self) {
        sim::check(self.shared().machine, self.runtime_id());
    }

    /// Queues `task`; closed, gives it back.
    pub(in crate::runtime) fn submit(&self, task: Task) -> Result<(), Task> {
        self.check_thread();
        self.0.submit(task.into_g()).map_err(|Closed(g)| {
            // SAFETY: this is the G that was to be queued, two lines above.
            unsafe { Task::from_g(g) }
        })
    }

    /// Waits for the tasks that run, ends those that wait, and gives back those that never ran.
    pub(in crate::runtime) fn close(&self) -> Vec<Task> {
        self.check_thread();
        // In a task of another runtime: others run there meanwhile.
        let _back = Return::after_leaving(true);
        if !self.shared().machine.is_any() {
            self.shared().timers.close();
        }
        self.shared().block_on_waiters.close();
        let left = self.0.close();
        // Destructors of what has not ended run inside the runtime.
        let inside = worker::enter(self);
        // Who has waited once is known in the owned tasks, also if it could run now.
        let started = self.shared().owned_tasks.addresses();
        let mut unstarted = Vec::new();
        for g in left {
            let g = g.into_raw();
            // SAFETY: all Gs in there came from `submit` or `ready`, and the kernel gives each back once. The kernel's
            // own tickets are served before it closes.
            let task = unsafe { Task::from_g(G::from_raw(g)) };
            match started.contains(&(g.get() as usize)) {
                true => drop(task),
                false => unstarted.push(task),
            }
        }
        self.shared().close();
        drop(inside);
        self.runtime_id().close();
        sim::finish(self.shared().machine);
        self.shared().thread_config.wait();
        unstarted
    }

    /// The same on a new thread, for who would wait for itself.
    pub(in crate::runtime) fn close_elsewhere(self) {
        const NAME: &str = "spinpark-closer";
        if self.shared().machine.is_any() {
            sim::will_end();
            let _ = sim::spawn(NAME, None, move || drop(self.close()));
        } else {
            drop(thread::Builder::new().name(NAME.into()).spawn(move || drop(self.close())));
        }
    }

    /// What the task that is bound to `m` waits for has happened.
    pub(in crate::runtime) fn ready_bound(&self, m: MId) {
        self.check_thread();
        self.0.ready_bound(m);
    }

    /// If no task can ever run again, and one waits for another, that one is told.
    pub(in crate::runtime) fn checkdead(&self) {
        self.0.look_for_deadlock();
    }

    /// Nobody waits for a socket any more.
    pub(in crate::runtime) fn break_idle_poll(&self) {
        self.0.break_idle_poll();
    }

    /// Stops the world, from a thread that has no P of it.
    pub(in crate::runtime) fn stop(&self) -> StoppedWorld {
        self.check_thread();
        self.0.stop_the_world(None)
    }

    /// Starts it again. `Some`: one of its tasks had stopped it.
    pub(in crate::runtime) fn start_again(&self, stopped: StoppedWorld) -> Option<InSyscall> {
        self.0.start_the_world(stopped).map(|away| InSyscall { tasks: self.clone(), away })
    }

    /// How many Ps there shall be.
    pub(in crate::runtime) fn set_procs(&self, stopped: &mut StoppedWorld, procs: usize) -> Result<usize, ConfigError> {
        self.0.procresize(stopped, procs)
    }

    /// Runs `f` under each P, from a thread that has none of them.
    pub(in crate::runtime) fn for_each_p(&self, f: Arc<SafepointFn>) {
        self.check_thread();
        let away = self.0.for_each_p(None, f);
        debug_assert!(away.is_none(), "task: a safepoint was passed by nobody, and somebody has to come back");
    }

    /// Could one more thread take over now?
    pub(in crate::runtime) fn can_start_m(&self) -> bool {
        self.0.can_start_m()
    }

    pub(in crate::runtime) fn snapshot(&self) -> Snapshot {
        self.0.snapshot()
    }

    pub(in crate::runtime) fn detailed_snapshot(&self) -> DetailedSnapshot {
        self.0.detailed_snapshot()
    }

    pub(in crate::runtime) fn config(&self) -> &Config {
        self.0.config()
    }

    pub(in crate::runtime) fn procs(&self) -> usize {
        self.0.procs()
    }

    /// What belongs to the runtime besides its scheduler.
    pub(in crate::runtime) fn shared(&self) -> &Shared {
        self.0.observer()
    }

    /// Which runtime this is.
    pub(in crate::runtime) fn runtime_id(&self) -> RuntimeId {
        self.shared().runtime_id
    }
}

/// An M with its P, and the scheduler whose they are; kept together, so that no P is ever used in another's.
pub(in crate::runtime) struct CurrentWorker {
    tasks: Tasks,
    worker: Worker,
}

impl CurrentWorker {
    /// Queues `task` to run next under this P.
    #[inline]
    pub(in crate::runtime) fn ready(&mut self, task: Task) {
        self.tasks.0.ready(&mut self.worker, task.into_g());
    }

    /// Queues `task`, which has just run, behind the others of this P.
    #[inline]
    pub(in crate::runtime) fn goyield(&mut self, task: Task) {
        self.tasks.0.goyield(&mut self.worker, task.into_g());
    }

    /// Queues `task`, which was about to run, behind all others.
    pub(in crate::runtime) fn gosched(&mut self, task: Task) {
        self.tasks.0.yield_now(&mut self.worker, task.into_g());
    }

    /// The next task to run, if that is one of this P's; and what its wakers carry. `None`: ask [`next`](CurrentWorker::next).
    #[inline]
    pub(in crate::runtime) fn next_local(&self) -> Option<(Task, usize)> {
        let g = self.tasks.0.next_local(&self.worker)?.into_raw();
        // SAFETY: as in `next`.
        Some((unsafe { Task::from_g(G::from_raw(g)) }, g.get() as usize))
    }

    /// The next task to run, and what its wakers carry. (If async-task makes them otherwise one day, they are taken for
    /// strangers' then.) `None`: the scheduler is closed.
    #[inline]
    pub(in crate::runtime) fn next(self) -> Option<(CurrentWorker, Task, usize)> {
        let CurrentWorker { tasks, worker } = self;
        let (worker, g) = tasks.0.next(worker)?;
        let g = g.into_raw();
        // SAFETY: all Gs in there came from `submit` or `ready`, and the kernel gives each back once; it keeps its own
        // tickets to itself.
        let task = unsafe { Task::from_g(G::from_raw(g)) };
        Some((CurrentWorker { tasks, worker }, task, g.get() as usize))
    }

    /// The task at this address is about to run. `Some`: tell when it has.
    #[inline(always)]
    pub(in crate::runtime) fn begins(&self, address: u64) -> Option<Nanos> {
        self.tasks.shared().meter.begins(self.p(), address)
    }

    /// The task that began then has run.
    #[cold]
    pub(in crate::runtime) fn ended(&self, since: Nanos) {
        self.tasks.shared().meter.ended(self.p(), since);
    }

    /// Leaves the P for a system call; handed on at once if it is `known_to_block`.
    #[inline]
    pub(in crate::runtime) fn leave(self, known_to_block: bool) -> InSyscall {
        let CurrentWorker { tasks, worker } = self;
        let away = if known_to_block { tasks.0.entersyscallblock(worker) } else { tasks.0.entersyscall(worker) };
        InSyscall { tasks, away }
    }

    /// Waits, without a P, until another task readies this M.
    pub(in crate::runtime) fn park(self, wake: Wake) -> (CurrentWorker, Woken) {
        let CurrentWorker { tasks, worker } = self;
        let (worker, woken) = tasks.0.park_bound(worker, wake);
        (CurrentWorker { tasks, worker }, woken)
    }

    /// Is the task asked to yield?
    #[inline]
    pub(in crate::runtime) fn should_yield(&self) -> bool {
        self.tasks.0.should_yield(&self.worker)
    }

    /// Has the monitor requested preemption of its task?
    pub(in crate::runtime) fn is_preempted(&self) -> bool {
        self.tasks.0.is_preempted(&self.worker)
    }

    /// May its task go on without the P? As many may as there may be threads for them.
    pub(in crate::runtime) fn can_detach(&self) -> bool {
        self.tasks.0.can_detach()
    }

    /// Leaves the P, in a signal handler, while the task goes on.
    pub(in crate::runtime) fn interrupt(self) -> InSyscall {
        let CurrentWorker { tasks, worker } = self;
        tasks.shared().detached_tasks.detached();
        let away = tasks.0.interrupt(worker);
        InSyscall { tasks, away }
    }

    /// Makes way for others, and comes back.
    pub(in crate::runtime) fn yield_p(self) -> CurrentWorker {
        let CurrentWorker { tasks, worker } = self;
        let worker = tasks.0.yield_bound(worker);
        CurrentWorker { tasks, worker }
    }

    /// Stops the world.
    pub(in crate::runtime) fn stop(self) -> StoppedWorld {
        let CurrentWorker { tasks, worker } = self;
        tasks.0.stop_the_world(Some(worker))
    }

    /// Runs `f` under each P.
    pub(in crate::runtime) fn for_each_p(self, f: Arc<SafepointFn>) -> Option<InSyscall> {
        let CurrentWorker { tasks, worker } = self;
        tasks.0.for_each_p(Some(worker), f).map(|away| InSyscall { tasks: tasks.clone(), away })
    }

    /// The thread ends, though the scheduler is open.
    pub(in crate::runtime) fn end(self) {
        self.tasks.0.end(self.worker);
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
    pub(in crate::runtime) fn tasks(&self) -> &Tasks {
        &self.tasks
    }
}

/// An M that has left its P, and the scheduler whose it is.
pub(in crate::runtime) struct InSyscall {
    tasks: Tasks,
    away: Away,
}

impl InSyscall {
    /// Which M this is.
    pub(in crate::runtime) fn m(&self) -> MId {
        self.away.m()
    }

    /// Gets a P back; waits for it if need be.
    #[inline]
    pub(in crate::runtime) fn come_back(self) -> CurrentWorker {
        self.exit_syscall().0
    }

    #[inline]
    fn exit_syscall(self) -> (CurrentWorker, Way) {
        let InSyscall { tasks, away } = self;
        if tasks.shared().is_watched() {
            tasks.shared().tell(Event::SyscallOver { m: away.m() });
        }
        let (worker, way) = tasks.0.exitsyscall_bound(away);
        (CurrentWorker { tasks, worker }, way)
    }

    /// Its task was preempted, and wants a P again: behind those that wait for one.
    #[cold]
    pub(in crate::runtime) fn reattach(self) -> CurrentWorker {
        self.tasks.shared().detached_tasks.reattached();
        let (current, way) = self.exit_syscall();
        match way {
            Way::Queued => current,
            // It was preempted to let others run.
            Way::Kept | Way::TookBack | Way::Idle => current.yield_p(),
        }
    }

    /// Its task was preempted, and enters a system call: it has no P to leave, and nobody waits for it to come to a
    /// checkpoint any more.
    #[cold]
    pub(in crate::runtime) fn enter_syscall(self, known_to_block: bool) -> InSyscall {
        self.tasks.shared().detached_tasks.reattached();
        let InSyscall { tasks, away } = self;
        let away = tasks.0.enter_syscall_detached(away, known_to_block);
        InSyscall { tasks, away }
    }

    /// The scheduler.
    pub(in crate::runtime) fn tasks(&self) -> &Tasks {
        &self.tasks
    }
}

const _: () = assert!(size_of::<usize>() <= size_of::<u64>(), "an address has to fit a G");

#[cfg(test)]
mod tests {
    use super::*;

    mod a_task {
        use super::*;

        #[test]
        fn survives_being_a_number() {
            let witness = Arc::new(());
            let (task, awaited) = Task::new(RuntimeId::new(), {
                let witness = Arc::clone(&witness);
                async move { drop(witness) }
            });
            let g = task.into_g();
            // SAFETY: made in the line above.
            let task = unsafe { Task::from_g(g) };
            assert_eq!(Arc::strong_count(&witness), 2);
            task.run();
            assert_eq!(Arc::strong_count(&witness), 1, "the future was not run, or not dropped");
            assert!(awaited.is_finished());
        }
    }
}
