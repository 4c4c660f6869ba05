//! A future's life as a task: its panics, its end, and where it is known while it waits.

use crate::runtime::exec::join::Panic;
use crate::runtime::exec::registry::RuntimeId;
use crate::runtime::exec::worker::{self, Unwound};
use crate::runtime::observe::watch;
use core::future::Future;
use core::num::NonZeroU32;
use core::panic::Location;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use pin_project_lite::pin_project;
use slab::Slab;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Runs `f`, which is code of the user's that nobody waits for. Its panic was reported by the panic hook, and ends here;
/// what it panicked with may panic in its turn when it is dropped, and is not.
pub(in crate::runtime) fn guarded(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        core::mem::forget(payload);
    }
}

/// What a task ends with; `None`: it was unwound, because its runtime is shut down. If nobody takes it, a panic in its
/// destructor ends here.
pub(in crate::runtime) struct Outcome<T>(Option<Result<T, Panic>>);

impl<T> Outcome<T> {
    pub(in crate::runtime) fn into_result(mut self) -> Option<Result<T, Panic>> {
        self.0.take()
    }
}

impl<T> Drop for Outcome<T> {
    fn drop(&mut self) {
        if self.0.is_some() {
            guarded(|| drop(self.0.take()));
        }
    }
}

pin_project! {
    /// A future that harms nobody: not by a panic, not by its destructor's; and that can be found while it waits.
    pub(in crate::runtime) struct Life<F: Future, W: Registration> {
        #[pin]
        future: Option<F>,
        // Where it is known: from the first time that it has to wait until it ends.
        place: W,
    }

    impl<F: Future, W: Registration> PinnedDrop for Life<F, W> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            let mut future = this.future;
            if future.is_some() {
                guarded(|| future.set(None));
                this.place.is_dropped();
            }
        }
    }
}

/// In which hall a task is known, and where there.
pub(in crate::runtime) trait Registration {
    /// It waits, and is not ours any more when we return.
    fn insert(&mut self, waker: &Waker);
    /// It has ended.
    fn remove(&mut self, waker: &Waker);
    /// It has ended, because it was dropped.
    fn is_dropped(&mut self);
}

impl<F: Future, W: Registration> Life<F, W> {
    pub(in crate::runtime) fn new(future: F, place: W) -> Self {
        Life { future: Some(future), place }
    }
}

impl<F: Future, W: Registration> Future for Life<F, W> {
    type Output = Outcome<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut future = this.future;
        let mut value = None;
        // What the future leaves broken, only it could show: it is not polled again.
        let caught = catch_unwind(AssertUnwindSafe(|| {
            if let Some(running) = future.as_mut().as_pin_mut()
                && let Poll::Ready(ready) = running.poll(cx)
            {
                value = Some(ready);
                // Its destructor is part of its life; if that panics, the value stands.
                future.set(None);
            }
        }));
        let result = match (value, caught) {
            (None, Ok(())) => {
                this.place.insert(cx.waker());
                return Poll::Pending;
            }
            (Some(value), Ok(())) => Some(Ok(value)),
            (Some(value), Err(payload)) => {
                core::mem::forget(payload);
                Some(Ok(value))
            }
            (None, Err(payload)) => {
                guarded(|| future.set(None));
                (!payload.is::<Unwound>()).then(|| Err(Panic::new(payload)))
            }
        };
        this.place.remove(cx.waker());
        Poll::Ready(Outcome(result))
    }
}

/// A task of a runtime: its hall is found by the runtime's number.
pub(in crate::runtime) struct InRuntime {
    runtime_id: RuntimeId,
    seat: Option<Seat>,
}

impl InRuntime {
    pub(in crate::runtime) fn new(runtime_id: RuntimeId) -> Self {
        InRuntime { runtime_id, seat: None }
    }
}

impl InRuntime {
    /// It waits: for the first time, or somebody watches.
    #[inline(never)] // not among what is done each time
    fn say_so(&mut self, waker: &Waker) {
        if self.seat.is_none() {
            self.seat = worker::with_owned_tasks(self.runtime_id, |owned_tasks, row| owned_tasks.insert(row, waker));
        }
        if watch::is_on() {
            watch::waits(waker);
        }
    }

    /// It is known no more. What the owned tasks has of it, if it was known.
    #[inline]
    fn leave(&mut self) -> Option<OwnedTask> {
        // If the runtime is gone, so is its hall.
        self.seat.take().and_then(|seat| {
            worker::with_owned_tasks(self.runtime_id, |owned_tasks, _| owned_tasks.remove(seat)).flatten()
        })
    }
}

impl Registration for InRuntime {
    #[inline(always)]
    fn insert(&mut self, waker: &Waker) {
        if self.seat.is_none() || watch::is_on() {
            self.say_so(waker);
        }
    }

