//! `Builder::tokio_context`: every thread of the runtime is in the context of a runtime of tokio's, and none is tokio's own.

use super::{Says, ask_five_times, bytes};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use spinpark::sync::oneshot;
use spinpark::{BuildError, Runtime, Wait, spawn, time, yield_now};
use std::convert::Infallible;
use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;

fn with(procs: usize) -> Runtime {
    Runtime::builder().procs(procs).tokio_context().build().expect("a runtime")
}

/// Runs a test's future, which does not hang, on one P and on three.
fn run<F: Future>(future: impl Fn() -> F) {
    for procs in [1, 3] {
        let limited = async { time::timeout(Duration::from_secs(60), future()).await.expect("it hangs") };
        with(procs).block_on(limited).expect("no deadlock");
    }
}

/// Computes for a millisecond.
fn compute() {
    let from = Instant::now();
    while from.elapsed() < Duration::from_millis(1) {}
}

/// Tasks that compute for a millisecond and yield, one more than there are Ps, until the guard is dropped.
struct Busy(Arc<AtomicBool>);

impl Busy {
    fn beside() -> Busy {
        let is_over = Arc::new(AtomicBool::new(false));
        for _ in 0..4 {
            let is_over = is_over.clone();
            drop(spawn(async move {
                while !is_over.load(SeqCst) {
                    compute();
                    yield_now().await;
                }
            }));
        }
        Busy(is_over)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

/// Sends what comes back, over tokio's sockets, from a task for each connection.
async fn serve_echo(listener: TcpListener) {
    while let Ok((mut stream, _)) = listener.accept().await {
        drop(spawn(async move {
            let mut some = [0; 4096];
            while let Ok(n @ 1..) = stream.read(&mut some).await {
                stream.write_all(&some[..n]).await.expect("written");
            }
        }));
    }
}

async fn echo_by_theirs() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
    let address = listener.local_addr().expect("an address");
    drop(spawn(serve_echo(listener)));
    address
}

/// So many round trips over one of tokio's sockets.
async fn ask(address: std::net::SocketAddr, rounds: usize) {
    let mut stream = TcpStream::connect(address).await.expect("connected");
    for round in 0..rounds {
        let sent = bytes(round % 50 + 1);
        stream.write_all(&sent).await.expect("written");
        let mut came = vec![0; sent.len()];
        stream.read_exact(&mut came).await.expect("read");
        assert!(came == sent, "round {round}");
    }
}

/// So many round trips between two of our sockets, of two tasks.
async fn ask_by_ours(rounds: usize) {
    let (client, server) = super::connected().await;
    let echoes = spawn(async move {
        let mut some = [0; 64];
        while let Ok(n @ 1..) = server.read(&mut some).await {
            server.write_all(&some[..n]).await.expect("written");
        }
    });
    for round in 0..rounds {
        client.write_all(&[round as u8]).await.expect("written");
        let mut came = [0];
        client.read_exact(&mut came).await.expect("read");
        assert_eq!(came, [round as u8]);
    }
    drop(client);
    echoes.await.expect("no panic");
}

mod the_context {
    use super::*;

    fn is_there() -> bool {
        Handle::try_current().is_ok()
    }

    #[test]
    fn is_in_tasks_in_goroutines_and_in_block_on() {
        run(|| async {
            assert!(is_there(), "block_on");
            assert!(spawn(async { is_there() }).await.expect("no panic"), "a task");
            assert!(spinpark::go(is_there).await.expect("no panic"), "a goroutine");
            assert!(spinpark::go(|| spinpark::blocking(is_there)).await.expect("no panic"), "what blocks");
            assert!(tokio::spawn(async { is_there() }).await.expect("no panic"), "a task of theirs");
        });
    }

