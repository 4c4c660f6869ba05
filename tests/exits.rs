//! Ends: a process ends with its status wherever it calls `exit`; and what is left by runtimes that end in a process that goes on.

#[cfg(unix)]
use crate::called::by_a_socket;
use crate::called::by_a_timer;
use crate::cases::Case;
use spinpark::{Builder, Handle, JoinError, JoinHandle, Runtime, Wait, blocking, chan, syscall, time};
use std::any::Any;
use std::cell::Cell;
use std::process::exit;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};
use std::{mem, thread};

pub(crate) const CASES: &[Case] = &[
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
    ("of_200_runtimes_leave_no_thread", || no_thread_is_left(200, |builder| builder.procs(2), begin)),
    ("of_a_runtime_with_more_ps_than_cores_leaves_no_thread", || {
        no_thread_is_left(10, |builder| builder.procs(16), |runtime| (0..8).for_each(|_| begin(runtime)));
    }),
    ("of_a_runtime_with_hooks_leaves_no_thread", || {
        static STOPPED: AtomicUsize = AtomicUsize::new(0);
        let stop = || {
            thread::sleep(Duration::from_millis(5));
            STOPPED.fetch_add(1, Relaxed);
        };
        no_thread_is_left(10, |builder| builder.procs(2).on_thread_stop(stop), begin);
        assert!(STOPPED.load(Relaxed) >= 10);
    }),
    ("of_a_runtime_with_blocking_calls_leaves_no_thread", || {
        no_thread_is_left(
            10,
            |builder| builder.procs(2),
            |runtime| {
                let calls: Vec<_> =
                    (0..20).map(|_| runtime.go(|| blocking(|| thread::sleep(Duration::from_millis(2))))).collect();
                calls.into_iter().take(10).for_each(|call| call.join().expect("it ends"));
            },
        );
    }),
    ("of_a_runtime_with_goroutines_that_wait_leaves_no_thread", || {
        no_thread_is_left(
            10,
            |builder| builder.procs(2),
            |runtime| {
                for _ in 0..20 {
                    drop(runtime.go(|| time::sleep(Duration::from_secs(3600)).wait()));
                }
                thread::sleep(Duration::from_millis(2));
            },
        );
    }),
    ("of_a_runtime_whose_threads_ended_before_leaves_no_thread", || {
        no_thread_is_left(
            5,
            |builder| builder.procs(2),
            |runtime| {
                for _ in 0..50 {
                    let bound = runtime.go(|| spinpark::lock_thread().expect("it is a task").keep());
                    bound.join().expect("it ends, and its thread with it");
                }
            },
        );
    }),
    ("of_a_runtime_that_its_handle_uses_meanwhile_leaves_no_thread", || {
        for _ in 0..50 {
            let runtime = Runtime::builder().procs(4).build().expect("a runtime");
            let handle = runtime.handle();
            let spawner = thread::spawn(move || (0..200).for_each(|_| drop(handle.go(thread::yield_now))));
            thread::sleep(Duration::from_micros(50));
            drop(runtime);
            none_is_a_runtimes();
            spawner.join().expect("it does not panic");
        }
    }),
    ("of_a_runtime_in_a_thread_locals_destructor_waits_for_its_threads", || {
        thread::spawn(|| {
            HELD.set(Some(Runtime::builder().procs(2).build().expect("a runtime")));
            HELD.with(|held| {
                let runtime = held.take().expect("it is there");
                begin(&runtime);
                held.set(Some(runtime));
            });
        })
        .join()
        .expect("no panic");
        none_is_a_runtimes();
    }),
    ("of_a_runtime_by_its_own_threads_local_destructor_does_not_hang", || {
        let runtime = Runtime::builder().procs(2).build().expect("a runtime");
        let handle = runtime.handle();
        let bound = handle.go(move || {
            HELD.set(Some(runtime));
            spinpark::lock_thread().expect("it is a task").keep();
        });
        bound.join().expect("it ends");
        all_end();
    }),
    ("of_a_runtime_dropped_by_its_task_end_its_threads", || {
        let runtime = Runtime::builder().procs(2).build().expect("a runtime");
        let handle = runtime.handle();
        drop(handle.spawn(async move { drop(runtime) }));
        all_end();
    }),
    ("of_a_runtime_with_a_goroutine_that_never_gives_up_leaves_its_thread_only", || {
        let runtime = Runtime::builder().procs(2).build().expect("a runtime");
        let (begins, begun) = std::sync::mpsc::channel();
        let (_sender, receiver) = chan::bounded::<()>(1);
        drop(runtime.go(move || {
            begins.send(()).expect("it is awaited");
            loop {
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| receiver.recv().wait()));
            }
        }));
        begun.recv().expect("it begins");
        drop(runtime);
        let left = when_there_are(2);
        assert_eq!(left.len(), 2, "there are left: {left:?}");
    }),
    ("with_a_timeout_beside_a_task_that_blocks", || {
        let runtime = Runtime::builder().procs(2).build().expect("a runtime");
        let call = beside(&runtime, || blocking(|| thread::sleep(Duration::from_millis(500))));
        let waits = runtime.spawn(time::sleep(Duration::from_secs(3600)));
        let took = timed(|| runtime.shutdown_timeout(Duration::from_millis(50)));
        assert!((Duration::from_millis(50)..Duration::from_millis(400)).contains(&took), "it took {took:?}");
        assert!(call.join().is_ok(), "a running task is waited for");
        assert!(matches!(waits.join(), Err(JoinError::ShutDown)), "a waiting task is dropped then");
        all_end();
    }),
    ("with_a_timeout_beside_a_task_that_computes_for_ever", || {
        let runtime = Runtime::builder().procs(1).build().expect("a runtime");
        drop(beside(&runtime, || {
            loop {
                std::hint::spin_loop();
            }
        }));
        let took = timed(|| runtime.shutdown_timeout(Duration::from_millis(50)));
        assert!((Duration::from_millis(50)..Duration::from_secs(5)).contains(&took), "it took {took:?}");
    }),
    ("with_a_timeout_of_an_idle_runtime_takes_no_time", || {
        for timeout in [Duration::from_secs(30), Duration::MAX] {
            let runtime = Runtime::builder().procs(2).build().expect("a runtime");
            let waits = runtime.spawn(time::sleep(Duration::from_secs(3600)));
            thread::sleep(Duration::from_millis(1));
            let took = timed(|| runtime.shutdown_timeout(timeout));
            assert!(took < Duration::from_secs(5), "it took {took:?}");
            assert!(waits.is_finished(), "a waiting task was not dropped");
            let left = when_there_are(1);
            assert_eq!(left.len(), 1, "there are left: {left:?}");
        }
    }),
    ("with_a_timeout_of_nothing_does_not_wait", || {
        let runtime = Runtime::builder().procs(2).build().expect("a runtime");
        let call = beside(&runtime, || blocking(|| thread::sleep(Duration::from_millis(500))));
        let took = timed(|| runtime.shutdown_timeout(Duration::ZERO));
        assert!(took < Duration::from_millis(400), "it took {took:?}");
        assert!(call.join().is_ok());
        all_end();
    }),
    ("in_the_background_does_not_wait", || {
        let runtime = Runtime::builder().procs(2).build().expect("a runtime");
        let handle = runtime.handle();
        let call = beside(&runtime, || blocking(|| thread::sleep(Duration::from_millis(500))));
        let took = timed(|| runtime.shutdown_background());
        assert!(took < Duration::from_millis(400), "it took {took:?}");
        assert!(call.join().is_ok());
        all_end();
        assert!(matches!(handle.go(|| ()).join(), Err(JoinError::ShutDown)));
    }),
    ("by_a_task_of_its_own_does_not_wait", || {
        let ends: [fn(Runtime); 2] = [Runtime::shutdown_background, |it| it.shutdown_timeout(Duration::from_secs(30))];
        for ends in ends {
            let runtime = Runtime::builder().procs(2).build().expect("a runtime");
            let handle = runtime.handle();
            let task = handle.spawn(async move { timed(|| ends(runtime)) });
            let took = task.join().expect("it runs to its end");
            assert!(took < Duration::from_secs(5), "it took {took:?}");
            all_end();
        }
    }),
    ("with_a_timeout_by_a_task_of_another_lets_others_run", || {
        let other = Runtime::builder().procs(1).build().expect("a runtime");
        let runtime = Runtime::builder().procs(1).build().expect("a runtime");
        drop(beside(&runtime, || blocking(|| thread::sleep(Duration::from_millis(500)))));
        let ends = beside(&other, move || runtime.shutdown_timeout(Duration::from_millis(300)));
        other.spawn(async {}).join().expect("it runs");
        assert!(!ends.is_finished(), "no task ran meanwhile");
        ends.join().expect("no panic");
    }),
    ("with_a_timeout_of_a_deterministic_runtime_is_a_shutdown", || {
        let ends: [fn(Runtime); 2] = [Runtime::shutdown_background, |it| it.shutdown_timeout(Duration::ZERO)];
        for ends in ends {
            let runtime = Runtime::builder().deterministic(7).build().expect("a runtime");
            let waits = runtime.spawn(time::sleep(Duration::from_secs(3600)));
            runtime.run(time::sleep(Duration::from_millis(1)));
            ends(runtime);
            assert!(waits.is_finished(), "a waiting task was not dropped");
        }
    }),
    ("of_a_runtime_follow_destructors_of_its_threads_locals", || {
        static ENDED: AtomicUsize = AtomicUsize::new(0);
        struct Slow;
        impl Drop for Slow {
            fn drop(&mut self) {
                thread::sleep(Duration::from_millis(50));
                ENDED.fetch_add(1, Relaxed);
            }
        }
        thread_local!(static OURS: Cell<Option<Slow>> = const { Cell::new(None) });
        let runtime = Runtime::builder().procs(2).build().expect("a runtime");
        runtime.spawn(async { OURS.set(Some(Slow)) }).join().expect("it ends");
        drop(runtime);
        assert_eq!(ENDED.load(Relaxed), 1, "a thread is not at its end yet");
    }),
    ("on_a_thread_that_it_waits_for_does_not_wait_for_it", || {
        let ends: [fn(Runtime); 4] = [
            drop,
            |it| drop(it.shutdown()),
            |it| it.shutdown_timeout(Duration::from_secs(3600)),
            Runtime::shutdown_background,
        ];
        for (place, plays) in PLACES {
            for (nth, ends) in ends.into_iter().enumerate() {
                let (done, is_done) = std::sync::mpsc::channel();
                let kept = plays(Box::new(move |runtime| {
                    ends(runtime);
                    done.send(()).expect("it is awaited");
                }));
                let ended = is_done.recv_timeout(Duration::from_secs(20));
                assert!(ended.is_ok(), "in {place}, end {nth}");
                drop(kept);
                all_end();
            }
        }
    }),
];

