//! Timers, compared with a sorted list.

use proptest::collection::vec;
use proptest::prelude::*;
use spinpark_kernel::host::{NEVER, Nanos};
use spinpark_kernel::queues::timers::{BATCH, Key, Timers};
use spinpark_proptests::check::{Broken, Tally, check, refute};
use spinpark_proptests::solo::Solo;

const CASES: u32 = 2000;

/// What is done with them. A timer is named by how many were added before it.
#[derive(Debug, Clone, Copy)]
enum Op {
    Add {
        shard: usize,
        when: Nanos,
    },
    Remove(usize),
    Replace(usize),
    /// The time moves on by so much, and one that is due is taken, if there is one.
    TakeDue {
        shard: usize,
        after: Nanos,
    },
    Drain,
}

fn op() -> impl Strategy<Value = Op> {
    let when = prop_oneof![8 => 0..40 as Nanos, 1 => Just(NEVER - 1)];
    prop_oneof![
        8 => (0..5usize, when).prop_map(|(shard, when)| Op::Add { shard, when }),
        3 => (0..30usize).prop_map(Op::Remove),
        2 => (0..30usize).prop_map(Op::Replace),
        6 => (0..5usize, 0..6 as Nanos).prop_map(|(shard, after)| Op::TakeDue { shard, after }),
        1 => Just(Op::Drain),
    ]
}

/// A timer as the list knows it: on which shard, when, how many were added before it, and what is to be done.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Listed {
    shard: usize,
    when: Nanos,
    number: usize,
    what: u64,
}

/// Rules that are wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Wrong {
    /// Of those that are due at the same time the one that was added last comes first.
    LastFirst,
    /// The first of all shards comes first, for every caller.
    FirstOfAll,
    /// One that is due just now is not due.
    OnlyLater,
}

struct Both {
    shards: usize,
    timers: Timers<Solo, u64>,
    /// Sorted by time, then by number.
    list: Vec<Listed>,
    keys: Vec<Key>,
    now: Nanos,
    wrong: Option<Wrong>,
    seen: Tally,
}

impl Both {
    fn new(shards: usize, wrong: Option<Wrong>) -> Self {
        let (list, keys) = (Vec::new(), Vec::new());
        Both { shards, timers: Timers::new(shards), list, keys, now: 0, wrong, seen: Tally::default() }
    }

    fn first_on(&self, shard: usize) -> Nanos {
        self.list.iter().find(|timer| timer.shard == shard).map_or(NEVER, |timer| timer.when)
    }

    fn position(&self, number: usize) -> Option<usize> {
        self.list.iter().position(|timer| timer.number == number)
    }

    fn does(&mut self, op: Op) -> Result<(), Broken> {
        match op {
            Op::Add { shard, when } => {
                let (number, on) = (self.keys.len(), shard % self.shards);
                let is_first = when < self.first_on(on);
                let (key, found) = self.timers.add(shard, when, number as u64);
                self.seen.note(if is_first { "it was the first of its shard" } else { "it was not the first" });
                self.keys.push(key);
                self.list.push(Listed { shard: on, when, number, what: number as u64 });
                let last_first = self.wrong == Some(Wrong::LastFirst);
                let order = |timer: &Listed| (timer.when, if last_first { !timer.number } else { timer.number });
                self.list.sort_by_key(order);
                same("is it the first?", &is_first, &found)?;
                same("when", &when, &key.when())
            }
            Op::Remove(number) => {
                let Some(&key) = self.keys.get(number) else { return Ok(()) };
                let told = self.position(number).map(|at| self.list.remove(at).what);
                self.seen.note(if told.is_some() { "it was removed" } else { "it was gone when it was to be removed" });
                same("removed", &told, &self.timers.remove(key))
            }
            Op::Replace(number) => {
                let Some(&key) = self.keys.get(number) else { return Ok(()) };
                let new = 1000 + number as u64;
                let told = match self.position(number) {
                    Some(at) => Ok(std::mem::replace(&mut self.list[at].what, new)),
                    None => Err(new),
                };
                self.seen.note(if told.is_ok() { "it was replaced" } else { "it was gone when it was to be replaced" });
                same("replaced", &told, &self.timers.replace(key, new))
            }
            Op::TakeDue { shard, after } => {
                self.now += after;
                let told: Vec<Listed> = self.due(shard);
                self.list.retain(|timer| !told.contains(timer));
                self.seen.note_if(told.is_empty() && !self.list.is_empty(), "none was due");
                self.seen.note_if(told.len() > 1, "several were due");
                self.seen.note_if(told.iter().any(|timer| timer.shard != shard % self.shards), "of another shard");
                let told: Vec<u64> = told.into_iter().map(|timer| timer.what).collect();
                same("due", &told, &self.timers.take_due(shard, self.now))
            }
            Op::Drain => {
                let mut told: Vec<u64> = self.list.drain(..).map(|timer| timer.what).collect();
                let mut found: Vec<u64> = self.timers.drain().collect();
                self.seen.note_if(told.len() > 1, "several were drained");
                told.sort_unstable();
                found.sort_unstable();
                same("drained", &told, &found)
            }
        }
    }

