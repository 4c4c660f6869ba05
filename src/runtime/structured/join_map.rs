//! Tasks with keys.

use crate::runtime::exec::abort::AbortHandle;
use crate::runtime::exec::join::{JoinError, JoinHandle};
use crate::runtime::exec::local_set::LocalSet;
use crate::runtime::exec::spawn::{go, spawn};
use crate::runtime::guarded::Theirs;
use crate::runtime::handle::Handle;
use crate::runtime::id::TaskId;
use crate::runtime::structured::join_set::JoinSet;
use core::borrow::Borrow;
use core::fmt;
use core::future::{Future, poll_fn};
use core::hash::{BuildHasher, Hash};
use core::task::{Context, Poll, ready};
use std::collections::HashMap;
use std::collections::hash_map::{Keys, RandomState};

/// A [`JoinSet`] whose tasks have keys: each is joined with its key, and can be aborted by it. A task that is spawned with the key
/// of another replaces that: the other is aborted, and never joined. Dropped, it aborts all. tokio-util: `task::JoinMap`, which
/// wants no `Clone` of a key.
///
/// ```
/// use spinpark::JoinMap;
///
/// let runtime = spinpark::Runtime::builder().procs(2).build()?;
/// runtime.block_on(async {
///     let mut downloads = JoinMap::new();
///     downloads.spawn("slow", std::future::pending());
///     downloads.spawn("fast", async { 200 });
///     let (which, status) = downloads.join_next().await.expect("there are two");
///     assert_eq!((which, status?), ("fast", 200));
///     assert!(downloads.abort("slow"));
///     let (which, status) = downloads.join_next().await.expect("there is one");
///     assert!(which == "slow" && status.is_err());
///     Ok::<_, spinpark::JoinError>(())
/// })??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// And from other threads, or given up:
///
/// ```
/// use spinpark::{JoinMap, LocalSet, Runtime, spawn};
///
/// let runtime = Runtime::builder().procs(1).build()?;
/// let (mut map, handle) = (JoinMap::with_capacity(8), runtime.handle());
/// map.spawn_on("one", async { 1 }, &handle);
/// map.go_on("two", || 2, &handle);
/// runtime.block_on(async {
///     map.insert("three", spawn(async { 3 }));
///     map.go("four", || 4);
///     assert!(map.contains_key("four"));
///     let (key, value) = map.join_next().await.expect("four are in it");
///     println!("{key} {value:?} {:?}", map.try_join_next());
///     std::future::poll_fn(|cx| map.poll_join_next(cx)).await;
///     map.abort_matching(|key| key.starts_with('f'));
///     map.abort_all();
///     map.shutdown().await;
///     assert!(map.is_empty());
///     map.spawn("long", std::future::pending());
///     map.detach_all(); // it goes on
///     let local = LocalSet::new();
///     map.spawn_local_on("here", async { 5 }, &local);
///     assert!(local.run_until(map.join_next()).await.is_some());
///     map.reserve(100);
///     map.shrink_to_fit();
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct JoinMap<K, V, S = RandomState> {
    tasks: JoinSet<V>,
    /// Of those that were not replaced.
    keys: HashMap<TaskId, K>,
    handles: HashMap<K, AbortHandle, S>,
}

impl<K, V> JoinMap<K, V> {
    /// No task.
    #[must_use]
    pub fn new() -> Self {
        Self::with_hasher(RandomState::new())
    }

    /// No task, and memory for so many keys.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity_and_hasher(capacity, RandomState::new())
    }
}

impl<K, V, S> JoinMap<K, V, S> {
    /// No task. Keys are found by this hasher.
    ///
    /// ```
    /// use std::hash::RandomState;
    ///
    /// let map = spinpark::JoinMap::<u32, (), _>::with_hasher(RandomState::new());
    /// assert!(map.is_empty());
    /// ```
    #[must_use]
    pub fn with_hasher(hasher: S) -> Self {
        Self::with_capacity_and_hasher(0, hasher)
    }

