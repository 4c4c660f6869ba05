//! Models of `timers` of which `verification/rooms` has no program: a batch, and what is drained. Of the word that is read without the lock,
//! see also `netpoll`.

use crate::hosts::model_host::ModelHost;
use crate::model::{Model, sc};
use spinpark_kernel::host::{NEVER, Nanos};
use spinpark_kernel::queues::timers::{BATCH, Timers};

const SOON: Nanos = 5;

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

/// The models.
pub const MODELS: &[Model] =
    &[crate::model!("timers::a_batch_has_its_bound::about_a_batch_is_due", about_a_batch_is_due,
        claim: "so many are taken under one hold of the lock, and no more; the word says that there are others",
        size: "1 thread, 63, 64 or 65 timers that are due",
        invariants: [35, 44],
        must_reach: ["0 were left", "1 were left"],
        runs: [sc()])];
