//! The server: a page, and its events, for allowed clients.

use crate::host::Host;
use crate::kernel::sched::config::Config;
use crate::runtime::build_error::BuildError;
use crate::runtime::builder::Builder;
use crate::runtime::compat::hyper::{Io, Timer};
use crate::runtime::console::table::Table;
use crate::runtime::console::view;
use crate::runtime::exec::spawn::spawn;
use crate::runtime::host::cores::Cores;
use crate::runtime::id::RuntimeId;
use crate::runtime::io::net::{TcpListener, TcpStream};
use crate::runtime::observe::attached::{Attach, Attached, Opened};
use crate::runtime::observe::metrics::Metrics;
use crate::runtime::runtime::Runtime;
use crate::runtime::structured::cancellation::{CancellationToken, WaitForCancellationFutureOwned};
use crate::runtime::sync::{OwnedSemaphorePermit, Semaphore, WaitGroup};
use crate::runtime::time::{self, Interval};
use core::convert::Infallible;
use core::pin::{Pin, pin};
use core::task::{Context, Poll, ready};
use core::time::Duration;
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

const PAGE: &str = include_str!("page.html");
/// The page has everything in it, and speaks with us alone.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; \
                      img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// So often the page is told.
const EVERY: Duration = Duration::from_millis(500);
/// So many may be connected.
const CLIENTS: usize = 16;
/// So long they may take to go, in the end.
const GRACE: Duration = Duration::from_millis(500);

/// A console that is asked for.
pub(super) struct Asked {
    address: SocketAddr,
    is_exposed: bool,
}

impl Asked {
    pub(super) fn new(address: SocketAddr, is_exposed: bool) -> Asked {
        Asked { address, is_exposed }
    }

    fn refused(&self, reason: impl ToString) -> BuildError {
        BuildError::Console { address: self.address, reason: reason.to_string() }
    }
}

impl Attach for Asked {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn open(&self, runtime_id: RuntimeId, config: &Config) -> Result<Opened, BuildError> {
        if !self.is_exposed && !self.address.ip().is_loopback() {
            return Err(self.refused("others could reach it: give a loopback address, or take console_exposed"));
        }
        let bound = std::net::TcpListener::bind(self.address);
        let (listener, address) = bound
            .and_then(|listener| listener.local_addr().map(|address| (listener, address)))
            .map_err(|error| self.refused(error))?;
        let runtime = Builder::new().procs(1).thread_name("spinpark-console").detect_deadlock(false).build()?;
        let table = Arc::new(Table::new(config.max_ms, Cores::now));
        let ends = CancellationToken::new();
        let served = Served {
            runtime_id,
            table: Arc::clone(&table),
            ends: ends.clone(),
            clients: WaitGroup::new(),
            room_left: Arc::new(Semaphore::new(CLIENTS)),
            is_exposed: self.is_exposed,
        };
        let thread = thread::Builder::new()
            .name("spinpark-console".into())
            .spawn(move || run(runtime, listener, served))
            .map_err(|error| self.refused(error))?;
        Ok((table, Arc::new(Console { address, ends, thread: Mutex::new(Some(thread)) })))
    }
}

