//! What a task costs: `cargo bench --bench runtime`. Prints nanoseconds a task, the median and the best of 15 rounds.
//! (`cargo test --benches` only sees that it runs.)

use spinpark::{Runtime, go};
use std::env;
use std::hint::black_box;
use std::sync::mpsc;
use std::time::{Duration, Instant};

const TASKS: u32 = 100_000;

fn main() {
    let runtime = Runtime::new().expect("a runtime");
    println!("{} empty tasks a round, {} Ps", TASKS, runtime.config().procs);
    measure("spawned from outside, all joined", TASKS, || {
        let handles: Vec<_> = (0..TASKS).map(|n| runtime.go(move || black_box(n))).collect();
        handles.into_iter().for_each(|handle| {
            handle.join().expect("a value");
        });
    });
    measure("spawned from inside, all waited for", TASKS, || {
        let (end, all_ended) = mpsc::channel::<()>();
        drop(runtime.go(move || {
            for n in 0..TASKS {
                let end = end.clone();
                drop(go(move || {
                    black_box(n);
                    drop(end);
                }));
            }
        }));
        let _ = all_ended.recv();
    });
    measure("each spawns the next", TASKS, || {
        fn next(left: u32, end: mpsc::Sender<()>) {
            match left {
                0 => drop(end),
                _ => drop(go(move || next(left - 1, end))),
            }
        }
        let (end, all_ended) = mpsc::channel::<()>();
        drop(runtime.go(move || next(TASKS, end)));
        let _ = all_ended.recv();
    });
    measure("one at a time from outside, joined at once (each wakes a thread)", TASKS / 10, || {
        for n in 0..TASKS / 10 {
            runtime.go(move || black_box(n)).join().expect("a value");
        }
    });
}

fn measure(what: &str, tasks: u32, mut round: impl FnMut()) {
    round(); // to warm up
    let rounds = if env::args().any(|arg| arg == "--bench") { 15 } else { 1 };
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            round();
            start.elapsed() / tasks
        })
        .collect();
    times.sort();
    println!("{:>7} ns, best {:>7} ns: {what}", times[rounds / 2].as_nanos(), times[0].as_nanos());
}
