//! Goroutines: closures with stacks of their own.

#![cfg(target_os = "linux")]

use spinpark::{Builder, JoinError, Runtime, Wait, checkpoint, go, spawn, time, yield_now};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

fn runtime(procs: usize) -> Runtime {
    stackful().procs(procs).build().expect("a runtime")
}

/// With stacks for goroutines.
#[allow(unsafe_code)]
fn stackful() -> Builder {
    // SAFETY: no test here holds anything of its thread across a wait.
    unsafe { Runtime::builder().stackful_goroutines() }
}

mod a_goroutine {
    use super::*;

    #[test]
    fn gives_its_value_to_who_joins_it() {
        assert_eq!(runtime(1).go(|| 6 * 7).join().expect("a value"), 42);
    }

    #[test]
    fn waits_for_a_sleep_a_task_and_another_goroutine() {
        let runtime = runtime(1);
        let sum = runtime.go(|| {
            time::sleep(Duration::from_millis(1)).wait();
            let task = spawn(async {
                yield_now().await;
                40
            });
            let goroutine = go(|| {
                yield_now().wait();
                2
            });
            task.wait().expect("a value") + goroutine.join().expect("a value")
        });
        assert_eq!(sum.join().expect("a value"), 42);
    }

    #[test]
    fn leaves_its_thread_while_it_waits() {
        // A thousand that wait, on one thread; all are told at once.
        let runtime = stackful().procs(1).max_threads(1).build().expect("a runtime");
        let (ready, told) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let all: Vec<_> = (0..1000)
            .map(|_| {
                let (ready, told) = (Arc::clone(&ready), Arc::clone(&told));
                runtime.go(move || {
                    ready.fetch_add(1, SeqCst);
                    while !told.load(SeqCst) {
                        time::sleep(Duration::from_millis(2)).wait();
                    }
                })
            })
            .collect();
        while ready.load(SeqCst) < 1000 {
            std::thread::yield_now();
        }
        told.store(true, SeqCst);
        all.into_iter().for_each(|goroutine| goroutine.join().expect("a value"));
    }

    #[test]
    fn carries_its_panic_to_who_joins_it_and_its_stack_is_used_again() {
        let runtime = runtime(1);
        for round in 0..100 {
            let outcome = runtime.go(move || {
                yield_now().wait();
                assert!(round == usize::MAX, "round {round}");
            });
            let Err(JoinError::Panicked(panic)) = outcome.join() else { panic!("it did not panic") };
            assert_eq!(panic.message(), Some(format!("round {round}").as_str()));
        }
        assert!(runtime.metrics().stacks <= 64, "a panic costs a stack");
    }

    /// The panic hook hears of a panic once, and of nothing else that comes of it.
    #[test]
    fn that_panics_says_so_once() {
        static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            match info.to_string() {
                text if text.contains("said once") || text.contains("coroutine") => {
                    HEARD.lock().expect("no panic").push(text);
                }
                _ => before(info),
            };
        }));
        let runtime = runtime(1);
        let outcome = runtime.go(|| {
            yield_now().wait();
            panic!("said once");
        });
        assert!(matches!(outcome.join(), Err(JoinError::Panicked(_))));
        let heard = HEARD.lock().expect("no panic").clone();
        assert!(heard.len() == 1 && heard[0].contains("said once"), "{heard:?}");
    }

    #[test]
    fn keeps_what_is_on_its_stack_while_it_goes_from_thread_to_thread() {
        let runtime = runtime(4);
        let all: Vec<_> = (0..64u64)
            .map(|seed| {
                runtime.go(move || {
                    let mut numbers = [seed; 256];
                    let mut threads = BTreeSet::new();
                    for round in 0..200 {
                        numbers[round % 256] += 1;
                        threads.insert(format!("{:?}", std::thread::current().id()));
                        yield_now().wait();
                    }
                    (numbers.iter().sum::<u64>(), threads.len())
                })
            })
            .collect();
        let mut most = 0;
        for (seed, goroutine) in all.into_iter().enumerate() {
            let (sum, threads) = goroutine.join().expect("a value");
            assert_eq!(sum, seed as u64 * 256 + 200);
            most = most.max(threads);
        }
        assert!(most >= 1);
    }

    #[test]
    fn can_call_itself_deeply_and_wait_at_the_bottom() {
        fn deep(n: u32) -> u32 {
            let room = std::hint::black_box([n; 32]);
            if n == 0 {
                time::sleep(Duration::from_millis(1)).wait();
                return 0;
            }
            deep(n - 1) + room[7] - n + 1
        }
        let runtime = stackful().procs(1).goroutine_stack_size(1 << 20).build().expect("a runtime");
        // Half a megabyte, if nothing is optimised.
        assert_eq!(runtime.go(|| deep(500)).join().expect("a value"), 500);
    }

    #[test]
    fn waits_on_a_thread_of_its_own_where_it_cannot_leave_it() {
        let runtime = runtime(1);
        let sum = runtime.go(|| {
            let bound = spinpark::lock_thread();
            let here = std::thread::current().id();
            let one = go(|| 1).join().expect("a value");
            time::sleep(Duration::from_millis(1)).wait();
            assert_eq!(std::thread::current().id(), here, "it was bound");
            drop(bound);
            one + spinpark::syscall(|| go(|| 2).wait().expect("a value"))
        });
        assert_eq!(sum.join().expect("a value"), 3);
    }
}

