//! The observers of a runtime, and what a thread knows of the task that it runs if there are any: what it waits for.
//!
//! Go: the `waitReason` of `gopark`.
//!
//! Without an observer all this is a test of a word now and then: of the runtime for each event, of the thread for each
//! time that a task is run.

use crate::kernel::types::m::MId;
use crate::runtime::guarded::{Theirs, guarded};
use crate::runtime::host::thread_state::thread_state;
use crate::runtime::id::RuntimeId;
use crate::runtime::observe::attached::Attached;
use crate::runtime::observe::event::{Event, Observer};
use core::cell::Cell;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::Arc;

/// What a task waits for if what it waits for does not say.
pub(in crate::runtime) const AWAIT: &str = "await";

/// What this thread knows of the task that it runs.
struct Run {
    /// Its runtime is watched.
    is_on: Cell<bool>,
    /// Which M it is, and of which runtime. Only if that is watched.
    me: Cell<(RuntimeId, Option<MId>)>,
    /// What is dropped is not the task.
    drops_another: Cell<bool>,
    /// The task has woken itself: it does not wait, it yields.
    has_yielded: Cell<bool>,
    /// What it waits for.
    why: Cell<&'static str>,
    /// An observer is being called.
    is_reporting: Cell<bool>,
}

impl Run {
    const fn new() -> Run {
        Run {
            is_on: Cell::new(false),
            me: Cell::new((RuntimeId::NONE, None)),
            drops_another: Cell::new(false),
            has_yielded: Cell::new(false),
            why: Cell::new(AWAIT),
            is_reporting: Cell::new(false),
        }
    }
}

thread_state!(
    static RUN: Run = Run::new();
);

/// How many runtimes of this process are watched.
static WATCHED: AtomicUsize = AtomicUsize::new(0);

/// The observers of one runtime.
pub(in crate::runtime) struct Watch {
    watchers: Vec<Watcher>,
    /// What ends when nothing will be reported any more.
    attached: Vec<Arc<dyn Attached>>,
}

/// One of them.
struct Watcher {
    observer: Theirs<Arc<dyn Observer>>,
    /// It has panicked: it is called no more.
    has_panicked: AtomicBool,
}

impl Watch {
    /// `None`: there is no observer.
    pub(in crate::runtime) fn new(
        observers: Vec<Arc<dyn Observer>>,
        attached: Vec<Arc<dyn Attached>>,
    ) -> Option<Box<Watch>> {
        let watcher = |observer| Watcher { observer: Theirs::new(observer), has_panicked: AtomicBool::new(false) };
        let watchers: Vec<Watcher> = observers.into_iter().map(watcher).collect();
        if watchers.is_empty() {
            return None;
        }
        // Relaxed: the runtime that is being built has no task yet.
        WATCHED.fetch_add(1, Relaxed);
        Some(Box::new(Watch { watchers, attached }))
    }

    /// Something happened. What they bring about themselves meanwhile is not reported.
    #[cold]
    #[inline(never)]
    pub(in crate::runtime) fn report(&self, event: Event<'_>) {
        if RUN::with(|run| run.is_reporting.replace(true)) != Some(false) {
            return;
        }
        self.watchers.iter().for_each(|watcher| watcher.report(event));
        RUN::with(|run| run.is_reporting.set(false));
    }

    /// Nothing will be reported any more: a file is ended, a server goes.
    pub(in crate::runtime) fn close(&self) {
        self.attached.iter().for_each(|attached| attached.close());
    }

    /// Where a server listens that shows the runtime.
    #[cfg(feature = "console")]
    pub(in crate::runtime) fn address(&self) -> Option<std::net::SocketAddr> {
        self.attached.iter().find_map(|attached| attached.address())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // Relaxed: as in `new`.
        WATCHED.fetch_sub(1, Relaxed);
        self.close();
    }
}

impl Watcher {
    fn report(&self, event: Event<'_>) {
        // Relaxed: one that panics in two threads at once is reported twice.
        if self.has_panicked.load(Relaxed) {
            return;
        }
        let mut is_done = false;
        guarded(|| {
            self.observer.event(event);
            is_done = true;
        });
        if !is_done {
            // Relaxed: as above.
            self.has_panicked.store(true, Relaxed);
        }
    }
}

/// This thread is an M of a runtime that is watched, as long as this lives.
pub(in crate::runtime) struct Present(());

impl Present {
    pub(in crate::runtime) fn new(runtime_id: RuntimeId, m: MId) -> Present {
        RUN::with(|run| {
            run.is_on.set(true);
            run.me.set((runtime_id, Some(m)));
        });
        Present(())
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        RUN::with(|run| {
            run.is_on.set(false);
            run.me.set((RuntimeId::NONE, None));
        });
    }
}

/// Which M of a watched runtime this thread is, and of which.
pub(in crate::runtime) fn me() -> (RuntimeId, Option<MId>) {
    RUN::with(|run| run.me.get()).unwrap_or((RuntimeId::NONE, None))
}

/// What the task waits for that this thread runs, as far as it has said.
pub(in crate::runtime) fn why() -> &'static str {
    RUN::with(|run| run.why.get()).unwrap_or(AWAIT)
}

/// Is this thread's runtime watched?
#[inline(always)]
pub(in crate::runtime) fn is_on() -> bool {
    RUN::with(|run| run.is_on.get()) == Some(true)
}

/// What the task waits for that this thread runs, if its runtime is watched.
///
/// Inlined into what is not: see [`waits_for`](crate::runtime::exec::report::waits_for).
#[inline(always)]
pub(in crate::runtime) fn waits_for(why: &'static str) {
    RUN::in_place(|run| {
        if run.is_on.get() {
            run.why.set(why);
        }
    });
}

/// To be called by a future that returns `Pending` and has woken the task: it does not wait, it yields.
///
/// Inlined into what is not: see [`waits_for`](crate::runtime::exec::report::waits_for).
#[inline(always)]
pub(crate) fn yields() {
    RUN::in_place(|run| run.has_yielded.set(true));
}

/// This thread takes the next task.
pub(in crate::runtime) fn begins() {
    RUN::with(|run| {
        run.has_yielded.set(false);
        run.why.set(AWAIT);
    });
}

/// Drops a task that has come too late, perhaps on the thread of another.
pub(in crate::runtime) fn drop_another<T>(task: T) {
    RUN::with(|run| run.drops_another.set(true));
    guarded(|| drop(task));
    RUN::with(|run| run.drops_another.set(false));
}

/// Has the task woken itself?
pub(in crate::runtime) fn has_yielded() -> bool {
    RUN::with(|run| run.has_yielded.get()) == Some(true)
}

/// Is what is dropped another task than the one that this thread runs?
pub(in crate::runtime) fn drops_another() -> bool {
    RUN::with(|run| run.drops_another.get()) == Some(true)
}

/// Is any runtime of this process watched?
#[inline(always)]
pub(in crate::runtime) fn is_any() -> bool {
    // Relaxed: a thread that can make a task of a runtime has seen it made.
    WATCHED.load(Relaxed) > 0
}
