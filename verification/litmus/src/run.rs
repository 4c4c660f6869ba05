//! Runs a litmus test on one engine.

use crate::enumerate::{Reference, enumerate_while};
use crate::model::MemoryModel;
use crate::play::{CUT, play};
use crate::program::Program;
use crate::question::Verdict;
use crate::speculate::enumerate_in;
use rc11::engine::{Config, Counterexample};
use rc11::verdict::Why;
use spinpark_verification::engines::sc;
use spinpark_verification::hosts::loom::Loom;
use spinpark_verification::hosts::rc11::Rc11;
use spinpark_verification::hosts::shuttle::Shuttle;
use spinpark_verification::hosts::wrap::apart::Apart;
use spinpark_verification::hosts::wrap::trace;
use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The checker that answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum LitmusEngine {
    /// The checker: every execution under RC11, each once, of the test as live code.
    Rc11,
    /// The reference enumerator; no code is played. Of RC11, or of another model: `--model`.
    Reference,
    /// Every interleaving under sequential consistency. Sees no data race.
    Sc,
    /// loom.
    Loom,
    /// loom, with a mark for each thread beside each word.
    LoomApart,
}

impl LitmusEngine {
    /// All of them.
    pub const ALL: [LitmusEngine; 5] =
        [LitmusEngine::Rc11, LitmusEngine::Reference, LitmusEngine::Sc, LitmusEngine::Loom, LitmusEngine::LoomApart];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            LitmusEngine::Rc11 => "rc11",
            LitmusEngine::Reference => "reference",
            LitmusEngine::Sc => "sc",
            LitmusEngine::Loom => "loom",
            LitmusEngine::LoomApart => "loom-apart",
        }
    }

    /// Does it claim to find exactly what RC11 allows?
    pub const fn is_exact(self) -> bool {
        matches!(self, LitmusEngine::Rc11 | LitmusEngine::Reference)
    }
}

/// What an engine found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The outcomes of the executions that came to their end, and how many had each.
    pub outcomes: BTreeMap<String, u64>,
    /// How many executions came to their end.
    pub executions: u64,
    /// How many were given up because an assumption did not hold, or a wait was not over.
    pub cut: u64,
    /// Is there a data race? Engines that play code stop at the first.
    pub race: bool,
    /// Is there a deadlock? Engines that play code stop at the first, and see only those of locks and parkers.
    pub stuck: bool,
    /// Did the engine come to its end?
    pub complete: bool,
}

impl Found {
    /// What this answers to the program's question.
    pub fn verdict(&self, program: &Program) -> Verdict {
        program.verdict(self.race, self.outcomes.keys())
    }

    /// Sorts out the executions that do not count from what an engine tallied.
    pub fn from_outcomes(mut outcomes: BTreeMap<String, u64>, complete: bool) -> Found {
        let cut = outcomes.remove(CUT).unwrap_or_default();
        Found { executions: outcomes.values().sum(), outcomes, cut, complete, ..Found::default() }
    }
}

/// As many threads as loom and [`Apart`] can have beside the main one.
const LOOM_THREADS: usize = 4;

/// Runs `program` for at most `seconds`.
///
/// # Errors
/// If the program is not fit to be played on this engine, or a thread of it panics.
pub fn run(program: &Program, engine: LitmusEngine, seconds: f64) -> Result<Found, String> {
    program.check()?;
    let program = Arc::new(program.clone());
    match engine {
        LitmusEngine::Reference => {
            let clock = Instant::now();
            let goes_on = || clock.elapsed().as_secs_f64() < seconds;
            let (Reference { executions, outcomes, race, stuck }, complete) = enumerate_while(&program, goes_on)?;
            Ok(Found { outcomes, executions, race, stuck, complete, cut: 0 })
        }
        LitmusEngine::Rc11 => by_rc11(&program, seconds),
        LitmusEngine::Sc => by_shuttle(&program, seconds),
        LitmusEngine::Loom => by_loom(&program, seconds, play::<Loom>),
        LitmusEngine::LoomApart => by_loom(&program, seconds, play::<Apart<Loom>>),
    }
}

