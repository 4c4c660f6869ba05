//! Models of `timers`: shards beside a plain list. Of the word that is read without the lock, see also `netpoll`.

use crate::harness::common::{any_of, party};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, rc11, sc};
use spinpark_kernel::host::{NEVER, Nanos};
use spinpark_kernel::queues::timers::{BATCH, Key, Timers};
use std::sync::Arc;

const SOON: Nanos = 5;
const LATE: Nanos = 7;

/// A timer: where it is, when it is due, and which it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Told {
    shard: usize,
    when: Nanos,
    number: usize,
}

struct Both<H: ModelHost> {
    timers: Timers<H, usize>,
    shards: usize,
    /// In the order in which they came.
    list: Vec<Told>,
    keys: Vec<Key>,
    taken: usize,
}

impl<H: ModelHost> Both<H> {
    /// With so many shards; with none asked for there is one.
    fn of(shards: usize) -> Self {
        let timers = Timers::new(shards);
        Both { timers, shards: shards.max(1), list: Vec::new(), keys: Vec::new(), taken: 0 }
    }

    /// Those of a shard that are due: the earliest first; of those of one moment, the one that came first.
    fn due_of(&self, shard: usize, now: Nanos) -> Vec<Told> {
        let is_due = |told: &&Told| told.shard == shard % self.shards && told.when <= now;
        let mut due: Vec<Told> = self.list.iter().filter(is_due).copied().collect();
        due.sort_by_key(|told| told.when);
        due
    }

    fn take(&mut self, told: &[Told]) -> Vec<usize> {
        self.list.retain(|other| !told.contains(other));
        told.iter().map(|told| told.number).collect()
    }

    fn adds(&mut self, shard: usize, when: Nanos) {
        let number = self.keys.len();
        let (key, is_first) = self.timers.add(shard, when, number);
        let before = self.due_of(shard, NEVER).first().map_or(NEVER, |first| first.when);
        assert!(is_first == (when < before), "added for {when}, after {before}: is it the first? {is_first}");
        assert!(key.when() == when, "due at {}, not {when}", key.when());
        self.list.push(Told { shard: shard % self.shards, when, number });
        self.keys.push(key);
    }

    fn removes(&mut self, number: usize) {
        let told: Vec<Told> = self.list.iter().copied().filter(|told| told.number == number).collect();
        let (found, told) = (self.timers.remove(self.keys[number]), self.take(&told));
        assert!(found.as_slice() == told, "removed {found:?}, not {told:?}");
    }

    fn takes_due(&mut self, shard: usize, now: Nanos) {
        let due = (shard..shard + self.shards).map(|shard| self.due_of(shard, now)).find(|due| !due.is_empty());
        let (found, told) = (self.timers.take_due(shard, now), self.take(&due.unwrap_or_default()));
        assert!(found == told, "due at {now}, asked of shard {shard}: {found:?}, not {told:?}");
        self.taken += told.len();
    }

    fn drains(&mut self) {
        let mut found: Vec<usize> = self.timers.drain().collect();
        found.sort_unstable();
        let told: Vec<usize> = self.list.drain(..).map(|told| told.number).collect();
        assert!(found == told, "drained {found:?}, not {told:?}");
    }

    fn agree(&self) {
        let next = self.list.iter().map(|told| told.when).min().unwrap_or(NEVER);
        assert!(self.timers.deadline() == next, "the next is due at {next}, not {}", self.timers.deadline());
        assert!(self.timers.len() == self.list.len(), "{} there, not {}", self.timers.len(), self.list.len());
        assert!(self.timers.is_empty() == self.list.is_empty(), "{} there, but empty or not", self.list.len());
    }
}

fn four_operations<H: ModelHost>() -> String {
    let mut both = Both::<H>::of(H::choose(3));
    for _ in 0..4 {
        match H::choose(9 + both.keys.len()) {
            n @ 0..4 => both.adds(n % 2, [SOON, LATE][n / 2]),
            n @ 4..8 => both.takes_due(n % 2, [SOON, LATE][n / 2 - 2]),
            8 => both.drains(),
            n => both.removes(n - 9),
        }
        both.agree();
    }
    format!("{} added, {} taken, {} left", both.keys.len(), both.taken, both.list.len())
}

