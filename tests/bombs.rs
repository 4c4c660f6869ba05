//! Code of the user's that panics where the runtime calls or drops it: it harms no other task, and the runtime goes on. A module names whose
//! code it is, a function where it panics.

use spinpark::sync::{self, oneshot, watch};
use spinpark::{ErrGroup, JoinMap, JoinSet, LocalSet, Runtime, chan, go, spawn, time, yield_now};
use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::pin::Pin;
use std::process::abort;
use std::rc::Rc;
use std::sync::{Arc, Mutex, Once, mpsc};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};
use std::thread;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);
const TEXT: &str = "a bomb";

/// Panics when it is dropped.
#[derive(Clone)]
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_any(TEXT);
    }
}

/// Runs `test` with one P and with two. A test that hangs ends the process.
fn with_runtimes(test: impl Fn(&Runtime)) {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if info.payload().downcast_ref::<&str>() != Some(&TEXT) {
                usual(info);
            }
        }));
    });
    let (ended, ends) = mpsc::channel::<()>();
    let name = thread::current().name().map(str::to_owned);
    let watchdog = thread::spawn(move || {
        if ends.recv_timeout(Duration::from_secs(60)) == Err(mpsc::RecvTimeoutError::Timeout) {
            eprintln!("{name:?} hangs");
            abort();
        }
    });
    for procs in [1, 2] {
        let runtime = Runtime::builder().procs(procs).build().expect("a runtime");
        test(&runtime);
        still_works(&runtime);
        drop(runtime);
    }
    drop(ended);
    watchdog.join().expect("no panic");
}

/// All Ps still run tasks, timers fire, and the world can be stopped.
fn still_works(runtime: &Runtime) {
    let tasks: Vec<_> = (0..100).map(|n| runtime.spawn(async move { n })).collect();
    assert_eq!(tasks.into_iter().map(|task| task.join().expect("a value")).sum::<u32>(), 4950);
    runtime.block_on(time::sleep(MS)).expect("no deadlock");
    runtime.for_each_p(|_| ()).expect("it runs under each");
    runtime.stop_the_world(|| ()).expect("it stops");
    assert_eq!(runtime.snapshot().procs, runtime.procs());
}

/// For a closure that owns it.
fn owns(_: &Bomb) {}

/// Polls once.
fn poll<F: Future + ?Sized>(future: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(waker))
}

mod a_closure {
    use super::*;

    #[test]
    fn that_runs_under_each_p_and_panics() {
        with_runtimes(|runtime| runtime.for_each_p(|_| panic_any(TEXT)).expect("it runs under each"));
    }

    #[test]
    fn that_runs_under_each_p_is_dropped() {
        with_runtimes(|runtime| {
            for _ in 0..300 {
                let (mine, others) = (Bomb, Bomb);
                let handle = runtime.handle();
                let task = runtime.go(move || handle.for_each_p(move |_| owns(&others)).expect("it runs under each"));
                runtime.for_each_p(move |_| owns(&mine)).expect("it runs under each");
                task.join().expect("a value");
            }
        });
    }

    #[test]
    fn that_waits_for_an_idle_moment_panics_or_is_dropped() {
        with_runtimes(|runtime| {
            let bomb = Bomb;
            runtime.when_idle(move || drop(bomb));
            runtime.when_idle(|| panic_any(TEXT));
            // One that comes after the end.
            let bomb = Bomb;
            let closed = Runtime::builder().procs(1).build().expect("a runtime");
            let late = closed.handle();
            drop(closed);
            late.when_idle(move || drop(bomb));
        });
    }

    #[test]
    fn that_runs_when_a_thread_begins_or_ends() {
        with_runtimes(|_| {
            let (one, other) = (Bomb, Bomb);
            let on_start = move || {
                owns(&one);
                panic_any(TEXT)
            };
            let on_stop = move || {
                owns(&other);
                panic_any(TEXT)
            };
            let builder = Runtime::builder().procs(2).on_thread_start(on_start).on_thread_stop(on_stop);
            let runtime = builder.build().expect("a runtime");
            still_works(&runtime);
        });
    }

