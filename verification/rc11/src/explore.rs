//! The exploration: a stack of graphs a worker, and what came of them.

mod config;
mod pool;
mod tally;

pub use self::config::{AtEnd, AtGraph, Config};
use self::pool::Pool;
pub use self::tally::{Sharing, Tally};
use crate::graph::Graph;
use crate::machine::{self, End, Mode, Run, Seen, Site, Wait};
use crate::picture::Picture;
use crate::step::Way;
use crate::verdict::{Failure, Why};
use std::panic::Location;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// An execution that must not be.
///
/// ```
/// use rc11::engine::{Config, explore};
/// let body = || -> String { panic!("always") };
/// let report = explore(&Config::default(), body, |_| ());
/// let picture = report.failure.expect("it fails").picture("an example", body);
/// assert!(picture.sentence().contains("always"));
/// ```
#[derive(Debug, Clone)]
pub struct Counterexample {
    /// What is wrong.
    pub failure: Failure,
    /// The execution.
    pub graph: Graph,
}

impl Counterexample {
    /// Its picture. `body`, of which it is an execution, is played once more, to see where each event comes from.
    ///
    /// Without the lines' texts, which [`Picture::of`] can show: it knows the file and the line only.
    pub fn picture(&self, title: &str, body: impl Fn() -> String + Send + Sync + 'static) -> Picture {
        let max_events = match self.failure.why {
            Why::TooManyEvents(n) => n,
            _ => usize::MAX,
        };
        Picture::of(title, self, &watch_within(self.graph.clone(), max_events, body), &|_, _| None)
    }
}

/// A graph that waits to be explored: where an execution might have gone another way.
#[derive(Debug, Clone)]
pub struct Branch {
    /// The execution, shared by all its branches.
    pub(super) of: Arc<Graph>,
    /// `None`: it is that graph itself.
    pub(super) way: Option<Way>,
}

impl Branch {
    pub(super) fn whole(graph: Graph) -> Branch {
        Branch { of: Arc::new(graph), way: None }
    }

    fn graphs(self) -> Vec<Graph> {
        match self.way {
            Some(way) => self.of.go(&way),
            None => vec![Arc::unwrap_or_clone(self.of)],
        }
    }

    pub(super) fn weight(&self) -> f64 {
        self.way.map_or(self.of.weight, |way| way.weight)
    }
}

/// What came of an exploration, and what is left to do.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// What was found.
    pub tally: Tally,
    /// The first failure. The exploration ends with it.
    pub failure: Option<Counterexample>,
    /// What is still to be explored: nothing if all was.
    pub left: Vec<Branch>,
    /// How long it took.
    pub seconds: f64,
}

impl Report {
    /// Was everything explored, and nothing found?
    pub fn is_proof(&self) -> bool {
        let Tally { skipped, cuts, preempted, .. } = self.tally;
        self.left.is_empty() && self.failure.is_none() && skipped == 0 && cuts == 0 && preempted == 0
    }

    /// What was found later, by going on with what was left.
    pub(super) fn add(&mut self, later: Report) {
        let peak_bytes = self.tally.peak_bytes.max(later.tally.peak_bytes);
        self.tally.add(later.tally);
        self.tally.peak_bytes = peak_bytes;
        self.failure = later.failure;
        self.left = later.left;
        self.seconds += later.seconds;
    }
}

/// Explores every execution of `body` under RC11, each once; `progress` is called now and then with how far it is:
/// executions and `done`, no more.
///
/// What `body` returns is its outcome. It is played many times, on several threads if `config` says so, and must do the
/// same whenever it is answered the same. A panic in it is not passed on, but a failure of the execution, though the
/// panic hook may print it. With glibc the process keeps up to 256 MiB of what executions have freed, from the first exploration on.
///
/// # Panics
/// If `progress` or [`Config::on_thread`] does.
///
/// ```
/// use rc11::engine::{Config, Word, explore, fork};
/// use std::sync::{Arc, atomic::Ordering::Relaxed};
/// let report = explore(&Config::default(), || {
///     let word = Arc::new(Word::new(0));
///     let theirs = Arc::clone(&word);
///     let other = fork("other", move || theirs.store(1, Relaxed));
///     let seen = word.load(Relaxed);
///     other.join();
///     format!("{seen}") // an outcome
/// }, |_tally| ());
/// assert!(report.is_proof());
/// assert_eq!(report.tally.outcomes.keys().collect::<Vec<_>>(), ["0", "1"]);
/// ```
pub fn explore(
    config: &Config,
    body: impl Fn() -> String + Send + Sync + 'static,
    progress: impl FnMut(&Tally),
) -> Report {
    resume(config, vec![Branch::whole(Graph::new(config.spurious).reusing(config.reuse))], body, progress)
}

/// Explores what an exploration of the same `body` has left: [`Report::left`]. The report is of this part alone, but
/// for `done`, which is a part of the whole. [`Config::spurious`] stays as it was.
///
/// ```
/// use rc11::engine::{Config, explore, resume};
/// let config = Config::default();
/// let report = explore(&config, String::new, |_| ());
/// let more = resume(&config, report.left, String::new, |_| ()); // nothing is left
/// assert_eq!(more.tally.executions, 0);
/// ```
pub fn resume(
    config: &Config,
    left: Vec<Branch>,
    body: impl Fn() -> String + Send + Sync + 'static,
    mut progress: impl FnMut(&Tally),
) -> Report {
    resume_any(config, left, Arc::new(body), &mut progress)
}

