//! The server behind, and the connections to it, which are kept.

use crate::metrics::Counts;
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, Response};
use spinpark::hyper::Io;
use spinpark::net::TcpStream;
use spinpark::{spawn, time};
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// So many are kept, at most.
const KEPT: usize = 64;

/// Why there is no answer.
pub(crate) enum Failure {
    TimedOut,
    Broken(Box<dyn Error + Send + Sync>),
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Broken(error.into())
    }
}

type Connection = SendRequest<Incoming>;

pub(crate) struct Upstream {
    address: String,
    timeout: Duration,
    /// Those that are free.
    idle: Arc<Mutex<Vec<Connection>>>,
    counts: Arc<Counts>,
}

impl Upstream {
    pub(crate) fn new(address: String, timeout: Duration, counts: Arc<Counts>) -> Upstream {
        Upstream { address, timeout, idle: Arc::default(), counts }
    }

    /// The answer's head; its body comes later.
    pub(crate) async fn send(&self, request: Request<Incoming>) -> Result<Response<Incoming>, Failure> {
        time::timeout(self.timeout, self.ask(request)).await.unwrap_or(Err(Failure::TimedOut))
    }

    async fn ask(&self, mut request: Request<Incoming>) -> Result<Response<Incoming>, Failure> {
        while let Some(mut kept) = self.kept() {
            match kept.try_send_request(request).await {
                Ok(response) => {
                    self.counts.reused();
                    self.keep(kept);
                    return Ok(response);
                }
                // It was closed behind our back, and nothing was sent: another is tried.
                Err(mut error) => match error.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(error.into_error().into()),
                },
            }
        }
        let mut new = self.connect().await?;
        let response = new.send_request(request).await?;
        self.keep(new);
        Ok(response)
    }

    async fn connect(&self) -> Result<Connection, Failure> {
        let stream = TcpStream::connect(&self.address).await?;
        // If it cannot be set, it is slower, and that is all.
        let _ = stream.set_nodelay(true);
        self.counts.connected();
        let (requests, connection) = handshake(Io::new(stream)).await?;
        // It reads and writes, until one side closes it. An error is also that of the request.
        drop(spawn(connection));
        Ok(requests)
    }

    fn kept(&self) -> Option<Connection> {
        let mut idle = self.idle.lock().expect("no panic under it");
        std::iter::from_fn(|| idle.pop()).find(|connection| connection.is_ready() && !connection.is_closed())
    }

    /// Keeps it, as soon as the body has come that is on its way.
    fn keep(&self, mut connection: Connection) {
        let idle = Arc::clone(&self.idle);
        drop(spawn(async move {
            if connection.ready().await.is_ok() {
                let mut idle = idle.lock().expect("no panic under it");
                if idle.len() < KEPT {
                    idle.push(connection);
                }
            }
        }));
    }
}