    #[test]
    fn is_there_while_a_future_is_dropped_with_its_runtime() {
        let (sender, receiver) = mpsc::channel();
        let holds = |says, begins: oneshot::Sender<()>| async move {
            let _says = says;
            begins.send(()).expect("it is awaited");
            pending::<()>().await;
        };
        let runtime = with(2);
        let inside = async {
            let ((ours, ours_begun), (theirs, theirs_begun)) = (oneshot::channel(), oneshot::channel());
            drop(spawn(holds(Says(sender.clone()), ours)));
            drop(tokio::spawn(holds(Says(sender), theirs)));
            ours_begun.await.expect("it begins");
            theirs_begun.await.expect("it begins");
        };
        runtime.block_on(inside).expect("no deadlock");
        drop(runtime);
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [(true, true); 2]);
    }

    #[test]
    fn is_the_one_that_compat_finds() {
        use spinpark::tokio_compat::CompatExt;
        run(|| async {
            let theirs = async { tokio::spawn(async { thread::current().name().map(str::to_owned) }).await };
            let name = theirs.compat().await.expect("no panic");
            assert_ne!(name.as_deref(), Some("spinpark-tokio"));
        });
    }

    #[test]
    fn is_in_goroutines_that_wait_with_and_without_stacks() {
        let waits = || {
            let from = Instant::now();
            tokio::time::sleep(Duration::from_millis(2)).wait();
            spinpark::go(|| tokio::time::sleep(Duration::from_millis(2)).wait()).join().expect("no panic");
            assert!(tokio::spawn(async { 7 }).wait().is_ok_and(|seven| seven == 7));
            from.elapsed()
        };
        // SAFETY: the closures hold nothing of their threads across a wait.
        let with_stacks = unsafe { Runtime::builder().procs(2).tokio_context().stackful_goroutines() };
        for runtime in [with(2), with_stacks.build().expect("a runtime")] {
            let all: Vec<_> = (0..20).map(|_| runtime.go(waits)).collect();
            for one in all {
                assert!(one.join().expect("no panic") >= Duration::from_millis(4));
            }
        }
    }

    /// It is built, used and dropped in a task of tokio's, in which tokio lets no runtime of its own be dropped.
    #[test]
    fn of_a_runtime_inside_of_tokios_own_is_its_own() {
        let outer = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        outer.block_on(async {
            let theirs = Handle::current().id();
            let runtime = with(2);
            let ours = runtime.run(async { spawn(async { Handle::current().id() }).await.expect("no panic") });
            assert_ne!(ours, theirs);
            let inside = runtime.run(async { Handle::current().id() });
            assert_eq!(inside, ours);
            drop(runtime);
            assert_eq!(Handle::current().id(), theirs);
            tokio::time::sleep(Duration::from_millis(1)).await;
        });
    }

    #[test]
    fn is_not_left_behind_on_the_thread_that_had_it() {
        with(1).block_on(async {}).expect("no deadlock");
        assert!(!is_there());
    }

    #[test]
    fn is_refused_in_a_deterministic_runtime() {
        let refused = Runtime::builder().deterministic(1).tokio_context().build().expect_err("it is refused");
        assert_eq!(refused, BuildError::DeterministicTokio);
        assert!(refused.to_string().contains("leave one of"), "{refused}");
    }

    #[test]
    fn takes_no_thread_of_its_own() {
        run(|| async {
            ask(echo_by_theirs().await, 10).await;
            tokio::spawn(async {}).await.expect("no panic");
            #[cfg(target_os = "linux")]
            for thread in std::fs::read_dir("/proc/self/task").expect("threads").flatten() {
                let name = std::fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
                // Other tests of this program have such threads; this one's runtime has Ms.
                assert!(!name.starts_with("tokio-"), "{name}");
            }
        });
    }
}

mod timers_and_sockets_of_theirs {
    use super::*;

    #[test]
    fn wake_tasks_of_ours() {
        run(|| async {
            let from = Instant::now();
            let tasks: Vec<_> = (1..=50)
                .map(|n| {
                    spawn(async move {
                        tokio::time::sleep(Duration::from_millis(n)).await;
                        (Duration::from_millis(n), from.elapsed())
                    })
                })
                .collect();
            for task in tasks {
                let (n, slept) = task.await.expect("no panic");
                assert!(slept >= n, "{slept:?} for {n:?}");
            }
            ask(echo_by_theirs().await, 200).await;
        });
    }

