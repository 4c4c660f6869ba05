//! A failing schedule: as a file, to be replayed, and as a picture, with a column a thread.

use crate::catalog;
use crate::engines::{self, Bounds, Engine, Failure, Job, Outcome, Script};
use crate::files;
use crate::fnv;
use crate::hosts::wrap::trace::Step;
use crate::job::Order;
use crate::mutation::mutant;
use crate::sources::is_checked;
use rc11::naming::name_in;
use rc11::verdict::Why;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// What is in a schedule file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// The format, so that an old file is refused rather than misread.
    pub spinpark_schedule: u32,
    /// A hash of the rest of the file: what was cut off or edited is no schedule any more.
    pub seal: String,
    /// Which model.
    pub model: String,
    /// On which engine.
    pub engine: Engine,
    /// Within which bounds; loom's order of exploration depends on them.
    pub bounds: Bounds,
    /// From which seed.
    pub seed: u64,
    /// With which mutant, if any.
    pub mutant: Option<String>,
    /// From which sources it was made.
    #[serde(flatten)]
    pub sources: Sources,
    /// What happened.
    pub failure: Failure,
}

/// Today's format.
pub const FORMAT: u32 = 2;

/// The sources of which a schedule is one, each as a hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sources {
    /// The kernel's.
    pub kernel_source: String,
    /// The models' and the engines'.
    pub checker_source: String,
}

impl Sources {
    /// Those that this program was built from.
    pub fn of_this_build() -> Sources {
        // The models on the mutated kernel are built without `build.rs`, and write no schedules.
        let stamp = |hash: Option<&str>| hash.unwrap_or("unknown").to_owned();
        let kernel_source = stamp(option_env!("SPINPARK_KERNEL"));
        let registered = catalog::registered().into_iter().flat_map(|catalog| catalog.sources);
        let texts = registered.flat_map(|(_, text)| text.bytes());
        let checker_source = format!("{:016x}", fnv::hash(stamp(option_env!("SPINPARK_CHECKER")).bytes().chain(texts)));
        Sources { kernel_source, checker_source }
    }

    /// Which of them are others than those of this build, in words. `None`: none.
    fn changed(&self) -> Option<&'static str> {
        let now = Sources::of_this_build();
        match (self.kernel_source == now.kernel_source, self.checker_source == now.checker_source) {
            (true, true) => None,
            (false, true) => Some("the kernel has changed"),
            (true, false) => Some("the models or the engines have changed"),
            (false, false) => Some("the kernel has changed, and so have the models or the engines"),
        }
    }
}

/// What came of a schedule that was played again.
#[derive(Debug)]
pub enum Replayed {
    /// It fails, and says the same.
    FailsTheSame(Failure),
    /// It fails, and says something else.
    FailsOtherwise(Failure),
    /// It was played to its end, and nothing is wrong.
    Passes,
    /// It cannot be played, or does not do what it must: nothing is known.
    DoesNotFit(String),
}

/// What plays an execution: this thread, or a process of its own.
pub type Player<'a> = &'a dyn Fn(&Order) -> Result<(Outcome, Vec<Step>), String>;

impl Schedule {
    /// The schedule of a failure that `order` led to.
    pub fn new(order: &Order, failure: Failure) -> Schedule {
        Schedule {
            spinpark_schedule: FORMAT,
            seal: String::new(),
            model: order.model.clone(),
            engine: order.engine,
            bounds: order.bounds,
            seed: order.seed,
            mutant: order.mutant.clone(),
            sources: Sources::of_this_build(),
            failure,
        }
    }

