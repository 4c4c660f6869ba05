//! Giving a P away, on real cores: system calls, waiting, stopping the world, more or fewer Ps, bound tasks, deadlocks.

#[cfg(unix)]
use crate::called::by_a_socket;
use crate::called::by_a_timer;
use spinpark::kernel::sched::config::ConfigError;
use spinpark::{
    Deadlock, Handle, JoinError, JoinHandle, Runtime, SetProcsError, StopError, blocking, checkpoint, go, lock_thread,
    stop_the_world, syscall, try_blocking,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, mpsc};
use std::task::Wake;
use std::thread;
use std::time::{Duration, Instant};

fn with_procs(n: usize) -> Runtime {
    Runtime::builder().procs(n).build().expect("a runtime")
}

/// A flag that tasks wait for in the ways that they are tested with.
fn flag() -> Arc<AtomicBool> {
    Arc::new(AtomicBool::new(false))
}

fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < Duration::from_secs(30), "waited too long until {what}");
        thread::sleep(Duration::from_micros(100));
    }
}

mod a_task_in_a_syscall {
    use super::*;

    #[test]
    fn lets_others_run_on_the_only_p() {
        let runtime = with_procs(1);
        let (tell, told) = mpsc::channel();
        let first = runtime.go(move || syscall(|| told.recv().expect("the other task tells")));
        let second = runtime.go(move || tell.send(7).expect("the first waits"));
        assert_eq!(first.join().expect("a value"), 7);
        second.join().expect("a value");
    }

    #[test]
    fn waits_for_the_monitor_once_and_then_hands_its_p_off_at_once() {
        const CALLS: u64 = 20;
        let runtime = with_procs(1);
        let is_over = flag();
        let asks = Arc::clone(&is_over);
        let computes = runtime.spawn(async move {
            while !asks.load(SeqCst) {
                spinpark::yield_now().await;
            }
        });
        let calls = runtime.go(|| {
            let call = |time| syscall(|| thread::sleep(time));
            // Places share what is learned of them: after a short call the next is not expected to block.
            call(Duration::ZERO);
            (0..CALLS).for_each(|_| call(Duration::from_millis(15)));
        });
        calls.join().expect("no panic");
        is_over.store(true, SeqCst);
        computes.join().expect("no panic");
        let retakes = runtime.metrics().retakes;
        assert!(0 < retakes && retakes < CALLS / 2, "{retakes} of {CALLS} calls waited for the monitor");
    }

    #[test]
    fn lets_the_tasks_run_that_it_has_spawned() {
        let runtime = with_procs(1);
        let value = runtime.go(|| {
            let (tell, told) = mpsc::channel();
            drop(go(move || tell.send(7)));
            syscall(|| told.recv().expect("the other task tells"))
        });
        assert_eq!(value.join().expect("a value"), 7);
    }

    #[test]
    fn can_spawn_from_there() {
        let runtime = with_procs(1);
        let value = runtime.go(|| syscall(|| go(|| 7)).join().expect("a value"));
        assert_eq!(value.join().expect("a value"), 7);
    }

    #[test]
    fn can_wait_there_for_another() {
        let runtime = with_procs(1);
        let value = runtime.go(|| {
            let other = go(|| 7);
            syscall(|| other.join().expect("a value"))
        });
        assert_eq!(value.join().expect("a value"), 7);
    }

    #[test]
    fn that_panics_there_is_a_task_again_and_panics() {
        let runtime = with_procs(1);
        let task = runtime.go(|| {
            let caught = catch_unwind(|| syscall(|| blocking(|| panic!("in there"))));
            assert!(caught.is_err());
            go(|| 7).join().expect("a value")
        });
        assert_eq!(task.join().expect("a value"), 7);
        let task = runtime.go(|| syscall(|| panic!("in there")));
        assert!(matches!(task.join(), Err(JoinError::Panicked(panic)) if panic.message() == Some("in there")));
        assert_eq!(runtime.go(|| 8).join().expect("a value"), 8);
    }