fn replaced_or_gone<H: ModelHost>() -> String {
    let timers = Timers::<H, u64>::new(1);
    let keys = [SOON, LATE].map(|when| timers.add(0, when, when).0);
    let (which, now) = (H::choose(2), any_of::<H, _>(&[SOON - 1, SOON, LATE]));
    let taken = timers.take_due(0, now);
    let when = keys[which].when();
    let told = if when <= now { Err(1) } else { Ok(when) };
    let found = timers.replace(keys[which], 1);
    assert!(found == told, "replaced at {now} what is due at {when}: {found:?}, not {told:?}");
    let left = timers.remove(keys[which]);
    assert!(left == told.ok().map(|_| 1), "then {left:?} was there");
    format!("{} taken, {}", taken.len(), if told.is_ok() { "replaced" } else { "gone" })
}

/// As many as a batch holds, one less, or one more, are due.
fn about_a_batch_is_due<H: ModelHost>() -> String {
    let timers = Timers::<H, usize>::new(1);
    let number = BATCH - 1 + H::choose(3);
    (0..number).for_each(|n| _ = timers.add(0, SOON, n));
    let taken = timers.take_due(0, SOON);
    assert!(taken.iter().copied().eq(0..number.min(BATCH)), "of {number} that are due {taken:?} were taken at once");
    let next = if number > BATCH { SOON } else { NEVER };
    assert!(timers.deadline() == next, "the next is due at {}, not {next}", timers.deadline());
    let left = timers.take_due(0, SOON);
    assert!(left.into_iter().eq(number.min(BATCH)..number), "then the rest");
    format!("{} were left", number.saturating_sub(BATCH))
}

/// Two threads add a timer each to one shard: for the same moment, or the second for a later one.
fn two_add_at_once<H: ModelHost>() -> String {
    let later = any_of::<H, _>(&[SOON, LATE]);
    let timers = Arc::new(Timers::<H, u64>::new(1));
    let other = party::<H, _, _>("other", &timers, move |timers| timers.add(0, later, 2));
    let (key, is_first) = timers.add(0, SOON, 1);
    let (other, is_others_first) = H::join(other);
    assert!(timers.len() == 2, "of two timers {} are there", timers.len());
    assert!(timers.deadline() == SOON, "the next is due at {SOON}, not {}", timers.deadline());
    assert!(is_first || is_others_first, "no adder was told to announce what is due first");
    assert!(is_first || later == SOON, "due first, and not told so");
    assert!(timers.remove(other) == Some(2) && timers.remove(key) == Some(1), "each has its own");
    if is_first { "it was the first" } else { "the other was" }.to_owned()
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("timers::answers_as_a_list_would::four_operations", four_operations,
        claim: "what is due comes in order, of the shard that is asked first; the word says when the next is due",
        size: "1 thread, 0, 1 or 2 shards, every 4 operations: add, take what is due, remove, drain; 2 moments",
        invariants: [35, 44],
        must_reach: ["4 added, 0 taken, 4 left", "2 added, 2 taken, 0 left", "2 added, 1 taken, 0 left"],
        runs: [sc()]),
    crate::model!("timers::answers_as_a_list_would::replaced_or_gone", replaced_or_gone,
        claim: "what is to be done at a time can be replaced until it is taken",
        size: "1 thread, 2 timers, taken up to a moment, then 1 replaced",
        invariants: [44],
        must_reach: ["0 taken, replaced", "1 taken, replaced", "1 taken, gone", "2 taken, gone"],
        runs: [sc()]),
    crate::model!("timers::a_batch_has_its_bound::about_a_batch_is_due", about_a_batch_is_due,
        claim: "so many are taken under one hold of the lock, and no more; the word says that there are others",
        size: "1 thread, 63, 64 or 65 timers that are due",
        invariants: [35, 44],
        must_reach: ["0 were left", "1 were left"],
        runs: [sc()]),
    crate::model!("timers::two_threads_share_a_shard::two_add_at_once", two_add_at_once,
        claim: "of two timers that are added at once, for the same moment too, none is lost; whose is the first is told so",
        size: "2 threads, 1 shard, 2 timers; the same moment or not",
        invariants: [35, 44],
        must_reach: ["it was the first", "the other was"],
        runs: [rc11(), sc()]),
];