    /// Reads a schedule file.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub fn read(path: &Path) -> Result<Schedule, String> {
        let text = files::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        Schedule::parse(&text).map_err(|wrong| format!("{} {wrong}", path.display()))
    }

    /// Reads what stands in a schedule file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Schedule, String> {
        #[derive(Deserialize)]
        struct Head {
            spinpark_schedule: u32,
        }
        let is_none = |error| format!("is no schedule file: {error}");
        let Head { spinpark_schedule: format } = serde_json::from_str(text).map_err(is_none)?;
        if format != FORMAT {
            return Err(format!("has format {format}; this program reads {FORMAT}"));
        }
        let schedule: Schedule = serde_json::from_str(text).map_err(is_none)?;
        let unsealed = text.replacen(&format!("\"seal\": \"{}\"", schedule.seal), UNSEALED, 1);
        if schedule.seal != seal_of(&unsealed) {
            return Err("was changed after it was written: run the model again".to_owned());
        }
        Ok(schedule)
    }

    /// As it stands in a file.
    pub fn text(&self) -> String {
        let unsealed = Schedule { seal: String::new(), ..self.clone() };
        let unsealed = serde_json::to_string_pretty(&unsealed).expect("a schedule is plain data");
        unsealed.replacen(UNSEALED, &format!("\"seal\": \"{}\"", seal_of(&unsealed)), 1)
    }

    /// Writes it into `folder`, under the model's name.
    ///
    /// # Errors
    /// If the file system says no.
    pub fn write(&self, folder: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(folder)?;
        let mutant = self.mutant.as_ref().map(|name| format!("{name}.")).unwrap_or_default();
        let path = folder.join(format!("{mutant}{}.{}.json", self.model.replace("::", "."), self.engine));
        files::write(&path, self.text().as_bytes())?;
        Ok(path)
    }

    /// Plays it again, by `player`, and compares what happens with what happened.
    pub fn replay(&self, player: Player<'_>) -> Replayed {
        self.decide(player).unwrap_or_else(Replayed::DoesNotFit)
    }

    fn decide(&self, player: Player<'_>) -> Result<Replayed, String> {
        let Schedule { model, engine, bounds, seed, mutant, failure: was, .. } = self;
        let script = was.script.clone().ok_or("it holds no schedule, only a verdict")?;
        let is_sane = bounds.seconds.is_finite() && bounds.spurious <= usize::from(u16::MAX);
        if !is_sane {
            return Err(format!("its bounds are none: {bounds:?}"));
        }
        let changed = self.sources.changed();
        let because = |reason: String| match changed {
            Some(changed) => format!("it does not fit any more, for {changed}: {reason}"),
            None => format!("it is damaged: {reason}"),
        };
        let order = Order { script: Some(script), ..Order::new(model, *engine, *bounds, mutant.as_deref(), *seed) };
        order.find().map_err(because)?;
        let (outcome, steps) = player(&order).map_err(because)?;
        match outcome.failure {
            Some(now) if now.message == was.message && self.is_execution(outcome.executions) => {
                Ok(Replayed::FailsTheSame(now))
            }
            Some(now) if now.message == Why::NOT_DETERMINISTIC => {
                Err(because("the program does not ask for what its events answer".to_owned()))
            }
            Some(now) if changed.is_some() => Ok(Replayed::FailsOtherwise(now)),
            None if changed.is_some() && engine.is_loom() && !begins_with(&steps, &was.steps) => {
                let n = outcome.executions;
                Err(because(format!(
                    "loom's execution {n} is another one now, and nothing is wrong with those up to it"
                )))
            }
            None if changed.is_some() => Ok(Replayed::Passes),
            // The same sources do the same, or the model is none.
            now => {
                let now = now.map_or_else(|| "it holds".to_owned(), |now| now.message);
                Err(format!(
                    "it is damaged, or the model is not deterministic: of these very sources, it must fail; now: {now}"
                ))
            }
        }
    }

    /// Loom says which execution failed: of the same sources, the same one.
    fn is_execution(&self, n: u64) -> bool {
        match &self.failure.script {
            Some(Script::Nth(nth)) => n == *nth || self.sources.changed().is_some(),
            _ => true,
        }
    }

    /// The picture.
    pub fn picture(&self) -> String {
        let Failure { message, execution, threads, steps, picture, .. } = &self.failure;
        let mut text = String::new();
        let mutant = self.mutant.as_ref().map(|name| format!(", with mutant {name}")).unwrap_or_default();
        let _ = writeln!(text, "{} on {}{mutant}", self.model, self.engine);
        let _ = writeln!(text, "execution {execution}: {}", message.trim_end());
        if let Some(picture) = picture {
            let _ = write!(text, "\n{picture}");
            return text;
        }
        if steps.is_empty() {
            return text;
        }
        let used: Vec<usize> = (0..threads.len()).filter(|t| steps.iter().any(|step| step.thread == *t)).collect();
        let cells: Vec<(usize, String)> = steps.iter().map(|step| (step.thread, named(step))).collect();
        let width = |t: usize| {
            let steps = cells.iter().filter(|(thread, _)| *thread == t).map(|(_, what)| what.chars().count());
            steps.max().unwrap_or(0).max(threads[t].chars().count())
        };
        let widths: Vec<usize> = used.iter().map(|&t| width(t)).collect();
        let row = |cells: Vec<&str>| {
            let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            cells.collect::<Vec<_>>().join(" │ ")
        };
        let names = used.iter().map(|&t| threads[t].as_str()).collect();
        let _ = writeln!(text, "\n     {} │", row(names));
        let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        let _ = writeln!(text, "     {}─┤", rule.join("─┼─"));
        for (n, ((thread, what), step)) in cells.iter().zip(steps).enumerate() {
            let cells = used.iter().map(|t| if t == thread { what.as_str() } else { "" }).collect();
            let source = mutant::source_line(&step.file, step.line).unwrap_or_default();
            let _ = writeln!(text, "{:4} {} │ {}:{} {source}", n + 1, row(cells), step.file, step.line);
        }
        text
    }
}

const UNSEALED: &str = "\"seal\": \"\"";

fn seal_of(unsealed: &str) -> String {
    format!("{:016x}", fnv::hash(unsealed.bytes()))
}

/// Did the same threads do the same, up to the end of `first`? Lines may have moved.
fn begins_with(steps: &[Step], first: &[Step]) -> bool {
    let same = |(a, b): (&Step, &Step)| (a.thread, &a.what) == (b.thread, &b.what);
    steps.len() >= first.len() && steps.iter().zip(first).all(same)
}

/// Plays it on this thread.
///
/// # Errors
/// Why it does not fit.
pub fn here(order: &Order) -> Result<(Outcome, Vec<Step>), String> {
    let job: Job<'_> = order.job()?;
    let script = order.script.as_ref().ok_or("there is nothing to play")?;
    engines::replay_with_steps(job, script)
}

/// What a step did, with the word's name out of the source in place of its number, if there is one.
fn named(step: &Step) -> String {
    let source = mutant::source_line(&step.file, step.line);
    let room = step.file.rsplit('/').next().and_then(|file| file.strip_suffix(".rs")).unwrap_or_default();
    let (word, rest) = step.what.split_once(' ').unwrap_or((&step.what, ""));
    let is_number = word.strip_prefix('w').is_some_and(|n| n.parse::<u32>().is_ok());
    match source.and_then(name_in) {
        Some(name) if is_number => format!("{name} {rest}"),
        None if is_number && is_checked(&step.file) => format!("{room} {rest}"),
        _ => step.what.clone(),
    }
}
