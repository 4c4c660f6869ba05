//! What needs tokio's runtime, on tasks of ours: its timers, its sockets, its `spawn`, and a client that is made of these.

use super::{bytes, run};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use spinpark::hyper::Io;
use spinpark::sync::oneshot;
use spinpark::tokio_compat::{Compat, CompatExt};
use spinpark::{Runtime, spawn, time, yield_now};
use std::convert::Infallible;
use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Handle};

fn thread_name() -> String {
    thread::current().name().unwrap_or_default().to_owned()
}

mod a_timer_of_theirs {
    use super::*;

    #[test]
    fn wakes_tasks_of_ours() {
        run(async {
            let from = Instant::now();
            let tasks: Vec<_> = (1..=100)
                .map(|n| {
                    let sleeps = async move {
                        tokio::time::sleep(Duration::from_millis(n)).await;
                        (n, from.elapsed(), thread_name())
                    };
                    spawn(sleeps.compat())
                })
                .collect();
            for task in tasks {
                let (n, slept, thread) = task.await.expect("no panic");
                assert!(slept >= Duration::from_millis(n), "{slept:?} for {n} ms");
                assert_ne!(thread, "spinpark-tokio", "a task of ours runs on a worker of ours");
            }
        });
    }

    #[test]
    fn ends_what_takes_too_long() {
        run(async {
            let limited = tokio::time::timeout(Duration::from_millis(5), pending::<()>());
            limited.compat().await.expect_err("it is never ready");
        }
        .compat());
    }
}

mod sockets_of_theirs {
    use super::*;

    async fn echo(mut stream: TcpStream) {
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await.expect("read");
        stream.write_all(&all).await.expect("written");
    }

    #[test]
    fn are_read_and_written_by_tasks_of_ours() {
        run(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
            let address = listener.local_addr().expect("an address");
            let serves = spawn(
                async move {
                    for _ in 0..16 {
                        let (stream, _) = listener.accept().await.expect("accepted");
                        drop(spawn(echo(stream).compat()));
                    }
                }
                .compat(),
            );
            let clients: Vec<_> = (0..16)
                .map(|n| {
                    let asks = async move {
                        let sent = bytes(100_000 + n);
                        let mut stream = TcpStream::connect(address).await.expect("connected");
                        stream.write_all(&sent).await.expect("written");
                        stream.shutdown().await.expect("shut down");
                        let mut came = Vec::new();
                        stream.read_to_end(&mut came).await.expect("read");
                        assert!(came == sent, "{} bytes came back", came.len());
                    };
                    spawn(asks.compat())
                })
                .collect();
            for client in clients {
                client.await.expect("no panic");
            }
            serves.await.expect("no panic");
        }
        .compat());
    }

    /// A socket that is made, connected or accepted needs the context. Once it is there it knows its runtime.
    #[test]
    fn are_used_outside_of_the_context_once_they_are_there() {
        run(async {
            let listener = TcpListener::bind("127.0.0.1:0").compat().await.expect("a listener");
            let address = listener.local_addr().expect("an address");
            let mut client = TcpStream::connect(address).compat().await.expect("connected");
            let (mut server, _) = listener.accept().compat().await.expect("accepted");
            let writes = spawn(async move { server.write_all(b"hello").await });
            let mut came = [0; 5];
            client.read_exact(&mut came).await.expect("read");
            assert_eq!(&came, b"hello");
            writes.await.expect("no panic").expect("written");
        });
    }
}

mod what_is_spawned_inside {
    use super::*;

    #[test]
    fn runs_on_their_thread_and_wakes_ours() {
        run(async {
            let theirs = tokio::spawn(async { thread_name() }).await.expect("no panic");
            assert_eq!(theirs, "spinpark-tokio");
            let blocks = tokio::task::spawn_blocking(|| thread::sleep(Duration::from_millis(1))).await;
            blocks.expect("no panic");
        }
        .compat());
    }

    #[test]
    fn goes_on_when_a_runtime_of_ours_has_ended() {
        let (sender, receiver) = mpsc::channel();
        run(async move {
            drop(tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(20)).await;
                sender.send("done").expect("it is awaited");
            }));
        }
        .compat());
        assert_eq!(receiver.recv_timeout(Duration::from_secs(10)), Ok("done"));
    }
}

/// The tests of this module have one worker: what a task leaves on its thread, the next would find.
mod the_context {
    use super::*;

    fn on_one_worker<F: Future>(future: F) -> F::Output {
        let runtime = Runtime::builder().procs(1).build().expect("a runtime");
        runtime.block_on(future).expect("no deadlock")
    }

    fn is_there() -> bool {
        Handle::try_current().is_ok()
    }

