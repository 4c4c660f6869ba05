//! Random concurrent programs: what several threads do with one room of the kernel, played under many schedules.
//!
//! A [`Room`] says what its threads can do, plays a program once on whatever [`ModelHost`] it is given, and panics if one of
//! its invariants does not hold. From that follow the generator, the runs under shuttle's schedulers (or every
//! interleaving of a small program), the search for the shortest failing program, and the search for the schedule with
//! the fewest switches.
//!
//! A program is one flat list of operations, each with the thread that does it. So taking operations out leaves a
//! program, and the list's length is its size.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use spinpark_verification::checker::tally::Tally;
use spinpark_verification::engines::{self, Bounds, Engine, Failure, Job, Outcome, Script, Verdict};
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::model::{Model, OnAny};
use spinpark_verification::mutation::mutant::Mutant;
use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::{self, Debug, Write as _};
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::Arc;

/// A part of the kernel, with a stage around it, on which a few threads do what a program says.
pub trait Room: Debug + Clone + PartialEq + Sized + 'static {
    /// Its name; the wrong variants of the kernel's room of this name are played here.
    const NAME: &'static str;
    /// What must hold, in a sentence.
    const CLAIM: &'static str;
    /// At most so many threads.
    const THREADS: usize;
    /// At most so many operations, where that has to be few.
    const LONGEST: usize = usize::MAX;
    /// The engine that plays its programs by default. A room that has fences needs a memory that can miss them.
    const ENGINES: &'static [Engine];
    /// The wrong variants, by name, that its programs must find.
    const FALLS: &'static [&'static str];
    /// Rare things that [`reached`] can tell of. A room of which one was never reached was not looked at closely.
    const PATHS: &'static [&'static str];
    /// Sizes and the like.
    type Setup: Clone + Debug + PartialEq + Serialize + DeserializeOwned;
    /// Something that a thread does.
    type Op: Clone + Debug + PartialEq + Serialize + DeserializeOwned;

    /// Any setup.
    fn setup() -> BoxedStrategy<Self::Setup>;
    /// Anything that thread `thread` can do.
    fn op(thread: usize) -> BoxedStrategy<Self::Op>;
    /// Setups that are easier to read than this one, to be tried once a program fails.
    fn simpler(_setup: &Self::Setup) -> Vec<Self::Setup> {
        Vec::new()
    }
    /// Plays `program` once; returns how it ended.
    ///
    /// # Panics
    /// If an invariant does not hold.
    fn play<H: ModelHost>(program: &Program<Self>) -> String;
    /// If this room is played on real cores, not by an engine: plays `program` once.
    fn on_cores(_program: &Program<Self>) -> Option<Result<(), String>> {
        None
    }
}

/// What the threads of a room do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Program<R: Room> {
    /// Sizes and the like.
    pub setup: R::Setup,
    /// Which thread does what. Operations of one thread are done in this order; those of different threads in any.
    pub ops: Vec<(usize, R::Op)>,
}

impl<R: Room> Program<R> {
    /// Any program of up to `longest` operations.
    pub fn any(longest: usize) -> impl Strategy<Value = Program<R>> {
        let op = (0..R::THREADS).prop_flat_map(|thread| R::op(thread).prop_map(move |op| (thread, op)));
        (R::setup(), vec(op, 1..=longest.min(R::LONGEST))).prop_map(|(setup, ops)| Program { setup, ops })
    }

    /// The program that belongs to `seed`.
    pub fn draw(seed: u64, longest: usize) -> Program<R> {
        drawn(Self::any(longest), seed)
    }

    /// The program that `bytes` decide, for a fuzzer that changes them: two for the setup, then three for each operation,
    /// so that a changed byte changes one of them. What is short of three is left out.
    pub fn from_bytes(bytes: &[u8], longest: usize) -> Program<R> {
        let seed = |pair: &[u8]| pair.iter().fold(0, |seed, byte| seed << 8 | u64::from(*byte));
        let (setup, ops) = bytes.split_at(bytes.len().min(2));
        let op = |three: &[u8]| {
            let thread = usize::from(three[0]) % R::THREADS;
            (thread, drawn(R::op(thread), seed(&three[1..])))
        };
        let ops = ops.chunks_exact(3).take(longest.min(R::LONGEST)).map(op).collect();
        Program { setup: drawn(R::setup(), seed(setup)), ops }
    }