    #[test]
    fn that_stops_the_world_panics() {
        with_runtimes(|runtime| {
            let stopped = catch_unwind(AssertUnwindSafe(|| runtime.stop_the_world(|| panic_any(TEXT))));
            stopped.expect_err("the caller has its panic");
        });
    }

    #[test]
    fn that_is_a_task_and_never_starts_is_dropped() {
        with_runtimes(|runtime| {
            let bomb = Bomb;
            let task = runtime.stop_the_world(|| {
                let task = runtime.go(move || drop(bomb));
                task.abort();
                task
            });
            let _ = task.expect("it stops").join();
        });
    }
}

mod a_future {
    use super::*;

    #[test]
    fn is_aborted_or_shut_down() {
        with_runtimes(|runtime| {
            let spawn = || {
                let bombs = [Bomb];
                runtime.spawn(async move {
                    let _bombs = bombs;
                    pending::<()>().await;
                })
            };
            for _ in 0..20 {
                let task = spawn();
                task.abort();
                task.join().expect_err("it was aborted");
            }
            // The others wait until the end, or have not begun.
            (0..100).for_each(|_| drop(spawn()));
        });
    }

    #[test]
    fn of_a_scope_is_dropped() {
        with_runtimes(|runtime| {
            runtime.scope(|scope| {
                let bomb = Bomb;
                let task = scope.spawn(async move {
                    let _bomb = bomb;
                    pending::<()>().await;
                });
                task.abort();
                let _ = task.join();
            });
        });
    }

    #[test]
    fn of_a_local_set_is_dropped_with_it() {
        with_runtimes(|runtime| {
            let local = LocalSet::new();
            for waits in [true, true, false, false] {
                let bomb = (Rc::new(()), Bomb);
                drop(local.spawn_local(async move {
                    let _bomb = bomb;
                    if waits {
                        pending::<()>().await;
                    }
                }));
            }
            runtime.block_on(local.run_until(yield_now())).expect("no deadlock");
            let bomb = Bomb;
            drop(local.spawn_local(async move { drop(bomb) }));
            drop(local);
        });
    }

    #[test]
    fn has_a_task_local_value() {
        spinpark::task_local! { static VALUE: Bomb; }
        with_runtimes(|runtime| {
            let task = runtime.spawn(VALUE.scope(Bomb, pending::<()>()));
            task.abort();
            task.join().expect_err("it was aborted");
            drop(runtime.spawn(VALUE.scope(Bomb, async {})));
        });
    }
}

mod an_output {
    use super::*;

    #[test]
    fn is_not_wanted() {
        with_runtimes(|runtime| {
            drop(runtime.spawn(async { Bomb }));
            drop(runtime.go(|| [Bomb]));
            let task = runtime.spawn(async { Bomb });
            while !task.is_finished() {
                thread::yield_now();
            }
            drop(task);
        });
    }

    #[test]
    fn of_several_tasks_is_dropped_with_their_set() {
        with_runtimes(|runtime| {
            let all = async {
                let mut set = JoinSet::new();
                set.extend((0..3).map(|_| async { Bomb }));
                while !set.is_empty() && set.try_join_next().map(std::mem::forget).is_none() {
                    yield_now().await;
                }
                drop(set);
            };
            runtime.block_on(all).expect("no deadlock");
        });
    }

    #[test]
    fn of_several_tasks_is_dropped_when_their_set_or_map_is_shut_down() {
        with_runtimes(|runtime| {
            let all = async {
                let (mut set, mut map) = (JoinSet::new(), JoinMap::new());
                set.extend((0..3).map(|_| async { Bomb }));
                (0..3).for_each(|key| map.spawn(key, async { Bomb }));
                time::sleep(5 * MS).await; // some have ended
                set.shutdown().await;
                map.shutdown().await;
                assert!(set.is_empty() && map.is_empty(), "each was waited for");
            };
            runtime.block_on(all).expect("no deadlock");
        });
    }

    #[test]
    fn of_a_task_that_was_replaced_in_its_map_is_dropped() {
        with_runtimes(|runtime| {
            let all = async {
                let mut map = JoinMap::new();
                map.spawn(1, async { Some(Bomb) });
                time::sleep(5 * MS).await; // it has ended
                map.spawn(1, async { None });
                let (key, ended) = map.join_next().await.expect("one is left");
                assert!(key == 1 && ended.expect("a value").is_none(), "it is the other's");
            };
            runtime.block_on(all).expect("no deadlock");
        });
    }

