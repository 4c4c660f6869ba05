//! Many tasks, joined in the order in which they end.

use crate::runtime::exec::abort::AbortHandle;
use crate::runtime::exec::join::{JoinError, JoinHandle};
use crate::runtime::exec::local_set::LocalSet;
use crate::runtime::exec::spawn::{go, spawn};
use crate::runtime::exec::yielding::poll_leaf;
use crate::runtime::guarded::Theirs;
use crate::runtime::handle::Handle;
use crate::runtime::host::cores::Cores;
use crate::runtime::id::TaskId;
use crate::runtime::sync::waking::Lender;
use crate::runtime::task_waker::TaskWaker;
use crate::waits::join_set::{self, Ended};
use core::fmt;
use core::future::{Future, poll_fn};
use core::task::{Context, Poll, Waker};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Wake;

/// Tasks with values of one type, joined in the order in which they end. Dropped, it aborts those that have not ended.
///
/// ```
/// use spinpark::JoinSet;
///
/// let runtime = spinpark::Runtime::builder().procs(2).build()?;
/// let mut squares = runtime.block_on(async {
///     let mut set = JoinSet::new();
///     for n in 1..=3 {
///         set.spawn(async move { n * n });
///     }
///     let mut squares = Vec::new();
///     while let Some(square) = set.join_next().await {
///         squares.push(square?);
///     }
///     Ok::<_, spinpark::JoinError>(squares)
/// })??;
/// squares.sort();
/// assert_eq!(squares, [1, 4, 9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// And from other threads, with numbers, or given up:
///
/// ```
/// use spinpark::{JoinSet, LocalSet, Runtime, spawn};
///
/// let runtime = Runtime::builder().procs(1).build()?;
/// let (mut set, handle) = (JoinSet::new(), runtime.handle());
/// set.spawn_on(async { 1 }, &handle);
/// set.go_on(|| 2, &handle);
/// runtime.block_on(async {
///     let inserted = set.insert(spawn(async { 3 }));
///     set.go(|| 4);
///     let (id, value) = set.join_next_with_id().await.expect("four are in it");
///     println!("{id:?} {value:?} {:?} {}", inserted.id(), set.len());
///     println!("{:?} {:?}", set.try_join_next(), set.try_join_next_with_id());
///     std::future::poll_fn(|cx| set.poll_join_next(cx)).await;
///     std::future::poll_fn(|cx| set.poll_join_next_with_id(cx)).await;
///     set.abort_all();
///     set.shutdown().await;
///     assert!(set.is_empty());
///     set.spawn(std::future::pending());
///     set.detach_all(); // it goes on
///     let local = LocalSet::new();
///     set.spawn_local_on(async { 5 }, &local);
///     assert!(local.run_until(set.join_next()).await.is_some());
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct JoinSet<T> {
    set: join_set::JoinSet<Cores, TaskWaker, Member<T>>,
}

/// What a task has ended with that was inserted after its end.
type Kept<T> = Theirs<Mutex<Result<T, JoinError>>>;

/// A task of a set.
struct Member<T> {
    handle: JoinHandle<T>,
    id: TaskId,
    /// It had ended when it came. The mutex is for the compiler: a value may be one to be sent and not shared, a set may be shared.
    result: Option<Kept<T>>,
}

impl<T> Member<T> {
    /// It has ended.
    fn into_result(mut self) -> (TaskId, Result<T, JoinError>) {
        let result = match self.result.take() {
            Some(result) => result.into_inner().into_inner().unwrap_or_else(PoisonError::into_inner),
            None => match self.handle.poll_by(Waker::noop()) {
                Poll::Ready(result) => result,
                Poll::Pending => unreachable!("join_set: a task was listed that has not ended"),
            },
        };
        (self.id, result)
    }
}

/// What a task wakes that ends: puts its number into the list of its set.
struct Report {
    list: Arc<Ended<Cores, TaskWaker>>,
    number: usize,
}

