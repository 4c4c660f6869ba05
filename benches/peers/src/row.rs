//! What a row is: one piece of work, the contenders that do it, and what must come out.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

/// How many operations were done, and the sum of the numbers they carried.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub count: u64,
    pub sum: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.count += other.count;
        self.sum += other.sum;
    }
}

/// What one round gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    pub tally: Tally,
    /// In the order of the row's [`figures`](Row::figures), which may leave out the last of them.
    pub figures: Vec<f64>,
}

/// What a row measures: the first of its figures is the one that contenders are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Figure {
    pub name: &'static str,
    pub unit: &'static str,
}

/// Nanoseconds by the clock, an operation.
pub const TIME: Figure = Figure { name: "time", unit: "ns" };
/// Nanoseconds of processor time, of the whole process, an operation.
pub const CPU: Figure = Figure { name: "cpu", unit: "ns" };
/// How late: 99 of 100 were less so. With it go three others of the same events, [`LATE`].
pub const LATE_99: Figure = Figure { name: "late, 99 of 100", unit: "us" };
pub const LATE_HALF: Figure = Figure { name: "late, half", unit: "us" };
pub const LATE_999: Figure = Figure { name: "late, 999 of 1000", unit: "us" };
pub const LATE_MOST: Figure = Figure { name: "late, most", unit: "us" };
/// In the order in which [`Late::figures`](crate::meters::Late::figures) has them.
pub const LATE: &[Figure] = &[LATE_99, LATE_HALF, LATE_999, LATE_MOST];

/// What a contender is given before its first round.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    /// Threads that run tasks.
    pub workers: usize,
    /// How many tasks, or connections, share the operations of a round.
    pub width: u64,
    /// What else the workers have to do.
    pub beside: Option<Hogs>,
}

/// Two tasks a worker that compute.
#[derive(Debug, Clone, Copy)]
pub struct Hogs {
    /// For so long.
    pub computes: Duration,
    /// Then each yields, and computes again. Otherwise it ends, and another is spawned in its place.
    pub yields: bool,
}

/// Does as many operations as it is told, and says what came out.
pub type Round = Box<dyn FnMut(u64) -> Sample>;

/// Whom a contender is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// spinpark's.
    Ours,
    /// One of those that spinpark is compared with.
    Peer,
    /// Does less than the others, to show what the work itself costs. No contender is compared with it.
    Floor,
}

/// One contender of a row.
pub struct Contender {
    pub name: &'static str,
    pub side: Side,
    /// Starts its runtime: once a process.
    pub open: fn(Setup) -> Round,
    /// Does at most so many operations, because it cannot do more.
    pub at_most: u64,
    /// A program of its own, in Go: which of its workloads. `open` is not called.
    pub in_go: Option<&'static str>,
}

impl Contender {
    pub const fn peer(name: &'static str, open: fn(Setup) -> Round) -> Contender {
        Contender { name, side: Side::Peer, open, at_most: u64::MAX, in_go: None }
    }

    pub const fn ours(name: &'static str, open: fn(Setup) -> Round) -> Contender {
        Contender { name, side: Side::Ours, ..Contender::peer(name, open) }
    }

    pub const fn floor(name: &'static str, open: fn(Setup) -> Round) -> Contender {
        Contender { name, side: Side::Floor, ..Contender::peer(name, open) }
    }

    /// Go's own runtime.
    pub const fn go(workload: &'static str) -> Contender {
        let open = |_| -> Round { unreachable!("it is another program") };
        Contender { in_go: Some(workload), ..Contender::peer("Go", open) }
    }

    pub const fn at_most(self, operations: u64) -> Contender {
        Contender { at_most: operations, ..self }
    }
}

