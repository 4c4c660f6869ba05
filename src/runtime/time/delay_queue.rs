//! Values that come out when they are due.

use crate::host::Nanos;
use crate::runtime::exec::yielding::poll_leaf;
use crate::runtime::host::clock;
use crate::runtime::time::sleep::{Sleep, after};
use core::fmt;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// Values with deadlines: each comes out when its own has elapsed, in the order of the deadlines; of equal ones the first inserted is the
/// first out. For what expires: entries of a cache, sessions, retries. One timer serves all of them. As tokio-util's.
///
/// ```
/// use spinpark::time::DelayQueue;
/// use std::time::Duration;
///
/// # spinpark::run(async {
/// let mut sessions = DelayQueue::new();
/// let ada = sessions.insert("ada", Duration::from_millis(1));
/// let grace = sessions.insert("grace", Duration::from_secs(3600));
/// sessions.reset(&ada, Duration::from_millis(3)); // she was seen again
/// assert_eq!(sessions.next().await.map(|expired| expired.into_inner()), Some("ada"));
/// assert_eq!(sessions.try_remove(&grace).map(|left| left.into_inner()), Some("grace"));
/// assert!(sessions.next().await.is_none(), "it is empty");
/// # });
/// ```
pub struct DelayQueue<T> {
    /// By deadline; of equal ones, by when they were inserted or reset.
    order: BTreeMap<(Nanos, u64), Key>,
    entries: HashMap<Key, Entry<T>>,
    /// How many deadlines were set so far.
    set: u64,
    /// Until the earliest.
    sleep: Sleep,
}

/// Which value of a [`DelayQueue`]. It is never used again for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key(u64);

struct Entry<T> {
    place: (Nanos, u64),
    value: T,
}

const NO_VALUE: &str = "a DelayQueue has no value by this key: it has come out, or was removed";

/// The value is moved, never pinned.
impl<T> Unpin for DelayQueue<T> {}

impl<T> DelayQueue<T> {
    /// Without a value.
    #[must_use]
    pub fn new() -> Self {
        let sleep = Sleep::until(crate::host::NEVER);
        DelayQueue { order: BTreeMap::new(), entries: HashMap::new(), set: 0, sleep }
    }

    /// `value` comes out after so much time.
    pub fn insert(&mut self, value: T, time: Duration) -> Key {
        self.put(value, after(clock::now(), time))
    }

    /// `value` comes out at that moment. One that has passed: at once.
    ///
    /// ```
    /// use spinpark::time::DelayQueue;
    /// use std::time::Instant;
    ///
    /// # spinpark::run(async {
    /// let mut queue = DelayQueue::new();
    /// let (now, key) = (Instant::now(), queue.insert_at(1, Instant::now()));
    /// assert!(queue.deadline(&key) >= Some(now));
    /// let expired = queue.next().await.expect("one");
    /// assert_eq!((expired.key(), *expired.get_ref()), (key, 1));
    /// assert_eq!(queue.deadline(&key), None);
    /// # });
    /// ```
    pub fn insert_at(&mut self, value: T, moment: Instant) -> Key {
        self.put(value, clock::nanos_of(moment))
    }

    fn put(&mut self, value: T, when: Nanos) -> Key {
        self.set += 1;
        let (key, place) = (Key(self.set), (when, self.set));
        self.order.insert(place, key);
        self.entries.insert(key, Entry { place, value });
        self.look_again();
        key
    }

    /// Takes a value out before it is due. `None`: it has come out, or was removed.
    ///
    /// ```
    /// let mut queue = spinpark::time::DelayQueue::new();
    /// let key = queue.insert(1, std::time::Duration::from_secs(1));
    /// assert_eq!(queue.try_remove(&key).map(|removed| removed.into_inner()), Some(1));
    /// assert!(queue.try_remove(&key).is_none() && queue.is_empty());
    /// ```
    pub fn try_remove(&mut self, key: &Key) -> Option<Expired<T>> {
        let Entry { place, value } = self.entries.remove(key)?;
        self.order.remove(&place);
        self.look_again();
        Some(Expired { key: *key, when: place.0, value })
    }

    /// The same, of a value that is known to be in it.
    ///
    /// # Panics
    /// If it has come out, or was removed.
    ///
    /// ```
    /// let mut queue = spinpark::time::DelayQueue::new();
    /// let key = queue.insert(1, std::time::Duration::from_secs(1));
    /// assert_eq!(queue.remove(&key).into_inner(), 1);
    /// ```
    #[track_caller]
    pub fn remove(&mut self, key: &Key) -> Expired<T> {
        self.try_remove(key).expect(NO_VALUE)
    }

    /// It comes out so much time from now instead, behind those that have the same deadline already.
    ///
    /// # Panics
    /// As [`remove`](DelayQueue::remove).
    ///
    /// ```
    /// # spinpark::run(async {
    /// use std::time::Duration;
    ///
    /// let mut queue = spinpark::time::DelayQueue::new();
    /// let key = queue.insert(1, Duration::from_secs(3600));
    /// queue.reset(&key, Duration::ZERO);
    /// assert!(queue.next().await.is_some());
    /// # });
    /// ```
    #[track_caller]
    pub fn reset(&mut self, key: &Key, time: Duration) {
        self.set_to(key, after(clock::now(), time));
    }

