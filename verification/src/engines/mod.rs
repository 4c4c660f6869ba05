//! Running one model on one engine, within bounds.

pub mod record;
pub mod sc;
pub mod shrink;

use crate::checker::tally::Tally;
use crate::hosts::any::{self, Kind};
use crate::hosts::wrap::trace::{self, Step};
use crate::hosts::wrap::tso;
use crate::model::Model;
use crate::mutation::mutant::Mutation;
use crate::worker;
pub use rc11::engine::panic_text;
use rc11::graph::Graph;
use rc11::picture::Picture;
use record::{Follow, Pick, Recorder};
use serde::{Deserialize, Serialize};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The engine that explores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// Every execution under RC11, each once: what C11 and Rust allow, but for load buffering.
    Rc11,
    /// loom 0.7.2: C11 without load buffering; known to miss executions.
    Loom,
    /// loom, with a mark for each thread beside each word, so that its pruning hides nothing.
    LoomApart,
    /// Every execution under sequential consistency.
    Sc,
    /// Every execution under total store order.
    Tso,
    /// Random schedules, sequentially consistent.
    Random,
    /// Probabilistic concurrency testing, sequentially consistent.
    Pct,
    /// Random schedules, total store order.
    TsoRandom,
    /// Probabilistic concurrency testing, total store order.
    TsoPct,
}

impl Engine {
    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Rc11 => "rc11",
            Engine::Loom => "loom",
            Engine::LoomApart => "loom-apart",
            Engine::Sc => "sc",
            Engine::Tso => "tso",
            Engine::Random => "random",
            Engine::Pct => "pct",
            Engine::TsoRandom => "tso-random",
            Engine::TsoPct => "tso-pct",
        }
    }

    /// What it takes memory to be.
    pub const fn memory_model(self) -> &'static str {
        match self {
            Engine::Rc11 => "RC11",
            Engine::Loom | Engine::LoomApart => "C11 (part)",
            Engine::Sc | Engine::Random | Engine::Pct => "SC",
            Engine::Tso | Engine::TsoRandom | Engine::TsoPct => "TSO",
        }
    }

    /// Whose memory and threads its executions have.
    pub const fn kind(self) -> Kind {
        match self {
            Engine::Rc11 => Kind::Rc11,
            Engine::Loom => Kind::Loom,
            Engine::LoomApart => Kind::Apart,
            Engine::Sc | Engine::Random | Engine::Pct => Kind::Shuttle,
            Engine::Tso | Engine::TsoRandom | Engine::TsoPct => Kind::Tso,
        }
    }

    /// Is it loom, one way or the other?
    pub const fn is_loom(self) -> bool {
        matches!(self, Engine::Loom | Engine::LoomApart)
    }

    /// Does it miss nothing that its memory model allows, once it has finished?
    pub const fn is_complete(self) -> bool {
        matches!(self, Engine::Rc11 | Engine::Sc | Engine::Tso)
    }

    /// Does it draw schedules at random?
    pub const fn samples(self) -> bool {
        matches!(self, Engine::Random | Engine::Pct | Engine::TsoRandom | Engine::TsoPct)
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Where an exploration may stop before its end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// loom: at most so many times a thread that could go on is switched away from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preemptions: Option<usize>,
    /// PCT: so many places where priorities change.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub depth: Option<usize>,
    /// At most so many executions; for an engine that samples, exactly so many.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub executions: Option<u64>,
    /// At most so many spurious returns from `park` in an execution.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub spurious: usize,
    /// At most so many seconds.
    pub seconds: f64,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.preemptions.map(|n| format!("≤{n} preemptions")));
        parts.extend(self.depth.map(|n| format!("depth {n}")));
        parts.extend(self.executions.map(|n| format!("≤{n} runs")));
        parts.extend((self.spurious > 0).then(|| format!("≤{} spurious", self.spurious)));
        f.pad(&if parts.is_empty() { "none".to_owned() } else { parts.join(", ") })
    }
}

