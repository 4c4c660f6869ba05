//! A future that is run by the thread that waits for it.

use crate::host::Parker;
use crate::runtime::FutexParker;
use crate::runtime::exec::registry::RuntimeId;
use crate::runtime::exec::task::Tasks;
use crate::runtime::exec::wait_graph::Deadlock;
use crate::runtime::exec::worker::{self, Return, Unmet};
use crate::runtime::host::foreign_threads::{self, Known};
use crate::runtime::host::sim::{self, Patient};
use core::future::Future;
use core::panic::Location;
use core::pin::{Pin, pin};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicUsize};
use core::task::{Context, Poll, Waker};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Wake;

/// What wakes a thread that waits for a future.
pub(in crate::runtime) struct Bell {
    parker: FutexParker,
    has_rung: AtomicBool,
}

impl Bell {
    pub(in crate::runtime) fn new() -> Arc<Bell> {
        Arc::new(Bell { parker: FutexParker::new(), has_rung: AtomicBool::new(false) })
    }

    /// Has it rung since it was last asked?
    pub(in crate::runtime) fn take(&self) -> bool {
        // AcqRel: what was done before it rang is seen; a later ring is not lost.
        self.has_rung.swap(false, AcqRel)
    }

    /// Sleeps until it rings, or spuriously.
    pub(in crate::runtime) fn sleep(&self) {
        let _known = Known::waiting();
        let _patient = sim::is_here().then(Patient::new);
        self.parker.park();
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // AcqRel: with what was done before. Rung twice, it is enough to wake once.
        if !self.has_rung.swap(true, AcqRel) {
            self.parker.unpark();
        }
    }
}

/// The threads that wait in `block_on` of a runtime.
#[derive(Default)]
pub(in crate::runtime) struct BlockOnWaiters {
    count: AtomicUsize,
    /// How many of them are threads that run tasks: a task waits there, without a P.
    ms: AtomicUsize,
    /// The runtime is being shut down.
    is_closing: AtomicBool,
    bells: Mutex<Vec<Arc<Bell>>>,
}

impl BlockOnWaiters {
    fn enter(&self, bell: &Arc<Bell>) {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(bell));
        // Relaxed: a hint, it is looked at again.
        self.count.fetch_add(1, Relaxed);
    }

    /// Does anybody wait?
    pub(in crate::runtime) fn is_any(&self) -> bool {
        // Relaxed: a hint.
        self.count.load(Relaxed) > 0
    }

    /// How many threads that run tasks sleep here now.
    pub(in crate::runtime) fn ms(&self) -> usize {
        // Relaxed: believed only when everything is at rest.
        self.ms.load(Relaxed)
    }

    /// The runtime is being shut down: a task that waits here has to end.
    pub(in crate::runtime) fn close(&self) {
        // Release: `closing`, told before it rings.
        self.is_closing.store(true, Release);
        let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.iter().for_each(|bell| bell.parker.unpark());
    }

    fn is_closing(&self) -> bool {
        // Acquire: `closing`, the other half.
        self.is_closing.load(Acquire)
    }

    fn leave(&self, bell: &Arc<Bell>) {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.retain(|other| !Arc::ptr_eq(other, bell));
        // Relaxed: a hint.
        self.count.fetch_sub(1, Relaxed);
    }

    /// No thread of the runtime does anything, and nothing is expected: who waits looks whether it waits in vain.
    pub(in crate::runtime) fn all_is_quiet(&self) {
        // Relaxed: a hint. Who comes after this looks by itself before it sleeps.
        if self.count.load(Relaxed) > 0 {
            let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
            bells.iter().for_each(|bell| bell.parker.unpark());
        }
    }
}

struct Guest<'a> {
    tasks: &'a Tasks,
    bell: &'a Arc<Bell>,
    /// The thread runs tasks of this runtime: one of them waits.
    is_m: bool,
}

impl<'a> Guest<'a> {
    fn new(tasks: &'a Tasks, bell: &'a Arc<Bell>) -> Guest<'a> {
        tasks.shared().block_on_waiters.enter(bell);
        Guest { tasks, bell, is_m: worker::is_m_of(Some(tasks.runtime_id())) }
    }

    /// Sleeps until it rings.
    fn sleep(&self, at: &'static Location<'static>) -> Result<(), Unmet> {
        let block_on_waiters = &self.tasks.shared().block_on_waiters;
        let _waits = self.is_m.then(|| Waiting::new(&block_on_waiters.ms));
        while !self.bell.take() {
            if self.is_m && block_on_waiters.is_closing() {
                return Err(Unmet::Closed);
            }
            if foreign_threads::is_stuck(self.tasks) {
                if self.bell.take() {
                    break; // it rang while we looked
                }
                return Err(Unmet::Deadlock(Deadlock::of_root(at, self.tasks)));
            }
            self.bell.sleep();
        }
        Ok(())
    }
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        self.tasks.shared().block_on_waiters.leave(self.bell);
    }
}

