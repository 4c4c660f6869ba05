//! What a workload needs of an async runtime. Each workload is written once against this, so all runtimes do the same.

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

/// An async runtime. There is one in a process, so nothing here takes `self`.
pub trait Tasks: Sized + 'static {
    /// A task that can be waited for.
    type Handle<T: Send + 'static>: Send + 'static;

    /// Starts it, with so many workers.
    fn start(workers: usize);

    /// Runs `future` as a task, and waits for it on this thread, which is none of the runtime's.
    fn run<F: Future<Output: Send> + Send + 'static>(future: F) -> F::Output;

    /// Inside of a task: another one.
    fn spawn<F: Future<Output: Send> + Send + 'static>(future: F) -> Self::Handle<F::Output>;

    /// Inside of a task: another one, detached.
    fn detach<F: Future<Output: Send> + Send + 'static>(future: F);

    /// From a thread that is none of the runtime's: a detached task.
    fn inject<F: Future<Output: Send> + Send + 'static>(future: F);

    fn join<T: Send + 'static>(handle: Self::Handle<T>) -> impl Future<Output = T> + Send;

    fn yield_now() -> impl Future<Output = ()> + Send;

    fn sleep(time: Duration) -> impl Future<Output = ()> + Send;

    /// A call that may block, as the runtime says that it should be made.
    fn block<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> impl Future<Output = T> + Send;

    /// A call that does block, as the runtime says that it should be made.
    fn block_long<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> impl Future<Output = T> + Send {
        Self::block(call)
    }

    /// One or the other.
    fn block_as<T: Send + 'static>(
        is_long: bool,
        call: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = T> + Send {
        async move { if is_long { Self::block_long(call).await } else { Self::block(call).await } }
    }
}

/// One that has sockets too.
pub trait Sockets: Tasks {
    type Listener: Send + 'static;
    type Stream: Send + 'static;

    /// On a free port of this machine.
    fn listen() -> impl Future<Output = (Self::Listener, SocketAddr)> + Send;

    fn accept(listener: &Self::Listener) -> impl Future<Output = Self::Stream> + Send;

    fn connect(to: SocketAddr) -> impl Future<Output = Self::Stream> + Send;

    /// Fills `bytes`. `false`: the other end has closed.
    fn read(stream: &mut Self::Stream, bytes: &mut [u8]) -> impl Future<Output = bool> + Send;

    fn write(stream: &mut Self::Stream, bytes: &[u8]) -> impl Future<Output = ()> + Send;
}
