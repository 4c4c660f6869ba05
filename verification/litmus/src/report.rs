//! What a person or a program is told of litmus tests that were run.

use crate::model::MemoryModel;
use crate::parse::parse;
use crate::program::Program;
use crate::question::{Expected, Verdict};
use crate::run::{Found, LitmusEngine, by_reference, run};
use serde_json::{Value, json};
use spinpark_verification::files;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What an engine answers to one file.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The file.
    pub file: PathBuf,
    /// The checker that was asked.
    pub engine: LitmusEngine,
    /// About which model. `sc` and loom have their own, and are compared with this one.
    pub model: MemoryModel,
    /// The answer; or why there is none: the file is broken, or not fit for this engine.
    pub result: Result<Told, String>,
    /// How long it took.
    pub seconds: f64,
}

/// The answer to a file that could be read and run.
#[derive(Debug, Clone)]
pub struct Told {
    /// The test's name.
    pub name: String,
    /// What was found.
    pub found: Found,
    /// In how many of the outcomes found the question's proposition holds.
    pub verdict: Verdict,
    /// The question, if the file has one, and whether it is so.
    pub question: Option<(String, bool)>,
    /// What the author of the file expects.
    pub expected: Expected,
    /// Do executions count as the reference counts them? Not if an update had to be put together of two steps.
    pub countable: bool,
}

/// The files that `paths` stand for: a folder stands for its `*.litmus`, sorted.
///
/// # Errors
/// If a path is missing, or a folder has none.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut all = Vec::new();
    for path in paths {
        if path.is_dir() {
            all.append(&mut folder(path)?);
        } else if path.exists() {
            all.push(path.clone());
        } else {
            return Err(format!("{}: there is no such file or folder", path.display()));
        }
    }
    Ok(all)
}

fn folder(path: &Path) -> Result<Vec<PathBuf>, String> {
    let cannot = |error: std::io::Error| format!("{}: {error}", path.display());
    let entries = std::fs::read_dir(path).map_err(cannot)?;
    let paths: Vec<PathBuf> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>().map_err(cannot)?;
    let is_litmus = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "litmus") && path.is_file();
    let mut files: Vec<PathBuf> = paths.into_iter().filter(is_litmus).collect();
    files.sort();
    if files.is_empty() {
        return Err(format!("{}: there is no `*.litmus` file in this folder", path.display()));
    }
    Ok(files)
}

/// Asks `engine` about one file, for at most about `seconds`.
pub fn answer(path: &Path, engine: LitmusEngine, seconds: f64) -> Answer {
    let clock = Instant::now();
    let result = read(path).and_then(|program| tell(&program, MemoryModel::Rc11, run(&program, engine, seconds)?));
    Answer { file: path.to_owned(), engine, model: MemoryModel::Rc11, result, seconds: clock.elapsed().as_secs_f64() }
}

/// Asks the reference about one file under `model`.
pub fn answer_in(path: &Path, model: MemoryModel) -> Answer {
    let clock = Instant::now();
    let result = read(path).and_then(|program| tell(&program, model, by_reference(&program, model)?));
    let engine = LitmusEngine::Reference;
    Answer { file: path.to_owned(), engine, model, result, seconds: clock.elapsed().as_secs_f64() }
}

fn read(path: &Path) -> Result<Program, String> {
    let file = path.display().to_string();
    let text = files::read(path).map_err(|error| format!("{file}: {error}"))?;
    parse(&file, &text)
}

fn tell(program: &Program, model: MemoryModel, found: Found) -> Result<Told, String> {
    if found.executions == 0 && !found.race && !found.stuck {
        let why =
            if found.complete { "a loop never ends, or what is assumed never holds" } else { "the time was over" };
        return Err(format!(
            "{}: no execution came to its end ({why}), so no outcome can be asked about",
            program.name
        ));
    }
    let verdict = found.verdict(program);
    let question = program.question.as_ref().map(|question| {
        let text = format!("{} ({})", question.quantifier, program.prop_text(&question.holds));
        (text, question.quantifier.is_met_by(verdict))
    });
    let (name, expected, countable) = (program.name.clone(), program.expected.of(model), program.is_native());
    Ok(Told { name, found, verdict, question, expected, countable })
}