impl Wake for Report {
    fn wake(self: Arc<Self>) {
        self.list.put(self.number);
    }
}

impl<T> JoinSet<T> {
    /// No task.
    #[must_use]
    pub fn new() -> Self {
        JoinSet { set: join_set::JoinSet::new() }
    }

    /// How many tasks are in it: those that run, and those that have ended and were not joined.
    #[must_use]
    pub fn len(&self) -> usize {
        self.set.len()
    }

    /// Is no task in it?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Puts a task into it that was spawned elsewhere, for instance by
    /// [`LocalSet::spawn_local`](crate::LocalSet::spawn_local).
    pub fn insert(&mut self, mut handle: JoinHandle<T>) -> AbortHandle {
        let abort = handle.abort_handle();
        let id = abort.id();
        self.set.insert(|list, number| {
            let report = Waker::from(Arc::new(Report { list: Arc::clone(list), number }));
            let result = match handle.poll_by(&report) {
                Poll::Pending => None,
                Poll::Ready(result) => {
                    report.wake();
                    Some(Theirs::new(Mutex::new(result)))
                }
            };
            Member { handle, id, result }
        });
        abort
    }

    /// Waits for the next task that ends, and takes it out. `None`: there is none.
    ///
    /// # Errors
    /// Those of the task's [`JoinHandle`]; never with a handle in them.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, it has taken none.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut set: spinpark::JoinSet<u32> = (1..=3).map(|n| async move { n }).collect();
    /// let mut sum = 0;
    /// while let Some(value) = set.join_next().await {
    ///     sum += value.expect("no panic");
    /// }
    /// assert_eq!(sum, 6);
    /// # });
    /// ```
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        poll_fn(|cx| self.poll_join_next(cx)).await
    }

    /// The same, with the task's number.
    ///
    /// # Errors
    /// As [`join_next`](JoinSet::join_next).
    ///
    /// # Cancel safety
    /// As [`join_next`](JoinSet::join_next)'s.
    pub async fn join_next_with_id(&mut self) -> Option<(TaskId, Result<T, JoinError>)> {
        poll_fn(|cx| self.poll_join_next_with_id(cx)).await
    }

    /// Has one ended? `None`: there is none. If none has, the last poller is woken by the next that ends.
    ///
    /// # Errors
    /// As [`join_next`](JoinSet::join_next).
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.poll_join_next_with_id(cx).map(|joined| joined.map(|(_, result)| result))
    }

    /// The same, with the task's number.
    ///
    /// # Errors
    /// As [`join_next`](JoinSet::join_next).
    #[allow(clippy::type_complexity, reason = "it is what is said")]
    pub fn poll_join_next_with_id(&mut self, cx: &mut Context<'_>) -> Poll<Option<(TaskId, Result<T, JoinError>)>> {
        let next = poll_leaf(cx, "join", |cx| self.set.poll_next(&mut Lender::new(cx.waker())));
        next.map(|member| member.map(Member::into_result))
    }

    /// Takes one out that has ended, if there is one.
    ///
    /// # Errors
    /// As [`join_next`](JoinSet::join_next).
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.try_join_next_with_id().map(|(_, result)| result)
    }

    /// The same, with the task's number.
    ///
    /// # Errors
    /// As [`join_next`](JoinSet::join_next).
    pub fn try_join_next_with_id(&mut self) -> Option<(TaskId, Result<T, JoinError>)> {
        self.set.try_next().map(Member::into_result)
    }

    /// Waits for all, and returns their values, in the order in which they ended.
    ///
    /// # Panics
    /// If a task has no value: with what it panicked with, if it did. The others are aborted then.
    ///
    /// # Cancel safety
    /// Dropped before, it aborts those that are left, and the values are lost.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let set: spinpark::JoinSet<u32> = (1..=3).map(|n| async move { n }).collect();
    /// assert_eq!(set.join_all().await.len(), 3);
    /// # });
    /// ```
    pub async fn join_all(mut self) -> Vec<T> {
        // Guarded, should one task panic: those of the others are dropped while that panic unwinds.
        let mut values = Vec::with_capacity(self.len());
        while let Some(result) = self.join_next().await {
            match result {
                Ok(value) => values.push(Theirs::new(value)),
                Err(JoinError::Panicked(panic)) => panic.resume_unwind(),
                Err(error) => panic!("JoinSet::join_all: {error}"),
            }
        }
        values.into_iter().map(Theirs::into_inner).collect()
    }

    /// [Aborts](JoinHandle::abort) all. They stay in the set until they are joined.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut set = spinpark::JoinSet::new();
    /// set.spawn(std::future::pending::<()>());
    /// set.abort_all();
    /// assert!(set.join_next().await.expect("one").unwrap_err().is_cancelled());
    /// # });
    /// ```
    pub fn abort_all(&mut self) {
        self.set.tasks().for_each(|member| member.handle.abort());
    }

    /// Aborts all, and waits until they have ended. None is in it then. A task that computes, or a closure that runs on
    /// its thread, ends when it would have.
    ///
    /// # Cancel safety
    /// Dropped before, all are aborted, and those that have not ended are in it still.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut set = spinpark::JoinSet::new();
    /// set.spawn(std::future::pending::<()>());
    /// set.shutdown().await;
    /// assert!(set.is_empty());
    /// # });
    /// ```
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while let Some(result) = self.join_next().await {
            drop(Theirs::new(result));
        }
    }

    /// Takes all out, and lets them go on by themselves. Their values are lost. A task that waits in a `poll_join_next` is woken.
    pub fn detach_all(&mut self) {
        drop(self.set.let_all_go());
    }
}

