//! Queues: which thread may write where, and when.

use crate::common::{Cell, Exhibit, Model, ModelHost, Mutant, Source, is_wrong, main_plays, party, rc11, sc};
use spinpark_kernel::atomic::Atomic;
use spinpark_verification::harness::common::each_once;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

const CAPACITY: u64 = 2;

/// tokio's ring. Its head is two cursors in a word: the real one, and the one up to which a thief has finished copying.
struct Ring<H: ModelHost> {
    head: Atomic<H, u64>,
    tail: Atomic<H, u64>,
    slots: [H::Cell<u64>; CAPACITY as usize],
}

fn pack(steal: u64, real: u64) -> u64 {
    steal << 32 | real
}

fn unpack(head: u64) -> (u64, u64) {
    (head >> 32, head & 0xffff_ffff)
}

impl<H: ModelHost> Ring<H> {
    fn of(tasks: &[u64]) -> Self {
        let ring = Ring { head: Atomic::new(0), tail: Atomic::new(0), slots: [Cell::new(0), Cell::new(0)] };
        tasks.iter().for_each(|task| assert!(ring.push(*task), "there is room"));
        ring
    }

    fn slot(&self, at: u64) -> &H::Cell<u64> {
        &self.slots[(at % CAPACITY) as usize]
    }

    /// `push_back`, by the owner. False: no room.
    fn push(&self, task: u64) -> bool {
        // Acquire: what a thief has finished copying may be written over.
        let (steal, _) = unpack(self.head.load(Acquire));
        // Relaxed: only the owner writes it.
        let tail = self.tail.load(Relaxed);
        if tail - steal >= CAPACITY {
            return false;
        }
        self.slot(tail).set(task);
        // Release: publishes the task.
        self.tail.store(tail + 1, Release);
        true
    }

    /// `pop`, by the owner.
    fn pop(&self) -> Option<u64> {
        // Acquire: as the exchange below.
        let mut head = self.head.load(Acquire);
        loop {
            let (steal, real) = unpack(head);
            // Relaxed: only the owner writes it.
            if real == self.tail.load(Relaxed) {
                return None;
            }
            let next = pack(if steal == real { real + 1 } else { steal }, real + 1);
            // AcqRel: takes the task from the thieves.
            match self.head.compare_exchange(head, next, AcqRel, Acquire) {
                Ok(_) => return Some(self.slot(real).get()),
                Err(found) => head = found,
            }
        }
    }

    /// `steal_into`: half of what is here goes into the thief's own ring; one of them is returned.
    fn steal_into(&self, mine: &Self) -> Option<u64> {
        // Relaxed: the thief's own.
        let tail = mine.tail.load(Relaxed);
        // Acquire: what another thief has finished copying may be written over.
        let (steal, real) = unpack(mine.head.load(Acquire));
        // What that other thief still copies is no room, though it is no task of this ring any more.
        let begin = if is_wrong("museum-tokio-2382") { real } else { steal };
        if tail - begin > CAPACITY / 2 {
            return None;
        }
        // `steal_into2`: claim.
        // Acquire: as the exchange below.
        let mut head = self.head.load(Acquire);
        let (first, n) = loop {
            let (steal, real) = unpack(head);
            // Acquire: sees the tasks.
            let n = (self.tail.load(Acquire) - real).div_ceil(2);
            if steal != real || n == 0 {
                return None;
            }
            // AcqRel: takes the tasks; no other thief comes before the window is closed.
            match self.head.compare_exchange(head, pack(steal, real + n), AcqRel, Acquire) {
                Ok(_) => break (real, n),
                Err(found) => head = found,
            }
        };
        // Copy.
        (0..n).for_each(|i| mine.slot(tail + i).set(self.slot(first + i).get()));
        if !is_wrong("museum-cats-effect-4674") {
            // Close the window: both cursors are where the real one is by now.
            // Acquire: as the exchange below.
            let mut head = self.head.load(Acquire);
            loop {
                let (_, real) = unpack(head);
                // AcqRel: lets go of the slots.
                match self.head.compare_exchange(head, pack(real, real), AcqRel, Acquire) {
                    Ok(_) => break,
                    Err(found) => head = found,
                }
            }
        }
        // Release: publishes all but the one that is returned.
        mine.tail.store(tail + n - 1, Release);
        Some(mine.slot(tail + n - 1).get())
    }
}

