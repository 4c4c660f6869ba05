//! The one place that knows how a runtime is built from a program's numbers.

use crate::program::Setup;
use spinpark::kernel::sources::SearchOrder;
use spinpark::{Builder, Runtime};
use std::time::Duration;

/// A runtime with these numbers, and so many threads, of which so many are for preempted tasks.
pub(crate) fn build(setup: &Setup, max_threads: usize, max_preempted: usize) -> Runtime {
    let order = if setup.global_first { SearchOrder::GlobalFirst } else { SearchOrder::StealFirst };
    let builder = Runtime::builder()
        .procs(setup.procs)
        .max_procs(8)
        .max_threads(max_threads)
        .preemption(setup.preemption)
        .ring(setup.ring)
        .order(order)
        .inherit_at_most(setup.inherit_at_most)
        .global_every(setup.global_every)
        .thread_keep_alive(Duration::from_micros(setup.keep_alive_us));
    adjust(builder, setup, max_preempted).build().expect("numbers that are allowed, and a thread")
}

/// The mode of goroutines, and the slice.
fn adjust(builder: Builder, setup: &Setup, max_preempted: usize) -> Builder {
    let builder = builder.time_slice(Duration::from_micros(setup.slice_us)).max_preempted_threads(max_preempted);
    match setup.stackful {
        // SAFETY: no operation of a program holds anything of its thread across a wait, but under `lock_thread`.
        true => unsafe { builder.stackful_goroutines() },
        false => builder,
    }
}
