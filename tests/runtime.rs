//! The runtime on real cores. A module names the property, a function the situation.

use spinpark::kernel::protocol::sources::SearchOrder;
use spinpark::kernel::sched::config::{Config, ConfigError};
use spinpark::{BuildError, Handle, JoinError, JoinHandle, NotInRuntime, Runtime, go, try_go};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

fn with_procs(n: usize) -> Runtime {
    Runtime::builder().procs(n).build().expect("a runtime")
}

/// A task that holds its P until the sender is dropped. Returns when it runs.
fn blocked(runtime: &Runtime) -> (JoinHandle<()>, mpsc::Sender<()>) {
    let (release, released) = mpsc::channel::<()>();
    let (started, starts) = mpsc::channel();
    let handle = runtime.go(move || {
        started.send(()).expect("the test waits for it");
        let _ = released.recv();
    });
    starts.recv().expect("the task runs");
    (handle, release)
}

/// Submits until the runtime is closed. Those that came before may be among the unstarted.
fn wait_until_closed(handle: &Handle) {
    loop {
        let probe = handle.go(|| ());
        if probe.is_finished() && matches!(probe.join(), Err(JoinError::ShutDown)) {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn message<T>(outcome: Result<T, JoinError>) -> String {
    match outcome {
        Err(JoinError::Panicked(panic)) => panic.message().unwrap_or("no text").to_owned(),
        Err(other) => panic!("no panic was carried: {other}"),
        Ok(_) => panic!("no panic was carried, but a value"),
    }
}

mod a_handle_returns {
    use super::*;

    #[test]
    fn the_value_of_one_task() {
        let runtime = Runtime::new().expect("a runtime");
        assert_eq!(runtime.go(|| 6 * 7).join().expect("a value"), 42);
    }

    #[test]
    fn the_values_of_many_tasks_each_its_own() {
        let runtime = with_procs(3);
        let handles: Vec<_> = (0..1000).map(|n| runtime.go(move || n)).collect();
        for (n, handle) in handles.into_iter().enumerate() {
            assert_eq!(handle.join().expect("a value"), n);
        }
    }

    #[test]
    fn a_value_after_the_runtime_is_gone() {
        let runtime = with_procs(1);
        let (first, release) = blocked(&runtime);
        let closer = thread::spawn(move || drop(runtime));
        drop(release);
        closer.join().expect("the runtime was dropped");
        assert!(first.is_finished());
        first.join().expect("a value");
    }

    #[test]
    fn on_every_search_order_with_the_smallest_ring_and_one_thread() {
        for order in [SearchOrder::StealFirst, SearchOrder::GlobalFirst] {
            for (procs, threads) in [(1, 1), (4, 1), (4, 2), (2, 8)] {
                let builder = Runtime::builder().procs(procs).max_threads(threads).ring(2).inherit_at_most(0);
                let runtime = builder.order(order).build().expect("a runtime");
                let inner = runtime.go(|| (0..100).map(|n| go(move || n)).collect::<Vec<_>>()).join().expect("handles");
                let sum: i32 = inner.into_iter().map(|handle| handle.join().expect("a value")).sum();
                assert_eq!(sum, 4950, "{order:?}, {procs} Ps, {threads} threads");
            }
        }
    }
}

mod a_panic {
    use super::*;

    #[test]
    fn is_carried_to_the_handle_with_its_message() {
        let runtime = with_procs(1);
        assert_eq!(message(runtime.go(|| panic!("a constant"))), "a constant");
        assert_eq!(message(runtime.go(|| panic!("number {}", 7))), "number 7");
        assert_eq!(message(runtime.go(|| std::panic::panic_any(7_u8))), "no text");

        fn message(handle: JoinHandle<()>) -> String {
            super::message(handle.join())
        }
    }

    #[test]
    fn is_carried_with_its_payload_and_can_go_on() {
        let runtime = with_procs(1);
        let Err(JoinError::Panicked(panic)) = runtime.go(|| std::panic::panic_any(7_u8)).join() else {
            panic!("no panic was carried");
        };
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| panic.resume_unwind()));
        assert_eq!(caught.expect_err("a panic").downcast_ref::<u8>(), Some(&7));
    }

    #[test]
    fn does_not_end_the_thread_it_happens_on() {
        // A panic's report takes long on a busy machine.
        let runtime = Runtime::builder().procs(1).max_threads(1).preemption(false).build().expect("a runtime");
        let before = runtime.go(|| thread::current().id()).join().expect("a value");
        for _ in 0..10 {
            drop(runtime.go(|| panic!("this is not joined")));
        }
        assert_eq!(runtime.go(|| thread::current().id()).join().expect("a value"), before);
    }

    #[test]
    fn in_the_drop_of_a_value_that_nobody_joins_does_not_either() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("in drop");
            }
        }
        let runtime = with_procs(1);
        let (_first, release) = blocked(&runtime);
        drop(runtime.go(|| Bomb));
        drop(runtime.go(|| std::panic::panic_any(Bomb)));
        // Not sooner, or the value would be dropped here, with its handle.
        drop(release);
        assert_eq!(runtime.go(|| 1).join().expect("a value"), 1);
    }
}