/// Ends this runtime.
type Ends = Box<dyn FnOnce(Runtime) + Send>;
type Place = (&'static str, fn(Ends) -> Box<dyn Any>);

/// Where code of the user's runs on a thread of the runtime, which its end waits for, and is no task of it; or another runtime's future. What is
/// returned is kept meanwhile.
const PLACES: &[Place] = &[
    ("a waker that a timer calls", |ends| called(by_a_timer, OnWake::waker, two_procs(), ends)),
    ("the destructor of a waker that a timer had", |ends| called(by_a_timer, OnDrop::waker, two_procs(), ends)),
    ("a waker that a simulated timer calls", |ends| {
        let runtime = Runtime::builder().deterministic(1).build().expect("a runtime");
        let handle = runtime.handle();
        let sleeps = called(by_a_timer, OnWake::waker, runtime, ends);
        // Perhaps its end has begun.
        let _ = handle.block_on(time::sleep(Duration::from_millis(100)));
        sleeps
    }),
    #[cfg(unix)]
    ("a waker that a socket calls", |ends| called(by_a_socket, OnWake::waker, two_procs(), ends)),
    ("block_on of another runtime, in a task", |ends| {
        let runtime = two_procs();
        let in_other = move |runtime| two_procs().run(async { ends(runtime) });
        Box::new(runtime.handle().spawn(async { in_other(runtime) }))
    }),
    ("block_on of another runtime, in a goroutine that blocks", |ends| {
        let runtime = two_procs();
        let in_other = move |runtime| two_procs().run(async { ends(runtime) });
        Box::new(runtime.handle().go(|| blocking(|| in_other(runtime))))
    }),
    ("the destructor of a thread local", |ends| {
        thread_local!(static OURS: Cell<Option<OnDrop>> = const { Cell::new(None) });
        let runtime = two_procs();
        let bound = runtime.handle().go(move || {
            OURS.set(Some(OnDrop(OnWake(Mutex::new(Some((runtime, ends)))))));
            spinpark::lock_thread().expect("it is a task").keep();
        });
        Box::new(bound)
    }),
];

fn two_procs() -> Runtime {
    Runtime::builder().procs(2).build().expect("a runtime")
}

type Calls = fn(&Handle, &Waker) -> Box<dyn Any>;

/// That waker of this runtime is called so.
fn called(by: Calls, waker: fn(Runtime, Ends) -> Waker, runtime: Runtime, ends: Ends) -> Box<dyn Any> {
    let handle = runtime.handle();
    by(&handle, &waker(runtime, ends))
}

/// Ends a runtime when it is woken.
struct OnWake(Mutex<Option<(Runtime, Ends)>>);

impl OnWake {
    fn waker(runtime: Runtime, ends: Ends) -> Waker {
        Arc::new(OnWake(Mutex::new(Some((runtime, ends))))).into()
    }

    fn acts(&self) {
        let taken = self.0.lock().expect("no panic").take();
        if let Some((runtime, ends)) = taken {
            ends(runtime);
        }
    }
}

impl Wake for OnWake {
    fn wake(self: Arc<Self>) {
        self.acts();
    }
}

/// Ends a runtime when it is dropped.
struct OnDrop(OnWake);

impl OnDrop {
    fn waker(runtime: Runtime, ends: Ends) -> Waker {
        Arc::new(OnDrop(OnWake(Mutex::new(Some((runtime, ends)))))).into()
    }
}

impl Wake for OnDrop {
    fn wake(self: Arc<Self>) {}
}

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.acts();
    }
}

