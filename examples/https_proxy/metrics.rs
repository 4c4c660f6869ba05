//! What the proxy has done, and a page that shows it.

use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use spinpark::hyper::{Io, Timer};
use spinpark::net::TcpListener;
use spinpark::{Handle, spawn, time};
use std::convert::Infallible;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Counted for the eye: nothing depends on them.
#[derive(Default)]
pub(crate) struct Counts {
    connections: AtomicU64,
    connections_open: AtomicU64,
    tls_failures: AtomicU64,
    requests_open: AtomicU64,
    /// By the first digit of the status.
    answers: [AtomicU64; 6],
    /// Requests that ended before there was an answer: the client has gone.
    given_up: AtomicU64,
    answer_micros: AtomicU64,
    upstream_connections: AtomicU64,
    upstream_reused: AtomicU64,
}

/// One more that is open, as long as this lives.
pub(crate) struct Open<'a>(&'a AtomicU64);

impl<'a> Open<'a> {
    fn new(count: &'a AtomicU64) -> Open<'a> {
        count.fetch_add(1, Relaxed);
        Open(count)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// A request that has no answer yet.
pub(crate) struct InFlight<'a> {
    counts: &'a Counts,
    from: Instant,
    is_answered: bool,
    _open: Open<'a>,
}

impl InFlight<'_> {
    pub(crate) fn answered(mut self, status: StatusCode) {
        self.is_answered = true;
        self.counts.answers[usize::from(status.as_u16() / 100).min(5)].fetch_add(1, Relaxed);
        self.counts.answer_micros.fetch_add(self.from.elapsed().as_micros() as u64, Relaxed);
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.counts.given_up.fetch_add(1, Relaxed);
        }
    }
}

impl Counts {
    pub(crate) fn connection(&self) -> Open<'_> {
        self.connections.fetch_add(1, Relaxed);
        Open::new(&self.connections_open)
    }

    pub(crate) fn request(&self) -> InFlight<'_> {
        InFlight { counts: self, from: Instant::now(), is_answered: false, _open: Open::new(&self.requests_open) }
    }

    pub(crate) fn tls_failed(&self) {
        self.tls_failures.fetch_add(1, Relaxed);
    }

    pub(crate) fn connected(&self) {
        self.upstream_connections.fetch_add(1, Relaxed);
    }

    pub(crate) fn reused(&self) {
        self.upstream_reused.fetch_add(1, Relaxed);
    }

    /// In the form that Prometheus reads.
    fn page(&self) -> String {
        let mut page = String::new();
        let mut line = |name: &str, kind: &str, value: u64| {
            // A string takes all that is written.
            let _ = writeln!(page, "# TYPE {name} {kind}\n{name} {value}");
        };
        let load = |count: &AtomicU64| count.load(Relaxed);
        line("proxy_connections_total", "counter", load(&self.connections));
        line("proxy_connections_open", "gauge", load(&self.connections_open));
        line("proxy_tls_failures_total", "counter", load(&self.tls_failures));
        line("proxy_requests_open", "gauge", load(&self.requests_open));
        line("proxy_requests_given_up_total", "counter", load(&self.given_up));
        line("proxy_answer_microseconds_total", "counter", load(&self.answer_micros));
        line("proxy_upstream_connections_total", "counter", load(&self.upstream_connections));
        line("proxy_upstream_reused_total", "counter", load(&self.upstream_reused));
        if let Ok(handle) = Handle::try_current() {
            let runtime = handle.metrics();
            line("runtime_procs", "gauge", runtime.procs as u64);
            line("runtime_threads", "gauge", runtime.threads as u64);
            line("runtime_tasks_waiting", "gauge", runtime.tasks_waiting as u64);
            line("runtime_dispatches_total", "counter", runtime.dispatches());
        }
        page.push_str("# TYPE proxy_answers_total counter\n");
        for (class, count) in self.answers.iter().enumerate().skip(1) {
            let _ = writeln!(page, "proxy_answers_total{{class=\"{class}xx\"}} {}", load(count));
        }
        page
    }
}

/// Serves the page, as long as the program runs.
pub(crate) async fn serve(listener: TcpListener, counts: Arc<Counts>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let counts = Arc::clone(&counts);
        drop(spawn(async move {
            let answer = |request: Request<Incoming>| {
                let response = match request.uri().path() {
                    "/metrics" => Response::new(counts.page()),
                    _ => {
                        let mut response = Response::new("there is /metrics\n".to_owned());
                        *response.status_mut() = StatusCode::NOT_FOUND;
                        response
                    }
                };
                async {
                    let mut response = response;
                    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
                    response.headers_mut().insert(CONTENT_TYPE, kind);
                    Ok::<_, Infallible>(response)
                }
            };
            let _ = http1::Builder::new().timer(Timer).serve_connection(Io::new(stream), service_fn(answer)).await;
        }));
    }
}
