//! The one place that knows how a runtime is built from a program's numbers.

use crate::program::Setup;
use spinpark::kernel::protocol::sources::SearchOrder;
use spinpark::{Builder, Runtime};
use std::time::Duration;

/// A runtime with these numbers, and so many threads, beside which so many are for preempted tasks.
pub(crate) fn build(setup: &Setup, max_threads: usize, max_preempted: usize) -> Runtime {
    let order = if setup.global_first { SearchOrder::GlobalFirst } else { SearchOrder::StealFirst };
    let builder = Runtime::builder()
        .procs(setup.procs)
        .max_procs(8)
        .max_threads(max_threads)
        .max_preempted_threads(max_preempted)
        .time_slice(Duration::from_micros(setup.slice_us))
        .preemption(setup.preemption)
        .ring(setup.ring)
        .order(order)
        .inherit_at_most(setup.inherit_at_most)
        .global_every(setup.global_every)
        .thread_keep_alive(Duration::from_micros(setup.keep_alive_us));
    mode(builder, setup.stackful).build().expect("numbers that are allowed, and a thread")
}

fn mode(builder: Builder, is_stackful: bool) -> Builder {
    if is_stackful {
        // SAFETY: no goroutine of a program keeps over a wait what belongs to a thread. What it has on its stack are
        // handles, channels, guards of the runtime's own locks and counted values, all of them `Send`; the board's locks
        // are held for a moment only. Under `lock_thread` it stays where it is.
        unsafe { builder.stackful_goroutines() }
    } else {
        builder
    }
}