    #[test]
    fn is_left_whenever_the_task_waits() {
        on_one_worker(async {
            let inside = spawn(
                async {
                    for _ in 0..100 {
                        assert!(is_there(), "gone after a wait");
                        yield_now().await;
                    }
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                .compat(),
            );
            let outside = spawn(async {
                for _ in 0..100 {
                    assert!(!is_there(), "left behind by another task");
                    yield_now().await;
                }
            });
            inside.await.expect("no panic");
            outside.await.expect("no panic");
        });
    }

    #[test]
    fn is_left_by_a_task_that_panics() {
        on_one_worker(async {
            let panics = spawn(async { panic!("on purpose") }.compat());
            panics.await.expect_err("it panics");
            assert!(!spawn(async { is_there() }).await.expect("no panic"));
        });
    }

    /// Counts the drops that find it.
    struct Counts(Arc<AtomicUsize>);

    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.fetch_add(usize::from(is_there()), SeqCst);
        }
    }

    #[test]
    fn is_there_while_a_future_is_dropped() {
        let dropped = Arc::new(AtomicUsize::new(0));
        let counts = || {
            let counts = Counts(dropped.clone());
            async move {
                let _counts = counts;
                pending::<()>().await;
            }
            .compat()
        };
        on_one_worker(async {
            let aborted = spawn(counts());
            yield_now().await;
            aborted.abort();
            aborted.await.expect_err("it was aborted");
            assert_eq!(dropped.load(SeqCst), 1);
            drop(counts()); // never polled
            assert_eq!(dropped.load(SeqCst), 2);
            // Two that still wait when the runtime ends.
            drop((spawn(counts()), spawn(counts())));
            yield_now().await;
        });
        assert_eq!(dropped.load(SeqCst), 4);
    }

    #[test]
    fn of_a_runtime_of_yours_is_inside_of_another() {
        let yours = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let handle = yours.handle().clone();
        let (ends, ended) = oneshot::channel::<()>();
        let thread = thread::Builder::new().name("yours".to_owned());
        let thread = thread.spawn(move || yours.block_on(ended)).expect("a thread");
        run(async {
            let inner = async { tokio::spawn(async { thread_name() }).await.expect("no panic") };
            assert_eq!(Compat::with_handle(handle, inner).await, "yours");
            assert_eq!(tokio::spawn(async { thread_name() }).await.expect("no panic"), "spinpark-tokio");
        }
        .compat());
        ends.send(()).expect("it runs");
        thread.join().expect("no panic").expect("told to end");
    }

    #[test]
    fn of_a_runtime_that_was_shut_down_gives_errors() {
        let yours = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let handle = yours.handle().clone();
        drop(yours);
        run(async {
            let connects = TcpStream::connect("127.0.0.1:1");
            let error = Compat::with_handle(handle.clone(), connects).await.expect_err("it was shut down");
            assert!(error.to_string().contains("shut"), "{error}");
            let sleeps = async { tokio::time::sleep(Duration::from_millis(1)).await };
            let panic = spawn(Compat::with_handle(handle, sleeps)).await.expect_err("its timers panic");
            assert!(panic.to_string().contains("shut"), "{panic}");
        });
    }

    #[test]
    fn is_refused_in_a_deterministic_runtime() {
        let runtime = Runtime::builder().deterministic(1).build().expect("a runtime");
        let refused = runtime.block_on(async { spawn(async {}.compat()).await }).expect("no deadlock");
        let panic = refused.expect_err("it panics");
        assert!(panic.to_string().contains("deterministic"), "{panic}");
    }
}

/// hyper-util's client, of which reqwest is made: it connects by tokio, and keeps its connections by `tokio::spawn`.
#[test]
fn a_client_of_theirs_asks_a_server_of_ours() {
    run(async {
        let listener = spinpark::net::TcpListener::bind("127.0.0.1:0").await.expect("a listener");
        let address = listener.local_addr().expect("an address");
        let echo = |request: Request<Incoming>| async move {
            time::sleep(Duration::from_millis(1)).await;
            Ok::<_, Infallible>(Response::new(request.into_body()))
        };
        drop(spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.expect("accepted");
                drop(spawn(async move {
                    let _ = http1::Builder::new().serve_connection(Io::new(stream), service_fn(echo)).await;
                }));
            }
        }));
        let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
        let asked: Vec<_> = (0..20)
            .map(|n| {
                let client = client.clone();
                let asks = async move {
                    for round in 0..5 {
                        let sent = bytes(1000 * n + round);
                        let request = Request::post(format!("http://{address}/")).body(Full::from(sent.clone()));
                        let response = client.request(request.expect("a request")).await.expect("an answer");
                        let body = response.into_body().collect().await.expect("a body").to_bytes();
                        assert!(body == sent, "{} bytes came back", body.len());
                    }
                };
                spawn(asks.compat())
            })
            .collect();
        for one in asked {
            one.await.expect("no panic");
        }
    });
}
