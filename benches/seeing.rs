//! What it costs to be seen: `cargo bench --bench seeing`. Prints nanoseconds a dispatch, the median and the best of
//! 500 short rounds, of tasks that only yield, or are only made. Short, so that the best was not disturbed. (`cargo test --benches` only sees that it runs.)

use spinpark::{Builder, Runtime, spawn, yield_now};
use std::env;
use std::hint::black_box;
use std::time::{Duration, Instant};

const YIELDS: u32 = 8_000;
const TASKS: u32 = 8;

fn main() {
    measure("8 tasks that yield, one P", Runtime::builder().procs(1));
    measure("the same, timed", Runtime::builder().procs(1).latency_histogram(true));
    measure("the same, with an observer that does nothing", Runtime::builder().procs(1).observer(()));
    // Where it goes costs what the disk costs; here, nothing.
    let nowhere = if cfg!(windows) { "NUL" } else { "/dev/null" };
    measure("the same, traced to a file", Runtime::builder().procs(1).trace(nowhere));
    #[cfg(feature = "console")]
    measure("the same, with a console", Runtime::builder().procs(1).console(([127, 0, 0, 1], 0)));
    measure_spawn("a task is made, and awaited", Runtime::builder().procs(1));
    measure_spawn("the same, with an observer that does nothing", Runtime::builder().procs(1).observer(()));
    measure_spawn("the same, traced to a file", Runtime::builder().procs(1).trace(nowhere));
    #[cfg(feature = "console")]
    measure_spawn("the same, with a console", Runtime::builder().procs(1).console(([127, 0, 0, 1], 0)));
    let runtime = Runtime::builder().procs(2).build().expect("a runtime");
    let start = Instant::now();
    for _ in 0..1000 {
        black_box(runtime.metrics());
    }
    println!("{:>6} ns: to read the metrics", start.elapsed().as_nanos() / 1000);
}

fn measure_spawn(what: &str, builder: Builder) {
    let runtime = builder.build().expect("a runtime");
    best(what, || {
        let tasks = runtime.spawn(async {
            for _ in 0..YIELDS {
                spawn(async {}).await.expect("it does not panic");
            }
        });
        tasks.join().expect("it does not panic");
    });
}

fn measure(what: &str, builder: Builder) {
    let runtime = builder.build().expect("a runtime");
    best(what, || {
        runtime
            .block_on(async {
                let tasks: Vec<_> = (0..TASKS)
                    .map(|_| {
                        runtime.spawn(async {
                            for _ in 0..YIELDS / TASKS {
                                yield_now().await;
                            }
                        })
                    })
                    .collect();
                for task in tasks {
                    task.await.expect("it does not panic");
                }
            })
            .expect("no deadlock");
    });
}

/// Prints what `f`, in which 8000 things are done, takes for each.
fn best(what: &str, f: impl Fn()) {
    let round = || {
        let start = Instant::now();
        f();
        start.elapsed()
    };
    round(); // to warm up
    let rounds = if env::args().any(|arg| arg == "--bench") { 500 } else { 1 };
    let mut times: Vec<Duration> = (0..rounds).map(|_| round()).collect();
    times.sort();
    let nanos = |time: Duration| time.as_nanos() as f64 / f64::from(YIELDS);
    println!("{:>6.2} ns, best {:>6.2} ns: {what}", nanos(times[rounds / 2]), nanos(times[0]));
}
