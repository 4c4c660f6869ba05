//! A future that is run by the thread that waits for it.

use super::Bed;
use super::board::Deadlock;
use super::home::Home;
use super::sim::{self, Patient};
use super::task::Tasks;
use super::threads::{self, Known};
use super::worker::{self, Return};
use crate::host::Parker;
use core::future::Future;
use core::panic::Location;
use core::pin::{Pin, pin};
use core::sync::atomic::Ordering::{AcqRel, Relaxed};
use core::sync::atomic::{AtomicBool, AtomicUsize};
use core::task::{Context, Poll, Waker};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Wake;

/// What wakes a thread that waits for a future.
pub(super) struct Bell {
    bed: Bed,
    has_rung: AtomicBool,
}

impl Bell {
    pub(super) fn new() -> Arc<Bell> {
        Arc::new(Bell { bed: Bed::new(), has_rung: AtomicBool::new(false) })
    }

    /// Has it rung since it was last asked?
    pub(super) fn take(&self) -> bool {
        // AcqRel: what was done before it rang is seen; a later ring is not lost.
        self.has_rung.swap(false, AcqRel)
    }

    /// Sleeps until it rings, or for no reason.
    pub(super) fn sleep(&self) {
        let _known = Known::new();
        let _patient = sim::is_here().then(Patient::new);
        self.bed.park();
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // AcqRel: with what was done before. Rung twice, it is enough to wake once.
        if !self.has_rung.swap(true, AcqRel) {
            self.bed.unpark();
        }
    }
}

/// The threads that wait in `block_on` of a runtime.
#[derive(Default)]
pub(super) struct Guests {
    count: AtomicUsize,
    bells: Mutex<Vec<Arc<Bell>>>,
}

impl Guests {
    fn enter(&self, bell: &Arc<Bell>) {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(bell));
        // Relaxed: a hint, it is looked at again.
        self.count.fetch_add(1, Relaxed);
    }

    fn leave(&self, bell: &Arc<Bell>) {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.retain(|other| !Arc::ptr_eq(other, bell));
        // Relaxed: a hint.
        self.count.fetch_sub(1, Relaxed);
    }

    /// No thread of the runtime does anything, and nothing is expected: who waits looks whether it waits in vain.
    pub(super) fn all_is_quiet(&self) {
        // Relaxed: a hint. Who comes after this looks by itself before it sleeps.
        if self.count.load(Relaxed) > 0 {
            let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
            bells.iter().for_each(|bell| bell.bed.unpark());
        }
    }
}

struct Guest<'a> {
    tasks: &'a Tasks,
    bell: &'a Arc<Bell>,
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        self.tasks.shared().guests.leave(self.bell);
    }
}

/// Runs `future` on this thread to its end.
pub(super) fn block_on<F: Future>(
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
    tasks.shared().guests.enter(&bell);
    let _guest = Guest { tasks, bell: &bell };
    loop {
        let polled = {
            let _inside = worker::enter(tasks);
            future.as_mut().poll(&mut Context::from_waker(&waker))
        };
        if let Poll::Ready(value) = polled {
            return Ok(value);
        }
        if sim::is_here() {
            sim::make_way();
        }
        sleep(tasks, &bell, at)?;
    }
}

/// Sleeps until it rings.
fn sleep(tasks: &Tasks, bell: &Bell, at: &'static Location<'static>) -> Result<(), Deadlock> {
    while !bell.take() {
        if threads::is_stuck(tasks) {
            if bell.take() {
                break; // it rang while we looked
            }
            return Err(Deadlock::of_root(at, tasks.shared().hall.spawned_at()));
        }
        bell.sleep();
    }
    Ok(())
}

/// Waits, on a thread that holds no P of the runtime `home`, for a task of it. `Err`: it waits in vain.
pub(super) fn join<F: Future + Unpin>(
    home: Home,
    mut handle: F,
    at: &'static Location<'static>,
) -> Result<F::Output, (Deadlock, F)> {
    let bell = Bell::new();
    let waker = Waker::from(Arc::clone(&bell));
    if let Poll::Ready(value) = Pin::new(&mut handle).poll(&mut Context::from_waker(&waker)) {
        return Ok(value);
    }
    // Without a runtime nobody can tell.
    let Some(tasks) = home.find() else {
        let ended = wait(&mut handle);
        return Ok(
            ended.unwrap_or_else(|| unreachable!("block_on: a handle of a runtime that is gone was told to wait"))
        );
    };
    tasks.shared().guests.enter(&bell);
    let _guest = Guest { tasks: &tasks, bell: &bell };
    loop {
        if let Err(deadlock) = sleep(&tasks, &bell, at) {
            return Err((deadlock, handle));
        }
        if let Poll::Ready(value) = Pin::new(&mut handle).poll(&mut Context::from_waker(&waker)) {
            return Ok(value);
        }
    }
}

/// Runs `future`, which no runtime has to know of, to its end. `None`: it will never come to it, which is only known of a
/// deterministic runtime.
pub(super) fn wait<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    let bell = Bell::new();
    let waker = Waker::from(Arc::clone(&bell));
    loop {
        if let Poll::Ready(value) = Pin::new(&mut *future).poll(&mut Context::from_waker(&waker)) {
            return Some(value);
        }
        while !bell.take() {
            if sim::is_here() && sim::is_told() {
                return None;
            }
            bell.sleep();
        }
    }
}

static_assertions::assert_impl_all!(Bell: Send, Sync);
