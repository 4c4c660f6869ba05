//! `survivors.toml`: mistakes that live, each with its reason; and `open-steps.txt`: those that nobody has explained yet.

use serde::Deserialize;
use spinpark_verification::mutant::line_of;
use spinpark_verification::publish::record::{Fate, MutantRecord, Sort};
use std::collections::BTreeSet;

/// What stands in `survivors.toml`. The orderings' entries are also read by `tests/orderings.rs`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Survivors {
    /// Orderings and atomic steps.
    #[serde(default)]
    survivor: Vec<OfAnAccess>,
    /// Steps of the source.
    #[serde(default)]
    step: Vec<OfSteps>,
}

/// An access: the first line with `needle` below the one with `after`.
#[derive(Debug, Deserialize)]
struct OfAnAccess {
    file: String,
    after: String,
    needle: String,
    /// Only in these ways, as the matrix calls them. Empty: in any.
    #[serde(default)]
    what: Vec<String>,
    reason: String,
}

/// Some steps of one file.
#[derive(Debug, Deserialize)]
struct OfSteps {
    file: String,
    /// Each is a part of the mistake's name: the function, or more of it. With a `$` behind it, the name's end.
    names: Vec<String>,
    reason: String,
}

impl Survivors {
    /// What this program was built with.
    ///
    /// # Errors
    /// If the file is broken.
    pub(crate) fn read() -> Result<Survivors, String> {
        toml::from_str(include_str!("../../survivors.toml")).map_err(|error| format!("survivors.toml: {error}"))
    }

    /// Why this mistake may live.
    pub(crate) fn reason(&self, record: &MutantRecord) -> Option<&str> {
        let reason = match record.sort {
            Sort::Step => self.step.iter().find(|step| step.is_about(record)).map(|step| &step.reason),
            _ => self.survivor.iter().find(|access| access.is_about(record)).map(|access| &access.reason),
        };
        reason.map(|reason| reason.trim())
    }

    /// A mistake that lives, and may: it is argued.
    pub(crate) fn judge(&self, record: &mut MutantRecord) {
        if record.fate.is_unexplained()
            && let Some(reason) = self.reason(record)
        {
            (record.fate, record.reason) = (Fate::Argued, Some(reason.to_owned()));
        }
    }
}

impl OfSteps {
    fn is_about(&self, record: &MutantRecord) -> bool {
        let is_named = |name: &String| match name.strip_suffix('$') {
            Some(end) => record.name.ends_with(end),
            None => record.name.contains(name.as_str()),
        };
        self.file == record.file && self.names.iter().any(is_named)
    }
}

impl OfAnAccess {
    fn is_about(&self, record: &MutantRecord) -> bool {
        let line = line_of(&self.file, &self.after, &self.needle);
        let is_there = self.file == record.file && line.is_some() && line == record.line;
        is_there && (self.what.is_empty() || self.what.contains(&record.what))
    }
}

/// Steps that live and are not explained, by name. A new one is a failure.
pub(crate) fn open() -> BTreeSet<&'static str> {
    include_str!("../../open-steps.txt").lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect()
}