    #[test]
    fn keeps_its_thread() {
        let runtime = with_procs(1);
        let task = runtime.go(|| {
            let before = thread::current().id();
            let (tell, told) = mpsc::channel();
            drop(go(move || tell.send(())));
            syscall(|| told.recv().expect("the other task tells"));
            blocking(|| thread::sleep(Duration::from_millis(1)));
            before == thread::current().id()
        });
        assert!(task.join().expect("a value"));
    }

    #[test]
    fn with_64_of_its_kind_does_not_stop_one_that_computes() {
        let runtime = with_procs(1);
        let rounds = Arc::new(AtomicUsize::new(0));
        let is_over = flag();
        let computes = runtime.go({
            let (rounds, is_over) = (Arc::clone(&rounds), Arc::clone(&is_over));
            move || {
                while !is_over.load(SeqCst) {
                    rounds.fetch_add(1, SeqCst);
                    checkpoint();
                }
            }
        });
        until("it computes", || rounds.load(SeqCst) > 0);
        let start = Instant::now();
        let blocked: Vec<_> =
            (0..64).map(|_| runtime.go(|| syscall(|| thread::sleep(Duration::from_millis(20))))).collect();
        let before = rounds.load(SeqCst);
        blocked.into_iter().for_each(|task| task.join().expect("a value"));
        let after = rounds.load(SeqCst);
        is_over.store(true, SeqCst);
        computes.join().expect("a value");
        println!("64 times 20 ms took {:?}; meanwhile {} rounds were computed", start.elapsed(), after - before);
        assert!(after > before, "it made no progress");
        assert!(start.elapsed() < Duration::from_millis(64 * 20), "they blocked one after the other");
    }
}

mod outside_of_a_runtime {
    use super::*;

    #[test]
    fn what_would_give_a_p_away_just_runs() {
        assert_eq!(syscall(|| blocking(|| try_blocking(|| 7).expect("there is no limit"))), 7);
        checkpoint();
    }

    #[test]
    fn there_is_no_world_to_stop_and_no_thread_to_lock() {
        let error = stop_the_world(|| ()).expect_err("there is no world");
        assert_eq!(error, StopError::NotInRuntime);
        assert!(error.to_string().contains("Runtime"), "{error}");
        let error = lock_thread().expect_err("there is no task").to_string();
        assert!(error.contains("inside a task"), "{error}");
    }
}

mod a_task_that_blocks {
    use super::*;

    #[test]
    fn lets_others_run_at_once() {
        let runtime = with_procs(1);
        let (tell, told) = mpsc::channel();
        let first = runtime.go(move || blocking(|| told.recv().expect("the other task tells")));
        let second = runtime.go(move || tell.send(7).expect("the first waits"));
        assert_eq!(first.join().expect("a value"), 7);
        second.join().expect("a value");
    }

    #[test]
    fn is_told_if_no_thread_can_take_over_and_runs_if_it_insists() {
        let runtime = Runtime::builder().procs(1).max_threads(1).build().expect("a runtime");
        let task = runtime.go(|| {
            let refused = try_blocking(|| 7).expect_err("the only thread is this one");
            assert_eq!(refused.max_threads, 1);
            assert!(refused.to_string().contains("max_threads"), "{refused}");
            let waits = go(|| 8);
            (blocking(refused.f), waits)
        });
        let (value, waits) = task.join().expect("a value");
        assert_eq!(value, 7);
        assert_eq!(waits.join().expect("it ran later"), 8);
        assert!(runtime.snapshot().refused > 0, "the limit was reached, and it was not counted");
    }
}

mod a_stopped_world {
    use super::*;

    /// Tasks that count, and yield, until they are told to end.
    fn counters(runtime: &Runtime, n: usize) -> (Arc<AtomicUsize>, impl FnOnce()) {
        let (count, is_over) = (Arc::new(AtomicUsize::new(0)), flag());
        let spawn = |_| {
            let (count, is_over) = (Arc::clone(&count), Arc::clone(&is_over));
            runtime.go(move || {
                while !is_over.load(SeqCst) {
                    count.fetch_add(1, SeqCst);
                    checkpoint();
                    syscall(|| ());
                }
            })
        };
        let tasks: Vec<_> = (0..n).map(spawn).collect();
        until("they count", || count.load(SeqCst) > 100);
        let end = move || {
            is_over.store(true, SeqCst);
            tasks.into_iter().for_each(|task: JoinHandle<()>| task.join().expect("a value"));
        };
        (count, end)
    }

