//! What can be seen of a runtime, and how it can be told to be. A module names the property, a function the situation.

use spinpark::kernel::protocol::sources::SearchOrder;
use spinpark::kernel::sched::config::ConfigError;
use spinpark::{
    BuildError, Builder, Handle, JoinHandle, NotInRuntime, Runtime, ShutdownError, blocking, go, spawn, time, try_go,
    yield_now,
};
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};
use std::{env, thread};

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

/// Until it holds, or the test hangs.
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "it never happened: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Plays the ignored test `name` of this binary in a process of its own, with these variables.
fn play(name: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env::current_exe().expect("this binary"));
    command.args(["--exact", name, "--ignored", "--nocapture", "--test-threads=1"]);
    command.env_remove("SPINPARK_PROCS").env_remove("SPINPARK_DEBUG").envs(variables.iter().copied());
    command.output().expect("a process")
}

fn played(name: &str, variables: &[(&str, &str)]) -> (String, String) {
    let output = play(name, variables);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{error}");
    assert!(out.contains("1 passed"), "{out}");
    (out, error)
}

mod in_a_process_of_its_own {
    use super::*;

    #[test]
    #[ignore = "played by others, with variables"]
    fn says_how_many_ps() {
        println!(
            "procs={}",
            Runtime::new().map_or_else(|error| error.to_string(), |runtime| runtime.procs().to_string())
        );
        println!("explicit={}", with_procs(3).procs());
    }

    #[test]
    #[ignore = "played by others, with variables"]
    fn idles_for_a_while() {
        match Runtime::builder().procs(2).thread_name("tracer").build() {
            Err(error) => println!("error={error}"),
            Ok(runtime) => {
                runtime.go(|| ()).join().expect("a value");
                thread::sleep(Duration::from_millis(300));
                drop(runtime);
                // No thread is left that would print.
                eprintln!("over");
                thread::sleep(Duration::from_millis(50));
            }
        }
    }
}

mod the_environment {
    use super::*;

    const NAME: &str = "seeing::in_a_process_of_its_own::says_how_many_ps";

    #[test]
    fn says_how_many_ps_if_the_builder_does_not() {
        let (out, _) = played(NAME, &[("SPINPARK_PROCS", "7")]);
        assert!(out.contains("procs=7\nexplicit=3\n"), "{out}");
        let (out, _) = played(NAME, &[("SPINPARK_PROCS", "4096")]);
        assert!(out.contains("procs=4096\n"), "{out}");
    }

    #[test]
    fn that_is_wrong_is_an_error_that_says_what_is_allowed() {
        let (out, _) = played(NAME, &[("SPINPARK_PROCS", "none")]);
        assert!(out.contains("procs=SPINPARK_PROCS is \"none\": give a number from 1 to 4096\nexplicit=3\n"), "{out}");
    }

    #[test]
    fn that_says_nothing_leaves_the_cores() {
        let cores = thread::available_parallelism().expect("a number").get();
        for variables in [&[][..], &[("SPINPARK_PROCS", "")][..]] {
            let (out, _) = played(NAME, variables);
            let (_, procs) = out.split_once("procs=").expect("a line");
            let procs = procs.lines().next().expect("a number");
            // Half a core that is left is one more here.
            let procs: usize = procs.parse().expect("a number");
            assert!(procs == cores || procs == cores + 1, "{procs} Ps, {cores} cores");
        }
    }

    #[test]
    fn can_ask_for_a_line_now_and_then() {
        let (_, error) =
            played("seeing::in_a_process_of_its_own::idles_for_a_while", &[("SPINPARK_DEBUG", "schedtrace=20")]);
        let (before, after) = error.split_once("over\n").expect("it ended");
        let lines: Vec<_> = before.lines().filter(|line| line.starts_with("SCHED ")).collect();
        assert!((2..=16).contains(&lines.len()), "{error}");
        assert!(lines.iter().all(|line| line.contains("ms: gomaxprocs=2 idleprocs=")), "{error}");
        assert!(!after.contains("SCHED"), "it went on after the end: {error}");
    }

    #[test]
    fn that_asks_for_what_is_not_there_is_an_error() {
        let name = "seeing::in_a_process_of_its_own::idles_for_a_while";
        for bad in ["schedtrace=0", "schedtrace=never", "gctrace=1"] {
            let (out, _) = played(name, &[("SPINPARK_DEBUG", bad)]);
            let allowed = "schedtrace=N, one line every N milliseconds, 1 to 86400000";
            assert!(out.contains(&format!("error=SPINPARK_DEBUG is {bad:?}: give {allowed}\n")), "{out}");
        }
    }