mod a_stack {
    use super::*;

    #[test]
    fn is_not_what_the_systems_resolver_runs_on() {
        let runtime = stackful().procs(1).build().expect("a runtime");
        let found = runtime.go(|| spinpark::net::lookup_host(("localhost", 80)).wait().map(Iterator::count));
        assert!(found.join().expect("no panic").expect("it has addresses") > 0);
    }

    fn falls(n: u64) -> u64 {
        let room = std::hint::black_box([n; 64]);
        if n == u64::MAX { 0 } else { falls(n + 1) + room[3] }
    }

    /// Uses up its stack when it is dropped.
    struct Falls;

    impl Drop for Falls {
        fn drop(&mut self) {
            falls(0);
        }
    }

    /// Where a goroutine's stack is used up, by name.
    const WAYS: [(&str, fn()); 5] = [
        ("in its closure", || drop(runtime(1).go(|| falls(0)).join())),
        ("when the runtime is dropped", || drop(waits_with_what_falls(runtime(1)))),
        ("when another thread shuts the runtime down", || {
            let runtime = waits_with_what_falls(runtime(1));
            std::thread::spawn(|| runtime.shutdown_timeout(Duration::from_secs(60))).join().expect("no panic");
        }),
        ("when it is aborted", || {
            let runtime = runtime(1);
            let (waits, is_waiting) = std::sync::mpsc::channel();
            let goroutine = runtime.go(move || {
                let _falls = Falls;
                waits.send(()).expect("the test waits");
                std::future::pending::<()>().wait();
            });
            is_waiting.recv().expect("it waits");
            goroutine.abort();
            drop(goroutine.join());
        }),
        ("in a deterministic runtime", || {
            let runtime = stackful().procs(1).deterministic(1).build().expect("a runtime");
            drop(runtime.go(|| falls(0)).join());
        }),
    ];

    fn waits_with_what_falls(runtime: Runtime) -> Runtime {
        let (waits, is_waiting) = std::sync::mpsc::channel();
        drop(runtime.go(move || {
            let _falls = Falls;
            waits.send(()).expect("the test waits");
            std::future::pending::<()>().wait();
        }));
        is_waiting.recv().expect("it waits");
        runtime
    }

    #[test]
    fn that_is_used_up_ends_the_process_with_a_message_that_says_whose_it_was() {
        const VARIABLE: &str = "SPINPARK_TEST_FALLS";
        if let Ok(way) = std::env::var(VARIABLE) {
            return WAYS.iter().find(|(name, _)| *name == way).expect("a way").1();
        }
        let name = "goroutines::a_stack::that_is_used_up_ends_the_process_with_a_message_that_says_whose_it_was";
        let me = std::env::current_exe().expect("this program");
        for (way, _) in WAYS {
            let mut run = std::process::Command::new(&me);
            let run =
                run.args([name, "--exact", "--nocapture"]).env(VARIABLE, way).output().expect("it can be started");
            let said = String::from_utf8_lossy(&run.stderr);
            assert!(!run.status.success(), "{way}: it went on: {said}");
            assert!(said.contains("the goroutine spawned at tests/goroutines.rs:"), "{way}: it said: {said}");
            assert!(said.contains("has used up its stack of 262144 bytes"), "{way}: it said: {said}");
        }
    }

