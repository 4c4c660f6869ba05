//! The global queue: first in, first out, under the scheduler's lock; its length can be peeked at without the lock.
//!
//! Go: `globrunqput`, `globrunqputbatch`, `globrunqget`, `globrunqgetbatch`, `sched.runq.size`.
//!
//! **List and length agree whenever the lock is free.** Read without the lock, the length may be stale; an M that would
//! sleep on what it says passes a StoreLoad of `work/spinning` first, or reads it again under the lock.
//!
//! Pair `share`: the M that takes a share puts it into its ring first, and lowers the length after that. A spinning M reads
//! the length first, and then scans the rings; so it meets what is on its way from here to there.
//!
//! Checked by: verification/src/models/globq.rs, proptests/tests/globq.rs

use crate::atomic::{Atomic, UnderLock};
use crate::host::Host;
use crate::types::g::G;
use crate::types::m::MId;
use alloc::collections::VecDeque;
use core::sync::atomic::Ordering::{Acquire, Release};

/// The length, for threads that do not hold the lock.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::queues::globq::{GlobQueue, Len};
/// let len = Len::<Os>::new();
/// GlobQueue::default().put(g(1), &len);
/// assert_eq!(len.peek(), 1); // read without the lock
/// # }
/// ```
pub struct Len<H: Host>(Atomic<H, u64, UnderLock>);

impl<H: Host> Len<H> {
    /// Of an empty queue.
    #[track_caller]
    pub fn new() -> Self {
        Len(Atomic::new(0))
    }

    /// How many Gs wait; stale unless the lock is held.
    #[inline]
    pub fn peek(&self) -> usize {
        // Acquire: `share`, spinning M's half. A G that was put is ordered by `work/spinning`, where sleep depends on it.
        self.0.load(Acquire) as usize
    }

    fn set(&self, len: usize) {
        // Release: `share`, taker's half.
        self.0.store(len as u64, Release);
    }
}

/// The queue itself. It lives inside the scheduler's lock; each change takes the [`Len`] along.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::queues::globq::{GlobQueue, Len};
/// let (mut queue, len) = (GlobQueue::default(), Len::<Os>::new());
/// queue.put(g(2), &len);
/// queue.put_batch([g(3), g(4), g(5)].into_iter(), &len);
/// queue.put_front([g(1)].into_iter(), &len);
/// assert_eq!(queue.get(&len).map(|g| g.id()), Some(1));
/// let mut more = Vec::new();
/// let first = queue.get_batch(2, 8, &len, |gs| more.extend(gs.map(|g| g.id()))); // a share of one of two Ps
/// assert_eq!((first.map(|g| g.id()), more.as_slice()), (Some(2), &[3, 4][..]));
/// assert_eq!(queue.get_bound(&len), None); // no ticket among them
/// assert_eq!((queue.len(), len.peek()), (1, 1));
/// # }
/// ```
#[derive(Debug, Default)]
pub struct GlobQueue(VecDeque<G>);

impl GlobQueue {
    /// Appends `g`.
    pub fn put<H: Host>(&mut self, g: G, len: &Len<H>) {
        self.0.push_back(g);
        len.set(self.0.len());
    }

    /// Appends all of `gs`, in order.
    pub fn put_batch<H: Host>(&mut self, gs: impl Iterator<Item = G>, len: &Len<H>) {
        self.0.extend(gs);
        len.set(self.0.len());
    }

    /// Puts all of `gs`, in order, before the Gs that are there. Go: `globrunqputhead`.
    pub fn put_front<H: Host>(&mut self, gs: impl Iterator<Item = G>, len: &Len<H>) {
        let behind = core::mem::replace(&mut self.0, gs.collect());
        self.0.extend(behind);
        len.set(self.0.len());
    }

    /// Takes the oldest ticket of a G that is bound to an M.
    pub fn get_bound<H: Host>(&mut self, len: &Len<H>) -> Option<MId> {
        let (at, m) = self.0.iter().enumerate().find_map(|(at, g)| Some((at, g.bound()?)))?;
        self.0.remove(at).map(G::into_raw);
        len.set(self.0.len());
        Some(m)
    }

    /// Takes the oldest.
    pub fn get<H: Host>(&mut self, len: &Len<H>) -> Option<G> {
        let g = self.0.pop_front();
        len.set(self.0.len());
        g
    }

    /// Takes the oldest to run, and passes more to `put`, which must take them all: a fair share among `procs` Ps, in all at
    /// most `room`, which is not 0.
    pub fn get_batch<H: Host>(
        &mut self,
        procs: usize,
        room: usize,
        len: &Len<H>,
        put: impl FnOnce(&mut dyn Iterator<Item = G>),
    ) -> Option<G> {
        let share = (self.0.len() / procs + 1).min(room).min(self.0.len());
        let first = self.0.pop_front()?;
        let mut rest = self.0.drain(..share - 1);
        put(&mut rest);
        debug_assert!(rest.next().is_none(), "globq: a G of the share was not taken, and would be lost");
        drop(rest);
        len.set(self.0.len());
        Some(first)
    }

    /// How many Gs wait.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Is the queue empty?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