    #[test]
    fn that_asks_for_nothing_gets_nothing() {
        let (_, error) = played("seeing::in_a_process_of_its_own::idles_for_a_while", &[]);
        assert!(!error.contains("SCHED"), "{error}");
    }
}

mod a_number_that_is_not_allowed {
    use super::*;

    fn refusal(builder: Builder) -> (BuildError, String) {
        let error = builder.build().expect_err("it was built");
        (error.clone(), error.to_string())
    }

    #[test]
    fn of_steal_passes_is_out_of_range() {
        for passes in [0, 65, u32::MAX] {
            let (error, text) = refusal(Runtime::builder().steal_passes(passes));
            assert_eq!(error, BuildError::Config(ConfigError::StealPasses(passes)));
            assert!(text.contains("1 to 64"), "{text}");
        }
    }

    #[test]
    fn of_max_procs_is_too_large() {
        let (error, text) = refusal(Runtime::builder().max_procs(4097));
        assert_eq!(error, BuildError::Config(ConfigError::MaxProcs(4097)));
        assert!(text.contains("4096"), "{text}");
    }

    #[test]
    fn of_procs_is_too_large_whatever_it_would_cost() {
        let (error, text) = refusal(Runtime::builder().procs(usize::MAX).latency_histogram(true));
        assert_eq!(error, BuildError::Config(ConfigError::Procs(usize::MAX)));
        assert!(text.contains("1 to 4096"), "{text}");
    }

    #[test]
    fn of_a_stack_is_too_small_or_too_large() {
        for bytes in [0, 65535, (1 << 30) + 1, usize::MAX] {
            let (error, text) = refusal(Runtime::builder().thread_stack_size(bytes));
            assert_eq!(error, BuildError::ThreadStack(bytes));
            assert_eq!(text, format!("thread_stack_size is {bytes}: give 65536 to 1073741824 bytes"));
        }
    }

    #[test]
    fn of_a_name_is_empty_or_has_a_zero_byte() {
        for name in ["", "a\0b"] {
            let (error, text) = refusal(Runtime::builder().thread_name(name));
            assert_eq!(error, BuildError::ThreadName(name.to_owned()));
            assert!(text.contains("one byte or more"), "{text}");
        }
    }
}

mod the_numbers {
    use super::*;

    #[test]
    fn arrive_at_the_scheduler() {
        let builder = Runtime::builder().procs(3).global_every(7).steal_passes(2).inherit_at_most(5).max_threads(9);
        let builder = builder.order(SearchOrder::GlobalFirst).peek_every(Duration::from_micros(8));
        let runtime = builder.build().expect("a runtime");
        let config = runtime.config();
        assert_eq!(config.peek_every, 8_000);
        assert_eq!((config.procs, config.global_every, config.steal_passes), (3, 7, 2));
        assert_eq!((config.inherit_at_most, config.max_ms, config.order), (5, 9, SearchOrder::GlobalFirst));
    }

    #[test]
    fn can_be_such_that_the_global_queue_has_no_turn() {
        let runtime = Runtime::builder().procs(1).global_every(0).build().expect("a runtime");
        assert_eq!(runtime.go(|| 1).join().expect("a value"), 1);
    }

    #[test]
    fn of_threads_are_no_less_than_those_of_ps() {
        assert_eq!(with_procs(2).config().max_ms, 512);
        assert_eq!(with_procs(600).config().max_ms, 600);
    }
}

mod the_threads {
    use super::*;

    /// The names of the threads that run two tasks at once.
    fn names(builder: Builder) -> BTreeSet<String> {
        let runtime = builder.procs(2).build().expect("a runtime");
        let barrier = Arc::new(std::sync::Barrier::new(2));
        let tasks: Vec<_> = (0..2)
            .map(|_| {
                let barrier = Arc::clone(&barrier);
                runtime.go(move || {
                    barrier.wait();
                    thread::current().name().expect("a name").to_owned()
                })
            })
            .collect();
        tasks.into_iter().map(|task| task.join().expect("a name")).collect()
    }