/// One more is counted, as long as this lives.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Waiting<'a> {
        // Relaxed: counted.
        count.fetch_add(1, Relaxed);
        Waiting(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        // Relaxed: counted.
        self.0.fetch_sub(1, Relaxed);
    }
}

/// Runs `future` on this thread to its end.
pub(in crate::runtime) fn block_on<F: Future>(
    tasks: &Tasks,
    future: F,
    at: &'static Location<'static>,
) -> Result<F::Output, Deadlock> {
    tasks.check_thread();
    let mut future = pin!(future);
    // In a task: others run meanwhile.
    let _back = Return::after_leaving(true);
    let bell = Bell::new();
    let waker = Waker::from(Arc::clone(&bell));
    let guest = Guest::new(tasks, &bell);
    loop {
        let polled = {
            let _inside = worker::enter(tasks);
            future.as_mut().poll(&mut Context::from_waker(&waker))
        };
        if let Poll::Ready(value) = polled {
            return Ok(value);
        }
        if sim::is_here() {
            sim::yield_p();
        }
        guest.sleep(at).map_err(|unmet| match unmet {
            Unmet::Closed => Deadlock::of_closed(at, tasks),
            Unmet::Deadlock(deadlock) => deadlock,
        })?;
    }
}

/// Waits, on a thread that holds no P of the runtime `runtime_id`, for a task of it. `Err`: it waits in vain.
pub(in crate::runtime) fn join<F: Future + Unpin>(
    runtime_id: RuntimeId,
    mut handle: F,
    at: &'static Location<'static>,
) -> Result<F::Output, (Unmet, F)> {
    let bell = Bell::new();
    let waker = Waker::from(Arc::clone(&bell));
    if let Poll::Ready(value) = Pin::new(&mut handle).poll(&mut Context::from_waker(&waker)) {
        return Ok(value);
    }
    // Without a runtime nobody can tell.
    let Some(tasks) = runtime_id.find() else {
        let ended = wait(&mut handle, false);
        return Ok(
            ended.unwrap_or_else(|_| unreachable!("block_on: a handle of a runtime that is gone was told to wait"))
        );
    };
    let guest = Guest::new(&tasks, &bell);
    loop {
        if let Err(unmet) = guest.sleep(at) {
            return Err((unmet, handle));
        }
        if let Poll::Ready(value) = Pin::new(&mut handle).poll(&mut Context::from_waker(&waker)) {
            return Ok(value);
        }
    }
}

/// Runs `future`, which no runtime has to know of, to its end, on a thread that holds no P. `Err`: it will never come to
/// it, which is only known of a deterministic runtime; or, if it `ends_when_closed`, the task that waits here has to end.
pub(in crate::runtime) fn wait<F: Future + Unpin>(future: &mut F, ends_when_closed: bool) -> Result<F::Output, Unmet> {
    let bell = Bell::new();
    let waker = Waker::from(Arc::clone(&bell));
    let own = worker::current_tasks().filter(|tasks| ends_when_closed && worker::is_m_of(Some(tasks.runtime_id())));
    let guest = own.as_ref().map(|tasks| Guest::new(tasks, &bell));
    loop {
        if let Poll::Ready(value) = Pin::new(&mut *future).poll(&mut Context::from_waker(&waker)) {
            return Ok(value);
        }
        let _waits = guest.as_ref().map(|guest| Waiting::new(&guest.tasks.shared().block_on_waiters.ms));
        while !bell.take() {
            if sim::is_here() && sim::is_told() {
                return Err(Unmet::Deadlock(Deadlock::of_waits(Vec::new(), None, Vec::new())));
            }
            if guest.as_ref().is_some_and(|guest| guest.tasks.shared().block_on_waiters.is_closing()) {
                return Err(Unmet::Closed);
            }
            bell.sleep();
        }
    }
}

static_assertions::assert_impl_all!(Bell: Send, Sync);
