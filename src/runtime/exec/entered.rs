//! Being inside of a runtime without being a task.

use crate::runtime::exec::tasks::Tasks;
use crate::runtime::host::thread_state::thread_state;
use core::cell::{Cell, RefCell};
use core::fmt;
use core::marker::PhantomData;

thread_state! {
    /// The runtimes that this thread has entered, the last one last.
    static ENTERED: RefCell<Vec<(u64, Tasks)>> = RefCell::new(Vec::new());
    /// How many guards there were on this thread.
    static COUNT: Cell<u64> = Cell::new(0);
}

/// As long as this lives, the code of this thread is inside of a runtime. From
/// [`Runtime::enter`](crate::Runtime::enter). Several of them may be dropped in any order: what counts is the last one
/// that lives.
#[must_use = "dropped, it leaves the runtime at once"]
pub struct EnterGuard<'a> {
    number: u64,
    /// Of a runtime that is kept open elsewhere; only for this thread.
    runtime: PhantomData<(&'a Tasks, *const ())>,
}

impl EnterGuard<'_> {
    pub(in crate::runtime) fn new(tasks: &Tasks) -> Self {
        let number = COUNT::with(|count| count.replace(count.get() + 1)).unwrap_or(u64::MAX);
        ENTERED::with(|entered| entered.borrow_mut().push((number, tasks.clone())));
        EnterGuard { number, runtime: PhantomData }
    }
}

impl Drop for EnterGuard<'_> {
    fn drop(&mut self) {
        let leave = |entered: &RefCell<Vec<(u64, Tasks)>>| {
            let mut entered = entered.borrow_mut();
            let place = entered.iter().rposition(|(number, _)| *number == self.number);
            place.map(|place| entered.remove(place))
        };
        // Not under the borrow: the runtime may end with it.
        let left = ENTERED::with(leave);
        drop(left);
    }
}

impl fmt::Debug for EnterGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnterGuard").finish_non_exhaustive()
    }
}

/// The runtime that a thread is inside of that runs no task.
#[cold]
pub(in crate::runtime) fn last() -> Option<Tasks> {
    ENTERED::with(|entered| entered.borrow().last().map(|(_, tasks)| tasks.clone())).flatten()
}
