//! Checks a closure: every execution of it that the memory model allows, each once.

mod failure;
mod observed;
mod profile;
mod settings;
mod source;
mod verdict;

pub(crate) use self::observed::{Settings, expect_no_question, is_observed, observe, observe_layout, question};
pub use self::verdict::{Outcome, Verdict};

use self::settings::Subject;
use crate::checkpoint;
use crate::engine::{Config, Picture, Report, explore};
use crate::explore::Body;
use crate::graph::MAX_THREADS;
use crate::{machine, state, sync, thread};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How a model is to be checked.
///
/// ```
/// use rc11::{model::{Builder, Verdict}, sync::{Arc, atomic::{AtomicU32, Ordering::Relaxed}}};
/// fn two_add() {
///     let n = Arc::new(AtomicU32::new(0));
///     let theirs = n.clone();
///     let other = rc11::thread::spawn(move || theirs.fetch_add(1, Relaxed));
///     n.fetch_add(1, Relaxed);
///     other.join().unwrap();
///     assert_eq!(n.load(Relaxed), 2);
/// }
/// Builder::new().check(two_add);
/// assert_eq!(Builder::new().outcome_of(two_add).verdict, Verdict::Proved);
/// let file = std::env::temp_dir().join(format!("rc11-builder-{}", std::process::id()));
/// Builder::new().checkpoint_file(file.to_str().unwrap()).check(two_add); // goes on there, if it is interrupted
/// assert!(Builder::new().refute("two that add", two_add).is_none()); // no counterexample
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Builder {
    /// At most so many threads in an execution, with the first one; [`MAX_THREADS`], which is the default, if it is more.
    pub max_threads: usize,
    /// At most three times so many events in an execution; one with more is a failure. From `LOOM_MAX_BRANCHES`; else
    /// 1,000.
    pub max_branches: usize,
    /// At most so many executions: then the verdict is *bounded*. From `LOOM_MAX_PERMUTATIONS`; else
    /// there is no bound.
    pub max_permutations: Option<usize>,
    /// At most so much time: then the verdict is *bounded*. From `LOOM_MAX_DURATION`, in seconds; else there is
    /// no bound.
    pub max_duration: Option<Duration>,
    /// Only executions that take at most so many preemptions are explored: first those that take none, then those that take
    /// one, and so on. A preemption is a switch away from a thread that could go on by itself: neither does it join, wait for
    /// a lock, park or yield there, nor has it ended. If others were left out, the verdict is *bounded*; else all were
    /// explored. Without a `max_duration`, it also is after twenty seconds. From `LOOM_MAX_PREEMPTIONS`; else none.
    pub preemption_bound: Option<usize>,
    /// Where the state of a long exploration is kept, so that it can go on there. From `LOOM_CHECKPOINT_FILE`.
    pub checkpoint_file: Option<PathBuf>,
    /// Without a meaning here: the state is written every half minute. From `LOOM_CHECKPOINT_INTERVAL`.
    pub checkpoint_interval: usize,
    /// Other ways are only explored after [`explore`](crate::explore()) was called: then the verdict is *bounded*.
    pub expect_explicit_explore: bool,
    /// Without a meaning here: a counterexample always has its locations.
    pub location: bool,
    /// Prints the verdict of each model. From `LOOM_LOG`.
    pub log: bool,
    /// So many times an execution `park`, a condition variable or a weak exchange may wake or fail spuriously, as std says they
    /// may. From `RC11_SPURIOUS`; else 1. With 0 the verdict is as loom's: code that waits once, without a loop, passes.
    pub spurious: u16,
    /// Of the executions that differ only by which of some symmetric threads did what, is one explored? If not, all are. See
    /// [`spawn_symmetric`](crate::thread::spawn_symmetric). `RC11_SYMMETRY=false` says no.
    pub symmetry: bool,
    /// So many times an execution a block of memory may lie where one lay that was freed, as far as addresses of such blocks
    /// are compared or exchanged. From `RC11_REUSE`; else 2.
    pub reuse: u16,
    /// Is a block of memory that an execution has not freed by its end a leak? `Arc`s and the blocks of
    /// [`alloc`](crate::alloc) always are. `RC11_LEAKS=true` says yes.
    pub leaks: bool,
    /// How many threads of the machine explore. The counts do not depend on it. From `RC11_JOBS`; else 1.
    pub jobs: usize,
    /// With `max_permutations` or `max_duration`, the first half goes along random branches every other turn, by this seed, and
    /// the rest depth first. From `RC11_SEED`; else 1.
    pub seed: u64,
    /// Does [`check`](Builder::check) accept a model that was not explored whole? From `RC11_BOUNDED_OK`, which is `true` or
    /// `false`; else it does not.
    pub bounded_ok: bool,
}