    #[test]
    fn are_called_after_the_runtime() {
        let numbered = |prefix: &str| BTreeSet::from([format!("{prefix}-m0"), format!("{prefix}-m1")]);
        assert_eq!(names(Runtime::builder()), numbered("spinpark"));
        assert_eq!(names(Runtime::builder().thread_name("crawler")), numbered("crawler"));
        // What one runtime asked for is not another's.
        assert_eq!(names(Runtime::builder()), numbered("spinpark"));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn are_called_so_for_the_system_too_the_monitor_among_them() {
        let runtime = Runtime::builder().procs(1).thread_name("odd").build().expect("a runtime");
        runtime.go(|| ()).join().expect("a value");
        let all = || {
            let tasks = std::fs::read_dir("/proc/self/task").expect("the threads");
            let name = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).ok();
            tasks.filter_map(|task| name(task.ok()?)).map(|name| name.trim().to_owned()).collect::<BTreeSet<_>>()
        };
        wait_until("their names", || all().is_superset(&["odd-m0".to_owned(), "odd-sysmon".to_owned()].into()));
    }

    #[test]
    fn have_stacks_as_large_as_was_asked_for() {
        /// Uses a kilobyte a level.
        fn deep(levels: usize) -> usize {
            let room = std::hint::black_box([levels as u8; 1024]);
            if levels == 0 { 0 } else { deep(levels - 1) + usize::from(room[0] == levels as u8) }
        }
        // Much more than the two megabytes that are usual.
        let runtime = Runtime::builder().procs(1).thread_stack_size(64 << 20).build().expect("a runtime");
        assert_eq!(runtime.spawn(async { deep(8 << 10) }).join().expect("a value"), 8 << 10);
        let runtime = Runtime::builder().procs(1).thread_stack_size(64 << 10).build().expect("a runtime");
        assert_eq!(runtime.go(|| 1).join().expect("a value"), 1);
    }
}

mod a_hook {
    use super::*;

    #[test]
    fn is_run_when_a_thread_begins_and_when_it_ends() {
        let (starts, stops) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let count = |counter: &Arc<AtomicUsize>| {
            let counter = Arc::clone(counter);
            move || {
                counter.fetch_add(1, SeqCst);
            }
        };
        let builder = Runtime::builder().procs(2).on_thread_start(count(&starts)).on_thread_stop(count(&stops));
        let runtime = builder.build().expect("a runtime");
        let (first, release) = blocked(&runtime);
        let (second, release_second) = blocked(&runtime);
        assert!(starts.load(SeqCst) >= 2);
        drop((release, release_second));
        first.join().expect("a value");
        second.join().expect("a value");
        // Not the monitor, which is a third.
        let alive = runtime.snapshot().alive;
        assert_eq!((starts.load(SeqCst), stops.load(SeqCst)), (alive, 0));
        drop(runtime);
        assert_eq!(stops.load(SeqCst), starts.load(SeqCst), "the end did not wait for the hooks");
    }

    #[test]
    fn is_run_by_the_thread_itself_before_its_first_task() {
        thread_local!(static BEGUN: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });
        let runtime = Runtime::builder().procs(2).on_thread_start(|| BEGUN.set(true)).build().expect("a runtime");
        let tasks: Vec<_> = (0..100).map(|_| runtime.go(|| BEGUN.get())).collect();
        assert!(tasks.into_iter().all(|task| task.join().expect("a value")));
    }

    #[test]
    fn that_panics_harms_nobody() {
        let builder =
            Runtime::builder().procs(2).on_thread_start(|| panic!("at first")).on_thread_stop(|| panic!("at last"));
        let runtime = builder.build().expect("a runtime");
        let tasks: Vec<_> = (0..10).map(|n| runtime.go(move || n)).collect();
        assert_eq!(tasks.into_iter().map(|task| task.join().expect("a value")).sum::<i32>(), 45);
        runtime.shutdown().expect("not a task");
    }

    #[test]
    fn is_inside_of_the_runtime() {
        let (told, tells) = mpsc::channel();
        let builder = Runtime::builder().procs(1).on_thread_start(move || {
            let told = told.clone();
            drop(Handle::current().go(|| ()));
            drop(go(move || told.send(6 * 7)));
        });
        let runtime = builder.build().expect("a runtime");
        assert_eq!(tells.recv().expect("the task runs"), 42);
        drop(runtime);
    }

    #[test]
    fn cannot_end_the_runtime_but_can_drop_it() {
        let place: Arc<Mutex<Option<Runtime>>> = Arc::default();
        let was_refused = Arc::new(AtomicBool::new(false));
        let builder = Runtime::builder().procs(1).on_thread_stop({
            let (place, was_refused) = (Arc::clone(&place), Arc::clone(&was_refused));
            move || {
                let Some(runtime) = place.lock().expect("no panic under it").take() else { return };
                let ShutdownError(runtime) = runtime.shutdown().expect_err("it waited for itself");
                was_refused.store(true, SeqCst);
                drop(runtime);
            }
        });
        let runtime = builder.build().expect("a runtime");
        let handle = runtime.handle();
        // A task that ends while it is bound to its thread ends that.
        let (go_on, goes_on) = mpsc::channel::<()>();
        let task = runtime.go(move || {
            core::mem::forget(spinpark::lock_thread().expect("it is a task"));
            let _ = goes_on.recv();
        });
        *place.lock().expect("no panic under it") = Some(runtime);
        drop(go_on);
        task.join().expect("a value");
        wait_until("the runtime ended", || matches!(handle.go(|| ()).join(), Err(spinpark::JoinError::ShutDown)));
        assert!(was_refused.load(SeqCst));
    }

    #[test]
    fn is_run_when_a_thread_has_slept_for_long() {
        let stops = Arc::new(AtomicUsize::new(0));
        let builder = Runtime::builder().procs(4).thread_keep_alive(Duration::from_millis(1)).on_thread_stop({
            let stops = Arc::clone(&stops);
            move || {
                stops.fetch_add(1, SeqCst);
            }
        });
        let runtime = builder.build().expect("a runtime");
        let held: Vec<_> = (0..4).map(|_| blocked(&runtime)).collect();
        drop(held);
        wait_until("three threads ended", || stops.load(SeqCst) >= 3);
        assert!(runtime.snapshot().alive >= 1);
    }
}