/// What may be said after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// A complete engine finished: every execution that its memory model allows, within the model's size.
    #[serde(rename = "proved")]
    Proved,
    /// The engine finished, but is known to miss executions.
    #[serde(rename = "explored")]
    Explored,
    /// A bound was set and may have cut something off.
    #[serde(rename = "bounded")]
    Bounded,
    /// Schedules were sampled at random.
    #[serde(rename = "sampled")]
    Sampled,
    /// It does not hold.
    #[serde(rename = "FAILED")]
    Failed,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Proved => "proved",
            Verdict::Explored => "explored",
            Verdict::Bounded => "bounded",
            Verdict::Sampled => "sampled",
            Verdict::Failed => "FAILED",
        })
    }
}

/// What makes an execution happen again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Script {
    /// loom explores in a fixed order: its `n`th execution, within the same bounds.
    Nth(u64),
    /// The decisions of a scheduler, one by one.
    Picks(Vec<Pick>),
    /// The execution itself, as a graph.
    Graph(Box<Graph>),
}

/// A failing execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// What is wrong.
    pub message: String,
    /// In which execution, counted from 1.
    pub execution: u64,
    /// How to make it happen again. `None`: nothing to replay, for instance if an outcome was never reached.
    pub script: Option<Script>,
    /// The threads' names.
    pub threads: Vec<String>,
    /// What each did.
    pub steps: Vec<Step>,
    /// rc11: the execution drawn as text, with where each read takes its value from, and what is wrong.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub picture: Option<String>,
}

/// What came of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outcome {
    /// What may be said.
    pub verdict: Verdict,
    /// Executions explored.
    pub executions: u64,
    /// Executions given up because they only repeat others.
    pub redundant: u64,
    /// How each execution ended, and how often.
    pub outcomes: BTreeMap<String, u64>,
    /// How long it took.
    pub seconds: f64,
    /// What went wrong, if anything.
    pub failure: Option<Failure>,
    /// How often the mutated line was executed.
    pub mutant_hits: u64,
    /// rc11: the most memory that what was still to be explored took at once, in bytes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub peak_bytes: Option<u64>,
    /// rc11: about how many executions there are in all, if it has not come to the end: Knuth's estimate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub estimate: Option<f64>,
}

impl Outcome {
    /// Why an exploration was not begun that should have kept its state, or gone on from one: such an outcome has refuted nothing.
    pub fn no_checkpoint(&self) -> Option<&str> {
        self.failure.as_ref().map(|failure| failure.message.as_str()).filter(|why| why.starts_with(NO_CHECKPOINT))
    }
}

/// What to run.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// Which model.
    pub model: &'a Model,
    /// On which engine.
    pub engine: Engine,
    /// Within which bounds.
    pub bounds: Bounds,
    /// With which line or step wrong.
    pub mutation: Option<Mutation>,
    /// From which seed; only engines that sample need one.
    pub seed: u64,
    /// On how many threads of the machine, if the engine can use more than one.
    pub jobs: NonZeroUsize,
    /// rc11: where the state of the exploration is kept, so that it can be gone on with.
    pub checkpoint: Option<Checkpoint<'a>>,
}

/// Where an exploration keeps its state.
#[derive(Debug, Clone, Copy)]
pub struct Checkpoint<'a> {
    /// The file.
    pub path: &'a Path,
    /// It stays when nothing is left.
    pub stays: bool,
}

/// Told now and then how far a run is: executions, and which part of the whole is done, where that can be guessed.
pub type Progress = Rc<dyn Fn(u64, Option<f64>)>;

/// What the model's closure, called once an execution, keeps.
struct Executions {
    started: Cell<u64>,
    outcomes: RefCell<Tally<String>>,
}

thread_local! {
    /// The closure must be `Send + Sync + 'static`, but every engine runs it on the thread that asked.
    static EXECUTIONS: Executions = const { Executions { started: Cell::new(0), outcomes: RefCell::new(Tally::new()) } };
}

impl Executions {
    fn reset(&self) {
        self.started.set(0);
        self.outcomes.take();
    }
    /// An execution begins: its number, from 1.
    fn one_more(&self) -> u64 {
        self.started.set(self.started.get() + 1);
        self.started.get()
    }
    fn count(&self, outcome: String) {
        self.outcomes.borrow_mut().note(outcome);
    }
}

