//! An idle runtime costs nothing: its threads sleep, none of them ticks. Alone in its process, for it measures the
//! processor time of the whole process.
#![cfg(target_os = "linux")]

use crate::cases::Case;
use rustix::time::{ClockId, clock_gettime};
use spinpark::Runtime;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

pub(crate) const CASES: &[Case] =
    &[("two_idle_seconds_use_less_than_a_millisecond", two_idle_seconds_use_less_than_a_millisecond)];

fn cpu_time() -> Duration {
    clock_gettime(ClockId::ProcessCPUTime).try_into().expect("a time since the start")
}

fn two_idle_seconds_use_less_than_a_millisecond() {
    let runtime = Runtime::builder().procs(8).build().expect("a runtime");
    // All eight threads are started, and have found something once.
    let barrier = Arc::new(Barrier::new(8));
    let handles: Vec<_> = (0..8)
        .map(|_| {
            let barrier = Arc::clone(&barrier);
            runtime.go(move || barrier.wait().is_leader())
        })
        .collect();
    let leaders = handles.into_iter().map(|handle| handle.join().expect("a value"));
    assert_eq!(leaders.filter(|&is_leader| is_leader).count(), 1);
    while !runtime.snapshot().is_quiescent() {
        thread::yield_now();
    }
    assert!(runtime.snapshot().sleeping >= 8);
    // The monitor looks some times more before it sleeps, too: on a busy machine it comes to that later.
    let is_at_rest = |_: &u32| {
        let before = cpu_time();
        thread::sleep(Duration::from_millis(500));
        cpu_time() - before < Duration::from_micros(250)
    };
    _ = (0..10).find(is_at_rest);

    let before = cpu_time();
    thread::sleep(Duration::from_secs(2));
    let used = cpu_time() - before;
    println!("used {used:?}");
    assert!(used < Duration::from_millis(1), "two idle seconds used {used:?}");
}
