//! Runs that a seed decides. A module names the property, a function the situation.

use spinpark::deterministic::{Place, elapsed, fingerprint, pause, place};
use spinpark::time::{Sleep, interval, sleep, timeout};
use spinpark::{
    JoinError, LocalSet, Runtime, Wait, blocking, checkpoint, deterministic, go, lock_thread, spawn, stop_the_world,
    syscall, yield_now,
};
use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::future::{Future, pending, poll_fn};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3600);

fn with_procs(n: usize, seed: u64) -> Runtime {
    Runtime::builder().procs(n).deterministic(seed).build().expect("a runtime")
}

/// What happened, with the simulated time and where.
#[derive(Clone, Default)]
struct Trace(Arc<Mutex<String>>);

impl Trace {
    fn note(&self, what: impl std::fmt::Display) {
        use std::fmt::Write;
        let place = match place() {
            Some(Place { m, p: Some(p), .. }) => format!("M{m} P{p}"),
            Some(Place { m, .. }) => format!("M{m}"),
            None => "main".into(),
        };
        let now = elapsed().expect("a machine").as_nanos();
        writeln!(self.0.lock().expect("no panic"), "{now} {place}: {what}").expect("there is memory");
    }

    fn text(&self) -> String {
        self.0.lock().expect("no panic").clone()
    }
}

/// A queue to wait at: a mutex, and wakers.
struct Channel<T>(Mutex<(VecDeque<T>, VecDeque<Waker>)>);

impl<T> Channel<T> {
    fn new() -> Arc<Self> {
        Arc::new(Channel(Mutex::new((VecDeque::new(), VecDeque::new()))))
    }

