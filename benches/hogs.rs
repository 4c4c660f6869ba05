//! How late a ticker of 1 ms gets beside hogs: `cargo bench --bench hogs`. (`cargo test --benches` only sees that it runs.)
//!
//! Two Ps, and for each a goroutine that computes and never yields. With preemption each loses its P after a slice;
//! without, the ticker does not run before the hogs have ended.

use spinpark::{JoinHandle, Runtime, Wait, time};
use std::env;
use std::hint::black_box;
use std::sync::mpsc;
use std::time::{Duration, Instant};

const PROCS: usize = 2;
const TICK: Duration = Duration::from_millis(1);

fn main() {
    let is_bench = env::args().any(|arg| arg == "--bench");
    let (runs, with, without) = match is_bench {
        true => (3, Duration::from_secs(5), Duration::from_secs(1)),
        false => (1, Duration::from_millis(50), Duration::from_millis(20)),
    };
    println!("load {}", std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim());
    for (preempts, time) in [(true, with), (false, without)] {
        for _ in 0..runs {
            let late = lateness(preempts, time);
            let at = |part: f64| late[((late.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
            let preemption = if preempts { "on" } else { "off" };
            let (count, time) = (late.len(), time.as_secs_f64());
            println!(
                "preemption {preemption:>3}, hogs for {time} s, {count:>4} ticks; late by: half {:.2} ms, 99 in 100 {:.2} ms, \
                 worst {:.2} ms",
                at(0.5),
                at(0.99),
                at(1.0)
            );
        }
    }
}

/// By how much each tick came too late while hogs ran for `time`, the least first.
fn lateness(preempts: bool, time: Duration) -> Vec<Duration> {
    let runtime = Runtime::builder().procs(PROCS).preemption(preempts).build().expect("a runtime");
    let (tell, told) = mpsc::channel();
    let ticker = runtime.go(move || {
        let mut late = vec![];
        tell.send(()).expect("there is a reader");
        let start = Instant::now();
        while start.elapsed() < time {
            let asked = Instant::now();
            time::sleep(TICK).wait();
            late.push(asked.elapsed() - TICK);
        }
        late
    });
    told.recv().expect("the ticker begins");
    let hogs: Vec<JoinHandle<u64>> = (0..PROCS).map(|_| runtime.go(move || hog(time))).collect();
    let mut late = ticker.join().expect("no panic");
    for hog in hogs {
        assert!(hog.join().expect("no panic") > 0, "it did nothing");
    }
    late.sort();
    late
}

/// Computes for so long, and asks nothing of the runtime.
fn hog(time: Duration) -> u64 {
    let (start, mut turns) = (Instant::now(), 0_u64);
    while start.elapsed() < time {
        (0..1000_u64).for_each(|i| turns = turns.wrapping_add(black_box(i) | 1));
    }
    turns
}