mod the_metrics {
    use super::*;

    #[test]
    fn count_each_dispatch_by_where_it_came_from() {
        // On a slow machine the task would be preempted, and dispatched again.
        let builder = Runtime::builder().procs(1).inherit_at_most(1000).preemption(false);
        let runtime = builder.build().expect("a runtime");
        let before = runtime.metrics();
        runtime
            .go(|| {
                // The last that was readied runs next, the others follow from the ring.
                for _ in 0..10 {
                    drop(go(|| ()));
                }
            })
            .join()
            .expect("a value");
        wait_until("they ran", || runtime.metrics().dispatches() - before.dispatches() >= 11);
        let after = runtime.metrics();
        let grown = |count: fn(&spinpark::PMetrics) -> u64| count(&after.per_p[0]) - count(&before.per_p[0]);
        assert_eq!(grown(|p| p.dispatches()), 11, "{after:?}");
        assert_eq!(grown(|p| p.from_runnext), 1);
        assert_eq!(grown(|p| p.from_steal + p.tasks_stolen + p.from_sources), 0);
        // One in 61 is the global queue's turn, and the first task came from there.
        assert_eq!(grown(|p| p.from_global), 1);
        assert_eq!(grown(|p| p.from_ring), 9);
        assert_eq!(after.tasks_queued(), 0);
    }

    #[test]
    fn count_what_was_stolen() {
        let runtime = with_procs(2);
        runtime
            .go(|| {
                let tasks: Vec<_> = (0..64).map(|_| go(|| thread::sleep(Duration::from_micros(100)))).collect();
                // This P is occupied: all of them are the other's to steal.
                thread::sleep(Duration::from_millis(50));
                tasks.len()
            })
            .join()
            .expect("a value");
        let metrics = runtime.metrics();
        let (thefts, stolen) = (
            metrics.per_p.iter().map(|p| p.from_steal).sum::<u64>(),
            metrics.per_p.iter().map(|p| p.tasks_stolen).sum::<u64>(),
        );
        assert!(thefts >= 1 && stolen > thefts, "{metrics:?}");
        assert!(metrics.spins >= 1 && metrics.spinning_time > Duration::ZERO, "{metrics:?}");
    }

    #[test]
    fn count_threads_that_sleep_and_wake() {
        let runtime = with_procs(2);
        for _ in 0..20 {
            runtime.go(|| ()).join().expect("a value");
            wait_until("all sleep", || runtime.snapshot().is_quiescent());
        }
        let metrics = runtime.metrics();
        assert!(metrics.threads_started >= 1 && metrics.threads >= 1, "{metrics:?}");
        assert!(metrics.polls + metrics.sleeps >= 19, "{metrics:?}");
        assert_eq!(metrics.threads_sleeping + metrics.threads_polling, metrics.threads);
        assert_eq!((metrics.idle_procs, metrics.threads_spinning), (2, 0));
    }

