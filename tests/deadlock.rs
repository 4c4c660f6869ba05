//! A deadlock ends `block_on` with an error, where it is certain that it is one: in a process without other threads. So
//! each case is a process of its own: this program, called with the case's name.

use futures_lite::future::poll_once;
use spinpark::chan::{Receiver, bounded};
#[cfg(unix)]
use spinpark::net::unix::UnixStream;
use spinpark::time::Interval;
use spinpark::{
    Deadlock, Handle, JoinError, JoinHandle, JoinSet, LocalSet, Runtime, Wait, blocking, go, lock_thread, scope, spawn,
    sync, syscall, time, yield_now,
};
use std::future::{pending, poll_fn};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
#[path = "deadlock/goes_on.rs"]
mod goes_on;

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
        "beside_a_thread_that_is_promised_to_wake_no_task",
        || {
            std::thread::spawn(|| std::thread::sleep(Duration::from_secs(3600)));
            beside_idle_threads().block_on(pending::<()>())
        },
        &["nothing can happen any more", "the future given to block_on at tests/deadlock.rs:"],
    ),
    (
        "a_thread_in_block_on_acts_though_others_are_promised_to_be_idle",
        || {
            let runtime = beside_idle_threads();
            let (send, receive) = bounded::<()>(1);
            let (inside, is_inside) = std::sync::mpsc::channel();
            let handle = runtime.handle();
            let sender = std::thread::spawn(move || {
                handle.block_on(async {
                    inside.send(()).expect("it is awaited");
                    std::thread::sleep(Duration::from_millis(300));
                    send.send(()).await.expect("it is received");
                })
            });
            is_inside.recv().expect("it computes");
            runtime.block_on(async { receive.recv().await.expect("it is sent") })?;
            sender.join().expect("no panic")
        },
        &[],
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
        || told(runtime().go(|| spawn(pending::<()>()).join()).join().expect("it is told, and ends")),
        &["every task waits for another", "the task spawned at tests/deadlock.rs:", "waits"],
    ),
    (
        "a_goroutine_with_a_stack_of_its_own_waits_for_a_future_that_waits",
        || told(stackful(2).go(|| spawn(pending::<()>()).join().is_ok()).join()),
        &["nothing can happen any more", "the task spawned at tests/deadlock.rs:", "waits"],
    ),
    (
        "a_goroutine_receives_what_nobody_sends",
        || {
            let (keep, receive) = bounded::<()>(1);
            let outcome = runtime().go(move || receive.recv().wait().is_ok()).join();
            drop(keep);
            told(outcome)
        },
        &["nothing can happen any more"],
    ),
    (
        "a_goroutine_that_is_bound_to_its_thread_receives_what_nobody_sends",
        || {
            let (keep, receive) = bounded::<()>(1);
            let runtime = stackful(2);
            let goroutine = runtime.go(move || {
                let _bound = lock_thread();
                receive.recv().wait().is_ok()
            });
            let told = runtime.block_on(goroutine).map(drop);
            drop(keep);
            told
        },
        &["nothing can happen any more", "the future given to block_on at tests/deadlock.rs:"],
    ),
    (
        "a_task_blocks_on_what_nobody_brings",
        || {
            let runtime = runtime();
            runtime.block_on(runtime.spawn(async { Handle::current().block_on(pending::<()>()) }))?.expect("no panic")
        },
        &["nothing can happen any more", "the future given to block_on at tests/deadlock.rs:"],
    ),
    (
        "in_a_system_call_a_goroutine_receives_what_nobody_sends",
        || {
            let (keep, receive) = bounded::<()>(1);
            let outcome = runtime().go(move || syscall(|| receive.recv().wait().is_ok())).join();
            drop(keep);
            told(outcome)
        },
        &["nothing can happen any more"],
    ),
    (
        "a_lock_is_never_released",
        || {
            let lock = Arc::new(sync::Mutex::new(()));
            let (theirs, runtime) = (Arc::clone(&lock), runtime());
            let held = runtime.block_on(lock.lock())?;
            let outcome = runtime.go(move || drop(theirs.lock().wait())).join();
            drop(held);
            told(outcome)
        },
        &["nothing can happen any more"],
    ),
    (
        "more_wait_with_their_threads_than_there_may_be_threads",
        || {
            let runtime = Runtime::builder().procs(2).max_threads(10).build().expect("a runtime");
            let (keep, receive) = bounded::<()>(1);
            let waits = |receive: Receiver<()>| runtime.go(move || receive.recv().wait().is_ok());
            let all: Vec<_> = (0..100).map(|_| waits(receive.clone())).collect();
            let told = runtime.block_on(async {
                for one in all {
                    let _ = one.await;
                }
            });
            drop(keep);
            told
        },
        &["all 10 threads there may be belong to tasks that wait", "raise max_threads"],
    ),
    (
        "a_goroutine_waits_for_a_timer",
        || told(runtime().go(|| time::sleep(Duration::from_millis(300)).wait()).join()),
        &[],
    ),
    ("a_goroutine_is_cpu_bound", || told(runtime().go(|| spin(Duration::from_millis(300))).join()), &[]),
    (
        "a_thread_that_is_no_runtimes_sends_in_the_end",
        || {
            let (send, receive) = bounded::<()>(1);
            let thread = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(400));
                let _ = send.send(()).wait();
            });
            let outcome = told(runtime().go(move || receive.recv().wait().is_ok()).join());
            thread.join().expect("no panic");
            outcome
        },
        &[],
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
    (
        "a_set_of_tasks_that_wait",
        || {
            runtime().block_on(async {
                let mut set = JoinSet::new();
                for _ in 0..2 {
                    set.spawn(pending::<()>());
                }
                assert!(set.join_next().await.is_none(), "none ends");
            })
        },
        &["2 tasks spawned at tests/deadlock.rs:"],
    ),
    (
        "a_scope_whose_tasks_wait",
        || {
            runtime().block_on(async {
                let lent = 1;
                let lends = go(move || {
                    scope(|scope| {
                        scope.spawn(async {
                            pending::<()>().await;
                            assert_eq!(lent, 1);
                        });
                        scope.go(|| assert_eq!(lent, 1));
                    });
                });
                lends.await.expect("it never ends");
            })
        },
        &["nothing can happen any more"],
    ),
    (
        "a_scope_on_a_stack_of_its_own_whose_tasks_wait",
        || {
            stackful(1).block_on(async {
                let lends = go(|| scope(|scope| drop(scope.spawn(pending::<()>()))));
                lends.await.expect("it never ends");
            })
        },
        &["nothing can happen any more", "the task spawned at tests/deadlock.rs:"],
    ),
    (
        "a_token_that_nobody_cancels",
        || runtime().block_on(async { sync::CancellationToken::new().child_token().cancelled().await }),
        &["nothing can happen any more"],
    ),
    (
        "each_task_that_waits_is_named",
        named,
        &[
            ": task 0x",
            ", chan receive, at tests/deadlock.rs:",
            ", sync.Mutex.Lock\n",
            ", join\n",
            ", await, at tests/deadlock.rs:",
            "tests/deadlock.rs:", // the join
            ", join)\n",
        ],
    ),
    (
        "the_only_timer_is_dropped_while_a_thread_waits_for_it",
        || runtime().block_on(async { give_up_a_timer().await }),
        &["nothing can happen any more"],
    ),
    (
        "a_goroutine_drops_the_only_timer_and_waits",
        || {
            told(
                runtime()
                    .go(|| {
                        give_up_a_timer().wait();
                    })
                    .join(),
            )
        },
        &["nothing can happen any more"],
    ),
    (
        "a_task_sets_the_only_timer_to_never",
        || never(|interval| drop(spawn(reset(interval)))),
        &["nothing can happen any more"],
    ),
    (
        "a_thread_that_is_no_runtimes_sets_the_only_timer_to_never",
        || {
            never(|interval| {
                // It has no runtime: the timer has one.
                std::thread::spawn(move || futures_lite::future::block_on(reset(interval)));
            })
        },
        &["nothing can happen any more"],
    ),
    ("a_thread_that_is_no_runtimes_ends_late", || late(|| ()), &["nothing can happen any more"]),
    (
        "a_thread_that_is_no_runtimes_comes_to_wait_late",
        || late(|| _ = bounded::<()>(1).1.recv().wait()),
        &["nothing can happen any more"],
    ),
    (
        "a_thread_that_is_no_runtimes_drops_the_only_timer_late",
        || {
            let runtime = runtime();
            let mut timer = Box::pin(time::sleep(Duration::from_secs(100)));
            assert!(runtime.block_on(poll_once(&mut timer))?.is_none());
            late_in(&runtime, move || drop(timer))
        },
        &["nothing can happen any more"],
    ),
    #[cfg(unix)]
    (
        "a_thread_that_is_no_runtimes_drops_the_only_socket_late",
        || {
            let runtime = runtime();
            let (ours, _theirs) = {
                let _entered = runtime.enter();
                UnixStream::pair().expect("a pair")
            };
            let mut buffer = [0];
            let ours = Arc::new(ours);
            let reads = Arc::clone(&ours);
            let mut read = Box::pin(async move { reads.read(&mut buffer).await.is_ok() });
            assert!(runtime.block_on(poll_once(&mut read))?.is_none());
            late_in(&runtime, move || drop((read, ours)))
        },
        &["nothing can happen any more"],
    ),
    (
        "a_thread_that_is_no_runtimes_drops_another_runtime_late",
        || {
            let other = runtime();
            late(move || drop(other))
        },
        &["nothing can happen any more"],
    ),
    (
        "a_thread_that_is_no_runtimes_waits_after_a_goroutine_that_joins",
        || {
            let (send, receive) = bounded(1);
            let runtime = runtime();
            let joins = runtime.go(move || send.try_send(spawn(pending::<()>()).join()).is_ok());
            std::thread::sleep(Duration::from_millis(1200));
            let told = receive.recv().wait();
            drop(joins);
            self::told(told.expect("the goroutine is told, and sends that"))
        },
        &["every task waits for another", "the task spawned at tests/deadlock.rs:"],
    ),
    ("nothing_is_wrong", || runtime().block_on(time::sleep(Duration::from_millis(30))), &[]),
];