    fn send(&self, value: T) {
        let waker = {
            let mut inside = self.0.lock().expect("no panic");
            inside.0.push_back(value);
            inside.1.pop_front()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    async fn receive(&self) -> T {
        poll_fn(|cx| {
            let mut inside = self.0.lock().expect("no panic");
            match inside.0.pop_front() {
                Some(value) => Poll::Ready(value),
                None => {
                    inside.1.push_back(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

/// A program: it notes what it does.
type Program = fn(&Runtime, &Trace);

fn tree(trace: Trace, depth: u32) -> impl Future<Output = u32> + Send {
    Box::pin(async move {
        trace.note(format_args!("at {depth}"));
        if depth == 0 {
            return 1;
        }
        let children = [(); 2].map(|()| spawn(tree(trace.clone(), depth - 1)));
        let mut sum = 0;
        for child in children {
            sum += child.await.expect("no panic");
        }
        sum
    })
}

/// The programs, by name.
const PROGRAMS: [(&str, Program); 8] = [
    ("a tree", |runtime, trace| {
        let sum = runtime.block_on(tree(trace.clone(), 4)).expect("no deadlock");
        trace.note(sum);
    }),
    ("channels", |runtime, trace| {
        let (ping, pong) = (Channel::new(), Channel::new());
        let workers: Vec<_> = (0..3)
            .map(|worker| {
                let (ping, pong, trace) = (Arc::clone(&ping), Arc::clone(&pong), trace.clone());
                runtime.spawn(async move {
                    for _ in 0..4 {
                        let n: u32 = ping.receive().await;
                        trace.note(format_args!("{worker} has {n}"));
                        pong.send(n);
                        yield_now().await;
                    }
                })
            })
            .collect();
        let sum = runtime.block_on(async {
            (0..12).for_each(|n| ping.send(n));
            let mut sum = 0;
            for _ in 0..12 {
                sum += pong.receive().await;
            }
            sum
        });
        assert_eq!(sum, Ok(66));
        workers.into_iter().for_each(|worker| worker.join().expect("no panic"));
    }),
    ("timers", |runtime, trace| {
        let sleepers: Vec<_> = [2, 1, 2, 2, 1]
            .map(|n| {
                let trace = trace.clone();
                runtime.spawn(async move {
                    sleep(n * MS).await;
                    trace.note(format_args!("slept {n}"));
                    let late = timeout(n * MS, pending::<()>()).await;
                    trace.note(format_args!("{late:?}"));
                })
            })
            .into();
        runtime
            .block_on(async {
                let mut ticks = interval(2 * MS);
                for _ in 0..3 {
                    ticks.tick().await;
                    trace.note("tick");
                }
            })
            .expect("no deadlock");
        sleepers.into_iter().for_each(|sleeper| sleeper.join().expect("no panic"));
    }),
    ("joins inside", |runtime, trace| {
        let inner = trace.clone();
        let sum = runtime.go(move || {
            let parts: Vec<_> = (0..4u32)
                .map(|n| {
                    let trace = inner.clone();
                    go(move || {
                        trace.note(n);
                        go(move || n * n).join().expect("no panic")
                    })
                })
                .collect();
            parts.into_iter().map(|part| part.join().expect("no panic")).sum::<u32>()
        });
        trace.note(sum.join().expect("no panic"));
    }),
    ("more and fewer Ps", |runtime, trace| {
        let tasks: Vec<_> = (0..6)
            .map(|n| {
                let trace = trace.clone();
                runtime.spawn(async move {
                    for _ in 0..3 {
                        trace.note(n);
                        yield_now().await;
                    }
                })
            })
            .collect();
        let handle = runtime.handle();
        let resizer = runtime.go(move || [4, 1, 3].map(|n| handle.set_procs(n).expect("a number that is allowed")));
        trace.note(format_args!("{:?}", resizer.join().expect("no panic")));
        tasks.into_iter().for_each(|task| task.join().expect("no panic"));
    }),
    ("a stopped world", |runtime, trace| {
        let tasks: Vec<_> = (0..4)
            .map(|n| {
                let trace = trace.clone();
                runtime.go(move || {
                    for round in 0..3 {
                        checkpoint();
                        trace.note(format_args!("{n} in {round}"));
                        if n == round {
                            stop_the_world(|| trace.note("stopped")).expect("it was not");
                        }
                    }
                })
            })
            .collect();
        runtime.stop_the_world(|| trace.note("stopped")).expect("it was not");
        let seen = trace.clone();
        runtime.for_each_p(move |p| seen.note(format_args!("under {p}"))).expect("the world is not stopped");
        tasks.into_iter().for_each(|task| task.join().expect("no panic"));
    }),
    ("system calls", |runtime, trace| {
        let tasks: Vec<_> = (0..5)
            .map(|n| {
                let trace = trace.clone();
                runtime.go(move || {
                    let call = || {
                        trace.note(format_args!("{n} calls"));
                        pause(n * MS / 4);
                        trace.note(format_args!("{n} returns"));
                    };
                    if n % 2 == 0 {
                        blocking(call)
                    } else {
                        syscall(call)
                    }
                    trace.note(format_args!("{n} is back"));
                })
            })
            .collect();
        tasks.into_iter().for_each(|task| task.join().expect("no panic"));
    }),
    ("panics and ends", |runtime, trace| {
        let panics = runtime.spawn({
            let trace = trace.clone();
            async move {
                yield_now().await;
                trace.note("panics");
                std::panic::resume_unwind(Box::new("meant"));
            }
        });
        let bound = runtime.go({
            let trace = trace.clone();
            move || {
                trace.note("is bound");
                lock_thread().expect("in a task").keep();
            }
        });
        let aborted = runtime.spawn(pending::<()>());
        let stays = trace.clone();
        drop(runtime.spawn(async move {
            stays.note("stays");
            pending::<()>().await;
        }));
        assert!(matches!(panics.join(), Err(JoinError::Panicked(_))));
        bound.join().expect("no panic");
        aborted.abort();
        assert!(matches!(aborted.join(), Err(JoinError::Aborted)));
    }),
];

/// What a program does, to the end.
fn play(program: Program, procs: usize, seed: u64) -> String {
    let trace = Trace::default();
    let runtime = with_procs(procs, seed);
    program(&runtime, &trace);
    let print = fingerprint().expect("a machine");
    let metrics = runtime.metrics();
    let left = runtime.shutdown().expect("from outside").len();
    let counts = (metrics.dispatches(), metrics.wakes, metrics.sleeps, metrics.retakes, metrics.threads_started);
    format!("{}print {print:x}, {left} unstarted, counted {counts:?}", trace.text())
}

/// A seed like any other.
fn seed(n: u64) -> u64 {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The steps of a trace, without the moments.
fn steps(trace: &str) -> Vec<String> {
    let lines = trace.lines().filter_map(|line| line.split_once(' '));
    lines.map(|(_, step)| step.to_owned()).collect()
}

mod a_seed {
    use super::*;

    #[test]
    fn gives_the_same_run_twice_and_others_give_others() {
        of_each_program(25);
    }

    #[test]
    #[ignore = "slow: three thousand runs, each twice; `.ci/nightly` runs it"]
    fn gives_the_same_run_twice_and_many_others_give_others() {
        of_each_program(125);
    }

    fn of_each_program(seeds: u64) {
        for (name, program) in PROGRAMS {
            for procs in [1, 2, 4] {
                let mut different = BTreeSet::new();
                for n in 0..seeds {
                    let first = play(program, procs, seed(n));
                    assert_eq!(first, play(program, procs, seed(n)), "{name}, {procs} Ps, seed {:#x}", seed(n));
                    different.insert(steps(first.rsplit_once("print").expect("it is there").0));
                }
                println!("{name}, {procs} Ps: {} different traces", different.len());
                let enough = if procs == 1 { seeds / 25 } else { seeds / 6 };
                assert!(different.len() as u64 >= enough, "{name}, {procs} Ps: {} different traces", different.len());
            }
        }
    }

    /// Where addresses, the seeds of hash maps, and the number of threads are others.
    #[test]
    fn gives_the_same_run_in_another_process() {
        const NAME: &str = "SPINPARK_TEST_IS_CHILD";
        if std::env::var_os(NAME).is_some() {
            for (name, program) in PROGRAMS {
                (0..10).for_each(|n| println!("run {name}: {:?}", play(program, 1 + n as usize % 4, seed(n))));
            }
            return;
        }
        let this = std::env::current_exe().expect("it runs");
        let runs = || {
            let mut child = std::process::Command::new(&this);
            child
                .args(["--exact", "deterministic::a_seed::gives_the_same_run_in_another_process", "--nocapture"])
                .env(NAME, "1");
            let text = String::from_utf8(child.output().expect("it can be started").stdout).expect("text");
            let runs: Vec<_> = text.lines().filter(|line| line.contains("run ")).map(str::to_owned).collect();
            runs
        };
        let first = runs();
        assert_eq!(first.len(), 10 * PROGRAMS.len());
        assert_eq!(first, runs());
    }

    #[test]
    fn decides_what_the_program_draws() {
        let draw = |seed| {
            let runtime = with_procs(1, seed);
            assert_eq!(deterministic::seed(), Some(seed));
            runtime.block_on(async { [(); 8].map(|()| deterministic::choose(1000)) }).expect("no deadlock")
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert!((0..50).all(|seed| draw(seed).into_iter().all(|drawn| drawn < 1000)));
    }

    #[test]
    fn is_not_disturbed_by_other_runtimes_of_the_process() {
        let busy = thread::spawn(|| {
            let runtime = Runtime::builder().procs(2).latency_histogram(true).build().expect("a runtime");
            for _ in 0..20 {
                let tasks: Vec<_> = (0..500).map(|_| runtime.spawn(yield_now())).collect();
                tasks.into_iter().for_each(|task| task.join().expect("no panic"));
                thread::sleep(MS);
            }
        });
        let mut seen = BTreeSet::new();
        while !busy.is_finished() {
            seen.insert(play(PROGRAMS[0].1, 4, 5));
        }
        busy.join().expect("no panic");
        assert_eq!(seen.len(), 1, "the same seed gave different runs");
    }

    #[test]
    fn finds_a_lost_update_on_one_p_and_finds_it_again() {
        let update = |seed| {
            let runtime = with_procs(1, seed);
            let count = Arc::new(AtomicU32::new(0));
            // The second begins when the first has ended: unless the first is delayed.
            let first = {
                let count = Arc::clone(&count);
                runtime.spawn(async move {
                    let seen = count.load(Relaxed);
                    yield_now().await;
                    count.store(seen + 1, Relaxed);
                })
            };
            let second = {
                let count = Arc::clone(&count);
                runtime.spawn(async move {
                    for _ in 0..4 {
                        yield_now().await;
                    }
                    let seen = count.load(Relaxed);
                    count.store(seen + 1, Relaxed);
                })
            };
            first.join().expect("no panic");
            second.join().expect("no panic");
            count.load(Relaxed)
        };
        let found: Vec<u64> = (0..300).filter(|&seed| update(seed) == 1).collect();
        println!("{} of 300 seeds lose an update, the first is {:?}", found.len(), found.first());
        assert!(!found.is_empty(), "no seed loses an update");
        assert!(found.len() < 300, "every seed loses an update: nothing was explored");
        assert!(found.iter().all(|&seed| update(seed) == 1), "a seed does not lose it again");
    }
}

mod simulated_time {
    use super::*;

    #[test]
    fn is_over_at_once() {
        let (real, runtime) = (Instant::now(), with_procs(2, 1));
        let before = deterministic::now();
        runtime.block_on(sleep(1000 * HOUR)).expect("no deadlock");
        let simulated = deterministic::now() - before;
        assert!((1000 * HOUR..1001 * HOUR).contains(&simulated), "{simulated:?}");
        assert!(real.elapsed() < Duration::from_secs(10), "it took {:?}", real.elapsed());
    }

    #[test]
    fn is_over_at_once_also_for_a_call_that_keeps_its_p() {
        for run in [|| pause(24 * HOUR), || syscall(|| pause(24 * HOUR)), || blocking(|| pause(24 * HOUR))] {
            let (real, runtime) = (Instant::now(), with_procs(1, 1));
            runtime.go(run).join().expect("no panic");
            assert!(elapsed() >= Some(24 * HOUR));
            drop(runtime);
            assert!(real.elapsed() < Duration::from_secs(5), "it took {:?}", real.elapsed());
        }
    }

    #[test]
    fn wakes_sleepers_in_the_order_of_their_deadlines() {
        for n in 0..100 {
            let runtime = with_procs(3, seed(n));
            let order = Arc::new(Mutex::new(Vec::new()));
            let sleepers: Vec<_> = [7, 3, 9, 1, 5, 8, 2, 6, 4]
                .map(|n: u32| {
                    let order = Arc::clone(&order);
                    runtime.spawn(async move {
                        sleep(n * MS).await;
                        order.lock().expect("no panic").push(n);
                    })
                })
                .into();
            sleepers.into_iter().for_each(|sleeper| sleeper.join().expect("no panic"));
            assert_eq!(*order.lock().expect("no panic"), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        }
    }

    #[test]
    fn goes_by_while_tasks_wait_for_it_in_a_loop() {
        let runtime = with_procs(1, 3);
        let end = deterministic::now() + MS;
        let by_await = runtime.spawn(async move {
            while deterministic::now() < end {
                yield_now().await;
            }
        });
        by_await.join().expect("no panic");
        let end = deterministic::now() + MS;
        let by_checkpoint = runtime.go(move || {
            while deterministic::now() < end {
                checkpoint();
            }
        });
        by_checkpoint.join().expect("no panic");
    }

    #[test]
    fn begins_again_with_each_runtime_and_is_real_without_one() {
        for _ in 0..2 {
            let runtime = with_procs(1, 0);
            assert_eq!(elapsed(), Some(Duration::ZERO));
            runtime.block_on(sleep(MS)).expect("no deadlock");
        }
        assert_eq!((elapsed(), deterministic::seed(), fingerprint(), place()), (None, None, None, None));
        let before = Instant::now();
        pause(MS);
        assert!(before.elapsed() >= MS);
        assert!(deterministic::choose(3) < 3);
    }
}

mod a_system_call {
    use super::*;

    #[test]
    fn leaves_its_p_to_another_thread() {
        for (call, n) in [true, false].into_iter().flat_map(|call| (0..50).map(move |n| (call, n))) {
            let runtime = with_procs(1, seed(n));
            let caller = runtime.go(move || {
                let before = place();
                let inside = || {
                    let inside = place();
                    pause(100 * MS);
                    inside
                };
                (before, if call { syscall(inside) } else { blocking(inside) }, place(), elapsed())
            });
            let other = runtime.spawn(async {
                sleep(10 * MS).await;
                (place(), elapsed())
            });
            let (other, when) = other.join().expect("no panic");
            let (before, inside, after, back) = caller.join().expect("no panic");
            let [before, inside, after, other] = [before, inside, after, other].map(|place| place.expect("in a task"));
            assert_eq!((before.p, inside.p, after.p, other.p), (Some(0), None, Some(0), Some(0)));
            assert_eq!([inside.m, after.m], [before.m; 2], "a closure has changed its thread");
            assert_ne!(other.m, before.m, "no other M had the P");
            assert!(when < Some(50 * MS) && back >= Some(100 * MS), "{when:?}, {back:?}");
            assert_eq!(runtime.metrics().retakes > 0, call, "was the P retaken?");
        }
    }
}

mod a_stop_of_the_world {
    use super::*;

    /// The clock says what it waited for: a dispatch takes a microsecond, and the monitor, which is slow by then, looks every
    /// five milliseconds.
    #[test]
    fn among_threads_that_end_and_system_calls_waits_for_no_look_of_the_monitor() {
        let stop = || {
            let before = elapsed().expect("a machine");
            stop_the_world(|| elapsed().expect("a machine") - before).expect("not nested")
        };
        for (n, max_threads) in (0..60).flat_map(|n| [(n, 6), (n, 64)]) {
            let builder = Runtime::builder().procs(1 + n as usize % 4).max_threads(max_threads);
            let runtime = builder.preemption(false).deterministic(seed(n)).build().expect("a runtime");
            // The monitor has looked for long, and slows down.
            runtime.go(|| pause(50 * MS)).join().expect("no panic");
            let ends = |n: u32| {
                runtime.go(move || {
                    let inner = go(|| lock_thread().expect("in a task").keep());
                    if n.is_multiple_of(3) {
                        syscall(|| pause(20 * MS));
                    }
                    checkpoint();
                    lock_thread().expect("in a task").keep();
                    drop(inner);
                })
            };
            let mut stops = Vec::new();
            let mut tasks = Vec::new();
            for n in 0..4 {
                tasks.extend((0..3).map(|k| ends(3 * n + k)));
                stops.push(runtime.go(stop));
            }
            let before = elapsed().expect("a machine");
            let outside = runtime.stop_the_world(|| elapsed().expect("a machine") - before).expect("not nested");
            let took = stops.into_iter().map(|stop| stop.join().expect("no panic")).chain([outside]);
            let longest = took.max().expect("there are five");
            assert!(longest < MS, "seed {n}, {max_threads} threads: a stop took {longest:?}");
            tasks.into_iter().for_each(|task| task.join().expect("no panic"));
        }
    }
}

mod a_wait_without_end {
    use super::*;

    #[test]
    fn is_a_deadlock_in_block_on() {
        for n in 0..50 {
            let runtime = with_procs(2, seed(n));
            let waits = runtime.spawn(pending::<()>());
            let deadlock = runtime.block_on(pending::<()>()).expect_err("it has no end");
            assert_eq!(deadlock.tasks().len(), 1);
            assert_eq!(runtime.block_on(async { 1 }), Ok(1), "it does not go on");
            runtime.block_on(waits).expect_err("it has no end");
        }
    }

    #[test]
    fn is_a_deadlock_in_join() {
        for n in 0..50 {
            let runtime = with_procs(2, seed(n));
            let mut waits = runtime.spawn(pending::<()>());
            let Err(JoinError::Deadlock(deadlock, _)) = waits.join_mut() else { panic!("it has no end") };
            assert_eq!(deadlock.tasks().len(), 1);
            waits.abort();
            assert!(matches!(waits.join(), Err(JoinError::Aborted)));
        }
    }

    #[test]
    fn is_a_deadlock_in_the_join_of_a_task() {
        for n in 0..50 {
            let runtime = with_procs(2, seed(n));
            let waits = runtime.spawn(pending::<()>());
            let told = runtime.spawn(async move { matches!(waits.join(), Err(JoinError::Deadlock(..))) });
            assert!(told.join().expect("no panic"), "the task was not told");
        }
    }

    /// The last to rest asks whether all is dead while a wake of the thread that has the machine is on its way: nothing comes of that.
    #[test]
    fn is_a_deadlock_in_the_join_of_a_task_also_if_somebody_else_could_have_helped() {
        for n in 0..200 {
            let runtime = with_procs(2, seed(n));
            let (rings, waits) = (Channel::new(), runtime.spawn(pending::<()>()));
            let told = runtime.spawn({
                let rings = Arc::clone(&rings);
                async move {
                    rings.send(());
                    matches!(waits.join(), Err(JoinError::Deadlock(..)))
                }
            });
            let told = runtime.block_on(async {
                rings.receive().await;
                told.await
            });
            assert!(told.expect("the task is told first").expect("no panic"), "the task was not told");
        }
    }

    #[test]
    fn is_a_deadlock_in_the_block_on_of_a_task() {
        for n in 0..50 {
            let runtime = with_procs(2, seed(n));
            let handle = runtime.handle();
            let mut waits = runtime.go(move || handle.block_on(pending::<()>()).is_err());
            // The thread that has built it gets the error first.
            let Err(JoinError::Deadlock(..)) = waits.join_mut() else { panic!("it has no end") };
            drop(runtime); // now it is told, and ends
            assert!(waits.is_finished());
        }
    }

    #[test]
    fn is_none_while_something_is_expected() {
        let runtime = with_procs(1, 0);
        let late = runtime.block_on(timeout(HOUR, pending::<()>()));
        assert!(late.expect("no deadlock").is_err());
    }
}

mod an_end {
    use super::*;

    #[test]
    fn is_followed_by_real_time_for_what_sleeps_then() {
        let runtime = with_procs(1, 0);
        let handle = runtime.handle();
        runtime.run(sleep(HOUR));
        drop(runtime);
        let sleeps = move || {
            let begun = Instant::now();
            handle.block_on(sleep(5 * MS)).expect("no deadlock");
            let took = begun.elapsed();
            assert!((5 * MS..HOUR).contains(&took), "it took {took:?}");
        };
        sleeps();
        thread::spawn(sleeps).join().expect("it sleeps there, too");
    }

    #[test]
    fn drops_what_waits_and_gives_back_what_never_ran() {
        for n in 0..50 {
            let witness = Arc::new(());
            let runtime = with_procs(2, seed(n));
            for _ in 0..5 {
                let witness = Arc::clone(&witness);
                drop(runtime.spawn(async move {
                    pending::<()>().await;
                    drop(witness);
                }));
            }
            runtime.block_on(yield_now()).expect("no deadlock");
            let left = runtime.shutdown().expect("from outside");
            assert_eq!(Arc::strong_count(&witness), 1 + left.len());
        }
    }

    #[test]
    fn may_be_brought_by_a_task() {
        for n in 0..50 {
            let runtime = with_procs(2, seed(n));
            let (handle, slot) = (runtime.handle(), Arc::new(Mutex::new(None)));
            let dropper = handle.spawn({
                let slot = Arc::clone(&slot);
                async move {
                    yield_now().await;
                    let runtime: Option<Runtime> = slot.lock().expect("no panic").take();
                    drop(runtime);
                }
            });
            *slot.lock().expect("no panic") = Some(runtime);
            // It may end before it says so.
            assert!(matches!(dropper.join(), Ok(()) | Err(JoinError::ShutDown | JoinError::Deadlock(..))));
            // What comes while it ends may still run.
            assert!(matches!(handle.go(|| ()).join(), Ok(()) | Err(JoinError::ShutDown)));
            drop(with_procs(1, n));
            assert!(matches!(handle.go(|| ()).join(), Err(JoinError::ShutDown)), "it has not ended");
        }
    }

    #[test]
    fn runs_the_hooks_of_every_thread() {
        let (begun, ended) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let count = |count: &Arc<AtomicU32>| {
            let count = Arc::clone(count);
            move || {
                count.fetch_add(1, Relaxed);
            }
        };
        let runtime = Runtime::builder()
            .procs(3)
            .deterministic(9)
            .on_thread_start(count(&begun))
            .on_thread_stop(count(&ended))
            .thread_stack_size(256 << 10)
            .build()
            .expect("a runtime");
        PROGRAMS[6].1(&runtime, &Trace::default());
        drop(runtime);
        assert!(begun.load(Relaxed) >= 2, "there was one thread only");
        assert_eq!(begun.load(Relaxed), ended.load(Relaxed));
    }

    #[test]
    fn of_idle_threads_comes_in_its_time() {
        let runtime = Runtime::builder().procs(4).deterministic(2).thread_keep_alive(MS).build().expect("a runtime");
        PROGRAMS[6].1(&runtime, &Trace::default());
        runtime.block_on(sleep(HOUR)).expect("no deadlock");
        assert!(runtime.metrics().threads <= 2, "{:?}", runtime.metrics());
    }

    #[test]
    fn comes_also_if_the_test_panics() {
        for n in 0..20 {
            let caught = catch_unwind(|| {
                let runtime = with_procs(2, seed(n));
                drop(runtime.spawn(pending::<()>()));
                drop(runtime.spawn(async { std::panic::resume_unwind(Box::new("its own")) }));
                std::panic::resume_unwind(Box::new("meant"));
            });
            assert_eq!(caught.expect_err("it panicked").downcast_ref(), Some(&"meant"));
            assert_eq!(elapsed(), None, "the machine is still there");
        }
    }
}

mod misuse {
    use super::*;

    fn message(caught: thread::Result<()>) -> String {
        let payload = caught.expect_err("it was let pass");
        payload.downcast_ref::<&str>().map(|text| (*text).to_owned()).expect("a text")
    }

    #[test]
    fn of_a_handle_by_another_thread_panics_there() {
        let runtime = with_procs(1, 0);
        let uses: [fn(spinpark::Handle); 4] = [
            |handle| drop(handle.go(|| ())),
            |handle| drop(handle.block_on(async {})),
            |handle| assert!(handle.set_procs(1).is_ok()),
            |handle| assert!(handle.stop_the_world(|| ()).is_ok()),
        ];
        for misuse in uses {
            let handle = runtime.handle();
            let text = message(thread::spawn(move || misuse(handle)).join());
            assert!(text.contains("another thread"), "{text}");
        }
        assert_eq!(runtime.block_on(async { 1 }), Ok(1), "it does not go on");
    }

    #[test]
    fn of_a_runtime_by_another_thread_panics_there() {
        let runtime = with_procs(1, 0);
        let text = message(thread::spawn(move || drop(runtime)).join());
        assert!(text.contains("another thread"), "{text}");
    }

    #[test]
    fn of_the_waker_of_block_on_by_another_thread_is_a_deadlock_at_the_worst() {
        let runtime = with_procs(1, 0);
        let wanted = Arc::new(Mutex::new(None::<Waker>));
        let weak = Arc::downgrade(&wanted);
        thread::spawn(move || {
            for n in (0..200).cycle() {
                let Some(wanted) = weak.upgrade() else { return };
                let waker = wanted.lock().expect("no panic").take();
                (0..n).for_each(|_| std::hint::spin_loop()); // the thread that waits comes to sleep meanwhile
                waker.into_iter().for_each(Waker::wake);
            }
        });
        for _ in 0..20_000 {
            let mut polls = 0;
            let ended = runtime.block_on(poll_fn(|cx| {
                polls += 1;
                *wanted.lock().expect("no panic") = (polls == 1).then(|| cx.waker().clone());
                if polls == 1 { Poll::Pending } else { Poll::Ready(()) }
            }));
            assert!(ended.is_ok() || polls == 1, "woken, and a deadlock was reported");
        }
        assert_eq!(runtime.block_on(async { 1 }), Ok(1), "it does not go on");
    }

    #[test]
    fn of_a_waker_by_another_thread_is_no_hang() {
        let runtime = with_procs(1, 0);
        let channel = Channel::new();
        let waits = runtime.spawn({
            let channel = Arc::clone(&channel);
            async move { channel.receive().await }
        });
        runtime.block_on(yield_now()).expect("no deadlock");
        let text = message(thread::spawn(move || channel.send(())).join());
        assert!(text.contains("another thread"), "{text}");
        assert!(matches!(waits.join(), Err(JoinError::ShutDown)), "a task that cannot be queued is dropped");
    }

    #[test]
    fn by_a_second_runtime_on_the_thread_is_an_error() {
        let first = with_procs(1, 0);
        for builder in [Runtime::builder(), Runtime::builder().deterministic(1)] {
            let error = builder.procs(1).build().expect_err("there is one already");
            assert!(error.to_string().contains("drop it first"), "{error}");
        }
        drop(first);
        drop(Runtime::builder().procs(1).build().expect("it is gone"));
        drop(with_procs(1, 1));
    }

    #[test]
    fn of_another_runtime_meanwhile_panics() {
        let other = Runtime::builder().procs(1).build().expect("a runtime");
        let first = with_procs(1, 0);
        let text = message(catch_unwind(AssertUnwindSafe(|| drop(other.go(|| ())))));
        assert!(text.contains("no other"), "{text}");
        drop(first);
        assert_eq!(other.go(|| 2).join().expect("no panic"), 2);
    }

    #[test]
    fn by_a_socket_is_an_error() {
        let runtime = with_procs(1, 0);
        let bound = runtime.block_on(spinpark::net::TcpListener::bind("127.0.0.1:0")).expect("no deadlock");
        let error = bound.expect_err("there is no network");
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
        assert!(error.to_string().contains("deterministic"), "{error}");
        let found = runtime.block_on(spinpark::net::lookup_host("localhost:80")).expect("no deadlock");
        assert_eq!(found.expect_err("there is no network").kind(), io::ErrorKind::Unsupported);
    }

    #[test]
    fn of_numbers_is_told_and_leaves_nothing() {
        Runtime::builder().procs(0).deterministic(0).build().expect_err("there are no Ps");
        assert_eq!(elapsed(), None);
        assert_eq!(Runtime::builder().deterministic(0).build().expect("a runtime").procs(), 4);
    }
}

mod tasks_of_one_thread {
    use super::*;

    #[test]
    fn run_between_the_others() {
        let run = |seed| {
            let (runtime, local) = (with_procs(2, seed), LocalSet::new());
            let seen = RefCell::new(Vec::new());
            let all = local.run_until(async {
                let far = [1, 2].map(|n| {
                    spawn(async move {
                        yield_now().await;
                        n
                    })
                });
                let near = local.spawn_local(async { 3 });
                let value = near.await.expect("no panic");
                seen.borrow_mut().push(value);
                for far in far {
                    let value = far.await.expect("no panic");
                    seen.borrow_mut().push(value);
                }
            });
            runtime.block_on(all).expect("no deadlock");
            seen.into_inner()
        };
        assert!((0..20).all(|seed| run(seed) == [3, 1, 2]));
    }
}

mod many_seeds {
    use super::*;
    use spinpark::chan::{bounded, rendezvous};
    use spinpark::trace::Recorder;
    use spinpark::{Wait, select};

    /// Goroutines and tasks over channels, a select, timers, a system call that blocks, a stop of the world.
    fn a_bit_of_everything() {
        let (work, worked) = bounded::<u64>(2);
        let (done, all_done) = rendezvous::<u64>();
        for _ in 0..2 {
            let (worked, done) = (worked.clone(), done.clone());
            drop(spinpark::go(move || {
                while let Ok(n) = worked.recv().wait() {
                    match n % 3 {
                        0 => yield_now().wait(),
                        1 => sleep(Duration::from_millis(n)).wait(),
                        _ => spinpark::syscall(|| pause(Duration::from_millis(30))),
                    }
                    done.send(n).wait().expect("it listens");
                }
            }));
        }
        let sender = spawn(async move {
            for n in 0..6 {
                work.send(n).await.expect("they listen");
            }
        });
        let mut sum = 0;
        for _ in 0..6 {
            select!(wait {
                n = all_done.recv() => sum += n.expect("there are more"),
                timeout(Duration::from_secs(3600)) => panic!("it takes an hour"),
            });
        }
        spinpark::stop_the_world(|| ()).expect("not nested");
        sender.wait().expect("no panic");
        assert_eq!(sum, 15);
    }

    fn picture(procs: usize, seed: u64) -> Vec<u8> {
        let recorder = Recorder::new();
        let runtime = Runtime::builder().procs(procs).record(&recorder).deterministic(seed).build().expect("a runtime");
        runtime.go(a_bit_of_everything).join().expect("no panic");
        drop(runtime);
        let mut bytes = Vec::new();
        recorder.trace().write_json(&mut bytes).expect("there is memory");
        bytes
    }

    #[test]
    fn give_the_same_picture_twice_byte_for_byte_and_others_give_others() {
        pictures_are_the_same_twice(0..125);
    }

    #[test]
    fn give_the_same_picture_twice_also_the_next() {
        pictures_are_the_same_twice(125..250);
    }

    #[test]
    #[ignore = "slow: `.ci/nightly` runs it"]
    fn and_so_do_a_thousand() {
        pictures_are_the_same_twice(0..1000);
    }

    fn pictures_are_the_same_twice(seeds: std::ops::Range<u64>) {
        let (mut different, all) = (BTreeSet::new(), seeds.end - seeds.start);
        for n in seeds {
            let (procs, seed) = (1 + n as usize % 4, seed(n));
            let first = picture(procs, seed);
            assert!(first == picture(procs, seed), "{procs} Ps, seed {seed:#x}: another picture");
            different.insert(first);
        }
        assert!(different.len() as u64 > all / 2, "{} different pictures", different.len());
    }
}

/// Time goes on though all that can go on only yields, and others have their turn.
mod a_loop_that_waits_for_a_flag {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// With each seed `waits` ends, which is given a flag that a task sets after an hour, or at once.
    fn ends(procs: usize, waits: impl Fn(&Runtime, Arc<AtomicBool>)) {
        for seed in 0..6 {
            for time in [HOUR, Duration::ZERO] {
                let runtime = with_procs(procs, seed);
                let flag = Arc::new(AtomicBool::new(false));
                let sets = runtime.spawn({
                    let flag = Arc::clone(&flag);
                    async move {
                        sleep(time).await;
                        yield_now().await;
                        flag.store(true, Relaxed);
                    }
                });
                waits(&runtime, flag);
                sets.join().expect("it has ended");
                let passed = elapsed().expect("a machine");
                assert!(passed >= time, "{passed:?}");
                assert!(passed < time + HOUR, "{passed:?}");
            }
        }
    }

    fn ends_in_a_task<F: Future<Output = ()> + Send + 'static>(waits: fn(Arc<AtomicBool>) -> F) {
        for procs in [1, 2] {
            ends(procs, |runtime, flag| runtime.spawn(waits(flag)).join().expect("it ends"));
            ends(procs, |runtime, flag| runtime.block_on(waits(flag)).expect("it ends"));
        }
    }

    #[test]
    fn and_sleeps_for_no_time() {
        ends_in_a_task(|flag| async move {
            while !flag.load(Relaxed) {
                sleep(Duration::ZERO).await;
            }
        });
    }

    #[test]
    fn and_yields() {
        ends_in_a_task(|flag| async move {
            while !flag.load(Relaxed) {
                yield_now().await;
            }
        });
    }

    #[test]
    fn and_has_checkpoints() {
        ends_in_a_task(|flag| async move {
            while !flag.load(Relaxed) {
                checkpoint();
            }
        });
    }

    #[test]
    fn and_does_so_in_several_tasks() {
        ends_in_a_task(|flag| async move {
            let tasks = [(); 3].map(|()| {
                let flag = Arc::clone(&flag);
                spawn(async move {
                    while !flag.load(Relaxed) {
                        yield_now().await;
                    }
                })
            });
            for task in tasks {
                task.await.expect("it ends");
            }
        });
    }

    #[test]
    fn in_a_goroutine() {
        for procs in [1, 2] {
            ends(procs, |runtime, flag| {
                let waits = runtime.go(move || {
                    while !flag.load(Relaxed) {
                        sleep(Duration::ZERO).wait();
                    }
                });
                waits.join().expect("it ends");
            });
        }
    }

    #[test]
    fn on_the_main_thread() {
        ends(1, |runtime, flag| {
            while !flag.load(Relaxed) {
                runtime.block_on(sleep(Duration::ZERO)).expect("no deadlock");
            }
        });
        ends(1, |_, flag| {
            while !flag.load(Relaxed) {
                checkpoint();
            }
        });
    }
}

mod a_moment {
    use super::*;
    use spinpark::time::{interval_at, sleep_until};

    #[test]
    fn from_before_the_machine_is_kept() {
        let before = Instant::now() - HOUR;
        let runtime = with_procs(1, 0);
        runtime
            .block_on(async {
                assert_eq!(sleep_until(before).deadline(), before);
                let mut ticks = interval_at(before, HOUR + HOUR);
                assert_eq!([ticks.tick().await, ticks.tick().await], [before, before + HOUR + HOUR]);
            })
            .expect("no deadlock");
        let passed = elapsed().expect("a machine");
        assert!(passed >= HOUR - 1000 * MS && passed < HOUR + MS, "{passed:?}");
    }

    #[test]
    fn to_which_another_task_sets_a_timer_is_kept_exactly() {
        for (seed, procs) in (0..10).flat_map(|seed| [(seed, 1), (seed, 2)]) {
            // What has passed, in the end, is due at once.
            for (earlier, later, due) in
                [(HOUR / 2, Duration::ZERO, HOUR / 2), (Duration::ZERO, HOUR, 2 * HOUR), (2 * HOUR, Duration::ZERO, MS)]
            {
                let runtime = with_procs(procs, seed);
                let woken = runtime.block_on(async {
                    let (since, timer) = (elapsed().expect("a machine"), Arc::new(Mutex::new(sleep(HOUR))));
                    let theirs = Arc::clone(&timer);
                    let waits = spawn(async move {
                        poll_fn(|cx| Pin::new(&mut *theirs.lock().expect("no panic")).poll(cx)).await;
                        elapsed().expect("a machine") - since
                    });
                    sleep(MS).await;
                    let resets = |timer: &mut Sleep| timer.reset(timer.deadline() + later - earlier);
                    resets(&mut timer.lock().expect("no panic"));
                    waits.await.expect("no panic")
                });
                let woken = woken.expect("no deadlock");
                assert!(woken >= due && woken < due + MS, "seed {seed}, {procs} Ps: {woken:?}, and not {due:?}");
            }
        }
    }

    #[test]
    fn that_never_comes_is_a_deadlock_of_those_that_wait_for_it() {
        for (seed, procs) in (0..10).flat_map(|seed| [(seed, 1), (seed, 2)]) {
            let runtime = with_procs(procs, seed);
            let told = runtime.block_on(async {
                let ticks = Arc::new(Mutex::new(interval_at(Instant::now() + HOUR, HOUR)));
                let theirs = Arc::clone(&ticks);
                let waits = spawn(poll_fn(move |cx| theirs.lock().expect("no panic").poll_tick(cx)));
                sleep(MS).await;
                ticks.lock().expect("no panic").reset_after(Duration::MAX);
                waits.await.is_ok()
            });
            assert!(told.is_err(), "seed {seed}, {procs} Ps: {told:?}");
            assert!(elapsed().expect("a machine") < HOUR, "it was told when the timer would have been due");
        }
    }

    #[test]
    fn that_hyper_asks_for_is_simulated() {
        use hyper::rt::Timer as _;
        let runtime = with_procs(1, 0);
        let timer = spinpark::hyper::Timer;
        runtime
            .block_on(async {
                let before = timer.now();
                sleep(HOUR).await;
                assert!(timer.now() >= before + HOUR);
                let mut waits = timer.sleep(2 * HOUR);
                assert!(futures_lite::future::poll_once(&mut waits).await.is_none());
                timer.reset(&mut waits, timer.now() + HOUR);
                waits.await;
                assert!(timer.now() < before + 2 * HOUR + MS);
            })
            .expect("no deadlock");
    }
}

mod thread_locals {
    use super::*;
    use spinpark::Wait;
    use std::cell::Cell;

    thread_local! {
        /// As `scoped_tls` keeps it: a pointer to a frame, and the one before is put back when the frame ends.
        static SCOPED: Cell<u64> = const { Cell::new(0) };
    }

    fn scoped(n: u64, f: impl FnOnce()) {
        struct Back(u64);
        impl Drop for Back {
            fn drop(&mut self) {
                SCOPED.set(self.0);
            }
        }
        let _back = Back(SCOPED.replace(n));
        f();
    }

    fn is(n: u64) {
        assert_eq!(SCOPED.get(), n, "another's value: in another program, a pointer to a frame that is gone");
    }

    /// Each way to be left.
    fn waits(n: u64, ways: u64) {
        is(n);
        match ways {
            0 => sleep(MS * (n % 4) as u32).wait(),
            1 => drop(go(|| scoped(1000, checkpoint)).join()),
            2 => (0..10).for_each(|_| checkpoint()),
            3 => syscall(|| pause(MS)),
            4 => blocking(|| pause(MS)),
            _ => {
                let _bound = lock_thread();
                yield_now().wait();
            }
        }
        is(n);
    }

    #[test]
    fn of_goroutines_that_wait_end_in_the_order_in_which_they_began() {
        for n in 0..50 {
            let runtime = with_procs(1 + n as usize % 3, seed(n));
            let all: Vec<_> = (1..=8)
                .map(|n| {
                    runtime.go(move || {
                        is(0);
                        scoped(n, || (0..6).for_each(|way| waits(n, (way + n) % 6)));
                        is(0);
                    })
                })
                .collect();
            scoped(77, || {
                all.into_iter().for_each(|goroutine| goroutine.join().expect("each finds its own"));
                is(77);
            });
        }
    }

    #[test]
    fn end_with_their_thread_and_may_wait() {
        struct Waits(Arc<AtomicU32>);
        impl Drop for Waits {
            fn drop(&mut self) {
                pause(MS);
                self.0.fetch_add(1, Relaxed);
            }
        }
        thread_local! { static WAITS: Cell<Option<Waits>> = const { Cell::new(None) }; }
        let ended = Arc::new(AtomicU32::new(0));
        let runtime = with_procs(2, 3);
        let theirs = Arc::clone(&ended);
        runtime.go(move || WAITS.set(Some(Waits(theirs)))).join().expect("a value");
        assert_eq!(ended.load(Relaxed), 0);
        drop(runtime);
        assert_eq!(ended.load(Relaxed), 1);
    }
}
