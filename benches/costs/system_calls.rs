//! How many system calls an operation makes, and may make: `cargo bench -p spinpark-costs --bench system_calls`.
//!
//! Each workload is played twice under strace, with few operations and with many, and the difference is divided: what an operation
//! makes, and not the start. Over its budget a workload fails.
//!
//! ```text
//! cargo bench -p spinpark-costs --bench system_calls                  all of them
//! cargo bench -p spinpark-costs --bench system_calls -- echo wake     some
//! ```
//!
//! Exit status: 0 if all are within their budgets, or there is no strace, which is said; 1 if one is not; 2 on a usage error.
//! (`cargo test --benches` only sees that the workloads run.)

use spinpark::net::{TcpListener, TcpStream};
use spinpark::{JoinHandle, Runtime, chan, spawn};
use spinpark_costs::{Budget, run, watched};
use std::collections::BTreeMap;
use std::process::{Command, ExitCode};
use std::sync::mpsc;

/// What makes none: the monitor's naps are still there, some in a second.
const NONE: f64 = 0.05;

const BUDGETS: [Budget; 10] = [
    none("yield", "a task yields, and is the next"),
    none("pingpong", "a round trip over two channels"),
    none("spawn", "a future is spawned and awaited"),
    none("go", "a closure is spawned and awaited"),
    none("syscall", "a call that may block, and does nothing"),
    none("mutex", "a free lock is taken and released"),
    none("timer", "a sleep of a second is made, polled once and dropped"),
    Budget {
        workload: "echo",
        operation: "64 bytes there and back over TCP, between two tasks",
        most: 8.6,
        why: "two writes, two reads, two reads that would block, two looks into the poller; a wait is a call, nothing is armed again",
    },
    Budget {
        workload: "echo_2",
        operation: "the same on two Ps, with turns by time",
        most: 8.6,
        why: "as `echo`, and the monitor's naps: a turn that finds the one task that is run next wakes no second thread, which would wait in the poller beside the first from then on",
    },
    Budget {
        workload: "wake",
        operation: "a thread outside asks a task of an idle runtime, and waits for the answer",
        most: 4.3,
        why: "two that sleep, and are woken; on a quiet machine one of them has often seen the answer before it sleeps",
    },
];

const fn none(workload: &'static str, operation: &'static str) -> Budget {
    Budget { workload, operation, most: NONE, why: "no thread sleeps, and none is woken" }
}

fn main() -> ExitCode {
    run(&BUDGETS, others, judge)
}

/// Are they within their budgets?
fn judge(budgets: &[&Budget]) -> ExitCode {
    // It may be there, and be too old, or not be allowed to trace.
    if !Command::new("strace")
        .args(["-qq", "-c", "-U", "calls,name", "-o", "/dev/null", "true"])
        .status()
        .is_ok_and(|s| s.success())
    {
        println!("skipped: strace is not installed, or may not trace, so nothing was counted");
        return ExitCode::SUCCESS;
    }
    println!("{:>7} {:>7}  of it", "counted", "budget");
    let mut holds = true;
    for &&Budget { workload, operation, most, why } in budgets {
        let calls = an_operation(workload);
        let count: f64 = calls.values().sum();
        let verdict = if count > most { "  OVER ITS BUDGET" } else { "" };
        println!("{count:>7.2} {most:>7.2}  {workload}: {operation}{verdict}");
        let mut each: Vec<_> = calls.iter().filter(|(_, count)| **count >= 0.01).collect();
        each.sort_by(|a, b| b.1.total_cmp(a.1));
        let each: Vec<String> = each.into_iter().map(|(call, count)| format!("{call} {count:.2}")).collect();
        if !each.is_empty() {
            println!("{:17}{}", "", each.join(", "));
        }
        if !verdict.is_empty() {
            println!("{:17}may be: {why}", "");
            holds = false;
        }
    }
    if holds { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// How often an operation makes each call, above those that are made once.
fn an_operation(workload: &str) -> BTreeMap<String, f64> {
    const FEW: u64 = 500;
    const MANY: u64 = 20_500;
    let (few, mut many) = (counted(workload, FEW), counted(workload, MANY));
    for (call, count) in &mut many {
        let before = few.get(call).copied().unwrap_or(0.0);
        *count = (*count - before).max(0.0) / (MANY - FEW) as f64;
    }
    many
}

/// The calls of all threads of a run with `n` operations.
fn counted(workload: &str, n: u64) -> BTreeMap<String, f64> {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-c", "-U", "calls,name"]);
    let text = watched(&mut strace, "--output=", workload, n);
    let calls = text.lines().filter_map(|line| line.trim().split_once(' '));
    let calls = calls.filter_map(|(count, name)| Some((name.trim().to_owned(), count.parse().ok()?)));
    calls.filter(|(name, _)| name != "total").collect()
}

fn others(runtime: &Runtime, workload: &str, n: u64) -> JoinHandle<()> {
    match workload {
        "echo" => runtime.spawn(echo(n)),
        "echo_2" => on_two_ps().spawn(echo(n)),
        "wake" => wake(runtime, n),
        other => panic!("{other}: not one of the workloads"),
    }
}

/// A runtime as users have it. It lives until the process ends.
fn on_two_ps() -> &'static Runtime {
    Box::leak(Box::new(Runtime::builder().procs(2).build().expect("it can be built")))
}

/// This thread asks a task, and waits for the answer, `n` times.
fn wake(runtime: &Runtime, n: u64) -> JoinHandle<()> {
    let (question, asked) = chan::unbounded::<u64>();
    let (answer, answers) = mpsc::channel();
    let task = runtime.spawn(async move {
        while let Ok(n) = asked.recv().await {
            answer.send(n).expect("it listens");
        }
    });
    for n in 0..n {
        question.try_send(n).expect("it listens");
        assert_eq!(answers.recv(), Ok(n));
    }
    drop(question);
    task
}

/// 64 bytes there and back, `n` times.
async fn echo(n: u64) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("it is bound");
    let server = spawn(async move {
        let (stream, _) = listener.accept().await.expect("a connection");
        let mut bytes = [0; 64];
        for _ in 0..n {
            stream.read_exact(&mut bytes).await.expect("it sends");
            stream.write_all(&bytes).await.expect("it reads");
        }
    });
    let stream = TcpStream::connect(address).await.expect("it listens");
    let mut bytes = [7; 64];
    for _ in 0..n {
        stream.write_all(&bytes).await.expect("it reads");
        stream.read_exact(&mut bytes).await.expect("it sends");
    }
    server.await.expect("a value");
}