/// Runs `job`; `progress` is told how far it is about four times a second.
pub fn run(job: Job<'_>, progress: &Progress) -> Outcome {
    crate::mutation::mutant::set(job.mutation);
    let (mut outcome, _) = explore(job, None, progress);
    outcome.mutant_hits = crate::mutation::mutant::hits();
    if let Some(failure) = &mut outcome.failure
        && let Some(script) = failure.script.clone()
    {
        let (again, _) = explore(job, Some(&script), &silent());
        if let Some(again) = again.failure {
            failure.threads = again.threads;
            failure.steps = again.steps;
            failure.picture = again.picture;
        }
    }
    if outcome.failure.is_none() && job.mutation.is_none() && answers_for_outcomes(job, outcome.verdict) {
        outcome.failure = never_reached(job.model, &outcome);
    }
    if outcome.failure.is_some() {
        outcome.verdict = Verdict::Failed;
    }
    crate::mutation::mutant::set(None);
    outcome
}

/// Plays one execution again, and writes it down. The steps are those of the failure, if it fails.
///
/// # Errors
/// Why the script does not fit: it is of another execution, or of none.
pub fn replay(job: Job<'_>, script: &Script) -> Result<Outcome, String> {
    replay_with_steps(job, script).map(|(outcome, _)| outcome)
}

/// The same, and what was done, also if nothing is wrong with it.
///
/// # Errors
/// As [`replay`].
pub fn replay_with_steps(job: Job<'_>, script: &Script) -> Result<(Outcome, Vec<Step>), String> {
    let fits = match script {
        Script::Nth(n) => job.engine.is_loom() && (1..u64::from(u32::MAX)).contains(n),
        Script::Picks(_) => job.engine.kind() != Kind::Rc11 && !job.engine.is_loom(),
        Script::Graph(graph) => {
            graph.check()?;
            job.engine == Engine::Rc11
        }
    };
    if !fits {
        return Err(format!("it is no schedule of {}", job.engine));
    }
    crate::mutation::mutant::set(job.mutation);
    let (outcome, misfit) = explore(job, Some(script), &silent());
    crate::mutation::mutant::set(None);
    misfit.map_or_else(|| Ok((outcome, trace::take_steps())), Err)
}

/// Must this run have reached what the model must reach? A finished complete engine: always. A sample: if the model
/// declares it, and it was not cut short.
fn answers_for_outcomes(job: Job<'_>, verdict: Verdict) -> bool {
    let declared = job.model.run_on(job.engine).map(|run| run.bounds.executions);
    match verdict {
        Verdict::Proved => true,
        Verdict::Sampled => declared.is_some_and(|declared| job.bounds.executions >= declared),
        _ => false,
    }
}

/// A complete engine that misses what must be reached shows a vacuous model. loom's gaps are its own, and shown as such.
fn never_reached(model: &Model, outcome: &Outcome) -> Option<Failure> {
    let missed = model.must_reach.iter().find(|must| !outcome.outcomes.keys().any(|seen| seen.contains(**must)))?;
    Some(Failure {
        message: format!("vacuous: no execution ended in `{missed}`, which the model must reach"),
        execution: outcome.executions,
        script: None,
        threads: Vec::new(),
        steps: Vec::new(),
        picture: None,
    })
}

/// And why the script does not fit, if there is one and it does not.
fn explore(job: Job<'_>, script: Option<&Script>, progress: &Progress) -> (Outcome, Option<String>) {
    EXECUTIONS.with(Executions::reset);
    any::choose(job.engine.kind());
    let clock = Instant::now();
    let result = match job.engine {
        Engine::Rc11 => explore_by_rc11(job, script, progress),
        engine if engine.is_loom() => explore_by_loom(job, script, clock, progress),
        _ => explore_by_shuttle(job, script, clock, progress),
    };
    let (executions, redundant, finished) = result.counts;
    let failure = result.failure.map(|(message, script)| Failure {
        message,
        execution: executions,
        script,
        threads: trace::threads(),
        steps: trace::take_steps(),
        picture: result.picture,
    });
    let verdict = match (&failure, job.engine) {
        (Some(_), _) => Verdict::Failed,
        (None, engine) if engine.samples() => Verdict::Sampled,
        (None, engine) if finished && engine.is_complete() => Verdict::Proved,
        (None, engine) if engine.is_loom() && finished && job.bounds.preemptions.is_none() => Verdict::Explored,
        (None, _) => Verdict::Bounded,
    };
    let outcome = Outcome {
        verdict,
        executions,
        redundant,
        outcomes: EXECUTIONS.with(|all| all.outcomes.take()).into_counts(),
        seconds: clock.elapsed().as_secs_f64(),
        failure,
        mutant_hits: 0,
        peak_bytes: result.peak_bytes,
        estimate: result.estimate,
    };
    (outcome, result.misfit)
}

