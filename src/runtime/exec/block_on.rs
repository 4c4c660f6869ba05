//! A future that is run by the thread that waits for it.

use crate::host::{Host, NEVER, Nanos, Parker};
use crate::runtime::exec::block_on_waiters::{Elsewhere, Waits};
use crate::runtime::exec::call_site::Call;
use crate::runtime::exec::checkdead;
use crate::runtime::exec::context::Context;
use crate::runtime::exec::inside::Inside;
use crate::runtime::exec::leaving::Return;
use crate::runtime::exec::looks::Looks;
use crate::runtime::exec::needs_tokio;
use crate::runtime::exec::outcome;
use crate::runtime::exec::platform::Platform;
use crate::runtime::exec::polling::Nested;
use crate::runtime::exec::task::Raw;
use crate::runtime::exec::tasks::Tasks;
use crate::runtime::exec::wait_graph::Deadlock;
use crate::runtime::exec::waits::{Unmet, blocked_in};
use crate::runtime::host::cores::Cores;
use crate::runtime::host::foreign_threads::MayAct;
use crate::runtime::host::sim::{self, outside::Outside, sim_host::Sim};
use crate::runtime::id::RuntimeId;
use crate::waits::bell::{self, LooksAgain};
use core::cell::Cell;
use core::future::Future;
use core::panic::Location;
use core::pin::{Pin, pin};
use core::task::{self, Poll, Waker};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::Wake;

/// What wakes a thread that waits for a future, as a waker.
struct Bell<H: Host> {
    bell: bell::Bell<H, Waits>,
    outside: Outside,
}

impl<H: Platform> Bell<H> {
    fn new(counts: Waits) -> Arc<Bell<H>> {
        Arc::new(Bell { bell: bell::Bell::counted_by(counts), outside: Outside::new() })
    }

    /// Sleeps until it rings, and asks `before_sleep` before each sleep whether to sleep, and for how long.
    fn wait(&self, mut before_sleep: impl FnMut() -> Result<Nanos, Unmet>) -> Result<(), Unmet> {
        let before_sleep = || {
            let sleeps = before_sleep().map(|nanos| (H::awaiting(), nanos));
            if H::IS_SIMULATED && self.outside.take() {
                self.bell.ring();
            }
            sleeps
        };
        self.bell.wait_by(before_sleep, sleep_for::<H>)
    }
}

impl<H: Host> LooksAgain for Bell<H> {
    fn look_again(&self) {
        self.bell.look_again();
    }
}

impl<H: Platform> Wake for Bell<H> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !H::IS_SIMULATED || !self.outside.ring() {
            self.bell.ring();
        }
    }
}

/// As what this thread counts while it waits outside of its own runtime: an M of another is busy there.
fn elsewhere() -> Elsewhere {
    if Context::is_m_of(None) { Elsewhere::Busy } else { Elsewhere::Thread }
}

/// Sleeps for so long, or until it is woken.
fn sleep_for<H: Platform>(parker: &H::Parker, (_awaiting, nanos): (H::Awaiting, Nanos)) {
    match nanos {
        NEVER => parker.park(),
        nanos => parker.park_timeout(nanos),
    }
}

/// A thread in the `block_on` of a runtime on the host `H`.
struct Guest<'a, H: Host> {
    tasks: &'a Tasks,
    bell: Arc<Bell<H>>,
    /// The thread runs tasks of this runtime: one of them waits.
    is_m: bool,
    /// It has slept.
    is_listed: Cell<bool>,
    _calls: Option<MayAct>,
}

impl<'a, H: Platform> Guest<'a, H> {
    fn new(tasks: &'a Tasks) -> Self {
        let waiters = &tasks.shared().block_on_waiters;
        let is_m = Context::is_m_of(Some(tasks.runtime_id()));
        let (waits, calls) = match (is_m, elsewhere()) {
            (true, _) => (waiters.counts_m(), None),
            (false, elsewhere) => (Waits::Guest(Arc::clone(waiters.guests()), elsewhere), elsewhere.calls()),
        };
        if !is_m {
            waiters.guests().enter();
        }
        Guest { tasks, bell: Bell::new(waits), is_m, is_listed: Cell::new(false), _calls: calls }
    }

    fn waker(&self) -> Waker {
        Waker::from(Arc::clone(&self.bell))
    }

    /// Sleeps until it rings, unless the task that waits has to end, or `looks` finds that nothing can ring it: `Ok` says how long it may
    /// sleep before it looks again.
    fn sleep(
        &self,
        at: &'static Location<'static>,
        mut looks: impl FnMut() -> Result<Nanos, Deadlock>,
    ) -> Result<(), Unmet> {
        let shared = self.tasks.shared();
        let waiters = &shared.block_on_waiters;
        let _blocked =
            if self.is_m { Raw::polled().map(|task| shared.wait_graph.block(task.blocked(Some(at)))) } else { None };
        if !self.is_listed.replace(true) {
            waiters.enter(Arc::clone(&self.bell) as Arc<dyn LooksAgain>);
        }
        let before_sleep = || match () {
            () if self.is_m && waiters.is_closing() => Err(Unmet::Closed),
            () => looks().map_err(Unmet::Deadlock),
        };
        self.bell.wait(before_sleep)
    }

    /// The same, for a thread that is told of a deadlock.
    fn sleep_at(&self, at: &'static Location<'static>) -> Result<(), Unmet> {
        let mut looks = Looks::new();
        self.sleep(at, || match checkdead::is_stuck::<H>(self.tasks, looks.may_look::<H>()) {
            true => Err(self.deadlock().with_root(at)),
            false => Ok(if self.tasks.shared().detects_deadlock { looks.pause::<H>() } else { NEVER }),
        })
    }