    /// Those of the asked shard that are due, else of the next shard.
    fn due(&self, shard: usize) -> Vec<Listed> {
        let is_due = |timer: &Listed| match self.wrong {
            Some(Wrong::OnlyLater) => timer.when < self.now,
            _ => timer.when <= self.now,
        };
        let from = if self.wrong == Some(Wrong::FirstOfAll) { 0 } else { shard };
        let due_of = |shard| {
            self.list.iter().filter(|timer| timer.shard == shard && is_due(timer)).take(BATCH).copied().collect()
        };
        let mut due = (0..self.shards).map(|step| due_of((from + step) % self.shards));
        due.find(|due: &Vec<Listed>| !due.is_empty()).unwrap_or_default()
    }

    /// After each step.
    fn agree(&self) -> Result<(), Broken> {
        let first = self.list.first().map_or(NEVER, |timer| timer.when);
        same("the next", &first, &self.timers.deadline())?;
        same("how many", &self.list.len(), &self.timers.len())?;
        same("is there any", &!self.list.is_empty(), &self.timers.is_any())?;
        same("is it empty?", &self.list.is_empty(), &self.timers.is_empty())
    }
}

fn same<T: std::fmt::Debug + PartialEq>(what: &str, told: &T, found: &T) -> Result<(), Broken> {
    if told == found { Ok(()) } else { Err(Broken::because(format_args!("{what}: {found:?} instead of {told:?}"))) }
}

fn play(shards: usize, wrong: Option<Wrong>, ops: &[Op]) -> Result<Tally, Broken> {
    let mut both = Both::new(shards, wrong);
    for &op in ops {
        both.does(op)?;
        both.agree()?;
    }
    Ok(both.seen)
}

/// One by one in the order of their moments, then of their coming; and the word that says when the next is due is right
/// after each step.
mod timers_answer_as_a_sorted_list_would {
    use super::*;

    #[test]
    fn on_one_shard_and_on_several() {
        let seen = check(CASES, (1..=3usize, vec(op(), 0..80)), |(shards, ops)| play(shards, None, &ops));
        seen.must_have(&[
            "it was the first of its shard",
            "it was not the first",
            "it was removed",
            "it was gone when it was to be removed",
            "it was replaced",
            "it was gone when it was to be replaced",
            "none was due",
            "of another shard",
            "several were due",
            "several were drained",
        ]);
    }
}

/// Alive: each of these rules is refuted, in a dozen steps.
mod a_wrong_rule_is_refuted {
    use super::*;

    fn refuted(wrong: Wrong) {
        let (ops, why) = refute(CASES, vec(op(), 0..80), |ops| play(2, Some(wrong), ops));
        assert!(ops.len() <= 12, "{wrong:?} took {} steps, {why}: {ops:?}", ops.len());
    }

    #[test]
    fn the_last_comes_first() {
        refuted(Wrong::LastFirst);
    }
    #[test]
    fn the_first_shard_comes_first_whoever_asks() {
        refuted(Wrong::FirstOfAll);
    }
    #[test]
    fn what_is_due_now_is_not_due() {
        refuted(Wrong::OnlyLater);
    }
}
