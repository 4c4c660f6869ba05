//! What hyper 1 wants of a runtime: streams, tasks, timers. With the feature `hyper`.
//!
//! ```no_run
//! use hyper::server::conn::http1;
//! use hyper::service::service_fn;
//! use hyper::{Request, Response, body::Incoming};
//! use spinpark::hyper::{Io, Timer};
//! use spinpark::net::TcpListener;
//!
//! # async fn serve() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! let listener = TcpListener::bind("127.0.0.1:7000").await?;
//! let (stream, _peer) = listener.accept().await?;
//! let hello = |_: Request<Incoming>| async { Ok::<_, std::io::Error>(Response::new("hello\n".to_string())) };
//! http1::Builder::new().timer(Timer).serve_connection(Io::new(stream), service_fn(hello)).await?;
//! # Ok(())
//! # }
//! ```

use crate::runtime::exec::spawn;
use crate::runtime::host::clock;
use crate::runtime::host::thread_state::thread_state;
use crate::runtime::time;
use ::hyper::rt;
use core::cell::Cell;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use futures_io::{AsyncRead, AsyncWrite};
use std::io::{self, IoSlice};
use std::time::Instant;

/// A stream of the crate futures-io's kind, such as [`TcpStream`](crate::net::TcpStream), as one of hyper's.
#[derive(Debug, Clone, Copy, Default)]
pub struct Io<T>(T);

impl<T> Io<T> {
    /// Wraps it.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let (one, _two) = spinpark::net::unix::UnixStream::pair()?;
    /// let for_hyper = spinpark::hyper::Io::new(one);
    /// drop(for_hyper.into_inner());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn new(stream: T) -> Self {
        Io(stream)
    }

    /// Unwraps it.
    pub fn into_inner(self) -> T {
        self.0
    }

    /// The stream.
    pub fn get_ref(&self) -> &T {
        &self.0
    }

    /// The stream.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// As much as is read at once.
const BUFFER: usize = 64 * 1024;

thread_state! {
    /// What is read goes through this: to write into hyper's own buffer and to say so would be unsafe. Empty while
    /// a task uses it.
    static SCRATCH: Cell<Vec<u8>> = Cell::new(Vec::new());
}

impl<T: AsyncRead + Unpin> rt::Read for Io<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut cursor: rt::ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // If the stream is such an `Io` in its turn, or the thread ends, there is a second buffer.
        let mut scratch = SCRATCH::with(Cell::take).unwrap_or_default();
        scratch.resize(BUFFER, 0);
        let len = cursor.remaining().min(BUFFER);
        let result = Pin::new(&mut self.0).poll_read(cx, &mut scratch[..len]);
        if let Poll::Ready(Ok(n)) = result {
            cursor.put_slice(&scratch[..n]);
        }
        // Lost if the stream panics; then the next makes a new one.
        SCRATCH::with(|place| place.set(scratch));
        result.map_ok(drop)
    }
}

impl<T: AsyncWrite + Unpin> rt::Write for Io<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_close(cx)
    }

    /// Sockets can. A stream that cannot writes the first slice that is not empty.
    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, slices)
    }
}

/// And back: what hyper hands over when a connection is upgraded is a stream of its own kind.
impl<T: rt::Read + Unpin> AsyncRead for Io<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut buffer = rt::ReadBuf::new(buffer);
        ready!(Pin::new(&mut self.0).poll_read(cx, buffer.unfilled()))?;
        Poll::Ready(Ok(buffer.filled().len()))
    }
}

impl<T: rt::Write + Unpin> AsyncWrite for Io<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, slices)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// Runs what hyper wants run besides a connection as detached tasks of the caller's runtime.
///
/// # Panics
/// `execute` panics if the caller is no task: hyper calls it in the task that serves the connection.
#[derive(Debug, Clone, Copy, Default)]
pub struct Executor;

impl<F> rt::Executor<F> for Executor
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, future: F) {
        drop(spawn::spawn(async move { drop(future.await) }));
    }
}

/// Tells hyper when it has waited long enough, by the caller's runtime.
#[derive(Debug, Clone, Copy, Default)]
pub struct Timer;

impl rt::Timer for Timer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn rt::Sleep>> {
        let now = clock::instant();
        // What the clock cannot show is for ever: a lifetime at least.
        let far = || now + Duration::from_secs(100 * 365 * 24 * 60 * 60);
        self.sleep_until(now.checked_add(duration).unwrap_or_else(far))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn rt::Sleep>> {
        Box::pin(time::sleep_until(deadline))
    }

    /// In a deterministic runtime, the simulated time.
    fn now(&self) -> Instant {
        clock::instant()
    }