    #[test]
    fn of_a_task_is_dropped_because_another_of_its_set_panicked() {
        with_runtimes(|runtime| {
            let all = async {
                let mut set = JoinSet::new();
                set.spawn(async { Bomb });
                time::sleep(5 * MS).await; // it is the first to end
                set.spawn(async { panic_any(TEXT) });
                set.join_all().await.into_iter().for_each(std::mem::forget);
            };
            let ended = catch_unwind(AssertUnwindSafe(|| runtime.block_on(all)));
            ended.expect_err("the caller gets the panic of the task");
        });
    }

    #[test]
    fn is_an_error_that_comes_after_the_first() {
        with_runtimes(|runtime| {
            let all = async {
                let mut group = ErrGroup::new();
                (0..3).for_each(|_| group.spawn(async { Err(Bomb) }));
                std::mem::forget(group.wait().await.expect_err("each fails"));
            };
            runtime.block_on(all).expect("no deadlock");
        });
    }

    #[test]
    fn is_a_panic_whose_payload_panics() {
        with_runtimes(|runtime| {
            drop(runtime.spawn(async { panic_any(Bomb) }));
            drop(runtime.go(|| panic_any(Bomb)));
            let bombs = [Bomb, Bomb];
            drop(runtime.spawn(async move {
                std::mem::forget(bombs);
                panic_any([Bomb])
            }));
        });
    }
}

mod a_value {
    use super::*;

    #[test]
    fn is_left_in_a_channel() {
        with_runtimes(|_| {
            let (sender, receiver) = chan::unbounded();
            (0..3).for_each(|_| sender.try_send(Bomb).expect("there is room"));
            drop(receiver);
            sender.try_send(Bomb).map_err(std::mem::forget).expect_err("it is closed");
            let (sender, receiver) = oneshot::channel();
            sender.send(Bomb).map_err(std::mem::forget).expect("sent");
            drop(receiver);
        });
    }

    #[test]
    fn is_overwritten_by_another() {
        with_runtimes(|_| {
            let (sender, receiver) = watch::channel(Bomb);
            sender.send(Bomb).map_err(std::mem::forget).expect("sent");
            std::mem::forget((sender, receiver));
            let (sender, receiver) = sync::broadcast::channel(2);
            (0..5).for_each(|_| assert_eq!(sender.send(Bomb).map_err(std::mem::forget), Ok(1)));
            drop(receiver);
        });
    }
}

mod an_observer {
    use super::*;
    use spinpark::runtime::{Event, Observer};

    #[test]
    fn panics_at_each_event_and_when_it_is_dropped() {
        struct Panics(#[allow(dead_code, reason = "it is dropped")] Bomb);
        impl Observer for Panics {
            fn event(&self, _: Event<'_>) {
                panic_any(TEXT);
            }
        }
        with_runtimes(|_| {
            let builder = Runtime::builder().procs(2).observer(Panics(Bomb)).observer(Panics(Bomb));
            let runtime = builder.build().expect("a runtime");
            still_works(&runtime);
        });
    }
}

mod a_waker {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    /// In which call it panics.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum In {
        Clone,
        Wake,
        Drop,
        All,
    }

    struct Place(In);

    static WAKER: RawWakerVTable = {
        fn panics(place: *const (), call: In) {
            // SAFETY: made of a place that is leaked.
            let place = unsafe { &*place.cast::<Place>() };
            if place.0 == call || place.0 == In::All {
                panic_any(TEXT);
            }
        }
        RawWakerVTable::new(
            |place| {
                // One that panics when it is dropped or called, too, is there to be.
                // SAFETY: as above.
                if unsafe { &*place.cast::<Place>() }.0 == In::Clone {
                    panics(place, In::Clone);
                }
                RawWaker::new(place, &WAKER)
            },
            |place| panics(place, In::Wake),
            |place| panics(place, In::Wake),
            |place| panics(place, In::Drop),
        )
    };