/// The same, whatever they are: else it would be compiled for each.
fn resume_any(config: &Config, left: Vec<Branch>, body: Body, progress: &mut dyn FnMut(&Tally)) -> Report {
    let clock = Instant::now();
    pool::keep_freed_memory();
    let pool = Pool::new(config, left, body);
    thread::scope(|scope| {
        for _ in 1..config.jobs.get() {
            scope.spawn(|| pool.work(&mut |_| ()));
        }
        let mut last = Instant::now();
        pool.work(&mut |executions| {
            let now = Instant::now();
            if now - last > Duration::from_millis(250) {
                last = now;
                let done = f64::from_bits(pool.done.load(Relaxed));
                progress(&Tally { executions, done, ..Tally::default() });
            }
            let is_stopped = config.stop.as_ref().is_some_and(|stop| stop.load(Relaxed));
            if is_stopped || config.seconds.is_some_and(|seconds| clock.elapsed().as_secs_f64() > seconds) {
                pool.stop.store(true, Relaxed);
            }
        });
    });
    let mut report = pool.shared.into_inner().unwrap_or_else(PoisonError::into_inner).report;
    report.seconds = clock.elapsed().as_secs_f64();
    report
}

/// What is seen of an execution that is played again.
#[derive(Debug, Clone, Default)]
pub struct Played {
    /// What goes wrong in it, if anything still does.
    pub found: Option<Counterexample>,
    /// Where in the source its events are.
    pub sites: Vec<Site>,
    /// What its threads are called.
    pub names: Vec<String>,
    /// Which threads wait in the end, and what for.
    pub waits: Vec<Wait>,
    /// Of an object that is used by a thread that cannot know of it: the thread that made it, after how many of its events,
    /// and where.
    pub lost: Option<(u8, u16, &'static Location<'static>)>,
    /// Of a panic, the file and the line, as far as they are known.
    pub panicked: Option<String>,
    pub(super) seen: Seen,
}

/// Plays an execution again, and looks. A graph that comes from a file must have passed [`Graph::check`]. It may have
/// as many events as the default of [`Config::max_events`] says.
///
/// ```
/// use rc11::engine::{Config, explore, watch};
/// let body = || -> String { panic!("always") };
/// let failure = explore(&Config::default(), body, |_| ()).failure.expect("it fails");
/// assert!(watch(failure.graph, body).found.is_some());
/// ```
pub fn watch(graph: Graph, body: impl Fn() -> String + Send + Sync + 'static) -> Played {
    watch_within(graph, Config::default().max_events, body)
}

fn watch_within(graph: Graph, max_events: usize, body: impl Fn() -> String + Send + Sync + 'static) -> Played {
    watch_as(graph, &Config { max_events, ..Config::default() }, body)
}

/// The same, within what `config` says of an execution.
///
/// ```
/// use rc11::engine::{Config, explore, watch_as};
/// let (config, body) = (Config::default(), || -> String { panic!("always") });
/// let failure = explore(&config, body, |_| ()).failure.expect("it fails");
/// assert!(watch_as(failure.graph, &config, body).found.is_some());
/// ```
pub fn watch_as(graph: Graph, config: &Config, body: impl Fn() -> String + Send + Sync + 'static) -> Played {
    let run = play(graph.reindex(), config, Mode::Replay, &(Arc::new(body) as Body)).0;
    let Run { end, graph, sites, waits, names, lost, panicked, seen, .. } = run;
    let found = match end {
        End::Failed(failure) => Some(Counterexample { failure, graph }),
        _ => None,
    };
    Played { found, sites, names, waits, lost, panicked, seen }
}

/// The execution that an exploration begins with.
pub(crate) fn first_execution(config: &Config, body: impl Fn() -> String + Send + Sync + 'static) -> Graph {
    if let Some(prepare) = &config.on_thread {
        prepare();
    }
    play(Graph::new(config.spurious).reusing(config.reuse), config, Mode::Explore, &(Arc::new(body) as Body)).0.graph
}

/// What is explored.
pub(crate) type Body = Arc<dyn Fn() -> String + Send + Sync>;

fn play(graph: Graph, config: &Config, mode: Mode, body: &Body) -> (Run, Option<String>) {
    let outcome = Arc::new(Mutex::new(None));
    let (body, place) = (Arc::clone(body), Arc::clone(&outcome));
    let main = move || {
        let outcome = body();
        *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    };
    let mut run = machine::run(graph, config.limits(), mode, Box::new(main));
    let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let (End::Complete, Some(at_end)) = (&run.end, &config.at_end) {
        match machine::with_last_values(&mut run.graph, || at_end()) {
            Ok(ended) => outcome = ended.or(outcome),
            Err(what) => run.end = End::Failed(Failure { why: Why::Panic(what), thread: 0 }),
        }
    }
    (run, outcome)
}
