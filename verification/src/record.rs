//! The record of a run: as data, and as a file that others read.

use crate::engines::{Bounds, Engine, Verdict};
use crate::files;
use crate::output;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The format that this version writes.
pub const FORMAT: u32 = 1;

/// Everything that a run has found out.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Record {
    /// The format of this record.
    pub format: u32,
    /// spinpark's version.
    pub version: String,
    /// The system it ran on, and its compiler's version, as far as known.
    pub machine: String,
    /// When, as `2026-11-22`, in UTC.
    pub date: String,
    /// Were the wider bounds taken?
    pub deep: bool,
    /// Which part of the whole: `1/4` is the first of four. `None`: the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// Each model on each engine.
    pub runs: Vec<RunRecord>,
    /// Each mutant.
    pub mutants: Vec<MutantRecord>,
    /// The museum.
    pub museum: Vec<ExhibitRecord>,
}

/// One model on one engine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunRecord {
    /// The room it is about.
    pub room: String,
    /// Its full name.
    pub model: String,
    /// What is claimed.
    pub claim: String,
    /// Threads, sizes, operations.
    pub size: String,
    /// Which invariants of the specification.
    pub invariants: Vec<u8>,
    /// On which engine.
    pub engine: Engine,
    /// What that takes memory to be.
    pub memory_model: String,
    /// Within which bounds.
    pub bounds: Bounds,
    /// From which seed, if schedules were sampled at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Executions explored.
    pub executions: u64,
    /// Executions given up because they only repeat others.
    pub redundant: u64,
    /// How each execution ended, and how often.
    pub outcomes: BTreeMap<String, u64>,
    /// How long it took.
    pub seconds: f64,
    /// What may be said.
    pub verdict: Verdict,
    /// What is wrong, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Picture>,
}

/// What is wrong in a failing execution, drawn.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Picture {
    /// In a sentence.
    pub message: String,
    /// The threads side by side, as text.
    pub columns: String,
    /// The execution graph, if the engine is rc11: a complete `<svg>` element.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub svg: Option<String>,
}

/// What sort of mistake a mutant is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sort {
    /// A room's wrong variant, written by hand.
    Variant,
    /// A weaker ordering, or a fence that is gone; or an atomic step torn in two.
    Ordering,
    /// A step of the kernel's source dropped, doubled, swapped or turned around.
    Step,
    /// Two lines of the source at once, or the scope of a lock.
    Pair,
}

/// What came of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// A model failed, as it must.
    Killed,
    /// No model failed, but a property test did.
    KilledByProptest,
    /// No model failed, and `survivors.toml` says why.
    Argued,
    /// No model failed.
    Survived,
    /// No model came by.
    Unreached,
}

impl Fate {
    /// In a word or two.
    pub fn name(self) -> &'static str {
        match self {
            Fate::Killed | Fate::KilledByProptest => "killed",
            Fate::Argued => "argued",
            Fate::Survived => "survived",
            Fate::Unreached => "not covered",
        }
    }

    /// Is it dead?
    pub fn is_killed(self) -> bool {
        matches!(self, Fate::Killed | Fate::KilledByProptest)
    }

    /// Does it live without a reason?
    pub fn is_unexplained(self) -> bool {
        matches!(self, Fate::Survived | Fate::Unreached)
    }
}

/// One mutant.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MutantRecord {
    /// Its name.
    pub name: String,
    /// What sort of mistake.
    pub sort: Sort,
    /// Which kind of its sort: `dropped`, `doubled`, `swapped`, `always`, `never`, `replaced`, `early`,
    /// `edited` (by hand); `weakened`, `torn`; of two lines: `both`, `earlier`, `split`, `outside`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The room, or the file of the kernel, that it mutates.
    pub room: String,
    /// The file, below `src`.
    pub file: String,
    /// The line, if there is one.
    pub line: Option<u32>,
    /// What stands in that line.
    pub source: String,
    /// What is wrong, for a reader.
    pub what: String,
    /// What came of it.
    pub fate: Fate,
    /// The model, or the property test, that killed it.
    pub model: Option<String>,
    /// On which engine.
    pub engine: Option<Engine>,
    /// After so many executions.
    pub executions: u64,
    /// How long that took, the models that did not kill it included.
    pub seconds: f64,
    /// Why it may live, from `survivors.toml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The execution that killed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Picture>,
}

