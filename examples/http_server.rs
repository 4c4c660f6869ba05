//! Serves HTTP: `cargo run --release --example http_server --features hyper -- 127.0.0.1:7000`.
//!
//! One task listens, one serves each connection. hyper reads and writes; the streams, the tasks and the timer are
//! spinpark's. It ends by SIGTERM or SIGINT (Ctrl-C): it accepts no more connections, answers the requests that have come, for ten seconds
//! at most, and goes; a second one ends it at once. Try it:
//!
//! ```text
//!   curl -i  http://127.0.0.1:7000/                         a greeting
//!   curl -i  http://127.0.0.1:7000/headers                  what the request had in its head
//!   curl -i  http://127.0.0.1:7000/echo --data-binary @FILE what the request had in its body, as it comes
//! ```

use http_body_util::Either;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use spinpark::chan::{self, Receiver, Sender};
use spinpark::hyper::{Io, Timer};
use spinpark::net::{TcpListener, TcpStream};
use spinpark::{select, spawn, time};
use std::convert::Infallible;
use std::error::Error;
use std::pin::pin;
use std::time::Duration;
use std::{env, io, process};

/// So long it goes on answering after it was asked to end.
const GRACE: Duration = Duration::from_secs(10);

/// A connection has both. Nothing is ever sent: it is the other end that goes.
#[derive(Clone)]
struct Life {
    /// Closed: the server is to end.
    ends: Receiver<Infallible>,
    /// Dropped: this connection has ended.
    _lives: Sender<Infallible>,
}

/// Some text, or the body of the request.
type Reply = Response<Either<String, Incoming>>;

async fn answer(request: Request<Incoming>) -> Result<Reply, Infallible> {
    Ok(match (request.method(), request.uri().path()) {
        (&Method::GET, "/") => text(StatusCode::OK, "hello from spinpark\n".into()),
        (&Method::GET, "/headers") => {
            let line = |(name, value): (_, &HeaderValue)| format!("{name}: {}\n", value.as_bytes().escape_ascii());
            text(StatusCode::OK, request.headers().iter().map(line).collect())
        }
        (&Method::POST, "/echo") => echo(request),
        _ => text(StatusCode::NOT_FOUND, "there is nothing here\n".into()),
    })
}

fn text(status: StatusCode, text: String) -> Reply {
    let mut reply = Response::new(Either::Left(text));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    reply
}

/// Sends each piece back as soon as it has come.
fn echo(request: Request<Incoming>) -> Reply {
    let content_type = request.headers().get(CONTENT_TYPE).cloned();
    let mut reply = Response::new(Either::Right(request.into_body()));
    if let Some(content_type) = content_type {
        reply.headers_mut().insert(CONTENT_TYPE, content_type);
    }
    reply
}

/// Serves one connection, request after request, until one side has enough, or the server ends: then the request that it
/// is at is the last.
async fn serve(stream: TcpStream, life: Life) {
    // If it cannot be set, it is slower, and that is all.
    let _ = stream.set_nodelay(true);
    let mut http = http1::Builder::new();
    // A client that is slow to send a head is sent away in the end. Answers to requests that came together leave
    // together. A client that has sent all its requests may close its side, and is answered all the same.
    http.timer(Timer).pipeline_flush(true).half_close(true);
    let mut connection = pin!(http.serve_connection(Io::new(stream), service_fn(answer)));
    let outcome = select! {
        outcome = connection.as_mut() => outcome,
        Err(_) = life.ends.recv() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        eprintln!("a connection ended: {error}");
    }
}

/// Gives each that connects a task, until the server is to end.
async fn accept(listener: &TcpListener, life: &Life) {
    loop {
        let accepted = select! {
            accepted = listener.accept() => accepted,
            Err(_) = life.ends.recv() => return,
        };
        match accepted {
            Ok((stream, _peer)) => {
                drop(spawn(serve(stream, life.clone())));
            }
            Err(error) => {
                // Too many connections, say. It will be the same in a moment, so wait a little.
                eprintln!("a connection was not accepted: {error}");
                time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

async fn listen(address: String, ends: Receiver<Infallible>) -> io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    println!("listening on http://{address}");
    eprintln!("try: curl -i http://{address}/headers; Ctrl-C ends it, after what it is answering");
    let (lives, all_ended) = chan::rendezvous();
    accept(&listener, &Life { ends, _lives: lives }).await;
    // A client that connects from now on is refused.
    drop(listener);
    if time::timeout(GRACE, all_ended.recv()).await.is_err() {
        eprintln!("some are still being answered after {} s: they are cut off", GRACE.as_secs());
    }
    Ok(())
}

/// A receiver that is closed when the process is asked to end. Asked again, it ends at once.
fn asked_to_end() -> Result<Receiver<Infallible>, ctrlc::Error> {
    let (goes_on, ends) = chan::rendezvous();
    let mut goes_on = Some(goes_on);
    ctrlc::set_handler(move || {
        if goes_on.take().is_none() {
            process::exit(1);
        }
    })?;
    Ok(ends)
}

fn main() -> Result<(), Box<dyn Error>> {
    let address = env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7000".into());
    let ends = asked_to_end()?;
    let runtime = spinpark::Runtime::builder().build()?;
    runtime.block_on(listen(address, ends))??;
    Ok(())
}
