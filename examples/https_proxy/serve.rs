//! Clients: their connections, their requests, and the end.

use crate::forward::{Reply, forward};
use crate::metrics::Counts;
use crate::tls::H2;
use crate::upstream::Upstream;
use futures_rustls::TlsAcceptor;
use futures_rustls::server::TlsStream;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use spinpark::chan::{Receiver, Sender};
use spinpark::hyper::{Executor, Io, Timer};
use spinpark::net::{TcpListener, TcpStream};
use spinpark::{select, spawn, time};
use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

/// So long a client may take for TLS, and for a head.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection has both. Nothing is ever sent: it is the other end that goes.
#[derive(Clone)]
pub(crate) struct Life {
    /// Closed: the proxy is to end.
    pub(crate) ends: Receiver<Infallible>,
    /// Dropped: this connection has ended.
    pub(crate) _lives: Sender<Infallible>,
}

/// Gives each that connects a task, until the proxy is to end.
pub(crate) async fn accept(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    upstream: Arc<Upstream>,
    counts: Arc<Counts>,
    life: Life,
) {
    loop {
        let accepted = select! {
            accepted = listener.accept() => accepted,
            _ = life.ends.recv() => return,
        };
        match accepted {
            Ok((stream, peer)) => {
                let client = Client { upstream: upstream.clone(), counts: counts.clone(), peer: peer.ip() };
                let (acceptor, life) = (acceptor.clone(), life.clone());
                drop(spawn(async move { client.connection(stream, acceptor, life).await }));
            }
            Err(error) => {
                // Too many connections, say. It will be the same in a moment, so wait a little.
                eprintln!("a connection was not accepted: {error}");
                time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

struct Client {
    upstream: Arc<Upstream>,
    counts: Arc<Counts>,
    peer: IpAddr,
}

impl Client {
    async fn connection(&self, stream: TcpStream, acceptor: TlsAcceptor, life: Life) {
        let _counted = self.counts.connection();
        // If it cannot be set, it is slower, and that is all.
        let _ = stream.set_nodelay(true);
        let agreed = select! {
            agreed = acceptor.accept(stream) => agreed,
            _ = life.ends.recv() => return, // it has asked for nothing yet
            timeout(PATIENCE) => return,
        };
        match agreed {
            Ok(stream) => self.serve(stream, life).await,
            // Scanners, and browsers that ask their users first: a line for each would be noise.
            Err(_) => self.counts.tls_failed(),
        }
    }

    /// Answers request after request, until one side has enough, or the proxy ends: then those that it is at are the last.
    async fn serve(&self, stream: TlsStream<TcpStream>, life: Life) {
        let is_h2 = stream.get_ref().1.alpn_protocol() == Some(H2);
        let service = service_fn(|request| self.answer(request));
        // An error is the client's: it has gone, or does not speak HTTP.
        if is_h2 {
            let mut http = http2::Builder::new(Executor);
            http.timer(Timer).keep_alive_interval(Duration::from_secs(20)).keep_alive_timeout(PATIENCE);
            let mut connection = pin!(http.serve_connection(Io::new(stream), service));
            select! {
                _ = connection.as_mut() => return,
                _ = life.ends.recv() => connection.as_mut().graceful_shutdown(),
            }
            let _ = connection.await;
        } else {
            let mut http = http1::Builder::new();
            http.timer(Timer).header_read_timeout(PATIENCE).pipeline_flush(true);
            let mut connection = pin!(http.serve_connection(Io::new(stream), service));
            select! {
                _ = connection.as_mut() => return,
                _ = life.ends.recv() => connection.as_mut().graceful_shutdown(),
            }
            let _ = connection.await;
        }
    }

    fn answer(&self, request: Request<Incoming>) -> impl Future<Output = Result<Response<Reply>, Infallible>> + use<> {
        let (upstream, counts, peer) = (self.upstream.clone(), self.counts.clone(), self.peer);
        async move {
            let in_flight = counts.request();
            let response = forward(&upstream, request, peer).await;
            in_flight.answered(response.status());
            Ok(response)
        }
    }
}