    /// How many threads do anything: one more than the last that does.
    pub fn threads(&self) -> usize {
        self.ops.iter().map(|(thread, _)| thread + 1).max().unwrap_or(0)
    }

    /// What thread `thread` does, in order.
    pub fn of(&self, thread: usize) -> Vec<R::Op> {
        self.ops.iter().filter(|(t, _)| *t == thread).map(|(_, op)| op.clone()).collect()
    }

    /// As columns, one a thread.
    pub fn picture(&self) -> String {
        let cell = |op: &R::Op| format!("{op:?}");
        let columns: Vec<Vec<String>> = (0..self.threads()).map(|t| self.of(t).iter().map(cell).collect()).collect();
        let mut text = format!("{:?}\n", self.setup);
        let longest = columns.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> =
            columns.iter().map(|column| column.iter().map(String::len).max().unwrap_or(0).max(8)).collect();
        let head = (0..columns.len()).map(|t| format!("thread {t}"));
        let _ = writeln!(text, "{}", row(head, &widths));
        for i in 0..longest {
            let cells = columns.iter().map(|column| column.get(i).cloned().unwrap_or_default());
            let _ = writeln!(text, "{}", row(cells, &widths));
        }
        text
    }
}

/// What belongs to `seed`.
fn drawn<S: Strategy>(strategy: S, seed: u64) -> S::Value {
    let mut bytes = [0; 32];
    bytes.chunks_mut(8).zip(1..).for_each(|(chunk, n)| {
        chunk.copy_from_slice(&seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(n).to_le_bytes());
    });
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    strategy.new_tree(&mut runner).expect("no strategy of a room rejects").current()
}

fn row(cells: impl Iterator<Item = String>, widths: &[usize]) -> String {
    let cells: Vec<String> = cells.zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
    format!("  {}", cells.join(" │ ")).trim_end().to_owned()
}

impl<R: Room> fmt::Display for Program<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.picture())
    }
}

/// Plays `program` on what its threads share: thread 0 here, as `first` does, and the others beside it, as `others` do.
/// Gives back what they shared, and what `first` gave.
pub fn together<H: ModelHost, R: Room<Op: Send>, S: Send + Sync + 'static, T>(
    program: &Program<R>,
    shared: S,
    others: fn(&S, usize, Vec<R::Op>),
    first: impl FnOnce(&S, Vec<R::Op>) -> T,
) -> (S, T) {
    let shared = Arc::new(shared);
    let fork = |thread: usize| {
        let (shared, ops) = (Arc::clone(&shared), program.of(thread));
        H::fork("other", move || others(&shared, thread, ops))
    };
    let threads: Vec<_> = (1..program.threads()).map(fork).collect();
    let result = first(&shared, program.of(0));
    threads.into_iter().for_each(|thread| H::join(thread));
    (Arc::into_inner(shared).expect("all threads have ended"), result)
}

/// How a program is played.
#[derive(Debug, Clone, Copy)]
pub struct Trial {
    /// The order of threads. Means nothing on real cores.
    pub engine: Engine,
    /// How often: with so many schedules, if the engine draws them; at most a hundred times as many, if it tries all.
    pub schedules: u64,
    /// From which seed.
    pub seed: u64,
    /// With which wrong variant, if any.
    pub mutant: Option<&'static Mutant>,
}

impl Trial {
    fn bounds(&self) -> Bounds {
        // The depth varies with the seed: few changes of priority find most, but not all.
        let depth = 1 + (self.seed % 4) as usize;
        // An engine that tries all needs more than one that draws some, or it need not begin.
        let executions = if self.engine.samples() { self.schedules } else { self.schedules * 100 };
        Bounds { preemptions: None, depth: Some(depth), executions: Some(executions), spurious: 0, seconds: 60.0 }
    }
}

thread_local! {
    /// What is played now on this thread. An engine runs all threads of a program on the one that asked.
    static PROGRAM: RefCell<Option<Rc<dyn Any>>> = const { RefCell::new(None) };
    static REACHED: RefCell<Tally> = const { RefCell::new(Tally::new()) };
}

/// A rare thing has happened, one of the room's [`PATHS`](Room::PATHS).
pub fn reached(path: &'static str) {
    reached_times(path, 1);
}

