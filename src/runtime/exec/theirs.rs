//! A runtime of tokio's without a thread of its own: the M that would wait in our poller waits in tokio's, where our poller is one source.
//!
//! ```text
//!   an M without work:  block_on(Turn) ─► tasks given to tokio::spawn ─► tokio's epoll ◄── tokio's sockets, timers
//!                          │                                                   ▲
//!                          │ a task of ours was woken, or time is up           └── our epoll ◄── our sockets, our bell
//!                          ▼
//!                       takes a P, and runs it
//! ```
//!
//! * **Every M is in tokio's context** from its first task to its last, and so is a thread in `block_on`.
//! * **A wait ends when the first task of ours was woken**: [`Context::collect_with`] tells tokio's runtime to poll [`Turn`] again.
//! * **The monitor stays out**: it runs no tasks.
//! * **An M that has work gives tokio a turn** when it would look at the sockets: one of its driver, and of tasks that are ready there.

#![allow(unsafe_code)]

use crate::runtime::exec::context::Context;
use crate::runtime::exec::inside::Callback;
use crate::runtime::guarded::guarded;
use crate::runtime::host::foreign_threads::MayAct;
use crate::runtime::id::RuntimeId;
use crate::runtime::io::netpoll::outer::Outer;
use crate::runtime::io::reactor::Reactor;
use ::tokio::io::Interest;
use ::tokio::io::unix::AsyncFd;
use ::tokio::runtime::{Builder, Handle, Runtime, RuntimeMetrics};
use ::tokio::time::Sleep;
use core::future::{Future as _, poll_fn};
use core::pin::{Pin, pin};
use core::task::{self, Poll};
use core::time::Duration;
use std::io;
use std::os::fd::OwnedFd;

/// So many tasks of tokio's run before its driver, and what waits for it here, have their turn.
const TASKS_IN_A_TURN: u32 = 16;

/// tokio's runtime, driven by the thread that polls.
struct Theirs {
    /// `None`: it ends.
    runtime: Option<Runtime>,
    /// Our poller, as a source of tokio's.
    ours: AsyncFd<OwnedFd>,
    runtime_id: RuntimeId,
    /// What waits in its sockets and timers is not known: tasks may be woken from there.
    _may_act: MayAct,
}

/// Makes tokio's runtime: from now on the thread that polls `reactor` waits there.
///
/// # Errors
/// The system gives no poller.
pub(in crate::runtime) fn open(reactor: &Reactor) -> io::Result<Handle> {
    let runtime = Builder::new_current_thread().enable_all().event_interval(TASKS_IN_A_TURN).build()?;
    let handle = runtime.handle().clone();
    let ours = {
        let _inside = handle.enter();
        let descriptor = reactor.netpoll.descriptor()?;
        // SAFETY: an `OwnedFd` is the same descriptor as long as it lives, and it is closed only when the `AsyncFd` drops it.
        unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE)? }
    };
    let (runtime_id, may_act) = (reactor.runtime_id, MayAct::new());
    let theirs = Theirs { runtime: Some(runtime), ours, runtime_id, _may_act: may_act };
    reactor.netpoll.wait_in(Box::new(theirs));
    Ok(handle)
}

impl Outer for Theirs {
    fn wait(&mut self, timeout: Option<Duration>) -> bool {
        // What was given to `tokio::spawn` is code of the user's, and not a task of ours.
        let _callback = Callback::that_delays_stops(self.runtime_id);
        let Some(runtime) = &self.runtime else { return true };
        if !Context::is_m_of(Some(self.runtime_id)) {
            // The monitor: what it would find here are tasks to run. It takes the P of a task that keeps it, and an M comes here.
            return false;
        }
        let is_peek = timeout == Some(Duration::ZERO);
        runtime.block_on(async {
            let sleep = pin!(timeout.filter(|_| !is_peek).map(::tokio::time::sleep));
            let mut turn =
                Turn { ours: &self.ours, sleep, is_peek, is_ready: false, theirs: runtime.metrics(), waits: None };
            poll_fn(|cx| turn.poll(cx)).await
        })
    }

    fn all_taken(&mut self) {
        // The driver does not run meanwhile, so nothing has come since.
        if let Poll::Ready(Ok(mut guard)) =
            self.ours.poll_read_ready(&mut task::Context::from_waker(task::Waker::noop()))
        {
            guard.clear_ready();
        }
    }
}

impl Drop for Theirs {
    fn drop(&mut self) {
        // What is in `tokio::task::spawn_blocking` is not waited for.
        guarded(|| self.runtime.take().into_iter().for_each(Runtime::shutdown_background));
    }
}

/// What the thread that polls waits for in tokio's runtime.
struct Turn<'a> {
    ours: &'a AsyncFd<OwnedFd>,
    sleep: Pin<&'a mut Option<Sleep>>,
    is_peek: bool,
    is_ready: bool,
    theirs: RuntimeMetrics,
    /// How often tokio's driver had waited when this was polled last; `None`: it was not polled.
    waits: Option<u64>,
}

impl Turn<'_> {
    /// `Ready` says whether our poller has reports.
    fn poll(&mut self, cx: &mut task::Context<'_>) -> Poll<bool> {
        let has_reports = self.ours.poll_read_ready(cx).is_ready();
        let is_over = self.sleep.as_mut().as_pin_mut().is_some_and(|sleep| sleep.poll(cx).is_ready());
        let is_woken = Context::collect_with(cx.waker());
        let waits = self.theirs.worker_park_count(0);
        let before = self.waits.replace(waits);
        if !(has_reports || is_over || is_woken || self.is_peek) {
            return Poll::Pending;
        }
        // Before the first poll tokio's driver has had no turn. Behind a wait of it, its own tasks that were woken have not run yet.
        let has_waited = before.is_some_and(|before| before != waits);
        let runs_theirs = has_waited && !self.is_ready && self.theirs.num_alive_tasks() > 0;
        self.is_ready = true;
        if before.is_none() || runs_theirs {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(has_reports)
    }
}