    fn is_still(count: &AtomicUsize) {
        let before = count.load(SeqCst);
        thread::sleep(Duration::from_millis(2));
        assert_eq!(count.load(SeqCst), before, "a task runs in a stopped world");
    }

    #[test]
    fn stands_still_and_goes_on_a_hundred_times() {
        let runtime = with_procs(2);
        let (count, end) = counters(&runtime, 4);
        for _ in 0..100 {
            runtime.stop_the_world(|| is_still(&count)).expect("it is the only stop");
            let stopped_at = count.load(SeqCst);
            until("they go on", || count.load(SeqCst) > stopped_at);
        }
        end();
    }

    #[test]
    fn can_be_stopped_by_a_task_of_it() {
        let runtime = with_procs(1);
        let (count, end) = counters(&runtime, 2);
        let task = runtime.go({
            let count = Arc::clone(&count);
            move || stop_the_world(|| is_still(&count))
        });
        task.join().expect("a value").expect("it is the only stop");
        end();
    }

    #[test]
    fn can_be_stopped_by_many_at_once() {
        let runtime = with_procs(2);
        let (count, end) = counters(&runtime, 2);
        let stopping = Arc::new(AtomicUsize::new(0));
        let stop = {
            let (count, stopping) = (Arc::clone(&count), Arc::clone(&stopping));
            move || {
                assert_eq!(stopping.fetch_add(1, SeqCst), 0, "two have stopped the same world");
                is_still(&count);
                stopping.fetch_sub(1, SeqCst);
            }
        };
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let stop = stop.clone();
                runtime.go(move || (0..5).for_each(|_| stop_the_world(&stop).expect("they stand in line")))
            })
            .collect();
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..5).for_each(|_| runtime.stop_the_world(&stop).expect("they stand in line")));
            }
        });
        tasks.into_iter().for_each(|task| task.join().expect("a value"));
        end();
    }

    #[test]
    fn cannot_be_stopped_again_from_inside() {
        let runtime = with_procs(1);
        let inner = runtime.stop_the_world(|| runtime.stop_the_world(|| ())).expect("the outer stop");
        assert_eq!(inner, Err(StopError::Nested));
        let inner = runtime.stop_the_world(|| runtime.set_procs(1)).expect("the outer stop");
        assert_eq!(inner, Err(SetProcsError::Stop(StopError::Nested)));
        let inner = runtime.stop_the_world(|| runtime.for_each_p(|_| ())).expect("the outer stop");
        assert_eq!(inner, Err(StopError::Nested));
        assert_eq!(runtime.go(|| 7).join().expect("a value"), 7);
    }

    /// Is called by a waker.
    struct Calls(Box<dyn Fn() + Send + Sync>);

    impl Wake for Calls {
        fn wake(self: Arc<Self>) {
            self.0();
        }
    }

    type Stops = fn(&Handle) -> Result<(), StopError>;
    type Place = fn(&Runtime, Box<dyn Fn() + Send + Sync>) -> Box<dyn std::any::Any>;

    /// Where code of the user's has a P of the runtime, or its poller, and is no task. What is returned is kept meanwhile.
    const PLACES: &[(&str, Place)] = &[
        ("a waker that a timer calls", |runtime, calls| by_a_timer(&runtime.handle(), &Arc::new(Calls(calls)).into())),
        #[cfg(unix)]
        ("a waker that a socket calls", |runtime, calls| {
            by_a_socket(&runtime.handle(), &Arc::new(Calls(calls)).into())
        }),
        ("a closure that runs for each P", |runtime, calls| {
            let handle = runtime.handle();
            Box::new(thread::spawn(move || handle.for_each_p(move |_| calls())))
        }),
    ];

    #[test]
    fn cannot_be_stopped_by_what_a_stop_would_wait_for() {
        let stops: [Stops; 3] = [
            |runtime| runtime.stop_the_world(|| ()),
            |runtime| match runtime.set_procs(1) {
                Err(SetProcsError::Stop(error)) => Err(error),
                other => panic!("{other:?}"),
            },
            |runtime| runtime.for_each_p(|_| ()),
        ];
        for (place, calls) in PLACES {
            for (nth, stops) in stops.into_iter().enumerate() {
                let (runtime, (tell, told)) = (with_procs(2), mpsc::channel());
                let handle = runtime.handle();
                let kept = calls(&runtime, Box::new(move || _ = tell.send(stops(&handle))));
                let stopped = told.recv_timeout(Duration::from_secs(20));
                if stopped != Ok(Err(StopError::InCallback)) {
                    std::mem::forget(runtime); // it may wait for ever
                    panic!("{place}, stop {nth}: {stopped:?}");
                }
                drop(kept);
                assert_eq!(runtime.go(|| 7).join().expect("a value"), 7);
            }
        }
    }

    #[test]
    fn can_stop_another_one() {
        let (one, other) = (with_procs(1), with_procs(1));
        let handle = other.handle();
        let task = one.go(move || stop_the_world(|| handle.stop_the_world(|| 7).expect("another world")));
        assert_eq!(task.join().expect("a value").expect("the first stop"), 7);
        assert_eq!(other.go(|| 8).join().expect("a value"), 8);
    }

    #[test]
    fn goes_on_when_its_stopper_panics() {
        let runtime = with_procs(1);
        let caught = catch_unwind(AssertUnwindSafe(|| runtime.stop_the_world(|| panic!("while stopped"))));
        assert!(caught.is_err());
        assert_eq!(runtime.go(|| 7).join().expect("a value"), 7);
        let task = runtime.go(|| stop_the_world(|| panic!("while stopped")));
        assert!(matches!(task.join(), Err(JoinError::Panicked(_))));
        assert_eq!(runtime.go(|| 8).join().expect("a value"), 8);
    }

    #[test]
    fn takes_tasks_and_runs_them_later() {
        let runtime = with_procs(2);
        let early = runtime.stop_the_world(|| {
            let mut task = runtime.go(|| 7);
            match task.join_mut() {
                Err(JoinError::WorldStopped) => task,
                other => panic!("joined in a stopped world: {other:?}"),
            }
        });
        assert_eq!(early.expect("the only stop").join().expect("a value"), 7);
        let task = runtime.go(|| stop_the_world(|| go(|| 8)).expect("the only stop").join().expect("a value"));
        assert_eq!(task.join().expect("a value"), 8);
    }

    #[test]
    fn is_refused_by_shutdown() {
        let runtime = with_procs(1);
        let handle = runtime.handle();
        let stop = handle.stop_the_world(|| match runtime.shutdown() {
            Err(refused) => refused.0,
            Ok(_) => panic!("it was shut down while it was stopped"),
        });
        assert_eq!(stop.expect("the only stop").go(|| 7).join().expect("a value"), 7);
    }

    #[test]
    fn does_not_wait_for_a_task_that_blocks() {
        let runtime = with_procs(2);
        let (release, released) = mpsc::channel::<()>();
        let (enters, entered) = mpsc::channel();
        let task = runtime.go(move || {
            syscall(|| {
                enters.send(()).expect("the test waits");
                released.recv().expect("the test tells")
            })
        });
        entered.recv().expect("the task enters");
        runtime.stop_the_world(|| assert!(!task.is_finished())).expect("the only stop");
        release.send(()).expect("the task waits");
        task.join().expect("a value");
    }
}

