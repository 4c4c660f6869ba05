//! How many instructions an operation takes, and may take: `cargo bench -p spinpark-costs --bench instructions`.
//!
//! Each workload is played twice under valgrind's callgrind, with few operations and with many, and the difference is divided:
//! what an operation costs, and not the start. The clock is disturbed, counts are not; they are apart by less than one in a
//! hundred from run to run. Over its budget a workload fails, far below it too: then the budget is to be lowered.
//!
//! ```text
//! cargo bench -p spinpark-costs --bench instructions                    all of them
//! cargo bench -p spinpark-costs --bench instructions -- yield timer     some
//! cargo bench -p spinpark-costs --bench instructions -- --play yield 120000 off     one workload, without a tool; `off`: without preemption
//! ```
//!
//! Exit status: 0 if all are within their budgets, or there is no valgrind, which is said; 1 if one is not; 2 on a usage error.
//! (`cargo test --benches` only sees that the workloads run.)

use spinpark_costs::{Budget, run, watched};
use std::process::{Command, ExitCode};

const BUDGETS: [Budget; 8] = [
    Budget {
        workload: "yield",
        operation: "a task yields, and is the next",
        most: 480.0,
        why: "a wake, a push, a pop, and what stands around a task that runs; no access of its state word",
    },
    Budget {
        workload: "yields",
        operation: "one of a hundred tasks yields",
        most: 480.0,
        why: "as `yield`: which is next does not matter",
    },
    Budget {
        workload: "pingpong",
        operation: "a round trip over two channels",
        most: 2460.0,
        why: "two sends, two receives, two wakes and two tasks that run",
    },
    Budget {
        workload: "spawn",
        operation: "a future is spawned and awaited",
        most: 1715.0,
        why: "an allocation and its end, one wake, two tasks that run; two read-modify-writes of the state",
    },
    Budget {
        workload: "go",
        operation: "a closure is spawned and awaited",
        most: 1950.0,
        why: "as `spawn`, and a stack that is taken and put back",
    },
    Budget {
        workload: "syscall",
        operation: "a call that may block, and does nothing",
        most: 425.0,
        why: "a store, a fence, a look whether the P is wanted, an exchange on the way back, and whether it is the scheduler that it left; twice the address of a thread local",
    },
    Budget {
        workload: "mutex",
        operation: "a free lock is taken and released",
        most: 240.0,
        why: "two exchanges, whether to yield, which each leaf future asks in one place, and one operation more",
    },
    Budget {
        workload: "timer",
        operation: "a sleep of a second is made, polled once and dropped",
        most: 975.0,
        why: "the clock, a heap that it goes into and out of, a lock of the shard",
    },
];

/// Below this part of its budget a workload has become so much better that the budget guards nothing.
const SLACK: f64 = 0.9;

fn main() -> ExitCode {
    run(&BUDGETS, |_, other, _| panic!("{other}: not one of the workloads"), judge)
}

/// Are they within their budgets?
fn judge(budgets: &[&Budget]) -> ExitCode {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("skipped: valgrind is not installed, so nothing was counted");
        return ExitCode::SUCCESS;
    }
    println!("{:>9} {:>9}  of it", "counted", "budget");
    let mut holds = true;
    for &&Budget { workload, operation, most, why } in budgets {
        let count = (counted(workload, 12_000) - counted(workload, 2_000)) / 10_000.0;
        let part = count / most;
        let verdict = match part {
            _ if part > 1.0 => "  OVER ITS BUDGET",
            _ if part < SLACK => "  so far below that the budget is to be lowered",
            _ => "",
        };
        println!("{count:>9.1} {most:>9.1} {:>5.0} %  {workload}: {operation}{verdict}", part * 100.0);
        if !verdict.is_empty() {
            println!("{:27}{why}", "");
            holds = false;
        }
    }
    if holds { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// The instructions of all threads of a run with `n` operations.
fn counted(workload: &str, n: u64) -> f64 {
    let mut callgrind = Command::new("valgrind");
    callgrind.args(["--tool=callgrind", "--quiet"]);
    let text = watched(&mut callgrind, "--callgrind-out-file=", workload, n);
    let line = text.lines().find_map(|line| line.strip_prefix("summary: ").or(line.strip_prefix("totals: ")));
    line.and_then(|line| line.trim().parse().ok()).expect("callgrind says how many")
}
