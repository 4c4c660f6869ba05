//! The example checks right: a Go program, line by line. It is included as modules, so that its parts are called from here.

#[allow(dead_code, reason = "`main` is not called here")]
#[path = "../examples/link_check/main.rs"]
mod example;

use example::crawl::{Options, Report, check};
use example::fetch::FetchError;
use example::server::{Page, Site, links, serve};
use example::site;
use spinpark::context::Context;
use spinpark::{Runtime, Wait, go, time};
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

/// Checks the site, in a context that `limits` makes. The report, and how many requests the server has answered.
fn checked(site: Site, options: Options, limits: impl FnOnce(&Context) -> Context + Send + 'static) -> (Report, usize) {
    let runtime = Runtime::builder().procs(2).build().expect("a runtime");
    let task = runtime.go(move || {
        let (ctx, cancel) = Context::background().with_cancel();
        let server = serve(&ctx, site).expect("it listens");
        let report = check(&limits(&ctx), server.address, "/", options);
        drop(cancel);
        server.wait();
        (report, server.answered.load(SeqCst))
    });
    task.join().expect("no panic")
}

fn quick() -> Options {
    Options { each: Duration::from_millis(300), ..Options::default() }
}

#[test]
fn finds_what_is_broken_and_who_links_to_it() {
    let (report, answered) = checked(site(), quick(), Clone::clone);
    assert_eq!((report.fetched, report.ended), (32, None), "/, thirty pages, and the flaky one");
    let names = |set: &std::collections::BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>();
    assert_eq!(names(&report.skipped), ["/private/diary"]);
    let broken: Vec<_> =
        report.broken.iter().map(|(path, (why, from))| (path.as_str(), why.clone(), names(from))).collect();
    let expected = [
        ("/gone", FetchError::NotFound, vec!["/page/13".to_owned()]),
        ("/missing", FetchError::NotFound, vec!["/".to_owned()]),
        ("/slow", FetchError::Timeout, vec!["/".to_owned()]),
    ];
    assert_eq!(broken, expected);
    // Each page once, the flaky one three times, the two that are not there, and the list of what may not be fetched. On a busy machine
    // some more than once.
    assert!((31 + 3 + 2 + 1..100).contains(&answered), "{answered}");
}

#[test]
fn ends_when_its_deadline_elapses() {
    let mut site = site();
    site.insert("/robots".into(), Page::Slow(Duration::from_secs(3600)));
    let options = Options { each: Duration::from_secs(60), ..quick() };
    let began = Instant::now();
    let (report, _) = checked(site, options, |ctx| {
        let (ctx, cancel) = ctx.with_timeout(Duration::from_millis(30));
        cancel.disarm();
        ctx
    });
    assert_eq!(report.ended.as_deref(), Some("deadline has elapsed"));
    assert!(report.fetched == 0 && began.elapsed() < Duration::from_secs(30));
}

#[test]
fn ends_with_the_cause_when_it_is_canceled() {
    let site = Site::from([("/".to_owned(), Page::Slow(Duration::from_secs(3600)))]);
    let options = Options { each: Duration::from_secs(60), ..quick() };
    let (report, _) = checked(site, options, |ctx| {
        let (ctx, cancel) = ctx.with_cancel();
        go(move || {
            time::sleep(Duration::from_millis(10)).wait();
            cancel.cancel_cause("the user has gone");
        });
        ctx
    });
    assert_eq!(report.ended.as_deref(), Some("the user has gone"));
}

#[test]
fn ends_when_nothing_comes_any_more() {
    let site =
        Site::from([("/".to_owned(), links(&["/slow"])), ("/slow".to_owned(), Page::Slow(Duration::from_secs(3600)))]);
    let options = Options { each: Duration::from_secs(60), stall: Duration::from_millis(30), ..quick() };
    let (report, _) = checked(site, options, Clone::clone);
    assert_eq!(report.ended.as_deref(), Some("nothing came any more"));
    assert_eq!(report.fetched, 1);
    assert!(report.progress.0 + report.progress.1 > 0, "the ticker has ticked");
}

#[test]
fn says_so_when_there_is_no_server() {
    let runtime = Runtime::builder().procs(2).build().expect("a runtime");
    let report = runtime.go(|| {
        let address = std::net::TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port");
        check(&Context::background(), address, "/", quick())
    });
    let report = report.join().expect("no panic");
    assert!(matches!(report.broken["/"].0, FetchError::Io(_)) && report.fetched == 0);
}
