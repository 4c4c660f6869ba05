//! What a G does, as an observer sees it.

use spinpark::kernel::sched::observer;
use spinpark::runtime::{Event, Observer};
use spinpark::trace::State::{Created, Dead, Executing, Runnable, Syscall, Waiting};
use spinpark::trace::{Recorder, State, Trace, What};
use spinpark::{Builder, JoinError, Runtime, Wait, blocking, go, lock_thread, net, spawn, syscall, time, yield_now};
use std::future::{Future, pending, poll_fn};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

/// Longer than it takes to begin a task.
const A_MOMENT: Duration = Duration::from_millis(20);

/// What was kept of a runtime of one P in which only `run` is done, which is told that runtime.
fn traced<T>(run: impl FnOnce(&Runtime) -> T) -> Trace {
    traced_of(Runtime::builder(), run)
}

/// The same, if closures have stacks of their own.
#[allow(unsafe_code)]
fn stackful<T>(run: impl FnOnce(&Runtime) -> T) -> Trace {
    // SAFETY: nothing that belongs to a thread is held over a wait here.
    traced_of(unsafe { Runtime::builder().stackful_goroutines() }, run)
}

fn traced_of<T>(builder: Builder, run: impl FnOnce(&Runtime) -> T) -> Trace {
    let recorder = Recorder::new();
    let runtime = builder.procs(1).record(&recorder).build().expect("a runtime");
    run(&runtime);
    drop(runtime);
    recorder.trace()
}

/// The states of a future that is the only task.
fn states_of<F>(future: F) -> Vec<State>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    traced(|runtime| runtime.spawn(future).join().map(drop).expect("it does not panic")).states(1)
}

mod a_task_that_yields {
    use super::*;

    #[test]
    fn does_not_wait() {
        let states = states_of(async {
            yield_now().await;
            yield_now().await;
        });
        assert_eq!(states, [Created, Runnable, Executing, Runnable, Executing, Runnable, Executing, Dead]);
    }

    #[test]
    fn does_not_wait_even_if_it_waits_for_something_else_too() {
        let states = states_of(async {
            let mut way = Box::pin(yield_now());
            let mut sleep = time::sleep(Duration::from_secs(60));
            poll_fn(|cx| {
                let is_back = way.as_mut().poll(cx);
                let _ = std::pin::Pin::new(&mut sleep).poll(cx);
                is_back
            })
            .await;
        });
        assert_eq!(states, [Created, Runnable, Executing, Runnable, Executing, Dead]);
    }

    #[test]
    fn does_not_wait_as_a_goroutine_either() {
        let trace = stackful(|runtime| runtime.go(|| yield_now().wait()).join().expect("it does not panic"));
        assert_eq!(trace.states(1), [Created, Runnable, Executing, Runnable, Executing, Dead]);
    }
}

mod a_task_that_waits {
    use super::*;

    /// It waits once, for this.
    fn once(why: &'static str) -> [State; 7] {
        [Created, Runnable, Executing, Waiting(why), Runnable, Executing, Dead]
    }

    #[test]
    fn sleeps() {
        assert_eq!(states_of(async { time::sleep(A_MOMENT).await }), once("sleep"));
    }

    #[test]
    fn waits_for_a_tick() {
        let ticks = async {
            let mut interval = time::interval(A_MOMENT);
            interval.tick().await;
            interval.tick().await;
        };
        assert_eq!(states_of(ticks), once("sleep"));
    }

    #[test]
    fn waits_for_what_it_wants_and_not_for_the_time_it_has() {
        let late = async { assert!(time::timeout(A_MOMENT, pending::<()>()).await.is_err()) };
        assert_eq!(states_of(late), once("await"));
    }

    #[test]
    fn waits_for_another() {
        let trace = traced(|runtime| {
            let two = runtime.spawn(async { spawn(async {}).await });
            two.join().expect("it does not panic").expect("it does not panic");
        });
        assert_eq!(trace.states(1), once("join"));
        assert_eq!(trace.states(2), [Created, Runnable, Executing, Dead]);
    }

    #[test]
    fn waits_for_another_on_a_stack_of_its_own() {
        let trace = stackful(|runtime| {
            let two = runtime.go(|| go(|| ()).join().is_ok());
            assert_eq!(two.join().ok(), Some(true));
        });
        assert_eq!(trace.states(1), once("join"));
    }

