//! A checker of links, as a Go programmer writes it: goroutines, channels, contexts. It starts a small site on a socket, and checks it.
//! The same in Go is in the folder `go`, file by file and line by line.
//!
//! ```text
//!   collector ──► jobs ──► workers (4) ──► fetcher: one flight a page, a deadline a try ──► the site's server
//!       ▲                     │
//!       └───── results ◄──────┘          after 5 s without a result a timer cancels everything
//! ```
//!
//! | in Go | here | where |
//! |---|---|---|
//! | `go func() { … }()`, `sync.WaitGroup` | `go(move \|\| …)`, `WaitGroup` | server.rs, `serve` |
//! | `jobs := make(chan string, n)`, `range jobs` | `chan::bounded(n)`, `while let Ok(path) = jobs.recv().wait()` | crawl.rs, `check`, `work` |
//! | a nil channel in a `select` | `None` as a case | crawl.rs, `Collector::run` |
//! | `select { case m <- s: default: }` | `select!(wait { _ = m.send(s) => …, default => … })` | crawl.rs, `Collector::tell` |
//! | `case <-ticker.C:` | `_ = ticker.tick() => …` | crawl.rs, `Collector::run` |
//! | `ctx, cancel := context.WithCancelCause(parent)`, `defer cancel(nil)` | `parent.with_cancel()`: `Cancel` cancels when it is dropped | crawl.rs, `check` |
//! | `context.WithTimeout(ctx, each)`, `req.WithContext(ctx)` | `ctx.with_timeout(each)`, `limited.run(future)` | fetch.rs, `fetch_again` |
//! | `context.Cause(ctx)` | `ctx.cause()` | crawl.rs, `why` |
//! | `errgroup.WithContext`, `g.Go`, `g.Wait` | `ErrGroup` | crawl.rs, `check` |
//! | `singleflight.Group.Do` | `singleflight::Group::call` | fetch.rs, `fetch` |
//! | `sync.Once`, `sync.OnceValues` | `OnceCell::get_or_try_init`: an error is no value, the next tries again | fetch.rs, `is_allowed` |
//! | `t := time.AfterFunc(d, f)`, `t.Reset(d)`, `t.Stop()` | `time::after_func`, `reset`, `stop` | crawl.rs, `check` |
//! | `net.Listen`, `Accept`, `net.Dial` | `TcpListener::bind`, `accept`, `TcpStream::connect` | server.rs, fetch.rs |

pub(crate) mod crawl;
pub(crate) mod fetch;
pub(crate) mod server;

use crawl::{Options, check};
use server::{Page, Site, links, serve};
use spinpark::Runtime;
use spinpark::context::Context;
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

/// Thirty pages that are fine, two that are not there, one that is too slow, one that works at the third try, and one that may not be
/// fetched.
pub(crate) fn site() -> Site {
    let mut site = Site::new();
    site.insert("/".into(), links(&["/page/0", "/page/7", "/slow", "/flaky", "/missing", "/private/diary"]));
    for n in 0..30 {
        let (next, far) = (format!("/page/{}", (n + 1) % 30), format!("/page/{}", n * 7 % 30));
        site.insert(format!("/page/{n}"), links(&[&next, &far, "/", if n == 13 { "/gone" } else { "/flaky" }]));
    }
    site.insert("/slow".into(), Page::Slow(Duration::from_secs(3600)));
    site.insert("/flaky".into(), Page::Flaky(AtomicUsize::new(2), vec!["/page/3".into()]));
    site.insert("/private/diary".into(), links(&[]));
    site.insert("/robots".into(), links(&["/private/"]));
    site
}

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = Runtime::new()?;
    let checks = runtime.go(|| {
        let (ctx, cancel) = Context::background().with_timeout(Duration::from_secs(30));
        let server = serve(&ctx, site())?;
        let report = check(&ctx, server.address, "/", Options::default());
        cancel.cancel();
        server.wait();
        Ok::<_, std::io::Error>((report, server.answered.load(SeqCst)))
    });
    let (report, answered) = checks.join()??;
    println!("{} pages fetched by {answered} requests, {} skipped", report.fetched, report.skipped.len());
    for (path, (error, from)) in &report.broken {
        println!("{path}: {error}; linked from {}", from.iter().cloned().collect::<Vec<_>>().join(", "));
    }
    let (shown, left_out) = report.progress;
    println!("{shown} messages shown, {left_out} left out; ended early: {}", report.ended.as_deref().unwrap_or("no"));
    Ok(())
}