/// Three rings: a thief is robbed itself.
struct Rings<H: ModelHost> {
    victim: Ring<H>,
    middle: Ring<H>,
    last: Ring<H>,
}

fn a_thief_is_robbed<H: ModelHost>() -> String {
    main_plays("middle");
    let rings = Arc::new(Rings::<H> { victim: Ring::of(&[3]), middle: Ring::of(&[1]), last: Ring::of(&[]) });
    let last = party::<H, _, _>("last", &rings, |rings| rings.middle.steal_into(&rings.last).into_iter().collect());
    let Rings { victim, middle, .. } = &*rings;
    assert!(middle.push(2), "there is room for two");
    let mut mine: Vec<u64> = middle.pop().into_iter().collect();
    let stolen = victim.steal_into(middle);
    mine.extend(stolen);
    let last: Vec<u64> = H::join(last);
    mine.extend(std::iter::from_fn(|| middle.pop()));
    mine.extend(std::iter::from_fn(|| victim.pop()));
    each_once(3, &[&mine, &last]);
    // No thief steals any more, and nothing is left: a batch of as many as fit has room.
    let has_room = (1..=CAPACITY).all(|task| middle.push(task));
    assert!(has_room, "an empty ring without a thief takes no tasks: its thief has never said that it is done");
    format!("middle stole {stolen:?}, last stole {last:?}")
}

/// oneTBB's `concurrent_queue`: its two counts.
struct Tbb<H: ModelHost> {
    /// `head_counter`.
    head: Atomic<H, u64>,
    /// `tail_counter`.
    tail: Atomic<H, u64>,
}

impl<H: ModelHost> Tbb<H> {
    fn push(&self) {
        // Release: publishes the item.
        self.tail.fetch_add(1, Release);
    }

    /// `internal_try_pop`, as far as the counts go. Was there an item?
    fn try_pop(&self) -> bool {
        // Relaxed, or Acquire: if an item was popped, its push is seen below, and all that lies behind its popper.
        let order = if is_wrong("museum-onetbb-782") { Relaxed } else { Acquire };
        let mut head = self.head.load(order);
        // Acquire: sees the item.
        while self.tail.load(Acquire) > head {
            // AcqRel: takes it; a thread that reads this sees what this one has pushed.
            match self.head.compare_exchange(head, head + 1, AcqRel, order) {
                Ok(_) => return true,
                Err(found) => head = found,
            }
        }
        false
    }
}

fn two_push_and_then_pop<H: ModelHost>() -> String {
    main_plays("one");
    let queue = Arc::new(Tbb::<H> { head: Atomic::new(0), tail: Atomic::new(0) });
    let push_and_pop = |queue: &Tbb<H>| {
        queue.push();
        assert!(
            queue.try_pop(),
            "a thread that has pushed an item finds the queue empty, and as many have popped as have pushed"
        );
        // Relaxed: for the outcome only.
        queue.head.load(Relaxed)
    };
    let two = party::<H, _, _>("two", &queue, push_and_pop);
    let seen = push_and_pop(&queue);
    format!("one sees {seen} popped, two sees {}", H::join(two))
}

/// A slot of .NET's `ConcurrentQueue`.
struct DotNetSlot<H: ModelHost> {
    /// `SequenceNumber`.
    number: Atomic<H, u64>,
    item: H::Cell<u64>,
}

impl<H: ModelHost> DotNetSlot<H> {
    /// `TryEnqueue`.
    fn enqueue(&self) {
        self.item.set(7);
        // Release: publishes the item.
        self.number.store(1, Release);
    }

    /// `GetItemWhenAvailable`, of an enumeration; one look.
    fn enumerate(&self) -> Option<u64> {
        // Relaxed, or Acquire: sees the item.
        let order = if is_wrong("museum-dotnet-76501") { Relaxed } else { Acquire };
        let item = (self.number.load(order) == 1).then(|| self.item.get());
        assert!(item.is_none_or(|item| item == 7), "an item is there, and not what is in it");
        item
    }
}

fn an_item_is_enqueued_as_all_are_listed<H: ModelHost>() -> String {
    main_plays("lister");
    let slot = Arc::new(DotNetSlot::<H> { number: Atomic::new(0), item: Cell::new(0) });
    let enqueuer = party::<H, _, _>("enqueuer", &slot, DotNetSlot::enqueue);
    let item = slot.enumerate();
    H::join(enqueuer);
    format!("listed {item:?}")
}