/// If there is a bound on preemptions, and no other.
const BOUNDED_SECONDS: u64 = 20;

impl Builder {
    /// What the environment says, and else the defaults.
    ///
    /// # Panics
    /// If a variable says what cannot be understood.
    #[must_use]
    pub fn new() -> Builder {
        settings::from_environment()
    }

    /// Where the state of a long exploration is kept.
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Self {
        self.checkpoint_file = Some(file.into());
        self
    }

    /// [`check`](Builder::check) accepts a model that was not explored whole.
    pub fn bounded_ok(&mut self) -> &mut Self {
        self.bounded_ok = true;
        self
    }

    /// Proves `f`: as [`check`](Builder::check), but no environment makes it accept a model that was not explored whole.
    ///
    /// # Panics
    /// Unless the verdict is [`Proved`](Verdict::Proved).
    ///
    /// ```
    /// use rc11::sync::{Arc, atomic::{AtomicU32, Ordering::Relaxed}};
    ///
    /// rc11::model::Builder::new().prove(|| {
    ///     let count = Arc::new(AtomicU32::new(0));
    ///     let theirs = count.clone();
    ///     let other = rc11::thread::spawn(move || theirs.fetch_add(1, Relaxed));
    ///     count.fetch_add(1, Relaxed);
    ///     other.join().unwrap();
    ///     assert_eq!(count.load(Relaxed), 2);
    /// });
    /// ```
    #[track_caller]
    pub fn prove<F>(&self, f: F)
    where
        F: Fn() + Sync + Send + 'static,
    {
        self.check_program(Arc::new(f), false, "`Builder::prove` never accepts that; `Builder::check` may");
    }

    /// Checks `f`: every execution of it, each once, within the bounds.
    ///
    /// # Panics
    /// If there is an execution that must not be: with what is wrong, after its picture was printed, and written to a
    /// file, from which `RC11_REPLAY` plays it again. If not all was explored: with what was left out, and what would
    /// complete it, unless [`bounded_ok`](Builder::bounded_ok) is set.
    #[track_caller]
    pub fn check<F>(&self, f: F)
    where
        F: Fn() + Sync + Send + 'static,
    {
        self.check_program(
            Arc::new(f),
            self.bounded_ok,
            "`Builder::bounded_ok`, or RC11_BOUNDED_OK=true, accepts that",
        );
    }

    #[track_caller]
    fn check_program(&self, f: Program, bounded_ok: bool, else_accepted: &str) {
        let subject = settings::subject();
        if let Some(schedule) = failure::to_be_replayed(&subject) {
            failure::replay(schedule, &subject, self, f);
        }
        let (report, settings) = self.explore(&subject, Arc::clone(&f));
        let outcome = self.outcome(&report);
        settings::tell(&subject, &outcome, self.log);
        profile::explored(outcome.seconds);
        if let Some(found) = report.failure {
            let text = failure::show(&found, &subject, self, settings, f);
            panic!("{text}");
        }
        if let Verdict::Bounded(why) = &outcome.verdict
            && !bounded_ok
        {
            let explored = match outcome.executions {
                1 => "one execution was explored, and is not wrong".to_string(),
                n => format!("{n} executions were explored, and none is wrong"),
            };
            panic!("not proved, but bounded: {why}\n{explored}; {else_accepted}");
        }
    }

    /// The same, but says what came of it instead of panicking.
    #[track_caller]
    pub fn outcome_of<F>(&self, f: F) -> Outcome
    where
        F: Fn() + Sync + Send + 'static,
    {
        self.outcome_of_program(Arc::new(f))
    }

    #[track_caller]
    fn outcome_of_program(&self, f: Program) -> Outcome {
        self.outcome(&self.explore(&settings::subject(), f).0)
    }

    /// The picture of the first execution that must not be, if there is one.
    #[track_caller]
    pub fn refute<F>(&self, title: &str, f: F) -> Option<Picture>
    where
        F: Fn() + Sync + Send + 'static,
    {
        self.refute_program(title, Arc::new(f))
    }

    #[track_caller]
    fn refute_program(&self, title: &str, f: Program) -> Option<Picture> {
        let (report, settings) = self.explore(&settings::subject(), Arc::clone(&f));
        let found = report.failure?;
        let played = failure::play_again(found.graph.clone(), self, settings, f);
        Some(Picture::of(title, &found, &played, &source::line))
    }

    fn outcome(&self, report: &Report) -> Outcome {
        verdict::of(report, self)
    }

