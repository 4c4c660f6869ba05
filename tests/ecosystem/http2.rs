//! hyper's client and server, with HTTP/2: many requests at once on one connection.

use super::{bytes, connected, run};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Version};
use spinpark::chan;
use spinpark::hyper::{Executor, Io, Timer};
use spinpark::net::TcpStream;
use spinpark::{JoinHandle, select, spawn, time};
use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

/// Sends the body back, after the milliseconds that the path asks for.
async fn echo(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    assert_eq!(request.version(), Version::HTTP_2);
    let pause = request.uri().path().trim_start_matches('/').parse().unwrap_or(0);
    time::sleep(Duration::from_millis(pause)).await;
    match request.into_body().collect().await {
        Ok(body) => Ok(Response::new(Full::new(body.to_bytes()))),
        Err(_) => {
            let mut response = Response::new(Full::default());
            *response.status_mut() = StatusCode::BAD_REQUEST;
            Ok(response)
        }
    }
}

/// Serves a connection until it ends, or until something is sent to `ends`.
async fn serve(stream: TcpStream, ends: chan::Receiver<()>) -> hyper::Result<()> {
    let mut http = http2::Builder::new(Executor);
    http.timer(Timer).keep_alive_interval(Duration::from_millis(20)).keep_alive_timeout(Duration::from_secs(10));
    let mut connection = pin!(http.serve_connection(Io::new(stream), service_fn(echo)));
    let outcome = select! {
        outcome = connection.as_mut() => Some(outcome),
        _ = ends.recv() => None,
    };
    match outcome {
        Some(outcome) => outcome,
        None => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    }
}

type Client = SendRequest<Full<Bytes>>;

/// A client, the server's task, and what ends that.
async fn both() -> (Client, JoinHandle<hyper::Result<()>>, chan::Sender<()>) {
    let (client, server) = connected().await;
    let (end, ends) = chan::bounded(1);
    let serves = spawn(serve(server, ends));
    let (requests, connection) = handshake(Executor, Io::new(client)).await.expect("a connection");
    drop(spawn(async move {
        let _ = connection.await;
    }));
    (requests, serves, end)
}

fn post(path: &str, body: Vec<u8>) -> Request<Full<Bytes>> {
    Request::post(format!("http://here{path}")).body(Full::new(body.into())).expect("a request")
}

async fn answer(client: &mut Client, request: Request<Full<Bytes>>) -> hyper::Result<Bytes> {
    client.ready().await?;
    let response = client.send_request(request).await?;
    assert_eq!(response.status(), StatusCode::OK);
    Ok(response.into_body().collect().await?.to_bytes())
}

#[test]
fn requests_overtake_each_other_on_one_connection() {
    run(async {
        let (client, serves, end) = both().await;
        let (done, order) = chan::unbounded();
        let asked: Vec<_> = [300, 150, 0]
            .into_iter()
            .map(|pause: u64| {
                let (mut client, done) = (client.clone(), done.clone());
                spawn(async move {
                    let body = answer(&mut client, post(&format!("/{pause}"), bytes(100))).await.expect("an answer");
                    assert_eq!(body, bytes(100));
                    done.send(pause).await.expect("the test waits");
                })
            })
            .collect();
        for one in asked {
            one.await.expect("no panic");
        }
        for expected in [0, 150, 300] {
            assert_eq!(order.recv().await, Ok(expected));
        }
        // In this order: a server that says something to a client which has gone ends with an error, rightly.
        drop(end);
        serves.await.expect("no panic").expect("no error");
        drop(client);
    });
}

#[test]
fn two_hundred_requests_at_once_are_all_answered() {
    run(async {
        let (client, serves, end) = both().await;
        let asked: Vec<_> = (0..200)
            .map(|n| {
                let mut client = client.clone();
                spawn(async move {
                    let sent = bytes(n * 50);
                    let came = answer(&mut client, post("/", sent.clone())).await.expect("an answer");
                    assert!(came == sent, "{} bytes came back of {}", came.len(), sent.len());
                })
            })
            .collect();
        for one in asked {
            one.await.expect("no panic");
        }
        // In this order: a server that says something to a client which has gone ends with an error, rightly.
        drop(end);
        serves.await.expect("no panic").expect("no error");
        drop(client);
    });
}

/// More than a window: the server has to say that it has room again.
#[test]
fn a_large_body_comes_back() {
    run(async {
        let (mut client, _serves, _end) = both().await;
        let sent = bytes(5 << 20);
        let came = answer(&mut client, post("/", sent.clone())).await.expect("an answer");
        assert!(came == sent, "{} bytes came back", came.len());
    });
}

#[test]
fn who_has_asked_is_answered_by_a_server_that_ends() {
    run(async {
        let (client, serves, end) = both().await;
        let asked = spawn({
            let mut client = client.clone();
            async move { answer(&mut client, post("/200", bytes(10))).await }
        });
        time::sleep(Duration::from_millis(50)).await;
        end.send(()).await.expect("it serves");
        assert_eq!(asked.await.expect("no panic").expect("an answer"), bytes(10));
        serves.await.expect("no panic").expect("no error");
        let mut late = client;
        answer(&mut late, post("/", Vec::new())).await.expect_err("no server is there");
    });
}