    /// Both.
    ///
    /// ```
    /// use std::hash::RandomState;
    ///
    /// let map = spinpark::JoinMap::<u32, (), _>::with_capacity_and_hasher(8, RandomState::new());
    /// assert!(map.capacity() >= 8);
    /// ```
    #[must_use]
    pub fn with_capacity_and_hasher(capacity: usize, hasher: S) -> Self {
        let handles = HashMap::with_capacity_and_hasher(capacity, hasher);
        JoinMap { tasks: JoinSet::new(), keys: HashMap::with_capacity(capacity), handles }
    }

    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.handles.len()
    }

    /// Is there none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }

    /// How many keys there is memory for.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.handles.capacity()
    }

    /// The keys, in no order.
    #[must_use]
    pub fn keys(&self) -> Keys<'_, K, AbortHandle> {
        self.handles.keys()
    }

    /// Is this task in it, and was not replaced?
    #[must_use]
    pub fn contains_task(&self, id: &TaskId) -> bool {
        self.keys.contains_key(id)
    }

    /// [Aborts](JoinHandle::abort) all. They stay in it until they are joined.
    pub fn abort_all(&mut self) {
        self.tasks.abort_all();
    }

    /// Takes all out, and lets them go on by themselves; but not those that were replaced. Their values are lost.
    pub fn detach_all(&mut self) {
        self.handles.clear();
        self.keys.clear();
        self.tasks.detach_all();
    }
}

impl<K: Hash + Eq + Clone, V, S: BuildHasher> JoinMap<K, V, S> {
    /// Puts a task into it that was spawned elsewhere.
    pub fn insert(&mut self, key: K, handle: JoinHandle<V>) {
        let handle = self.tasks.insert(handle);
        self.keys.insert(handle.id(), key.clone());
        if let Some(replaced) = self.handles.insert(key, handle) {
            self.keys.remove(&replaced.id());
            replaced.abort();
        }
    }

    /// Waits for the next task that ends, and takes it out. `None`: there is none.
    ///
    /// # Errors
    /// Beside the key, those of [`JoinSet::join_next`].
    ///
    /// # Cancel safety
    /// Dropped before it is ready, it has taken none.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut map = spinpark::JoinMap::new();
    /// map.spawn("one", async { 1 });
    /// let (key, value) = map.join_next().await.expect("one is in it");
    /// assert_eq!((key, value.expect("no panic")), ("one", 1));
    /// # });
    /// ```
    pub async fn join_next(&mut self) -> Option<(K, Result<V, JoinError>)> {
        poll_fn(|cx| self.poll_join_next(cx)).await
    }

    /// The same, for futures that are written by hand.
    ///
    /// # Errors
    /// Beside the key, those of [`JoinSet::join_next`].
    #[allow(clippy::type_complexity, reason = "it is what is said")]
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<(K, Result<V, JoinError>)>> {
        while let Some((id, result)) = ready!(self.tasks.poll_join_next_with_id(cx)) {
            if let Some(key) = self.take(id) {
                return Poll::Ready(Some((key, result)));
            }
            drop(Theirs::new(result));
        }
        Poll::Ready(None)
    }

    /// Takes one out that has ended, if there is one.
    ///
    /// # Errors
    /// Beside the key, those of [`JoinSet::join_next`].
    pub fn try_join_next(&mut self) -> Option<(K, Result<V, JoinError>)> {
        while let Some((id, result)) = self.tasks.try_join_next_with_id() {
            if let Some(key) = self.take(id) {
                return Some((key, result));
            }
            drop(Theirs::new(result));
        }
        None
    }

    /// The key of a task that has ended. `None`: it was replaced.
    fn take(&mut self, id: TaskId) -> Option<K> {
        let key = self.keys.remove(&id)?;
        self.handles.remove(&key);
        Some(key)
    }