    #[test]
    fn waits_for_another_on_its_own_thread() {
        let trace = traced(|runtime| {
            let bound = || {
                let _locked = lock_thread();
                go(|| ()).join().is_ok()
            };
            assert_eq!(runtime.go(bound).join().ok(), Some(true));
        });
        // It is not queued: its thread is given a P.
        assert_eq!(trace.states(1), [Created, Runnable, Executing, Waiting("join"), Executing, Dead]);
    }

    #[test]
    fn waits_for_the_network() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let to = listener.local_addr().expect("an address");
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            thread::sleep(Duration::from_millis(20));
            stream.write_all(b"x").expect("it is written");
        });
        let states = states_of(async move {
            let stream = net::TcpStream::connect(to).await.expect("a server");
            stream.read(&mut [0; 1]).await.expect("a byte");
        });
        server.join().expect("it does not panic");
        assert!(states.contains(&Waiting("IO wait")), "{states:?}");
        assert!(!states.contains(&Waiting("await")), "{states:?}");
    }

    #[test]
    fn waits_for_something_that_does_not_say_what_it_is() {
        let mut is_woken = false;
        let states = states_of(poll_fn(move |cx| {
            if std::mem::replace(&mut is_woken, true) {
                return Poll::Ready(());
            }
            let waker = cx.waker().clone();
            thread::spawn(move || {
                thread::sleep(A_MOMENT);
                waker.wake();
            });
            Poll::Pending
        }));
        assert_eq!(states, once("await"));
    }
}

mod a_task_in_a_system_call {
    use super::*;

    #[test]
    fn executes_afterwards() {
        // Where the system sets the thread aside in the call, the monitor takes its P, and the next calls from the same place
        // are expected to block: those are other tests'.
        let calls = || traced(|runtime| runtime.spawn(async { syscall(|| ()) }).join().expect("no panic"));
        let loses_its_p = |what: &What| matches!(what, What::Retaken | What::Syscall { blocks: true });
        let keeps_its_p = |trace: &Trace| !trace.records().iter().any(|record| loses_its_p(&record.what));
        let trace = (0..100).map(|_| calls()).find(keeps_its_p).expect("a call that is over at once keeps its P");
        assert_eq!(trace.states(1), [Created, Runnable, Executing, Syscall, Executing, Dead], "{trace}");
    }

    #[test]
    fn leaves_its_p_to_another_m_if_the_call_blocks() {
        let trace = traced(|runtime| {
            let one = runtime.go(|| blocking(|| thread::sleep(Duration::from_millis(20))));
            let other = runtime.go(|| ());
            one.join().expect("no panic");
            other.join().expect("no panic");
        });
        assert_eq!(trace.states(1), [Created, Runnable, Executing, Syscall, Executing, Dead]);
        let ran = |g| {
            let found = trace.records().iter().find(|r| r.g == Some(g) && r.state() == Some(Executing));
            found.map(|record| (record.m, record.p)).expect("it ran")
        };
        let ((m1, p1), (m2, p2)) = (ran(1), ran(2));
        assert_eq!((p1, p2), (Some(0), Some(0)));
        assert_ne!(m1, m2);
        let handed_on = trace.records().iter().any(|r| r.what == What::Left && (r.m, r.p) == (m1, p1));
        assert!(handed_on, "{trace}");
    }
}

mod a_task_that_ends {
    use super::*;

    #[test]
    fn by_a_panic_is_dead() {
        let trace = traced(|runtime| {
            let ended = runtime.spawn(async { panic!("as it should") }).join();
            assert!(matches!(ended, Err(JoinError::Panicked(_))));
        });
        assert_eq!(trace.states(1), [Created, Runnable, Executing, Dead]);
    }

    #[test]
    fn because_it_was_told_to_is_dead() {
        let trace = traced(|runtime| {
            let ended = runtime.spawn(async {
                let sleeper = spawn(time::sleep(Duration::from_secs(60)));
                yield_now().await;
                sleeper.abort();
                matches!(sleeper.await, Err(JoinError::Aborted))
            });
            assert_eq!(ended.join().ok(), Some(true));
        });
        let ends = [Waiting("sleep"), Runnable, Executing, Dead];
        assert_eq!(trace.states(2)[3..], ends, "{trace}");
    }
}

