//! What only the runtime can report of a task: that it was made, that it waits and for what, that it is over.
//!
//! Go: `traceGoCreate`, `traceGoPark`, `traceGoEnd`.

use crate::kernel::types::m::MId;
use crate::kernel::types::p::PId;
use crate::runtime::exec::context::Context;
use crate::runtime::exec::task::Raw;
use crate::runtime::id::RuntimeId;
use crate::runtime::observe::event::Event;
use crate::runtime::observe::watch;
use core::panic::Location;
use core::task::Waker;

/// To be called by a future that returns `Pending`: what the task waits for, in the words of Go's `waitReason`. If several
/// say so in one poll, the last is believed; so a future that waits for several things at once says so after them.
#[inline(never)] // a goroutine may be on another thread the next time: no address of a thread local must be kept
pub(in crate::runtime) fn waits_for(why: &'static str) {
    watch::waits_for(why);
    if let Some(task) = Raw::polled() {
        task.header().why.set(why);
    }
}

/// What the task waits for that this thread polls, as far as it has said.
#[inline(never)] // as `waits_for`
pub(in crate::runtime) fn why() -> &'static str {
    Raw::polled().map_or(watch::AWAIT, |task| task.why())
}

/// The task at this address was made, there.
#[inline(always)]
pub(in crate::runtime) fn created(runtime_id: RuntimeId, address: usize, at: &'static Location<'static>) {
    if watch::is_any() {
        report_created(runtime_id, address as u64, at);
    }
}

#[cold]
fn report_created(runtime_id: RuntimeId, g: u64, at: &'static Location<'static>) {
    Context::with_shared(runtime_id, |shared, _| shared.report(Event::Created { g, at }));
}

/// A task is about to wait; not if another executor than its runtime polls it.
#[cold]
pub(in crate::runtime) fn waits(waker: &Waker) {
    if !watch::has_yielded() && Context::is_running(waker) {
        let why = watch::why();
        report_running(|m, p, g| Event::Waiting { m, p, g, why });
    }
}

/// A task has ended.
#[cold]
pub(in crate::runtime) fn ended(waker: &Waker) {
    if Context::is_running(waker) {
        report_running(|m, p, g| Event::Dead { m, p, g });
    }
}

/// A task was dropped that has never waited: the one that this thread has taken, to do that.
#[cold]
pub(in crate::runtime) fn dropped() {
    if !watch::drops_another() {
        report_running(|m, p, g| Event::Dead { m, p, g });
    }
}

fn report_running(event: impl FnOnce(MId, Option<PId>, u64) -> Event<'static>) {
    Context::with_running(|shared, m, p, g| shared.report(event(m, p, g)));
}
