//! What is kept of the last whole run: one JSON object a line, so that a change is a line of a diff.
//!
//! A line for each model, with its runs; and for each file of the kernel and sort of mutant, how many died and which live.
//! The full [`record`](crate::record), with claims, outcomes and pictures, is made anew by `cargo verify report --json FILE`.

use crate::engines::{Engine, Verdict};
use crate::files;
use crate::fnv;
use crate::model::Model;
use crate::record::{Fate, MutantRecord, RunRecord, Sort};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The format that this version writes.
const FORMAT: u32 = 1;

/// What is kept.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// Of which run.
    pub head: Head,
    /// By model, then by engine and bounds: see [`key`].
    pub models: BTreeMap<String, BTreeMap<String, KeptRun>>,
    /// The kill matrix, by file of the kernel and sort of mutant.
    pub matrix: BTreeMap<(String, Sort), Tally>,
}

/// Which run it was.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Head {
    /// The format of the file.
    pub kept: u32,
    /// spinpark's version.
    pub version: String,
    /// The system it ran on, and its compiler's version, as far as known.
    pub machine: String,
    /// When, as `2026-11-22`, in UTC.
    pub date: String,
}

/// One model on one engine: verdict, executions, seconds, how many outcomes, and the hash of their texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "(Verdict, u64, f64, usize, String)", into = "(Verdict, u64, f64, usize, String)")]
pub struct KeptRun {
    /// What may be said.
    pub verdict: Verdict,
    /// Executions explored.
    pub executions: u64,
    /// How long it took.
    pub seconds: f64,
    /// In how many ways executions ended.
    pub outcomes: usize,
    /// In which: a hash of them all.
    pub hash: String,
}

impl From<(Verdict, u64, f64, usize, String)> for KeptRun {
    fn from((verdict, executions, seconds, outcomes, hash): (Verdict, u64, f64, usize, String)) -> KeptRun {
        KeptRun { verdict, executions, seconds, outcomes, hash }
    }
}

impl From<KeptRun> for (Verdict, u64, f64, usize, String) {
    fn from(run: KeptRun) -> Self {
        (run.verdict, run.executions, run.seconds, run.outcomes, run.hash)
    }
}

impl From<&RunRecord> for KeptRun {
    fn from(run: &RunRecord) -> KeptRun {
        KeptRun::new(run.verdict, run.executions, run.seconds, &run.outcomes)
    }
}

impl KeptRun {
    /// What is kept of a run that ended so.
    pub fn new(verdict: Verdict, executions: u64, seconds: f64, outcomes: &BTreeMap<String, u64>) -> KeptRun {
        let texts = outcomes.keys().flat_map(|outcome| outcome.bytes().chain([b'\n']));
        let hash = format!("{:08x}", fnv::hash(texts) as u32);
        KeptRun { verdict, executions, seconds, outcomes: outcomes.len(), hash }
    }
}

/// What a run of a model is called: its engine and its bounds.
pub fn key(engine: Engine, bounds: crate::engines::Bounds) -> String {
    format!("{engine} {bounds}")
}

/// The mutants of one file and one sort.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// How many died, by the room of the model that killed them; `proptest` for property tests.
    pub killed: BTreeMap<String, usize>,
    /// Those that live, by name: `argued`, `survived` or `not covered`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lives: BTreeMap<String, String>,
}

/// One line of the file.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Head(Head),
    Model {
        model: String,
        runs: BTreeMap<String, KeptRun>,
    },
    Matrix {
        file: String,
        sort: Sort,
        #[serde(flatten)]
        tally: Tally,
    },
}

impl Kept {
    /// What is kept of this model's run.
    pub fn run(&self, model: &str, key: &str) -> Option<&KeptRun> {
        self.models.get(model)?.get(key)
    }