    #[test]
    fn of_a_size_that_is_not_allowed_is_an_error_that_says_what_is() {
        for bytes in [0, (16 << 10) - 1, (1 << 30) + 1] {
            let error = stackful().goroutine_stack_size(bytes).build().expect_err("too small, or too large");
            let text = error.to_string();
            assert!(text.contains(&bytes.to_string()) && text.contains("give 16384 to 1073741824 bytes"), "{text}");
        }
    }

    #[test]
    fn may_be_as_small_as_16_kibibytes() {
        let runtime = stackful().procs(1).goroutine_stack_size(16 << 10).build().expect("a runtime");
        let all: Vec<_> = (0..1000u64).map(|n| runtime.go(move || (yield_now().wait(), n).1)).collect();
        let sum: u64 = all.into_iter().map(|goroutine| goroutine.join().expect("a value")).sum();
        assert_eq!(sum, 499_500);
    }
}

mod channels_and_select {
    use super::*;
    use spinpark::chan::{bounded, rendezvous};
    use spinpark::select;
    use spinpark::sync::{Mutex, WaitGroup};

    #[test]
    fn are_waited_for_by_goroutines_and_awaited_by_tasks_alike() {
        let runtime = runtime(2);
        let (ping, pinged) = rendezvous::<u32>();
        let (pong, ponged) = bounded::<u32>(1);
        runtime.go(move || {
            while let Ok(n) = pinged.recv().wait() {
                pong.send(n + 1).wait().expect("it listens");
            }
        });
        let sum = runtime.spawn(async move {
            let mut sum = 0;
            for n in 0..1000 {
                ping.send(n).await.expect("it listens");
                sum += ponged.recv().await.expect("it answers");
            }
            sum
        });
        assert_eq!(sum.join().expect("a value"), 500_500);
    }

    #[test]
    fn are_selected_from_in_a_goroutine() {
        let runtime = runtime(1);
        let (send, receive) = bounded::<u32>(4);
        let (stop, stopped) = rendezvous::<()>();
        let sum = runtime.go(move || {
            let mut sum = 0;
            loop {
                select!(wait {
                    n = receive.recv() => sum += n.unwrap_or(0),
                    _ = stopped.recv() => return sum,
                });
            }
        });
        runtime
            .go(move || {
                (1..=100).for_each(|n| send.send(n).wait().expect("it listens"));
                while !send.is_empty() {
                    yield_now().wait();
                }
                stop.send(()).wait().expect("it listens");
            })
            .join()
            .expect("a value");
        assert_eq!(sum.join().expect("a value"), 5050);
    }

    #[test]
    fn and_locks_count_right_among_many() {
        let runtime = runtime(4);
        let (count, group) = (Arc::new(Mutex::new(0)), Arc::new(WaitGroup::new()));
        for _ in 0..50 {
            group.add(1);
            let (count, group) = (Arc::clone(&count), Arc::clone(&group));
            runtime.go(move || {
                for _ in 0..100 {
                    let mut count = count.lock().wait();
                    let seen = *count;
                    yield_now().wait();
                    *count = seen + 1;
                }
                group.done();
            });
        }
        let total = runtime.go(move || {
            group.wait().wait();
            *count.lock().wait()
        });
        assert_eq!(total.join().expect("a value"), 5000);
    }
}

mod waiting {
    use super::*;

    #[test]
    fn is_possible_on_an_ordinary_thread_too() {
        let runtime = runtime(1);
        let task = runtime.spawn(async {
            time::sleep(Duration::from_millis(1)).await;
            7
        });
        assert_eq!(task.wait().expect("a value"), 7);
    }

    #[test]
    fn is_possible_in_a_task_which_then_occupies_its_thread() {
        let runtime = runtime(1);
        let task = runtime.spawn(async { go(|| 1).wait().expect("a value") });
        assert_eq!(task.join().expect("a value"), 1);
    }
}

/// Says that it was dropped.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

mod a_goroutine_that_waits {
    use super::*;

    fn waits_for_ever(runtime: &Runtime, count: &Arc<AtomicUsize>) -> spinpark::JoinHandle<()> {
        let (dropped, (began, begins)) = (Dropped(Arc::clone(count)), mpsc::channel());
        let goroutine = runtime.go(move || {
            let _dropped = dropped;
            began.send(()).expect("the test waits");
            std::future::pending::<()>().wait();
        });
        begins.recv().expect("it began");
        goroutine
    }

    #[test]
    fn is_unwound_when_its_runtime_is_dropped() {
        let count = Arc::new(AtomicUsize::new(0));
        let runtime = runtime(1);
        let goroutine = waits_for_ever(&runtime, &count);
        drop(runtime);
        assert_eq!(count.load(SeqCst), 1, "what it owned was not dropped");
        assert!(matches!(goroutine.join(), Err(JoinError::ShutDown)));
    }

