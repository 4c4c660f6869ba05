//! Tasks that may borrow.

#![allow(unsafe_code)]

use crate::runtime::exec::goroutine::Wait as _;
use crate::runtime::exec::not_in_runtime::NotInRuntime;
use crate::runtime::exec::unwind::Unwound;
use crate::runtime::exec::yielding::poll_leaf;
use crate::runtime::handle::Handle;
use crate::runtime::host::cores::Cores;
use crate::runtime::runtime::Runtime;
use crate::runtime::structured::erased::Erased;
use crate::runtime::structured::scoped::{Body, Panicked, Place, ScopedJoinHandle};
use crate::runtime::sync::waking::Lender;
use crate::runtime::task_waker::TaskWaker;
use crate::waits::scope;
use crate::waits::wait_group::Wait;
use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// A place for tasks that may borrow from around it. Given by [`scope()`].
pub struct Scope<'scope, 'env: 'scope> {
    runtime: Handle,
    tasks: Arc<Tasks>,
    panicked: Arc<Panicked>,
    /// Invariant in both, as those of std's scopes: neither may be made shorter.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

type Tasks = scope::Scope<Cores, TaskWaker, Erased>;

/// What the runtime has of a task of a scope. It borrows nothing, and may be kept anywhere.
struct Runs(Arc<scope::Task<Cores, TaskWaker, Erased>>);

impl Future for Runs {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.run(|content| content.poll(cx))
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Runs `future` as a task, which may borrow what outlives the scope, and the scope itself.
    ///
    /// ```
    /// let words = ["a", "bc"];
    /// let runtime = spinpark::Runtime::builder().procs(2).build()?;
    /// let letters = runtime.scope(|scope| {
    ///     let first = scope.spawn(async { words[0].len() });
    ///     let second = scope.go(|| words[1].len());
    ///     Ok::<_, spinpark::JoinError>(first.join()? + second.join()?)
    /// })?;
    /// assert_eq!(letters, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn spawn<F>(&'scope self, future: F) -> ScopedJoinHandle<'scope, F::Output>
    where
        F: Future<Output: Send + 'scope> + Send + 'scope,
    {
        let place = Place::new(&self.panicked);
        let body = Body::new(future, Arc::clone(&place));
        // SAFETY: it goes into the scope's tasks, and `scope` does not return before those have dropped all that they
        // were given.
        let content = unsafe { Erased::future(body) };
        self.begin(content, place)
    }

    /// Runs `f` as a goroutine, which may borrow what outlives the scope, and the scope itself. See
    /// [`go`](crate::go).
    ///
    /// ```
    /// let mut sum = 0;
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// runtime.scope(|scope| drop(scope.go(|| sum += 1)));
    /// assert_eq!(sum, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn go<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let place = Place::new(&self.panicked);
        let kept = Arc::clone(&place);
        let runtime_id = self.runtime.tasks.runtime_id();
        // SAFETY: as in `spawn`.
        let content = unsafe { Erased::closure(runtime_id, move || kept.call(f)) };
        self.begin(content, place)
    }

    #[track_caller]
    fn begin<T>(&'scope self, content: Erased, place: Arc<Place<T>>) -> ScopedJoinHandle<'scope, T> {
        // Counted before it is queued.
        let task = Runs(self.tasks.begin(content));
        ScopedJoinHandle::new(self.runtime.spawn(task), place)
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = self.tasks.group().with(|state| state.count());
        f.debug_struct("Scope").field("left", &left).finish_non_exhaustive()
    }
}