mod the_number_of_ps {
    use super::*;

    /// How many of `n` tasks run at once.
    fn run_at_once(runtime: &Runtime, n: usize) -> bool {
        let barrier = Arc::new(Barrier::new(n));
        let meet = |_| {
            let barrier = Arc::clone(&barrier);
            runtime.go(move || {
                barrier.wait();
            })
        };
        let tasks: Vec<_> = (0..n).map(meet).collect();
        tasks.into_iter().for_each(|task| task.join().expect("a value"));
        true
    }

    #[test]
    fn can_grow_and_shrink_while_tasks_run() {
        let runtime = Runtime::builder().procs(2).max_procs(4).ring(4).build().expect("a runtime");
        let tasks: Vec<_> =
            (0..8).map(|_| runtime.go(|| (0..500).map(|n| go(move || n)).collect::<Vec<_>>())).collect();
        for n in [4, 1, 3, 2, 4, 1, 2] {
            runtime.set_procs(n).expect("there is room");
            assert_eq!(runtime.procs(), n);
        }
        for task in tasks {
            let inner = task.join().expect("handles");
            let sum: i32 = inner.into_iter().map(|task| task.join().expect("a value")).sum();
            assert_eq!(sum, 499 * 500 / 2);
        }
        runtime.set_procs(4).expect("there is room");
        assert!(run_at_once(&runtime, 4));
    }

