//! tokio: the runtime with many threads, also where it has one worker.

use crate::tasks::{Sockets, Tasks};
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::OnceLock;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

pub struct Tokio;

static RUNTIME: OnceLock<Runtime> = OnceLock::new();

fn runtime() -> &'static Runtime {
    RUNTIME.get().expect("it was started")
}

impl Tasks for Tokio {
    type Handle<T: Send + 'static> = JoinHandle<T>;

    fn start(workers: usize) {
        let runtime = Builder::new_multi_thread().worker_threads(workers).enable_all().build().expect("a runtime");
        RUNTIME.set(runtime).expect("once a process");
    }

    fn run<F: Future<Output: Send> + Send + 'static>(future: F) -> F::Output {
        let runtime = runtime();
        runtime.block_on(runtime.spawn(future)).expect("no panic")
    }

    fn spawn<F: Future<Output: Send> + Send + 'static>(future: F) -> JoinHandle<F::Output> {
        tokio::spawn(future)
    }

    fn detach<F: Future<Output: Send> + Send + 'static>(future: F) {
        drop(tokio::spawn(future));
    }

    fn inject<F: Future<Output: Send> + Send + 'static>(future: F) {
        drop(runtime().spawn(future));
    }

    async fn join<T: Send + 'static>(handle: JoinHandle<T>) -> T {
        handle.await.expect("no panic")
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        tokio::task::yield_now()
    }

    fn sleep(time: Duration) -> impl Future<Output = ()> + Send {
        tokio::time::sleep(time)
    }

    async fn block<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> T {
        tokio::task::spawn_blocking(call).await.expect("no panic")
    }

    async fn block_long<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> T {
        tokio::task::block_in_place(call)
    }
}

impl Sockets for Tokio {
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