    /// Explores, anew as long as something turns out to be observed that was taken not to be.
    fn explore(&self, subject: &Subject, f: Program) -> (Report, Arc<Settings>) {
        failure::hush_executions();
        let mut entry = subject.entry(self);
        if let Some(path) = &self.checkpoint_file {
            entry.notes = checkpoint::notes(path, &entry).unwrap_or_else(|error| panic!("rc11: {error}"));
        }
        let mut settings = Arc::new(Settings::new(entry.notes.clone()));
        loop {
            let report = self.explore_once(&entry, Arc::clone(&settings), Arc::clone(&f));
            match settings.extended() {
                Some(more) => settings = Arc::new(more),
                None => return (report, settings),
            }
            entry.notes.clone_from(&settings.observed);
        }
    }

    /// On a thread of its own: what a failed execution leaves in it is gone with it.
    fn explore_once(&self, entry: &checkpoint::Subject, settings: Arc<Settings>, f: Program) -> Report {
        let config = self.config();
        let body = self.body(settings, f);
        let report = on_a_thread(move || match &self.checkpoint_file {
            Some(path) => checkpoint::explore_subject(&config, entry, path, body, |_| ()),
            None => Ok(deepening(&config, Arc::new(body))),
        });
        report.unwrap_or_else(|error| panic!("rc11: {error}"))
    }

    fn body(&self, settings: Arc<Settings>, f: Program) -> impl Fn() -> String + Send + Sync + 'static {
        let waits_for_explore = self.expect_explicit_explore;
        move || {
            state::begin(&settings);
            expect_no_question(None);
            machine::note_other_ways(!waits_for_explore);
            f();
            if state::is_used() {
                machine::is_seen();
            }
            thread::drop_locals();
            sync::drop_statics();
            String::new()
        }
    }

    fn config(&self) -> Config {
        let bounded = self.preemption_bound.map(|_| Duration::from_secs(BOUNDED_SECONDS));
        Config {
            jobs: NonZeroUsize::new(self.jobs).unwrap_or(NonZeroUsize::MIN),
            executions: self.max_permutations.map(|n| n as u64),
            seconds: self.max_duration.or(bounded).map(|duration| duration.as_secs_f64()),
            preemptions: self.preemption_bound,
            seed: Some(self.seed),
            spurious: self.spurious,
            max_events: (3 * self.max_branches).clamp(1, 60_000),
            max_threads: self.max_threads.clamp(1, MAX_THREADS),
            unwind: false,
            quarantine: true,
            symmetry: self.symmetry,
            reuse: self.reuse,
            leaks: self.leaks,
            at_end: Some(Arc::new(state::at_end)),
            ..Config::default()
        }
    }
}

/// Explores what takes no preemption, then what takes one, and so on up to the bound; or all, without one.
fn deepening(config: &Config, body: Body) -> Report {
    let begun = Instant::now();
    let all = config.preemptions.unwrap_or(0);
    let mut bound = 0;
    loop {
        let preemptions = config.preemptions.map(|_| bound);
        let left = |seconds: f64| (seconds - begun.elapsed().as_secs_f64()).max(0.0);
        let config = Config { preemptions, seconds: config.seconds.map(left), ..config.clone() };
        let body = Arc::clone(&body);
        let mut report = explore(&config, move || body(), |_| ());
        report.seconds = begun.elapsed().as_secs_f64();
        let is_over = report.failure.is_some() || !report.left.is_empty() || report.tally.preempted == 0;
        if is_over || bound >= all {
            return report;
        }
        bound += 1;
    }
}

/// What is checked. Its type is erased: else the checker would be compiled for each program.
type Program = Arc<dyn Fn() + Sync + Send>;

impl Default for Builder {
    fn default() -> Self {
        Builder::new()
    }
}

/// Runs `f` on a thread of the machine, which has the caller's name.
fn on_a_thread<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    let name = std::thread::current().name().unwrap_or("model").to_owned();
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name(name).spawn_scoped(scope, f).expect("a thread of the machine");
        thread.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload))
    })
}

/// Checks `f`, as the environment says: [`Builder::new`].
///
/// # Panics
/// If there is an execution that must not be: see [`Builder::check`].
///
/// ```
/// use rc11::sync::{Arc, atomic::{AtomicU32, Ordering::Relaxed}};
/// rc11::model(|| {
///     let n = Arc::new(AtomicU32::new(0));
///     let theirs = n.clone();
///     let other = rc11::thread::spawn(move || theirs.fetch_add(1, Relaxed));
///     n.fetch_add(1, Relaxed);
///     other.join().unwrap();
///     assert_eq!(n.load(Relaxed), 2);
/// });
/// ```
#[track_caller]
pub fn model<F>(f: F)
where
    F: Fn() + Sync + Send + 'static,
{
    Builder::new().check(f);
}
