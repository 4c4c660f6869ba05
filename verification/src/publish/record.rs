//! The record of a run, as data.

use crate::engine::{Bounds, Engine, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// From which seed, if schedules were drawn by lot.
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
    /// A room's wrong twin, written by hand.
    Twin,
    /// A weaker ordering, or a fence that is gone; or an atomic step torn in two.
    Ordering,
    /// A step of the kernel's source dropped, doubled, swapped or turned around.
    Step,
}

/// What came of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// A model failed, as it must.
    Killed,
    /// No model failed, and `survivors.toml` says why.
    Argued,
    /// No model failed.
    Survived,
    /// No model came by.
    Unreached,
}

impl Fate {
    /// Does it live, and has nobody said why?
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
    /// Which kind of its sort: `dropped`, `doubled`, `swapped`, `always`, `never`, `replaced`, `early`; `weakened`, `torn`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The room, or the file of the kernel, that it spoils.
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
    /// The model that killed it.
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

/// A bug that somebody had.
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