    /// The same, at that moment.
    ///
    /// # Panics
    /// As [`remove`](DelayQueue::remove).
    ///
    /// ```
    /// # spinpark::run(async {
    /// use std::time::{Duration, Instant};
    ///
    /// let mut queue = spinpark::time::DelayQueue::new();
    /// let key = queue.insert(1, Duration::from_secs(3600));
    /// queue.reset_at(&key, Instant::now());
    /// assert!(queue.next().await.is_some());
    /// # });
    /// ```
    #[track_caller]
    pub fn reset_at(&mut self, key: &Key, moment: Instant) {
        self.set_to(key, clock::nanos_of(moment));
    }

    #[track_caller]
    fn set_to(&mut self, key: &Key, when: Nanos) {
        let entry = self.entries.get_mut(key).expect(NO_VALUE);
        self.set += 1;
        self.order.remove(&entry.place);
        entry.place = (when, self.set);
        self.order.insert(entry.place, *key);
        self.look_again();
    }

    /// Waits for the next value that is due. `None`: the queue is empty.
    ///
    /// # Cancel safety
    /// Dropped, no value is lost.
    ///
    /// # Panics
    /// If it has to wait, and is polled outside of a runtime.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut queue = spinpark::time::DelayQueue::new();
    /// queue.insert("due", std::time::Duration::from_millis(1));
    /// while let Some(expired) = queue.next().await {
    ///     println!("{}", expired.get_ref());
    /// }
    /// # });
    /// ```
    pub async fn next(&mut self) -> Option<Expired<T>> {
        poll_fn(|cx| self.poll_expired(cx)).await
    }

    /// The same, for futures that are written by hand. The task is woken too when a value that is inserted or reset later is due sooner,
    /// and when the last is removed.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut queue = spinpark::time::DelayQueue::new();
    /// queue.insert(1, std::time::Duration::ZERO);
    /// let expired = std::future::poll_fn(|cx| queue.poll_expired(cx)).await;
    /// assert_eq!(expired.map(|expired| expired.into_inner()), Some(1));
    /// # });
    /// ```
    pub fn poll_expired(&mut self, cx: &mut Context<'_>) -> Poll<Option<Expired<T>>> {
        if self.order.is_empty() {
            return poll_leaf(cx, "sleep", |_| Poll::Ready(None));
        }
        ready!(Pin::new(&mut self.sleep).poll(cx));
        let first = self.order.first_key_value().map(|(_, &key)| key);
        Poll::Ready(first.and_then(|key| self.try_remove(&key)))
    }

    /// It sleeps until the earliest deadline, which may be another now. Without one it is over: a task that waits learns that nothing is left.
    fn look_again(&mut self) {
        let first = self.order.first_key_value().map_or(0, |(&(when, _), _)| when);
        if self.sleep.deadline != first {
            self.sleep.reset_to(first);
        }
    }

    /// When a value is due. `None`: it has come out, or was removed.
    #[must_use]
    pub fn deadline(&self, key: &Key) -> Option<Instant> {
        self.entries.get(key).map(|entry| clock::instant_of(entry.place.0))
    }

    /// Which is due next. `None`: the queue is empty.
    #[must_use]
    pub fn peek(&self) -> Option<Key> {
        self.order.first_key_value().map(|(_, &key)| key)
    }

    /// How many values are in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Is none in it?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Drops all values.
    ///
    /// ```
    /// let mut queue = spinpark::time::DelayQueue::new();
    /// queue.insert(1, std::time::Duration::from_secs(1));
    /// queue.clear();
    /// assert_eq!((queue.len(), queue.peek()), (0, None));
    /// ```
    pub fn clear(&mut self) {
        self.order.clear();
        let entries = core::mem::take(&mut self.entries);
        self.look_again();
        drop(entries); // the last: the values' destructors may panic
    }
}

impl<T> Default for DelayQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for DelayQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DelayQueue").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// A value that came out of a [`DelayQueue`], due or removed.
///
/// ```
/// let mut queue = spinpark::time::DelayQueue::new();
/// let key = queue.insert(1, std::time::Duration::from_secs(1));
/// let mut removed = queue.remove(&key);
/// *removed.get_mut() += 1;
/// assert_eq!((removed.key(), removed.into_inner()), (key, 2));
/// ```
#[derive(Debug)]
pub struct Expired<T> {
    key: Key,
    when: Nanos,
    value: T,
}

impl<T> Expired<T> {
    /// The value.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// The value, to be changed.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value
    }

    /// When it is or was due.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        clock::instant_of(self.when)
    }

    /// What it was known by.
    #[must_use]
    pub fn key(&self) -> Key {
        self.key
    }
}

static_assertions::assert_impl_all!(DelayQueue<u8>: Send, Sync, Unpin);