/// Explores by graphs. It counts outcomes by itself, since it may explore on several threads.
fn explore_by_rc11(job: Job<'_>, script: Option<&Script>, progress: &Progress) -> Explored {
    let Job { bounds, mutation, .. } = job;
    let play = job.model.play;
    if let Some(Script::Graph(graph)) = script {
        let played = rc11::engine::watch_as((**graph).clone(), &judged(), begun(play, true));
        let picture = played.found.as_ref().map(|found| picture(job, found, &played).columns());
        let failure = played.found.map(|found| (rc11_message(&found), Some(Script::Graph(Box::new(found.graph)))));
        return Explored { counts: (1, 0, true), failure, picture, ..Explored::default() };
    }
    let config = rc11::engine::Config {
        // Hits of a mutated line are counted on one thread.
        jobs: if mutation.is_some() { NonZeroUsize::MIN } else { job.jobs },
        executions: bounds.executions,
        seconds: Some(bounds.seconds),
        spurious: bounds.spurious as u16,
        on_thread: Some(Arc::new(move || {
            any::choose(Kind::Rc11);
            crate::mutation::mutant::set(mutation);
        })),
        ..judged()
    };
    spinpark_rooms::explore::take_reached();
    let body = begun(play, false);
    let tell = |tally: &rc11::engine::Tally| progress(tally.executions, Some(tally.done));
    let report = match job.checkpoint {
        None => rc11::engine::explore(&config, body, tell),
        Some(Checkpoint { path, stays }) => {
            let config =
                rc11::engine::Config { stop: Some(Arc::clone(&worker::STOP)), leaves_checkpoint: stays, ..config };
            match rc11::engine::explore_with_checkpoint(&config, &subject(&job), path, body, tell) {
                Ok(report) => report,
                Err(why) => {
                    return Explored { failure: Some((format!("{NO_CHECKPOINT}{why}"), None)), ..Explored::default() };
                }
            }
        }
    };
    // A failure ends the exploration too, and is no bound.
    let finished = report.is_proof() || report.failure.is_some() && report.left.is_empty();
    let estimate = report.tally.estimate();
    let rc11::engine::Tally { executions, plays, outcomes, peak_bytes, .. } = report.tally;
    let reached = spinpark_rooms::explore::take_reached();
    let reached = (reached.histories > 0 && job.checkpoint.is_none()).then(|| (reached.to_string(), executions));
    let outcomes: BTreeMap<String, u64> = outcomes.into_iter().chain(reached).collect();
    EXECUTIONS.with(|all| *all.outcomes.borrow_mut() = outcomes.into());
    let failure = report.failure.map(|found| (rc11_message(&found), Some(Script::Graph(Box::new(found.graph)))));
    Explored {
        counts: (executions, plays - executions, finished),
        failure,
        peak_bytes: Some(peak_bytes),
        estimate,
        ..Explored::default()
    }
}

/// An execution of a room's client program is judged at its end; of another model there is nothing more to be said.
fn judged() -> rc11::engine::Config {
    rc11::engine::Config { at_end: Some(Arc::new(spinpark_rooms::explore::at_end)), ..rc11::engine::Config::default() }
}

/// What an exploration with a checkpoint fails with that cannot keep its state: nothing was found out about the model.
const NO_CHECKPOINT: &str = "cannot keep the checkpoint: ";

/// What a checkpoint of this job is of.
fn subject(job: &Job<'_>) -> String {
    format!("{}, {:?}, {} spurious", job.model.name, job.mutation, job.bounds.spurious)
}

