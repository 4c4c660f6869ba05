//! smol: async-executor, async-io, async-net and blocking, put together as smol's own `spawn` does it.

use crate::tasks::{Sockets, Tasks};
use async_executor::{StaticExecutor, Task};
use async_io::Timer;
use async_net::{TcpListener, TcpStream};
use futures_lite::future;
use futures_lite::io::{AsyncReadExt, AsyncWriteExt};
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::thread;
use std::time::Duration;

pub struct Smol;

static EXECUTOR: StaticExecutor = StaticExecutor::new();

impl Tasks for Smol {
    type Handle<T: Send + 'static> = Task<T>;

    fn start(workers: usize) {
        for n in 1..=workers {
            // async-io's `block_on`, as smol's own threads: a worker with nothing to run waits for sockets and timers.
            let work = || async_io::block_on(EXECUTOR.run(future::pending::<()>()));
            thread::Builder::new().name(format!("smol-{n}")).spawn(work).expect("a thread");
        }
    }

    fn run<F: Future<Output: Send> + Send + 'static>(future: F) -> F::Output {
        future::block_on(EXECUTOR.spawn(future))
    }

    fn spawn<F: Future<Output: Send> + Send + 'static>(future: F) -> Task<F::Output> {
        EXECUTOR.spawn(future)
    }

    fn detach<F: Future<Output: Send> + Send + 'static>(future: F) {
        EXECUTOR.spawn(future).detach();
    }

    fn inject<F: Future<Output: Send> + Send + 'static>(future: F) {
        EXECUTOR.spawn(future).detach();
    }

    fn join<T: Send + 'static>(handle: Task<T>) -> impl Future<Output = T> + Send {
        handle
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        future::yield_now()
    }

    async fn sleep(time: Duration) {
        Timer::after(time).await;
    }

    fn block<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> impl Future<Output = T> + Send {
        blocking::unblock(call)
    }
}

impl Sockets for Smol {
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