    fn waker(place: In) -> std::mem::ManuallyDrop<Waker> {
        let place: &'static Place = Box::leak(Box::new(Place(place)));
        // SAFETY: the table does what is asked for: nothing is owned.
        std::mem::ManuallyDrop::new(unsafe { Waker::new(std::ptr::from_ref(place).cast(), &WAKER) })
    }

    type Waiting = Pin<Box<dyn Future<Output = ()>>>;

    /// What waits, and what ends that.
    struct Wait(Waiting, Box<dyn FnOnce()>);

    fn wait<T>(future: impl Future<Output = T> + 'static, ends: impl FnOnce() + 'static) -> Wait {
        Wait(Box::pin(async move { drop(future.await) }), Box::new(ends))
    }

    fn ignore<T>(_: T) {}

    /// Each way to wait, by name. The party that ends it must not learn of the waker that waits there; it may be gone already, with its future.
    fn ways(runtime: &Runtime) -> Vec<(&'static str, Wait)> {
        let mut ways = Vec::new();
        let mut way = |name, wait| ways.push((name, wait));
        let handle = runtime.handle();
        let (opens, opened) = chan::bounded::<()>(1);
        let task = handle.spawn(async move { opened.recv().await });
        let (sent, ends) = (opens.clone(), handle.clone());
        way(
            "join",
            wait(task, move || {
                ignore(sent.try_send(()));
                ends.block_on(time::sleep(5 * MS)).expect("no deadlock");
            }),
        );
        let (sender, receiver) = chan::bounded::<()>(1);
        way("chan receive", wait(async move { receiver.recv().await }, move || ignore(sender.try_send(()))));
        let (sender, receiver) = chan::bounded(0);
        way("chan send", wait(async move { sender.send(()).await }, move || ignore(receiver.try_recv())));
        let (sender, receiver) = oneshot::channel();
        way("oneshot", wait(receiver, move || ignore(sender.send(()))));
        let (sender, mut receiver) = watch::channel(1);
        way("watch", wait(async move { receiver.changed().await }, move || ignore(sender.send(2))));
        let (sender, mut receiver) = sync::broadcast::channel(1);
        way("broadcast", wait(async move { receiver.recv().await }, move || ignore(sender.send(2))));
        let mutex = Arc::new(sync::Mutex::new(()));
        let held = Arc::clone(&mutex).try_lock_owned().expect("it is free");
        way("mutex", wait(async move { drop(mutex.lock().await) }, move || drop(held)));
        let semaphore = Arc::new(sync::Semaphore::new(0));
        let other = Arc::clone(&semaphore);
        way("semaphore", wait(async move { drop(semaphore.acquire().await) }, move || other.add_permits(1)));
        let (notify, other) = {
            let notify = Arc::new(sync::Notify::new());
            (Arc::clone(&notify), notify)
        };
        way("notify", wait(async move { notify.notified().await }, move || other.notify_waiters()));
        let group = Arc::new(sync::WaitGroup::new());
        group.add(1);
        let other = Arc::clone(&group);
        way("wait group", wait(async move { group.wait().await }, move || other.done()));
        let token = sync::CancellationToken::new();
        let other = token.clone();
        way("cancellation", wait(async move { token.cancelled().await }, move || other.cancel()));
        let cell = Arc::new(sync::OnceCell::new());
        let (other, ends) = (Arc::clone(&cell), handle.clone());
        way(
            "once cell",
            wait(async move { *cell.wait().await }, move || {
                ends.block_on(async { *other.get_or_init(|| async { 1 }).await }).expect("no deadlock");
            }),
        );
        let (set, ends) = (LocalSet::new(), handle.clone());
        let (opens, opened) = oneshot::channel::<()>();
        drop(set.spawn_local(opened));
        way(
            "local set",
            wait(async move { set.run_until(pending::<()>()).await }, move || {
                ignore(opens.send(()));
                ends.block_on(yield_now()).expect("no deadlock");
            }),
        );
        let (entered, ends) = (handle.clone(), handle.clone());
        way(
            "sleep",
            wait(
                async move {
                    let _entered = entered.enter();
                    time::sleep(2 * MS).await;
                },
                move || ends.block_on(time::sleep(5 * MS)).expect("no deadlock"),
            ),
        );
        let (reader, writer) = runtime.block_on(async { spinpark::io::pipe().expect("a pipe") }).expect("no deadlock");
        way(
            "pipe",
            wait(async move { reader.readable().await }, move || {
                handle.block_on(async { ignore(writer.write_all(b"x").await) }).expect("no deadlock");
                handle.block_on(time::sleep(5 * MS)).expect("no deadlock");
            }),
        );
        ways
    }

