//! Tasks that cannot leave their thread.

use crate::runtime::exec::awaited::Awaited;
use crate::runtime::exec::context::Context;
use crate::runtime::exec::join::JoinHandle;
use crate::runtime::exec::life::{InOwnedTasks, Life};
use crate::runtime::exec::on_thread::OnThread;
use crate::runtime::exec::owned::OwnedTasks;
use crate::runtime::exec::polling::Nested;
use crate::runtime::exec::task::{Queue, Task};
use crate::runtime::guarded::guarded;
use crate::runtime::id::RuntimeId;
use crate::runtime::task_waker::TaskWaker;
use crate::waits::waker;
use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use core::pin::{Pin, pin};
use core::task::{self, Poll, Waker};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Tasks that are not `Send`. They run on the thread that runs [`run_until`](LocalSet::run_until), usually inside of
/// [`block_on`](crate::Runtime::block_on), in turn; and only while it does. Dropped, it drops those that have not ended.
///
/// ```
/// use std::rc::Rc;
///
/// let runtime = spinpark::Runtime::builder().procs(1).build()?;
/// let local = spinpark::LocalSet::new();
/// let shared = Rc::new(41);
/// let sum = runtime.block_on(local.run_until(async {
///     let mine = Rc::clone(&shared);
///     local.spawn_local(async move { *mine + 1 }).await
/// }))??;
/// assert_eq!(sum, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LocalSet {
    queue: Arc<Ready>,
    owned_tasks: Arc<OwnedTasks>,
    /// It belongs to its thread.
    not_send: PhantomData<Rc<()>>,
}

/// What its tasks' wakers reach, from any thread.
struct Ready(Mutex<Inside>);

struct Inside {
    ready: VecDeque<Task>,
    runners: Runners,
    is_closed: bool,
}

/// The calls of `run_until` that wait: their numbers and wakers. All are woken when a task becomes ready: one that is woken alone may
/// end, or be dropped, without running it.
#[derive(Default)]
struct Runners {
    next: u64,
    /// Almost always the only one: it needs no memory of its own.
    first: Option<(u64, Waker)>,
    others: Vec<(u64, Waker)>,
}

impl Runners {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// This one waits. Returns a waker to be dropped outside of the lock.
    fn add(&mut self, number: u64, waker: Waker) -> Option<Waker> {
        let old = self.remove(number);
        match &self.first {
            None => self.first = Some((number, waker)),
            Some(_) => self.others.push((number, waker)),
        }
        old
    }

    /// This one waits no more. As for the rest see [`add`](Runners::add).
    fn remove(&mut self, number: u64) -> Option<Waker> {
        let first = self.first.take_if(|(other, _)| *other == number);
        let taken = first.or_else(|| {
            let at = self.others.iter().position(|(other, _)| *other == number)?;
            Some(self.others.swap_remove(at))
        });
        taken.map(|(_, waker)| waker)
    }

    /// The wakers of all that wait.
    fn take(&mut self) -> impl Iterator<Item = Waker> + use<> {
        self.first.take().into_iter().chain(core::mem::take(&mut self.others)).map(|(_, waker)| waker)
    }
}

impl Ready {
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue for Arc<Ready> {
    fn put(&self, task: Task, _yields: bool) -> Result<(), Task> {
        let mut inside = self.lock();
        if inside.is_closed {
            return Err(task);
        }
        inside.ready.push_back(task);
        let woken = inside.runners.take();
        drop(inside);
        waker::wake(woken.map(TaskWaker));
        Ok(())
    }
}

impl LocalSet {
    /// No task.
    #[must_use]
    pub fn new() -> Self {
        let inside = Inside { ready: VecDeque::new(), runners: Runners::default(), is_closed: false };
        LocalSet {
            queue: Arc::new(Ready(Mutex::new(inside))),
            owned_tasks: Arc::new(OwnedTasks::new(1)),
            not_send: PhantomData,
        }
    }

    /// Runs `future` as a task of this thread.
    ///
    /// ```
    /// use std::rc::Rc;
    ///
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// let (local, shared) = (spinpark::LocalSet::new(), Rc::new(5)); // not `Send`
    /// runtime.block_on(local.run_until(async {
    ///     let task = local.spawn_local(async move { *shared });
    ///     assert_eq!(task.await.expect("no panic"), 5);
    /// }))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: 'static> + 'static,
    {
        let life = Life::new(OnThread::new(future), InOwnedTasks::new(Arc::clone(&self.owned_tasks)));
        let (task, awaited) = Awaited::allocate(RuntimeId::NONE, Arc::clone(&self.queue), life);
        // The set is not closed: the caller has it.
        drop(self.queue.put(task, false));
        JoinHandle::new(awaited, RuntimeId::NONE)
    }

    /// Runs `future` and the tasks of this set, until `future` ends. The tasks that have not ended then go on when it is
    /// called again. Several may call it at the same time, on the thread of the set: each runs what is ready.
    ///
    /// # Cancel safety
    /// Dropped, it drops `future` alone: the set's tasks are kept, and go on when it is called again.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// let local = spinpark::LocalSet::new();
    /// let task = local.spawn_local(async { 5 }); // runs when the set does
    /// assert_eq!(runtime.block_on(local.run_until(task))??, 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn run_until<F: Future>(&self, future: F) -> F::Output {
        let number = self.queue.lock().runners.number();
        RunUntil { queue: &self.queue, number, future: pin!(future) }.await
    }
}

impl Default for LocalSet {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for LocalSet {
    fn drop(&mut self) {
        let ready = {
            let mut inside = self.queue.lock();
            inside.is_closed = true;
            core::mem::take(&mut inside.ready)
        };
        ready.into_iter().for_each(|task| guarded(|| drop(task)));
        self.owned_tasks.clear();
    }
}

impl fmt::Debug for LocalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalSet").field("waiting", &self.owned_tasks.len()).finish_non_exhaustive()
    }
}

struct RunUntil<'a, F> {
    queue: &'a Ready,
    number: u64,
    future: Pin<&'a mut F>,
}

impl<F> Drop for RunUntil<'_, F> {
    fn drop(&mut self) {
        let waker = self.queue.lock().runners.remove(self.number);
        waker::forget(waker.map(TaskWaker));
    }
}

/// So many tasks in a row, and then the task that polls the set has its turn.
const BUDGET: usize = 61;

impl<F: Future> Future for RunUntil<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<F::Output> {
        // Before anything is looked at: what comes later wakes us.
        let (waker, number) = (cx.waker().clone(), self.number);
        let old = self.queue.lock().runners.add(number, waker);
        waker::forget(old.map(TaskWaker));
        if let Poll::Ready(value) = self.future.as_mut().poll(cx) {
            return Poll::Ready(value);
        }
        for _ in 0..BUDGET {
            let Some(task) = self.queue.lock().ready.pop_front() else { return Poll::Pending };
            let before = Context::set_spawned_at(Some(task.spawned_at()));
            let _polls = Nested::begin();
            guarded(|| task.run());
            Context::set_spawned_at(before);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

static_assertions::assert_not_impl_any!(LocalSet: Send, Sync);
