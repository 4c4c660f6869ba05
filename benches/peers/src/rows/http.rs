//! hyper's server, and clients that keep their connections and send at fixed times: what waits because an answer is late counts as late
//! too (Gil Tene's coordinated omission).

use crate::contenders::smol::Smol;
use crate::contenders::spinpark::Spinpark;
use crate::contenders::tokio::Tokio;
use crate::meters::Late;
use crate::row::{Round, Sample, Setup};
use crate::tasks::Sockets;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper::{Request, Response};
use std::convert::Infallible;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// A runtime by whose sockets hyper serves.
pub(crate) trait Http: Sockets {
    /// One connection, to its end.
    fn serve(stream: Self::Stream) -> impl Future<Output = ()> + Send;
}

/// The path of what is asked for.
async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(Response::new(Full::from(request.uri().path().to_owned())))
}

macro_rules! serves {
    ($runtime:ty, $io:expr) => {
        impl Http for $runtime {
            async fn serve(stream: Self::Stream) {
                // A client that hangs up in between is not looked at.
                _ = Builder::new().serve_connection($io(stream), service_fn(answer)).await;
            }
        }
    };
}

serves!(Tokio, hyper_util::rt::TokioIo::new);
serves!(Smol, smol_hyper::rt::FuturesIo::new);
serves!(Spinpark, spinpark::hyper::Io::new);

/// All connections together ask so often in a second.
const RATE: u64 = 4_000;

pub(crate) fn open<T: Http>(setup: Setup) -> Round {
    T::start(setup.workers);
    let address = T::run(async {
        let (listener, address) = T::listen().await;
        T::detach(async move {
            loop {
                let stream = T::accept(&listener).await;
                T::detach(T::serve(stream));
            }
        });
        address
    });
    Box::new(move |n| asked(address, setup.width, n / setup.width))
}

/// By a thread a connection, which are none of the runtime's.
fn asked(address: SocketAddr, width: u64, each: u64) -> Sample {
    let connections: Vec<_> = (0..width).map(|_| TcpStream::connect(address).expect("a connection")).collect();
    let begin = Instant::now() + Duration::from_millis(10);
    let client = |(client, stream): (u64, TcpStream)| {
        let ask = move || {
            stream.set_nodelay(true).expect("no delay");
            let (mut late, mut sum, mut answers) = (Late::default(), 0, BufReader::new(&stream));
            for i in 0..each {
                let at = begin + Duration::from_secs(1) * (i * width + client) as u32 / RATE as u32;
                thread::sleep(at.saturating_duration_since(Instant::now()));
                write!(&stream, "GET /{i} HTTP/1.1\r\nhost: x\r\n\r\n").expect("it is sent");
                let body = body(&mut answers);
                assert_eq!(body, format!("/{i}"), "the answer to another request");
                late.take(at.elapsed());
                sum += i;
            }
            (sum, late)
        };
        thread::Builder::new().stack_size(64 << 10).spawn(ask).expect("a thread")
    };
    let clients: Vec<_> = (0..).zip(connections).map(client).collect();
    Late::sample_of(clients.into_iter().map(|client| client.join().expect("no panic")))
}

/// Of the next answer.
fn body(answers: &mut impl BufRead) -> String {
    let (mut length, mut line) = (0, String::new());
    loop {
        line.clear();
        assert!(answers.read_line(&mut line).expect("an answer") > 0, "the server has closed");
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse().expect("a number")
            }
            None if line.trim_end().is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    answers.read_exact(&mut body).expect("all of it");
    String::from_utf8(body).expect("a path")
}