    #[test]
    fn can_be_changed_by_a_task() {
        let runtime = Runtime::builder().procs(1).max_procs(3).build().expect("a runtime");
        let handle = runtime.handle();
        assert_eq!(runtime.go(move || handle.set_procs(3)).join().expect("a value"), Ok(1));
        assert!(run_at_once(&runtime, 3));
    }

    #[test]
    fn cannot_be_0_or_more_than_there_is_room_for() {
        let runtime = Runtime::builder().procs(2).max_procs(3).build().expect("a runtime");
        for procs in [0, 4] {
            let error = runtime.set_procs(procs).expect_err("there is no room");
            assert_eq!(error, SetProcsError::Config(ConfigError::NoRoom { procs, capacity: 3 }));
            assert!(error.to_string().contains("give 1 to 3"), "{error}");
        }
        assert_eq!(runtime.procs(), 2);
        assert_eq!(runtime.go(|| 7).join().expect("a value"), 7);
        let error = Runtime::builder().max_procs(5000).build().expect_err("too many").to_string();
        assert!(error.contains("max_procs is 5000"), "{error}");
    }
}

mod for_each_p {
    use super::*;

    #[test]
    fn runs_once_for_each_while_tasks_run() {
        let runtime = with_procs(3);
        let is_over = flag();
        let tasks: Vec<_> = (0..2)
            .map(|_| {
                let is_over = Arc::clone(&is_over);
                runtime.go(move || {
                    while !is_over.load(SeqCst) {
                        checkpoint();
                        syscall(|| ());
                    }
                })
            })
            .collect();
        let handle = runtime.handle();
        for from_inside in [false, true, false] {
            let runs: Arc<[AtomicUsize; 3]> = Arc::default();
            let count = {
                let runs = Arc::clone(&runs);
                move |p: usize| {
                    runs[p].fetch_add(1, SeqCst);
                }
            };
            if from_inside {
                let handle = handle.clone();
                runtime.go(move || handle.for_each_p(count)).join().expect("a value").expect("not nested");
            } else {
                runtime.for_each_p(count).expect("not nested");
            }
            assert!(runs.iter().all(|runs| runs.load(SeqCst) == 1), "{runs:?}");
        }
        is_over.store(true, SeqCst);
        tasks.into_iter().for_each(|task| task.join().expect("a value"));
    }

    #[test]
    fn goes_on_after_a_panic() {
        let runtime = with_procs(2);
        runtime.for_each_p(|_| panic!("under a P")).expect("not nested");
        assert_eq!(runtime.go(|| 7).join().expect("a value"), 7);
    }
}

mod a_task_bound_to_its_thread {
    use super::*;

    fn thread_of(runtime: &Runtime, keep: bool) -> thread::ThreadId {
        let task = runtime.go(move || {
            let outer = lock_thread().expect("inside a task");
            let inner = lock_thread().expect("inside a task");
            drop(outer);
            if keep {
                inner.keep();
            }
            thread::current().id()
        });
        task.join().expect("a value")
    }

