//! What is counted: operations of a runtime, one after the other.

use spinpark::sync::Mutex;
use spinpark::{JoinHandle, Runtime, chan, go, spawn, syscall, time, yield_now};
use std::env;
use std::future::poll_fn;
use std::hint::black_box;
use std::pin::pin;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// What is played, what an operation is, how much of what is counted it may take, and where that goes.
pub struct Budget {
    /// What it is called on the command line.
    pub workload: &'static str,
    /// One operation of it.
    pub operation: &'static str,
    /// So much at most, of what is counted.
    pub most: f64,
    /// Where that goes.
    pub why: &'static str,
}

/// Plays so many operations of a workload that is not one of all programs'. (What a program never plays would be in it too, and change how
/// the rest is inlined: a tenth of the instructions of a call.)
pub type Others = fn(&Runtime, &str, u64) -> JoinHandle<()>;

/// Does what the command line says: plays one workload, for a tool that counts; or has `judge` look at those that are named, at all if none is.
/// (`cargo test --benches` only sees that the workloads run.)
pub fn run(budgets: &[Budget], others: Others, judge: impl FnOnce(&[&Budget]) -> ExitCode) -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let is_bench = args.iter().any(|arg| arg == "--bench");
    let args: Vec<&str> = args.iter().map(String::as_str).filter(|&arg| arg != "--bench").collect();
    match args.as_slice() {
        ["--play", workload, n, preempts] => play(workload, n.parse().expect("a number"), *preempts == "on", others),
        _ if !is_bench => budgets.iter().for_each(|budget| play(budget.workload, 10, true, others)),
        names => {
            let is_known = |name: &&str| budgets.iter().any(|budget| budget.workload == *name);
            if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
                let known: Vec<&str> = budgets.iter().map(|budget| budget.workload).collect();
                eprintln!("error: there is no workload `{unknown}`; there are {}", known.join(", "));
                return ExitCode::from(2);
            }
            let is_named = |budget: &&Budget| names.is_empty() || names.contains(&budget.workload);
            return judge(&budgets.iter().filter(is_named).collect::<Vec<_>>());
        }
    }
    ExitCode::SUCCESS
}

/// What `tool` writes to a file about a run of this program with `n` operations. `file_is` says how the tool is told its file.
pub fn watched(tool: &mut Command, file_is: &str, workload: &str, n: u64) -> String {
    let file = env::temp_dir().join(format!("spinpark-costs-{}-{workload}-{n}", std::process::id()));
    let done = tool
        .arg(format!("{file_is}{}", file.display()))
        .arg(env::current_exe().expect("this program"))
        .args(["--play", workload, &n.to_string(), "on"])
        .output()
        .expect("the tool can be started");
    assert!(done.status.success(), "{workload}, {tool:?}: {}", String::from_utf8_lossy(&done.stderr));
    let text = std::fs::read_to_string(&file).expect("what the tool has written");
    std::fs::remove_file(&file).expect("it is there");
    text
}

/// Plays `n` operations of a workload on one P. `preempts`: with preemption.
fn play(workload: &str, n: u64, preempts: bool, others: Others) {
    // Under a tool that slows it down, no task is to use up its slice.
    // Under callgrind the clock runs some fifty times too fast for the tasks: turns by time would come as if they were long.
    let builder = Runtime::builder().procs(1).time_slice(Duration::from_secs(10)).turn_every(Duration::from_secs(10));
    let runtime = builder.preemption(preempts).build().expect("a runtime");
    let task = match workload {
        "yield" => runtime.spawn(yields(n)),
        "yields" => runtime.spawn(async move {
            let all: Vec<_> = (0..100).map(|_| spawn(yields(n / 100))).collect();
            for task in all {
                task.await.expect("a value");
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
        "syscall" => runtime.spawn(calls(n)),
        "mutex" => runtime.spawn(async move {
            let mutex = Arc::new(Mutex::new(0));
            for _ in 0..n {
                *mutex.lock().await += 1;
            }
            assert_eq!(*mutex.lock().await, n);
        }),
        "timer" => runtime.spawn(async move {
            for _ in 0..n {
                let mut sleep = pin!(time::sleep(Duration::from_secs(1)));
                let polled = poll_fn(|cx| Poll::Ready(sleep.as_mut().poll(cx))).await;
                assert!(polled.is_pending());
            }
        }),
        other => others(&runtime, other, n),
    };
    task.join().expect("a value");
}

async fn yields(n: u64) {
    for _ in 0..n {
        yield_now().await;
    }
}

async fn calls(n: u64) {
    (0..n).for_each(|n| assert_eq!(syscall(|| black_box(n)), n));
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
