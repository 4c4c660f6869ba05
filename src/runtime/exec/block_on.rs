//! A future that is run by the thread that waits for it.

use crate::host::Host;
use crate::runtime::exec::block_on_waiters::Waiting;
use crate::runtime::exec::call_site::Call;
use crate::runtime::exec::checkdead;
use crate::runtime::exec::context::Context;
use crate::runtime::exec::inside::Inside;
use crate::runtime::exec::leaving::Return;
use crate::runtime::exec::platform::Platform;
use crate::runtime::exec::polling::Nested;
use crate::runtime::exec::tasks::Tasks;
use crate::runtime::exec::wait_graph::Deadlock;
use crate::runtime::exec::waits::Unmet;
use crate::runtime::host::cores::Cores;
use crate::runtime::host::sim::{self, Sim};
use crate::runtime::id::RuntimeId;
use crate::waits::bell::{self, LooksAgain};
use core::future::Future;
use core::panic::Location;
use core::pin::{Pin, pin};
use core::task::{self, Poll, Waker};
use std::sync::Arc;
use std::task::Wake;

/// What wakes a thread that waits for a future, as a waker.
struct Bell<H: Host>(bell::Bell<H>);

impl<H: Platform> Bell<H> {
    fn new() -> Arc<Bell<H>> {
        Arc::new(Bell(bell::Bell::new()))
    }

    /// What else is so while this thread sleeps.
    fn sleeping() -> impl Sized {
        let known = checkdead::this_thread_waits();
        // Dropped in the other order.
        (H::awaiting(), known)
    }
}

impl<H: Host> LooksAgain for Bell<H> {
    fn look_again(&self) {
        self.0.look_again();
    }
}

impl<H: Host> Wake for Bell<H> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.ring();
    }
}

/// A thread in the `block_on` of a runtime on the host `H`.
struct Guest<'a, H: Host> {
    tasks: &'a Tasks,
    bell: &'a Arc<Bell<H>>,
    /// The thread runs tasks of this runtime: one of them waits.
    is_m: bool,
}

impl<'a, H: Platform> Guest<'a, H> {
    fn new(tasks: &'a Tasks, bell: &'a Arc<Bell<H>>) -> Self {
        tasks.shared().block_on_waiters.enter(Arc::clone(bell) as Arc<dyn LooksAgain>);
        Guest { tasks, bell, is_m: Context::is_m_of(Some(tasks.runtime_id())) }
    }

    /// Sleeps until it rings.
    fn sleep(&self, at: &'static Location<'static>) -> Result<(), Unmet> {
        let waiters = &self.tasks.shared().block_on_waiters;
        let _waits = self.is_m.then(|| Waiting::new(waiters));
        self.bell.0.wait(|| match () {
            () if self.is_m && waiters.is_closing() => Err(Unmet::Closed),
            () if checkdead::is_stuck::<H>(self.tasks) => Err(Unmet::Deadlock(self.deadlock(at))),
            () => Ok(Bell::<H>::sleeping()),
        })
    }

    fn deadlock(&self, at: &'static Location<'static>) -> Deadlock {
        let threads = checkdead::are_exhausted(self.tasks).then_some(self.tasks.config().max_ms);
        Deadlock::of_root(at, threads, self.tasks.shared().owned_tasks.spawned_at())
    }
}

impl<H: Host> Drop for Guest<'_, H> {
    fn drop(&mut self) {
        let bell: Arc<dyn LooksAgain> = self.bell.clone();
        self.tasks.shared().block_on_waiters.leave(&bell);
    }
}

/// Runs `future` on this thread to its end.
pub(in crate::runtime) fn block_on<F: Future>(
    tasks: &Tasks,
    future: F,
    at: &'static Location<'static>,
) -> Result<F::Output, Deadlock> {
    tasks.check_thread();
    match tasks {
        Tasks::Cores(_) => block_on_host::<Cores, F>(tasks, future, at),
        Tasks::Sim(_) => block_on_host::<Sim, F>(tasks, future, at),
    }
}

