//! The exploration: a stack of graphs a worker, and what came of them.

use crate::graph::{Graph, Loc, MAX_THREADS};
use crate::machine::{self, End, Limits, Mode, Run, Site, Wait};
use crate::picture::Picture;
use crate::preemption::passes;
use crate::step::Way;
use crate::verdict::{Failure, Why};
use crate::walk::Walk;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::panic::Location;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How to explore.
#[derive(Clone)]
pub struct Config {
    /// How many threads of the machine explore. The counts do not depend on it.
    pub jobs: NonZeroUsize,
    /// No more than so many executions, about.
    pub executions: Option<u64>,
    /// No more than so many seconds, about.
    pub seconds: Option<f64>,
    /// So many times an execution `park` may wake spuriously.
    pub spurious: u16,
    /// No more than so many events an execution; one with more is a failure.
    pub max_events: usize,
    /// No more than so many threads an execution, those that have ended included; at most
    /// [`MAX_THREADS`].
    pub max_threads: usize,
    /// When an execution is over and threads of it are not, do they unwind? If not, what they have is left as it is,
    /// and its memory is lost: for code that must not be stopped where it stands.
    pub unwind: bool,
    /// Is memory that an execution frees kept until its end? An address then means one allocation.
    pub quarantine: bool,
    /// Of the executions that differ only by which of some symmetric threads did what, is one explored? If not, all are. See
    /// [`fork_symmetric`](crate::engine::fork_symmetric).
    pub symmetry: bool,
    /// So many times an execution a block of memory may lie where one lay that was freed, of a layout whose addresses are
    /// compared or exchanged.
    pub reuse: u16,
    /// Is it counted which blocks of memory an execution does not free?
    pub leaks: bool,
    /// Done once on each thread that explores, before it does.
    pub on_thread: Option<Arc<dyn Fn() + Send + Sync>>,
    /// Executions that take more preemptions than this are left out, and then the exploration is no proof: see
    /// [`Tally::preempted`]. `None`: all are explored.
    pub preemptions: Option<usize>,
    /// With a bound of executions or of time, the first half of it goes along random branches every other turn, by this seed,
    /// and the rest depth first. Without a bound, or `None`: all does.
    pub seed: Option<u64>,
    /// Called with the graph of each execution in which all threads have come to their end.
    pub at_graph: Option<AtGraph>,
    /// Set by another thread, it ends the exploration soon, as if its time was over.
    pub stop: Option<Arc<AtomicBool>>,
    /// Asked when all threads of an execution have come to their end: how it ended, if the closure does not say so; or what is
    /// wrong with it nevertheless.
    pub at_end: Option<AtEnd>,
}

/// Looks at an execution.
pub type AtGraph = Arc<dyn Fn(&Graph) + Send + Sync>;

/// How an execution ended whose threads have come to their end, if the closure does not say so; or what is wrong with it.
pub type AtEnd = Arc<dyn Fn() -> Result<Option<String>, String> + Send + Sync>;

impl Config {
    fn limits(&self) -> Limits {
        let Config { max_events, max_threads, unwind, quarantine, symmetry, reuse, leaks, .. } = *self;
        Limits { max_events, max_threads, unwind, quarantine, symmetry, reuse, leaks }
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            jobs: NonZeroUsize::MIN,
            executions: None,
            seconds: None,
            spurious: 0,
            max_events: 3_000,
            max_threads: MAX_THREADS,
            unwind: true,
            quarantine: false,
            symmetry: true,
            reuse: 0,
            leaks: false,
            on_thread: None,
            preemptions: None,
            seed: None,
            at_graph: None,
            stop: None,
            at_end: None,
        }
    }
}

