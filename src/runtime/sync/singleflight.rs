//! One call for all that want the same at the same time. Go: `golang.org/x/sync/singleflight`.
//!
//! ```
//! use spinpark::sync::singleflight::Group;
//! use spinpark::{JoinSet, time};
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
//! use std::time::Duration;
//!
//! # spinpark::run(async {
//! let (pages, fetched) = (Arc::new(Group::new()), Arc::new(AtomicU32::new(0)));
//! let tasks: JoinSet<_> = (0..10)
//!     .map(|_| {
//!         let (pages, fetched) = (Arc::clone(&pages), Arc::clone(&fetched));
//!         async move {
//!             let fetch = async {
//!                 time::sleep(Duration::from_millis(5)).await;
//!                 fetched.fetch_add(1, Relaxed)
//!             };
//!             pages.call("/index.html", || fetch).await
//!         }
//!     })
//!     .collect();
//! tasks.join_all().await;
//! assert!(fetched.load(Relaxed) < 10); // mostly 1
//! # });
//! ```

use crate::runtime::sync::locks::OnceCell;
use core::fmt;
use core::future::Future;
use core::hash::Hash;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Calls by their keys: of those with the same key one runs at a time, and its value is for all that came meanwhile. Go:
/// `singleflight.Group`.
///
/// It is no cache: when the call has ended, the next with that key runs anew. The key's `Hash`, `Eq` and `Clone` run under the group's lock:
/// they must not use the group.
///
/// ```
/// use spinpark::sync::singleflight::Group;
///
/// # spinpark::run(async {
/// let group = Group::new();
/// assert_eq!(group.call("key", || async { 1 }).await, 1);
/// assert_eq!(group.call("key", || async { 2 }).await, 2);
/// let failed: Result<u8, &str> = Group::new().call(7, || async { Err("not found") }).await; // an error is a value
/// assert!(failed.is_err());
/// # });
/// ```
pub struct Group<K, V> {
    calls: Mutex<Calls<K, V>>,
}

type Calls<K, V> = HashMap<K, Arc<OnceCell<V>>>;

impl<K, V> Group<K, V> {
    /// Without a call.
    #[must_use]
    pub fn new() -> Self {
        Group { calls: Mutex::new(HashMap::new()) }
    }

    fn calls(&self) -> MutexGuard<'_, Calls<K, V>> {
        // It is whole whenever a key's `Hash` or `Eq` can panic.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Group<K, V> {
    /// Runs `f`, unless a call with this key runs: then waits for that one, and returns a clone of its value. Go: `Do`.
    ///
    /// If a call panics, its caller does, and one of those that wait runs its own `f`.
    ///
    /// # Cancel safety
    /// Dropped while it waits for another, it changes nothing. Dropped while its own `f` runs, that is dropped, and one of those that wait
    /// runs its own: so the value of a caller that gives up is not lost to the others, but its work is. In a task of its own (`spawn`) it
    /// goes on.
    #[doc(alias = "Do")]
    pub async fn call<F: Future<Output = V>>(&self, key: K, f: impl FnOnce() -> F) -> V {
        let calling = Calling::new(self, key);
        let (own, cell) = (&calling, calling.cell());
        let run = move || async move {
            let value = f().await;
            // Before the value is there: a caller that comes when it is runs anew.
            own.is_over();
            value
        };
        cell.get_or_init(run).await.clone()
    }

    /// The next call with this key runs, though one runs already; those that wait for that one go on to wait for it. Go: `Forget`.
    ///
    /// ```
    /// use spinpark::sync::singleflight::Group;
    ///
    /// # spinpark::run(async {
    /// let group: Group<&str, u32> = Group::new();
    /// let slow = group.call("key", || async {
    ///     group.forget(&"key");
    ///     group.call("key", || async { 2 }).await // without `forget` it would wait for itself
    /// });
    /// assert_eq!(slow.await, 2);
    /// # });
    /// ```
    pub fn forget(&self, key: &K) {
        let call = self.calls().remove_entry(key);
        drop(call); // not under the lock: it is the user's
    }
}

impl<K, V> Default for Group<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> fmt::Debug for Group<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("calls", &self.calls().len()).finish_non_exhaustive()
    }
}

/// A caller, until it has its value or gives up.
struct Calling<'a, K: Hash + Eq, V> {
    group: &'a Group<K, V>,
    key: K,
    /// `None`: it is being dropped.
    cell: Option<Arc<OnceCell<V>>>,
}

impl<'a, K: Hash + Eq + Clone, V> Calling<'a, K, V> {
    fn new(group: &'a Group<K, V>, key: K) -> Self {
        let mut calls = group.calls();
        let cell = match calls.get(&key) {
            Some(cell) => Arc::clone(cell),
            None => {
                let cell = Arc::default();
                calls.insert(key.clone(), Arc::clone(&cell));
                cell
            }
        };
        drop(calls);
        Calling { group, key, cell: Some(cell) }
    }
}

impl<K: Hash + Eq, V> Calling<'_, K, V> {
    fn cell(&self) -> &OnceCell<V> {
        self.cell.as_ref().expect("singleflight: a caller that has ended")
    }

    /// The call is not found any more. Its callers have what is in it.
    fn is_over(&self) {
        let mut calls = self.group.calls();
        let is_ours = calls.get(&self.key).zip(self.cell.as_ref()).is_some_and(|(call, ours)| Arc::ptr_eq(call, ours));
        let gone = if is_ours { calls.remove_entry(&self.key) } else { None };
        drop(calls);
        drop(gone);
    }
}

impl<K: Hash + Eq, V> Drop for Calling<'_, K, V> {
    /// The last caller of a call that did not end takes it out. Each gives its own clone back under the lock: two that end at once would
    /// count each other otherwise, and leave it.
    fn drop(&mut self) {
        let Some(cell) = self.cell.take() else { return };
        let mut calls = self.group.calls();
        let is_last =
            calls.get(&self.key).filter(|call| Arc::ptr_eq(call, &cell)).map(|call| Arc::strong_count(call) == 2);
        let (ours, theirs) = match is_last {
            Some(true) => (calls.remove_entry(&self.key), Some(cell)),
            Some(false) => {
                drop(cell); // not the last
                (None, None)
            }
            None => (None, Some(cell)),
        };
        drop(calls);
        drop((ours, theirs)); // not under the lock: what is in it is the user's
    }
}

static_assertions::assert_impl_all!(Group<u8, u8>: Send, Sync);
