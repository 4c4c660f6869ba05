//! Values for all that a task calls.

#![allow(unsafe_code)]

use crate::runtime::exec::task_locals::{self, Entered, Node};
use core::any::Any;
use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll};
use pin_project_lite::pin_project;
use std::rc::Rc;

/// Declares keys of task-local values: `static NAME: Type;`, one or several. See [`LocalKey`].
///
/// ```
/// spinpark::task_local! {
///     /// The requester.
///     static USER: String;
///     static DEPTH: u32;
/// }
///
/// let runtime = spinpark::Runtime::builder().procs(1).build()?;
/// let greeting = runtime.block_on(USER.scope("ada".to_owned(), async {
///     spinpark::yield_now().await; // perhaps on another thread now
///     DEPTH.sync_scope(1, || USER.with(|user| format!("{user}, {}", DEPTH.get())))
/// }))?;
/// assert_eq!(greeting, "ada, 1");
/// assert!(USER.try_with(|_| ()).is_err()); // set nowhere else
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[macro_export]
macro_rules! task_local {
    () => {};
    ($(#[$attribute:meta])* $visible:vis static $name:ident: $type:ty; $($rest:tt)*) => {
        $(#[$attribute])* $visible static $name: $crate::LocalKey<$type> = $crate::LocalKey::__new();
        $crate::task_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $visible:vis static $name:ident: $type:ty) => {
        $crate::task_local!($(#[$attribute])* $visible static $name: $type;);
    };
}

/// The key of a task-local value, made by [`task_local!`](crate::task_local).
///
/// A value is set for a future, by [`scope`](LocalKey::scope), or for a call, by [`sync_scope`](LocalKey::sync_scope):
/// whatever those call and await finds it, on whichever thread they are. A task that they spawn does not: give it a scope
/// of its own. A goroutine that waits inside of a call keeps it, and no other task sees it meanwhile.
///
/// ```
/// # spinpark::run(async {
/// spinpark::task_local! {
///     static USER: String;
/// }
///
/// let name = || USER.with(|user| user.len());
/// assert_eq!(USER.scope("ann".into(), async { name() }).await, 3);
/// assert_eq!(USER.sync_scope("bob".into(), || USER.get()), "bob");
/// assert!(USER.try_get().is_err() && USER.try_with(|_| ()).is_err(), "outside");
/// # });
/// ```
pub struct LocalKey<T: 'static> {
    /// It has an address of its own.
    _place: u8,
    holds: PhantomData<fn() -> T>,
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    #[must_use]
    pub const fn __new() -> Self {
        LocalKey { _place: 0, holds: PhantomData }
    }

    fn number(&'static self) -> usize {
        core::ptr::from_ref(self).addr()
    }

    /// Sets the value while the future is polled, and while it is dropped.
    ///
    /// # Cancel safety
    /// That of `future`; the value is dropped after it.
    ///
    /// ```
    /// # spinpark::run(async {
    /// spinpark::task_local! {
    ///     static USER: &'static str;
    /// }
    ///
    /// assert_eq!(USER.scope("ann", async { USER.get() }).await, "ann");
    /// # });
    /// ```
    pub fn scope<F: Future>(&'static self, value: T, future: F) -> TaskLocalFuture<T, F> {
        TaskLocalFuture { scope: Some(Carried(Node::new(self.number(), value))), future: Some(future) }
    }

    /// Sets the value while `f` runs.
    ///
    /// ```
    /// spinpark::task_local! {
    ///     static USER: &'static str;
    /// }
    ///
    /// assert_eq!(USER.sync_scope("ann", || USER.get()), "ann");
    /// ```
    #[track_caller]
    pub fn sync_scope<R>(&'static self, value: T, f: impl FnOnce() -> R) -> R {
        let _entered = Entered::new(Node::new(self.number(), value));
        f()
    }

    /// Runs `f` with the value.
    ///
    /// # Panics
    /// If none is set here.
    ///
    /// ```
    /// spinpark::task_local! {
    ///     static USER: String;
    /// }
    ///
    /// assert_eq!(USER.sync_scope("ann".into(), || USER.with(|user| user.len())), 3);
    /// ```
    #[track_caller]
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        match self.try_with(f) {
            Ok(value) => value,
            Err(error) => panic!("{error}"),
        }
    }

    /// Runs `f` with the value.
    ///
    /// # Errors
    /// [`AccessError`] if none is set here.
    ///
    /// ```
    /// spinpark::task_local! {
    ///     static USER: String;
    /// }
    ///
    /// assert!(USER.try_with(|user| user.len()).is_err());
    /// assert_eq!(USER.sync_scope("ann".into(), || USER.try_with(|user| user.len())), Ok(3));
    /// ```
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        let scope = task_locals::find(self.number());
        scope.as_deref().and_then(task_locals::value_of).map(f).ok_or(AccessError(()))
    }
}

impl<T: Clone + 'static> LocalKey<T> {
    /// A copy of the value.
    ///
    /// # Panics
    /// If none is set here.
    ///
    /// ```
    /// spinpark::task_local! {
    ///     static REQUEST: u32;
    /// }
    ///
    /// assert_eq!(REQUEST.sync_scope(7, || REQUEST.get()), 7);
    /// ```
    #[track_caller]
    pub fn get(&'static self) -> T {
        self.with(T::clone)
    }

    /// A copy of the value.
    ///
    /// # Errors
    /// [`AccessError`] if none is set here.
    ///
    /// ```
    /// spinpark::task_local! {
    ///     static USER: &'static str;
    /// }
    ///
    /// assert!(USER.try_get().is_err(), "none is set here");
    /// ```
    pub fn try_get(&'static self) -> Result<T, AccessError> {
        self.try_with(T::clone)
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// A task-local value is not set here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessError(());

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("task-local value not set: set it by `scope` or `sync_scope` around this")
    }
}