    #[test]
    fn is_unwound_when_it_is_aborted() {
        let count = Arc::new(AtomicUsize::new(0));
        let runtime = runtime(1);
        let goroutine = waits_for_ever(&runtime, &count);
        goroutine.abort();
        assert!(matches!(goroutine.join(), Err(JoinError::Aborted)));
        assert_eq!(count.load(SeqCst), 1, "what it owned was not dropped");
    }

    #[test]
    fn is_unwound_even_if_it_catches_panics() {
        let count = Arc::new(AtomicUsize::new(0));
        let runtime = runtime(1);
        let (dropped, (began, begins)) = (Dropped(Arc::clone(&count)), mpsc::channel());
        let goroutine = runtime.go(move || {
            let _dropped = dropped;
            began.send(()).expect("the test waits");
            for _ in 0..3 {
                let wait = || std::future::pending::<()>().wait();
                assert!(std::panic::catch_unwind(wait).is_err(), "it waited for nothing, and went on");
            }
        });
        begins.recv().expect("it began");
        drop(runtime);
        assert_eq!(count.load(SeqCst), 1);
        assert!(matches!(goroutine.join(), Err(JoinError::ShutDown)));
    }

    /// Whether a thread panics is known by the thread: its next task must not be taken for one that does, nor what is
    /// unwound go on where no thread seems to panic.
    #[test]
    fn in_a_destructor_while_it_panics_stays_on_its_thread() {
        struct Waits(mpsc::Sender<bool>);

        impl Drop for Waits {
            fn drop(&mut self) {
                let me = std::thread::current().id();
                time::sleep(Duration::from_millis(20)).wait();
                let _ = self.0.send(std::thread::panicking() && std::thread::current().id() == me);
            }
        }

        let runtime = stackful().procs(1).preemption(false).build().expect("a runtime");
        let (told, tell) = mpsc::channel();
        let root = runtime.go(move || {
            let others = spawn(async {
                let (mut panicking, since) = (0, Instant::now());
                while since.elapsed() < Duration::from_millis(40) {
                    panicking += u32::from(std::thread::panicking());
                    yield_now().await;
                }
                panicking
            });
            let panics = go(move || {
                let _waits = Waits(told);
                std::panic::resume_unwind(Box::new("no message"));
            });
            (others.wait().expect("a value"), panics.wait().is_err())
        });
        assert_eq!(root.join().expect("a value"), (0, true), "times that another task seemed to panic");
        assert_eq!(tell.recv(), Ok(true), "it was unwound to the end where it had begun");
    }

    #[test]
    fn may_wait_in_a_destructor_for_what_comes() {
        let count = Arc::new(AtomicUsize::new(0));
        struct Waits(Dropped);
        impl Drop for Waits {
            fn drop(&mut self) {
                assert_eq!(self.0.0.load(SeqCst), 0);
                std::future::ready(()).wait();
            }
        }
        let runtime = runtime(1);
        let (waits, (began, begins)) = (Waits(Dropped(Arc::clone(&count))), mpsc::channel());
        let _goroutine = runtime.go(move || {
            let waits = waits;
            began.send(()).expect("the test waits");
            std::future::pending::<()>().wait();
            drop(waits);
        });
        begins.recv().expect("it began");
        drop(runtime);
        assert_eq!(count.load(SeqCst), 1);
    }
}

mod a_crowd {
    use super::*;