impl MutantRecord {
    /// What it is called from run to run, wherever its line may be.
    pub fn lasting_name(&self) -> String {
        match self.sort {
            Sort::Ordering => format!("{} `{}`: {}", self.file, self.source.trim(), self.what),
            _ => self.name.clone(),
        }
    }

    /// One of which nothing is known yet.
    pub fn unknown() -> MutantRecord {
        MutantRecord {
            name: String::new(),
            sort: Sort::Step,
            kind: String::new(),
            room: String::new(),
            file: String::new(),
            line: None,
            source: String::new(),
            what: String::new(),
            fate: Fate::Unreached,
            model: None,
            engine: None,
            executions: 0,
            seconds: 0.0,
            reason: None,
            failure: None,
        }
    }
}

/// A bug of another project.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExhibitRecord {
    /// Its name here.
    pub name: String,
    /// Whose it was.
    pub project: String,
    /// Where it was reported or fixed.
    pub issue: String,
    /// When.
    pub year: u16,
    /// What happened to people.
    pub people: String,
    /// Why.
    pub cause: String,
    /// What mended it.
    pub fix: String,
    /// How well that is known, in a few words.
    pub source: String,
    /// The change that makes it again.
    pub change: String,
    /// What became of it here.
    pub fate: Fate,
    /// The model that killed it.
    pub model: Option<String>,
    /// On which engine.
    pub engine: Option<Engine>,
    /// After so many executions.
    pub executions: u64,
    /// The execution that killed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Picture>,
}

/// The record in a file. The error says which file, what is wrong with it, and what to do.
pub fn read(path: &Path) -> Result<Record, String> {
    let file = path.display();
    let text = files::read(path).map_err(|error| format!("{file}: cannot be read: {error}"))?;
    parse(&text).map_err(|error| format!("{file}: {error}"))
}

fn parse(text: &str) -> Result<Record, String> {
    let broken = |error| format!("no record, or a broken one: {error}; make it again with `cargo verify`");
    // The fields of the first object, whatever the format: one that is newer is known before its fields are asked for.
    let first = serde_json::Deserializer::from_str(text).into_iter::<Map<String, Value>>().next();
    let head = first.unwrap_or_else(|| serde_json::from_str(text)).map_err(broken)?;
    if head.contains_key("kept") {
        return Err(
            "what is kept of a run, without claims and pictures; `cargo verify report --json FILE` makes the full \
                    record of one"
                .to_owned(),
        );
    }
    match head.get("format").and_then(Value::as_u64) {
        None | Some(0) => Err("no record of a run: it has no `format`".to_owned()),
        Some(newer) if newer > u64::from(FORMAT) => Err(format!(
            "a record of format {newer}, and this version reads up to {FORMAT}: use the spinpark that wrote it, or \
             newer"
        )),
        Some(_) => serde_json::from_str(text).map_err(broken),
    }
}

/// Writes a record where [`read`] finds it. Directories that are missing are made.
pub fn write(path: &Path, record: &Record) -> Result<(), String> {
    let (file, text) = (path.display(), text(record)?);
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    made.map_err(|error| format!("{file}: cannot be written: {error}"))?;
    output::replace(path, &text)
}

/// As it stands in a file.
///
/// # Errors
/// If it is no plain data.
pub fn text(record: &Record) -> Result<String, String> {
    let text = serde_json::to_string_pretty(record).map_err(|error| format!("the record: {error}"))?;
    Ok(text + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = read(Path::new("/nowhere/record.json")).expect_err("nothing is there");
        assert!(error.starts_with("/nowhere/record.json: cannot be read: "), "{error}");
    }

    #[test]
    fn what_is_no_record_says_what_it_is() {
        for (text, says) in [
            ("", "no record, or a broken one: EOF"),
            ("[1, 2]", "no record, or a broken one"),
            ("{\"format\": 1, \"version\": \"0.1", "no record, or a broken one: EOF"),
            ("{\"runs\": []}", "it has no `format`"),
            ("{\"kept\": 1}\n{}", "report --json FILE"),
            ("{\"format\": 1}", "missing field `version`"),
            ("{\"format\": 7, \"all\": \"is new\"}", "a record of format 7, and this version reads up to 1"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
