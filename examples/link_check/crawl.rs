//! The check itself: a pool of workers between two channels, and a collector that knows what was seen.

use super::fetch::{FetchError, Fetched, Fetcher};
use spinpark::chan::{self, Receiver, Sender};
use spinpark::context::{Context, ContextError};
use spinpark::{ErrGroup, Wait, go, select, time};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// How a check goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// How many pages are fetched at once.
    pub(crate) workers: usize,
    /// How long a try may take.
    pub(crate) each: Duration,
    /// How often a page is tried.
    pub(crate) tries: u32,
    /// The check ends if nothing comes for so long.
    pub(crate) stall: Duration,
}

impl Default for Options {
    fn default() -> Self {
        let (each, stall) = (Duration::from_millis(200), Duration::from_secs(5));
        Options { workers: 4, each, tries: 3, stall }
    }
}

/// What a check has found.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// How many pages were fetched.
    pub(crate) fetched: usize,
    /// Pages that may not be fetched.
    pub(crate) skipped: BTreeSet<String>,
    /// Broken pages: why, and which pages have a link to them.
    pub(crate) broken: BTreeMap<String, (FetchError, BTreeSet<String>)>,
    /// Why the check ended before its end.
    pub(crate) ended: Option<String>,
    /// How many messages were shown, and how many were left out.
    pub(crate) progress: (usize, usize),
}

/// A page that a worker has tried.
struct Done {
    path: String,
    /// `None`: it may not be fetched.
    fetched: Option<Fetched>,
}

/// Checks every page that can be reached from `root`.
pub(crate) fn check(parent: &Context, address: SocketAddr, root: &str, options: Options) -> Report {
    let (ctx, cancel) = parent.with_cancel();
    let fetcher = Arc::new(Fetcher::new(address, options.each, options.tries));
    let (jobs, taken) = chan::bounded::<String>(options.workers);
    let (done, results) = chan::bounded(options.workers);
    let (messages, shown) = show();

    let mut pool = ErrGroup::with_limit(options.workers);
    for _ in 0..options.workers {
        let (ctx, fetcher, taken, done) = (ctx.clone(), Arc::clone(&fetcher), taken.clone(), done.clone());
        pool.go(move || work(&ctx, &fetcher, &taken, &done));
    }
    drop((taken, done)); // the workers have theirs: the last that ends closes the channel

    // Each result sets it back. `cancel` comes along: it also cancels when the check returns.
    let cancel = Arc::new(cancel);
    let watchdog = {
        let cancel = Arc::clone(&cancel);
        time::after_func(options.stall, move || cancel.cancel_cause("nothing came any more"))
    };
    let mut collector = Collector::new(root);
    let alive = || {
        watchdog.reset(options.stall);
    };
    collector.run(&ctx, &jobs, &results, alive, &messages);
    watchdog.stop();
    drop(jobs); // the workers see the end of their channel
    if let Err(error) = pool.wait().wait() {
        let why = if ctx.is_done() { why(&ctx) } else { error.to_string() };
        collector.report.ended.get_or_insert(why);
    }
    drop(messages);
    collector.report.progress.0 = shown.wait().expect("no panic");
    collector.report
}

/// A worker: takes paths until there are no more. Its first error cancels nothing but the check itself.
fn work(ctx: &Context, fetcher: &Fetcher, jobs: &Receiver<String>, done: &Sender<Done>) -> Result<(), FetchError> {
    while let Ok(path) = jobs.recv().wait() {
        let fetched = match fetcher.is_allowed(ctx, &path) {
            Ok(true) => Some(fetcher.fetch(ctx, &path)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        };
        if ctx.is_done() {
            return Err(FetchError::Canceled);
        }
        let is_wanted = select!(wait {
            sent = done.send(Done { path, fetched }) => sent.is_ok(),
            _ = ctx.done() => false,
        });
        if !is_wanted {
            return Err(FetchError::Canceled);
        }
    }
    Ok(())
}

/// A goroutine that shows messages as they come. How many it has shown, when the sender is gone.
fn show() -> (Sender<String>, spinpark::JoinHandle<usize>) {
    let (messages, come) = chan::bounded::<String>(1);
    let shown = go(move || {
        let mut shown = 0;
        while let Ok(message) = come.recv().wait() {
            shown += 1;
            if std::env::var_os("VERBOSE").is_some() {
                eprintln!("{message}");
            }
        }
        shown
    });
    (messages, shown)
}

/// The one goroutine that knows what was seen: it needs no lock.
struct Collector {
    report: Report,
    /// Which pages have a link to this one. It is here as soon as it was seen.
    from: BTreeMap<String, BTreeSet<String>>,
    backlog: Vec<String>,
    /// How many pages the workers have.
    pending: usize,
}

impl Collector {
    fn new(root: &str) -> Self {
        let from = BTreeMap::from([(root.to_owned(), BTreeSet::new())]);
        Collector { report: Report::default(), from, backlog: vec![root.to_owned()], pending: 0 }
    }

    /// Gives paths to the workers and takes what comes back, until nothing is left or the context ends.
    fn run(
        &mut self,
        ctx: &Context,
        jobs: &Sender<String>,
        results: &Receiver<Done>,
        alive: impl Fn(),
        messages: &Sender<String>,
    ) {
        let mut ticker = time::interval(Duration::from_millis(5));
        while self.pending > 0 || !self.backlog.is_empty() {
            // `None` is Go's nil channel: without a path there is nothing to send.
            let next = self.backlog.last().cloned();
            select!(wait {
                sent = next.map(|path| jobs.send(path)) => {
                    if sent.is_err() {
                        return; // no worker is left
                    }
                    self.backlog.pop();
                    self.pending += 1;
                },
                done = results.recv() => match done {
                    Ok(done) => {
                        alive();
                        self.pending -= 1;
                        self.take(done);
                    }
                    Err(_) => return, // no worker is left
                },
                _ = ticker.tick() => self.tell(messages),
                _ = ctx.done() => {
                    self.report.ended = Some(why(ctx));
                    return;
                }
            });
        }
    }

    fn take(&mut self, Done { path, fetched }: Done) {
        match fetched {
            None => drop(self.report.skipped.insert(path)),
            Some(Ok(links)) => {
                self.report.fetched += 1;
                for link in links {
                    if !self.from.contains_key(&link) {
                        self.backlog.push(link.clone());
                    }
                    self.from.entry(link).or_default().insert(path.clone());
                }
            }
            Some(Err(error)) => drop(self.report.broken.insert(path, (error, BTreeSet::new()))),
        }
        // Links to a page that is known to be broken come later, too.
        for (path, (_, from)) in &mut self.report.broken {
            from.clone_from(&self.from[path]);
        }
    }

    /// Never waits: a message that the other has no time for is left out.
    fn tell(&mut self, messages: &Sender<String>) {
        let message = format!("{} fetched, {} pending", self.report.fetched, self.pending);
        select!(wait {
            _ = messages.send(message) => (),
            default => self.report.progress.1 += 1,
        });
    }
}

fn why(ctx: &Context) -> String {
    match (ctx.err(), ctx.cause()) {
        (Some(ContextError::DeadlineExceeded), _) => "deadline has elapsed".to_owned(),
        (_, Some(cause)) => cause.to_string(),
        _ => "canceled".to_owned(),
    }
}
