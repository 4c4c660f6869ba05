//! All in which real threads and simulated ones differ, to the runtime: what it asks of its host besides what the kernel
//! asks.
//!
//! | | [`Cores`] | [`Sim`] |
//! |---|---|---|
//! | which task is next | the kernel says | the seed may say otherwise, at each dispatch and at each checkpoint |
//! | a deadlock | is found by the thread that waits | is found by the machine: nothing can happen any more |
//! | an M with nothing to do waits | in the system's poller | for its machine: it has no network |

use crate::kernel::protocol::work_source::Poller;
use crate::runtime::exec::context::OnHost;
use crate::runtime::exec::pollers::{IdlePoller, SocketPoller};
use crate::runtime::exec::registry;
use crate::runtime::host::cores::Cores;
use crate::runtime::host::foreign_threads;
use crate::runtime::host::sim::{self, AwaitsFuture, sim_host::Sim};
use crate::runtime::io::reactor::Reactor;
use crate::runtime::time::timer::TimerQueue;
use std::sync::Arc;

/// What the runtime asks of its host.
pub(in crate::runtime) trait Platform: OnHost {
    /// The task at this address is about to run. Shall another come first?
    fn defers(address: usize) -> bool;

    /// A task was run: has it only yielded?
    fn has_run(has_yielded: fn() -> bool);

    /// This thread is about to poll a future that it waits for: others may come first.
    fn step();

    /// This thread waits for a future, as long as this lives.
    type Awaiting;

    /// It does from now on.
    fn awaiting() -> Self::Awaiting;

    /// Has the host found that what this thread waits for will never come? Once.
    fn take_deadlock() -> bool;

    /// Are all threads known that could wake a task, and none of them but the runtime's can do something; and does `rest` hold at
    /// the same moment? One that is not known may wake a task too, if the runtime `has_foreign_threads`.
    fn are_all_known(has_foreign_threads: bool, rest: impl FnOnce() -> bool) -> bool;

    /// Where an M waits that has nothing to do.
    fn poller(reactor: Arc<Reactor>, timers: Arc<TimerQueue>) -> Box<dyn Poller>;
}

impl Platform for Cores {
    #[inline(always)]
    fn defers(_: usize) -> bool {
        false
    }

    #[inline(always)]
    fn has_run(_: fn() -> bool) {}

    #[inline(always)]
    fn step() {}

    type Awaiting = ();

    #[inline(always)]
    fn awaiting() {}

    #[inline(always)]
    fn take_deadlock() -> bool {
        false
    }

    fn are_all_known(has_foreign_threads: bool, rest: impl FnOnce() -> bool) -> bool {
        let rest = || registry::count() == 1 && rest();
        match has_foreign_threads {
            true => foreign_threads::are_all_known(rest),
            false => foreign_threads::known_ones_rest(rest),
        }
    }

    fn poller(reactor: Arc<Reactor>, timers: Arc<TimerQueue>) -> Box<dyn Poller> {
        Box::new(SocketPoller::<Cores>::new(reactor, timers))
    }
}

impl Platform for Sim {
    fn defers(address: usize) -> bool {
        sim::dispatch(address)
    }

    fn has_run(has_yielded: fn() -> bool) {
        if !has_yielded() {
            sim::goes_on();
        }
    }

    fn step() {
        sim::yield_p();
    }

    type Awaiting = AwaitsFuture;

    fn awaiting() -> AwaitsFuture {
        AwaitsFuture::new()
    }

    fn take_deadlock() -> bool {
        sim::take_deadlock()
    }

    /// Of a simulated machine only the main thread is not the runtime's.
    fn are_all_known(_: bool, rest: impl FnOnce() -> bool) -> bool {
        sim::is_main_asleep() && rest()
    }

    fn poller(reactor: Arc<Reactor>, _: Arc<TimerQueue>) -> Box<dyn Poller> {
        Box::new(IdlePoller::<Sim>::new(reactor))
    }
}