    fn reset(&self, sleep: &mut Pin<Box<dyn rt::Sleep>>, deadline: Instant) {
        match sleep.as_mut().downcast_mut_pin::<time::Sleep>() {
            Some(sleep) => sleep.get_mut().reset(deadline),
            None => *sleep = self.sleep_until(deadline),
        }
    }
}

impl rt::Sleep for time::Sleep {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Shutdown, TcpListener, TcpStream};
    use crate::runtime::testing::{run, spawn};
    use ::hyper::body::Incoming;
    use ::hyper::server::conn::http1;
    use ::hyper::service::service_fn;
    use ::hyper::{Request, Response};
    use core::future::poll_fn;

    /// Serves one connection with this service's answers, and gives the other end of it.
    async fn served() -> TcpStream {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
        let client = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("connected");
        drop(spawn(async move {
            let (stream, _) = listener.accept().await.expect("accepted");
            let echo = |request: Request<Incoming>| async { Ok::<_, io::Error>(Response::new(request.into_body())) };
            let mut http = http1::Builder::new();
            http.timer(Timer).header_read_timeout(Duration::from_millis(300)).pipeline_flush(true);
            let _ = http.serve_connection(Io::new(stream), service_fn(echo)).await;
        }));
        client
    }

    async fn read_all(stream: &TcpStream) -> Vec<u8> {
        let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
        loop {
            match stream.read(&mut buffer).await.expect("read") {
                0 => return all,
                n => all.extend_from_slice(&buffer[..n]),
            }
        }
    }

    mod a_connection {
        use super::*;

        #[test]
        fn answers_requests_that_come_together() {
            run(async {
                let client = served().await;
                let one = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\ntext";
                let last = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\nconnection: close\r\n\r\nlast";
                client.write_all(format!("{one}{one}{last}").as_bytes()).await.expect("written");
                let answers = String::from_utf8(read_all(&client).await).expect("text");
                assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 3, "{answers}");
                assert_eq!(answers.matches("\r\n\r\ntext").count(), 2, "{answers}");
                assert!(answers.ends_with("\r\n\r\nlast"), "{answers}");
            });
        }

        #[test]
        fn sends_a_large_body_back_while_it_comes() {
            run(async {
                const MUCH: usize = 10 << 20;
                // Before the connection is made: a client that delays its head is not served.
                let body: Vec<u8> = (0..MUCH).map(|n| ((n * n) >> 8) as u8).collect();
                let client = std::sync::Arc::new(served().await);
                let writer = spawn({
                    let (client, body) = (client.clone(), body.clone());
                    async move {
                        let head = format!("POST / HTTP/1.1\r\ncontent-length: {MUCH}\r\nconnection: close\r\n\r\n");
                        client.write_all(head.as_bytes()).await.expect("written");
                        client.write_all(&body).await.expect("written");
                    }
                });
                let answer = read_all(&client).await;
                writer.await;
                let head = answer.windows(4).position(|window| window == b"\r\n\r\n").expect("a head") + 4;
                assert!(answer[head..] == body, "{} bytes came back, not those that were sent", answer.len() - head);
            });
        }

        #[test]
        fn ends_when_the_head_takes_too_long() {
            run(async {
                let client = served().await;
                client.write_all(b"POST / HTTP/1.1\r\nhost: ").await.expect("written");
                let start = Instant::now();
                assert!(!String::from_utf8_lossy(&read_all(&client).await).contains("200 OK"));
                assert!(start.elapsed() >= Duration::from_millis(200), "it did not wait");
            });
        }

        #[test]
        fn ends_when_the_client_has_gone() {
            run(async {
                let client = served().await;
                client.shutdown(Shutdown::Write).expect("shut down");
                assert!(read_all(&client).await.is_empty());
            });
        }
    }

    mod a_stream {
        use super::*;

        /// Ours in hyper's in ours: each needs a buffer while the other uses one.
        #[test]
        fn may_be_wrapped_twice() {
            run(async {
                let (ours, theirs) = {
                    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
                    let ours = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("connected");
                    (ours, listener.accept().await.expect("accepted").0)
                };
                let mut wrapped = Io::new(Io::new(Io::new(theirs)));
                ours.write_all(b"some text").await.expect("written");
                drop(ours);
                let (mut read, mut bytes) = (Vec::new(), [0; 4]);
                loop {
                    let mut buffer = rt::ReadBuf::new(&mut bytes);
                    poll_fn(|cx| rt::Read::poll_read(Pin::new(&mut wrapped), cx, buffer.unfilled()))
                        .await
                        .expect("read");
                    match buffer.filled() {
                        [] => break,
                        some => read.extend_from_slice(some),
                    }
                }
                assert_eq!(read, b"some text");
                poll_fn(|cx| rt::Write::poll_shutdown(Pin::new(&mut wrapped), cx)).await.expect("shut down");
            });
        }
    }
}