    #[test]
    fn waits_in_each_way() {
        with_runtimes(|runtime| {
            for place in [In::Clone, In::Wake, In::Drop, In::All] {
                for (name, Wait(mut waiting, ends)) in ways(runtime) {
                    let waker = waker(place);
                    // Its own caller has its panic.
                    let _ = catch_unwind(AssertUnwindSafe(|| poll(waiting.as_mut(), &waker)));
                    let ended = catch_unwind(AssertUnwindSafe(ends));
                    assert!(ended.is_ok(), "{name}: the caller of a waker that panics in {place:?} gets its panic");
                }
            }
        });
    }

    #[test]
    fn is_replaced_or_dropped_while_it_waits_in_each_way() {
        with_runtimes(|runtime| {
            for place in [In::Wake, In::Drop, In::All] {
                for replaced in [true, false] {
                    for (name, Wait(mut waiting, ends)) in ways(runtime) {
                        let (waker, count) = (waker(place), Arc::new(Count::default()));
                        let _ = catch_unwind(AssertUnwindSafe(|| poll(waiting.as_mut(), &waker)));
                        if replaced {
                            let other = Waker::from(Arc::clone(&count));
                            let polled = catch_unwind(AssertUnwindSafe(|| poll(waiting.as_mut(), &other)));
                            assert!(polled.is_ok(), "{name}: a waker that panics in {place:?} is replaced");
                            ends();
                            let is_ready = polled.is_ok_and(|polled| polled.is_ready());
                            // The thread that wakes may come to it later than this one comes here.
                            let woken = || {
                                thread::sleep(Duration::from_millis(1));
                                count.0.load(SeqCst) > 0
                            };
                            assert!(is_ready || (0..10_000).any(|_| woken()), "{name}");
                        }
                        let dropped = catch_unwind(AssertUnwindSafe(|| drop(waiting)));
                        assert!(dropped.is_ok(), "{name}: a waker that panics in {place:?} is dropped");
                    }
                }
            }
        });
    }

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl std::task::Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    /// A lock wakes its waiters in their order: one that panics does not keep it from the next.
    #[test]
    fn waits_before_another_at_a_lock() {
        with_runtimes(|runtime| {
            let mutex = Arc::new(sync::Mutex::new(()));
            let held = Arc::clone(&mutex).try_lock_owned().expect("it is free");
            let mut first = Box::pin(Arc::clone(&mutex).lock_owned());
            assert!(poll(first.as_mut(), &waker(In::All)).is_pending());
            let others: Vec<_> = (0..3)
                .map(|_| {
                    let mutex = Arc::clone(&mutex);
                    runtime.spawn(async move { drop(mutex.lock().await) })
                })
                .collect();
            runtime.block_on(time::sleep(2 * MS)).expect("no deadlock");
            drop(held);
            drop(first);
            others.into_iter().for_each(|other| other.join().expect("a value"));
        });
    }
}

/// All of it at once, again and again.
#[test]
fn many_at_once() {
    with_runtimes(|runtime| {
        let kept = Arc::new(Mutex::new(Vec::new()));
        for n in 0..200 {
            let bomb = Bomb;
            let task = runtime.spawn(async move {
                let _bomb = bomb;
                let inner = (go(|| Bomb), spawn(async { panic_any(Bomb) as () }));
                time::sleep(MS * (n % 3)).await;
                drop(inner);
            });
            if n % 2 == 0 {
                task.abort();
            }
            kept.lock().expect("no panic").push(task);
        }
        runtime.block_on(time::sleep(10 * MS)).expect("no deadlock");
        std::mem::take(&mut *kept.lock().expect("no panic")).into_iter().for_each(drop);
    });
}