thread_local!(static HELD: Cell<Option<Runtime>> = const { Cell::new(None) });

/// So many runtimes are built, one after the other, used, and dropped; then there is no other thread than before.
fn no_thread_is_left(runtimes: usize, builder: impl Fn(Builder) -> Builder, uses: impl Fn(&Runtime)) {
    let before = names_of_threads();
    for n in 0..runtimes {
        let runtime = builder(Runtime::builder()).build().expect("a runtime");
        uses(&runtime);
        drop(runtime);
        let left = when_there_are(before.len());
        assert_eq!(left.len(), before.len(), "after {n} others there are left: {left:?}");
    }
}

/// Runs `f` in a task, which has begun.
fn beside<T: Send + 'static>(runtime: &Runtime, f: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    let (begins, begun) = std::sync::mpsc::channel();
    let task = runtime.go(move || {
        begins.send(()).expect("it is awaited");
        f()
    });
    begun.recv().expect("it begins");
    task
}

/// How long it takes.
fn timed(f: impl FnOnce()) -> Duration {
    let from = Instant::now();
    f();
    from.elapsed()
}

/// Waits until no thread of a runtime is there any more.
fn all_end() {
    let from = Instant::now();
    while names_of_threads().len() > 1 {
        assert!(from.elapsed() < Duration::from_secs(10), "there are left: {:?}", names_of_threads());
        thread::sleep(Duration::from_millis(1));
    }
}