    #[test]
    fn leaves_the_thread_to_others_if_it_unlocks() {
        let runtime = Runtime::builder().procs(1).max_threads(1).build().expect("a runtime");
        assert_eq!(thread_of(&runtime, false), thread_of(&runtime, false));
    }

    #[test]
    fn takes_the_thread_along_if_it_does_not() {
        let runtime = Runtime::builder().procs(1).max_threads(1).build().expect("a runtime");
        let last = runtime.go(|| thread::current().id());
        let last = last.join().expect("a value");
        for _ in 0..20 {
            assert_ne!(
                thread_of(&runtime, true),
                thread_of(&runtime, false),
                "a task runs on a thread that was to end"
            );
        }
        assert_ne!(runtime.go(|| thread::current().id()).join().expect("a value"), last);
    }

    #[test]
    fn leaves_no_work_behind_when_it_ends_with_its_thread() {
        let runtime = with_procs(1);
        let spawned = runtime.go(|| {
            lock_thread().expect("inside a task").keep();
            (0..10).map(|n| go(move || n)).collect::<Vec<_>>()
        });
        let sum: i32 = spawned.join().expect("handles").into_iter().map(|task| task.join().expect("a value")).sum();
        assert_eq!(sum, 45);
    }
}

mod a_deadlock {
    use super::*;

    fn deadlock<T: std::fmt::Debug>(outcome: Result<T, JoinError>) -> Deadlock {
        match outcome {
            Err(JoinError::Deadlock(deadlock, _)) => deadlock,
            other => panic!("no deadlock: {other:?}"),
        }
    }

    /// Runs `f` as a task whose code is on its thread's own stack: when it waits, the thread does.
    fn on_its_thread<T: Send + 'static>(runtime: &Runtime, f: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        runtime.spawn(async move { f() })
    }

    #[test]
    fn of_a_task_that_waits_for_itself_names_it() {
        let runtime = with_procs(2);
        let (give, given) = mpsc::channel::<JoinHandle<Deadlock>>();
        let task = on_its_thread(&runtime, move || {
            let myself = blocking(|| given.recv()).expect("the handle");
            deadlock(myself.join())
        });
        let (done, handle) = mpsc::channel();
        // Its own handle goes in, so the value comes out on another way.
        drop(runtime.go(move || {
            give.send(task).expect("it waits for that");
            done.send(()).expect("the test waits");
        }));
        handle.recv().expect("it was given");
        until("all is quiet", || runtime.snapshot().is_quiescent());
    }

    #[test]
    fn of_two_names_both_and_lets_them_go_on() {
        let runtime = with_procs(1);
        let (give, given) = mpsc::channel::<JoinHandle<&str>>();
        let (tell, told) = mpsc::channel();
        let or_tell = move |outcome| match outcome {
            Err(JoinError::Deadlock(deadlock, _)) => tell.send(deadlock).map(|()| "was told").expect("the test waits"),
            Ok(value) => value,
            other => panic!("{other:?}"),
        };
        let one = on_its_thread(&runtime, {
            let or_tell = or_tell.clone();
            move || or_tell(blocking(|| given.recv()).expect("a handle").join())
        });
        let two = on_its_thread(&runtime, move || or_tell(one.join()));
        give.send(two).expect("the first waits for it");
        let deadlock = told.recv_timeout(Duration::from_secs(30)).expect("one of them is told");
        let text = deadlock.to_string();
        assert_eq!(deadlock.waits().len(), 2, "{text}");
        assert!(text.contains("deadlock") && text.matches("tests/handoff.rs").count() >= 4, "{text}");
        assert_eq!(deadlock.max_threads(), None);
        println!("{text}");
    }

    #[test]
    fn for_want_of_threads_says_so() {
        // On a slow machine the task would lose its P before it waits, and the other run.
        let builder = Runtime::builder().procs(1).max_threads(1).time_slice(Duration::from_secs(3600));
        let runtime = builder.build().expect("a runtime");
        let task = on_its_thread(&runtime, || {
            let mut handle = go(|| 7);
            match handle.join_mut() {
                Err(JoinError::Deadlock(deadlock, _)) => (deadlock, handle),
                other => panic!("there is no second thread: {other:?}"),
            }
        });
        let (deadlock, handle) = task.join().expect("a value");
        assert_eq!(deadlock.max_threads(), Some(1));
        assert!(deadlock.to_string().contains("raise max_threads"), "{deadlock}");
        assert_eq!(handle.join().expect("it ran after all"), 7);
    }

    #[test]
    fn is_not_seen_while_another_is_in_a_syscall() {
        let runtime = with_procs(2);
        let (tell, told) = mpsc::channel();
        let slow = runtime.go(move || syscall(|| told.recv().expect("the test tells")));
        let waits = on_its_thread(&runtime, move || slow.join().expect("it comes back"));
        until("it waits", || runtime.snapshot().waiting == 1);
        thread::sleep(Duration::from_millis(30));
        tell.send(7).expect("it waits");
        assert_eq!(waits.join().expect("a value"), 7);
    }
}

