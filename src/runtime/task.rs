//! A closure as a G, and the scheduler as something that takes and gives tasks.
//!
//! The kernel knows a G as a number. Here, and nowhere else, a task becomes its number and a number its task: the only
//! unsafe code of the crate. It is sound because no other G can get into the scheduler of a [`Tasks`], and because the
//! kernel gives each G back exactly once, which is what its models check.

#![allow(unsafe_code)]

use super::board::Board;
use super::worker;
use super::{Cores, packet::Packet};
use crate::host::SpawnError;
use crate::kernel::config::{Config, ConfigError};
use crate::kernel::find::Worker;
use crate::kernel::g::G;
use crate::kernel::locked::{Wake, Woken};
use crate::kernel::m::MId;
use crate::kernel::safepoint::SafepointFn;
use crate::kernel::sched::{Closed, Sched};
use crate::kernel::snapshot::Snapshot;
use crate::kernel::syscall::Away;
use crate::kernel::world::Stopped;
use core::num::NonZeroU64;
use core::panic::Location;
use std::sync::Arc;

/// What can be done with a closure whose type is forgotten.
pub(super) trait Body: Send + Sync {
    /// Runs it. Called once at most.
    fn run(&self);
    /// It will not be run, unless it was.
    fn abandon(&self);
    /// Where it was made a task.
    fn spawned_at(&self) -> &'static Location<'static>;
}

/// A closure that has yet to run. Dropped, it is abandoned.
pub(super) struct Task(Option<Arc<dyn Body>>);

impl Task {
    /// A task, and where its outcome will be.
    #[track_caller]
    pub(super) fn new<F, T>(f: F) -> (Task, Arc<Packet<F, T>>)
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let packet = Arc::new(Packet::new(f));
        (Task(Some(packet.clone())), packet)
    }

    /// Runs it, here and now.
    pub(super) fn run(mut self) {
        if let Some(body) = self.0.take() {
            body.run();
        }
    }

    /// Where it was made.
    pub(super) fn spawned_at(&self) -> Option<&'static Location<'static>> {
        self.0.as_ref().map(|body| body.spawned_at())
    }

    /// As a number that owns it. One more box, so that a fat pointer fits a word.
    fn into_g(mut self) -> G {
        let body = Box::new(self.0.take().expect("task: it was run or queued already"));
        let address = Box::into_raw(body).expose_provenance() as u64;
        G::from_raw(NonZeroU64::new(address).expect("task: a box has an address"))
    }

    /// Back from the number.
    ///
    /// # Safety
    /// `g` came out of [`into_g`](Task::into_g), and no G of the same number was given to `from_g` since.
    unsafe fn from_g(g: G) -> Task {
        let body = core::ptr::with_exposed_provenance_mut::<Arc<dyn Body>>(g.into_raw().get() as usize);
        // SAFETY: `into_g` made this address from a box of this type and gave up the box; by this function's own
        // contract nobody has taken it back before us.
        Task(Some(*unsafe { Box::from_raw(body) }))
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if let Some(body) = self.0.take() {
            body.abandon();
        }
    }
}

/// A scheduler in which every G is a task: nothing else can put one in.
#[derive(Clone)]
pub(super) struct Tasks(Arc<Sched<Cores, Board>>);

impl Tasks {
    /// A scheduler with no M yet.
    pub(super) fn new(config: Config) -> Result<Tasks, ConfigError> {
        let life = |sched: &Arc<Sched<Cores, Board>>, worker| {
            worker::live(Post { tasks: Tasks(Arc::clone(sched)), worker });
        };
        Sched::new(config, Board::default(), life).map(Tasks)
    }

    /// Starts the first M, and the monitor.
    pub(super) fn start(&self) -> Result<(), SpawnError> {
        self.0.start()?;
        self.0.start_sysmon()
    }

    /// Queues `task`; closed, gives it back.
    pub(super) fn submit(&self, task: Task) -> Result<(), Task> {
        self.0.submit(task.into_g()).map_err(|Closed(g)| {
            // SAFETY: this is the G that was to be queued, two lines above.
            unsafe { Task::from_g(g) }
        })
    }

    /// Waits for the tasks that run, and gives back those that never did.
    pub(super) fn close(&self) -> Vec<Task> {
        let left = self.0.close().into_iter().map(|g| {
            // SAFETY: all Gs in there came from `submit` or `ready`, and the kernel gives each back once. The kernel's
            // own tickets are served before it closes.
            unsafe { Task::from_g(g) }
        });
        left.collect()
    }

    /// What the task that is bound to `m` waits for has happened.
    pub(super) fn ready_bound(&self, m: MId) {
        self.0.ready_bound(m);
    }

    /// Stops the world, from a thread that has no P of it.
    pub(super) fn stop(&self) -> Stopped {
        self.0.stop_the_world(None)
    }

