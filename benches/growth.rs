//! From few workers to many, from few tasks to millions: `cargo bench --bench growth`. (`cargo test --benches` only sees that it runs.)
//! `-- --most N` ends at N tasks, `-- --rounds N` takes the median of N.
//!
//! * **storm**: every task spawns two, to a depth; only the thread outside waits for them.
//! * **at once**: one task spawns all, and awaits their handles: all are there at the same time.
//!
//! On a machine with fewer cores than workers this says what more workers cost, not what they bring.

use spinpark::{Runtime, spawn};
use std::env;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::mpsc;
use std::time::{Duration, Instant};

const WORKERS: [usize; 5] = [1, 2, 4, 8, 16];

/// Runs so many tasks to their end.
type Round = fn(&Runtime, u64);

/// A number behind `name` on the command line.
fn option(name: &str) -> Option<u64> {
    env::args().skip_while(|arg| arg != name).nth(1)?.parse().ok()
}

fn main() {
    let is_bench = env::args().any(|arg| arg == "--bench");
    let (most, rounds) = if is_bench { (10_000_000, 5) } else { (1_000, 1) };
    let (most, rounds) = (option("--most").unwrap_or(most), option("--rounds").unwrap_or(rounds).max(1));
    println!("load {}", std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim());
    for (name, round) in [("storm", storm as Round), ("at once", at_once)] {
        println!(
            "\n{name}: ns a task, median of {rounds}\n\n| tasks | {} |",
            WORKERS.map(|n| n.to_string()).join(" | ")
        );
        println!("|---:|{}", "---:|".repeat(WORKERS.len()));
        let sizes = std::iter::successors(Some(10), |tasks| Some(tasks * 10)).take_while(|tasks| *tasks <= most);
        for tasks in sizes {
            println!("| {tasks} | {} |", WORKERS.map(|workers| measure(round, workers, tasks, rounds)).join(" | "));
        }
    }
}

/// Nanoseconds a task, after a round to warm up. Few tasks are done many times over.
fn measure(round: fn(&Runtime, u64), workers: usize, tasks: u64, rounds: u64) -> String {
    let runtime = Runtime::builder().procs(workers).build().expect("a runtime");
    let again = (1_000 / tasks).max(1);
    round(&runtime, tasks);
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            (0..again).for_each(|_| round(&runtime, tasks));
            start.elapsed()
        })
        .collect();
    times.sort();
    format!("{:.0}", times[times.len() / 2].as_nanos() as f64 / (again * tasks) as f64)
}

/// What the tasks of a storm share.
struct Storm {
    tasks: u64,
    left: AtomicU64,
    sum: AtomicU64,
    end: mpsc::Sender<()>,
}

/// Task `n`, whose children are `2 n` and `2 n + 1`.
fn task(storm: Arc<Storm>, n: u64) {
    drop(spawn(async move {
        (2 * n..=2 * n + 1).filter(|child| *child <= storm.tasks).for_each(|child| task(Arc::clone(&storm), child));
        storm.sum.fetch_add(n, Relaxed);
        // Release, and Acquire by the last: the sum is whole when it is read.
        if storm.left.fetch_sub(1, Release) == 1 {
            storm.left.load(Acquire);
            storm.end.send(()).expect("a receiver waits");
        }
    }));
}

fn storm(runtime: &Runtime, tasks: u64) {
    let (end, ended) = mpsc::channel();
    let (left, sum) = (AtomicU64::new(tasks), AtomicU64::new(0));
    let storm = Arc::new(Storm { tasks, left, sum, end });
    let first = Arc::clone(&storm);
    drop(runtime.spawn(async move { task(first, 1) }));
    ended.recv().expect("the last task sends");
    assert_eq!(storm.sum.load(Acquire), tasks * (tasks + 1) / 2, "a task is missing");
}

fn at_once(runtime: &Runtime, tasks: u64) {
    let all = runtime.spawn(async move {
        let handles: Vec<_> = (1..=tasks).map(|n| spawn(async move { n })).collect();
        let mut sum = 0;
        for handle in handles {
            sum += handle.await.expect("no panic");
        }
        sum
    });
    assert_eq!(all.join().expect("no panic"), tasks * (tasks + 1) / 2, "a task is missing");
}
