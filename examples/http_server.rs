//! Serves HTTP: `cargo run --release --example http_server --features hyper -- 127.0.0.1:7000`.
//!
//! One task listens, one serves each connection. hyper reads and writes; the streams, the tasks and the timer are
//! spinpark's. Try it:
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
use spinpark::hyper::{Io, Timer};
use spinpark::net::{TcpListener, TcpStream};
use std::convert::Infallible;
use std::error::Error;
use std::time::Duration;
use std::{env, io, thread};

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

/// Serves one connection, request after request, until one side has enough.
async fn serve(stream: TcpStream) {
    // If it cannot be set, it is slower, and that is all.
    let _ = stream.set_nodelay(true);
    let mut http = http1::Builder::new();
    // A client that is slow to send a head is sent away in the end. Answers to requests that came together leave
    // together. Who has sent all its requests may say so, and is answered all the same.
    http.timer(Timer).pipeline_flush(true).half_close(true);
    if let Err(error) = http.serve_connection(Io::new(stream), service_fn(answer)).await {
        eprintln!("a connection ended: {error}");
    }
}

async fn listen(address: String) -> io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    println!("listening on http://{}", listener.local_addr()?);
    loop {
        match listener.accept().await {
            Ok((stream, _peer)) => {
                drop(spinpark::spawn(serve(stream)));
            }
            Err(error) => {
                // Too many connections, say. It will be the same in a moment, so wait a little.
                eprintln!("a connection was not accepted: {error}");
                spinpark::blocking(|| thread::sleep(Duration::from_millis(50)));
            }
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let address = env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7000".into());
    let runtime = spinpark::Runtime::builder().build()?;
    runtime.block_on(listen(address))??;
    Ok(())
}