mod a_task_from_inside_a_task {
    use super::*;

    #[test]
    fn returns_its_value_through_the_handle_it_was_given() {
        let runtime = with_procs(2);
        let inner = runtime.go(|| go(|| go(|| 42))).join().expect("a handle");
        assert_eq!(inner.join().expect("a handle").join().expect("a value"), 42);
    }

    #[test]
    fn spawned_by_the_runtime_s_handle_runs_on_the_same_p() {
        let runtime = with_procs(1);
        let handle = runtime.handle();
        let inner = runtime.go(move || (handle.go(|| thread::current().id()), thread::current().id()));
        let (inner, outer_thread) = inner.join().expect("a handle");
        assert_eq!(inner.join().expect("a value"), outer_thread);
    }

    #[test]
    fn spawned_last_runs_first_and_the_others_in_order() {
        // On a slow machine the task would be preempted, and the others run meanwhile.
        let runtime = Runtime::builder().procs(1).preemption(false).build().expect("a runtime");
        let (seen, sees) = mpsc::channel();
        let all = runtime.go(move || {
            for n in 0..5 {
                let seen = seen.clone();
                drop(go(move || seen.send(n)));
            }
        });
        all.join().expect("a value");
        assert_eq!(sees.iter().collect::<Vec<_>>(), [4, 0, 1, 2, 3]);
    }

    #[test]
    fn can_be_waited_for_by_a_task_on_one_p() {
        let runtime = with_procs(1);
        assert_eq!(
            runtime
                .go(|| go(|| go(|| 42).join().expect("a value") + 1).join().expect("a value"))
                .join()
                .expect("a value"),
            43
        );
    }

    #[test]
    fn that_has_finished_can_be_joined_by_a_task() {
        let runtime = with_procs(1);
        let finished = runtime.go(|| 43);
        while !finished.is_finished() {
            thread::yield_now();
        }
        assert_eq!(runtime.go(|| finished.join().expect("it has finished")).join().expect("a value"), 43);
    }

    #[test]
    fn may_be_waited_for_by_a_task_of_another_runtime() {
        let (one, other) = (with_procs(1), with_procs(1));
        let inner = other.go(|| 42);
        assert_eq!(one.go(move || inner.join().expect("a value")).join().expect("a value"), 42);
    }
}

mod a_runtime_is_refused {
    use super::*;

    fn refusal(builder: spinpark::Builder) -> (BuildError, String) {
        let error = builder.build().expect_err("it was built");
        (error.clone(), error.to_string())
    }

    #[test]
    fn with_no_p() {
        let (error, text) = refusal(Runtime::builder().procs(0));
        assert_eq!(error, BuildError::Config(ConfigError::Procs(0)));
        assert!(text.contains("procs is 0: give 1 to 4096"), "{text}");
    }

