//! Connections: the page, and the way from HTTP to the WebSocket.

use crate::client::talk;
use crate::options::Options;
use crate::rooms::Rooms;
use crate::socket::Socket;
use async_tungstenite::tungstenite::handshake::server::create_response_with_body;
use hyper::body::Incoming;
use hyper::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderValue, ORIGIN};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use spinpark::hyper::{Io, Timer};
use spinpark::net::{TcpListener, TcpStream};
use spinpark::sync::{CancellationToken, OwnedSemaphorePermit, Semaphore, WaitGroup};
use spinpark::{select, spawn, time};
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

const PAGE: &str = include_str!("page.html");
/// The page has everything in it, and speaks with us alone.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; \
                      img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// So long a client may take for a head.
const PATIENCE: Duration = Duration::from_secs(10);

/// What all clients share.
pub(crate) struct Server {
    pub(crate) options: Options,
    pub(crate) rooms: Rooms,
    /// Cancelled: the server is to end.
    pub(crate) ends: CancellationToken,
    /// Connections that have not ended.
    pub(crate) clients: WaitGroup,
    /// WebSockets that there may be besides.
    room_left: Arc<Semaphore>,
}

impl Server {
    pub(crate) fn new(options: Options) -> Server {
        Server {
            rooms: Rooms::new(options.history, options.backlog),
            ends: CancellationToken::new(),
            clients: WaitGroup::new(),
            room_left: Arc::new(Semaphore::new(options.max_clients)),
            options,
        }
    }

    /// One connection more, until the value is dropped.
    fn present(self: &Arc<Server>) -> Present {
        self.clients.add(1);
        Present(Arc::clone(self))
    }
}

struct Present(Arc<Server>);

impl Drop for Present {
    fn drop(&mut self) {
        self.0.clients.done();
    }
}

/// Gives each that connects a task, until the server is to end.
pub(crate) async fn accept(listener: TcpListener, server: Arc<Server>) {
    loop {
        let accepted = select! {
            accepted = listener.accept() => accepted,
            _ = server.ends.cancelled() => return,
        };
        match accepted {
            Ok((stream, _)) => drop(spawn(connection(stream, server.present()))),
            Err(error) => {
                // Too many connections, say. It will be the same in a moment, so wait a little.
                eprintln!("a connection was not accepted: {error}");
                time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

async fn connection(stream: TcpStream, present: Present) {
    // If it cannot be set, it is slower, and that is all.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let response = answer(&present.0, request);
        async move { Ok::<_, Infallible>(response) }
    });
    let mut http = http1::Builder::new();
    http.timer(Timer).header_read_timeout(PATIENCE);
    let mut connection = pin!(http.serve_connection(Io::new(stream), service).with_upgrades());
    // An error is the client's: it has gone, or does not speak HTTP.
    select! {
        _ = connection.as_mut() => return,
        _ = present.0.ends.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

fn answer(server: &Arc<Server>, request: Request<Incoming>) -> Response<String> {
    match (request.method(), request.uri().path()) {
        (&Method::GET | &Method::HEAD, "/") => page(),
        (_, "/ws") => upgrade(server, request),
        _ => say(StatusCode::NOT_FOUND, "there is / and /ws\n"),
    }
}

fn page() -> Response<String> {
    let mut response = Response::new(PAGE.to_owned());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}

fn say(status: StatusCode, text: &str) -> Response<String> {
    let mut response = Response::new(text.to_owned());
    *response.status_mut() = status;
    response
}

/// Answers that it becomes a WebSocket, and lets a task wait until it is one.
fn upgrade(server: &Arc<Server>, mut request: Request<Incoming>) -> Response<String> {
    let response = match create_response_with_body(&request, String::new) {
        Ok(response) => response,
        Err(error) => return say(StatusCode::BAD_REQUEST, &format!("{error}\n")),
    };
    if !is_of_this_site(&request) {
        return say(StatusCode::FORBIDDEN, "a page of another site cannot connect\n");
    }
    let Ok(place) = Arc::clone(&server.room_left).try_acquire_owned() else {
        return say(StatusCode::SERVICE_UNAVAILABLE, "there are too many clients\n");
    };
    let upgraded = hyper::upgrade::on(&mut request);
    let present = server.present();
    drop(spawn(async move {
        if let Ok(upgraded) = upgraded.await {
            upgraded_client(upgraded, &present.0, place).await;
        }
    }));
    response
}

async fn upgraded_client(upgraded: hyper::upgrade::Upgraded, server: &Server, _place: OwnedSemaphorePermit) {
    let parts = upgraded.downcast::<Io<TcpStream>>().expect("that is what it was");
    let patience = server.options.ping * 2;
    let socket = Socket::new(parts.io.into_inner(), parts.read_buf.into(), server.options.max_line, patience).await;
    talk(socket, server).await;
}

/// Browsers say of which site a page is that connects; other programs say nothing.
fn is_of_this_site(request: &Request<Incoming>) -> bool {
    let Some(origin) = request.headers().get(ORIGIN) else { return true };
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    let site = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    site.map(|(_, site)| site) == host && host.is_some()
}