impl core::error::Error for AccessError {}

/// The scope of a future. Between two polls it is counted once.
struct Carried<T: 'static>(Rc<Node<T>>);

// SAFETY: the count is touched where the future is made, polled or dropped, one thread at a time: copies are made while it is
// polled or dropped, into the list of the scopes that are set there, and by `try_with`, whose closure runs there; both
// are gone when the poll ends. A poll that is suspended in its middle, in a goroutine with a stack of its own, goes from
// thread to thread with the list and the copies. The value is `Send`.
unsafe impl<T: Send + 'static> Send for Carried<T> {}

pin_project! {
    /// What [`LocalKey::scope`] returns.
    #[must_use = "a future does nothing until it is awaited"]
    pub struct TaskLocalFuture<T: 'static, F> {
        // `None`: the value was taken.
        scope: Option<Carried<T>>,
        #[pin]
        future: Option<F>,
    }

    impl<T: 'static, F> PinnedDrop for TaskLocalFuture<T, F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            if this.future.is_some() {
                let _entered = this.scope.as_ref().map(Carried::enter);
                this.future.set(None);
            }
        }
    }
}

impl<T: 'static> Carried<T> {
    fn enter(&self) -> Entered {
        let scope: Rc<Node<T>> = Rc::clone(&self.0);
        Entered::new(scope as Rc<Node<dyn Any>>)
    }
}

impl<T: 'static, F> TaskLocalFuture<T, F> {
    /// Takes the value out; `None`: it was taken. If the future is polled or dropped after that, none is set for it.
    ///
    /// ```
    /// # spinpark::run(async {
    /// spinpark::task_local! {
    ///     static USER: &'static str;
    /// }
    ///
    /// let mut scope = std::pin::pin!(USER.scope("ann", async {}));
    /// assert_eq!(scope.as_mut().take_value(), Some("ann"));
    /// assert_eq!(scope.take_value(), None);
    /// # });
    /// ```
    pub fn take_value(self: Pin<&mut Self>) -> Option<T> {
        let scope = self.project().scope.take()?;
        Rc::into_inner(scope.0).map(Node::into_value)
    }
}

impl<T: 'static, F: Future> Future for TaskLocalFuture<T, F> {
    type Output = F::Output;

    /// # Panics
    /// If it is polled after it was ready.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let mut this = self.project();
        let future = this.future.as_mut().as_pin_mut().expect("a TaskLocalFuture was polled after it was ready");
        let _entered = this.scope.as_ref().map(Carried::enter);
        let polled = future.poll(cx);
        if polled.is_ready() {
            this.future.set(None);
        }
        polled
    }
}

impl<T: fmt::Debug + 'static, F> fmt::Debug for TaskLocalFuture<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskLocalFuture")
            .field("value", &self.scope.as_ref().map(|scope| scope.0.value()))
            .finish_non_exhaustive()
    }
}