/// Five tasks wait, each in another way: the error knows each by the number of its handle.
fn named() -> Result<(), Deadlock> {
    let (keep, receive) = bounded::<()>(1);
    let lock = Arc::new(sync::Mutex::new(()));
    let (runtime, theirs) = (Runtime::builder().procs(2).build().expect("a runtime"), Arc::clone(&lock));
    let held = runtime.block_on(lock.lock())?;
    let first = runtime.go(move || receive.recv().wait().is_ok());
    let locks = runtime.spawn(async move { drop(theirs.lock().await) });
    let blocks = runtime.go(|| blocking(|| pending::<()>().wait()));
    let mut expected =
        vec![(first.id(), "chan receive", true), (locks.id(), "sync.Mutex.Lock", false), (blocks.id(), "await", true)];
    let awaits = runtime.spawn(async move { first.await.is_ok() });
    expected.push((awaits.id(), "join", false));
    let joins = runtime.go(move || locks.join().is_ok());
    let number = joins.id();
    let told = runtime.block_on(async {
        let _ = blocks.await;
        drop((awaits.await, joins.await));
    });
    let deadlock = told.expect_err("nothing is ever sent");
    let mut found: Vec<_> = deadlock.blocked().iter().map(|task| (task.id, task.why, task.at.is_some())).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(deadlock.waits().iter().map(|wait| wait.id).collect::<Vec<_>>(), [Some(number)]);
    drop((held, keep));
    Err(deadlock)
}

