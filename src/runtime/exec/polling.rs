//! Which task this thread polls; whether that has woken itself: then it is queued again without a step of its word; and how much it has done
//! in this poll: one that always finds something ready would never wait by itself.

use crate::runtime::host::thread_state::thread_state;
use core::cell::Cell;

/// So many operations, each of which was ready, a task may do in one poll; then it is asked to let others run. tokio's number: few enough
/// for the waiting tasks, and so many that a yield after them costs each less than a nanosecond.
const OPERATIONS: u32 = 128;
/// So often it is asked in one poll, at most. What asks and is polled again at once has another executor between it and our scheduler, which
/// waits by polling: it goes on for [`OPERATIONS`] more.
const REFUSALS: u32 = 32;
/// So many tasks that end in a row may wake the same joiner to run next. Few enough for a loop that joins hundreds, and so many that a join of
/// a handful costs no turn.
const JOINS: u32 = 16;
/// No scheduler of ours polls what this thread runs: nothing is asked to yield. So many that no task comes to their end.
const NO_END: u32 = u32::MAX;

thread_state!(
    static POLLING: Polling = Polling::new();
);

/// What this thread knows of it.
struct Polling {
    /// The task's address, or 0.
    task: Cell<usize>,
    /// What the wakers of the task carry that it has dispatched, also when that is over; or 0.
    dispatched: Cell<usize>,
    /// What was woken as the joiner of the last that ended here, and by how many in a row.
    joiner: Cell<(usize, u32)>,
    /// It has woken itself.
    has_woken: Cell<bool>,
    /// So many operations it may do yet.
    operations: Cell<u32>,
    /// So often it may be asked to yield.
    refusals: Cell<u32>,
}

impl Polling {
    const fn new() -> Self {
        let (operations, refusals) = (Cell::new(NO_END), Cell::new(REFUSALS));
        let (dispatched, joiner) = (Cell::new(0), Cell::new((0, 0)));
        Polling { task: Cell::new(0), dispatched, joiner, has_woken: Cell::new(false), operations, refusals }
    }

    /// The task is asked to yield, unless it was already, over and over. `left`: so many operations it could do yet, after this.
    #[cold]
    fn refuses(&self, left: Option<u32>) -> bool {
        if let Some(refusals) = self.refusals.get().checked_sub(1) {
            self.refusals.set(refusals);
            return true;
        }
        if left.is_none_or(|left| left >= OPERATIONS) {
            self.refusals.set(REFUSALS);
        }
        self.operations.set(left.unwrap_or(OPERATIONS));
        false
    }
}

/// This thread is about to poll the task at this address; 0: none. For an M's loop.
#[inline]
pub(super) fn begins(task: usize) {
    POLLING::in_place(|polling| {
        polling.task.set(task);
        polling.dispatched.set(task);
        polling.has_woken.set(false);
        polling.operations.set(if task == 0 { NO_END } else { OPERATIONS });
        polling.refusals.set(REFUSALS);
    });
}

/// The task that this thread polls, by its address, or 0. Its memory is there.
pub(super) fn task() -> usize {
    POLLING::with(|polling| polling.task.get()).unwrap_or(0)
}

/// The task that this thread has dispatched, by its address, or 0. Its memory may be gone.
pub(super) fn dispatched() -> usize {
    POLLING::with(|polling| polling.dispatched.get()).unwrap_or(0)
}

/// The task at this address is over: its memory may be freed.
pub(super) fn is_over(task: usize) {
    POLLING::with(|polling| {
        if polling.task.get() == task {
            polling.task.set(0);
        }
    });
}

/// The task at `ended`, which has ended, wakes its `joiner`. Is that to wait for its turn? So it is if it joins many, one by one, and spawns
/// none between: run next, it would wait for the one behind at once; in its turn it finds a row of them. Only where `ended` is what this
/// thread has dispatched: it looks for another at once, so the joiner may be queued as if `ended` had yielded.
#[inline(never)] // because of `in_place`
pub(super) fn joins_one_by_one(ended: usize, joiner: usize) -> bool {
    let joins = POLLING::in_place(|polling| {
        let (last, before) = polling.joiner.get();
        let in_a_row = if last == joiner { before.saturating_add(1) } else { 1 };
        polling.joiner.set((joiner, in_a_row));
        polling.dispatched.get() == ended && in_a_row > JOINS
    });
    joins == Some(true)
}

/// A task was spawned here: what joins it has not joined the others alone. For a function that is not inlined.
#[inline]
pub(super) fn spawns() {
    POLLING::in_place(|polling| polling.joiner.set((0, 0)));
}

/// What this thread runs from now on is no future: only the monitor asks it to yield.
pub(super) fn blocks() {
    POLLING::with(|polling| polling.operations.set(NO_END));
}

/// A future that this thread polls on behalf of no task, or inside of one: in `block_on`, in `wait()`, in a `LocalSet`. It has the
/// operations of a task, each time that it is polled; what is around it has its own again when this is dropped.
pub(super) struct Nested {
    operations: u32,
    refusals: u32,
}

impl Nested {
    #[inline(never)] // a goroutine may be on another thread the next time: no address of a thread local must be kept
    pub(super) fn begin() -> Nested {
        let nested = POLLING::in_place(|polling| Nested {
            operations: polling.operations.replace(OPERATIONS),
            refusals: polling.refusals.replace(REFUSALS),
        });
        // Not made if it is not needed: dropped, it changes them.
        nested.unwrap_or_else(|| Nested { operations: NO_END, refusals: REFUSALS })
    }

    /// Was the future asked to yield? It has woken itself then.
    pub(super) fn has_yielded(&self) -> bool {
        yields() > 0
    }
}

impl Drop for Nested {
    #[inline(never)] // as `begin`
    fn drop(&mut self) {
        POLLING::in_place(|polling| {
            polling.operations.set(self.operations);
            polling.refusals.set(self.refusals);
        });
    }
}

/// Something is about to be tried that may be ready. `true`: let others run first. That is so if the task `is_asked` to, or has done much in
/// this poll. For a function that is not inlined.
#[inline]
pub(super) fn should_yield(is_asked: bool) -> bool {
    let refused = POLLING::in_place(|polling| match polling.operations.get().checked_sub(1) {
        Some(left) if !is_asked => {
            polling.operations.set(left);
            false
        }
        left => polling.refuses(left),
    });
    refused == Some(true)
}

/// Is this the task that the thread polls? It has woken itself then. For a function that is not inlined.
#[inline]
pub(super) fn wakes_itself(task: usize) -> bool {
    let has = POLLING::in_place(|polling| {
        let is_itself = polling.task.get() == task;
        polling.has_woken.set(polling.has_woken.get() | is_itself);
        is_itself
    });
    has == Some(true)
}

/// How often what is polled was asked to yield.
#[inline(never)] // a goroutine may be on another thread the next time: no address of a thread local must be kept
pub(super) fn yields() -> u32 {
    POLLING::in_place(|polling| REFUSALS - polling.refusals.get()).unwrap_or(0)
}

/// Has what was polled last woken itself?
pub(super) fn has_yielded() -> bool {
    POLLING::with(|polling| polling.has_woken.get()) == Some(true)
}

/// The task at this address was polled: has it woken itself? A wake that comes from now on is one as any other. For an
/// M's loop, and functions that are not inlined.
#[inline]
pub(super) fn has_woken_itself(task: usize) -> bool {
    let has = POLLING::in_place(|polling| {
        if polling.task.get() != task {
            return false;
        }
        polling.task.set(0);
        polling.has_woken.get()
    });
    has == Some(true)
}
