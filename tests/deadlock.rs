//! A deadlock ends `block_on` with an error, where it is certain that it is one: in a process without other threads. So
//! each case is a process of its own: this program, called with the case's name.

use spinpark::{Deadlock, JoinError, JoinHandle, LocalSet, Runtime, spawn, time, yield_now};
use std::future::pending;
use std::process::{Command, ExitCode};
use std::time::Duration;

type Case = (&'static str, fn() -> Result<(), Deadlock>, &'static [&'static str]);

/// The name, what is done, and what the error says.
const CASES: &[Case] = &[
    (
        "nobody_wakes_the_root",
        || runtime().block_on(pending::<()>()),
        &["nothing can happen any more", "the future given to block_on at tests/deadlock.rs:"],
    ),
    (
        "two_tasks_wait_and_the_root_waits_for_them",
        || {
            runtime().block_on(async {
                let tasks: Vec<JoinHandle<()>> = (0..2).map(|_| spawn(pending())).collect();
                for task in tasks {
                    task.await.expect("it never ends");
                }
            })
        },
        &["2 tasks spawned at tests/deadlock.rs:"],
    ),
    (
        "a_timer_ran_first",
        || {
            runtime().block_on(async {
                time::sleep(Duration::from_millis(20)).await;
                let task: JoinHandle<()> = spawn(async {
                    time::sleep(Duration::from_millis(20)).await;
                    pending().await
                });
                task.await.expect("it never ends");
            })
        },
        &["the task spawned at tests/deadlock.rs:"],
    ),
    (
        "a_local_task_waits",
        || {
            let local = LocalSet::new();
            runtime().block_on(local.run_until(async {
                local.spawn_local(pending::<()>()).await.expect("it never ends");
            }))
        },
        &["nothing can happen any more"],
    ),
    (
        "a_closure_waits_for_a_future_that_waits",
        || {
            let outcome = runtime().spawn(async { spawn(pending::<()>()).join() }).join();
            told(outcome.expect("the closure is told, and ends"))
        },
        &["the task spawned at tests/deadlock.rs:", "waits"],
    ),
    (
        "a_goroutine_waits_for_a_future_that_waits",
        || told(runtime().go(|| spawn(pending::<()>()).join().is_ok()).join()),
        &["nothing can happen any more", "the task spawned at tests/deadlock.rs:", "waits"],
    ),
    (
        "each_wait_is_over_soon",
        || {
            let runtime = Runtime::builder().procs(1).build().expect("a runtime");
            (0..100_000).try_for_each(|_| {
                let value = runtime.block_on(async { runtime.spawn(yield_now()).await })?;
                value.expect("it does not panic");
                Ok(())
            })
        },
        &[],
    ),
    ("nothing_is_wrong", || runtime().block_on(time::sleep(Duration::from_millis(30))), &[]),
];

fn runtime() -> Runtime {
    Runtime::builder().procs(2).build().expect("a runtime")
}

fn told<T>(outcome: Result<T, JoinError<T>>) -> Result<(), Deadlock> {
    match outcome {
        Err(JoinError::Deadlock(deadlock, _)) => Err(deadlock),
        _ => Ok(()),
    }
}

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    if let Some((_, play, _)) = CASES.iter().find(|(case, ..)| *case == name) {
        match play() {
            Ok(()) => println!("no deadlock"),
            Err(deadlock) => println!("{deadlock}"),
        }
        return ExitCode::SUCCESS;
    }
    if !cfg!(target_os = "linux") {
        return ExitCode::SUCCESS; // nowhere else is it certain
    }
    let mut failed = 0;
    for (case, _, texts) in CASES {
        let me = std::env::current_exe().expect("this program");
        let output = Command::new("timeout").arg("20").arg(me).arg(case).output().expect("it can be started");
        let said = String::from_utf8_lossy(&output.stdout);
        let is_right = match texts {
            [] => said.starts_with("no deadlock"),
            texts => texts.iter().all(|text| said.contains(text)),
        };
        println!("test {case} ... {}", if is_right { "ok" } else { "FAILED" });
        if !is_right {
            failed += 1;
            println!("it said: {said}\n{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