    #[test]
    fn of_a_hundred_thousand_waits_and_ends() {
        let runtime = runtime(2);
        let (ready, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let before = resident();
        let all: Vec<_> = (0..100_000)
            .map(|_| {
                let (ready, gate) = (Arc::clone(&ready), Arc::clone(&gate));
                runtime.go(move || {
                    let mut first = true;
                    std::future::poll_fn(|cx| {
                        if !std::mem::take(&mut first) {
                            return std::task::Poll::Ready(());
                        }
                        gate.lock().expect("no panic under it").push(cx.waker().clone());
                        ready.fetch_add(1, Relaxed);
                        std::task::Poll::Pending
                    })
                    .wait();
                })
            })
            .collect();
        while ready.load(Relaxed) < 100_000 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let each = resident().saturating_sub(before) / 100_000;
        assert!(each <= 2 * 4096 + 1024, "a waiting goroutine takes {each} bytes");
        for waker in std::mem::take(&mut *gate.lock().expect("no panic under it")) {
            waker.wake();
        }
        all.into_iter().for_each(|goroutine| goroutine.join().expect("a value"));
    }

    #[test]
    fn of_a_hundred_thousand_that_wait_for_ever_is_dropped_with_the_runtime() {
        let runtime = runtime(2);
        let ready = Arc::new(AtomicUsize::new(0));
        let count = Arc::new(AtomicUsize::new(0));
        for _ in 0..100_000 {
            let (ready, dropped) = (Arc::clone(&ready), Dropped(Arc::clone(&count)));
            drop(runtime.go(move || {
                let _dropped = dropped;
                ready.fetch_add(1, Relaxed);
                std::future::pending::<()>().wait();
            }));
        }
        while ready.load(Relaxed) < 100_000 {
            std::thread::sleep(Duration::from_millis(1));
        }
        drop(runtime);
        assert_eq!(count.load(SeqCst), 100_000);
    }

    #[test]
    fn that_has_gone_gives_its_memory_back_in_an_idle_moment() {
        let runtime = runtime(2);
        let all: Vec<_> = (0..5_000)
            .map(|_| {
                runtime.go(|| {
                    let deep = std::hint::black_box([1u8; 40_000]);
                    time::sleep(Duration::from_millis(20)).wait();
                    usize::from(deep[7])
                })
            })
            .collect();
        assert_eq!(all.into_iter().map(|goroutine| goroutine.join().expect("a value")).sum::<usize>(), 5_000);
        let with = resident();
        let begin = Instant::now();
        while resident() > with / 2 {
            assert!(begin.elapsed() < Duration::from_secs(20), "{} of {with} bytes are kept", resident());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn resident() -> usize {
        let status = std::fs::read_to_string("/proc/self/statm").expect("Linux");
        let pages: usize = status.split(' ').nth(1).and_then(|n| n.parse().ok()).expect("a number");
        pages * 4096
    }
}

/// A loop that never asks, until it is told to end.
fn hog(end: &AtomicBool) {
    while !end.load(Relaxed) {
        std::hint::spin_loop();
    }
}

mod idle_work {
    use super::*;

    #[test]
    fn is_done_when_nothing_else_is_to_be_done_and_in_order() {
        let runtime = runtime(1);
        let busy = Arc::new(AtomicBool::new(true));
        let (tell, told) = mpsc::channel();
        let task = runtime.spawn({
            let busy = Arc::clone(&busy);
            async move {
                for _ in 0..10_000 {
                    yield_now().await;
                }
                busy.store(false, SeqCst);
            }
        });
        for n in 0..10 {
            let (tell, busy) = (tell.clone(), Arc::clone(&busy));
            runtime.when_idle(move || tell.send((n, busy.load(SeqCst))).expect("the test waits"));
        }
        let all: Vec<_> = told.iter().take(10).collect();
        task.join().expect("a value");
        assert_eq!(all.iter().map(|(n, _)| *n).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
        let early = all.iter().filter(|(_, busy)| *busy).count();
        // One may have begun before the task did.
        assert!(early <= 1, "{early} of 10 were run while a task was runnable");
    }

    #[test]
    fn that_panics_harms_nobody() {
        let runtime = runtime(1);
        let (tell, told) = mpsc::channel();
        runtime.when_idle(|| panic!("as it should"));
        runtime.when_idle(move || tell.send(()).expect("the test waits"));
        told.recv_timeout(Duration::from_secs(20)).expect("the second was run");
        assert_eq!(runtime.go(|| 1).join().expect("a value"), 1);
    }

    #[test]
    fn is_dropped_with_its_runtime() {
        let count = Arc::new(AtomicUsize::new(0));
        let runtime = runtime(1);
        let (tell, told) = mpsc::channel();
        let busy = runtime.spawn(async move { told.recv().expect("the test tells") });
        let dropped = Dropped(Arc::clone(&count));
        runtime.when_idle(move || drop(dropped));
        tell.send(()).expect("it waits");
        busy.join().expect("a value");
        drop(runtime);
        assert_eq!(count.load(SeqCst), 1);
    }
}

mod a_hog {
    use super::*;

    #[test]
    fn for_each_p_does_not_stall_a_ticker() {
        let runtime = runtime(2);
        let end = Arc::new(AtomicBool::new(false));
        let hogs: Vec<_> = (0..2)
            .map(|_| {
                let end = Arc::clone(&end);
                runtime.go(move || hog(&end))
            })
            .collect();
        let ticker = runtime.go(|| {
            (0..100).fold(Duration::ZERO, |worst, _| {
                let due = Instant::now() + Duration::from_millis(1);
                time::sleep(Duration::from_millis(1)).wait();
                worst.max(Instant::now() - due)
            })
        });
        let worst = ticker.join().expect("a value");
        end.store(true, SeqCst);
        hogs.into_iter().for_each(|hog| hog.join().expect("a value"));
        // 25 ms on a machine that does nothing else; see docs/evidence/performance.md.
        assert!(worst < Duration::from_millis(500), "a tick came {worst:?} late");
    }

    #[test]
    fn comes_back_under_a_p_when_it_asks() {
        let runtime = runtime(1);
        let (asked, other) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let hog = {
            let (asked, other) = (Arc::clone(&asked), Arc::clone(&other));
            runtime.go(move || {
                hog(&asked); // until the other has run, which needs the only P
                let before = other.load(SeqCst);
                checkpoint();
                let child = go(|| 5);
                (before, child.join().expect("a value"))
            })
        };
        let waits = runtime.go(move || {
            other.fetch_add(1, SeqCst);
            asked.store(true, SeqCst);
        });
        waits.join().expect("a value");
        assert_eq!(hog.join().expect("a value"), (1, 5));
    }

    #[test]
    fn is_not_interrupted_if_nobody_wants_that() {
        let runtime = stackful().procs(1).preemption(false).build().expect("a runtime");
        let end = Arc::new(AtomicBool::new(false));
        let hog = {
            let end = Arc::clone(&end);
            runtime.go(move || hog(&end))
        };
        let other = runtime.go(|| ());
        std::thread::sleep(Duration::from_millis(60));
        assert!(!other.is_finished(), "the only P was taken from the hog");
        end.store(true, SeqCst);
        hog.join().expect("a value");
        other.join().expect("a value");
    }

    #[test]
    fn is_waited_for_by_who_stops_the_world() {
        let runtime = runtime(1);
        let (end, runs) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let hog = {
            let (end, runs) = (Arc::clone(&end), Arc::clone(&runs));
            runtime.go(move || {
                while !end.load(Relaxed) {
                    runs.fetch_add(1, Relaxed);
                }
            })
        };
        // It has lost its P as soon as another has run.
        runtime.go(|| ()).join().expect("a value");
        let ender = std::thread::spawn({
            let end = Arc::clone(&end);
            move || {
                std::thread::sleep(Duration::from_millis(30));
                end.store(true, SeqCst);
            }
        });
        let moved = runtime.stop_the_world(|| {
            let before = runs.load(Relaxed);
            std::thread::sleep(Duration::from_millis(5));
            runs.load(Relaxed) - before
        });
        assert_eq!(moved.expect("not nested"), 0, "a task ran while the world was stopped");
        assert!(end.load(SeqCst), "the stop did not wait for the hog");
        ender.join().expect("no panic");
        hog.join().expect("a value");
    }

    #[test]
    fn that_blocks_its_thread_without_saying_so_is_one_too() {
        let runtime = runtime(1);
        let slow = runtime.spawn(async { std::thread::sleep(Duration::from_millis(300)) });
        let began = Instant::now();
        runtime.spawn(async {}).join().expect("a value");
        assert!(!slow.is_finished() || began.elapsed() < Duration::from_millis(250), "it held up the other");
        slow.join().expect("a value");
    }

    #[test]
    fn uses_everything_of_the_runtime_without_a_p() {
        let runtime = runtime(2);
        let all: Vec<_> = (0..4)
            .map(|round| {
                runtime.go(move || {
                    let begin = Instant::now();
                    let mut sum = 0;
                    while begin.elapsed() < Duration::from_millis(120) {
                        let spin = Instant::now();
                        while spin.elapsed() < Duration::from_millis(24) {
                            std::hint::spin_loop();
                        }
                        sum += match round {
                            0 => go(|| 1).join().expect("a value"),
                            1 => spinpark::syscall(|| 1),
                            2 => spinpark::stop_the_world(|| 1).expect("not nested"),
                            _ => {
                                yield_now().wait();
                                time::sleep(Duration::from_micros(10)).wait();
                                1
                            }
                        };
                    }
                    sum
                })
            })
            .collect();
        for goroutine in all {
            assert!(goroutine.join().expect("a value") > 0);
        }
    }
}