    #[test]
    fn serve_beside_ours() {
        run(|| async {
            let address = echo_by_theirs().await;
            let mut all: Vec<_> = (0..4).map(|_| spawn(ask(address, 200))).collect();
            all.extend((0..4).map(|_| spawn(ask_by_ours(200))));
            all.push(spawn(async {
                for _ in 0..20 {
                    time::sleep(Duration::from_micros(300)).await;
                }
            }));
            for one in all {
                one.await.expect("no panic");
            }
        });
    }

    #[test]
    fn have_their_turn_beside_tasks_that_always_have_work() {
        run(|| async {
            let _busy = Busy::beside();
            let theirs = tokio::spawn(async {
                for _ in 0..20 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            });
            ask(echo_by_theirs().await, 20).await;
            ask_by_ours(20).await;
            theirs.await.expect("no panic");
        });
    }

    /// More of ours have reports than the system gives at once.
    #[test]
    fn do_not_keep_two_hundred_of_ours_that_are_ready_at_once() {
        run(|| async {
            let mut pairs = Vec::new();
            for _ in 0..200 {
                pairs.push(super::super::connected().await);
            }
            for round in 0..5 {
                let (clients, servers): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
                let reads: Vec<_> = servers
                    .into_iter()
                    .map(|server| {
                        spawn(async move {
                            let mut came = [0];
                            server.read_exact(&mut came).await.expect("read");
                            (server, came[0])
                        })
                    })
                    .collect();
                // All of them wait.
                time::sleep(Duration::from_millis(5)).await;
                let mut writes = Vec::new();
                for client in clients {
                    client.write_all(&[round]).await.expect("written");
                    writes.push(client);
                }
                pairs = Vec::new();
                for (client, read) in writes.into_iter().zip(reads) {
                    let (server, came) = read.await.expect("no panic");
                    assert_eq!(came, round);
                    pairs.push((client, server));
                }
            }
        });
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn burn_no_processor_time_while_all_wait() {
        let used = || {
            let name = |id: &str| std::fs::read_to_string(format!("/proc/self/task/{id}/comm")).unwrap_or_default();
            let threads = std::fs::read_dir("/proc/self/task").expect("threads").flatten();
            let ids = threads.map(|thread| thread.file_name().to_string_lossy().into_owned());
            let nanos = |id: String| {
                let text = std::fs::read_to_string(format!("/proc/self/task/{id}/schedstat")).unwrap_or_default();
                text.split(' ').next().and_then(|nanos| nanos.parse::<u64>().ok()).unwrap_or(0)
            };
            ids.filter(|id| name(id).starts_with("quiet-")).map(nanos).sum::<u64>()
        };
        let runtime = Runtime::builder().procs(2).tokio_context().thread_name("quiet").build().expect("a runtime");
        runtime.block_on(async { (ask(echo_by_theirs().await, 5).await, ask_by_ours(5).await) }).expect("no deadlock");
        let waits = runtime.spawn(time::sleep(Duration::from_secs(60)));
        thread::sleep(Duration::from_millis(50));
        let before = used();
        thread::sleep(Duration::from_millis(300));
        let after = used();
        assert!(after - before < 30_000_000, "{} ns of 300 ms", after - before);
        drop(waits);
    }

    /// From a thread that no runtime knows, while the thread that polls waits in tokio's poller.
    #[test]
    fn do_not_keep_a_task_that_is_woken_from_outside() {
        run(|| async {
            let mut address = None;
            for _ in 0..50 {
                let (sender, receiver) = oneshot::channel();
                let wakes = thread::spawn(move || {
                    thread::sleep(Duration::from_micros(500));
                    sender.send(())
                });
                receiver.await.expect("sent");
                wakes.join().expect("no panic").expect("it is awaited");
                address = Some(echo_by_theirs().await);
            }
            ask(address.expect("fifty"), 1).await;
        });
    }
}

mod what_is_given_to_tokios_spawn {
    use super::*;