    /// Each time from the same place.
    fn in_a_call(call: Box<dyn FnOnce() -> i32>) -> i32 {
        spinpark::syscall(call)
    }

    #[test]
    fn count_ps_that_are_taken_from_tasks_that_wait() {
        let runtime = with_procs(1);
        // Where calls are expected to block, a task hands its P on itself. Places share what is learned of them, with other tests' too;
        // after a short call the next is not expected to block.
        let is_taken = |_| {
            let (first, second) = (mpsc::channel(), mpsc::channel());
            let waits = runtime.go(move || {
                in_a_call(Box::new(|| 0));
                first.0.send(()).expect("the test waits for it");
                in_a_call(Box::new(move || second.1.recv().expect("the other task sends")))
            });
            first.1.recv().expect("it runs");
            let other = runtime.go(move || second.0.send(7).expect("it waits"));
            assert_eq!(waits.join().expect("a value"), 7);
            other.join().expect("a value");
            runtime.metrics().retakes >= 1
        };
        assert!((0..100).any(is_taken), "{:?}", runtime.metrics());
    }

    #[test]
    fn count_what_waits() {
        let runtime = with_procs(1);
        let sleeper = runtime.spawn(time::sleep(Duration::from_secs(3600)));
        // The timer is there before the task waits.
        wait_until("it sleeps", || runtime.metrics().timers == 1 && runtime.metrics().tasks_waiting == 1);
        let (held, release) = blocked(&runtime);
        let queued: Vec<_> = (0..5).map(|_| runtime.go(|| ())).collect();
        assert_eq!(runtime.metrics().tasks_queued(), 5);
        drop(release);
        held.join().expect("a value");
        queued.into_iter().for_each(|task| task.join().expect("a value"));
        sleeper.abort();
        wait_until("nothing waits", || runtime.metrics().tasks_waiting + runtime.metrics().timers == 0);
    }

    #[test]
    fn count_threads_that_could_not_be_had() {
        // Nothing is preempted: each that is may have a thread more.
        let runtime = Runtime::builder().procs(2).max_threads(1).preemption(false).build().expect("a runtime");
        let tasks: Vec<_> = (0..100).map(|_| runtime.go(|| thread::sleep(Duration::from_micros(10)))).collect();
        tasks.into_iter().for_each(|task| task.join().expect("a value"));
        assert!(runtime.metrics().threads_refused >= 1);
        assert_eq!(runtime.metrics().threads_started, 1);
    }

    #[test]
    fn count_stops_and_follow_the_number_of_ps() {
        let runtime = with_procs(1);
        assert_eq!(runtime.metrics().stops, 0);
        runtime.stop_the_world(|| ()).expect("not nested");
        runtime.set_procs(3).expect("there is room");
        let metrics = runtime.handle().metrics();
        assert_eq!((metrics.stops, metrics.procs), (2, 3));
        assert_eq!(metrics.per_p.len(), 64);
        assert!(metrics.uptime > Duration::ZERO);
    }

    #[test]
    fn lose_nothing_while_all_ps_count() {
        // Nothing is preempted: one that is has a dispatch more when it goes on.
        let runtime = Runtime::builder().procs(4).preemption(false).build().expect("a runtime");
        let before = runtime.metrics().dispatches();
        let tasks: Vec<_> = (0..40)
            .map(|_| {
                runtime.spawn(async {
                    for _ in 0..1000 {
                        yield_now().await;
                    }
                })
            })
            .collect();
        tasks.into_iter().for_each(|task| task.join().expect("a value"));
        // A yield is a dispatch, and the first is one more.
        assert_eq!(runtime.metrics().dispatches() - before, 40 * 1001);
    }
}

mod a_histogram {
    use super::*;