impl<T: 'static> JoinSet<T> {
    /// Spawns a task of that set's thread, and puts it into this set: it runs while the other's
    /// [`run_until`](LocalSet::run_until) does.
    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, future: F, local: &LocalSet) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        let handle = local.spawn_local(future);
        self.insert(handle)
    }
}

impl<T: Send + 'static> JoinSet<T> {
    /// Spawns a task, from inside of one, as [`spawn`](crate::spawn) does, and puts it into the set.
    ///
    /// # Panics
    /// If the caller is no task of a [`Runtime`](crate::Runtime).
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut set = spinpark::JoinSet::new();
    /// set.spawn(async { 1 });
    /// assert_eq!(set.join_all().await, [1]);
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
    {
        let handle = spawn(future);
        self.insert(handle)
    }

    /// Spawns a task of that runtime, from any thread, and puts it into the set.
    #[track_caller]
    pub fn spawn_on<F>(&mut self, future: F, runtime: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
    {
        let handle = runtime.spawn(future);
        self.insert(handle)
    }

    /// Runs a goroutine, from inside of one, as [`go`](crate::go) does, and puts it into the set.
    ///
    /// # Panics
    /// If the caller is no task of a [`Runtime`](crate::Runtime).
    #[track_caller]
    pub fn go<F>(&mut self, f: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
    {
        let handle = go(f);
        self.insert(handle)
    }

    /// Runs a goroutine of that runtime, from any thread, and puts it into the set.
    #[track_caller]
    pub fn go_on<F>(&mut self, f: F, runtime: &Handle) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
    {
        let handle = runtime.go(f);
        self.insert(handle)
    }
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        self.abort_all();
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// Spawns each, from inside of a task.
impl<T: Send + 'static, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
{
    fn from_iter<I: IntoIterator<Item = F>>(futures: I) -> Self {
        let mut set = JoinSet::new();
        set.extend(futures);
        set
    }
}

/// Spawns each, from inside of a task.
impl<T: Send + 'static, F> Extend<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
{
    fn extend<I: IntoIterator<Item = F>>(&mut self, futures: I) {
        futures.into_iter().for_each(|future| {
            self.spawn(future);
        });
    }
}

static_assertions::assert_impl_all!(JoinSet<std::cell::Cell<u8>>: Send, Sync, Unpin);