    fn deadlock(&self) -> Deadlock {
        let (shared, config) = (self.tasks.shared(), self.tasks.config());
        let threads = checkdead::are_exhausted(self.tasks).then_some(config.max_ms);
        Deadlock::new(shared.wait_graph.waits(), threads, blocked_in(shared))
    }
}

impl<H: Host> Drop for Guest<'_, H> {
    fn drop(&mut self) {
        if !self.is_m {
            self.tasks.shared().block_on_waiters.guests().leave();
        }
        if self.is_listed.get() {
            let bell: Arc<dyn LooksAgain> = self.bell.clone();
            self.tasks.shared().block_on_waiters.leave(&bell);
        }
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
    let guest = Guest::<H>::new(tasks);
    let waker = guest.waker();
    loop {
        H::step();
        let polled = {
            let _inside = Inside::of(tasks);
            let _polls = Nested::begin();
            let poll = || future.as_mut().poll(&mut task::Context::from_waker(&waker));
            catch_unwind(AssertUnwindSafe(poll)).unwrap_or_else(|payload| {
                needs_tokio::report(outcome::message(&*payload));
                resume_unwind(payload)
            })
        };
        if let Poll::Ready(value) = polled {
            return Ok(value);
        }
        guest.sleep_at(at).map_err(|unmet| match unmet {
            Unmet::Closed => Deadlock::new(Vec::new(), None, blocked_in(tasks.shared())).by_close(at),
            Unmet::Deadlock(deadlock) => deadlock,
        })?;
    }
}

/// Waits, on a thread that holds no P of the runtime `runtime_id`, for a task of it. `Err`: it will not come.
pub(in crate::runtime) fn join<F: Future + Unpin>(
    runtime_id: RuntimeId,
    handle: &mut F,
    at: &'static Location<'static>,
) -> Result<F::Output, Unmet> {
    match runtime_id.find() {
        Some(tasks @ Tasks::Cores(_)) => join_on::<Cores, F>(&tasks, handle, at),
        Some(tasks @ Tasks::Sim(_)) => join_on::<Sim, F>(&tasks, handle, at),
        // Without a runtime that is not known.
        None => match wait(handle, false, at) {
            Ok(ended) => Ok(ended),
            Err(_) => unreachable!("block_on: a handle of a runtime that is gone is deadlocked"),
        },
    }
}

fn join_on<H: Platform, F: Future + Unpin>(
    tasks: &Tasks,
    handle: &mut F,
    at: &'static Location<'static>,
) -> Result<F::Output, Unmet> {
    let guest = Guest::<H>::new(tasks);
    let waker = guest.waker();
    loop {
        if let Poll::Ready(value) = Pin::new(&mut *handle).poll(&mut task::Context::from_waker(&waker)) {
            return Ok(value);
        }
        guest.sleep_at(at)?;
    }
}

/// Runs `future`, which no runtime has to know of, to its end, on a thread that holds no P. `Err`: it will never come to
/// it, which is only known of a deterministic runtime; or, if it `ends_when_closed`, the task that waits here has to end.
pub(in crate::runtime) fn wait<F: Future + Unpin>(
    future: &mut F,
    ends_when_closed: bool,
    at: &'static Location<'static>,
) -> Result<F::Output, Unmet> {
    match sim::is_here() {
        false => wait_on::<Cores, F>(future, ends_when_closed, at),
        true => wait_on::<Sim, F>(future, ends_when_closed, at),
    }
}

fn wait_on<H: Platform, F: Future + Unpin>(
    future: &mut F,
    ends_when_closed: bool,
    at: &'static Location<'static>,
) -> Result<F::Output, Unmet> {
    let own = Context::current_tasks();
    let own = own.filter(|tasks| ends_when_closed && Context::is_m_of(Some(tasks.runtime_id())));
    let guest = own.as_ref().map(Guest::<H>::new);
    let _calls = if guest.is_none() { elsewhere().calls() } else { None };
    let bell = guest.as_ref().map_or_else(|| Bell::new(Waits::Elsewhere(elsewhere())), |guest| Arc::clone(&guest.bell));
    let waker = Waker::from(Arc::clone(&bell));
    let deadlock = || if H::take_deadlock() { Err(Deadlock::new(Vec::new(), None, Vec::new())) } else { Ok(NEVER) };
    loop {
        H::step();
        let polls = Nested::begin();
        if let Poll::Ready(value) = Pin::new(&mut *future).poll(&mut task::Context::from_waker(&waker)) {
            return Ok(value);
        }
        drop(polls);
        match &guest {
            Some(guest) => guest.sleep(at, deadlock)?,
            None => sleep_elsewhere(&bell, deadlock)?,
        }
    }
}

/// Sleeps until it rings, on a thread that a deadlock is not told. It may be the last that came to rest, so it looks for the others.
fn sleep_elsewhere<H: Platform>(bell: &Bell<H>, deadlock: impl Fn() -> Result<Nanos, Deadlock>) -> Result<(), Unmet> {
    let mut looks = Looks::new();
    let before_sleep = || {
        let mut nanos = deadlock().map_err(Unmet::Deadlock)?;
        if !H::IS_SIMULATED {
            if looks.has_slept() {
                checkdead::look_for_others();
            }
            nanos = looks.pause::<H>();
        }
        Ok(nanos)
    };
    bell.wait(before_sleep)
}

static_assertions::assert_impl_all!(Bell<Cores>: Send, Sync);