    /// Starts it again. `Some`: one of its tasks had stopped it.
    pub(super) fn start_again(&self, stopped: Stopped) -> Option<Left> {
        self.0.start_the_world(stopped).map(|away| Left { tasks: self.clone(), away })
    }

    /// How many Ps there shall be.
    pub(super) fn set_procs(&self, stopped: &mut Stopped, procs: usize) -> Result<usize, ConfigError> {
        self.0.procresize(stopped, procs)
    }

    /// Runs `f` under each P, from a thread that has none of them.
    pub(super) fn for_each_p(&self, f: Arc<SafepointFn>) {
        let away = self.0.for_each_p(None, f);
        debug_assert!(away.is_none(), "task: a safepoint was passed by nobody, and somebody has to come back");
    }

    /// Could one more thread take over now?
    pub(super) fn can_start_m(&self) -> bool {
        self.0.can_start_m()
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        self.0.snapshot()
    }

    pub(super) fn config(&self) -> &Config {
        self.0.config()
    }

    pub(super) fn procs(&self) -> usize {
        self.0.procs()
    }

    /// What its tasks wait for.
    pub(super) fn board(&self) -> &Board {
        self.0.observer()
    }

    /// Which scheduler this is, among those that live.
    pub(super) fn id(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

/// An M with its P, and the scheduler whose they are; kept together, so that no P is ever used in another's.
pub(super) struct Post {
    tasks: Tasks,
    worker: Worker,
}

impl Post {
    /// Queues `task` to run next under this P.
    pub(super) fn ready(&mut self, task: Task) {
        self.tasks.0.ready(&mut self.worker, task.into_g());
    }

    /// The next task to run. `None`: the scheduler is closed.
    pub(super) fn next(self) -> Option<(Post, Task)> {
        let Post { tasks, worker } = self;
        let (worker, g) = tasks.0.next(worker)?;
        // SAFETY: all Gs in there came from `submit` or `ready`, and the kernel gives each back once; it keeps its own
        // tickets to itself.
        let task = unsafe { Task::from_g(g) };
        Some((Post { tasks, worker }, task))
    }

    /// Leaves the P for a system call; handed on at once if it is `known_to_block`.
    #[inline]
    pub(super) fn leave(self, known_to_block: bool) -> Left {
        let Post { tasks, worker } = self;
        let away = if known_to_block { tasks.0.entersyscallblock(worker) } else { tasks.0.entersyscall(worker) };
        Left { tasks, away }
    }

    /// Waits, without a P, until another task readies this M.
    pub(super) fn park(self) -> (Post, Woken) {
        let Post { tasks, worker } = self;
        let (worker, woken) = tasks.0.park_bound(worker, Wake::Inside);
        (Post { tasks, worker }, woken)
    }

    /// Is the task asked to make way?
    #[inline]
    pub(super) fn should_yield(&self) -> bool {
        self.tasks.0.should_yield(&self.worker)
    }

    /// Makes way for others, and comes back.
    pub(super) fn make_way(self) -> Post {
        let Post { tasks, worker } = self;
        let worker = tasks.0.yield_bound(worker);
        Post { tasks, worker }
    }

    /// Stops the world.
    pub(super) fn stop(self) -> Stopped {
        let Post { tasks, worker } = self;
        tasks.0.stop_the_world(Some(worker))
    }

    /// Runs `f` under each P.
    pub(super) fn for_each_p(self, f: Arc<SafepointFn>) -> Option<Left> {
        let Post { tasks, worker } = self;
        tasks.0.for_each_p(Some(worker), f).map(|away| Left { tasks: tasks.clone(), away })
    }

    /// The thread ends, though the scheduler is open.
    pub(super) fn end(self) {
        self.tasks.0.end(self.worker);
    }

    /// Which M this is.
    pub(super) fn m(&self) -> MId {
        self.worker.m()
    }

    /// The scheduler.
    pub(super) fn tasks(&self) -> &Tasks {
        &self.tasks
    }
}

/// An M that has left its P, and the scheduler whose it is.
pub(super) struct Left {
    tasks: Tasks,
    away: Away,
}

impl Left {
    /// Gets a P back; waits for it if need be.
    #[inline]
    pub(super) fn come_back(self) -> Post {
        let Left { tasks, away } = self;
        let (worker, _) = tasks.0.exitsyscall_bound(away);
        Post { tasks, worker }
    }

    /// The scheduler.
    pub(super) fn tasks(&self) -> &Tasks {
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
            let (task, packet) = Task::new({
                let witness = Arc::clone(&witness);
                move || drop(witness)
            });
            let g = task.into_g();
            // SAFETY: made in the line above.
            let task = unsafe { Task::from_g(g) };
            assert_eq!(Arc::strong_count(&witness), 2);
            task.run();
            assert_eq!(Arc::strong_count(&witness), 1, "the closure was not run, or not dropped");
            assert_eq!(Arc::strong_count(&packet), 1, "the task was not freed");
        }
    }
}