    /// What std prints of an error that `main` returns is its `Debug`.
    #[test]
    fn in_a_sentence_that_main_can_end_with() {
        const CHILD: &str = "SPINPARK_TEST_MAIN_ENDS";
        if std::env::var_os(CHILD).is_some() {
            let end = Runtime::builder().procs(0).build().map(drop);
            std::process::Termination::report(end);
            return;
        }
        let me = std::env::current_exe().expect("this program");
        let this = "runtime::a_runtime_is_refused::in_a_sentence_that_main_can_end_with";
        let arguments = ["--exact", "--nocapture", this];
        let child = std::process::Command::new(me).args(arguments).env(CHILD, "").output().expect("it starts");
        let said = String::from_utf8_lossy(&child.stderr).into_owned();
        assert!(said.lines().any(|line| line.starts_with("Error: procs is 0: give 1 to 4096")), "{said}");
    }

    #[test]
    fn with_a_ring_that_is_no_power_of_two() {
        let (error, text) = refusal(Runtime::builder().ring(100));
        assert!(matches!(error, BuildError::Config(ConfigError::Ring(_))), "{error:?}");
        assert!(text.contains("100") && text.contains("power of two"), "{text}");
    }

    #[test]
    fn with_no_thread() {
        let (_, text) = refusal(Runtime::builder().max_threads(0));
        assert!(text.contains("max_threads is 0: give 1 to"), "{text}");
    }

    #[test]
    fn but_not_with_any_number_of_ps_that_is_allowed() {
        let runtime = with_procs(Config::MAX_PROCS);
        assert_eq!(runtime.go(|| 1).join().expect("a value"), 1);
    }
}

mod shutdown {
    use super::*;

    #[test]
    fn waits_for_what_runs_and_gives_back_what_was_never_started() {
        let runtime = with_procs(1);
        let (first, release) = blocked(&runtime);
        let handles: Vec<_> = (0..10).map(|n| runtime.go(move || n)).collect();
        let handle = runtime.handle();
        let shutdown = thread::spawn(move || runtime.shutdown().expect("not a task"));
        wait_until_closed(&handle);
        assert!(!shutdown.is_finished(), "the first task still runs");
        assert!(!first.is_finished());
        drop(release);
        let unstarted = shutdown.join().expect("unstarted tasks");
        assert!(first.is_finished());
        assert!(unstarted.len() >= 10, "one P, and it was busy, but only {} came back", unstarted.len());
        assert!(handles.iter().all(|handle| !handle.is_finished()));
        for task in unstarted {
            task.run();
        }
        for (n, handle) in handles.into_iter().enumerate() {
            assert_eq!(handle.join().expect("a value"), n);
        }
    }

    #[test]
    fn gives_back_what_a_running_task_spawned_meanwhile() {
        // A task that was preempted has no P to queue it under: what it spawns then is dropped, as what another thread spawns.
        let runtime = Runtime::builder().procs(2).preemption(false).build().expect("a runtime");
        let (release, released) = mpsc::channel::<()>();
        let (started, starts) = mpsc::channel();
        let outer = runtime.go(move || {
            started.send(()).expect("the test waits for it");
            let _ = released.recv();
            go(|| 42)
        });
        starts.recv().expect("the task runs");
        let handle = runtime.handle();
        let shutdown = thread::spawn(move || runtime.shutdown().expect("not a task"));
        wait_until_closed(&handle);
        drop(release);
        let unstarted = shutdown.join().expect("unstarted tasks");
        let inner = outer.join().expect("a handle");
        assert!(!inner.is_finished());
        unstarted.into_iter().for_each(|task| task.run());
        assert_eq!(inner.join().expect("a value"), 42);
    }

    #[test]
    fn resolves_the_handle_of_a_task_that_is_dropped() {
        let runtime = with_procs(1);
        let (_first, release) = blocked(&runtime);
        let second = runtime.go(|| 2);
        let handle = runtime.handle();
        let shutdown = thread::spawn(move || drop(runtime));
        wait_until_closed(&handle);
        drop(release);
        shutdown.join().expect("the runtime was dropped");
        assert!(matches!(second.join(), Err(JoinError::ShutDown)));
    }

