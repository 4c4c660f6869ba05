//! `survivors.toml`: surviving mutants, each with its reason; and `open-steps.txt`: those that are not explained yet.

use serde::Deserialize;
use spinpark_verification::mutation::mutant::line_of;
use spinpark_verification::record::{Fate, MutantRecord, Sort};
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
    /// Mistakes of two lines.
    #[serde(default)]
    pair: Vec<OfSteps>,
}

/// An access: the first line with `needle` below the one with `after`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfAnAccess {
    file: String,
    after: String,
    needle: String,
    /// Only in these ways, as the matrix calls them. Each is one mutant.
    what: Vec<String>,
    reason: String,
    /// Read by `tests/orderings.rs`.
    #[serde(default, rename = "litmus")]
    _litmus: Option<String>,
}

/// Some steps of one file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfSteps {
    file: String,
    mutants: Vec<Pattern>,
    reason: String,
}

/// So many mutants of one kind at one place.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pattern {
    kind: String,
    /// How its name begins, after the file; all of it, with a `$` behind it.
    at: String,
    #[serde(default = "one")]
    count: usize,
}

const fn one() -> usize {
    1
}

impl Survivors {
    /// What this program was built with.
    ///
    /// # Errors
    /// If the file is broken.
    pub(crate) fn read() -> Result<Survivors, String> {
        Survivors::parse(include_str!("../../survivors.toml"))
    }

    fn parse(text: &str) -> Result<Survivors, String> {
        toml::from_str(text).map_err(|error| format!("survivors.toml: {error}"))
    }

    /// Why this mutant may live.
    pub(crate) fn reason(&self, record: &MutantRecord) -> Option<&str> {
        let reason = match record.sort {
            Sort::Step | Sort::Pair => {
                self.of_the_source(record.sort).iter().find(|step| step.is_about(record)).map(|step| &step.reason)
            }
            _ => self.survivor.iter().find(|access| access.is_about(record)).map(|access| &access.reason),
        };
        reason.map(|reason| reason.trim())
    }

    fn of_the_source(&self, sort: Sort) -> &[OfSteps] {
        if sort == Sort::Pair { &self.pair } else { &self.step }
    }

    /// A mutant that lives, and may: it is argued.
    pub(crate) fn explain(&self, record: &mut MutantRecord) {
        if record.fate.is_unexplained()
            && let Some(reason) = self.reason(record)
        {
            (record.fate, record.reason) = (Fate::Argued, Some(reason.to_owned()));
        }
    }

    /// What the file says of all the mutants of one sort that is not so, a line each: a pattern that matches more or fewer
    /// than it states, a mutant that two patterns match.
    pub(crate) fn untrue(&self, sort: Sort, all: &[&MutantRecord]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut count = |file: &str, place: &str, stated: usize, is_about: &dyn Fn(&MutantRecord) -> bool| {
            let found = all.iter().filter(|record| record.file == file && is_about(record)).count();
            if found != stated {
                lines.push(format!("{file} {place}: matches {found}, and states {stated}"));
            }
        };
        if matches!(sort, Sort::Step | Sort::Pair) {
            let argued = self.of_the_source(sort);
            for (step, pattern) in argued.iter().flat_map(|step| step.mutants.iter().map(move |it| (step, it))) {
                let place = format!("{} {}", pattern.kind, pattern.at);
                count(&step.file, &place, pattern.count, &|record| pattern.is_about(record));
            }
            for record in all {
                let patterns = argued.iter().filter(|step| step.file == record.file).flat_map(|step| &step.mutants);
                if patterns.filter(|pattern| pattern.is_about(record)).count() > 1 {
                    lines.push(format!("{}: several patterns match it", record.name));
                }
            }
        } else {
            for (access, what) in self.survivor.iter().flat_map(|it| it.what.iter().map(move |what| (it, what))) {
                let place = format!("{}: {what}", access.after);
                count(&access.file, &place, 1, &|record| access.is_there(record) && record.what == *what);
            }
        }
        lines
    }
}

impl OfSteps {
    fn is_about(&self, record: &MutantRecord) -> bool {
        self.file == record.file && self.mutants.iter().any(|pattern| pattern.is_about(record))
    }
}

impl Pattern {
    /// Of the same file.
    fn is_about(&self, record: &MutantRecord) -> bool {
        let place = record.name.strip_prefix(&record.file).unwrap_or(&record.name).trim_start();
        let is_there = match self.at.strip_suffix('$') {
            Some(all) => place == all,
            None => place.starts_with(&self.at),
        };
        self.kind == record.kind && is_there
    }
}

impl OfAnAccess {
    fn is_there(&self, record: &MutantRecord) -> bool {
        let line = line_of(&self.file, &self.after, &self.needle);
        self.file == record.file && line.is_some() && line == record.line
    }

    fn is_about(&self, record: &MutantRecord) -> bool {
        self.is_there(record) && self.what.contains(&record.what)
    }
}

/// Mutants of steps that live and are not explained, by name. A new one is a failure.
pub(crate) fn open() -> BTreeSet<&'static str> {
    include_str!("../../open-steps.txt").lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::Survivors;
    use spinpark_verification::record::{MutantRecord, Sort};

    fn step(kind: &str, place: &str) -> MutantRecord {
        let file = "sched/f.rs".to_owned();
        MutantRecord {
            name: format!("{file} {place}"),
            sort: Sort::Step,
            kind: kind.into(),
            file,
            ..MutantRecord::unknown()
        }
    }

    fn survivors(mutants: &str) -> Survivors {
        let text = format!("[[step]]\nfile = \"sched/f.rs\"\nmutants = [{mutants}]\nreason = \"why\"\n");
        Survivors::parse(&text).expect("it is well formed")
    }

    #[test]
    fn a_pattern_names_place_and_kind() {
        let it = survivors("{ kind = 'never', at = 'f: `a > 1` is ' }");
        assert!(it.reason(&step("never", "f: `a > 1` is `false`")).is_some());
        assert!(it.reason(&step("always", "f: `a > 1` is `true`")).is_none(), "another kind");
        assert!(it.reason(&step("never", "g: `a > 1` is `false`")).is_none(), "another place");
        assert!(it.reason(&step("never", "of f: `a > 1` is `false`")).is_none(), "inside of another name");
    }

    #[test]
    fn a_pattern_matches_as_many_as_it_states() {
        let (one, other) = (step("never", "f: `a` is `false`"), step("never", "f: `a` is `false` #2"));
        let untrue = |mutants: &str, all: &[&MutantRecord]| survivors(mutants).untrue(Sort::Step, all);
        let any = "{ kind = 'never', at = 'f: ' }";
        assert_eq!(untrue(any, &[&one]), Vec::<String>::new());
        assert_eq!(untrue(any, &[]), ["sched/f.rs never f: : matches 0, and states 1"]);
        assert_eq!(untrue(any, &[&one, &other]), ["sched/f.rs never f: : matches 2, and states 1"]);
        assert!(untrue("{ kind = 'never', at = 'f: ', count = 2 }", &[&one, &other]).is_empty());
        assert!(untrue("{ kind = 'never', at = 'f: `a` is `false`$' }", &[&one, &other]).is_empty());
    }

    #[test]
    fn no_mutant_is_argued_twice() {
        let one = step("never", "f: `a` is `false`");
        let twice = survivors("{ kind = 'never', at = 'f: ' }, { kind = 'never', at = 'f: `a`' }");
        assert_eq!(twice.untrue(Sort::Step, &[&one]), ["sched/f.rs f: `a` is `false`: several patterns match it"]);
    }
}