/// Of the threads of this process, where the system tells; but for the one from which others are started, which is the process's. One
/// that has been joined may be on its way out of the system's list: that is none. An emulator has threads of its own, and takes longer.
fn names_of_threads() -> Vec<String> {
    const IS_EXITING: u64 = 4;
    let name = |thread: std::io::Result<std::fs::DirEntry>| {
        let stat = std::fs::read_to_string(thread.ok()?.path().join("stat")).ok()?;
        let (name, numbers) = stat.split_once('(')?.1.rsplit_once(')')?;
        let flags: u64 = numbers.split_whitespace().nth(6)?.parse().expect("proc(5): the ninth");
        (flags & IS_EXITING == 0 && name != "spinpark-templa").then(|| name.to_owned())
    };
    let mut names: Vec<String> = std::fs::read_dir("/proc/self/task").into_iter().flatten().filter_map(name).collect();
    if let Ok(emulators) = std::env::var("SPINPARK_TEST_EMULATORS_THREADS") {
        names.drain(1..1 + emulators.parse::<usize>().expect("a number"));
    }
    names
}

/// The same, when it is so, or after a while: an emulator ends a thread after the program has joined it.
fn names_when(is_so: impl Fn(&[String]) -> bool) -> Vec<String> {
    let is_emulated = std::env::var_os("SPINPARK_TEST_EMULATORS_THREADS").is_some();
    let from = Instant::now();
    loop {
        let names = names_of_threads();
        if is_so(&names) || !is_emulated || from.elapsed() > Duration::from_secs(5) {
            return names;
        }
    }
}

fn when_there_are(n: usize) -> Vec<String> {
    names_when(|names| names.len() == n)
}

fn none_is_a_runtimes() {
    let is_none = |names: &[String]| names.iter().all(|name| !name.starts_with("spinpark"));
    let names = names_when(is_none);
    assert!(is_none(&names), "{names:?}");
}

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