/// What was found so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Executions: consistent graphs in which all threads have come to their end.
    pub executions: u64,
    /// Graphs in which a thread spins on what was overwritten. They stand for nothing.
    pub blocked: u64,
    /// How many times the program was played.
    pub plays: u64,
    /// How each execution ended, and how often.
    pub outcomes: BTreeMap<String, u64>,
    /// Which part of the whole is done, as a guess between 0 and 1.
    pub done: f64,
    /// Ways that were not to be explored: [`stop_exploring`](crate::stop_exploring).
    #[serde(default)]
    pub skipped: u64,
    /// Loops that write in their rounds, and were left after some that brought no news.
    #[serde(default)]
    pub cuts: u64,
    /// Which loops were left before their end, and why.
    #[serde(default)]
    pub cut: BTreeSet<String>,
    /// How many branches were left out because they take too many preemptions: [`Config::preemptions`].
    #[serde(default)]
    pub preempted: u64,
    /// How many times a loop was shown to have no end: its thread waits.
    #[serde(default)]
    pub shown: u64,
    /// The most threads of an execution.
    #[serde(default)]
    pub threads: usize,
    /// What the threads of an execution had in common, of what the checker sees.
    #[serde(default)]
    pub sharing: Sharing,
    /// The most memory that graphs that waited took at once, in bytes: the sum of the workers' own peaks.
    pub peak_bytes: u64,
}

impl Tally {
    /// How many executions there are in all, as a guess: as many more as there are here as the rest weighs more. Each branch
    /// of an execution is taken to lead to as many as any other (Knuth, Estimating the efficiency of backtrack programs,
    /// 1975). `None`: nothing is known.
    #[must_use]
    pub fn estimate(&self) -> Option<f64> {
        (self.done > 0.0 && self.executions > 0).then(|| self.executions as f64 / self.done.min(1.0))
    }

    fn add(&mut self, other: Tally) {
        self.executions += other.executions;
        self.blocked += other.blocked;
        self.plays += other.plays;
        self.done += other.done;
        self.peak_bytes += other.peak_bytes;
        self.skipped += other.skipped;
        self.cuts += other.cuts;
        self.cut.extend(other.cut);
        self.shown += other.shown;
        self.preempted += other.preempted;
        self.threads = self.threads.max(other.threads);
        self.sharing = self.sharing.max(other.sharing);
        for (outcome, n) in other.outcomes {
            *self.outcomes.entry(outcome).or_default() += n;
        }
    }
}

/// What the threads of a program have in common, of what the checker sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Sharing {
    /// No thread accesses a location.
    #[default]
    None,
    /// Each location is made and accessed by one thread alone.
    Own,
    /// A thread accesses a location that another has made or accesses too.
    Shared,
}

impl Graph {
    fn sharing(&self) -> Sharing {
        let is_shared = |loc: Loc| {
            let mut threads = self.of(loc).map(|(_, event)| event.thread).chain(loc.maker());
            let first = threads.next();
            threads.any(|thread| Some(thread) != first)
        };
        let found = self.locations().filter(|loc| !matches!(*loc, Loc::CLOCK | Loc::REFUSALS));
        found.map(|loc| if is_shared(loc) { Sharing::Shared } else { Sharing::Own }).max().unwrap_or_default()
    }
}

/// An execution that must not be.
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
/// panic hook may print it.
///
/// # Panics
/// If `progress` or [`Config::on_thread`] does.
pub fn explore(
    config: &Config,
    body: impl Fn() -> String + Send + Sync + 'static,
    progress: impl FnMut(&Tally),
) -> Report {
    resume(config, vec![Branch::whole(Graph::new(config.spurious).reusing(config.reuse))], body, progress)
}