/// A console that is there.
struct Console {
    address: SocketAddr,
    ends: CancellationToken,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Attached for Console {
    /// Ends what is sent, and waits until all have gone, or for [`GRACE`].
    fn close(&self) {
        self.ends.cancel();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        // It has no code that panics; if it did, it has been reported.
        drop(thread.map(JoinHandle::join));
    }

    fn address(&self) -> Option<SocketAddr> {
        Some(self.address)
    }
}

/// What all connections share.
struct Served {
    runtime_id: RuntimeId,
    table: Arc<Table>,
    /// Cancelled: the runtime that is shown is no more.
    ends: CancellationToken,
    clients: WaitGroup,
    room_left: Arc<Semaphore>,
    is_exposed: bool,
}

/// The console's own thread.
fn run(runtime: Runtime, listener: std::net::TcpListener, served: Served) {
    // There is no deadlock: it is not looked for.
    let _ = runtime.block_on(async move {
        let served = Arc::new(served);
        if let Ok(listener) = TcpListener::from_std(listener) {
            accept(&listener, &served).await;
        }
        let _ = time::timeout(GRACE, served.clients.wait()).await;
    });
}

async fn accept(listener: &TcpListener, served: &Arc<Served>) {
    loop {
        let accepted = crate::select! {
            accepted = listener.accept() => accepted,
            () = served.ends.cancelled() => return,
        };
        let room = Arc::clone(&served.room_left).try_acquire_owned();
        match (accepted, room) {
            (Ok((stream, _)), Ok(room)) => {
                served.clients.add(1);
                drop(spawn(connection(stream, Client { served: Arc::clone(served), _room: room })));
            }
            // There are too many: this one is closed.
            (Ok(_), Err(_)) => (),
            (Err(_), _) => time::sleep(EVERY).await,
        }
    }
}

/// One that is connected.
struct Client {
    served: Arc<Served>,
    _room: OwnedSemaphorePermit,
}

impl Drop for Client {
    fn drop(&mut self) {
        self.served.clients.done();
    }
}

async fn connection(stream: TcpStream, client: Client) {
    let served = &client.served;
    let service = service_fn(|request| {
        let response = answer(served, &request);
        async move { Ok::<_, Infallible>(response) }
    });
    let mut http = http1::Builder::new();
    http.timer(Timer).header_read_timeout(Duration::from_secs(10));
    let mut connection = pin!(http.serve_connection(Io::new(stream), service));
    // An error is the client's: it has gone, or does not speak HTTP.
    crate::select! {
        _ = connection.as_mut() => return,
        () = served.ends.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

fn answer(served: &Arc<Served>, request: &Request<Incoming>) -> Response<Reply> {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    if !served.is_exposed && !host.is_some_and(is_of_this_machine) {
        return reply(StatusCode::FORBIDDEN, "text/plain", Reply::whole("ask by the address of this machine\n"));
    }
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/") => reply(StatusCode::OK, "text/html; charset=utf-8", Reply::whole(PAGE)),
        (&Method::GET, "/events") => reply(StatusCode::OK, "text/event-stream", Reply::events(served)),
        (&Method::GET, "/metrics") => match served.runtime_id.find() {
            Some(tasks) => {
                let text = Metrics::of(&tasks).prometheus();
                reply(StatusCode::OK, "text/plain; version=0.0.4", Reply::Whole(Some(text.into())))
            }
            // It is being built, or is about to end.
            None => reply(StatusCode::SERVICE_UNAVAILABLE, "text/plain", Reply::whole("there is no runtime now\n")),
        },
        _ => reply(StatusCode::NOT_FOUND, "text/plain", Reply::whole("there is /, /events and /metrics\n")),
    }
}

/// A page of others' can let its name be this machine's, and ask us by that.
fn is_of_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}

fn reply(status: StatusCode, kind: &'static str, reply: Reply) -> Response<Reply> {
    let mut response = Response::new(reply);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}

/// A body.
enum Reply {
    Whole(Option<Bytes>),
    Events(Box<Events>),
}

/// Server-sent events: what the runtime looks like, again and again, until it is no more.
struct Events {
    served: Arc<Served>,
    ends: Pin<Box<WaitForCancellationFutureOwned>>,
    ticks: Interval,
}

impl Reply {
    fn whole(text: &'static str) -> Reply {
        Reply::Whole(Some(Bytes::from_static(text.as_bytes())))
    }

    fn events(served: &Arc<Served>) -> Reply {
        let ends = Box::pin(served.ends.clone().cancelled_owned());
        Reply::Events(Box::new(Events { served: Arc::clone(served), ends, ticks: time::interval(EVERY) }))
    }
}

impl Events {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            if self.ends.as_mut().poll(cx).is_ready() {
                return Poll::Ready(None);
            }
            ready!(self.ticks.poll_tick(cx));
            // It is being built, or is about to end.
            let Some(tasks) = self.served.runtime_id.find() else { continue };
            let json = view::json(&tasks, &self.served.table);
            return Poll::Ready(Some(format!("data: {json}\n\n").into()));
        }
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = match &mut *self {
            Reply::Whole(data) => data.take(),
            Reply::Events(events) => ready!(events.poll_next(cx)),
        };
        Poll::Ready(data.map(|data| Ok(Frame::data(data))))
    }
}
