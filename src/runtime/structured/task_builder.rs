//! New tasks with names.

use crate::runtime::exec::join::JoinHandle;
use crate::runtime::exec::local_set::LocalSet;
use crate::runtime::exec::names::Name;
use crate::runtime::exec::spawn::{go, spawn};
use crate::runtime::handle::Handle;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use pin_project_lite::pin_project;
use std::sync::Arc;

pin_project! {
    struct Named<F> {
        #[pin]
        future: F,
        name: Name,
    }
}

impl<F: Future> Future for Named<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        this.name.enter_by(cx.waker());
        this.future.poll(cx)
    }
}

/// What a new task is given besides its future: a name, which reports of it show. std: `thread::Builder`; tokio:
/// `task::Builder`.
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use spinpark::{TaskBuilder, chan};
///
/// let runtime = spinpark::Runtime::builder().deterministic(1).build()?;
/// let (_keep, orders) = chan::bounded::<u8>(1);
/// let cook = TaskBuilder::new().name("cook").spawn_on(async move { orders.recv().await }, &runtime.handle());
/// let deadlock = runtime.block_on(cook).expect_err("nothing is ever ordered");
/// assert_eq!(deadlock.blocked()[0].name.as_deref(), Some("cook"));
/// assert!(deadlock.to_string().contains("\"cook\", chan receive"));
/// # Ok(())
/// # }
/// # #[cfg(not(target_os = "linux"))]
/// # fn main() {}
/// ```
///
/// The other ways to spawn:
///
/// ```
/// use spinpark::{Handle, LocalSet, TaskBuilder};
///
/// # spinpark::run(async {
/// let named = || TaskBuilder::new().name("cook");
/// named().spawn(async {});
/// named().go(|| ());
/// named().spawn_on(async {}, &Handle::current());
/// named().go_on(|| (), &Handle::current());
/// let local = LocalSet::new();
/// let task = named().spawn_local_on(async { 1 }, &local);
/// assert_eq!(local.run_until(task).await.expect("no panic"), 1);
/// # });
/// ```
#[must_use = "it spawns nothing until it is told to"]
#[derive(Debug, Clone, Default)]
pub struct TaskBuilder {
    name: Option<Arc<str>>,
}

impl TaskBuilder {
    /// Without a name.
    pub fn new() -> Self {
        Self::default()
    }

    /// The task's name. Several tasks may have the same.
    ///
    /// ```
    /// use spinpark::TaskBuilder;
    ///
    /// # spinpark::run(async {
    /// TaskBuilder::new().name("cook").spawn(async {}).await.expect("no panic");
    /// # });
    /// ```
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    fn future<F: Future>(self, future: F) -> Named<F> {
        Named { future, name: Name::new(self.name) }
    }

    fn closure<T>(self, f: impl FnOnce() -> T) -> impl FnOnce() -> T {
        let mut name = Name::new(self.name);
        move || {
            name.enter();
            let value = f();
            drop(name);
            value
        }
    }

    /// As [`spawn`](crate::spawn).
    ///
    /// # Panics
    /// If the caller is no task of a [`Runtime`](crate::Runtime).
    ///
    /// ```
    /// # spinpark::run(async {
    /// let task = spinpark::TaskBuilder::new().name("cook").spawn(async { 1 });
    /// assert_eq!(task.await.expect("no panic"), 1);
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        spawn(self.future(future))
    }

    /// As [`Handle::spawn`].
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, runtime: &Handle) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        runtime.spawn(self.future(future))
    }

    /// As [`LocalSet::spawn_local`].
    #[track_caller]
    pub fn spawn_local_on<F>(self, future: F, local: &LocalSet) -> JoinHandle<F::Output>
    where
        F: Future<Output: 'static> + 'static,
    {
        local.spawn_local(self.future(future))
    }

    /// As [`go`](crate::go).
    ///
    /// # Panics
    /// If the caller is no task of a [`Runtime`](crate::Runtime).
    ///
    /// ```
    /// # spinpark::run(async {
    /// let task = spinpark::TaskBuilder::new().name("cook").go(|| 1);
    /// assert_eq!(task.await.expect("no panic"), 1);
    /// # });
    /// ```
    #[track_caller]
    pub fn go<F, T>(self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        go(self.closure(f))
    }

    /// As [`Handle::go`].
    #[track_caller]
    pub fn go_on<F, T>(self, f: F, runtime: &Handle) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        runtime.go(self.closure(f))
    }
}