    #[test]
    fn finds_our_runtime() {
        run(|| async {
            let theirs = tokio::spawn(async {
                time::sleep(Duration::from_millis(1)).await;
                ask_by_ours(3).await;
                spawn(async { 42 }).await.expect("no panic")
            });
            assert_eq!(theirs.await.expect("no panic"), 42);
        });
    }

    /// The only P is kept by a task that does not yield: another thread polls, or there may be none, and it waits.
    #[test]
    fn runs_on_workers_and_not_on_the_monitor() {
        for threads in [1, 4] {
            let builder = Runtime::builder().procs(1).tokio_context().max_threads(threads).preemption(threads > 1);
            let runtime = builder.build().expect("a runtime");
            let threads = runtime.run(async {
                let theirs = tokio::spawn(async {
                    let mut threads = Vec::new();
                    for _ in 0..10 {
                        tokio::time::sleep(Duration::from_millis(3)).await;
                        let name = thread::current().name().unwrap_or_default().to_owned();
                        threads.push((name, spinpark::Handle::try_current().is_ok()));
                    }
                    threads
                });
                drop(spawn(async { (0..60).for_each(|_| compute()) }));
                theirs.await.expect("no panic")
            });
            assert!(threads.iter().all(|(name, inside)| name.starts_with("spinpark-m") && *inside), "{threads:?}");
        }
    }

    #[test]
    fn wakes_tasks_of_ours_and_is_woken_by_them() {
        run(|| async {
            let (to_theirs, mut from_ours) = tokio::sync::mpsc::channel(1);
            let (to_ours, from_theirs) = spinpark::chan::bounded(1);
            let theirs = tokio::spawn(async move {
                while let Some(n) = from_ours.recv().await {
                    to_ours.send(n + 1).await.expect("it is awaited");
                }
            });
            let ours = spawn(async move {
                let mut n = 0;
                while n < 2000 {
                    to_theirs.send(n).await.expect("it is awaited");
                    n = from_theirs.recv().await.expect("an answer");
                }
            });
            ours.await.expect("no panic");
            theirs.await.expect("no panic");
        });
    }

    #[test]
    fn does_not_starve_ours_though_it_never_waits() {
        run(|| async {
            let is_over = Arc::new(AtomicBool::new(false));
            let turns = Arc::new(AtomicUsize::new(0));
            let spins = {
                let (is_over, turns) = (is_over.clone(), turns.clone());
                tokio::spawn(async move {
                    while !is_over.load(SeqCst) {
                        turns.fetch_add(1, SeqCst);
                        tokio::task::yield_now().await;
                    }
                })
            };
            ask_by_ours(20).await;
            ask(echo_by_theirs().await, 20).await;
            time::sleep(Duration::from_millis(2)).await;
            is_over.store(true, SeqCst);
            spins.await.expect("no panic");
            assert!(turns.load(SeqCst) > 20, "it has run: {turns:?}");
        });
    }

    /// tokio's driver finds both at once; ours would then compute, and not yield.
    #[test]
    fn runs_before_a_task_of_ours_that_became_ready_with_it() {
        let asks = async {
            let has_run = Arc::new(AtomicUsize::new(0));
            let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
            let count = has_run.clone();
            drop(tokio::spawn(async move {
                while let Some(when) = receiver.recv().await {
                    tokio::time::sleep_until(when).await;
                    count.fetch_add(1, SeqCst);
                }
            }));
            for round in 1..=20 {
                let when = tokio::time::Instant::now() + Duration::from_millis(3);
                sender.send(when).await.expect("it is awaited");
                tokio::time::sleep_until(when).await;
                assert_eq!(has_run.load(SeqCst), round);
            }
        };
        // A task: on the only P, so that nothing is looked at before it waits.
        with(1).run(async { spawn(asks).await.expect("no panic") });
    }

