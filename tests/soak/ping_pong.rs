//! Eight pairs that play ping-pong over channels: none is ever stuck for a second.

use crate::child::{run_self, threads_of};
use crate::program::Setup;
use spinpark::{JoinHandle, Runtime, Wait, chan};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};
use std::{fs, thread};

const PAIRS: usize = 8;
const LONGEST: Duration = Duration::from_secs(1);

/// With each number of Ps, so long, in processes of their own. Did none get stuck?
pub(crate) fn all(time: Duration) -> bool {
    let mut holds = true;
    for stackful in [true, false] {
        for procs in [1, 2, 4, 8] {
            let args = format!("{procs},{stackful},{}", time.as_millis());
            let (text, did) = run_self(&["--pairs", &args], time + Duration::from_secs(30));
            print!("{text}");
            if !did && text.is_empty() {
                println!("ping-pong at procs({procs}): the process did not end");
            }
            holds &= did;
        }
    }
    holds
}

fn setup(procs: usize, stackful: bool) -> Setup {
    Setup {
        procs,
        spare_threads: 64,
        stackful,
        slice_us: 10_000,
        max_preempted: 64,
        preemption: true,
        ring: 256,
        global_first: false,
        inherit_at_most: 16,
        global_every: 61,
        keep_alive_us: 10_000_000,
        one_core: false,
    }
}

/// For how long each thread has been ready to run, and had no core.
fn without_a_core() -> BTreeMap<i32, Duration> {
    let of = |thread: i32| {
        let text = fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).ok()?;
        Some((thread, Duration::from_nanos(text.split_whitespace().nth(1)?.parse().ok()?)))
    };
    threads_of("self").into_iter().filter_map(of).collect()
}

/// Is it stuck, or late? Ten seconds tell.
fn goes_on(counts: &[Arc<AtomicU64>]) -> String {
    let (since, before) = (Instant::now(), without_a_core());
    let seen: Vec<u64> = counts.iter().map(|count| count.load(Relaxed)).collect();
    let stands = || (0..PAIRS).filter(|&pair| counts[pair].load(Relaxed) == seen[pair]).collect::<Vec<_>>();
    while !stands().is_empty() && since.elapsed() < 10 * LONGEST {
        thread::sleep(Duration::from_millis(5));
    }
    let (took, stands) = (since.elapsed(), stands());
    let waited = |(thread, now): (i32, Duration)| now.saturating_sub(before.get(&thread).copied().unwrap_or_default());
    let longest = without_a_core().into_iter().map(waited).max().unwrap_or_default();
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let does = if stands.is_empty() { "all go on".to_owned() } else { format!("pairs {stands:?} do not go on") };
    format!("{does} after {took:.1?} more; a thread was ready and had no core for {longest:.1?} of that; load {load}")
}

/// Tells it, and ends the process at once: what is stuck would not end.
fn stuck(what: &str, start: Instant, counts: &[Arc<AtomicU64>], runtime: &Runtime) -> ! {
    let procs = runtime.procs();
    println!("ping-pong at procs({procs}): after {:.1?} {what}", start.elapsed());
    println!("  rounds: {:?}", counts.iter().map(|count| count.load(Relaxed)).collect::<Vec<_>>());
    println!("  {}", runtime.schedtrace());
    let mut metrics = runtime.metrics();
    metrics.per_p.truncate(procs);
    println!("  {metrics:?}");
    println!("  {}", goes_on(counts));
    // SAFETY: ends the process.
    unsafe { libc::_exit(1) }
}

/// The child: numbers of Ps, mode, milliseconds.
pub(crate) fn child(args: &str) -> ExitCode {
    let mut args = args.split(',');
    let mut next = || args.next().unwrap_or_default();
    let procs: usize = next().parse().expect("a number of Ps");
    let stackful: bool = next().parse().expect("true or false");
    let time = Duration::from_millis(next().parse().expect("milliseconds"));
    let runtime = crate::api::build(&setup(procs, stackful), 64, 64);
    let stop = Arc::new(AtomicBool::new(false));
    let counts: Vec<Arc<AtomicU64>> = (0..PAIRS).map(|_| Arc::default()).collect();
    let mut handles = Vec::new();
    for count in &counts {
        let (ping, pinged) = chan::rendezvous::<u64>();
        let (pong, ponged) = chan::rendezvous::<u64>();
        let (stop, count) = (Arc::clone(&stop), Arc::clone(count));
        handles.push(runtime.go(move || {
            while !stop.load(Relaxed) {
                ping.send(1).wait().expect("it listens");
                ponged.recv().wait().expect("it answers");
                count.fetch_add(1, Relaxed);
            }
        }));
        handles.push(runtime.go(move || {
            while let Ok(n) = pinged.recv().wait() {
                pong.send(n).wait().expect("it listens");
            }
        }));
    }
    let start = Instant::now();
    let mut seen: Vec<(u64, Instant)> = vec![(0, start); PAIRS];
    let (mut longest, mut late) = (Duration::ZERO, Instant::now());
    while start.elapsed() < time {
        thread::sleep(Duration::from_millis(20));
        // If this thread was not run, neither were they.
        let held_up = late.elapsed().saturating_sub(Duration::from_millis(20));
        late = Instant::now();
        for (count, (before, since)) in counts.iter().zip(&mut seen) {
            *since += held_up;
            let now = count.load(Relaxed);
            if now != *before {
                (*before, *since) = (now, Instant::now());
            }
            longest = longest.max(since.elapsed());
        }
        if longest > LONGEST {
            stuck("a pair is stuck", start, &counts, &runtime);
        }
    }
    stop.store(true, Relaxed);
    let stopped = Instant::now();
    while !handles.iter().all(JoinHandle::is_finished) {
        thread::sleep(Duration::from_millis(1));
        if stopped.elapsed() > 2 * LONGEST {
            stuck("a pair does not end", start, &counts, &runtime);
        }
    }
    handles.into_iter().for_each(|handle| handle.join().expect("no panic"));
    let rounds: u64 = counts.iter().map(|count| count.load(Relaxed)).sum();
    println!(
        "ping-pong at procs({procs}), stackful {stackful}: {rounds} rounds in {:.0?}, the longest pause {longest:.1?}",
        start.elapsed()
    );
    ExitCode::SUCCESS
}
