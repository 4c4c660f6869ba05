//! How code of a task may wait: with its P, without, on a stack of its own or its thread's; while it is preempted; and when
//! the runtime is shut down.

#![cfg(target_os = "linux")]

use spinpark::chan::bounded;
use spinpark::{Builder, Handle, JoinError, LocalSet, Runtime, Wait, blocking, go, lock_thread, spawn, syscall, time};
use std::cell::{Cell, RefCell};
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

#[allow(unsafe_code)]
fn stackful() -> Builder {
    // SAFETY: what runs on these holds nothing of its thread across a wait.
    unsafe { Runtime::builder().stackful_goroutines() }
}

/// Both kinds of goroutines.
const KINDS: [fn() -> Builder; 2] = [Runtime::builder, stackful];

/// Computes for so long, and looks at no request.
fn spin(time: Duration) {
    let since = Instant::now();
    while since.elapsed() < time {
        std::hint::black_box(since);
    }
}

/// A task is over a moment before its thread has a P again.
fn none_is_detached(runtime: &Runtime) {
    let since = Instant::now();
    while runtime.metrics().detached > 0 {
        assert!(since.elapsed() < Duration::from_secs(10), "one is counted for ever");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Longer than a slice, and the monitor's ticks around it.
const LONG: Duration = Duration::from_millis(40);

/// Does it end in time? What does not cannot be waited for: the test ends without it.
fn ends<T: Send + 'static>(what: &str, f: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, ended) = mpsc::channel();
    let thread = std::thread::spawn(move || drop(done.send(catch_unwind(AssertUnwindSafe(f)))));
    match ended.recv_timeout(Duration::from_secs(20)) {
        Ok(Ok(value)) => {
            thread.join().expect("it has ended");
            value
        }
        Ok(Err(payload)) => std::panic::resume_unwind(payload),
        Err(_) => panic!("{what}: it has not ended after 20 s"),
    }
}

mod on_its_threads_stack {
    use super::*;

    #[test]
    fn a_closure_stays_on_its_thread_over_every_wait() {
        let runtime = Runtime::builder().procs(4).build().expect("a runtime");
        let wanders = || {
            let here = std::thread::current().id();
            (0..50).all(|_| {
                time::sleep(Duration::from_micros(50)).wait();
                std::thread::current().id() == here
            })
        };
        let all: Vec<_> = (0..16).map(|_| runtime.go(wanders)).collect();
        assert!(all.into_iter().all(|one| one.join().expect("no panic")), "it went on on another thread");
    }

    thread_local! {
        static OWN: Rc<Cell<u64>> = Rc::new(Cell::new(0));
        static DRAWN: RefCell<u64> = const { RefCell::new(1) };
    }

    /// What a thread local lends, and clones of an `Rc` that the thread has too.
    #[test]
    fn what_belongs_to_its_thread_is_the_threads_own_after_a_wait() {
        let runtime = Runtime::builder().procs(2).thread_keep_alive(Duration::ZERO).build().expect("a runtime");
        let borrows = || {
            let mine = OWN.with(Rc::clone);
            for _ in 0..20 {
                let before = mine.get();
                OWN.with(|own| {
                    own.set(own.get() + 1);
                    time::sleep(Duration::from_micros(100)).wait();
                    assert!(Rc::ptr_eq(own, &mine), "it is another thread's");
                });
                assert_eq!(mine.get(), before + 1, "another task has counted in between");
            }
        };
        let all: Vec<_> = (0..16).map(|_| runtime.go(borrows)).collect();
        all.into_iter().for_each(|one| one.join().expect("no panic"));
    }

    /// A generator of the thread's that is held over a wait.
    #[test]
    fn no_number_of_a_threads_generator_is_drawn_twice() {
        let runtime = Runtime::builder().procs(4).build().expect("a runtime");
        let draws = || {
            let mut drawn = Vec::new();
            let thread = std::thread::current().id();
            DRAWN.with(|state| {
                for _ in 0..50 {
                    let seen = *state.borrow();
                    time::sleep(Duration::from_micros(20)).wait();
                    *state.borrow_mut() = seen + 1;
                    drawn.push((format!("{thread:?}"), seen));
                }
            });
            drawn
        };
        let all: Vec<_> = (0..16).map(|_| runtime.go(draws)).collect();
        let mut drawn: Vec<_> = all.into_iter().flat_map(|one| one.join().expect("no panic")).collect();
        let count = drawn.len();
        drawn.sort();
        drawn.dedup();
        assert_eq!(drawn.len(), count, "a number was drawn twice");
    }

    /// Tasks that are not `Send`, driven by a wait.
    #[test]
    fn tasks_of_a_local_set_stay_where_they_were_made() {
        let runtime = Runtime::builder().procs(4).build().expect("a runtime");
        let drives = || {
            let (local, here) = (LocalSet::new(), std::thread::current().id());
            let moved = Rc::new(Cell::new(0));
            let tasks: Vec<_> = (0..4)
                .map(|_| {
                    let moved = Rc::clone(&moved);
                    local.spawn_local(async move {
                        for _ in 0..20 {
                            time::sleep(Duration::from_micros(50)).await;
                            moved.set(moved.get() + u32::from(std::thread::current().id() != here));
                        }
                    })
                })
                .collect();
            let all = async {
                for task in tasks {
                    task.await.expect("no panic");
                }
            };
            local.run_until(all).wait();
            moved.get()
        };
        let all: Vec<_> = (0..16).map(|_| runtime.go(drives)).collect();
        let moved: u32 = all.into_iter().map(|one| one.join().expect("no panic")).sum();
        assert_eq!(moved, 0, "so often a task went on on another thread");
    }

    #[test]
    fn a_scope_of_threads_ends_though_its_closure_waits() {
        let sum = ends("thread::scope", || {
            let runtime = Runtime::builder().procs(4).build().expect("a runtime");
            let scope = || {
                let count = AtomicUsize::new(0);
                std::thread::scope(|scope| {
                    for _ in 0..4 {
                        scope.spawn(|| {
                            // The scope has to wait for the last of them.
                            std::thread::sleep(Duration::from_millis(5));
                            count.fetch_add(1, SeqCst)
                        });
                        time::sleep(Duration::from_micros(100)).wait();
                    }
                });
                count.into_inner()
            };
            let all: Vec<_> = (0..8).map(|_| runtime.go(scope)).collect();
            all.into_iter().map(|one| one.join().expect("no panic")).sum::<usize>()
        });
        assert_eq!(sum, 8 * 4);
    }

    #[test]
    fn others_run_under_its_p_while_it_waits() {
        let sum = ends("one P", || {
            let runtime = Runtime::builder().procs(1).build().expect("a runtime");
            let (send, receive) = bounded::<u32>(1);
            let sum = runtime.go(move || (0..100).map(|_| receive.recv().wait().expect("a number")).sum::<u32>());
            runtime.go(move || (0..100).for_each(|n| send.send(n).wait().expect("it listens")));
            sum.join().expect("no panic")
        });
        assert_eq!(sum, 4950);
    }
}

mod after_it_was_preempted {
    use super::*;

    #[test]
    fn it_can_block_on_a_future() {
        for kind in KINDS {
            let value = ends("block_on", move || {
                let runtime = kind().procs(1).build().expect("a runtime");
                let hog = runtime.go(|| {
                    spin(LONG);
                    let sleeps = async {
                        time::sleep(Duration::from_millis(1)).await;
                        spawn(async { 7 }).await.expect("no panic")
                    };
                    Handle::current().block_on(sleeps).expect("no deadlock")
                });
                let other = runtime.go(|| 1);
                (hog.join().expect("no panic"), other.join().expect("no panic"))
            });
            assert_eq!(value, (7, 1));
        }
    }

    #[test]
    fn it_can_wait_inside_of_block_on_and_its_thread_goes_on() {
        for kind in KINDS {
            ends("wait in block_on", move || {
                let runtime = kind().procs(1).build().expect("a runtime");
                for _ in 0..3 {
                    let hog = runtime.go(|| {
                        spin(LONG);
                        let waits = async { time::sleep(Duration::from_millis(1)).wait() };
                        Handle::current().block_on(waits).expect("no deadlock");
                    });
                    hog.join().expect("no panic");
                    assert_eq!(runtime.go(|| 1).join().expect("no panic"), 1, "the M has ended");
                }
            });
        }
    }

    #[test]
    fn it_can_wait_in_a_future() {
        for kind in KINDS {
            let value = ends("wait in a future", move || {
                let runtime = kind().procs(2).build().expect("a runtime");
                let task = runtime.spawn(async {
                    spin(LONG);
                    time::sleep(Duration::from_millis(1)).wait();
                    spin(LONG);
                    go(|| 3).wait().expect("no panic")
                });
                task.join().expect("no panic")
            });
            assert_eq!(value, 3);
        }
    }

    #[test]
    fn it_can_wait_while_it_is_bound_to_its_thread() {
        for kind in KINDS {
            ends("wait under lock_thread", move || {
                let runtime = kind().procs(2).build().expect("a runtime");
                let (send, receive) = bounded::<u32>(1);
                let waits = runtime.go(move || {
                    let _bound = lock_thread();
                    spin(LONG);
                    receive.recv().wait().expect("a number")
                });
                runtime.go(move || {
                    spin(LONG);
                    send.send(5).wait().expect("it listens");
                });
                assert_eq!(waits.join().expect("no panic"), 5);
            });
        }
    }

    #[test]
    fn it_can_enter_a_system_call_and_join_and_stop_the_world() {
        for kind in KINDS {
            ends("everything else", move || {
                let runtime = Arc::new(kind().procs(2).build().expect("a runtime"));
                let mine = Arc::clone(&runtime);
                let hog = runtime.go(move || {
                    spin(LONG);
                    let one = syscall(|| 1);
                    spin(LONG);
                    let two = blocking(|| 2);
                    spin(LONG);
                    let three = go(|| 3).join().expect("no panic");
                    spin(LONG);
                    let four = mine.stop_the_world(|| 4).expect("not nested");
                    spin(LONG);
                    mine.for_each_p(|_| ()).expect("not nested");
                    spin(LONG);
                    spinpark::checkpoint();
                    one + two + three + four
                });
                assert_eq!(hog.join().expect("no panic"), 10);
                none_is_detached(&runtime);
            });
        }
    }
}

mod cpu_bound_tasks {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// More of them than there may be threads for others.
    fn hogs(procs: usize, max_threads: usize, count: usize) {
        let runtime = Runtime::builder().procs(procs).max_threads(max_threads).build().expect("a runtime");
        let (stop, begun) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let all: Vec<_> = (0..count)
            .map(|_| {
                let (stop, begun) = (Arc::clone(&stop), Arc::clone(&begun));
                runtime.go(move || {
                    begun.fetch_add(1, SeqCst);
                    while !stop.load(SeqCst) {
                        std::hint::spin_loop();
                    }
                })
            })
            .collect();
        let since = Instant::now();
        while begun.load(SeqCst) < count && since.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let begun = begun.load(SeqCst);
        let ticks = runtime.spawn(async {
            for _ in 0..5 {
                time::sleep(Duration::from_millis(1)).await;
            }
            5
        });
        let trivial = runtime.go(|| 1);
        while !(ticks.is_finished() && trivial.is_finished()) && since.elapsed() < Duration::from_secs(90) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let others = (ticks.is_finished(), trivial.is_finished());
        stop.store(true, SeqCst);
        all.into_iter().for_each(|hog| hog.join().expect("no panic"));
        assert_eq!(
            (begun, others),
            (count, (true, true)),
            "of {count} so many began; the ticker and another task ended"
        );
        none_is_detached(&runtime);
    }

    /// Its P was taken, and is idle, when it spawns: all that it spawns waits under that P then, and not in the global queue.
    #[test]
    fn that_spawn_go_on_under_a_p_that_is_idle() {
        for kind in KINDS {
            let runtime = kind().procs(1).build().expect("a runtime");
            let handle = runtime.handle();
            let hog = runtime.go(move || {
                // It may be preempted again at any moment.
                (0..50).any(|_| {
                    let since = Instant::now();
                    while handle.metrics().idle_procs == 0 {
                        assert!(since.elapsed() < Duration::from_secs(20), "its P was not taken");
                    }
                    let tasks: Vec<_> = (0..100).map(|_| spawn(async {})).collect();
                    let waiting = handle.metrics().per_p[0].queue;
                    tasks.into_iter().for_each(|task| task.join().expect("no panic"));
                    waiting == 100
                })
            });
            assert!(hog.join().expect("no panic"), "it went on without a P, which was idle");
            assert!(runtime.metrics().interrupts > 0, "it never lost its P");
            none_is_detached(&runtime);
        }
    }

    #[test]
    fn as_many_as_max_threads_starve_nobody() {
        hogs(2, 16, 17);
    }

    #[test]
    fn four_times_as_many_all_go_on_beside_a_ticker() {
        hogs(2, 16, 64);
    }

    #[test]
    fn that_reach_their_own_limit_are_counted() {
        let runtime = Runtime::builder().procs(2).max_preempted_threads(1).build().expect("a runtime");
        let stop = Arc::new(AtomicBool::new(false));
        let spins = |stop: Arc<AtomicBool>| move || while !stop.load(SeqCst) {};
        let all: Vec<_> = (0..3).map(|_| runtime.go(spins(Arc::clone(&stop)))).collect();
        let since = Instant::now();
        while runtime.metrics().undetachable == 0 && since.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let metrics = runtime.metrics();
        stop.store(true, SeqCst);
        all.into_iter().for_each(|hog| hog.join().expect("no panic"));
        // Two that ask at once may both be the last one: `Sched::can_detach` says so.
        assert!(metrics.undetachable > 0 && (1..=2).contains(&metrics.interrupts), "{metrics:?}");
        none_is_detached(&runtime);
    }

    /// Two pairs that compute and pass a token each, on one P: neither gets much more than the other.
    #[test]
    fn that_pass_a_token_share_with_others() {
        for kind in KINDS {
            let counts = ends("two pairs", move || {
                let runtime = kind().procs(1).build().expect("a runtime");
                let stop = Arc::new(AtomicBool::new(false));
                let counts: Vec<_> = (0..2).map(|_| Arc::new(AtomicUsize::new(0))).collect();
                let mut all = Vec::new();
                for count in &counts {
                    let (ping, pinged) = bounded::<()>(1);
                    let (pong, ponged) = bounded::<()>(1);
                    let (done, count) = (Arc::clone(&stop), Arc::clone(count));
                    all.push(runtime.go(move || {
                        while !done.load(SeqCst) && ping.send(()).wait().is_ok() && ponged.recv().wait().is_ok() {
                            spin(Duration::from_micros(300));
                            count.fetch_add(1, SeqCst);
                        }
                    }));
                    all.push(runtime.go(move || {
                        while pinged.recv().wait().is_ok() {
                            spin(Duration::from_micros(300));
                            if pong.send(()).wait().is_err() {
                                break;
                            }
                        }
                    }));
                }
                std::thread::sleep(Duration::from_millis(2000));
                stop.store(true, SeqCst);
                all.into_iter().for_each(|one| one.join().expect("no panic"));
                counts.iter().map(|count| count.load(SeqCst)).collect::<Vec<_>>()
            });
            let (few, many) = (counts[0].min(counts[1]), counts[0].max(counts[1]));
            assert!(few > 0 && many < 20 * few, "the pairs made {counts:?} rounds");
        }
    }
}

mod when_the_runtime_is_shut_down {
    use super::*;

    /// Uses its runtime when it is dropped.
    struct Uses(mpsc::Sender<&'static str>);

    impl Drop for Uses {
        fn drop(&mut self) {
            let _task = spawn(async {});
            let _sleep = time::sleep(Duration::from_millis(1));
            let _handle = Handle::current();
            let _ = self.0.send("inside");
        }
    }

    #[test]
    fn destructors_of_what_has_not_ended_run_inside_of_it() {
        for kind in KINDS {
            let said = ends("shutdown", move || {
                let (send, receive) = mpsc::channel();
                let (ready, is_ready) = mpsc::channel();
                let runtime = kind().procs(1).build().expect("a runtime");
                let (uses, mine) = (Uses(send.clone()), ready.clone());
                runtime.go(move || {
                    let _uses = uses;
                    mine.send(()).expect("the test waits");
                    pending::<()>().wait();
                });
                let uses = Uses(send);
                runtime.spawn(async move {
                    let _uses = uses;
                    ready.send(()).expect("the test waits");
                    pending::<()>().await;
                });
                (0..2).for_each(|_| is_ready.recv().expect("it began"));
                drop(runtime);
                receive.iter().count()
            });
            assert_eq!(said, 2);
        }
    }

    #[test]
    fn a_destructor_can_still_sleep() {
        struct Sleeps(mpsc::Sender<Duration>);
        impl Drop for Sleeps {
            fn drop(&mut self) {
                let since = Instant::now();
                time::sleep(Duration::from_millis(5)).wait();
                let _ = self.0.send(since.elapsed());
            }
        }
        for kind in KINDS {
            let slept = ends("sleep in a destructor", move || {
                let (send, receive) = mpsc::channel();
                let (ready, is_ready) = mpsc::channel();
                let runtime = kind().procs(1).build().expect("a runtime");
                runtime.go(move || {
                    let _sleeps = Sleeps(send);
                    ready.send(()).expect("the test waits");
                    pending::<()>().wait();
                });
                is_ready.recv().expect("it began");
                drop(runtime);
                receive.recv().expect("it was dropped")
            });
            assert!(slept >= Duration::from_millis(5), "it slept for {slept:?}");
        }
    }

    #[test]
    fn what_catches_the_unwinding_and_waits_again_for_ever_is_left() {
        for kind in KINDS {
            ends("loop of catch_unwind", move || {
                let (ready, is_ready) = mpsc::channel();
                let runtime = kind().procs(1).build().expect("a runtime");
                let goroutine = runtime.go(move || {
                    ready.send(()).expect("the test waits");
                    loop {
                        let _ = catch_unwind(|| time::sleep(Duration::from_secs(3600)).wait());
                    }
                });
                is_ready.recv().expect("it began");
                drop(runtime);
                drop(goroutine);
            });
        }
    }

    #[test]
    fn what_waits_with_its_thread_is_unwound_and_its_handle_says_so() {
        type Wait = fn();
        let waits: [(&str, Wait); 4] = [
            ("a wait", || pending::<()>().wait()),
            ("a wait in a system call", || syscall(|| pending::<()>().wait())),
            ("a wait while bound", || {
                let _bound = lock_thread();
                pending::<()>().wait();
            }),
            ("a wait after a slice", || {
                spin(LONG);
                pending::<()>().wait();
            }),
        ];
        for kind in KINDS {
            for (what, wait) in waits {
                ends(what, move || {
                    let (ready, is_ready) = mpsc::channel();
                    let runtime = kind().procs(1).build().expect("a runtime");
                    let dropped = Arc::new(());
                    let theirs = Arc::clone(&dropped);
                    let goroutine = runtime.go(move || {
                        let _theirs = theirs;
                        ready.send(()).expect("the test waits");
                        wait();
                    });
                    is_ready.recv().expect("it began");
                    std::thread::sleep(Duration::from_millis(5));
                    drop(runtime);
                    assert_eq!(Arc::strong_count(&dropped), 1, "{what}: what it owned was not dropped");
                    let ended = goroutine.join();
                    assert!(matches!(ended, Err(JoinError::ShutDown)), "{what}: {ended:?}");
                });
            }
        }
    }

    #[test]
    fn block_on_in_a_task_is_told() {
        let told = ends("block_on in a task", || {
            let (ready, is_ready) = mpsc::channel();
            let runtime = Runtime::builder().procs(1).build().expect("a runtime");
            let task = runtime.go(move || {
                ready.send(()).expect("the test waits");
                Handle::current().block_on(pending::<()>()).expect_err("it ends").to_string()
            });
            is_ready.recv().expect("it began");
            drop(runtime);
            task.join().expect("it ended by itself")
        });
        assert!(told.contains("is being shut down"), "it said: {told}");
    }

    #[test]
    fn a_sleep_that_somebody_else_awaits_is_over_when_its_time_is() {
        let (before, during) = ends("sleeps of a runtime that is gone", || {
            let runtime = Runtime::builder().procs(1).build().expect("a runtime");
            let handle = runtime.handle();
            let other = handle.clone();
            let (ready, is_ready) = mpsc::channel();
            let sleeps = std::thread::spawn(move || {
                let since = Instant::now();
                let sleep = async {
                    ready.send(()).expect("the test waits");
                    time::sleep(Duration::from_millis(60)).await;
                };
                other.block_on(sleep).expect("no deadlock");
                since.elapsed()
            });
            is_ready.recv().expect("it began");
            std::thread::sleep(Duration::from_millis(5));
            drop(runtime);
            let since = Instant::now();
            handle.block_on(async { time::sleep(Duration::from_millis(20)).await }).expect("no deadlock");
            (since.elapsed(), sleeps.join().expect("no panic"))
        });
        assert!(before >= Duration::from_millis(20) && during >= Duration::from_millis(60), "{before:?}, {during:?}");
    }

    #[test]
    fn by_a_closure_that_it_runs_for_somebody_it_does_not_wait_for_itself() {
        ends("drop in when_idle", || {
            let runtime = Arc::new(Runtime::builder().procs(1).build().expect("a runtime"));
            let (done, is_done) = mpsc::channel();
            let mine = Arc::clone(&runtime);
            let handle = runtime.handle();
            drop(runtime);
            handle.when_idle(move || {
                drop(mine);
                done.send(()).expect("the test waits");
            });
            is_done.recv().expect("it has run");
        });
        ends("drop in for_each_p", || {
            let runtime = Arc::new(Runtime::builder().procs(2).build().expect("a runtime"));
            let handle = runtime.handle();
            let last = std::sync::Mutex::new(Some(runtime));
            handle
                .for_each_p(move |_| drop(last.lock().expect("no panic").take()))
                .expect("the world was not stopped by us");
        });
    }
}

mod a_panic {
    use super::*;

    /// What panics when it is dropped.
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                panic!("a payload panics in its turn");
            }
        }
    }

    #[test]
    fn with_a_payload_that_panics_in_its_turn_harms_nobody() {
        ends("for_each_p", || {
            let runtime = Runtime::builder().procs(2).build().expect("a runtime");
            runtime.for_each_p(|_| std::panic::panic_any(Bomb)).expect("not nested");
            runtime.when_idle(|| std::panic::panic_any(Bomb));
            drop(runtime.go(|| std::panic::panic_any(Bomb)));
            let panics = runtime.go(|| std::panic::panic_any(Bomb)).join();
            std::mem::forget(panics);
            assert_eq!(runtime.go(|| 1).join().expect("no panic"), 1);
            runtime.stop_the_world(|| ()).expect("not nested");
        });
    }
}