fn block_on_host<H: Platform, F: Future>(
    tasks: &Tasks,
    future: F,
    at: &'static Location<'static>,
) -> Result<F::Output, Deadlock> {
    let mut future = pin!(future);
    // In a task: others run meanwhile.
    let _back = Return::after_leaving(Call::Blocks);
    let bell = Bell::<H>::new();
    let waker = Waker::from(Arc::clone(&bell));
    let guest = Guest::new(tasks, &bell);
    loop {
        H::step();
        let polled = {
            let _inside = Inside::of(tasks);
            let _polls = Nested::begin();
            future.as_mut().poll(&mut task::Context::from_waker(&waker))
        };
        if let Poll::Ready(value) = polled {
            return Ok(value);
        }
        guest.sleep(at).map_err(|unmet| match unmet {
            Unmet::Closed => Deadlock::of_closed(at, tasks.shared().owned_tasks.spawned_at()),
            Unmet::Deadlock(deadlock) => deadlock,
        })?;
    }
}

/// Waits, on a thread that holds no P of the runtime `runtime_id`, for a task of it. `Err`: it will not come.
pub(in crate::runtime) fn join<F: Future + Unpin>(
    runtime_id: RuntimeId,
    mut handle: F,
    at: &'static Location<'static>,
) -> Result<F::Output, (Unmet, F)> {
    match runtime_id.find() {
        Some(tasks @ Tasks::Cores(_)) => join_on::<Cores, F>(&tasks, handle, at),
        Some(tasks @ Tasks::Sim(_)) => join_on::<Sim, F>(&tasks, handle, at),
        // Without a runtime nobody can say so.
        None => match wait(&mut handle, false) {
            Ok(ended) => Ok(ended),
            Err(_) => unreachable!("block_on: a handle of a runtime that is gone is deadlocked"),
        },
    }
}

fn join_on<H: Platform, F: Future + Unpin>(
    tasks: &Tasks,
    mut handle: F,
    at: &'static Location<'static>,
) -> Result<F::Output, (Unmet, F)> {
    let bell = Bell::<H>::new();
    let waker = Waker::from(Arc::clone(&bell));
    let poll = |handle: &mut F| Pin::new(handle).poll(&mut task::Context::from_waker(&waker));
    if let Poll::Ready(value) = poll(&mut handle) {
        return Ok(value);
    }
    let guest = Guest::new(tasks, &bell);
    loop {
        if let Err(unmet) = guest.sleep(at) {
            return Err((unmet, handle));
        }
        if let Poll::Ready(value) = poll(&mut handle) {
            return Ok(value);
        }
    }
}

/// Runs `future`, which no runtime has to know of, to its end, on a thread that holds no P. `Err`: it will never come to
/// it, which is only known of a deterministic runtime; or, if it `ends_when_closed`, the task that waits here has to end.
pub(in crate::runtime) fn wait<F: Future + Unpin>(future: &mut F, ends_when_closed: bool) -> Result<F::Output, Unmet> {
    match sim::is_here() {
        false => wait_on::<Cores, F>(future, ends_when_closed),
        true => wait_on::<Sim, F>(future, ends_when_closed),
    }
}

fn wait_on<H: Platform, F: Future + Unpin>(future: &mut F, ends_when_closed: bool) -> Result<F::Output, Unmet> {
    let bell = Bell::<H>::new();
    let waker = Waker::from(Arc::clone(&bell));
    let own = Context::current_tasks();
    let own = own.filter(|tasks| ends_when_closed && Context::is_m_of(Some(tasks.runtime_id())));
    let guest = own.as_ref().map(|tasks| Guest::new(tasks, &bell));
    let waiters = guest.as_ref().map(|guest| &guest.tasks.shared().block_on_waiters);
    loop {
        H::step();
        let polls = Nested::begin();
        if let Poll::Ready(value) = Pin::new(&mut *future).poll(&mut task::Context::from_waker(&waker)) {
            return Ok(value);
        }
        drop(polls);
        let _waits = waiters.map(Waiting::new);
        bell.0.wait(|| match () {
            () if H::take_deadlock() => Err(Unmet::Deadlock(Deadlock::of_waits(Vec::new(), None, Vec::new()))),
            () if waiters.is_some_and(|waiters| waiters.is_closing()) => Err(Unmet::Closed),
            () => Ok(Bell::<H>::sleeping()),
        })?;
    }
}

static_assertions::assert_impl_all!(Bell<Cores>: Send, Sync);