/// Runs `f`, which may spawn tasks that borrow from around it, and returns when all of them have ended. As
/// [`std::thread::scope`]; for a goroutine, or any thread. From inside of a task, or of what has
/// [entered](crate::Runtime::enter) a runtime; from elsewhere by [`Runtime::scope`](crate::Runtime::scope).
///
/// ```
/// let runtime = spinpark::Runtime::builder().procs(2).build()?;
/// let words = vec!["spin", "and", "park"];
/// let mut longest = 0;
/// let sum = runtime.scope(|scope| {
///     let lengths = scope.go(|| words.iter().map(|word| word.len()).sum::<usize>());
///     scope.spawn(async { longest = words.iter().map(|word| word.len()).max().unwrap_or(0) });
///     lengths.join().expect("it does not panic")
/// });
/// assert_eq!((sum, longest, words.len()), (11, 4, 3)); // no task borrows them any more
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// **It blocks, and there is no form of it that is a future.** A future may be dropped at any time, or forgotten and
/// never dropped (`mem::forget` is safe): its tasks would go on, and what they borrow would be gone. A function that
/// returns only after the last of them cannot be forgotten in its middle. The caller waits as in
/// [`join`](crate::JoinHandle::join): its P goes to another thread, or, in a goroutine with a stack of its own, its
/// thread does something else. In an async task use a [`JoinSet`](crate::JoinSet), with what is shared in an `Arc`.
///
/// A task may spawn others in the same scope. If `f` panics, the tasks are waited for before the panic goes on. If the
/// caller is told to end while it waits (its runtime is shut down; it is aborted, with a stack of its own), the tasks are
/// ended too: those that wait at once, those that run when they next wait; and it waits for that. Tasks that
/// [`shutdown`](crate::Runtime::shutdown) gave back are waited for until they are run or dropped. Inside of
/// [`stop_the_world`](crate::stop_the_world) it would wait for ever, if it spawns.
///
/// # Panics
/// If a task has panicked whose handle was not asked for it, as std's. If the caller is inside of no runtime.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    match Handle::try_current() {
        Ok(handle) => run(handle, f),
        Err(_) => panic!("{}", NotInRuntime::with_method("spinpark::scope was called")),
    }
}

/// As [`scope()`], in that runtime.
#[track_caller]
fn run<'env, F, T>(runtime: Handle, f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let panicked = Arc::default();
    let scope = Scope { runtime, tasks: Tasks::new(), panicked, scope: PhantomData, env: PhantomData };
    let left = Left(&scope.tasks);
    let result = match catch_unwind(AssertUnwindSafe(|| f(&scope))) {
        // The caller is to end: so are the tasks.
        Err(payload) if payload.is::<Unwound>() => resume_unwind(payload),
        result => result,
    };
    AllEnded(scope.tasks.wait()).wait();
    drop(left);
    match result {
        Err(payload) => resume_unwind(payload),
        Ok(_) if scope.panicked.is_set() => panic!("a task of a scope panicked"),
        Ok(value) => value,
    }
}

impl Handle {
    /// Runs `f`, which may spawn tasks of this runtime that borrow, and returns when all of them have ended. From any
    /// thread. See [`scope`](crate::scope()).
    ///
    /// # Panics
    /// As [`scope`](crate::scope()).
    ///
    /// ```
    /// let word = String::from("hello");
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// let letters = runtime.handle().scope(|scope| scope.go(|| word.len()).join())?;
    /// assert_eq!(letters, 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn scope<'env, F, T>(&self, f: F) -> T
    where
        F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
    {
        run(self.clone(), f)
    }
}

impl Runtime {
    /// Runs `f`, which may spawn tasks of this runtime that borrow, and returns when all of them have ended. From any
    /// thread. See [`scope`](crate::scope()).
    ///
    /// # Panics
    /// As [`scope`](crate::scope()).
    ///
    /// ```
    /// let word = String::from("hello");
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// let letters = runtime.scope(|scope| scope.go(|| word.len()).join())?;
    /// assert_eq!(letters, 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn scope<'env, F, T>(&self, f: F) -> T
    where
        F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
    {
        run(self.handle(), f)
    }
}

/// The tasks that are left. Dropped, it ends them, and returns when they have: nothing may be borrowed after that.
struct Left<'a>(&'a Arc<Tasks>);

impl Drop for Left<'_> {
    fn drop(&mut self) {
        if self.0.group().with(|state| state.count()) > 0 {
            self.0.end();
            // A destructor that waits, because its task is unwound, is not unwound itself.
            AllEnded(self.0.wait()).wait();
        }
    }
}

/// Waits until no task of a scope is left.
struct AllEnded<'a>(Wait<'a, Cores, TaskWaker>);

impl Future for AllEnded<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        poll_leaf(cx, "scope", |cx| self.0.poll(&mut Lender::new(cx.waker())))
    }
}
