//! Others' crates on spinpark's tasks, streams and timers: hyper with HTTP/2, TLS, tower's services, tokio's traits and its runtime, a
//! client of PostgreSQL.

mod http2;
#[cfg(unix)]
mod postgres;
mod tls;
mod tokio_context;
mod tokio_everywhere;
mod tokio_traits;
mod tower_services;

use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper_util::client::legacy::connect::HttpConnector;
use spinpark::net::{TcpListener, TcpStream};
use spinpark::{Runtime, time};
use std::future::Future;
use std::net::SocketAddr;
use std::sync::mpsc;
use std::time::Duration;

/// Runs a test's future, which does not hang.
fn run<F: Future>(future: F) -> F::Output {
    let runtime = Runtime::builder().procs(2).build().expect("a runtime");
    let limited = async { time::timeout(Duration::from_secs(60), future).await.expect("it hangs") };
    runtime.block_on(limited).expect("no deadlock")
}

/// Two ends of a connection: the client's, the server's.
async fn connected() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
    let client = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("connected");
    (client, listener.accept().await.expect("accepted").0)
}

/// Bytes that are not all the same.
fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|n| ((n * n) >> 7) as u8).collect()
}

/// A client of hyper-util's.
type Client = hyper_util::client::legacy::Client<HttpConnector, Full<Bytes>>;

/// Asks a server that sends back what it is sent, five times.
async fn ask_five_times(client: Client, address: SocketAddr, n: usize) {
    for round in 0..5 {
        let sent = bytes(1000 * n + round);
        let request = Request::post(format!("http://{address}/")).body(Full::from(sent.clone()));
        let response = client.request(request.expect("a request")).await.expect("an answer");
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        assert!(body == sent, "{} bytes came back", body.len());
    }
}

/// Dropped, it says whether tokio's runtime was there, and ours.
struct Says(mpsc::Sender<(bool, bool)>);

impl Drop for Says {
    fn drop(&mut self) {
        let theirs = tokio::runtime::Handle::try_current().is_ok();
        self.0.send((theirs, spinpark::Handle::try_current().is_ok())).expect("it is awaited");
    }
}