    /// Aborts all, and waits until they have ended. None is in it then.
    ///
    /// # Cancel safety
    /// Dropped before, those that are left are aborted, and in it.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut map = spinpark::JoinMap::new();
    /// map.spawn("one", std::future::pending::<()>());
    /// map.shutdown().await;
    /// assert!(map.is_empty());
    /// # });
    /// ```
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while let Some((_key, result)) = self.join_next().await {
            drop(Theirs::new(result));
        }
    }

    /// [Aborts](JoinHandle::abort) the task of this key, which stays in it until it is joined. `false`: there is none.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut map = spinpark::JoinMap::new();
    /// map.spawn("one", std::future::pending::<()>());
    /// assert!(map.abort("one") && !map.abort("two"));
    /// assert!(map.join_next().await.expect("it is in it still").1.unwrap_err().is_cancelled());
    /// # });
    /// ```
    pub fn abort<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        let handle = self.handles.get(key);
        handle.map(AbortHandle::abort).is_some()
    }

    /// [Aborts](JoinHandle::abort) those whose keys satisfy `predicate`.
    pub fn abort_matching(&mut self, mut predicate: impl FnMut(&K) -> bool) {
        let those = self.handles.iter().filter(|(key, _)| predicate(key));
        those.for_each(|(_, handle)| handle.abort());
    }

    /// Has a task this key?
    #[must_use]
    pub fn contains_key<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.handles.contains_key(key)
    }

    /// Takes memory for so many keys more.
    pub fn reserve(&mut self, additional: usize) {
        self.handles.reserve(additional);
        self.keys.reserve(additional);
    }

    /// Gives memory back that is not needed now.
    pub fn shrink_to_fit(&mut self) {
        self.handles.shrink_to_fit();
        self.keys.shrink_to_fit();
    }
}

impl<K: Hash + Eq + Clone, V: 'static, S: BuildHasher> JoinMap<K, V, S> {
    /// Spawns a task of that set's thread, with this key.
    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, key: K, future: F, local: &LocalSet)
    where
        F: Future<Output = V> + 'static,
    {
        self.insert(key, local.spawn_local(future));
    }
}

impl<K: Hash + Eq + Clone, V: Send + 'static, S: BuildHasher> JoinMap<K, V, S> {
    /// Spawns a task with this key, as [`spawn`](crate::spawn) does.
    ///
    /// # Panics
    /// If the caller is no task of a [`Runtime`](crate::Runtime).
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut map = spinpark::JoinMap::new();
    /// map.spawn("one", async { 1 });
    /// assert!(map.contains_key("one"));
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn<F>(&mut self, key: K, future: F)
    where
        F: Future<Output = V> + Send + 'static,
    {
        self.insert(key, spawn(future));
    }

    /// Spawns a task of that runtime with this key, from any thread.
    #[track_caller]
    pub fn spawn_on<F>(&mut self, key: K, future: F, runtime: &Handle)
    where
        F: Future<Output = V> + Send + 'static,
    {
        self.insert(key, runtime.spawn(future));
    }

    /// Runs a goroutine with this key, as [`go`](crate::go) does.
    ///
    /// # Panics
    /// If the caller is no task of a [`Runtime`](crate::Runtime).
    #[track_caller]
    pub fn go(&mut self, key: K, f: impl FnOnce() -> V + Send + 'static) {
        self.insert(key, go(f));
    }

    /// Runs a goroutine of that runtime with this key, from any thread.
    #[track_caller]
    pub fn go_on(&mut self, key: K, f: impl FnOnce() -> V + Send + 'static, runtime: &Handle) {
        self.insert(key, runtime.go(f));
    }
}

impl<K, V, S: Default> Default for JoinMap<K, V, S> {
    fn default() -> Self {
        Self::with_hasher(S::default())
    }
}

impl<K: fmt::Debug, V, S> fmt::Debug for JoinMap<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.keys()).finish()
    }
}

static_assertions::assert_impl_all!(JoinMap<u8, std::cell::Cell<u8>>: Send, Sync, Unpin);