    #[test]
    fn of_an_idle_runtime_ends_every_thread() {
        let runtime = with_procs(2);
        runtime.go(|| ()).join().expect("a value");
        assert_eq!(runtime.shutdown().expect("not a task").len(), 0);
    }

    #[test]
    fn from_inside_a_task_is_refused_and_dropping_is_not() {
        let runtime = with_procs(1);
        let handle = runtime.handle();
        let (give, given) = mpsc::channel::<Runtime>();
        let task = runtime.go(move || {
            let runtime = given.recv().expect("the runtime");
            let error = runtime.shutdown().expect_err("a task waited for itself");
            drop(error.0);
        });
        give.send(runtime).expect("the task waits for it");
        task.join().expect("the task goes on");
        // The thread that closes the runtime does so soon.
        while !matches!(handle.go(|| ()).join(), Err(JoinError::ShutDown)) {
            thread::yield_now();
        }
    }

    #[test]
    fn leaves_a_handle_that_starts_nothing() {
        let runtime = with_procs(1);
        let handle = runtime.handle();
        drop(runtime);
        let ran = Arc::new(AtomicBool::new(false));
        let witness = Arc::clone(&ran);
        assert!(matches!(handle.go(move || ran.store(true, SeqCst)).join(), Err(JoinError::ShutDown)));
        assert!(!witness.load(SeqCst));
        assert_eq!(Arc::strong_count(&witness), 1, "the closure was not dropped");
    }
}

mod each_task_runs_once {
    use super::*;

    const SUBMITTERS: usize = 4;
    const OUTER: usize = 2_500;
    const INNER: usize = 9;

    /// 100,000 tasks, nine in ten from inside others, from four threads at once.
    fn of_100_000(procs: usize, ring: usize) {
        let runtime = Runtime::builder().procs(procs).ring(ring).build().expect("a runtime");
        let runs: Arc<[AtomicU8]> = (0..SUBMITTERS * OUTER * (1 + INNER)).map(|_| AtomicU8::new(0)).collect();
        thread::scope(|threads| {
            for submitter in 0..SUBMITTERS {
                let (runtime, runs) = (&runtime, &runs);
                threads.spawn(move || {
                    let outer: Vec<_> = (0..OUTER)
                        .map(|n| {
                            let first = (submitter * OUTER + n) * (1 + INNER);
                            let runs = Arc::clone(runs);
                            runtime.go(move || {
                                runs[first].fetch_add(1, SeqCst);
                                let inner = (1..=INNER).map(|n| {
                                    let runs = Arc::clone(&runs);
                                    go(move || runs[first + n].fetch_add(1, SeqCst))
                                });
                                inner.collect::<Vec<_>>()
                            })
                        })
                        .collect();
                    for handle in outer.into_iter().flat_map(|handle| handle.join().expect("handles")) {
                        assert_eq!(handle.join().expect("a value"), 0, "it ran before");
                    }
                });
            }
        });
        let wrong = runs.iter().filter(|runs| runs.load(SeqCst) != 1).count();
        assert_eq!(wrong, 0, "so many tasks did not run exactly once");
        assert_eq!(runtime.shutdown().expect("not a task").len(), 0);
    }

    #[test]
    fn on_one_p() {
        of_100_000(1, 256);
    }

    #[test]
    fn on_two_ps() {
        of_100_000(2, 256);
    }

    #[test]
    fn on_eight_ps_with_small_rings() {
        of_100_000(8, 4);
    }

