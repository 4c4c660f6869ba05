//! Ends: a process ends with its status wherever it calls `exit`; and what is left by runtimes that end in a process that goes on.

mod cases;

use spinpark::{Runtime, Wait, blocking, chan, syscall, time};
use std::process::{ExitCode, exit};
use std::time::{Duration, Instant};
use std::{mem, thread};

const CASES: &[cases::Case] = &[
    ("in_a_task", || among_others(|runtime| drop(runtime.spawn(async { exit(0) })))),
    ("in_a_task_that_has_waited", || {
        among_others(|runtime| {
            drop(runtime.spawn(async {
                time::sleep(Duration::from_millis(1)).await;
                exit(0)
            }));
        });
    }),
    ("in_a_goroutine", || among_others(|runtime| drop(runtime.go(|| exit(0))))),
    ("in_a_goroutine_that_has_waited", || {
        among_others(|runtime| {
            drop(runtime.go(|| {
                time::sleep(Duration::from_millis(1)).wait();
                exit(0)
            }));
        });
    }),
    ("in_a_goroutine_on_its_own_stack", || {
        // SAFETY: its tasks hold nothing of a thread's across a wait.
        let builder = unsafe { Runtime::builder().procs(2).stackful_goroutines() };
        inside(builder.build().expect("a runtime"), |runtime| {
            drop(runtime.go(|| {
                time::sleep(Duration::from_millis(1)).wait();
                exit(0)
            }));
        });
    }),
    ("in_a_system_call", || among_others(|runtime| drop(runtime.go(|| syscall(|| exit(0)))))),
    ("in_a_blocking_call", || among_others(|runtime| drop(runtime.go(|| blocking(|| exit(0)))))),
    ("in_a_task_that_was_preempted", || {
        among_others(|runtime| {
            drop(runtime.go(|| {
                let from = Instant::now();
                while from.elapsed() < Duration::from_millis(50) {
                    std::hint::spin_loop();
                }
                exit(0)
            }));
        });
    }),
    ("in_a_future_of_block_on", || among_others(|runtime| runtime.run(async { exit(0) }))),
    ("in_a_callback_of_an_idle_runtime", || {
        let runtime = Runtime::builder().procs(2).build().expect("a runtime");
        runtime.when_idle(|| exit(0));
        thread::park();
    }),
    ("in_a_stopped_world", || among_others(|runtime| runtime.stop_the_world(|| exit(0)).expect("it is not nested"))),
    ("in_main_beside_a_runtime_that_is_never_dropped", || {
        let runtime = Runtime::builder().procs(2).build().expect("a runtime");
        begin(&runtime);
        mem::forget(runtime);
    }),
    #[cfg(target_os = "linux")]
    ("of_runtimes_whose_tasks_slept_leave_no_thread", || {
        let threads = || std::fs::read_dir("/proc/self/task").expect("there is one").count();
        let before = threads();
        for _ in 0..100 {
            let runtime = Runtime::builder().procs(2).build().expect("a runtime");
            let (sleeps, slept) = std::sync::mpsc::channel();
            drop(runtime.spawn(async move {
                sleeps.send(()).expect("it is awaited");
                time::sleep(Duration::from_secs(3600)).await;
            }));
            slept.recv().expect("it sleeps");
        }
        let from = Instant::now();
        while threads() > before {
            assert!(from.elapsed() < Duration::from_secs(10), "{} threads are left", threads() - before);
            thread::sleep(Duration::from_millis(10));
        }
    }),
];

/// Tasks that compute, sleep, and wait for each other.
fn begin(runtime: &Runtime) {
    for _ in 0..4 {
        drop(runtime.spawn(async {
            loop {
                time::sleep(Duration::from_micros(100)).await;
            }
        }));
        let (sender, receiver) = chan::bounded(1);
        drop(runtime.go(move || while sender.send(0).wait().is_ok() {}));
        drop(runtime.spawn(async move { while receiver.recv().await.is_ok() {} }));
    }
}

/// Does that beside them; it ends the process.
fn among_others(exits: impl FnOnce(&Runtime)) {
    inside(Runtime::builder().procs(2).build().expect("a runtime"), exits);
}

fn inside(runtime: Runtime, exits: impl FnOnce(&Runtime)) {
    begin(&runtime);
    exits(&runtime);
    thread::park_timeout(Duration::from_secs(30));
    panic!("it has not ended");
}

fn main() -> ExitCode {
    cases::main(CASES, 40)
}