/// Explores what an exploration of the same `body` has left: [`Report::left`]. The report is of this part alone, but
/// for `done`, which is a part of the whole. [`Config::spurious`] stays as it was.
pub fn resume(
    config: &Config,
    left: Vec<Branch>,
    body: impl Fn() -> String + Send + Sync + 'static,
    mut progress: impl FnMut(&Tally),
) -> Report {
    let clock = Instant::now();
    let pool = Pool::new(config, left, Arc::new(body));
    thread::scope(|scope| {
        for _ in 1..config.jobs.get() {
            scope.spawn(|| pool.work(|_| ()));
        }
        let mut last = Instant::now();
        pool.work(|executions| {
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
}

/// Plays an execution again, and looks. A graph that comes from a file must have passed [`Graph::check`]. It may have
/// as many events as the default of [`Config::max_events`] says.
pub fn watch(graph: Graph, body: impl Fn() -> String + Send + Sync + 'static) -> Played {
    watch_within(graph, Config::default().max_events, body)
}

fn watch_within(graph: Graph, max_events: usize, body: impl Fn() -> String + Send + Sync + 'static) -> Played {
    watch_as(graph, &Config { max_events, ..Config::default() }, body)
}

/// The same, within what `config` says of an execution.
pub fn watch_as(graph: Graph, config: &Config, body: impl Fn() -> String + Send + Sync + 'static) -> Played {
    let run = play(graph.reindex(), config, Mode::Replay, &(Arc::new(body) as Body)).0;
    let Run { end, graph, sites, waits, names, lost, panicked, .. } = run;
    let found = match end {
        End::Failed(failure) => Some(Counterexample { failure, graph }),
        _ => None,
    };
    Played { found, sites, names, waits, lost, panicked }
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
        match at_end() {
            Ok(ended) => outcome = ended.or(outcome),
            Err(what) => run.end = End::Failed(Failure { why: Why::Panic(what), thread: 0 }),
        }
    }
    (run, outcome)
}

/// So many random branches, and then so many depth first.
const TURN: u64 = 128;

/// Random branches are taken as long as what waits takes less memory than this.
const MOST_BYTES: u64 = 256 << 20;

/// What the workers share.
struct Pool<'a> {
    config: &'a Config,
    body: Body,
    stop: AtomicBool,
    begun: Instant,
    /// How many walks have a number.
    walkers: AtomicU64,
    executions: AtomicU64,
    /// A part of all, as the bits of a float.
    done: AtomicU64,
    /// How many workers have nothing to do.
    idle: AtomicUsize,
    shared: Mutex<Shared>,
    changed: Condvar,
}

#[derive(Default)]
struct Shared {
    branches: Vec<Branch>,
    /// Workers that explore.
    busy: usize,
    report: Report,
}

impl Pool<'_> {
    fn new(config: &Config, branches: Vec<Branch>, body: Body) -> Pool<'_> {
        Pool {
            config,
            body,
            stop: AtomicBool::new(false),
            begun: Instant::now(),
            walkers: AtomicU64::new(0),
            executions: AtomicU64::new(0),
            done: AtomicU64::new(0),
            idle: AtomicUsize::new(0),
            shared: Mutex::new(Shared { branches, ..Shared::default() }),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A worker's life.
    fn work(&self, mut beat: impl FnMut(u64)) {
        if let Some(prepare) = &self.config.on_thread {
            prepare();
        }
        let mut tally = Tally::default();
        while let Some(mut stack) = self.take() {
            self.explore(&mut stack, &mut tally, &mut beat);
            let mut shared = self.lock();
            shared.report.left.append(&mut stack);
            shared.busy -= 1;
            self.changed.notify_all();
        }
        self.lock().report.tally.add(tally);
    }

    /// Something to explore, as soon as there is something. `None`: there will not be.
    fn take(&self) -> Option<Vec<Branch>> {
        let mut shared = self.lock();
        self.idle.fetch_add(1, Relaxed);
        let found = loop {
            if self.stop.load(Relaxed) {
                let mut left = std::mem::take(&mut shared.branches);
                shared.report.left.append(&mut left);
                break None;
            }
            if let Some(branch) = shared.branches.pop() {
                shared.busy += 1;
                break Some(vec![branch]);
            }
            if shared.busy == 0 {
                break None;
            }
            shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
        };
        self.idle.fetch_sub(1, Relaxed);
        found
    }

    fn explore(&self, stack: &mut Vec<Branch>, tally: &mut Tally, beat: &mut impl FnMut(u64)) {
        let mut told = (tally.executions, tally.done);
        let mut walk = self.config.seed.map(|seed| Walk::new(seed ^ self.walkers.fetch_add(1, Relaxed)));
        loop {
            let is_walking = walk.is_some() && self.walks(tally);
            let next = if let (Some(walk), true) = (&mut walk, is_walking) { walk.take(stack) } else { stack.pop() };
            let Some(branch) = next else { break };
            let weight = branch.weight();
            let mut graphs = branch.graphs();
            if let Some(bound) = self.config.preemptions {
                let all = graphs.len();
                graphs.retain(|graph| passes(graph, bound));
                tally.preempted += (all - graphs.len()) as u64;
            }
            match graphs.pop() {
                Some(graph) => {
                    stack.extend(graphs.into_iter().map(Branch::whole));
                    self.play_one(graph, stack, tally);
                }
                None => tally.done += weight,
            }
            // A bound on executions is kept to the execution.
            if self.config.executions.is_some() || tally.plays.is_multiple_of(64) {
                self.tell(stack, tally, &mut told, beat);
            }
            if self.idle.load(Relaxed) > 0 && stack.len() > 1 {
                self.give_away(stack);
            }
            if self.stop.load(Relaxed) {
                break;
            }
        }
        self.tell(stack, tally, &mut told, beat);
    }

    /// Is the next branch to be a random one?
    fn walks(&self, tally: &Tally) -> bool {
        let Config { executions, seconds, .. } = *self.config;
        let is_early = executions.is_none_or(|all| self.executions.load(Relaxed) < all.div_ceil(2))
            && seconds.is_none_or(|all| self.begun.elapsed().as_secs_f64() < all / 2.0);
        // Turn by turn with depth first, which finds a bug close to the first execution sooner.
        let turn = executions.map_or(TURN, |all| (all / 8).clamp(1, TURN));
        let is_its_turn = tally.plays / turn % 2 == 1;
        (executions.is_some() || seconds.is_some()) && is_early && is_its_turn && tally.peak_bytes < MOST_BYTES
    }

    fn play_one(&self, graph: Graph, stack: &mut Vec<Branch>, tally: &mut Tally) {
        tally.plays += 1;
        let (run, outcome) = play(graph, self.config, Mode::Explore, &self.body);
        tally.skipped += run.skipped;
        tally.cuts += run.cuts;
        tally.cut.extend(run.cut);
        tally.shown += run.shown;
        tally.threads = tally.threads.max(run.graph.threads.len());
        if tally.sharing < Sharing::Shared {
            let own = if run.is_seen { Sharing::Own } else { Sharing::None };
            tally.sharing = tally.sharing.max(own).max(run.graph.sharing());
        }
        if matches!(run.end, End::Anew) {
            stack.push(Branch::whole(run.graph.clone()));
        } else {
            tally.done += run.graph.weight;
        }
        match run.end {
            End::Complete => {
                if let Some(look) = &self.config.at_graph {
                    look(&run.graph);
                }
                tally.executions += 1;
                *tally.outcomes.entry(outcome.unwrap_or_default()).or_default() += 1;
            }
            End::Blocked => tally.blocked += 1,
            End::Played | End::Anew => (),
            End::Failed(failure) => {
                tally.executions += 1;
                self.stop.store(true, Relaxed);
                let graph = run.graph.clone();
                self.lock().report.failure.get_or_insert(Counterexample { failure, graph });
            }
        }
        let of = Arc::new(run.graph);
        stack.extend(run.ways.into_iter().map(|way| Branch { of: Arc::clone(&of), way: Some(way) }));
    }

    /// Reports to the other workers what was done since `told`, and asks whether it is enough.
    fn tell(&self, stack: &[Branch], tally: &mut Tally, told: &mut (u64, f64), beat: &mut impl FnMut(u64)) {
        if tally.plays.is_multiple_of(64) || stack.is_empty() {
            tally.peak_bytes = tally.peak_bytes.max(bytes(stack));
        }
        let (executions, done) = (tally.executions - told.0, tally.done - told.1);
        *told = (tally.executions, tally.done);
        // Relaxed, here and above: numbers for people, and a wish to stop that may be heard late.
        let _ = self.done.fetch_update(Relaxed, Relaxed, |bits| Some((f64::from_bits(bits) + done).to_bits()));
        beat(self.executions.fetch_add(executions, Relaxed) + executions);
        if self.config.executions.is_some_and(|limit| self.executions.load(Relaxed) >= limit) {
            self.stop.store(true, Relaxed);
        }
    }

    /// The oldest half, below which lies the most.
    fn give_away(&self, stack: &mut Vec<Branch>) {
        let half = stack.len() / 2;
        self.lock().branches.extend(stack.drain(..half));
        self.changed.notify_all();
    }
}

/// What they take in memory. Branches of one execution lie side by side.
fn bytes(stack: &[Branch]) -> u64 {
    let executions = stack.chunk_by(|a, b| Arc::ptr_eq(&a.of, &b.of));
    executions.map(|of_one| of_one[0].of.bytes() + size_of_val(of_one) as u64).sum()
}
