//! Models of `runq`: an owner, which is the main thread, and its thieves.
//!
//! The owner is the main thread on purpose: loom keeps one last access per atomic, so an owner that loads `tail` and
//! then stores it hides an earlier load of a thief that started before (tokio-rs/loom #166, #392). The engines that are
//! complete do not care.

mod rule;

use crate::harness::common::{Tasks, each_once, party};
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::count::{Count, Counts};
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, loom, loom_apart, loom_apart_bounded, loom_bounded, rc11, sc, tso};
use crate::mutation::mutant::{self, Mutant};
use rule::five_operations;
use spinpark_kernel::host::Lock;
use spinpark_kernel::queues::local::LocalQueue;
use spinpark_kernel::queues::runq::{Capacity, Full, RunQueue};
use spinpark_kernel::types::g::G;
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
        Self::starting_at(n, 0, tasks)
    }

    fn starting_at(n: usize, at: u32, tasks: usize) -> Arc<Self> {
        main_plays("owner");
        Arc::new(Ring { ring: RunQueue::starting_at(capacity(n), at), tasks: Tasks::new(tasks) })
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

    /// The owner takes one. Nothing is there then, or will be before its next put, if it finds nothing.
    fn get(&self) -> Vec<u64> {
        let got = self.tasks.run_all(self.unless_beaten("runq-owner-gives-up", || self.ring.get()));
        assert!(!got.is_empty() || self.ring.is_empty(), "the owner finds nothing, and a G is there");
        got
    }

    /// One steal, as a thief does: it runs the first and drains the rest out of its own ring.
    fn steal(&self) -> Vec<u64> {
        let mine = RunQueue::<H, BITS>::new(capacity(self.ring.capacity()));
        let first = self.unless_beaten("runq-thief-gives-up", || self.ring.steal_some(&mine).map(|(first, _)| first));
        self.tasks.run_all(first.into_iter().chain(std::iter::from_fn(|| mine.get())))
    }

    /// What `take` takes; nothing, in this `variant`, if another took one meanwhile.
    fn unless_beaten(&self, variant: &str, take: impl Fn() -> Option<G>) -> Option<G> {
        if !mutant::is_variant(variant) {
            return take();
        }
        let before = self.ring.len();
        let g = take();
        if self.ring.len() + 1 >= before {
            return g;
        }
        g.map(G::into_raw);
        None
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

fn owner_and_one_thief<H: ModelHost>() -> String {
    let ring = Ring::<H>::of(2, 2);
    let thief = Ring::thief(&ring, "thief");
    ring.put(1);
    ring.put(2);
    let mut owner = ring.get();
    let stolen = H::join(thief);
    owner.extend(ring.drain());
    each_once(2, &[&owner, &stolen]);
    format!("owner {owner:?} thief {stolen:?}")
}

fn owner_and_two_thieves<H: ModelHost>() -> String {
    let ring = Ring::<H>::of(2, 2);
    let (one, two) = (Ring::thief(&ring, "thief 1"), Ring::thief(&ring, "thief 2"));
    ring.put(1);
    ring.put(2);
    let mut owner = vec![];
    let (one, two) = (H::join(one), H::join(two));
    owner.extend(ring.drain());
    each_once(2, &[&owner, &one, &two]);
    format!("owner {owner:?} thieves {one:?} {two:?}")
}

/// Two take half of what they see, while the owner takes two.
fn four_gs_and_two_thieves<H: ModelHost>() -> String {
    let ring = Ring::<H, 4>::of(4, 4);
    let (one, two) = (Ring::thief(&ring, "thief 1"), Ring::thief(&ring, "thief 2"));
    (1..=4).for_each(|n| assert!(ring.put(n)));
    let mut owner = ring.get();
    owner.extend(ring.get());
    let (one, two) = (H::join(one), H::join(two));
    owner.extend(ring.drain());
    each_once(4, &[&owner, &one, &two]);
    format!("owner {} thieves {} {}", owner.len(), one.len(), two.len())
}

fn across_the_wrap<H: ModelHost>() -> String {
    let ring = Ring::<H>::starting_at(2, 7, 3);
    let thief = Ring::thief(&ring, "thief");
    ring.put(1);
    let mut owner = ring.get();
    ring.put(2);
    ring.put(3);
    owner.extend(ring.get());
    let stolen = H::join(thief);
    owner.extend(ring.drain());
    each_once(3, &[&owner, &stolen]);
    format!("owner {owner:?} thief {stolen:?}")
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

fn half_of_four<H: ModelHost>() -> String {
    let ring = Ring::<H, 4>::of(4, 4);
    (1..=3).for_each(|n| assert!(ring.put(n)));
    let thief = Ring::thief(&ring, "thief");
    ring.put(4);
    let mut owner = ring.get();
    let stolen = H::join(thief);
    assert!(stolen.len() <= 2, "a thief took {} of at most 4 Gs", stolen.len());
    owner.extend(ring.drain());
    each_once(4, &[&owner, &stolen]);
    format!("owner {owner:?} thief {stolen:?}")
}

fn a_batch_while_robbed<H: ModelHost>() -> String {
    let ring = Ring::<H>::of(2, 3);
    ring.put(1);
    let thief = party::<H, _, _>("thief", &ring, |ring| [ring.steal(), ring.steal()].concat());
    let mut batch = [2, 3].map(|n| ring.tasks.make(n)).into_iter();
    let put = ring.ring.put_batch(&mut batch);
    let mut owner = ring.tasks.run_all(batch);
    owner.extend(ring.get());
    let stolen = H::join(thief);
    owner.extend(ring.drain());
    each_once(3, &[&owner, &stolen]);
    format!("put {put} owner {owner:?} thief {stolen:?}")
}

/// Two Gs are there; the owner takes one and puts another, or spills one, while a thief takes one: each finds what it wants.
fn it_is_never_empty<H: ModelHost>() -> String {
    let ring = Ring::<H>::of(2, 3);
    (1..=2).for_each(|n| assert!(ring.put(n)));
    let thief = Ring::thief(&ring, "thief");
    let spills = H::choose(2) == 1;
    let mut owner = if spills { ring.tasks.run_all(ring.ring.spill_half().into_iter().flatten()) } else { ring.get() };
    assert!(!owner.is_empty() || spills, "the owner finds nothing, and one G at least was there all the time");
    let made_room = owner.is_empty();
    assert!(ring.put(3), "the ring is full: it has spilled nothing, and no thief made room");
    let stolen = H::join(thief);
    assert!(!stolen.is_empty(), "the thief finds nothing, and one G at least was there all the time");
    owner.extend(ring.drain());
    each_once(3, &[&owner, &stolen]);
    format!("spills {spills}, a thief made room: {made_room}, thief {stolen:?}")
}

/// The same scenario, from the other side: loom reaches other outcomes when the thief is the main thread, if not all.
fn a_batch_while_the_main_thread_robs<H: ModelHost>() -> String {
    let ring = Ring::<H>::of(2, 3);
    main_plays("thief");
    ring.put(1);
    let owner = party::<H, _, _>("owner", &ring, |ring| {
        let mut batch = [2, 3].map(|n| ring.tasks.make(n)).into_iter();
        let put = ring.ring.put_batch(&mut batch);
        let mut owner = ring.tasks.run_all(batch);
        owner.extend(ring.get());
        (put, owner)
    });
    let stolen = [ring.steal(), ring.steal()].concat();
    let (put, mut owner) = H::join(owner);
    owner.extend(ring.drain());
    each_once(3, &[&owner, &stolen]);
    format!("put {put} owner {owner:?} thief {stolen:?}")
}

fn overflow_while_robbed<H: ModelHost>() -> String {
    struct Full<H: ModelHost> {
        local: LocalQueue<H, 3>,
        global: H::Lock<Vec<G>>,
        tasks: Tasks<H>,
    }
    let shared = Arc::new(Full::<H> {
        local: LocalQueue::new(capacity(2)),
        global: H::Lock::new(Vec::new()),
        tasks: Tasks::new(3),
    });
    let thief = party::<H, _, _>("thief", &shared, |shared| {
        let mine = LocalQueue::<H, 3>::new(capacity(2));
        let first = shared.local.steal_some(&mine, false, || ()).map(|(first, _)| first);
        shared.tasks.run_all(first.into_iter().chain(mine.drain()))
    });
    for n in 1..=3 {
        let spill = |half: &mut dyn Iterator<Item = G>, g| shared.global.with(|global| global.extend(half.chain([g])));
        shared.local.put(shared.tasks.make(n), |mut half, g| spill(&mut half, g));
    }
    let stolen = H::join(thief);
    let owner = shared.tasks.run_all(shared.local.drain());
    let global = shared.tasks.run_all(shared.global.with(std::mem::take));
    assert!(global.is_empty() || global == [1, 3], "spilled {global:?}");
    each_once(3, &[&owner, &stolen, &global]);
    format!("owner {owner:?} thief {stolen:?} global {global:?}")
}

fn a_thief_is_robbed<H: ModelHost>() -> String {
    struct Chain<H: ModelHost> {
        victim: RunQueue<H, 4>,
        middle: RunQueue<H, 4>,
        tasks: Tasks<H>,
    }
    let chain = Arc::new(Chain::<H> {
        victim: RunQueue::new(capacity(4)),
        middle: RunQueue::new(capacity(4)),
        tasks: Tasks::new(3),
    });
    for n in 1..=3 {
        assert!(chain.victim.put(chain.tasks.make(n)).is_ok());
    }
    let last = party::<H, _, _>("last thief", &chain, |chain| {
        let mine = RunQueue::<H, 4>::new(capacity(4));
        chain.tasks.run_all(chain.middle.steal_some(&mine).map(|(first, _)| first))
    });
    let first = chain.tasks.run_all(chain.victim.steal_some(&chain.middle).map(|(first, _)| first));
    let last = H::join(last);
    let middle = chain.tasks.run_all(std::iter::from_fn(|| chain.middle.get()));
    let left = chain.tasks.run_all(std::iter::from_fn(|| chain.victim.get()));
    each_once(3, &[&first, &last, &middle, &left]);
    format!("first {first:?} last {last:?}")
}

/// A thief claims, and its owner fills the slots again.
fn a_full_ring_is_filled_again<H: ModelHost>() -> String {
    let ring = Ring::<H, 4>::of(4, 6);
    (1..=4).for_each(|n| assert!(ring.put(n)));
    let thief = party::<H, _, _>("thief", &ring, |ring| ring.steal());
    let owner: Vec<u64> = (5..=6).filter(|n| !ring.put(*n)).collect();
    let stolen = H::join(thief);
    let left = ring.drain();
    each_once(6, &[&owner, &stolen, &left]);
    format!("owner {owner:?} thief {stolen:?}")
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("runq::each_g_is_taken_once::owner_and_one_thief", owner_and_one_thief,
        claim: "two Gs, put and taken by their owner while a thief steals, are each taken once, with their data",
        size: "2 threads, ring of 2, 2 puts, 1 get, 1 steal",
        invariants: [1, 2, 7, 9],
        must_reach: ["thief []", "thief [1]", "thief [2]", "owner [2] thief [1]"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("runq::each_g_is_taken_once::owner_and_two_thieves", owner_and_two_thieves,
        claim: "two thieves and the owner share two Gs; head never passes tail for a thread that reads head first",
        size: "3 threads, ring of 2, 2 puts, 2 steals",
        invariants: [1, 2, 7, 9],
        must_reach: ["owner [] thieves [1] [2]", "owner [] thieves [2] [1]", "owner [1, 2]"],
        runs: [rc11(), loom_bounded(2), loom_apart_bounded(2), sc(), tso()]),
    crate::model!("runq::each_g_is_taken_once::four_gs_and_two_thieves", four_gs_and_two_thieves,
        claim: "two thieves take half each, rounded up, while the owner puts four and takes two",
        size: "3 threads, ring of 4, 4 puts, 2 gets, 2 steals",
        invariants: [1, 2, 7, 9],
        must_reach: ["owner 4 thieves 0 0", "owner 1 thieves 2 1", "owner 1 thieves 1 2"],
        runs: [rc11()]),
    crate::model!("runq::each_g_is_taken_once::across_the_wrap", across_the_wrap,
        claim: "the same while both cursors wrap around",
        size: "2 threads, ring of 2, cursors of 3 bits, 3 puts, 2 gets, 1 steal",
        invariants: [1, 2, 7],
        must_reach: ["thief []", "thief [1]", "thief [2]", "thief [3]"],
        runs: [rc11(), loom_bounded(3), loom_apart_bounded(3), sc()]),
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
    crate::model!("runq::each_g_is_taken_once::half_of_four", half_of_four,
        claim: "a thief takes half, rounded up, in order, while the owner puts and takes",
        size: "2 threads, ring of 4, 4 puts, 1 get, 1 steal",
        invariants: [1, 2, 7, 9],
        must_reach: ["thief [1, 2]", "thief [2, 3]"],
        runs: [rc11(), loom_bounded(3), loom_apart(), sc()]),
    crate::model!("runq::nothing_is_found_only_if_nothing_is_there::it_is_never_empty", it_is_never_empty,
        claim: "an owner or a thief that is beaten to a G finds the next; a full ring that spills nothing has room",
        size: "2 threads, ring of 2, 2 Gs, 1 get and 1 put, or 1 spill and 1 put, 1 steal",
        invariants: [1, 2, 7],
        must_reach: ["spills false, a thief made room: false, thief [1]", "spills false, a thief made room: false, thief [2]",
            "spills true, a thief made room: true, thief [1]", "spills true, a thief made room: false, thief [2]"],
        runs: [rc11(), loom_bounded(3), sc()]),
    crate::model!("runq::each_g_is_taken_once::a_batch_while_robbed", a_batch_while_robbed,
        claim: "a batch is published at once, as much of it as fits",
        size: "2 threads, ring of 2, a batch of 2 onto 1, 2 steals",
        invariants: [1, 2, 7],
        must_reach: ["put 1", "put 2", "thief [1]", "thief [1, 2]"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("runq::each_g_is_taken_once::a_batch_while_the_main_thread_robs", a_batch_while_the_main_thread_robs,
        claim: "the same, from the thief's side: loom reaches here some of what it misses there",
        size: "2 threads, ring of 2, a batch of 2 onto 1, 2 steals",
        invariants: [1, 2, 7],
        must_reach: ["put 1", "put 2", "thief [1]", "thief [1, 2]"],
        runs: [rc11(), loom(), loom_apart(), sc()]),
    crate::model!("runq::each_g_is_taken_once::overflow_while_robbed", overflow_while_robbed,
        claim: "a full ring spills its older half and the G that did not fit, or a thief made room meanwhile",
        size: "2 threads, ring of 2, 3 puts, 1 steal",
        invariants: [1, 2, 7],
        must_reach: ["global [1, 3]", "global []"],
        runs: [rc11(), loom_bounded(3), loom_apart(), sc(), tso()]),
    crate::model!("runq::each_g_is_taken_once::a_thief_is_robbed", a_thief_is_robbed,
        claim: "what a thief publishes in its own ring can be stolen from there, with its data",
        size: "2 threads, rings of 4, 3 Gs, 2 steals",
        invariants: [1, 2, 9],
        must_reach: ["first [1] last [2]", "first [1] last []"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("runq::each_g_is_taken_once::a_full_ring_is_filled_again", a_full_ring_is_filled_again,
        claim: "the slots a thief has claimed are filled again at once, and it has read them before",
        size: "2 threads, ring of 4, 4 Gs, 1 steal, 2 puts",
        invariants: [1, 2, 7, 9],
        must_reach: ["owner [5, 6] thief [1, 2]", "owner [5] thief [1, 2]", "owner [] thief [1, 2]"],
        runs: [rc11(), loom_apart(), sc()]),
    crate::model!("runq::answers_as_a_list_would::five_operations", five_operations,
        claim: "first in, first out; half of it is spilled if it is full, or stolen, rounded up; its length is right",
        size: "1 thread, ring of 4, cursors of 3 bits, every 5 operations: put, a batch of 3, get, spill, steal",
        invariants: [1, 2, 7, 9],
        must_reach: ["4 left", "0 left"],
        runs: [sc()]),
];

const ONE_THIEF: &str = "runq::each_g_is_taken_once::owner_and_one_thief";
const NEVER_EMPTY: &str = "runq::nothing_is_found_only_if_nothing_is_there::it_is_never_empty";
const TWO_THIEVES: &str = "runq::each_g_is_taken_once::owner_and_two_thieves";

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "runq";
    "runq-publish-relaxed": "put moves tail with a Relaxed store",
        weaken("queues/runq.rs", "pub fn put(", "self.tail.store"), by ONE_THIEF => [Loom, Rc11];
    "runq-publish-unseen": "a thief reads tail Relaxed",
        weaken("queues/runq.rs", "pub fn steal_some", "self.tail.load"), by ONE_THIEF => [Loom, Rc11];
    "runq-consume-relaxed": "a thief moves head with a Relaxed exchange",
        weaken("queues/runq.rs", "pub fn steal_some", "self.head.compare_exchange"),
        by TWO_THIEVES => [Loom, Rc11];
    "runq-consume-unseen": "a thief reads head Relaxed",
        weaken("queues/runq.rs", "pub fn steal_some", "self.head.load"), by TWO_THIEVES => [Loom, Rc11];
    "runq-get-consume-relaxed": "the owner takes with a Relaxed exchange, so a thief may see its head with an old tail",
        weaken("queues/runq.rs", "pub fn get(", "compare_exchange"), by ONE_THIEF => [Loom, Rc11];
    "runq-spill-consume-relaxed":
        "the owner spills with a Relaxed exchange, so a thief may see its head with an old tail",
        weaken("queues/runq.rs", "pub fn spill_half", "compare_exchange"),
        by "runq::each_g_is_taken_once::overflow_while_robbed" => [Loom, Rc11];
    "runq-batch-publish-relaxed": "put_batch moves tail with a Relaxed store",
        weaken("queues/runq.rs", "pub fn put_batch", "self.tail.store"),
        by "runq::each_g_is_taken_once::a_batch_while_robbed" => [Loom, Rc11];
    "runq-thief-publish-relaxed": "a thief publishes what it keeps with a Relaxed store",
        weaken("queues/runq.rs", "pub fn steal_some", "mine.tail.store"),
        by "runq::each_g_is_taken_once::a_thief_is_robbed" => [Loom, Rc11];
    "runq-owner-gives-up": "an owner whose exchange is lost finds nothing, though a G is there",
        variant("runq-owner-gives-up"), by NEVER_EMPTY => [Sc, Rc11];
    "runq-thief-gives-up": "a thief whose exchange is lost finds nothing, though a G is there",
        variant("runq-thief-gives-up"), by NEVER_EMPTY => [Sc, Rc11];
    "runq-cursors-of-two-bits": "cursors so narrow that a ring turned round once looks untouched (tokio #5041)",
        variant("cursors-of-two-bits"), by "runq::each_g_is_taken_once::a_thief_that_sleeps_long" => [Sc, Rc11];
};