/// Asks the reference what `program` does under `model`.
///
/// # Errors
/// If the program is not fit to be enumerated, or too large.
pub fn by_reference(program: &Program, model: MemoryModel) -> Result<Found, String> {
    let Reference { executions, outcomes, race, stuck } = enumerate_in(program, model)?;
    Ok(Found { outcomes, executions, race, stuck, complete: true, cut: 0 })
}

/// What the executions ended in. Only one thread of the machine ever holds it.
type Tally = Arc<Mutex<BTreeMap<String, u64>>>;

fn count(tally: &Tally, outcome: String) {
    *tally.lock().unwrap_or_else(PoisonError::into_inner).entry(outcome).or_default() += 1;
}

fn found(tally: &Tally, complete: bool, panicked: Result<(), Box<dyn Any + Send>>) -> Result<Found, String> {
    let outcomes = std::mem::take(&mut *tally.lock().unwrap_or_else(PoisonError::into_inner));
    let mut found = Found::from_outcomes(outcomes, complete && panicked.is_ok());
    if let Err(payload) = panicked {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message");
        match text {
            text if text.contains("Causality violation") => found.race = true,
            text if text.starts_with("deadlock") => found.stuck = true,
            text => return Err(text.to_owned()),
        }
    }
    Ok(found)
}

fn by_rc11(program: &Arc<Program>, seconds: f64) -> Result<Found, String> {
    let program = Arc::clone(program);
    let config = Config { seconds: Some(seconds), ..Config::default() };
    let report = rc11::engine::explore(&config, move || play::<Rc11>(&program), |_| ());
    let complete = report.is_proof();
    let mut found = Found::from_outcomes(report.tally.outcomes, complete);
    match report.failure {
        None => (),
        Some(Counterexample { failure, graph }) => match failure.why {
            Why::Race(_) => found.race = true,
            Why::Deadlock(_) | Why::Unjoined(_) => found.stuck = true,
            why => return Err(why.sentence(&graph, |thread| format!("thread {thread}"))),
        },
    }
    Ok(found)
}

fn by_loom(program: &Arc<Program>, seconds: f64, play: fn(&Arc<Program>) -> String) -> Result<Found, String> {
    if program.is_asymmetric() {
        return Err(format!("{}: loom has no asymmetric fences", program.name));
    }
    if program.threads.len() > LOOM_THREADS {
        return Err(format!("{}: loom has no more than {LOOM_THREADS} threads beside the main one", program.name));
    }
    let mut builder = loom::model::Builder::new();
    builder.max_threads = LOOM_THREADS + 1;
    builder.max_branches = 20_000;
    builder.preemption_bound = None;
    // Loom asks for its bounds before each execution, and stops without a word.
    builder.checkpoint_interval = 1;
    builder.checkpoint_file = None;
    builder.max_permutations = None;
    builder.max_duration = Some(Duration::from_secs_f64(seconds));
    let clock = Instant::now();
    let tally = Tally::default();
    let (program, outcomes) = (Arc::clone(program), Arc::clone(&tally));
    let explore = move || {
        builder.check(move || {
            trace::begin(false);
            count(&outcomes, play(&program));
        });
    };
    let result = catch_unwind(AssertUnwindSafe(explore));
    found(&tally, clock.elapsed().as_secs_f64() < seconds, result)
}

fn by_shuttle(program: &Arc<Program>, seconds: f64) -> Result<Found, String> {
    let clock = Instant::now();
    let keep_going = move |_: &sc::Explored| clock.elapsed().as_secs_f64() < seconds;
    let (scheduler, seen) = sc::Exhaustive::new(0, keep_going);
    let mut config = shuttle::Config::new();
    config.stack_size = 0x2_0000;
    config.failure_persistence = shuttle::FailurePersistence::None;
    config.silence_warnings = true;
    config.max_steps = shuttle::MaxSteps::FailAfter(1_000_000);
    let tally = Tally::default();
    let (program, outcomes) = (Arc::clone(program), Arc::clone(&tally));
    let body = move || {
        trace::begin(false);
        count(&outcomes, play::<Shuttle>(&program));
    };
    let runner = shuttle::Runner::new(scheduler, config);
    let result = catch_unwind(AssertUnwindSafe(|| runner.run(body)));
    let complete = seen.borrow().complete;
    found(&tally, complete, result.map(|_| ()))
}