    fn after_yields(runtime: &Runtime) -> spinpark::Metrics {
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                runtime.spawn(async {
                    for _ in 0..1000 {
                        yield_now().await;
                    }
                })
            })
            .collect();
        tasks.into_iter().for_each(|task| task.join().expect("a value"));
        runtime.metrics()
    }

    #[test]
    fn is_there_only_if_it_was_asked_for() {
        let metrics = after_yields(&with_procs(1));
        assert_eq!((metrics.latency, metrics.run_time), (None, None));
    }

    #[test]
    fn has_about_one_dispatch_in_eight() {
        let measured = || {
            // On a slow machine a task would be preempted; one that ends without a P is not counted.
            let builder = Runtime::builder().procs(1).latency_histogram(true).preemption(false);
            let runtime = builder.build().expect("a runtime");
            after_yields(&runtime);
            // The last one's handle is ready a moment before its time is known.
            wait_until("its time is known", || {
                let metrics = runtime.metrics();
                metrics.latency.map(|times| times.count()) == metrics.run_time.map(|times| times.count())
            });
            runtime.metrics().latency.expect("asked for")
        };
        // 1000 of 8008, at random; fewer, where tasks of other tests have the places of these.
        let is_about = |latency: &spinpark::Histogram| (500..2000).contains(&latency.count());
        let latency = (0..10).map(|_| measured()).find(is_about).expect("it is one in eight");
        assert!(latency.quantile(0.5) <= latency.quantile(0.99));
    }

    #[test]
    fn knows_how_long_a_task_waited_and_ran() {
        let runtime = Runtime::builder().procs(1).latency_histogram(true).build().expect("a runtime");
        // Sampled: that none of them is measured happens once in 10^7 times.
        let tasks: Vec<_> = (0..120).map(|_| runtime.go(|| thread::sleep(Duration::from_millis(2)))).collect();
        tasks.into_iter().for_each(|task| task.join().expect("a value"));
        let metrics = runtime.metrics();
        let (latency, run_time) = (metrics.latency.expect("asked for"), metrics.run_time.expect("asked for"));
        assert!(run_time.quantile(0.0).is_some_and(|least| least >= Duration::from_millis(2)), "{run_time:?}");
        assert!(latency.quantile(1.0).is_some_and(|most| most >= Duration::from_millis(2)), "{latency:?}");
        assert!(run_time.total() >= Duration::from_millis(2) && run_time.mean() >= Some(Duration::from_millis(2)));
    }

    #[test]
    fn goes_on_where_tasks_leave_their_p() {
        let runtime = Runtime::builder().procs(2).latency_histogram(true).build().expect("a runtime");
        let tasks: Vec<_> = (0..200).map(|n| runtime.go(move || blocking(move || n))).collect();
        assert_eq!(tasks.into_iter().map(|task| task.join().expect("a value")).sum::<i32>(), 19900);
        assert!(runtime.metrics().run_time.expect("asked for").count() > 0);
    }
}

mod the_line {
    use super::*;

    /// The numbers of a line of Go's, by name.
    #[allow(clippy::type_complexity)] // it is four lists
    fn parse(line: &str) -> (u64, Vec<(&str, u64)>, Vec<u64>, Vec<u64>) {
        let rest = line.strip_prefix("SCHED ").expect("it begins so");
        let (millis, rest) = rest.split_once("ms: ").expect("the time");
        let (head, rest) = rest.split_once(" [ ").expect("lengths");
        let (lengths, rest) = rest.split_once(" ] schedticks=[ ").expect("ticks");
        let ticks = rest.strip_suffix(" ]").expect("the end");
        let number = |text: &str| text.parse().expect("a number");
        let numbers = |list: &str| list.split(' ').map(|text| text.parse().expect("a number")).collect();
        let named = head.split(' ').map(|pair| pair.split_once('=').expect("a pair"));
        (number(millis), named.map(|(name, value)| (name, number(value))).collect(), numbers(lengths), numbers(ticks))
    }

    #[test]
    fn is_as_gos() {
        let runtime = with_procs(2);
        runtime.go(|| ()).join().expect("a value");
        wait_until("all sleep", || runtime.snapshot().is_quiescent());
        let line = runtime.schedtrace();
        let (_, head, lengths, ticks) = parse(&line);
        let names: Vec<_> = head.iter().map(|(name, _)| *name).collect();
        let gos = ["gomaxprocs", "idleprocs", "threads", "spinningthreads", "needspinning", "idlethreads", "runqueue"];
        assert_eq!(names, gos, "{line}");
        assert_eq!((head[0].1, head[1].1, head[3].1, head[6].1), (2, 2, 0, 0), "{line}");
        assert_eq!((lengths, ticks.len()), (vec![0, 0], 2), "{line}");
        assert!(ticks.iter().sum::<u64>() >= 1, "{line}");
    }

    #[test]
    fn shows_what_waits() {
        let runtime = with_procs(1);
        let (held, release) = blocked(&runtime);
        let queued: Vec<_> = (0..3).map(|_| runtime.go(|| ())).collect();
        let line = runtime.handle().schedtrace();
        assert!(line.contains("gomaxprocs=1 idleprocs=0 ") && line.contains("runqueue=3 [ 0 ]"), "{line}");
        drop(release);
        held.join().expect("a value");
        queued.into_iter().for_each(|task| task.join().expect("a value"));
    }

