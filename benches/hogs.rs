//! How late a ticker of 1 ms gets beside hogs: `cargo bench --bench hogs`. (`cargo test --benches` only sees that it runs.)
//!
//! Two Ps, and for each a goroutine that computes and never yields. With preemption each loses its P after a slice;
//! without, the ticker does not run before the hogs have ended.
//!
//! Then an echo over TCP, and a ticker, beside two tasks a P that compute for 0.1, 1 or 10 ms and yield: by turns with
//! [`turn_every`](spinpark::Builder::turn_every) as it is by default, and with turns by count alone. Only that: `cargo bench --bench hogs turns`.

use spinpark::{JoinHandle, Runtime, Wait, net, time, yield_now};
use std::env;
use std::hint::black_box;
use std::io::{Read, Write};
use std::sync::mpsc;
use std::time::{Duration, Instant};

const PROCS: usize = 2;
const TICK: Duration = Duration::from_millis(1);

fn main() {
    let is_bench = env::args().any(|arg| arg == "--bench");
    let only_turns = env::args().any(|arg| arg == "turns");
    let (runs, with, without) = match is_bench {
        true => (3, Duration::from_secs(5), Duration::from_secs(1)),
        false => (1, Duration::from_millis(50), Duration::from_millis(20)),
    };
    println!("load {}", std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim());
    for (preempts, time) in [(true, with), (false, without)] {
        for _ in 0..if only_turns { 0 } else { runs } {
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
    let (rounds, time) = if is_bench { (3, Duration::from_secs(2)) } else { (1, Duration::from_millis(20)) };
    for procs in [1, 2] {
        for chunk in [100, 1_000, 10_000].map(Duration::from_micros) {
            for _ in 0..rounds {
                by_turns(procs, chunk, true, time);
                by_turns(procs, chunk, false, time);
            }
        }
    }
}

/// How long a round trip takes, and how late a tick of 1 ms gets, beside two tasks a P that compute for `chunk` and yield.
fn by_turns(procs: usize, chunk: Duration, by_time: bool, time: Duration) {
    let builder = Runtime::builder().procs(procs);
    let runtime = match by_time {
        true => builder,
        false => builder.turn_every(Duration::ZERO).peek_every(TICK),
    };
    let runtime = runtime.build().expect("a runtime");
    let listener = runtime.block_on(net::TcpListener::bind("127.0.0.1:0")).expect("no deadlock").expect("a listener");
    let address = listener.local_addr().expect("an address");
    let end = Instant::now() + time;
    let mut tasks: Vec<JoinHandle<()>> = (0..2 * procs)
        .map(|_| {
            runtime.spawn(async move {
                while Instant::now() < end {
                    let since = Instant::now();
                    while since.elapsed() < chunk {
                        black_box(since);
                    }
                    yield_now().await;
                }
            })
        })
        .collect();
    tasks.push(runtime.spawn(async move {
        let (stream, _) = listener.accept().await.expect("a connection");
        stream.set_nodelay(true).expect("set");
        let mut bytes = [0; 64];
        while stream.read_exact(&mut bytes).await.is_ok() {
            stream.write_all(&bytes).await.expect("written");
        }
    }));
    let ticker = runtime.spawn(async move {
        let mut late = Vec::new();
        while Instant::now() < end {
            let asked = Instant::now();
            time::sleep(TICK).await;
            late.push(asked.elapsed().saturating_sub(TICK));
        }
        late
    });
    let mut stream = std::net::TcpStream::connect(address).expect("connected");
    stream.set_nodelay(true).expect("set");
    let (mut took, mut bytes) = (Vec::new(), [0; 64]);
    while Instant::now() < end {
        let since = Instant::now();
        stream.write_all(&bytes).expect("written");
        stream.read_exact(&mut bytes).expect("read");
        took.push(since.elapsed());
    }
    drop(stream);
    let mut late = ticker.join().expect("no panic");
    tasks.into_iter().for_each(|task| task.join().expect("no panic"));
    let turns = if by_time { "by time " } else { "by count" };
    println!(
        "{procs} Ps, tasks of {chunk:?}, turns {turns}: echo {}; tick late by {}",
        tail(&mut took),
        tail(&mut late)
    );
}

/// The median, the 99th percentile and the worst, in milliseconds.
fn tail(times: &mut [Duration]) -> String {
    times.sort();
    let at = |part: f64| {
        times.get((times.len().saturating_sub(1) as f64 * part) as usize).map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    format!("{:.2} {:.2} {:.2} ms of {}", at(0.5), at(0.99), at(1.0), times.len())
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