    /// Every run: of which model, what it is called, and what came of it.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str, &KeptRun)> {
        self.models
            .iter()
            .flat_map(|(model, runs)| runs.iter().map(move |(key, run)| (model.as_str(), key.as_str(), run)))
    }

    /// The runs of a model that are declared and kept.
    pub fn runs_of<'a>(&'a self, model: &'static Model) -> impl Iterator<Item = (Engine, &'a KeptRun)> {
        model.runs.iter().filter_map(|run| Some((run.engine, self.run(model.name, &key(run.engine, run.bounds))?)))
    }

    /// Puts the mutants that were tried now in place of what was known of the same files and sorts.
    pub fn replace(&mut self, tried: &[MutantRecord]) {
        self.matrix.extend(tallies(tried));
    }

    /// The mutants that live now and are not kept as living: each was killed when the record was made, or is new.
    pub fn lost_kills(&self, tried: &[MutantRecord]) -> Vec<String> {
        let mut lost = Vec::new();
        for (place, tally) in tallies(tried) {
            let known = self.matrix.get(&place).map(|tally| &tally.lives);
            let is_known = |name: &String| known.is_some_and(|lives| lives.contains_key(name));
            lost.extend(tally.lives.into_iter().filter(|(name, _)| !is_known(name)));
        }
        lost.into_iter().map(|(name, now)| format!("{name}: is {now}, and is not kept as living")).collect()
    }

    /// What is kept in a file.
    ///
    /// # Errors
    /// The file cannot be read, or its text is not one that [`write`](Kept::write) writes: says which file, and what to do.
    pub fn read(path: &Path) -> Result<Kept, String> {
        let file = path.display();
        let text = files::read(path).map_err(|error| format!("{file}: cannot be read: {error}"))?;
        Kept::parse(&text).map_err(|error| format!("{file}: {error}"))
    }

    fn parse(text: &str) -> Result<Kept, String> {
        let mut kept = Kept::default();
        for (n, line) in text.lines().enumerate() {
            let broken =
                |error| format!("line {}: {error}; make it again with `cargo verify --all --record FILE`", n + 1);
            match serde_json::from_str(line).map_err(broken)? {
                Line::Head(head) if head.kept > FORMAT => {
                    let newer = head.kept;
                    return Err(format!("format {newer}, and this version reads up to {FORMAT}: use a newer spinpark"));
                }
                Line::Head(head) => kept.head = head,
                Line::Model { model, runs } => drop(kept.models.insert(model, runs)),
                Line::Matrix { file, sort, tally } => drop(kept.matrix.insert((file, sort), tally)),
            }
        }
        match kept.head.kept {
            0 => Err("no record: its first line has no `kept`".to_owned()),
            _ => Ok(kept),
        }
    }

    /// Writes it where [`read`](Kept::read) finds it, as a whole or not at all.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let head = Line::Head(Head { kept: FORMAT, ..self.head.clone() });
        let models = self.models.iter().map(|(model, runs)| Line::Model { model: model.clone(), runs: runs.clone() });
        let matrix = self.matrix.iter().map(|((file, sort), tally)| Line::Matrix {
            file: file.clone(),
            sort: *sort,
            tally: tally.clone(),
        });
        let lines = std::iter::once(head).chain(models).chain(matrix);
        let text: String =
            lines.map(|line| serde_json::to_string(&line).expect("a record is plain data") + "\n").collect();
        crate::output::replace(path, &text)
    }
}

/// The mutants by file and sort. Of mutants that are named alike, each after the first has its number.
fn tallies(tried: &[MutantRecord]) -> BTreeMap<(String, Sort), Tally> {
    let mut tallies: BTreeMap<(String, Sort), Tally> = BTreeMap::new();
    let mut named: BTreeMap<String, usize> = BTreeMap::new();
    for mutant in tried {
        let tally = tallies.entry((mutant.file.clone(), mutant.sort)).or_default();
        let name = mutant.lasting_name();
        let nth = named.entry(name.clone()).or_default();
        *nth += 1;
        let by = match mutant.fate {
            Fate::Killed => mutant.model.as_deref().and_then(|model| model.split("::").next()).unwrap_or("a model"),
            Fate::KilledByProptest => "proptest",
            Fate::Argued | Fate::Survived | Fate::Unreached => {
                let name = if *nth == 1 { name } else { format!("{name} #{nth}") };
                tally.lives.insert(name, mutant.fate.name().to_owned());
                continue;
            }
        };
        *tally.killed.entry(by.to_owned()).or_default() += 1;
    }
    tallies
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn mutant(name: &str, fate: Fate) -> MutantRecord {
        let model = fate.is_killed().then(|| "runq::a::b".to_owned());
        let file = "queues/runq.rs".to_owned();
        MutantRecord { name: name.to_owned(), file, fate, model, ..MutantRecord::unknown() }
    }

    #[test]
    fn a_mutant_that_was_killed_and_lives_now_is_named() {
        let mut kept = Kept::default();
        kept.replace(&[mutant("a", Fate::Killed), mutant("b", Fate::Argued)]);
        assert!(kept.lost_kills(&[mutant("b", Fate::Survived)]).is_empty());
        let lost = kept.lost_kills(&[mutant("a", Fate::Survived), mutant("b", Fate::Survived)]);
        assert_eq!(lost, ["a: is survived, and is not kept as living"]);
    }

    #[test]
    fn mutants_of_one_name_are_told_apart() {
        let mut kept = Kept::default();
        kept.replace(&[mutant("a", Fate::Killed), mutant("a", Fate::Argued)]);
        assert!(kept.lost_kills(&[mutant("a", Fate::Killed), mutant("a", Fate::Argued)]).is_empty());
        assert_eq!(kept.lost_kills(&[mutant("a", Fate::Argued)]).len(), 1);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("kept.jsonl");
        let mut kept = Kept::default();
        kept.replace(&[mutant("a", Fate::Killed), mutant("b", Fate::KilledByProptest), mutant("c", Fate::Unreached)]);
        let run = KeptRun { verdict: Verdict::Proved, executions: 9, seconds: 0.5, outcomes: 2, hash: "0a".to_owned() };
        kept.models.insert("m".to_owned(), BTreeMap::from([("rc11 none".to_owned(), run)]));
        kept.write(&path).expect("it can be written");
        let again = Kept::read(&path).expect("it can be read");
        assert_eq!((again.models, again.matrix), (kept.models, kept.matrix));
        assert_eq!(fs::read_to_string(&path).expect("it is there").lines().count(), 3);
    }

    #[test]
    fn what_is_no_record_says_what_it_is() {
        for (text, says) in [
            ("", "no record"),
            ("{\"model\": \"m\", \"runs\": {}}", "no `kept`"),
            ("{\"kept\": 1, \"version\"", "line 1: "),
            ("{\"kept\": 7, \"version\": \"\", \"machine\": \"\", \"date\": \"\"}", "format 7"),
            ("[1, 2]", "make it again"),
        ] {
            let error = Kept::parse(text).expect_err(text);
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