    #[inline]
    fn remove(&mut self, waker: &Waker) {
        if watch::is_on() {
            watch::ended(waker);
        }
        drop(self.leave()); // not while its hall is looked at: it may be the last that knew of its task
    }

    fn is_dropped(&mut self) {
        let sitter = self.leave();
        if watch::is_on() {
            match &sitter {
                Some(sitter) => watch::ended(&sitter.waker),
                None => watch::dropped(),
            }
        }
    }
}

/// A task that is known in this hall.
pub(in crate::runtime) struct InOwnedTasks {
    owned_tasks: Arc<OwnedTasks>,
    seat: Option<Seat>,
}

impl InOwnedTasks {
    pub(in crate::runtime) fn new(owned_tasks: Arc<OwnedTasks>) -> Self {
        InOwnedTasks { owned_tasks, seat: None }
    }
}

impl Registration for InOwnedTasks {
    fn insert(&mut self, waker: &Waker) {
        if self.seat.is_none() {
            self.seat = Some(self.owned_tasks.insert(0, waker));
        }
    }

    fn remove(&mut self, _waker: &Waker) {
        self.is_dropped();
    }

    fn is_dropped(&mut self) {
        drop(self.seat.take().map(|seat| self.owned_tasks.remove(seat)));
    }
}

/// The tasks of a runtime that have waited once, and have not ended: who they are, and how to find them.
pub(in crate::runtime) struct OwnedTasks {
    /// One for each P, so that they do not wait for each other.
    rows: Box<[Mutex<Slab<OwnedTask>>]>,
}

/// One of them.
pub(in crate::runtime) struct OwnedTask {
    waker: Waker,
    spawned_at: &'static Location<'static>,
}

/// Room for so many is kept in each row.
const KEPT: usize = 1024;

/// A place in a hall: its row and its number there, in one.
pub(in crate::runtime) struct Seat(NonZeroU32);

impl OwnedTasks {
    pub(in crate::runtime) fn new(rows: usize) -> Arc<OwnedTasks> {
        Arc::new(OwnedTasks { rows: (0..rows.max(1)).map(|_| Mutex::new(Slab::new())).collect() })
    }

    fn row(&self, row: usize) -> MutexGuard<'_, Slab<OwnedTask>> {
        self.rows[row].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The task of this waker waits from now on.
    fn insert(&self, row: usize, waker: &Waker) -> Seat {
        let rows = self.rows.len();
        let row = row % rows;
        let spawned_at = worker::spawned_at().unwrap_or(Location::caller());
        let number = self.row(row).insert(OwnedTask { waker: waker.clone(), spawned_at });
        let seat = u32::try_from(number * rows + row + 1).ok().and_then(NonZeroU32::new);
        Seat(seat.expect("there is no memory for four billion tasks"))
    }

    fn remove(&self, Seat(seat): Seat) -> Option<OwnedTask> {
        let seat = seat.get() as usize - 1;
        let mut row = self.row(seat % self.rows.len());
        let sitter = row.try_remove(seat / self.rows.len());
        // A crowd was there, and has gone: its memory goes too. Tried now and then: it takes time.
        if row.capacity() > KEPT && row.len() * 8 < row.capacity() && (row.is_empty() || row.len().is_power_of_two()) {
            row.shrink_to_fit();
        }
        sitter
    }

    /// What the wakers of its tasks carry.
    pub(in crate::runtime) fn addresses(&self) -> BTreeSet<usize> {
        let mut addresses = BTreeSet::new();
        for row in 0..self.rows.len() {
            addresses.extend(self.row(row).iter().map(|(_, sitter)| sitter.waker.data().addr()));
        }
        addresses
    }

    /// How many wait, or have waited and run now.
    pub(in crate::runtime) fn len(&self) -> usize {
        (0..self.rows.len()).map(|row| self.row(row).len()).sum()
    }

    /// Where those were spawned.
    pub(in crate::runtime) fn spawned_at(&self) -> Vec<&'static Location<'static>> {
        let mut places: Vec<&'static Location<'static>> = Vec::new();
        for row in 0..self.rows.len() {
            places.extend(self.row(row).iter().map(|(_, sitter)| sitter.spawned_at));
        }
        places.sort_by_key(|at| (at.file(), at.line(), at.column()));
        places
    }

    /// Wakes all of them. Their runtime takes no task any more, so each is dropped, here.
    pub(in crate::runtime) fn clear(&self) {
        for row in 0..self.rows.len() {
            // Not under the lock: who is dropped leaves its seat.
            let sitters = core::mem::take(&mut *self.row(row));
            sitters.into_iter().for_each(|(_, sitter)| guarded(|| sitter.waker.wake()));
        }
    }
}