    #[test]
    fn has_as_many_ps_as_there_are_now() {
        let runtime = with_procs(1);
        runtime.set_procs(3).expect("there is room");
        let line = runtime.schedtrace();
        let (_, head, lengths, ticks) = parse(&line);
        assert_eq!((head[0], lengths.len(), ticks.len()), (("gomaxprocs", 3), 3, 3));
    }
}

mod who_has_entered_a_runtime {
    use super::*;

    #[test]
    fn can_spawn_and_sleep_as_long_as_the_guard_lives() {
        let runtime = with_procs(1);
        let guard = runtime.enter();
        let (told, tells) = mpsc::channel();
        drop(go(move || told.send(1)));
        assert_eq!(tells.recv().expect("it runs"), 1);
        assert_eq!(spawn(async { 2 }).join().expect("a value"), 2);
        // A timer of the runtime, awaited by hand.
        let sleep = time::sleep(Duration::from_millis(5));
        let start = Instant::now();
        poll_to_its_end(sleep);
        assert!(start.elapsed() >= Duration::from_millis(5));
        drop(guard);
        let _: NotInRuntime = try_go(|| ()).expect_err("it spawned somewhere");
    }

    fn poll_to_its_end<F: Future>(future: F) -> F::Output {
        let waker = std::task::Waker::from(Arc::new(Unpark(thread::current())));
        let mut future = std::pin::pin!(future);
        loop {
            if let std::task::Poll::Ready(value) = future.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
                return value;
            }
            thread::park();
        }
    }

    struct Unpark(thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    fn procs_around() -> Option<usize> {
        Handle::try_current().ok().map(|handle| handle.metrics().procs)
    }

    #[test]
    fn is_in_the_last_one_in_whatever_order_they_are_left() {
        let (one, two) = (with_procs(1), with_procs(2));
        let first = one.enter();
        let second = two.enter();
        assert_eq!(procs_around(), Some(2));
        drop(first);
        assert_eq!(procs_around(), Some(2));
        drop(second);
        assert_eq!(procs_around(), None);
        let first = one.enter();
        let second = two.enter();
        drop(second);
        assert_eq!(procs_around(), Some(1));
        drop(first);
        assert_eq!(procs_around(), None);
    }

    #[test]
    fn is_still_a_task_inside_of_a_task() {
        let (one, two) = (with_procs(1), with_procs(2));
        let handle = two.handle();
        let inside = one.go(move || {
            let guard = handle.enter();
            core::mem::forget(guard);
            procs_around()
        });
        assert_eq!(inside.join().expect("a value"), Some(1));
        assert_eq!(one.go(procs_around).join().expect("a value"), Some(1), "the thread was harmed");
        let guard = two.enter();
        assert_eq!(one.block_on(async { procs_around() }).expect("no deadlock"), Some(1));
        drop(guard);
    }

    #[test]
    fn can_still_end_it() {
        let runtime = with_procs(1);
        let handle = runtime.handle();
        let guard = handle.enter();
        runtime.shutdown().expect("it is no task");
        assert!(matches!(spawn(async {}).join(), Err(spinpark::JoinError::ShutDown)));
        drop(guard);
    }

    #[test]
    fn is_alone_there_among_threads() {
        let runtime = with_procs(1);
        let guard = runtime.enter();
        thread::spawn(|| assert!(Handle::try_current().is_err())).join().expect("it did not panic");
        drop(guard);
    }
}

mod the_current_runtime {
    use super::*;

    #[test]
    fn is_that_of_the_task() {
        let runtime = with_procs(2);
        let value = runtime.spawn(async { Handle::current().spawn(async { 5 }).await.expect("a value") });
        assert_eq!(value.join().expect("a value"), 5);
        let inside = runtime.go(|| blocking(|| Handle::try_current().is_ok()));
        assert!(inside.join().expect("a value"));
    }

    #[test]
    fn is_none_elsewhere_and_that_is_said() {
        let _: NotInRuntime = Handle::try_current().expect_err("there is one");
        let payload = thread::spawn(|| drop(Handle::current())).join().expect_err("there is one");
        let text = payload.downcast_ref::<String>().expect("a text");
        assert!(text.contains("spinpark::Handle::current") && text.contains("outside of a task"), "{text}");
    }
}

mod the_text_for_prometheus {
    use super::*;

