//! What was reached, and why a comparison fails: what sequential checks have in common.

use std::collections::BTreeMap;
use std::env;
use std::fmt;

/// How often each thing happened: an outcome, or something noteworthy. A property that holds because nothing ever happened
/// is worth nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally<K = &'static str>(BTreeMap<K, u64>);

impl<K> Default for Tally<K> {
    fn default() -> Self {
        Tally::new()
    }
}

impl<K> Tally<K> {
    /// Nothing has happened.
    pub const fn new() -> Tally<K> {
        Tally(BTreeMap::new())
    }

    /// What happened, and how often.
    pub fn into_counts(self) -> BTreeMap<K, u64> {
        self.0
    }
}

impl<K> From<BTreeMap<K, u64>> for Tally<K> {
    fn from(counts: BTreeMap<K, u64>) -> Self {
        Tally(counts)
    }
}

impl<K: Ord> Tally<K> {
    /// It happened.
    pub fn note(&mut self, what: K) {
        self.add(what, 1);
    }

    /// It happened `times` times.
    pub fn add(&mut self, what: K, times: u64) {
        if times > 0 {
            *self.0.entry(what).or_default() += times;
        }
    }
}

impl Tally {
    /// It happened if `really`.
    pub fn note_if(&mut self, really: bool, what: &'static str) {
        self.add(what, u64::from(really));
    }

    /// How often it happened.
    pub fn of(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or(0)
    }

    /// What happened.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    /// Adds up.
    pub fn merge(&mut self, other: &Tally) {
        for (what, times) in &other.0 {
            self.add(what, *times);
        }
    }

    /// Each of these things must have happened. Asks for nothing when `PROPTEST_CASES` says how many cases to try: few
    /// cases reach little.
    ///
    /// # Panics
    /// If one never happened.
    #[track_caller]
    pub fn must_have(&self, what: &[&str]) {
        if env::var_os("PROPTEST_CASES").is_none() {
            for what in what {
                assert!(self.of(what) > 0, "in no generated case {what}; what did happen: {self}");
            }
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(what, times)| write!(f, "\n{times:>9} × {what}"))
    }
}

/// Why a property does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken(String);

impl Broken {
    /// For this reason.
    pub fn because(why: impl fmt::Display) -> Broken {
        Broken(why.to_string())
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Broken {}