    #[test]
    fn may_shut_our_runtime_down() {
        for procs in [1, 3] {
            let runtime = with(procs);
            let handle = runtime.handle();
            let (sender, receiver) = mpsc::channel();
            drop(handle.spawn(async {
                drop(tokio::spawn(async move {
                    drop(runtime);
                    sender.send("done").expect("it is awaited");
                }));
            }));
            assert_eq!(receiver.recv_timeout(Duration::from_secs(10)), Ok("done"));
        }
    }

    #[test]
    fn ends_with_our_runtime_at_any_moment() {
        for n in 0..100 {
            let runtime = with(1 + n % 3);
            let inside = async move {
                for _ in 0..n % 7 {
                    drop(tokio::spawn(async {
                        loop {
                            tokio::time::sleep(Duration::from_micros(1)).await;
                            ask_by_ours(1).await;
                        }
                    }));
                    drop(spawn(ask(echo_by_theirs().await, 1000)));
                }
            };
            drop(runtime.handle().spawn(inside));
            thread::sleep(Duration::from_micros(50 * n as u64));
            match n % 2 {
                0 => drop(runtime),
                _ => runtime.shutdown_timeout(Duration::from_millis(1)),
            }
        }
    }

    #[test]
    fn panics_alone() {
        run(|| async {
            let panics = tokio::spawn(async { panic!("on purpose") });
            assert!(panics.await.expect_err("it panics").is_panic());
            tokio::spawn(async {}).await.expect("no panic");
        });
    }
}

/// A future that needs tokio's runtime, in a runtime of ours that has none.
mod a_forgotten_context {
    use super::*;
    use std::{env, process::Command};

    const CURE: &str = "write #[spinpark::main(tokio)]";

    #[test]
    fn is_told_with_what_to_write_in_the_error_of_a_task() {
        let without = Runtime::builder().procs(1).build().expect("a runtime");
        let needs = || tokio::time::sleep(Duration::from_millis(1));
        let error = without.spawn(async move { needs().await }).join().expect_err("it panics");
        assert!(error.to_string().contains(CURE), "{error}");
        let other = without.spawn(async { panic!("on purpose") }).join().expect_err("it panics");
        assert!(!other.to_string().contains(CURE), "{other}");
    }

    /// Of `block_on`, which panics as its future does, and of tasks: in a process of its own.
    #[test]
    fn is_told_once_on_standard_error() {
        const INSIDE: &str = "SPINPARK_TEST_FORGOTTEN";
        if env::var_os(INSIDE).is_some() {
            let without = Runtime::builder().procs(1).build().expect("a runtime");
            drop(without.spawn(async { tokio::spawn(async {}).await }).join());
            return without.run(async { tokio::time::sleep(Duration::from_millis(1)).await });
        }
        let me = env::current_exe().expect("this program");
        let name = "tokio_everywhere::a_forgotten_context::is_told_once_on_standard_error";
        let ran = Command::new(me).args(["--exact", "--nocapture", name]).env(INSIDE, "1").output().expect("it runs");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(!ran.status.success(), "block_on panics: {said}");
        assert_eq!(said.matches(CURE).count(), 1, "{said}");
    }
}

/// hyper-util's client, of which reqwest is made, and hyper's server on tokio's sockets, in tasks of ours.
#[test]
fn a_client_and_a_server_of_theirs_run_on_tasks_of_ours() {
    run(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
        let address = listener.local_addr().expect("an address");
        let echo = |request: Request<Incoming>| async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            Ok::<_, Infallible>(Response::new(request.into_body()))
        };
        drop(spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let serves = http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(echo));
                drop(spawn(async move { drop(serves.await) }));
            }
        }));
        let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
        let asked: Vec<_> = (0..20).map(|n| spawn(ask_five_times(client.clone(), address, n))).collect();
        for one in asked {
            one.await.expect("no panic");
        }
    });
}