impl Answer {
    /// Is it what the author of the file expects? `None`: nothing is expected, or the engine was stopped before it could
    /// tell. A file without an answer does not agree.
    ///
    /// The counts are asked of the engines that claim to be exact.
    pub fn agrees(&self) -> Option<bool> {
        let Ok(told) = &self.result else { return Some(false) };
        told.agrees(self.engine)
    }

    /// The engine, and the model if it is not the usual one.
    fn asked(&self) -> String {
        match self.model {
            MemoryModel::Rc11 => self.engine.name().to_owned(),
            model => format!("{} {}", self.engine.name(), model.name()),
        }
    }

    fn mark(&self) -> &'static str {
        match (&self.result, self.agrees()) {
            (Err(_), _) => "NO ANSWER",
            (_, Some(true)) => "agrees",
            (_, Some(false)) if self.engine.is_exact() => "DISAGREES",
            // It plays another memory model, or less than all of this one.
            (_, Some(false)) => "differs",
            (Ok(told), None) if told.expected.verdict.is_none() => "nothing expected",
            (_, None) => "not decided",
        }
    }
}

impl Told {
    /// Can more executions not change the verdict?
    fn is_settled(&self) -> bool {
        self.found.complete || matches!(self.verdict, Verdict::Race | Verdict::Sometimes)
    }

    fn agrees(&self, engine: LitmusEngine) -> Option<bool> {
        let expected = &self.expected;
        let wanted = expected.verdict?;
        if !self.is_settled() {
            // What was seen so far can only contradict.
            let seen_both_ways = self.found.executions > 0 && matches!(wanted, Verdict::Never | Verdict::Always);
            return (seen_both_ways && wanted != self.verdict).then_some(false);
        }
        let counted = engine.is_exact() && self.found.complete && !self.found.race;
        let outcomes = self.found.outcomes.len() as u64;
        let counts = expected.outcomes.is_none_or(|wanted| wanted == outcomes)
            && (!self.countable || expected.executions.is_none_or(|wanted| wanted == self.found.executions));
        Some(wanted == self.verdict && (!counted || counts))
    }

    /// The verdict, and whether it may yet change.
    fn verdict_text(&self) -> String {
        match (self.is_settled(), self.found.stuck) {
            (true, false) => self.verdict.to_string(),
            (true, true) => format!("{}, deadlock", self.verdict),
            (false, true) => "Deadlock".to_owned(),
            (false, false) => format!("{} so far", self.verdict),
        }
    }

    fn expected_text(&self) -> String {
        let Expected { verdict, outcomes, executions, .. } = &self.expected;
        let mut parts: Vec<String> = verdict.iter().map(Verdict::to_string).collect();
        parts.extend(outcomes.map(|n| format!("{n} outcomes")));
        parts.extend(executions.map(|n| format!("{n} executions")));
        parts.join(", ")
    }
}

/// All answers, for people: a table if there are several, each in full, and a line that sums up.
pub fn text(answers: &[Answer]) -> String {
    let mut text = String::new();
    if answers.len() > 1 {
        text += &table(answers);
        text.push('\n');
    }
    for answer in answers {
        block(&mut text, answer);
        text.push('\n');
    }
    text + &summary(answers)
}

/// A row a file.
pub fn table(answers: &[Answer]) -> String {
    let name = |answer: &Answer| answer.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let width = answers.iter().map(|answer| name(answer).chars().count()).max().unwrap_or(0).max(4);
    let engines = answers.iter().map(|answer| answer.asked().len()).max().unwrap_or(0).max(10);
    let mut text = format!(
        "{:width$}  {:engines$}  {:18}  {:9}  {:>8}  {:>10}  {:>8}\n",
        "file", "engine", "verdict", "expected", "outcomes", "executions", "seconds"
    );
    for answer in answers {
        let (name, engine, seconds) = (name(answer), answer.asked(), answer.seconds);
        let _ = match &answer.result {
            Err(_) => writeln!(text, "{name:width$}  {engine:engines$}  NO ANSWER"),
            Ok(told) => {
                let wanted = told.expected.verdict.map_or_else(|| "-".to_owned(), |verdict| verdict.to_string());
                let (verdict, found) = (told.verdict_text(), &told.found);
                let (outcomes, executions) = (found.outcomes.len(), found.executions);
                let mark = if answer.agrees() == Some(false) { answer.mark() } else { "" };
                writeln!(
                    text,
                    "{name:width$}  {engine:engines$}  {verdict:18}  {wanted:9}  {outcomes:8}  {executions:10}  {seconds:8.3}  {mark}"
                )
            }
        };
    }
    text
}