    #[test]
    fn or_comes_back_when_the_runtime_is_shut_down_in_the_middle() {
        for round in 0..200 {
            let runtime = Runtime::builder().procs(4).ring(4).build().expect("a runtime");
            let count = Arc::new(AtomicUsize::new(0));
            let counted = |count: &Arc<AtomicUsize>| {
                let count = Arc::clone(count);
                move || {
                    count.fetch_add(1, SeqCst);
                }
            };
            let outer: Vec<_> = (0..20)
                .map(|_| {
                    let count = Arc::clone(&count);
                    let all: Vec<_> = (0..5).map(|_| counted(&count)).collect();
                    runtime.go(move || all.into_iter().map(go).collect::<Vec<_>>())
                })
                .collect();
            if round % 4 != 0 {
                thread::sleep(Duration::from_micros(round * 2));
            }
            let unstarted = runtime.shutdown().expect("not a task");
            // A task that is run here is outside: it cannot spawn, so its panic is expected. Drop these instead.
            drop(unstarted);
            let (mut ran, mut never) = (0, 0);
            for handle in outer {
                match handle.join() {
                    Ok(inner) => inner.into_iter().for_each(|inner| match inner.join() {
                        Ok(()) => ran += 1,
                        Err(JoinError::ShutDown) => never += 1,
                        Err(error) => panic!("{error}"),
                    }),
                    Err(JoinError::ShutDown) => never += 5,
                    Err(error) => panic!("{error}"),
                }
            }
            assert_eq!((ran, ran + never), (count.load(SeqCst), 100), "round {round}");
            assert_eq!(Arc::strong_count(&count), 1, "round {round}: a task was neither run nor dropped");
        }
    }
}

mod outside_of_a_runtime {
    use super::*;

    #[test]
    fn go_panics_and_says_what_to_do() {
        let payload = thread::spawn(|| drop(go(|| ()))).join().expect_err("it spawned somewhere");
        let text = payload.downcast_ref::<String>().expect("a text");
        assert!(text.contains("spinpark::go") && text.contains("on a Runtime or a Handle"), "{text}");
    }

    #[test]
    fn try_go_returns_an_error() {
        let error: NotInRuntime = try_go(|| ()).expect_err("it spawned somewhere");
        assert!(error.to_string().starts_with("spinpark::try_go was called outside of a task"), "{error}");
    }

    #[test]
    fn try_go_drops_a_closure_whose_drop_spawns_too() {
        struct Spawns;
        impl Drop for Spawns {
            fn drop(&mut self) {
                assert!(try_go(|| ()).is_err());
            }
        }
        let spawns = Spawns;
        assert!(try_go(move || drop(spawns)).is_err());
    }

    #[test]
    fn a_task_that_was_given_back_is_too() {
        let runtime = with_procs(1);
        let (_first, release) = blocked(&runtime);
        let second = runtime.go(|| try_go(|| ()).is_err());
        let handle = runtime.handle();
        let closer = thread::spawn(move || runtime.shutdown().expect("not a task"));
        wait_until_closed(&handle);
        drop(release);
        closer.join().expect("unstarted tasks").into_iter().for_each(|task| task.run());
        assert!(second.join().expect("a value"));
    }
}

mod threads {
    use super::*;

    #[test]
    fn are_never_more_than_allowed() {
        // Nothing is preempted: each that is may have a thread more.
        let runtime = Runtime::builder().procs(8).max_threads(2).preemption(false).build().expect("a runtime");
        let handles: Vec<_> = (0..10_000).map(|n| runtime.go(move || n)).collect();
        for (n, handle) in handles.into_iter().enumerate() {
            assert_eq!(handle.join().expect("a value"), n);
        }
        assert!(runtime.snapshot().alive <= 2, "{:?}", runtime.snapshot());
    }

    #[test]
    fn all_sleep_when_there_is_nothing_to_do() {
        let runtime = with_procs(3);
        (0..1000).map(|_| runtime.go(|| ())).for_each(|handle| handle.join().expect("a value"));
        while !runtime.snapshot().is_quiescent() {
            thread::yield_now();
        }
        assert_eq!(runtime.snapshot().violation(), None);
    }

    #[test]
    fn run_as_many_tasks_at_once_as_there_are_ps() {
        let runtime = with_procs(4);
        // Each holds its P until all four run.
        let barrier = Arc::new(std::sync::Barrier::new(4));
        let handles: Vec<_> = (0..4)
            .map(|_| {
                let barrier = Arc::clone(&barrier);
                runtime.go(move || {
                    barrier.wait();
                })
            })
            .collect();
        handles.into_iter().for_each(|handle| handle.join().expect("a value"));
    }
}