const ROBBED: &str = "museum::tokio_2382::a_thief_is_robbed";
const POP: &str = "museum::onetbb_782::two_push_and_then_pop";
const LIST: &str = "museum::dotnet_76501::an_item_is_enqueued_as_all_are_listed";

/// The variants' models.
pub const MODELS: &[Model] = &[
    crate::model!("museum::tokio_2382::a_thief_is_robbed", a_thief_is_robbed,
        claim: "a thief writes no slot of its ring that another still copies from, and leaves the ring it stole from \
                open",
        size: "2 threads, 3 rings of 2, 3 tasks, 2 steals",
        invariants: [],
        must_reach: ["middle stole Some(3), last stole [1]", "middle stole None, last stole [1]", "last stole [2]"],
        runs: [rc11(), sc()]),
    crate::model!("museum::onetbb_782::two_push_and_then_pop", two_push_and_then_pop,
        claim: "a thread that pushes an item and then pops finds one, if as many are popped as are pushed",
        size: "2 threads, 2 pushes, 2 pops",
        invariants: [],
        must_reach: ["one sees 1 popped, two sees 2", "one sees 2 popped, two sees 1"],
        runs: [rc11(), sc()]),
    crate::model!("museum::dotnet_76501::an_item_is_enqueued_as_all_are_listed", an_item_is_enqueued_as_all_are_listed,
        claim: "an item that is listed is listed with what is in it",
        size: "2 threads, 1 item",
        invariants: [],
        must_reach: ["listed None", "listed Some(7)"],
        runs: [rc11(), sc()]),
];

/// The variants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "museum";
    "museum-tokio-2382": "a thief takes for room in its own ring what another thief still copies",
        variant("museum-tokio-2382"), by ROBBED => [Rc11, Sc, Loom];
    "museum-cats-effect-4674": "a thief leaves without a word that it is done copying",
        variant("museum-cats-effect-4674"), by ROBBED => [Rc11, Sc, Loom];
    // SC sees nothing wrong: the counts are read in the right order.
    "museum-onetbb-782": "a thread that pops reads Relaxed how many were popped",
        variant("museum-onetbb-782"), by POP => [Rc11, Loom];
    "museum-dotnet-76501": "a thread that lists the items reads Relaxed whether one is there",
        variant("museum-dotnet-76501"), by LIST => [Rc11, Loom];
};

/// The bugs.
pub const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "tokio-2382",
        project: "tokio",
        issue: "https://github.com/tokio-rs/tokio/pull/2387",
        year: 2020,
        people: "An assertion in the ring failed, weeks after it was written anew.",
        cause: "A thief that has room by the real head writes over slots which another thief still copies. (A second \
                bug hid it: the cursors were too small to tell a full ring from an empty one.)",
        fix: "Room is counted from where the other thief is. loom had missed it by a bug of its own.",
        source: Source::Read,
        mutant: "museum-tokio-2382",
    },
    Exhibit {
        name: "cats-effect-4674",
        project: "cats-effect",
        issue: "https://github.com/typelevel/cats-effect/issues/4674",
        year: 2026,
        people: "Workers spun for ever one after the other, each still counted as searching, so that no worker was \
                 woken.",
        cause: "The ring is tokio's. If a thief does not come to the end of its steal, the ring looks full for ever; \
                an owner that wants to put a batch there waits by spinning. How the thief got lost is not shown here: \
                it just leaves.",
        fix: "None yet, as this is written.",
        source: Source::OurReading,
        mutant: "museum-cats-effect-4674",
    },
    Exhibit {
        name: "onetbb-782",
        project: "oneTBB",
        issue: "https://github.com/uxlfoundation/oneTBB/pull/782",
        year: 2022,
        people: "Two threads that each push and then pop: on ARM one of them may find the queue empty.",
        cause: "The counts of pops and pushes were read without an order between them: a new one of the first with an \
                old one of the second.",
        fix: "A thread that sees a pop sees the push before it.",
        source: Source::Read,
        mutant: "museum-onetbb-782",
    },
    Exhibit {
        name: "dotnet-76501",
        project: ".NET ConcurrentQueue",
        issue: "https://github.com/dotnet/runtime/pull/78142",
        year: 2022,
        people: "On ARM64 copying a queue in use to an array gave wrong items, within a minute.",
        cause: "Where all items are listed a slot's number was read without volatile, since 2016: it could be new, and \
                the item read after it old.",
        fix: "Volatile, which is Acquire.",
        source: Source::Read,
        mutant: "museum-dotnet-76501",
    },
];