/// Waits for a timer of a hundred seconds for so long that a thread waits in the poller until it is due, drops it, and then waits for ever.
async fn give_up_a_timer() {
    let mut timer = Box::pin(time::sleep(Duration::from_secs(100)));
    assert!(poll_once(&mut timer).await.is_none());
    std::thread::sleep(Duration::from_millis(200));
    drop(timer);
    pending().await
}

/// `block_on` waits for a tick in a hundred seconds; `sets` has another set it to never.
fn never(sets: impl FnOnce(Arc<Mutex<Interval>>)) -> Result<(), Deadlock> {
    runtime().block_on(async {
        let interval = Arc::new(Mutex::new(time::interval(Duration::from_secs(100))));
        interval.lock().expect("no panic").reset();
        sets(Arc::clone(&interval));
        poll_fn(|cx| interval.lock().expect("no panic").poll_tick(cx)).await;
    })
}

/// `block_on` waits for ever, and a thread that is no runtime's does this when all else has been at rest for long; nothing comes of it.
fn late(acts: impl FnOnce() + Send + 'static) -> Result<(), Deadlock> {
    late_in(&runtime(), acts)
}

fn late_in(runtime: &Runtime, acts: impl FnOnce() + Send + 'static) -> Result<(), Deadlock> {
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_millis(1200));
        acts();
    });
    let since = Instant::now();
    let told = runtime.block_on(pending());
    assert!(since.elapsed() < Duration::from_secs(4), "told after {:?}", since.elapsed());
    told
}