mod a_hog {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn goes_on_without_its_p() {
        let trace = traced(|runtime| {
            let hog = runtime.go(|| {
                let start = Instant::now();
                while start.elapsed() < Duration::from_millis(100) {}
            });
            thread::sleep(A_MOMENT);
            let other = runtime.go(|| ());
            hog.join().expect("no panic");
            other.join().expect("no panic");
        });
        let of_hog: Vec<_> = trace.records().iter().filter(|record| record.g == Some(1)).map(|r| &r.what).collect();
        let place = |what: &What| of_hog.iter().position(|other| *other == what);
        let (asked, retaken, dead) = (place(&What::Preempted), place(&What::Retaken), place(&What::Dead));
        assert!(asked.is_some() && asked < retaken && retaken < dead, "{trace}");
        let of = |g, what: &What| trace.records().iter().position(|r| r.g == Some(g) && r.what == *what);
        assert!(of(2, &What::Dead) < of(1, &What::Dead), "the other did not run before the hog was over: {trace}");
    }
}

mod an_observer {
    use super::*;

    /// Counts what it is told, and panics at the third time that a G was found.
    #[derive(Clone, Default)]
    struct Touchy {
        told: Arc<AtomicUsize>,
        found: Arc<AtomicUsize>,
    }

    impl Observer for Touchy {
        fn event(&self, event: Event<'_>) {
            self.told.fetch_add(1, SeqCst);
            if let Event::Sched(observer::Event::Found { .. }) = event {
                assert!(self.found.fetch_add(1, SeqCst) < 2, "as it should");
            }
        }
    }

    #[test]
    fn that_panics_is_told_nothing_more_and_the_runtime_goes_on() {
        let (touchy, recorder) = (Touchy::default(), Recorder::new());
        let watched = Runtime::builder().procs(1).observer(touchy.clone()).record(&recorder);
        let runtime = watched.build().expect("a runtime");
        let yields = || async {
            for _ in 0..10 {
                yield_now().await;
            }
            7
        };
        assert_eq!(runtime.spawn(yields()).join().ok(), Some(7));
        let told = touchy.told.load(SeqCst);
        assert_eq!(touchy.found.load(SeqCst), 3);
        assert_eq!(runtime.spawn(yields()).join().ok(), Some(7));
        assert_eq!(touchy.told.load(SeqCst), told);
        drop(runtime);
        assert_eq!(recorder.trace().states(2).last(), Some(&Dead), "the other one was not told everything");
    }

    /// Keeps what it is told of each G, by number.
    #[derive(Clone, Default)]
    struct Book(Arc<Mutex<Vec<(u64, &'static str)>>>);

    impl Observer for Book {
        fn event(&self, event: Event<'_>) {
            let entry = match event {
                Event::Created { g, at } => (g, at.file().rsplit(['/', '\\']).next().unwrap_or_default()),
                Event::Sched(observer::Event::Queued { g, .. }) => (g.address(), "queued"),
                Event::Sched(observer::Event::Found { g, .. }) => (g.address(), "found"),
                Event::Waiting { g, why, .. } => (g, why),
                Event::Dead { g, .. } => (g, "dead"),
                _ => return,
            };
            self.0.lock().expect("no panic under it").push(entry);
        }
    }

    #[test]
    fn is_told_of_one_g_by_one_number() {
        let book = Book::default();
        let runtime = Runtime::builder().procs(1).observer(book.clone()).build().expect("a runtime");
        runtime
            .spawn(async { time::timeout(A_MOMENT, time::sleep(A_MOMENT / 2)).await })
            .join()
            .expect("no panic")
            .expect("in time");
        drop(runtime);
        let book = book.0.lock().expect("no panic under it");
        let (first, _) = book[0];
        assert!(book.iter().all(|&(g, _)| g == first), "{book:?}");
        let told: Vec<_> = book.iter().map(|&(_, what)| what).filter(|&what| what != "queued").collect();
        assert_eq!(told, ["states.rs", "found", "sleep", "found", "dead"]);
    }
}
