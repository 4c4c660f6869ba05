//! What needs tokio's runtime, on tasks of ours: its timers, its sockets, its `spawn`, and a client that is made of these.

use super::{Says, ask_five_times, bytes, run};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Frame, Incoming};
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
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, ready};
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
    fn finds_our_runtime() {
        run(async {
            let theirs = tokio::spawn(async {
                time::sleep(Duration::from_millis(1)).await;
                let listener = spinpark::net::TcpListener::bind("127.0.0.1:0").await.expect("a listener");
                let address = listener.local_addr().expect("an address");
                let accepts = spawn(async move { listener.accept().await.map(|_| thread_name()) });
                spinpark::net::TcpStream::connect(address).await.expect("connected");
                accepts.await.expect("no panic").expect("accepted")
            });
            assert_ne!(theirs.await.expect("no panic"), "spinpark-tokio", "a task of ours runs on a worker of ours");
        }
        .compat());
    }

    #[test]
    fn finds_its_own_of_several_runtimes() {
        let named = |name: &str| Runtime::builder().procs(1).thread_name(name).build().expect("a runtime");
        let runtimes = ["first", "second"].map(|name| (name, named(name)));
        for (name, runtime) in runtimes.iter().cycle().take(6) {
            let asks = async { tokio::spawn(async { spawn(async { thread_name() }).await }).await };
            let found = runtime.run(asks.compat()).expect("no panic").expect("no panic");
            assert!(found.starts_with(name), "{found} for {name}");
        }
    }

    #[test]
    fn ends_with_our_runtime() {
        let (sender, receiver) = mpsc::channel();
        run(async move {
            let says = Says(sender);
            drop(tokio::spawn(async move {
                let _says = says;
                pending::<()>().await;
            }));
        }
        .compat());
        assert_eq!(receiver.try_recv(), Ok((true, true)), "dropped inside of both, before the end is over");
    }

    #[test]
    fn is_waited_for_while_it_computes() {
        let is_done = Arc::new(AtomicUsize::new(0));
        let (begins, begun) = oneshot::channel();
        run(async {
            let is_done = is_done.clone();
            drop(tokio::spawn(async move {
                begins.send(()).expect("it is awaited");
                thread::sleep(Duration::from_millis(20));
                is_done.store(1, SeqCst);
            }));
            begun.await.expect("it begins");
        }
        .compat());
        assert_eq!(is_done.load(SeqCst), 1);
    }

    #[test]
    fn is_not_waited_for_while_it_blocks() {
        let (ends, ended) = mpsc::channel::<()>();
        run(async {
            drop(tokio::task::spawn_blocking(move || ended.recv()));
        }
        .compat());
        drop(ends);
    }

    #[test]
    fn may_shut_our_runtime_down() {
        let runtime = Runtime::builder().procs(1).build().expect("a runtime");
        let handle = runtime.handle();
        let (sender, receiver) = mpsc::channel();
        let shuts_down = async {
            drop(tokio::spawn(async move {
                drop(runtime);
                sender.send("done").expect("it is awaited");
            }));
        };
        drop(handle.spawn(shuts_down.compat()));
        assert_eq!(receiver.recv_timeout(Duration::from_secs(10)), Ok("done"));
    }

    /// A future that is dropped with a runtime that has ended already finds the process's.
    #[test]
    fn is_found_by_what_is_left_over() {
        let runtime = Runtime::builder().procs(1).build().expect("a runtime");
        let handle = runtime.handle();
        drop(runtime);
        let _inside = handle.enter();
        let left = async { tokio::spawn(async { thread_name() }).await.expect("no panic") }.compat();
        assert_eq!(futures_lite::future::block_on(left), "spinpark-tokio");
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

/// A body that takes its time, by a timer of ours.
struct Slow(time::Sleep, usize);

impl Body for Slow {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.1 == 0 {
            return Poll::Ready(None);
        }
        ready!(Pin::new(&mut self.0).poll(cx));
        self.0.reset(Instant::now() + Duration::from_millis(1));
        self.1 -= 1;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"slow")))))
    }
}

/// hyper-util's client polls it on tokio's thread, in what it gave to `tokio::spawn`.
#[test]
fn a_body_that_their_client_sends_may_sleep_by_ours() {
    run(async {
        let listener = spinpark::net::TcpListener::bind("127.0.0.1:0").await.expect("a listener");
        let address = listener.local_addr().expect("an address");
        let echo = |request: Request<Incoming>| async move { Ok::<_, Infallible>(Response::new(request.into_body())) };
        drop(spawn(async move {
            let (stream, _) = listener.accept().await.expect("accepted");
            let _ = http1::Builder::new().serve_connection(Io::new(stream), service_fn(echo)).await;
        }));
        let client = Client::builder(TokioExecutor::new()).build_http();
        let body = Slow(time::sleep(Duration::from_millis(1)), 10);
        let request = Request::post(format!("http://{address}/")).body(body).expect("a request");
        let response = client.request(request).await.expect("an answer");
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        assert_eq!(body, "slow".repeat(10));
    }
    .compat());
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
        let asked: Vec<_> = (0..20).map(|n| spawn(ask_five_times(client.clone(), address, n).compat())).collect();
        for one in asked {
            one.await.expect("no panic");
        }
    });
}
