//! smol, as others' examples use it: tasks, sockets, timers and the standard streams are spinpark's.

#![forbid(unsafe_code)]

use futures_lite::{AsyncRead, AsyncWrite};
use spinpark::{JoinHandle, time};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

pub use futures_lite::io;
pub use spinpark_interop::block_on;

/// Sockets.
pub mod net {
    pub use spinpark::net::{TcpListener, TcpStream};
    pub use std::net::SocketAddr;
}

/// A client's connection, as async-tungstenite has one for each executor that it knows.
pub mod websocket {
    use async_tungstenite::tungstenite::client::IntoClientRequest;
    use async_tungstenite::tungstenite::handshake::client::Response;
    use async_tungstenite::tungstenite::{Error, error::UrlError};
    use async_tungstenite::{WebSocketStream, client_async};
    use spinpark::net::TcpStream;

    /// Connects to the address in a `ws://` URL.
    pub async fn connect_async(url: impl IntoClientRequest) -> Result<(WebSocketStream<TcpStream>, Response), Error> {
        let request = url.into_client_request()?;
        let address = request.uri().authority().ok_or(Error::Url(UrlError::NoHostName))?.to_string();
        client_async(request, TcpStream::connect(address).await?).await
    }
}

/// A task that is cancelled when this is dropped.
#[derive(Debug)]
pub struct Task<T>(Option<JoinHandle<T>>);

/// A task of ours.
pub fn spawn<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> Task<T> {
    Task(Some(spinpark::spawn(future)))
}

impl<T> Task<T> {
    /// It goes on by itself.
    pub fn detach(mut self) {
        self.0 = None;
    }
}

impl<T> Future for Task<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let task = self.0.as_mut().expect("a detached task is not awaited");
        Pin::new(task).poll(cx).map(|value| value.unwrap_or_else(|error| panic!("{error}")))
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

/// Ticks, as a stream.
#[derive(Debug)]
pub struct Timer;

impl Timer {
    /// One after each period.
    pub fn interval(period: Duration) -> time::Interval {
        time::interval_at(Instant::now() + period, period)
    }
}

/// One of std's standard streams, which ours stands for.
pub trait Standard {
    /// Ours.
    type Ours: Unpin;

    /// Opens it.
    fn open(self) -> Self::Ours;
}

impl Standard for std::io::Stdin {
    type Ours = spinpark::io::Stdin;

    fn open(self) -> Self::Ours {
        spinpark::io::stdin().expect("there is a standard input")
    }
}

impl Standard for std::io::Stdout {
    type Ours = spinpark::io::Stdout;

    fn open(self) -> Self::Ours {
        spinpark::io::stdout()
    }
}

/// A standard stream that is waited for by a task.
#[derive(Debug)]
pub struct Unblock<S: Standard>(S::Ours);

impl<S: Standard> Unblock<S> {
    /// Of this.
    pub fn new(stream: S) -> Self {
        Unblock(stream.open())
    }
}

impl<S: Standard<Ours: AsyncRead>> AsyncRead for Unblock<S>
where
    Self: Unpin,
{
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_read(cx, into)
    }
}

impl<S: Standard<Ours: AsyncWrite>> AsyncWrite for Unblock<S>
where
    Self: Unpin,
{
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_close(cx)
    }
}
