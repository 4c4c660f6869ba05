//! Models of `timers`: what `verification/rooms` has no program of, a batch, and what is drained; and the word that is read without the lock,
//! on loom and with store buffers too.

use crate::harness::common::party;
use crate::harness::timers::Shard;
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, loom, loom_apart, rc11, sc, tso};
use crate::mutation::mutant::Mutant;
use spinpark_kernel::host::{NEVER, Nanos};
use spinpark_kernel::queues::timers::{BATCH, Timers};

const SOON: Nanos = 5;
const LATE: Nanos = 100;

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
    assert!(timers.is_empty() && matches!(timers.len(), 0), "all were taken, and {} are there", timers.len());
    let one = Timers::<H, usize>::new(0);
    one.add(0, SOON, 1);
    one.add(1, SOON + 1, 2);
    assert!(one.take_due(1, SOON + 1) == [1, 2], "there is one shard at least, and no more");
    timers.add(0, SOON, 1);
    timers.add(0, NEVER, 2);
    assert!(!timers.is_empty(), "one is there, and it is empty");
    assert!(timers.drain().eq([1, 2]) && timers.deadline() == NEVER, "two were drained");
    format!("{} were left", number.saturating_sub(BATCH))
}

/// Two threads add a timer each, and the other one's is removed again or not.
fn added_by_two<H: ModelHost>(is_removed: bool) -> String {
    let shard = Shard::<H>::new();
    let other = party::<H, _, _>("other", &shard, move |shard| shard.add(SOON, is_removed));
    shard.add(LATE, false);
    let seen = shard.deadline();
    H::join(other);
    let (left, earliest) = (shard.deadline(), if is_removed { LATE } else { SOON });
    assert!(left == earliest, "the earliest timer is due at {earliest}, and the shard says {left}");
    format!("first {seen}, then {left}")
}

fn two_add<H: ModelHost>() -> String {
    added_by_two::<H>(false)
}

fn one_adds_and_one_removes<H: ModelHost>() -> String {
    added_by_two::<H>(true)
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("timers::a_batch_has_its_bound::about_a_batch_is_due", about_a_batch_is_due,
        claim: "so many are taken under one hold of the lock, and no more; the word says that there are others",
        size: "1 thread, 63, 64 or 65 timers that are due",
        invariants: [35, 44],
        must_reach: ["0 were left", "1 were left"],
        runs: [sc()]),
    crate::model!("timers::when_is_the_earliest::two_add", two_add,
        claim: "two add timers to one shard: its word is the earlier moment",
        size: "2 threads, 2 timers",
        invariants: [35, 44],
        must_reach: ["first 100, then 5", "first 5, then 5"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("timers::when_is_the_earliest::one_adds_and_one_removes", one_adds_and_one_removes,
        claim: "one of them is removed again: the word is the moment of the other",
        size: "2 threads, 2 timers, 1 removed",
        invariants: [35, 44],
        must_reach: ["first 100, then 100", "first 5, then 100"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "timers";
    "timers-tells-when-late": "a shard's word is written after its lock is released",
        variant("tells-when-late"), by "timers::when_is_the_earliest::two_add" => [Sc, Tso, Loom, LoomApart, Rc11];
    "timers-forgets-to-tell-when":
        "a shard's word is not written when a timer is removed (the shape of golang/go #51654)",
        variant("forgets-to-tell-when"), by "timers::when_is_the_earliest::one_adds_and_one_removes" => [Sc, Rc11];
};
