//! What preemption costs where nobody is preempted, for callgrind to count: docs/performance.md. The arguments are a
//! workload, how many operations, and whether preemption is on; without them, a few of each. (`cargo test --benches` only
//! sees that it runs.)

use spinpark::{Runtime, chan, go, spawn, yield_now};
use std::env;
use std::time::Duration;

const WORKLOADS: [&str; 4] = ["yield", "pingpong", "spawn", "go"];

fn main() {
    let args: Vec<String> = env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.as_slice() {
        [workload, n, preempts] => play(workload, n.parse().expect("a number"), preempts == "on"),
        _ => WORKLOADS.iter().for_each(|workload| [true, false].into_iter().for_each(|is| play(workload, 10, is))),
    }
}

fn play(workload: &str, n: u64, preempts: bool) {
    // Under a tool that slows it down, no task is to use up its slice.
    let builder = Runtime::builder().procs(1).time_slice(Duration::from_secs(10));
    let runtime = builder.preemption(preempts).build().expect("a runtime");
    let task = match workload {
        "yield" => runtime.spawn(async move {
            for _ in 0..n {
                yield_now().await;
            }
        }),
        "pingpong" => runtime.spawn(ping_pong(n)),
        "spawn" => runtime.spawn(async move {
            for n in 0..n {
                assert_eq!(spawn(async move { n }).await.expect("a value"), n);
            }
        }),
        "go" => runtime.spawn(async move {
            for n in 0..n {
                assert_eq!(go(move || n).await.expect("a value"), n);
            }
        }),
        other => panic!("{other}: not one of {WORKLOADS:?}"),
    };
    task.join().expect("a value");
}

async fn ping_pong(n: u64) {
    let (ping, pinged) = chan::rendezvous::<u64>();
    let (pong, ponged) = chan::rendezvous::<u64>();
    let other = spawn(async move {
        while let Ok(n) = pinged.recv().await {
            pong.send(n).await.expect("it listens");
        }
    });
    for n in 0..n {
        ping.send(n).await.expect("it listens");
        assert_eq!(ponged.recv().await, Ok(n));
    }
    drop(ping);
    other.await.expect("a value");
}