    /// Each line of a family stands below its head, once; the values by name and labels.
    fn values(text: &str) -> BTreeMap<String, f64> {
        let (mut family, mut values) = (String::new(), BTreeMap::new());
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                assert!(!text.contains(&format!("# HELP {rest}\n# HELP")), "{rest} has no type");
                family = rest.split(' ').next().expect("a name").to_owned();
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').expect("two words");
                assert_eq!(name, family);
                assert_eq!(kind == "counter", name.ends_with("_total"), "{name} is a {kind}");
            } else {
                let (name, value) = line.rsplit_once(' ').expect("two words");
                assert!(name.starts_with(&family), "{name} stands below {family}");
                let old = values.insert(name.to_owned(), value.parse().expect("a number"));
                assert!(old.is_none(), "{name} stands there twice");
            }
        }
        values
    }

    #[test]
    fn has_each_number_of_the_metrics() {
        let runtime = Runtime::builder().procs(2).latency_histogram(true).build().expect("a runtime");
        for _ in 0..500 {
            runtime.go(|| ()).join().expect("no panic");
        }
        let metrics = runtime.metrics();
        let values = values(&metrics.prometheus());
        assert_eq!(values["spinpark_procs"], 2.0);
        assert_eq!(values["spinpark_threads_started_total"], metrics.threads_started as f64);
        let dispatches = values.iter().filter(|(name, _)| name.starts_with("spinpark_dispatches_total{"));
        assert_eq!(dispatches.map(|(_, count)| *count as u64).sum::<u64>(), metrics.dispatches());
        assert!(values.keys().filter(|name| name.contains("from=\"steal\"")).count() >= 2);
    }

    #[test]
    fn has_histograms_whose_buckets_add_up() {
        let runtime = Runtime::builder().procs(1).latency_histogram(true).build().expect("a runtime");
        for _ in 0..500 {
            runtime.go(|| ()).join().expect("no panic");
        }
        let metrics = runtime.metrics();
        let (values, latency) = (values(&metrics.prometheus()), metrics.latency.expect("it was asked for"));
        let prefix = "spinpark_task_latency_seconds_bucket{le=\"";
        let buckets = values.iter().filter_map(|(name, count)| {
            let le = name.strip_prefix(prefix)?.strip_suffix("\"}")?;
            Some((le.parse::<f64>().expect("a number"), *count))
        });
        let mut buckets: Vec<_> = buckets.collect();
        buckets.sort_by(|one, other| one.0.total_cmp(&other.0));
        assert!(buckets.len() > 20 && buckets.iter().is_sorted_by_key(|bucket| bucket.1), "{buckets:?}");
        assert_eq!(buckets.last().map(|last| (last.0, last.1)), Some((f64::INFINITY, latency.count() as f64)));
        assert_eq!(values["spinpark_task_latency_seconds_count"], latency.count() as f64);
        assert_eq!(values["spinpark_task_latency_seconds_sum"], latency.total().as_secs_f64());
    }

    #[test]
    fn has_none_without_histograms() {
        assert!(!with_procs(1).metrics().prometheus().contains("bucket"));
    }
}

mod a_task_that_waits_with_its_thread {
    use super::*;
    use spinpark::Wait;

    #[test]
    fn is_warned_of_once_when_there_are_many() {
        if env::var_os("SPINPARK_TEST_MANY").is_none() {
            let mut again = Command::new(env::current_exe().expect("this binary"));
            again.args([
                "--exact",
                "seeing::a_task_that_waits_with_its_thread::is_warned_of_once_when_there_are_many",
                "--nocapture",
            ]);
            for (many, expected) in [("64", 0), ("70", 1)] {
                let output = again.env("SPINPARK_TEST_MANY", many).output().expect("a process");
                let error = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{error}");
                assert_eq!(error.matches("wait with a thread each").count(), expected, "{many}: {error}");
            }
            return;
        }
        let many: usize = env::var("SPINPARK_TEST_MANY").expect("it is set").parse().expect("a number");
        let runtime = Runtime::builder().procs(1).detect_deadlock(false).build().expect("a runtime");
        for _ in 0..2 {
            let (sender, receiver) = spinpark::chan::bounded::<()>(1);
            let tasks: Vec<_> = (0..many)
                .map(|_| {
                    let receiver = receiver.clone();
                    runtime.go(move || receiver.recv().wait().is_err())
                })
                .collect();
            wait_until("all wait", || runtime.metrics().threads >= many);
            thread::sleep(Duration::from_millis(50));
            drop(sender);
            assert!(tasks.into_iter().all(|task| task.join().expect("no panic")));
        }
    }
}
