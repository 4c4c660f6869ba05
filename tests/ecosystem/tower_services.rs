//! Services of tower's kind: in front of hyper's server, and as a client's.

use super::{connected, run};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::{Request, Response, StatusCode};
use spinpark::hyper::{Io, Timer};
use spinpark::{spawn, time};
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tower::retry::Policy;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt, service_fn};

#[test]
fn a_stack_of_them_answers_requests() {
    run(async {
        let (client, server) = connected().await;
        let service = ServiceBuilder::new()
            .map_response(|mut response: Response<Full<Bytes>>| {
                response.headers_mut().insert("x-passed", "outer".parse().expect("a value"));
                response
            })
            .concurrency_limit(1)
            .map_request(|request: Request<Incoming>| request.uri().path().to_owned())
            .service(service_fn(|path: String| async move {
                time::sleep(Duration::from_millis(1)).await;
                Ok::<_, Infallible>(Response::new(Full::from(path)))
            }));
        drop(spawn(async move {
            let answer = move |request| service.clone().oneshot(request);
            let http = http1::Builder::new()
                .timer(Timer)
                .serve_connection(Io::new(server), hyper::service::service_fn(answer));
            let _ = http.await;
        }));
        let (mut requests, connection) =
            hyper::client::conn::http1::handshake(Io::new(client)).await.expect("a connection");
        drop(spawn(async move {
            let _ = connection.await;
        }));
        for path in ["/one", "/two"] {
            requests.ready().await.expect("it is ready");
            let request = Request::get(path).body(Full::<Bytes>::default()).expect("a request");
            let response = requests.send_request(request).await.expect("an answer");
            assert_eq!(
                (response.status(), &response.headers()["x-passed"]),
                (StatusCode::OK, &"outer".parse().expect("a value"))
            );
            assert_eq!(response.into_body().collect().await.expect("a body").to_bytes(), path);
        }
    });
}

/// At most so many at once; a further one waits for its turn.
#[test]
fn a_limit_is_kept_by_tasks_of_ours() {
    run(async {
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let limited = ServiceBuilder::new().concurrency_limit(3).service(service_fn({
            let (now, most) = (now.clone(), most.clone());
            move |n: u32| {
                let (now, most) = (now.clone(), most.clone());
                async move {
                    most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                    time::sleep(Duration::from_millis(2)).await;
                    now.fetch_sub(1, SeqCst);
                    Ok::<_, Infallible>(n * 2)
                }
            }
        }));
        let asked: Vec<_> = (0..30).map(|n| (n, spawn(limited.clone().oneshot(n)))).collect();
        for (n, one) in asked {
            assert_eq!(one.await.expect("no panic"), Ok(n * 2));
        }
        assert_eq!(most.load(SeqCst), 3);
    });
}

#[test]
fn who_is_too_many_is_sent_away() {
    run(async {
        let mut shed = ServiceBuilder::new().load_shed().concurrency_limit(1).service(service_fn(|()| async {
            time::sleep(Duration::from_millis(50)).await;
            Ok::<_, BoxError>(())
        }));
        let first = spawn(shed.ready().await.expect("there is room").call(()));
        let second = shed.ready().await.expect("it says so later").call(()).await.expect_err("there is no room");
        assert!(second.is::<tower::load_shed::error::Overloaded>(), "{second}");
        first.await.expect("no panic").expect("an answer");
    });
}

/// Tries so often again.
#[derive(Clone)]
struct Tries(usize);

impl Policy<u32, u32, &'static str> for Tries {
    type Future = Ready<()>;

    fn retry(&mut self, _: &mut u32, result: &mut Result<u32, &'static str>) -> Option<Ready<()>> {
        self.0 = self.0.checked_sub(1)?;
        result.is_err().then(|| ready(()))
    }

    fn clone_request(&mut self, request: &u32) -> Option<u32> {
        Some(*request)
    }
}

#[test]
fn what_fails_is_tried_again() {
    run(async {
        let fails = Arc::new(Mutex::new(3));
        let retried = ServiceBuilder::new().retry(Tries(5)).service(service_fn(move |n: u32| {
            let fails = fails.clone();
            async move {
                time::sleep(Duration::from_millis(1)).await;
                let mut left = fails.lock().expect("no panic");
                match *left {
                    0 => Ok(n),
                    _ => {
                        *left -= 1;
                        Err("not yet")
                    }
                }
            }
        }));
        assert_eq!(spawn(retried.oneshot(7)).await.expect("no panic"), Ok(7));
    });
}