/// So many times.
pub fn reached_times(path: &'static str, times: u64) {
    REACHED.with_borrow_mut(|reached| reached.add(path, times));
}

/// All of these.
pub fn reached_all(paths: &Tally) {
    REACHED.with_borrow_mut(|reached| reached.merge(paths));
}

/// The same, if `really`.
pub fn reached_if(really: bool, path: &'static str) {
    reached_times(path, u64::from(really));
}

/// What was reached on this thread since the last time this was asked.
pub fn take_reached() -> BTreeMap<&'static str, u64> {
    REACHED.take().into_counts()
}

fn play<R: Room, H: ModelHost>() -> String {
    let program = PROGRAM.with_borrow(Clone::clone).expect("it is set while an engine runs");
    R::play::<H>(program.downcast_ref().expect("it is of this room"))
}

fn model<R: Room>() -> Model {
    Model {
        name: R::NAME,
        file: file!(),
        claim: R::CLAIM,
        size: "generated",
        invariants: &[],
        must_reach: &[],
        runs: &[],
        play: play::<R, OnAny>,
    }
}

/// Plays `program` as `trial` says.
///
/// # Panics
/// If the engine is loom.
pub fn run<R: Room>(program: &Program<R>, trial: &Trial) -> Outcome {
    run_for(program, trial, f64::INFINITY)
}

/// The same, for no more than so many seconds: the schedules that are left then are left out.
///
/// # Panics
/// As [`run`].
pub fn run_for<R: Room>(program: &Program<R>, trial: &Trial, seconds: f64) -> Outcome {
    run_on_cores(program, trial).unwrap_or_else(|| {
        let run = with_job(program, trial, |job| {
            let bounds = Bounds { seconds: job.bounds.seconds.min(seconds), ..job.bounds };
            Ok(engines::run(Job { bounds, ..job }, &engines::silent()))
        });
        run.expect("a run is no script that may not fit")
    })
}

/// Real cores have no schedules to try: the same again and again.
fn run_on_cores<R: Room>(program: &Program<R>, trial: &Trial) -> Option<Outcome> {
    let mut executions = 0;
    let mut failure = None;
    while executions < trial.schedules.min(20) && failure.is_none() {
        executions += 1;
        failure = R::on_cores(program)?.err();
    }
    let failure = failure.map(|message| Failure {
        message,
        execution: executions,
        script: None,
        threads: Vec::new(),
        steps: Vec::new(),
        picture: None,
    });
    Some(Outcome {
        verdict: if failure.is_some() { Verdict::Failed } else { Verdict::Sampled },
        executions,
        redundant: 0,
        outcomes: BTreeMap::new(),
        seconds: 0.0,
        failure,
        mutant_hits: 0,
        peak_bytes: None,
        estimate: None,
    })
}

/// Plays one schedule of `program` again.
///
/// # Errors
/// Why it is a schedule of another program, or of another kernel.
pub fn replay<R: Room>(program: &Program<R>, trial: &Trial, script: &Script) -> Result<Outcome, String> {
    with_job(program, trial, |job| engines::replay(job, script))
}

fn with_job<R: Room>(
    program: &Program<R>,
    trial: &Trial,
    act: impl Fn(Job<'_>) -> Result<Outcome, String>,
) -> Result<Outcome, String> {
    let is_played = !trial.engine.is_loom() && trial.engine != Engine::Rc11;
    assert!(is_played, "generated programs are not played on {}", trial.engine);
    PROGRAM.set(Some(Rc::new(program.clone())));
    let model = model::<R>();
    let bounds = trial.bounds();
    let mut job = Job {
        model: &model,
        engine: trial.engine,
        bounds,
        mutation: trial.mutant.map(|mutant| mutant.mutation),
        seed: trial.seed,
        jobs: NonZeroUsize::MIN,
        checkpoint: None,
    };
    let mut outcome = act(job);
    // PCT refuses a program in which never two threads can go on.
    let is_refused = |failure: &Failure| failure.message.contains("did not exercise any concurrency");
    if outcome.as_ref().is_ok_and(|outcome| outcome.failure.as_ref().is_some_and(is_refused)) {
        job.engine = if trial.engine == Engine::Pct { Engine::Random } else { Engine::TsoRandom };
        outcome = act(job);
    }
    PROGRAM.set(None);
    outcome
}
