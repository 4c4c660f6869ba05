//! spinpark: this crate.

use crate::drive::SLOWED_DOWN;
use crate::row::{Round, Setup};
use crate::tasks::{Sockets, Tasks};
use spinpark::net::{TcpListener, TcpStream};
use spinpark::{JoinHandle, Poller, Runtime};
use std::env;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::OnceLock;
use std::time::Duration;

pub struct Spinpark;

/// No task of a round uses it up, also if it is slowed down.
const SLOWED_SLICE: Duration = Duration::from_secs(10);

static RUNTIME: OnceLock<Runtime> = OnceLock::new();
/// Where it waits, if that is not epoll.
static POLLER: OnceLock<Poller> = OnceLock::new();

impl Spinpark {
    /// The workload `open`, in a ring.
    pub(crate) fn in_a_ring(open: fn(Setup) -> Round, setup: Setup) -> Round {
        assert!(POLLER.set(Poller::IoUring).is_ok(), "once a process");
        open(setup)
    }

    pub(crate) fn runtime() -> &'static Runtime {
        RUNTIME.get().expect("it was started")
    }
}

impl Tasks for Spinpark {
    type Handle<T: Send + 'static> = JoinHandle<T>;

    fn start(workers: usize) {
        // SAFETY: no goroutine of the rows holds anything of its thread across a wait.
        let mut builder = unsafe { Runtime::builder().procs(workers).stackful_goroutines() };
        if env::var_os(SLOWED_DOWN).is_some() {
            builder = builder.time_slice(SLOWED_SLICE).turn_every(SLOWED_SLICE);
        }
        let runtime = match POLLER.get() {
            Some(&poller) => builder.poller(poller).build().expect("a runtime"),
            None => builder.poller(Poller::Epoll).build().expect("a runtime"),
        };
        let poller = if POLLER.get().is_some() { "io_uring" } else { "epoll" };
        assert_eq!(runtime.metrics().poller, poller, "the system does not give what is to be measured");
        assert!(RUNTIME.set(runtime).is_ok(), "once a process");
    }

    fn run<F: Future<Output: Send> + Send + 'static>(future: F) -> F::Output {
        Spinpark::runtime().spawn(future).join().expect("no panic")
    }

    fn spawn<F: Future<Output: Send> + Send + 'static>(future: F) -> JoinHandle<F::Output> {
        spinpark::spawn(future)
    }

    fn detach<F: Future<Output: Send> + Send + 'static>(future: F) {
        drop(spinpark::spawn(future));
    }

    fn inject<F: Future<Output: Send> + Send + 'static>(future: F) {
        drop(Spinpark::runtime().spawn(future));
    }

    async fn join<T: Send + 'static>(handle: JoinHandle<T>) -> T {
        handle.await.expect("no panic")
    }

    async fn yield_now() {
        spinpark::yield_now().await;
    }

    async fn sleep(time: Duration) {
        spinpark::time::sleep(time).await;
    }

    async fn block<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> T {
        spinpark::syscall(call)
    }

    async fn block_long<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> T {
        spinpark::blocking(call)
    }
}

impl Sockets for Spinpark {
    type Listener = TcpListener;
    type Stream = TcpStream;

    async fn listen() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let address = listener.local_addr().expect("its address");
        (listener, address)
    }

    async fn accept(listener: &TcpListener) -> TcpStream {
        let (stream, _) = listener.accept().await.expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        stream
    }

    async fn connect(to: SocketAddr) -> TcpStream {
        let stream = TcpStream::connect(to).await.expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        stream
    }

    async fn read(stream: &mut TcpStream, bytes: &mut [u8]) -> bool {
        stream.read_exact(bytes).await.is_ok()
    }

    async fn write(stream: &mut TcpStream, bytes: &[u8]) {
        stream.write_all(bytes).await.expect("written");
    }
}