/// Sets it to never, when a thread waits in the poller until it is due.
async fn reset(interval: Arc<Mutex<Interval>>) {
    std::thread::sleep(Duration::from_millis(300));
    interval.lock().expect("no panic").reset_after(Duration::MAX);
}

/// Computes for so long.
fn spin(time: Duration) {
    let since = Instant::now();
    while since.elapsed() < time {
        std::hint::black_box(since);
    }
}

#[allow(unsafe_code)]
fn built(procs: usize, is_stackful: bool) -> Runtime {
    let builder = Runtime::builder().procs(procs);
    // SAFETY: no case holds anything of its thread across a wait.
    let builder = if is_stackful { unsafe { builder.stackful_goroutines() } } else { builder };
    builder.build().expect("a runtime")
}

fn stackful(procs: usize) -> Runtime {
    built(procs, true)
}

/// One that is promised that threads that it does not know wake no task.
fn beside_idle_threads() -> Runtime {
    Runtime::builder().procs(2).foreign_threads(false).build().expect("a runtime")
}

fn runtime() -> Runtime {
    built(2, false)
}

fn told<T>(outcome: Result<T, JoinError>) -> Result<(), Deadlock> {
    match outcome {
        Err(JoinError::Deadlock(deadlock, _)) => Err(deadlock),
        _ => Ok(()),
    }
}

/// This program once more, with these arguments: what it said.
fn called(arguments: &[&str], seconds: &str) -> String {
    let me = std::env::current_exe().expect("this program");
    let output = Command::new("timeout").arg(seconds).arg(me).args(arguments).output().expect("it can be started");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn says(name: &str, is_right: bool, said: &str) -> usize {
    match is_right {
        true => println!("test {name} ... ok"),
        false => println!("test {name} ... FAILED\nit said: {said}"),
    }
    usize::from(!is_right)
}

/// Plays all of these, some at a time, as each waits more than it computes. How many have failed.
fn all_of<T: Sync>(cases: &[T], fails: impl Fn(&T) -> usize + Sync) -> usize {
    let next = AtomicUsize::new(0);
    let some = || (0..).map_while(|_| cases.get(next.fetch_add(1, SeqCst))).map(&fails).sum::<usize>();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(some)).collect();
        workers.into_iter().map(|worker| worker.join().expect("no panic")).sum()
    })
}

/// Each way to wait with each kind of waker, so many rounds, in processes of their own. How many have failed.
#[cfg(target_os = "linux")]
fn all_that_goes_on(rounds: &str, seconds: &str) -> usize {
    let pairs: Vec<_> = goes_on::WAYS
        .iter()
        .enumerate()
        .flat_map(|way| goes_on::WAKERS.iter().enumerate().map(move |waker| (way, waker)))
        .collect();
    all_of(&pairs, |&((nth, (way, _)), (other, (waker, _)))| {
        let procs = ["1", "2", "4"][(nth + other) % 3];
        let stacks = ["threads", "stacks"][(nth + other) % 2];
        let said = called(&["goes_on", way, waker, procs, stacks, rounds], seconds);
        says(&format!("{way} woken by {waker}, {procs} procs, {stacks}"), said.starts_with("no deadlock"), &said)
    })
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let Some((_, play, _)) = arguments.first().and_then(|name| CASES.iter().find(|(case, ..)| case == name)) {
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
    match arguments[..] {
        ["goes_on", way, waker, procs, stacks, rounds] => {
            let (procs, rounds) = (procs.parse().expect("a number"), rounds.parse().expect("a number"));
            match goes_on::play(way, waker, procs, stacks == "stacks", rounds) {
                Ok(()) => println!("no deadlock"),
                Err(text) => println!("a deadlock is told that is none: {text}"),
            }
        }
        // By hand, for hours: how many rounds of each.
        ["goes_on", rounds] => failed += all_that_goes_on(rounds, "100000"),
        _ => {
            let is_emulated = std::env::var_os("SPINPARK_TEST_EMULATORS_THREADS").is_some();
            let seconds = if is_emulated { "300" } else { "20" };
            failed += all_of(CASES, |(case, _, texts)| {
                let said = called(&[case], seconds);
                let is_right = match texts {
                    [] => said.starts_with("no deadlock"),
                    texts => texts.iter().all(|text| said.contains(text)),
                };
                says(case, is_right, &said)
            });
            failed += all_that_goes_on("100", "60");
        }
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
