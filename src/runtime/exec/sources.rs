//! Where a runtime's Gs come from besides its queues: timers, and sockets.

use crate::host::{NEVER, Nanos};
use crate::kernel::protocol::work_source::{self, Poller, WorkSource};
use crate::kernel::sched::Sources;
use crate::kernel::types::g::G;
use crate::kernel::types::p::PId;
use crate::runtime::exec::checkdead;
use crate::runtime::exec::context::Context;
use crate::runtime::exec::owned::OwnedTasks;
use crate::runtime::exec::platform::Platform;
use crate::runtime::exec::pollers::collect;
use crate::runtime::exec::turn_pace::Turns;
use crate::runtime::id::RuntimeId;
use crate::runtime::io::reactor::Reactor;
use crate::runtime::shared::Shared;
use crate::runtime::task_waker::TaskWaker;
use crate::runtime::time::timer::TimerQueue;
use core::marker::PhantomData;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;

/// Those of the runtime with this state.
pub(in crate::runtime) fn sources<H: Platform>(
    shared: &Shared,
) -> impl FnOnce(&work_source::Waker) -> (Sources, Box<dyn Poller>) + use<H> {
    let (runtime_id, timers, owned_tasks) =
        (shared.runtime_id, Arc::clone(&shared.timers), Arc::clone(&shared.owned_tasks));
    let (reactor, turns) = (Arc::clone(&shared.reactor), Arc::clone(&shared.turns));
    let has_foreign_threads = shared.has_foreign_threads;
    hook_in(runtime_id, &timers, &reactor);
    move |waker| {
        timers.open(waker);
        let (waker, looked) = (waker.clone(), AtomicU64::new(0));
        let poller = H::poller(Arc::clone(&reactor), Arc::clone(&timers));
        let source = TimerSource::<H> {
            runtime_id,
            timers,
            owned_tasks,
            reactor,
            turns,
            waker,
            looked,
            has_foreign_threads,
            host: PhantomData,
        };
        (vec![Box::new(source)], poller)
    }
}

/// What is to be done when the first task comes to wait for a socket, or the last is gone.
fn hook_in(runtime_id: RuntimeId, timers: &Arc<TimerQueue>, reactor: &Reactor) {
    let timers = Arc::clone(timers);
    reactor.netpoll.set_on_first(Box::new(move || {
        // A thread that holds a P looks whether a task waits for a timer, before it sleeps.
        if !Context::holds_p_of(runtime_id) {
            timers.announce(NEVER);
        }
    }));
    reactor.netpoll.set_on_none(Box::new(move || {
        if let Some(tasks) = runtime_id.find() {
            tasks.break_idle_poll();
        }
    }));
}

/// The timers, as the scheduler sees them.
struct TimerSource<H> {
    runtime_id: RuntimeId,
    timers: Arc<TimerQueue>,
    owned_tasks: Arc<OwnedTasks>,
    reactor: Arc<Reactor>,
    turns: Arc<Turns>,
    waker: work_source::Waker,
    /// When it was last looked at whether everything is at rest.
    looked: AtomicU64,
    has_foreign_threads: bool,
    host: PhantomData<H>,
}

/// So often the monitor looks whether everything is at rest, while a thread waits in `block_on`.
const LOOK: Nanos = 20_000_000;

impl<H: Platform> WorkSource for TimerSource<H> {
    fn waker(&self) -> &work_source::Waker {
        &self.waker
    }

    fn has_work(&self) -> bool {
        let deadline = self.timers.deadline();
        deadline != NEVER && deadline <= self.timers.clock.now(H::now())
    }

    fn take(&self, p: Option<PId>, put: &mut dyn FnMut(G)) {
        let now = self.timers.clock.now(H::now());
        let shard = p.map_or(0, PId::index);
        collect::<H>(self.runtime_id, put, || {
            self.timers.all_due(shard, now).for_each(TaskWaker::wake);
        });
    }

    fn deadline(&self) -> Nanos {
        self.timers.deadline_on_host()
    }

    /// The monitor looks whether a thread in `block_on` waits for ever. It does so for some time after the last M has fallen asleep,
    /// and not each time one does: that thread would be woken by every message that comes to an idle runtime from outside.
    fn tick(&self, now: Nanos) {
        self.turns.tick();
        // Relaxed: the monitor's alone.
        if now.saturating_sub(self.looked.load(Relaxed)) < LOOK {
            return;
        }
        // Relaxed: as above.
        self.looked.store(now, Relaxed);
        if let Some(tasks) = self.runtime_id.find() {
            let block_on_waiters = &tasks.shared().block_on_waiters;
            if block_on_waiters.is_any() && checkdead::is_quiet(&tasks) {
                // One that comes after this looks by itself before it sleeps.
                block_on_waiters.all_look_again();
            }
        }
    }

    /// Also while tasks wait that a foreign thread may wake; and such a thread may set a timer, or come to wait for a socket, until it is
    /// seen to wait itself.
    fn is_expecting(&self) -> bool {
        let expects_none = || !self.timers.is_expecting() && !self.reactor.is_awaited();
        self.timers.is_expecting()
            || !self.owned_tasks.is_empty() && !H::are_all_known(self.has_foreign_threads, expects_none)
    }
}