mod shutdown {
    use super::*;

    #[test]
    fn ends_the_wait_of_a_task_for_one_that_will_not_be_run() {
        let runtime = with_procs(1);
        let (waits, waiting) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let outer = runtime.spawn(async move {
            let busy = go(move || {
                waits.send(()).expect("the test waits");
                let _ = released.recv();
            });
            let mut never = go(|| 7);
            // In this order: the last spawned runs first, and there is but one P.
            drop(busy);
            match never.join_mut() {
                Err(JoinError::Closed) => Some(never),
                Ok(7) => None,
                other => panic!("{other:?}"),
            }
        });
        waiting.recv().expect("it runs");
        let handle = runtime.handle();
        let shutdown = thread::spawn(move || runtime.shutdown().expect("not a task"));
        until("it is closed", || handle.go(|| ()).is_finished());
        drop(release);
        let unstarted = shutdown.join().expect("it ends");
        let never = outer.join().expect("a value");
        unstarted.into_iter().for_each(|task| task.run());
        if let Some(never) = never {
            assert_eq!(never.join().expect("it was run by hand"), 7);
        }
    }

    #[test]
    fn waits_for_a_task_in_a_syscall() {
        let runtime = with_procs(1);
        let (enters, entered) = mpsc::channel();
        let task = runtime.go(move || {
            syscall(|| {
                enters.send(()).expect("the test waits");
                thread::sleep(Duration::from_millis(30));
            });
            7
        });
        entered.recv().expect("it enters");
        assert_eq!(runtime.shutdown().expect("not a task").len(), 0);
        assert!(task.is_finished());
        assert_eq!(task.join().expect("a value"), 7);
    }
}

mod threads {
    use super::*;

    #[test]
    fn that_have_slept_for_long_end_but_for_one() {
        let keep = Duration::from_millis(20);
        let runtime = Runtime::builder().procs(4).thread_keep_alive(keep).build().expect("a runtime");
        let barrier = Arc::new(Barrier::new(4));
        let meet = |_| {
            let barrier = Arc::clone(&barrier);
            runtime.go(move || {
                barrier.wait();
            })
        };
        let tasks: Vec<_> = (0..4).map(meet).collect();
        tasks.into_iter().for_each(|task| task.join().expect("a value"));
        assert!(runtime.snapshot().alive >= 1);
        until("all but one have ended", || runtime.snapshot().alive == 1);
        assert_eq!(runtime.go(|| 7).join().expect("a value"), 7);
    }

    #[test]
    fn are_used_again_for_the_next_call_that_blocks() {
        let runtime = with_procs(1);
        let block = || {
            let (tell, told) = mpsc::channel();
            let first = runtime.go(move || blocking(|| told.recv().expect("the other tells")));
            runtime.go(move || tell.send(7).expect("the first waits")).join().expect("a value");
            first.join().expect("a value");
        };
        block();
        until("all is quiet", || runtime.snapshot().is_quiescent());
        let threads = runtime.snapshot().alive;
        for _ in 0..50 {
            block();
            until("all is quiet", || runtime.snapshot().is_quiescent());
        }
        assert!(runtime.snapshot().alive <= threads + 1, "a thread was started for each call");
    }
}