/// `play`, of which each execution has a trace of its own, which is written down if it `is_traced`.
fn begun(play: fn() -> String, is_traced: bool) -> impl Fn() -> String + Send + Sync + 'static {
    move || {
        trace::begin(is_traced);
        spinpark_rooms::play::forget();
        play()
    }
}

/// A failing execution of rc11's, drawn. `None`: it no longer fails.
///
/// # Errors
/// If it is none.
pub fn draw(job: Job<'_>, graph: &Graph) -> Result<Option<Picture>, String> {
    graph.check()?;
    crate::mutation::mutant::set(job.mutation);
    any::choose(Kind::Rc11);
    let played = rc11::engine::watch_as(graph.clone(), &judged(), begun(job.model.play, false));
    crate::mutation::mutant::set(None);
    Ok(played.found.as_ref().map(|found| picture(job, found, &played)))
}

fn picture(job: Job<'_>, found: &rc11::engine::Counterexample, played: &rc11::engine::Played) -> Picture {
    let source = |file: &str, line: u32| crate::mutation::mutant::source_line(rc11::naming::below_src(file), line);
    Picture::of(job.model.name, found, played, &|file, line| source(file, line).map(str::to_owned))
}

fn rc11_message(found: &rc11::engine::Counterexample) -> String {
    message_of(found.failure.why.sentence(&found.graph, |thread| format!("thread {thread}")))
}

#[derive(Default)]
struct Explored {
    /// Executions, redundant ones, and whether the engine came to its end.
    counts: (u64, u64, bool),
    /// What is wrong, and how to play it again.
    failure: Option<(String, Option<Script>)>,
    /// That, as a picture.
    picture: Option<String>,
    peak_bytes: Option<u64>,
    estimate: Option<f64>,
    /// Why the script is of another execution, if it is.
    misfit: Option<String>,
}

fn explore_by_loom(job: Job<'_>, script: Option<&Script>, clock: Instant, progress: &Progress) -> Explored {
    let nth = match script {
        Some(Script::Nth(n)) => Some(*n),
        _ => None,
    };
    let limit = nth.or(job.bounds.executions).unwrap_or(u64::MAX - 1);
    // What is played again is not cut off by the clock of a busy machine.
    let seconds = if nth.is_some() { f64::from(u32::MAX) } else { job.bounds.seconds };
    let mut builder = loom::model::Builder::new();
    builder.max_threads = 5;
    builder.max_branches = 20_000;
    builder.preemption_bound = job.bounds.preemptions;
    // Loom asks for its bounds before each execution, and stops without a word.
    builder.checkpoint_interval = 1;
    builder.checkpoint_file = None;
    builder.max_permutations = Some(usize::try_from(limit + 1).unwrap_or(usize::MAX));
    builder.max_duration = Some(Duration::from_secs_f64(seconds));
    let body = job.model.play;
    let explore = || {
        builder.check(move || {
            let n = EXECUTIONS.with(Executions::one_more);
            if n.is_multiple_of(256) {
                beat(n);
            }
            trace::begin(nth == Some(n));
            let outcome = body();
            EXECUTIONS.with(|all| all.count(outcome));
        });
    };
    let result = with_pulse(Pulse::new(progress, clock), || catch_unwind(AssertUnwindSafe(explore)));
    let executions = EXECUTIONS.with(|all| all.started.get());
    let finished = executions < limit && clock.elapsed().as_secs_f64() < seconds;
    let missed = nth.filter(|&nth| result.is_ok() && executions < nth);
    let misfit = missed.map(|nth| format!("it is of execution {nth}, and there are {executions}"));
    let failure = result.err().map(|payload| (message(&*payload), Some(Script::Nth(executions))));
    Explored { counts: (executions, 0, finished), failure, misfit, ..Explored::default() }
}

