//! Models of `runq` of which `verification/rooms` has no program: what a thief stores, and one that sleeps long.
//! The rest is told there, once.

use crate::harness::common::{Tasks, each_once, party};
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::count::{Count, Counts};
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, rc11, sc};
use crate::mutation::mutant::{self, Mutant};
use spinpark_kernel::queues::runq::{Capacity, Full, RunQueue};
use std::sync::Arc;

/// A ring of two, whose cursors wrap around at 8; with the Gs' data.
struct Ring<H: ModelHost, const BITS: u32 = 3> {
    ring: RunQueue<H, BITS>,
    tasks: Tasks<H>,
}

fn capacity(n: usize) -> Capacity {
    Capacity::new(n).expect("a power of two")
}

impl<H: ModelHost, const BITS: u32> Ring<H, BITS> {
    fn of(n: usize, tasks: usize) -> Arc<Self> {
        main_plays("owner");
        Arc::new(Ring { ring: RunQueue::new(capacity(n)), tasks: Tasks::new(tasks) })
    }

    fn put(&self, n: u64) -> bool {
        match self.ring.put(self.tasks.make(n)) {
            Ok(()) => true,
            Err(Full(g)) => {
                let _ = g.into_raw();
                false
            }
        }
    }

    fn get(&self) -> Vec<u64> {
        self.tasks.run_all(self.ring.get())
    }

    /// One steal, as a thief does: it runs the first and drains the rest out of its own ring.
    fn steal(&self) -> Vec<u64> {
        let mine = RunQueue::<H, BITS>::new(capacity(self.ring.capacity()));
        let first = self.ring.steal_some(&mine).map(|(first, _)| first);
        self.tasks.run_all(first.into_iter().chain(std::iter::from_fn(|| mine.get())))
    }

    fn drain(&self) -> Vec<u64> {
        self.tasks.run_all(std::iter::from_fn(|| self.ring.get()))
    }

    fn thief(ring: &Arc<Self>, name: &'static str) -> H::Thread<Vec<u64>> {
        party::<H, _, _>(name, ring, Self::steal)
    }
}

/// The owner laps a thief that has read `head` and not yet `tail`: what lies between the two is more than there can be.
fn an_owner_laps_a_thief<H: ModelHost>() -> String {
    // A host that counts what this ring asks for, and what the models of others do not.
    let (outcome, counts) = Counts::of(|| {
        let ring = Ring::<Count<H>>::of(2, 3);
        let thief = Ring::thief(&ring, "thief");
        ring.put(1);
        ring.put(2);
        let mut owner = ring.get();
        let third = ring.put(3);
        let stolen = H::join(thief);
        owner.extend(ring.drain());
        each_once(if third { 3 } else { 2 }, &[&owner, &stolen]);
        format!("owner {owner:?} thief {stolen:?}")
    });
    // A put is a slot and the tail. Of two Gs a thief takes one, to run: it has none to copy.
    assert!(counts.stores <= 6, "a thief copied what it could not have: {counts}");
    outcome
}

/// A thief may sleep through `2^BITS` rounds of the ring; with 32 bits it would have to sleep long.
fn a_thief_that_sleeps_long<H: ModelHost>() -> String {
    fn play<H: ModelHost, const BITS: u32>() -> String {
        let ring = Ring::<H, BITS>::of(2, 6);
        let thief = Ring::thief(&ring, "thief");
        let mut owner = vec![];
        for n in 1..=5 {
            ring.put(n);
            owner.extend(ring.get());
        }
        ring.put(6);
        let stolen = H::join(thief);
        owner.extend(ring.drain());
        each_once(6, &[&owner, &stolen]);
        format!("owner {} thief {}", owner.len(), stolen.len())
    }
    match mutant::variant() {
        Some("cursors-of-two-bits") => play::<H, 2>(),
        _ => play::<H, 4>(),
    }
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("runq::a_thief_copies_no_more_than_it_takes::an_owner_laps_a_thief", an_owner_laps_a_thief,
        claim: "a thief that read an old head copies nothing: of a ring of two it takes one G, and stores none",
        size: "2 threads, ring of 2, 3 puts, 1 get, 1 steal",
        invariants: [1, 7],
        must_reach: ["thief [1]", "thief [2]", "thief []"],
        runs: [rc11(), sc()]),
    crate::model!("runq::each_g_is_taken_once::a_thief_that_sleeps_long", a_thief_that_sleeps_long,
        claim: "a thief that sleeps while the ring turns round takes nothing twice, as long as the cursors do not",
        size: "2 threads, ring of 2, cursors of 4 bits, 6 puts, 5 gets, 1 steal",
        invariants: [1, 2, 7],
        must_reach: ["owner 6 thief 0", "owner 5 thief 1"],
        runs: [rc11(), sc()]),
];

const TWO: &str = "runq::every_client_program_is_explained::two_beside_two";
const THREE: &str = "runq::every_client_program_is_explained::two_beside_one_and_one";

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "runq";
    "runq-publish-relaxed": "put moves tail with a Relaxed store",
        weaken("queues/runq.rs", "pub fn put(", "self.tail.store"), by TWO => [Rc11];
    "runq-publish-unseen": "a thief reads tail Relaxed",
        weaken("queues/runq.rs", "pub fn steal_some", "self.tail.load"), by TWO => [Rc11];
    "runq-consume-relaxed": "a thief moves head with a Relaxed exchange",
        weaken("queues/runq.rs", "pub fn steal_some", "self.head.compare_exchange"),
        by THREE => [Rc11];
    "runq-consume-unseen": "a thief reads head Relaxed",
        weaken("queues/runq.rs", "pub fn steal_some", "self.head.load"), by THREE => [Rc11];
    "runq-get-consume-relaxed": "the owner takes with a Relaxed exchange, so a thief may see its head with an old tail",
        weaken("queues/runq.rs", "pub fn get(", "compare_exchange"), by TWO => [Rc11];
    "runq-spill-consume-relaxed":
        "the owner spills with a Relaxed exchange, so a thief may see its head with an old tail",
        weaken("queues/runq.rs", "pub fn spill_half", "compare_exchange"),
        by TWO => [Rc11];
    "runq-batch-publish-relaxed": "put_batch moves tail with a Relaxed store",
        weaken("queues/runq.rs", "pub fn put_batch", "self.tail.store"),
        by TWO => [Rc11];
    "runq-thief-publish-relaxed": "a thief publishes what it keeps with a Relaxed store",
        weaken("queues/runq.rs", "pub fn steal_some", "mine.tail.store"),
        by THREE => [Rc11];
    "runq-cursors-of-two-bits": "cursors so narrow that a ring turned round once looks untouched (tokio #5041)",
        variant("cursors-of-two-bits"), by "runq::each_g_is_taken_once::a_thief_that_sleeps_long" => [Sc, Rc11];
};
