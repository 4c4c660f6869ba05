//! Threads that borrow.

use super::{JoinHandle, Thread, start};
use crate::machine;
use crate::step::Ask;
use crate::text::panic_text;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Like `std::thread::Scope`.
///
/// ```
/// rc11::model::Builder::new().bounded_ok().check(|| {
///     let mut n = 1;
///     rc11::thread::scope(|scope| { scope.spawn(|| n += 1); }); // borrows, and is joined
///     assert_eq!(n, 2);
/// });
/// ```
pub struct Scope<'scope, 'env: 'scope> {
    tree: Mutex<Tree>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// Which of its threads has started which.
#[derive(Default)]
struct Tree {
    started: Vec<(u8, u8)>,
    /// Which thread has joined which.
    joined: Vec<(u8, u8)>,
}

/// Like `std::thread::ScopedJoinHandle`.
///
/// ```
/// rc11::model::Builder::new().bounded_ok().check(|| {
///     let text = String::from("a");
///     let len = rc11::thread::scope(|scope| scope.spawn(|| text.len()).join().unwrap());
///     assert_eq!(len, 1);
/// });
/// ```
pub struct ScopedJoinHandle<'scope, T> {
    handle: JoinHandle<T>,
    tree: &'scope Mutex<Tree>,
}

/// Like `std::thread::scope`: threads that are started in it may borrow what outlives it, and it ends when they
/// have. Unlike in std their thread locals are dropped by then.
///
/// ```
/// use rc11::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// use rc11::thread;
///
/// rc11::model(|| {
///     let count = AtomicU32::new(0);
///     thread::scope(|scope| {
///         scope.spawn(|| count.fetch_add(1, Relaxed));
///         scope.spawn(|| count.fetch_add(1, Relaxed));
///     });
///     assert_eq!(count.load(Relaxed), 2);
/// });
/// ```
///
/// # Panics
/// Outside of a model.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let scope = Scope { tree: Mutex::default(), scope: PhantomData, env: PhantomData };
    let result = catch_unwind(AssertUnwindSafe(|| {
        let result = f(&scope);
        scope.join_all();
        result
    }));
    result.unwrap_or_else(|panic| {
        // The execution is over. This frame stays, so that what its threads have borrowed stays.
        let text = panic_text(&*panic);
        let _ = catch_unwind(|| {
            if !machine::is_over() {
                machine::fail(&text);
            }
        });
        machine::rest_in_peace()
    })
}

impl Tree {
    fn of(tree: &Mutex<Tree>) -> MutexGuard<'_, Tree> {
        tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which threads `starter` has started, in order, and whether `me` has joined them.
    fn children(&self, starter: u8, me: u8) -> Vec<(u8, bool)> {
        let children = self.started.iter().filter(|(by, _)| *by == starter);
        children.map(|&(_, child)| (child, self.joined.contains(&(me, child)))).collect()
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Joins each thread, after the one that has started it: so the order is the same in each play.
    #[track_caller]
    fn join_all(&self) {
        let me = machine::current();
        let mut ended = vec![me];
        let mut next = 0;
        while let Some(&starter) = ended.get(next) {
            let children = Tree::of(&self.tree).children(starter, me);
            for (child, is_joined) in children {
                if !is_joined {
                    machine::ask(Ask::Join(child));
                }
                ended.push(child);
            }
            next += 1;
        }
    }

    /// Starts a thread.
    ///
    /// # Panics
    /// Outside of a model.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + 'scope,
        T: 'scope,
    {
        self.start(None, f)
    }

    #[track_caller]
    pub(super) fn start<F, T>(&'scope self, name: Option<String>, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + 'scope,
        T: 'scope,
    {
        let handle = start(name, f);
        Tree::of(&self.tree).started.push((machine::current(), handle.thread.id().0));
        ScopedJoinHandle { handle, tree: &self.tree }
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for its end. All that it did happens before what comes next.
    ///
    /// # Errors
    /// None: a panic ends the execution.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        let number = self.handle.thread.id().0;
        let result = self.handle.join();
        Tree::of(self.tree).joined.push((machine::current(), number));
        result
    }

    /// A handle of the thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        self.handle.thread()
    }

    /// See [`JoinHandle::is_finished`].
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.handle.is_finished()
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