fn explore_by_shuttle(job: Job<'_>, script: Option<&Script>, clock: Instant, progress: &Progress) -> Explored {
    let Bounds { depth, executions, seconds, spurious, .. } = job.bounds;
    let limit = executions.unwrap_or(u64::MAX);
    let (mut seen, mut followed) = (None, None);
    let scheduler: Box<dyn Scheduler> = match (script, job.engine) {
        (Some(Script::Picks(picks)), _) => {
            let (follow, how_far) = Follow::new(picks.clone());
            followed = Some(how_far);
            Box::new(follow)
        }
        (_, Engine::Sc | Engine::Tso) => {
            let keep_going = move |seen: &sc::Explored| {
                let n = seen.executions + seen.redundant;
                seen.executions < limit && (!n.is_multiple_of(256) || beat(n) < seconds)
            };
            let (exhaustive, explored) = sc::Exhaustive::new(spurious, keep_going);
            seen = Some(explored);
            Box::new(exhaustive)
        }
        (_, Engine::Pct | Engine::TsoPct) => {
            Box::new(PctScheduler::new_from_seed(job.seed, depth.unwrap_or(3), limit as usize))
        }
        _ => Box::new(RandomScheduler::new_from_seed(job.seed, limit as usize)),
    };
    let picks = Rc::new(RefCell::new(Vec::new()));
    let samples = job.engine.samples() && script.is_none();
    let recorder =
        Recorder::new(scheduler, Rc::clone(&picks), move |n| !samples || !n.is_multiple_of(64) || beat(n) < seconds);
    let config = shuttle_config();
    let body = job.model.play;
    let traced = script.is_some();
    let play = move || {
        EXECUTIONS.with(Executions::one_more);
        trace::begin(traced);
        tso::begin();
        let outcome = body();
        EXECUTIONS.with(|all| all.count(outcome));
    };
    let result = with_pulse(Pulse::new(progress, clock), || {
        catch_unwind(AssertUnwindSafe(|| shuttle::Runner::new(recorder, config).run(play)))
    });
    let started = EXECUTIONS.with(|all| all.started.get());
    let counts = match &seen {
        None => (started, 0, true),
        Some(seen) => {
            let seen = seen.borrow();
            let running = u64::from(result.is_err());
            (seen.executions + running, seen.redundant, seen.complete)
        }
    };
    let misfit = followed.and_then(|followed| followed.borrow().misfit(result.is_err()));
    let failure = result.err().map(|payload| (message(&*payload), Some(Script::Picks(picks.take()))));
    Explored { counts, failure, misfit, ..Explored::default() }
}

fn shuttle_config() -> shuttle::Config {
    let mut config = shuttle::Config::new();
    config.stack_size = 0x2_0000;
    config.failure_persistence = shuttle::FailurePersistence::None;
    config.silence_warnings = true;
    config.max_steps = shuttle::MaxSteps::FailAfter(1_000_000);
    config
}

/// A progress function that does nothing.
pub fn silent() -> Progress {
    Rc::new(|_, _| ())
}

/// The caller's progress function, for as long as an engine runs on this thread.
struct Pulse {
    tell: Progress,
    clock: Instant,
    last: Cell<Instant>,
}

impl Pulse {
    fn new(tell: &Progress, clock: Instant) -> Pulse {
        Pulse { tell: Rc::clone(tell), clock, last: Cell::new(clock) }
    }
}

thread_local! {
    static PULSE: RefCell<Option<Pulse>> = const { RefCell::new(None) };
}

fn with_pulse<R>(pulse: Pulse, f: impl FnOnce() -> R) -> R {
    PULSE.with_borrow_mut(|place| *place = Some(pulse));
    let result = f();
    PULSE.with_borrow_mut(|place| *place = None);
    result
}

/// Tells how far we are, at most four times a second. Returns the seconds so far.
fn beat(n: u64) -> f64 {
    PULSE.with_borrow(|pulse| {
        let Some(pulse) = pulse else { return 0.0 };
        if pulse.last.get().elapsed() > Duration::from_millis(250) {
            pulse.last.set(Instant::now());
            (pulse.tell)(n, None);
        }
        pulse.clock.elapsed().as_secs_f64()
    })
}

fn message(payload: &(dyn Any + Send)) -> String {
    message_of(panic_text(payload))
}

fn message_of(text: String) -> String {
    match text {
        text if text.starts_with("deadlock") && !text.starts_with("deadlock: ") => {
            "deadlock: every thread waits, and none is left to wake one; the last step of each says where".to_owned()
        }
        text => text,
    }
}
