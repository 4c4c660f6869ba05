//! Futures as tasks. A module names the property, a function the situation.

use spinpark::{
    Handle, JoinError, JoinHandle, LocalSet, NotInRuntime, Runtime, go, spawn, stop_the_world, syscall, time,
    try_spawn, yield_now,
};
use std::cell::Cell;
use std::future::{Future, pending, poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

fn with_procs(n: usize) -> Runtime {
    Runtime::builder().procs(n).build().expect("a runtime")
}

/// A door that futures wait at until it is opened.
#[derive(Default)]
struct Door(Mutex<(bool, Vec<Waker>)>);

impl Door {
    fn new() -> Arc<Door> {
        Arc::default()
    }

    fn open(&self) {
        let wakers = {
            let mut inside = self.0.lock().expect("no panic");
            inside.0 = true;
            std::mem::take(&mut inside.1)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    fn waiting(&self) -> usize {
        self.0.lock().expect("no panic").1.len()
    }

    fn pass(self: Arc<Self>) -> impl Future<Output = ()> + Send {
        poll_fn(move |cx| {
            let mut inside = self.0.lock().expect("no panic");
            if inside.0 {
                return Poll::Ready(());
            }
            inside.1.push(cx.waker().clone());
            Poll::Pending
        })
    }
}

fn until(mut what: impl FnMut() -> bool) {
    while !what() {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Counts when it is dropped.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

mod a_handle_gives {
    use super::*;

    #[test]
    fn the_value_when_it_is_awaited() {
        let runtime = with_procs(2);
        let value = runtime.block_on(async { spawn(async { 6 * 7 }).await }).expect("no deadlock");
        assert_eq!(value.expect("a value"), 42);
    }

    #[test]
    fn the_value_when_it_is_joined_by_a_thread() {
        assert_eq!(with_procs(1).spawn(async { 42 }).join().expect("a value"), 42);
    }

    #[test]
    fn the_value_of_a_closure_too() {
        let runtime = with_procs(1);
        assert_eq!(runtime.block_on(async { go(|| 42).await }).expect("no deadlock").expect("a value"), 42);
    }

    #[test]
    fn the_value_of_a_task_that_waited() {
        let (runtime, door) = (with_procs(1), Door::new());
        let task = runtime.spawn({
            let door = Arc::clone(&door);
            async move {
                door.pass().await;
                7
            }
        });
        until(|| door.waiting() == 1);
        assert!(!task.is_finished());
        door.open();
        assert_eq!(task.join().expect("a value"), 7);
    }

    #[test]
    fn the_values_of_a_tree() {
        fn tree(depth: u32) -> Pin<Box<dyn Future<Output = u32> + Send>> {
            Box::pin(async move {
                if depth == 0 {
                    return 1;
                }
                let (left, right) = (spawn(tree(depth - 1)), spawn(tree(depth - 1)));
                left.await.expect("a value") + right.await.expect("a value")
            })
        }
        for procs in 1..=3 {
            assert_eq!(with_procs(procs).spawn(tree(10)).join().expect("a value"), 1 << 10);
        }
    }

    #[test]
    fn the_panic_as_it_was() {
        let runtime = with_procs(1);
        let task: JoinHandle<()> = runtime.spawn(async { panic_any(17_u8) });
        match task.join() {
            Err(JoinError::Panicked(panic)) => assert_eq!(*panic.into_payload().downcast::<u8>().expect("a u8"), 17),
            other => panic!("no panic: {other:?}"),
        }
    }

    #[test]
    fn the_panic_or_says_that_it_is_none() {
        let runtime = with_procs(1);
        let panicked = runtime.spawn(async { panic_any(17_u8) }).join().expect_err("it panics");
        assert!(panicked.is_panic() && !panicked.is_cancelled());
        assert_eq!(*panicked.into_panic().downcast::<u8>().expect("a u8"), 17);
        let aborted = runtime.spawn(pending::<()>());
        aborted.abort();
        let aborted = aborted.join().expect_err("it was aborted");
        assert!(aborted.is_cancelled() && !aborted.is_panic());
        let aborted = aborted.try_into_panic().expect_err("it is no panic");
        let caught = catch_unwind(AssertUnwindSafe(|| aborted.into_panic()));
        let message = caught.expect_err("it panics").downcast::<String>().expect("text");
        assert_eq!(*message, "JoinError::into_panic: it is no panic: task was aborted");
    }

    #[test]
    fn the_value_to_a_strangers_executor() {
        let runtime = with_procs(2);
        let task = runtime.spawn(async {
            time::sleep(Duration::from_millis(2)).await;
            5
        });
        assert_eq!(futures_lite::future::block_on(task).expect("a value"), 5);
    }
}

mod a_future {
    use super::*;

    #[test]
    fn is_dropped_before_its_value_is_given() {
        let (runtime, dropped) = (with_procs(1), Arc::new(AtomicUsize::new(0)));
        struct Holds(#[expect(dead_code, reason = "it is dropped")] Counted);
        impl Future for Holds {
            type Output = u32;
            fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<u32> {
                Poll::Ready(3)
            }
        }
        for n in 1..=100 {
            let task = runtime.spawn(Holds(Counted(Arc::clone(&dropped))));
            assert_eq!(task.join().expect("a value"), 3);
            assert_eq!(dropped.load(SeqCst), n, "the value was given while the future still had its own");
        }
    }
}

mod an_aborted_task {
    use super::*;

    #[test]
    fn is_dropped_where_it_waits_and_says_so() {
        let (runtime, door, dropped) = (with_procs(1), Door::new(), Arc::new(AtomicUsize::new(0)));
        let task = runtime.spawn({
            let (door, counted) = (Arc::clone(&door), Counted(Arc::clone(&dropped)));
            async move {
                let _counted = counted;
                door.pass().await;
            }
        });
        until(|| door.waiting() == 1);
        task.abort();
        task.abort();
        assert!(matches!(task.join(), Err(JoinError::Aborted)));
        assert_eq!(dropped.load(SeqCst), 1, "its future is still there");
    }

    #[test]
    fn that_has_ended_keeps_its_value() {
        let runtime = with_procs(1);
        let task = runtime.spawn(ready(3));
        until(|| task.is_finished());
        task.abort();
        assert_eq!(task.join().expect("a value"), 3);
    }

    #[test]
    fn that_never_ran_does_not_run() {
        let (runtime, ran) = (with_procs(1), Arc::new(AtomicBool::new(false)));
        let (release, released) = mpsc::channel::<()>();
        let hog = runtime.go(move || released.recv().is_err());
        let task = runtime.spawn({
            let ran = Arc::clone(&ran);
            async move { ran.store(true, SeqCst) }
        });
        task.abort();
        drop(release);
        assert!(matches!(task.join(), Err(JoinError::Aborted)));
        hog.join().expect("a value");
        assert!(!ran.load(SeqCst));
    }

    #[test]
    fn can_be_awaited_by_another_task() {
        let runtime = with_procs(2);
        let outcome = runtime.block_on(async {
            let task = spawn(pending::<()>());
            yield_now().await;
            task.abort();
            task.await
        });
        assert!(matches!(outcome.expect("no deadlock"), Err(JoinError::Aborted)));
    }
}

mod a_woken_task {
    use super::*;

    #[test]
    fn runs_next_on_the_p_that_woke_it() {
        // One P, so the order is determined: a woken task overtakes those in the ring.
        let (runtime, door) = (Runtime::builder().procs(1).build().expect("a runtime"), Door::new());
        let order = Arc::new(Mutex::new(Vec::new()));
        let note = |name: &'static str| {
            let order = Arc::clone(&order);
            move || order.lock().expect("no panic").push(name)
        };
        let (woken, queued, waker) = (note("woken"), note("queued"), note("waker"));
        runtime
            .block_on(async {
                let waits = spawn({
                    let door = Arc::clone(&door);
                    async move {
                        door.pass().await;
                        woken();
                    }
                });
                until(|| door.waiting() == 1);
                let root = spawn(async move {
                    let in_ring = [spawn(async move { queued() }), spawn(async {})];
                    door.open();
                    waker();
                    for task in in_ring {
                        task.await.expect("a value");
                    }
                });
                root.await.expect("a value");
                waits.await.expect("a value");
            })
            .expect("no deadlock");
        assert_eq!(*order.lock().expect("no panic"), ["waker", "woken", "queued"]);
    }

    #[test]
    fn can_be_woken_by_any_thread_as_often_as_one_likes() {
        let (runtime, polls) = (with_procs(2), Arc::new(AtomicUsize::new(0)));
        let place: Arc<Mutex<Option<Waker>>> = Arc::default();
        let stop = Arc::new(AtomicBool::new(false));
        let task = runtime.spawn({
            let (place, polls, stop) = (Arc::clone(&place), Arc::clone(&polls), Arc::clone(&stop));
            poll_fn(move |cx| {
                polls.fetch_add(1, SeqCst);
                place.lock().expect("no panic").get_or_insert_with(|| cx.waker().clone());
                if stop.load(SeqCst) { Poll::Ready(()) } else { Poll::Pending }
            })
        });
        until(|| place.lock().expect("no panic").is_some());
        let waker = place.lock().expect("no panic").clone().expect("a waker");
        thread::scope(|scope| {
            for _ in 0..3 {
                let waker = waker.clone();
                scope.spawn(move || (0..1000).for_each(|_| waker.wake_by_ref()));
            }
        });
        stop.store(true, SeqCst);
        waker.wake();
        task.join().expect("a value");
        assert!(polls.load(SeqCst) >= 2);
    }

    /// Another thread wakes it while it is polled, by a waker that is gone then. It says so when it is polled again.
    fn woken_while_polled(again: &Arc<AtomicBool>) -> impl Future<Output = ()> + Send + 'static {
        let (again, mut is_first) = (Arc::clone(again), true);
        poll_fn(move |cx| {
            if !std::mem::take(&mut is_first) {
                again.store(true, SeqCst);
                return Poll::Ready(());
            }
            let waker = cx.waker().clone();
            thread::scope(|scope| drop(scope.spawn(|| waker.wake())));
            Poll::Pending
        })
    }

    #[test]
    fn is_polled_once_more_though_nobody_awaits_it() {
        let (runtime, again) = (with_procs(2), Arc::new(AtomicBool::new(false)));
        drop(runtime.spawn(woken_while_polled(&again)));
        until(|| again.load(SeqCst));
        let (local, again) = (LocalSet::new(), Arc::new(AtomicBool::new(false)));
        drop(local.spawn_local(woken_while_polled(&again)));
        let has_come = async {
            while !again.load(SeqCst) {
                yield_now().await;
            }
        };
        runtime.block_on(local.run_until(has_come)).expect("no deadlock");
    }

    /// Wakes the task that awaits one that ends: its handle is dropped, so its memory is free; a new task lies there, waits, and is woken
    /// by the thread that has just run the old one.
    struct Reuses {
        handle: spinpark::Handle,
        ended: Mutex<Option<(spinpark::JoinHandle<()>, Waker)>>,
        is_same: AtomicBool,
        told: mpsc::SyncSender<()>,
    }

    /// Its first poll gives its waker away, and waits until `may_go_on`; it is ready then, or in its second poll.
    fn gives_its_waker(
        place: &Arc<Mutex<Option<Waker>>>,
        may_go_on: &Arc<AtomicBool>,
        told: Option<mpsc::SyncSender<()>>,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (place, may_go_on, mut is_first) = (Arc::clone(place), Arc::clone(may_go_on), true);
        poll_fn(move |cx| {
            if std::mem::take(&mut is_first) {
                *place.lock().expect("no panic") = Some(cx.waker().clone());
                until(|| may_go_on.load(SeqCst));
                return if told.is_some() { Poll::Pending } else { Poll::Ready(()) };
            }
            told.iter().for_each(|told| told.send(()).expect("the test waits"));
            Poll::Ready(())
        })
    }

    fn given(place: &Mutex<Option<Waker>>) -> Waker {
        until(|| place.lock().expect("no panic").is_some());
        place.lock().expect("no panic").take().expect("it is there")
    }

    impl Wake for Reuses {
        fn wake(self: Arc<Self>) {
            let (ended, old) = self.ended.lock().expect("no panic").take().expect("one has ended");
            let address = old.data();
            drop((ended, old));
            let (place, may_go_on) = (Arc::default(), Arc::new(AtomicBool::new(true)));
            drop(self.handle.spawn(gives_its_waker(&place, &may_go_on, Some(self.told.clone()))));
            let new = given(&place);
            self.is_same.store(new.data() == address, SeqCst);
            new.wake_by_ref();
        }
    }

    #[test]
    fn is_no_other_than_the_one_whose_memory_it_has() {
        let runtime = with_procs(2);
        let is_same = |_| {
            let (told, tells) = mpsc::sync_channel(1);
            let (place, may_go_on) = (Arc::default(), Arc::new(AtomicBool::new(false)));
            let mut task = runtime.spawn(gives_its_waker(&place, &may_go_on, None));
            let waker = given(&place);
            let (handle, ended, is_same) = (runtime.handle(), Mutex::new(None), AtomicBool::new(false));
            let reuses = Arc::new(Reuses { handle, ended, is_same, told });
            let awaits = Waker::from(Arc::clone(&reuses));
            assert!(Pin::new(&mut task).poll(&mut Context::from_waker(&awaits)).is_pending());
            *reuses.ended.lock().expect("no panic") = Some((task, waker));
            may_go_on.store(true, SeqCst);
            tells.recv_timeout(Duration::from_secs(20)).expect("a task that was woken is polled once more");
            reuses.is_same.load(SeqCst)
        };
        assert!((0..50).any(is_same), "the allocator never gives the same memory again");
    }

    #[test]
    fn after_shutdown_does_not_run_and_harms_nobody() {
        let (runtime, door, dropped) = (with_procs(1), Door::new(), Arc::new(AtomicUsize::new(0)));
        let task = runtime.spawn({
            let (door, counted) = (Arc::clone(&door), Counted(Arc::clone(&dropped)));
            async move {
                door.pass().await;
                drop(counted);
            }
        });
        until(|| door.waiting() == 1);
        drop(runtime);
        assert_eq!(dropped.load(SeqCst), 1, "a task that waits outlives its runtime");
        door.open();
        assert!(matches!(task.join(), Err(JoinError::ShutDown)));
    }
}

mod a_joiner {
    use super::*;

    /// How often `future` is polled, on one P.
    fn polls<F: Future<Output: Send + 'static> + Send + 'static>(future: F) -> usize {
        let polls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&polls);
        let mut future = Box::pin(future);
        let counts = poll_fn(move |cx| {
            counted.fetch_add(1, SeqCst);
            future.as_mut().poll(cx)
        });
        with_procs(1).spawn(counts).join().expect("no panic");
        polls.load(SeqCst)
    }

    #[test]
    fn of_hundreds_that_end_in_a_row_comes_to_its_turn_and_finds_many_ended() {
        let polls = polls(async {
            let tasks: Vec<_> = (0..200).map(|number| spawn(async move { number })).collect();
            for (number, task) in tasks.into_iter().enumerate() {
                assert_eq!(task.await.expect("no panic"), number);
            }
        });
        assert!(polls < 40, "200 tasks were joined in {polls} polls");
    }

    /// Another task that yields has few turns meanwhile: each time the first goes on before it.
    #[test]
    fn that_spawns_each_before_it_joins_it_runs_next() {
        let (turns, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (counted, until) = (Arc::clone(&turns), Arc::clone(&over));
        let runtime = with_procs(1);
        let joins = runtime.spawn(async move {
            let another = spawn(async move {
                while !until.load(SeqCst) {
                    counted.fetch_add(1, SeqCst);
                    yield_now().await;
                }
            });
            for _ in 0..200 {
                spawn(async {}).await.expect("no panic");
            }
            over.store(true, SeqCst);
            another.await.expect("no panic");
        });
        joins.join().expect("no panic");
        let turns = turns.load(SeqCst);
        assert!(turns < 100, "another task had {turns} turns beside 200 joins");
    }
}

mod yielding {
    use super::*;

    #[test]
    fn lets_the_others_run() {
        let runtime = with_procs(1);
        let turns = Arc::new(Mutex::new(Vec::new()));
        let task = |name: u32| {
            let turns = Arc::clone(&turns);
            async move {
                for _ in 0..3 {
                    turns.lock().expect("no panic").push(name);
                    yield_now().await;
                }
            }
        };
        let (one, two) = (task(1), task(2));
        let root = runtime.spawn(async move {
            let tasks = [spawn(one), spawn(two)];
            for task in tasks {
                task.await.expect("a value");
            }
        });
        root.join().expect("a value");
        let turns = turns.lock().expect("no panic").clone();
        assert!(turns == [2, 1, 2, 1, 2, 1] || turns == [1, 2, 1, 2, 1, 2], "{turns:?}");
    }

    /// In order: behind those that wait, and before those that come later.
    #[test]
    fn does_not_starve_what_was_spawned_in_a_task_though_nothing_may_overtake() {
        let runtime = Runtime::builder().procs(1).inherit_at_most(0).build().expect("a runtime");
        let stop = Arc::new(AtomicBool::new(false));
        let yields = |stop: Arc<AtomicBool>| async move {
            for _ in 0..10_000 {
                if stop.load(SeqCst) {
                    return true;
                }
                yield_now().await;
            }
            false
        };
        let root = runtime.spawn(async move {
            let all: Vec<_> = (0..2).map(|_| spawn(yields(Arc::clone(&stop)))).collect();
            yield_now().await;
            spawn(async move { stop.store(true, SeqCst) }).await.expect("no panic");
            let mut done = Vec::new();
            for task in all {
                done.push(task.await.expect("no panic"));
            }
            done
        });
        assert_eq!(root.join().expect("no panic"), [true, true], "they saw that it ran");
    }

    /// Go: a preempted G goes to the global queue's tail, `gopreempt_m`. Else they would wait for the 61st dispatch.
    #[test]
    fn after_a_whole_slice_lets_those_run_too_that_come_from_outside() {
        let runtime = Runtime::builder()
            .procs(1)
            .preemption(false)
            .time_slice(Duration::from_millis(2))
            .build()
            .expect("a runtime");
        let (turns, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let hogs: Vec<_> = (0..3)
            .map(|_| {
                let (turns, stop) = (Arc::clone(&turns), Arc::clone(&stop));
                runtime.spawn(async move {
                    while !stop.load(SeqCst) {
                        turns.fetch_add(1, SeqCst);
                        let since = Instant::now();
                        while since.elapsed() < Duration::from_millis(8) {
                            std::hint::spin_loop();
                        }
                        yield_now().await;
                    }
                })
            })
            .collect();
        while turns.load(SeqCst) < 6 {
            thread::sleep(Duration::from_millis(1));
        }
        for _ in 0..3 {
            let (before, seen) = (turns.load(SeqCst), Arc::clone(&turns));
            let meanwhile = runtime.spawn(async move { seen.load(SeqCst) - before }).join().expect("no panic");
            assert!(meanwhile <= 12, "{meanwhile} slices of three others before its turn");
        }
        stop.store(true, SeqCst);
        hogs.into_iter().for_each(|hog| hog.join().expect("no panic"));
    }

    #[test]
    fn does_not_starve_the_global_queue() {
        let (runtime, stop) = (with_procs(1), Arc::new(AtomicBool::new(false)));
        let hog = runtime.spawn({
            let stop = Arc::clone(&stop);
            async move {
                while !stop.load(SeqCst) {
                    yield_now().await;
                }
            }
        });
        runtime.spawn(async move { stop.store(true, SeqCst) }).join().expect("a value");
        hog.join().expect("a value");
    }
}

mod block_on {
    use super::*;

    #[test]
    fn runs_a_future_that_is_not_send() {
        let local = Rc::new(Cell::new(1));
        with_procs(1)
            .block_on(async {
                yield_now().await;
                local.set(local.get() + 1);
            })
            .expect("no deadlock");
        assert_eq!(local.get(), 2);
    }

    #[test]
    fn inside_of_a_task_lets_others_run() {
        let runtime = with_procs(1);
        let handle = runtime.handle();
        let task = runtime.go(move || handle.block_on(async { spawn(async { 9 }).await }));
        assert_eq!(task.join().expect("a value").expect("no deadlock").expect("a value"), 9);
    }

    #[test]
    fn carries_the_panic_of_its_future() {
        let runtime = with_procs(1);
        let outcome = catch_unwind(AssertUnwindSafe(|| runtime.block_on(async { panic!("mine") })));
        assert!(outcome.is_err());
        // Nothing is left of it: outside is outside.
        let _: NotInRuntime = try_spawn(ready(())).expect_err("it spawned somewhere");
        assert_eq!(runtime.spawn(ready(1)).join().expect("a value"), 1);
    }

    #[test]
    fn by_many_threads_at_once() {
        let runtime = Arc::new(with_procs(2));
        let threads: Vec<_> = (0..4_u64)
            .map(|n| {
                let runtime = Arc::clone(&runtime);
                thread::spawn(move || {
                    runtime.block_on(async move {
                        time::sleep(Duration::from_millis(n)).await;
                        spawn(ready(n)).await.expect("a value")
                    })
                })
            })
            .collect();
        for (n, thread) in threads.into_iter().enumerate() {
            assert_eq!(thread.join().expect("no panic").expect("no deadlock"), n as u64);
        }
    }
}

mod from_inside_of_a_task {
    use super::*;

    #[test]
    fn system_calls_and_stops_of_the_world_work() {
        let runtime = with_procs(2);
        let sum = runtime
            .block_on(async {
                let read = spawn(async { syscall(|| std::fs::read("Cargo.toml").map(|text| text.len())) });
                let stopped = spawn(async { stop_the_world(|| 5).expect("a world") });
                read.await.expect("a value").expect("a file") + stopped.await.expect("a value")
            })
            .expect("no deadlock");
        assert!(sum > 5);
    }

    #[test]
    fn a_closure_can_join_a_future() {
        let runtime = with_procs(1);
        let task = runtime.go(|| {
            spawn(async {
                time::sleep(Duration::from_millis(3)).await;
                11
            })
            .join()
        });
        assert_eq!(task.join().expect("a value").expect("a value"), 11);
    }
}

mod outside_of_a_runtime {
    use super::*;

    #[test]
    fn spawn_says_what_to_do() {
        let _: NotInRuntime = try_spawn(ready(())).expect_err("it spawned somewhere");
        let panic = catch_unwind(|| drop(spawn(ready(())))).expect_err("a panic");
        let text = panic.downcast_ref::<String>().expect("text");
        assert!(text.contains("outside of a task") && text.contains("Handle"), "{text}");
    }

    #[test]
    fn a_panic_names_what_was_called() {
        fn polls(future: impl Future) {
            futures_lite::future::block_on(future);
        }
        let calls: [(&str, fn()); 8] = [
            ("spinpark::spawn was called", || drop(spawn(ready(())))),
            ("spinpark::go was called", || drop(go(|| ()))),
            ("spinpark::scope was called", || spinpark::scope(|_| ())),
            ("spinpark::Handle::current was called", || drop(Handle::current())),
            ("a timer (sleep, timeout or interval) was polled", || polls(time::sleep(Duration::from_secs(1)))),
            ("a timer (sleep, timeout or interval) was polled", || {
                polls(time::timeout(Duration::from_secs(1), std::future::pending::<()>()));
            }),
            ("a timer (sleep, timeout or interval) was polled", || {
                polls(time::interval_at(std::time::Instant::now() + Duration::from_secs(1), Duration::MAX).tick());
            }),
            ("spinpark::spawn was called", || drop(spinpark::JoinSet::new().spawn(ready(())))),
        ];
        for (what, call) in calls {
            let panic = catch_unwind(call).expect_err(what);
            let text = panic.downcast_ref::<String>().expect("text");
            assert!(text.starts_with(&format!("{what} outside of a task: ")), "{text}");
            assert_eq!(
                text.contains("a Runtime or a Handle"),
                text.starts_with("spinpark::") && !text.contains("current"),
                "{text}"
            );
        }
    }

    #[test]
    fn an_error_names_what_was_called() {
        use spinpark::net::{TcpListener, TcpStream, UdpSocket};
        let error = |result: std::io::Result<()>| result.expect_err("outside").to_string();
        let block_on = |future: std::pin::Pin<Box<dyn Future<Output = std::io::Result<()>>>>| {
            error(futures_lite::future::block_on(future))
        };
        let address = "127.0.0.1:0";
        let errors = [
            ("spinpark::try_spawn", try_spawn(ready(())).expect_err("outside").to_string()),
            ("spinpark::try_go", spinpark::try_go(|| ()).expect_err("outside").to_string()),
            ("spinpark::Handle::try_current", Handle::try_current().expect_err("outside").to_string()),
            ("spinpark::lock_thread", spinpark::lock_thread().expect_err("outside").to_string()),
            ("spinpark::stop_the_world", stop_the_world(|| ()).expect_err("outside").to_string()),
            ("TcpListener::bind", block_on(Box::pin(async move { TcpListener::bind(address).await.map(drop) }))),
            ("TcpStream::connect", block_on(Box::pin(async move { TcpStream::connect(address).await.map(drop) }))),
            ("UdpSocket::bind", block_on(Box::pin(async move { UdpSocket::bind(address).await.map(drop) }))),
            #[cfg(unix)]
            ("UnixStream::pair", error(spinpark::net::unix::UnixStream::pair().map(drop))),
            #[cfg(unix)]
            ("pipe", error(spinpark::io::pipe().map(drop))),
            #[cfg(unix)]
            ("AsyncFd::new", error(spinpark::io::AsyncFd::new(std::io::stdin()).map(drop))),
        ];
        for (what, text) in errors {
            assert!(text.starts_with(&format!("{what} was called outside of a task: ")), "{text}");
        }
    }
}

mod a_local_set {
    use super::*;

    #[test]
    fn runs_tasks_that_share_without_locks() {
        let (runtime, local, sum) = (with_procs(2), LocalSet::new(), Rc::new(Cell::new(0)));
        runtime
            .block_on(local.run_until(async {
                let add = |n: u32| {
                    let sum = Rc::clone(&sum);
                    local.spawn_local(async move {
                        let before = sum.get();
                        sum.set(before + n);
                        time::sleep(Duration::from_millis(1)).await;
                        n
                    })
                };
                let tasks: Vec<_> = (1..=10).map(add).collect();
                for (n, task) in (1..=10).zip(tasks) {
                    assert_eq!(task.await.expect("a value"), n);
                }
            }))
            .expect("no deadlock");
        assert_eq!(sum.get(), 55);
    }

    #[test]
    fn is_woken_by_other_threads() {
        let (runtime, local, door) = (with_procs(1), LocalSet::new(), Door::new());
        runtime
            .block_on(local.run_until(async {
                let task = local.spawn_local(Arc::clone(&door).pass());
                let opens = spawn(async move {
                    until(|| door.waiting() == 1);
                    door.open();
                });
                task.await.expect("a value");
                opens.await.expect("a value");
            }))
            .expect("no deadlock");
    }

    /// Runs `both` as two tasks of another set, so that each has a waker of its own.
    fn in_two_tasks(both: [Pin<Box<dyn Future<Output = ()>>>; 2]) {
        let (runtime, outer) = (with_procs(1), LocalSet::new());
        let ends = outer.run_until(async {
            let tasks = both.map(|future| outer.spawn_local(future));
            for task in tasks {
                time::timeout(Duration::from_secs(20), task).await.expect("it hangs").expect("a value");
            }
        });
        runtime.block_on(ends).expect("no deadlock");
    }

    #[test]
    fn that_is_run_by_two_goes_on_when_one_of_them_has_ended() {
        for first_ends in [true, false] {
            let local = Rc::new(LocalSet::new());
            let waits = {
                let local = Rc::clone(&local);
                async move {
                    let task = local.spawn_local(time::sleep(Duration::from_millis(20)));
                    local.run_until(task).await.expect("a value");
                }
            };
            let ends = async move { local.run_until(time::sleep(Duration::from_millis(1))).await };
            match first_ends {
                true => in_two_tasks([Box::pin(ends), Box::pin(waits)]),
                false => in_two_tasks([Box::pin(waits), Box::pin(ends)]),
            }
        }
    }

    #[test]
    fn that_is_run_by_two_goes_on_when_one_of_them_is_given_up() {
        let local = Rc::new(LocalSet::new());
        let waits = {
            let local = Rc::clone(&local);
            async move {
                for _ in 0..20 {
                    let task = local.spawn_local(time::sleep(Duration::from_millis(2)));
                    local.run_until(task).await.expect("a value");
                }
            }
        };
        let gives_up = async move {
            for n in 0..20 {
                let run = local.run_until(pending::<()>());
                time::timeout(Duration::from_micros(500 * n), run).await.expect_err("it never ends");
            }
        };
        in_two_tasks([Box::pin(waits), Box::pin(gives_up)]);
    }

    #[test]
    fn that_is_dropped_drops_its_tasks() {
        let (runtime, local, dropped) = (with_procs(1), LocalSet::new(), Arc::new(AtomicUsize::new(0)));
        let (waits, queued) = (Counted(Arc::clone(&dropped)), Counted(Arc::clone(&dropped)));
        let waits = runtime.block_on(local.run_until(async {
            let task = local.spawn_local(async move {
                let _waits = waits;
                pending::<()>().await;
            });
            yield_now().await;
            yield_now().await;
            [task]
        }));
        let [waits] = waits.expect("no deadlock");
        drop(local.spawn_local(async move { drop(queued) }));
        drop(local);
        assert_eq!(dropped.load(SeqCst), 2);
        assert!(matches!(waits.join(), Err(JoinError::ShutDown)));
    }

    #[test]
    fn carries_a_panic_to_the_handle() {
        let (runtime, local) = (with_procs(1), LocalSet::new());
        let outcome = runtime.block_on(local.run_until(local.spawn_local(async { panic!("mine") })));
        let outcome: Result<(), _> = outcome.expect("no deadlock");
        assert!(matches!(outcome, Err(JoinError::Panicked(panic)) if panic.message() == Some("mine")));
    }
}

mod nobody_is_harmed {
    use super::*;

    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("a destructor that panics");
        }
    }

    /// It still runs tasks, all of its Ps do.
    fn still_works(runtime: &Runtime) {
        let tasks: Vec<_> = (0..100).map(|n| runtime.spawn(async move { n })).collect();
        assert_eq!(tasks.into_iter().map(|task| task.join().expect("a value")).sum::<u32>(), 4950);
    }

    #[test]
    fn by_a_future_whose_destructor_panics() {
        struct Ready(Bomb);
        impl Future for Ready {
            type Output = u32;
            fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<u32> {
                Poll::Ready(3)
            }
        }
        let runtime = with_procs(2);
        for _ in 0..20 {
            assert_eq!(runtime.spawn(Ready(Bomb)).join().expect("the value stands"), 3);
        }
        still_works(&runtime);
    }

    #[test]
    fn by_an_aborted_future_whose_destructor_panics() {
        let runtime = with_procs(1);
        let bomb = Bomb;
        let task = runtime.spawn(async move {
            let _bomb = bomb;
            pending::<()>().await;
        });
        task.abort();
        assert!(matches!(task.join(), Err(JoinError::Aborted)));
        still_works(&runtime);
    }

    #[test]
    fn by_a_value_that_nobody_takes() {
        let runtime = with_procs(1);
        drop(runtime.spawn(async { Bomb }));
        drop(runtime.go(|| Bomb));
        still_works(&runtime);
    }

    #[test]
    fn by_a_value_that_nobody_takes_and_whose_destructor_counts() {
        let (runtime, dropped) = (with_procs(1), Arc::new(AtomicUsize::new(0)));
        let value = || Counted(Arc::clone(&dropped));
        // Before it has ended, and after.
        let (kept, let_go) = (value(), value());
        drop(runtime.spawn(async move { let_go }));
        let task = runtime.spawn(async move { kept });
        until(|| task.is_finished());
        drop(task);
        until(|| dropped.load(SeqCst) == 2);
    }

    #[test]
    fn by_a_panic_that_panics() {
        let runtime = with_procs(1);
        drop(runtime.spawn(async { panic_any(Bomb) }));
        still_works(&runtime);
    }

    struct PanickingWaker;

    impl Wake for PanickingWaker {
        fn wake(self: Arc<Self>) {
            panic!("a waker that panics");
        }
    }

    #[test]
    fn by_a_waker_that_panics() {
        let (runtime, door) = (with_procs(1), Door::new());
        let mut task = runtime.spawn(Arc::clone(&door).pass());
        until(|| door.waiting() == 1);
        let waker = Waker::from(Arc::new(PanickingWaker));
        assert!(Pin::new(&mut task).poll(&mut Context::from_waker(&waker)).is_pending());
        door.open();
        until(|| task.is_finished());
        still_works(&runtime);
    }

    #[test]
    fn by_a_timer_whose_waker_panics() {
        let runtime = with_procs(1);
        let mut sleep = Box::pin(time::sleep(Duration::from_millis(1)));
        runtime
            .block_on(
                poll_fn(|_| {
                    let waker = Waker::from(Arc::new(PanickingWaker));
                    sleep.as_mut().poll(&mut Context::from_waker(&waker))
                })
                .or_yield(),
            )
            .expect("no deadlock");
        thread::sleep(Duration::from_millis(5));
        still_works(&runtime);
    }

    /// Polls once, whatever comes.
    trait OrYield: Future + Sized {
        fn or_yield(self) -> impl Future<Output = ()>;
    }

    impl<F: Future> OrYield for F {
        fn or_yield(self) -> impl Future<Output = ()> {
            let mut future = Box::pin(self);
            poll_fn(move |cx| {
                let _ = future.as_mut().poll(cx);
                Poll::Ready(())
            })
        }
    }
}