/// One answer in full, with its outcomes as herd7 writes them.
fn block(text: &mut String, answer: &Answer) {
    let told = match &answer.result {
        Ok(told) => told,
        Err(error) => {
            let _ = writeln!(text, "NO ANSWER from {}: {error}", answer.asked());
            return;
        }
    };
    let _ = writeln!(text, "Test {} on {} ({})", told.name, answer.asked(), answer.file.display());
    let _ = writeln!(text, "Outcomes {}", told.found.outcomes.len());
    for (outcome, count) in &told.found.outcomes {
        let _ = writeln!(text, "{count:<4} :> {outcome}");
    }
    let _ = writeln!(text, "{}", executions(told, answer.seconds));
    if told.found.race {
        text.push_str("Data race: no outcome is defined\n");
    }
    if told.found.stuck {
        text.push_str("Deadlock: in some execution threads wait for ever\n");
    }
    if let Some((question, holds)) = &told.question {
        let _ = writeln!(text, "{} {question}", if *holds && told.is_settled() { "Ok" } else { "No" });
    }
    let _ = writeln!(text, "Verdict {}", told.verdict_text());
    let expected = told.expected_text();
    if !expected.is_empty() {
        let _ = writeln!(text, "Expected {expected}: {}", answer.mark());
    }
}

fn executions(told: &Told, seconds: f64) -> String {
    let found = &told.found;
    let mut line = format!("Executions {}", found.executions);
    if found.cut > 0 {
        let _ = write!(line, ", {} more given up where a wait was not over", found.cut);
    }
    if !found.complete {
        line += if found.race || found.stuck { ", until the first failure" } else { ", then stopped: not all" };
    }
    let _ = write!(line, " ({seconds:.3} s)");
    line
}

/// One line.
pub fn summary(answers: &[Answer]) -> String {
    let count = |mark: &str| answers.iter().filter(|answer| answer.mark() == mark).count();
    let files = if answers.len() == 1 { "1 file".to_owned() } else { format!("{} files", answers.len()) };
    let mut line = format!("{files}: {} as expected", count("agrees"));
    for (mark, what) in [
        ("DISAGREES", "NOT as expected"),
        ("differs", "otherwise"),
        ("not decided", "not decided"),
        ("nothing expected", "with nothing expected"),
        ("NO ANSWER", "without an answer"),
    ] {
        let n = count(mark);
        if n > 0 {
            let _ = write!(line, ", {n} {what}");
        }
    }
    let seconds: f64 = answers.iter().map(|answer| answer.seconds).sum();
    let _ = writeln!(line, "; {seconds:.1} s");
    line
}

/// All answers, for programs: one array.
pub fn json(answers: &[Answer]) -> Value {
    answers.iter().map(Answer::json).collect()
}

impl Answer {
    fn json(&self) -> Value {
        let mut value = json!({
            "file": self.file.display().to_string(),
            "engine": self.engine.name(),
            "model": self.model.name(),
            "seconds": self.seconds,
            "agrees": self.agrees(),
        });
        let fields = match &self.result {
            Err(error) => json!({ "error": error }),
            Ok(told) => told.json(),
        };
        if let (Some(all), Value::Object(mut more)) = (value.as_object_mut(), fields) {
            all.append(&mut more);
        }
        value
    }
}

impl Told {
    fn json(&self) -> Value {
        let Found { outcomes, executions, cut, race, stuck, complete } = &self.found;
        let Expected { verdict, outcomes: wanted_outcomes, executions: wanted_executions, .. } = &self.expected;
        json!({
            "name": self.name,
            "outcomes": outcomes,
            "executions": executions,
            "cut": cut,
            "race": race,
            "deadlock": stuck,
            "complete": complete,
            "verdict": self.verdict.to_string(),
            "settled": self.is_settled(),
            "question": self.question.as_ref().map(|(question, _)| question),
            "holds": self.question.as_ref().map(|(_, holds)| holds),
            "expected": {
                "verdict": verdict.map(|verdict| verdict.to_string()),
                "outcomes": wanted_outcomes,
                "executions": wanted_executions,
            },
        })
    }
}