/// One piece of work.
pub struct Row {
    pub name: &'static str,
    pub what: &'static str,
    /// What is done once an operation: "a yield".
    pub operation: &'static str,
    /// Operations a round; with `--quick`.
    pub full: u64,
    pub quick: u64,
    /// No more rounds than these, because one takes long.
    pub at_most_rounds: usize,
    pub setup: Setup,
    pub figures: &'static [Figure],
    /// What must come out of so many operations.
    pub tally: fn(Setup, u64) -> Tally,
    pub contenders: &'static [Contender],
    /// Does it need the allocator that counts?
    pub counting: bool,
    /// Is each round a process's first and only? Else there is one to warm up.
    pub fresh: bool,
    /// Do instructions, or system calls, an operation mean something? Not if the work is to wait.
    pub countable: bool,
}

/// A contender did not do its work.
#[derive(Debug, PartialEq, Eq)]
pub struct Wrong {
    pub row: &'static str,
    pub contender: &'static str,
    pub expected: Tally,
    pub found: Tally,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Wrong { row, contender, expected, found } = self;
        write!(f, "{row}: {contender} did {found:?}, which should be {expected:?}")
    }
}

impl Row {
    /// What a contender in Go is started with.
    pub fn in_go(&self, workload: &str) -> [String; 5] {
        let Setup { workers, width, beside } = self.setup;
        let micros = beside.map_or(0, |hogs| hogs.computes.as_micros());
        let how = if beside.is_some_and(|hogs| hogs.yields) { "yields" } else { "ends" };
        [workload.into(), workers.to_string(), width.to_string(), micros.to_string(), how.into()]
    }

    /// How many operations `contender` is asked for.
    pub fn operations(&self, contender: &Contender, quick: bool) -> u64 {
        if quick { self.quick } else { self.full }.min(contender.at_most)
    }

    pub fn contender(&self, name: &str) -> Option<&Contender> {
        self.contenders.iter().find(|contender| contender.name == name)
    }

    /// Is `sample` what must come out of so many operations?
    ///
    /// # Errors
    /// If it is not.
    pub fn check(&self, contender: &Contender, operations: u64, sample: &Sample) -> Result<(), Wrong> {
        let expected = (self.tally)(self.setup, operations);
        if sample.tally == expected && sample.figures.len() >= self.figures.len() {
            return Ok(());
        }
        Err(Wrong { row: self.name, contender: contender.name, expected, found: sample.tally })
    }
}

/// The sum of the numbers below `n`.
pub fn sum_below(n: u64) -> u64 {
    n * n.saturating_sub(1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows;

    mod a_sample {
        use super::*;

        #[test]
        fn with_a_wrong_count_or_a_wrong_sum_is_an_error() {
            for row in rows::all() {
                let contender = &row.contenders[0];
                let right = (row.tally)(row.setup, row.quick);
                let figures = vec![1.0; row.figures.len()];
                let check = |tally| row.check(contender, row.quick, &Sample { tally, figures: figures.clone() });
                assert_eq!(check(right), Ok(()));
                assert!(check(Tally { count: right.count - 1, ..right }).is_err(), "{}: one is missing", row.name);
                assert!(check(Tally { sum: right.sum + 1, ..right }).is_err(), "{}: the sum is wrong", row.name);
            }
        }

        #[test]
        fn without_all_its_figures_is_an_error() {
            let row = rows::all().next().expect("a row");
            let sample = Sample { tally: (row.tally)(row.setup, row.quick), figures: vec![] };
            assert!(row.check(&row.contenders[0], row.quick, &sample).is_err());
        }
    }

    mod the_rows {
        use super::*;
        use std::collections::BTreeSet;

        #[test]
        fn have_names_of_their_own() {
            let names: BTreeSet<_> = rows::all().map(|row| row.name).collect();
            assert_eq!(names.len(), rows::all().count());
            for row in rows::all() {
                let names: BTreeSet<_> = row.contenders.iter().map(|contender| contender.name).collect();
                assert_eq!(names.len(), row.contenders.len(), "{}", row.name);
            }
        }

        #[test]
        fn never_measure_nothing() {
            for row in rows::all() {
                let tally = (row.tally)(row.setup, row.quick);
                assert!(tally.count > 0 && tally.sum > 0, "{}", row.name);
            }
        }
    }
}
