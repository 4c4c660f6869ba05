//! Queues: an emptiness test that was wrong, a list without its lock, and links that were another's.

use crate::common::{Cell, Engine, Exhibit, ModelHost, Source, is_wrong, main_plays, party, rc11, sc};
use crate::go::{Case, told, variant};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::Lock;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// No G.
const NIL: u64 = 0;

/// A P's queues: head, tail, the slot for the next G. The ring's slots have no part in whether it is empty.
struct Local<H: ModelHost> {
    head: Atomic<H, u64>,
    tail: Atomic<H, u64>,
    runnext: Atomic<H, u64>,
}

impl<H: ModelHost> Local<H> {
    /// `runqempty`.
    fn is_empty(&self, looks: &mut u32) -> bool {
        loop {
            *looks += 1;
            // Acquire: of what was taken.
            let head = self.head.load(Acquire);
            // Acquire: of what was put.
            let tail = self.tail.load(Acquire);
            // Acquire: a thread that finds the slot emptied sees what its owner put into the ring before.
            let next = self.runnext.load(Acquire);
            // Relaxed: the slot's Acquire orders it.
            if is_wrong("museum-go-10573") || tail == self.tail.load(Relaxed) {
                return head == tail && next == NIL;
            }
        }
    }
}

fn kicked_out_between_two_reads<H: ModelHost>() -> String {
    main_plays("owner");
    let local = Arc::new(Local::<H> { head: Atomic::new(0), tail: Atomic::new(0), runnext: Atomic::new(1) });
    let asker = party::<H, _, _>("asker", &local, |local| {
        let mut looks = 0;
        assert!(!local.is_empty(&mut looks), "empty, it says, and G1 was there all the time");
        looks
    });
    // `runqput(next)`: G2 takes the slot. AcqRel: as a thief, and for the asker.
    let kicked = local.runnext.swap(2, AcqRel);
    assert!(kicked == 1, "G1 was there");
    // G1 goes into the ring. Relaxed: only the owner, which is us, writes it.
    let tail = local.tail.load(Relaxed);
    // Release: G1 is in its slot of the ring.
    local.tail.store(tail + 1, Release);
    // `runqget`: the slot first. AcqRel: an asker that finds it empty sees the ring as it is now.
    assert!(local.runnext.swap(NIL, AcqRel) == 2, "G2 was there");
    format!("{} looks", H::join(asker))
}

const KICKED: &str = "museum::go_10573::kicked_out_between_two_reads";

/// #10573.
pub(super) const BETWEEN_TWO_READS: Case = Case {
    exhibit: Exhibit {
        source: Source::OurReading,
        ..told(
            "empty, though never empty",
            "golang/go#10573",
            2015,
            "museum-go-10573",
            [
                "Go's builders crashed: a P whose queue had just been found empty had work.",
                "The test read the ring, then the slot for the next G. A G that was kicked out of the slot into the \
                 ring in between was seen in neither.",
                "Read the ring's tail again after the slot; if it moved, begin anew.",
            ],
        )
    },
    mutant: variant(
        "museum-go-10573",
        "the emptiness test does not read the tail again after the slot",
        &[(KICKED, Engine::Rc11), (KICKED, Engine::Sc)],
    ),
    model: crate::model!("museum::go_10573::kicked_out_between_two_reads", kicked_out_between_two_reads,
        claim: "a queue in which a G is all the time is never found empty",
        size: "2 threads: owner, asker; 2 Gs",
        invariants: [10],
        must_reach: ["1 looks", "2 looks"],
        runs: [rc11(), sc()]),
};

/// The global queue: a list through the Gs themselves. G `n` has link `n`; link 0 is the queue's head.
struct Global<H: ModelHost> {
    lock: H::Lock<()>,
    links: [H::Cell<u64>; 4],
    tail: H::Cell<u64>,
}

impl<H: ModelHost> Global<H> {
    /// `globrunqputbatch`: the Gs from `first` to `last` are linked already.
    fn append(&self, first: u64, last: u64) {
        let tail = self.tail.get();
        self.links[tail as usize].set(first);
        self.tail.set(last);
    }
}

fn a_batch_and_a_yield<H: ModelHost>() -> String {
    main_plays("injector");
    let links = [NIL, 2, NIL, NIL].map(Cell::new);
    let global = Arc::new(Global::<H> { lock: H::Lock::new(()), links, tail: Cell::new(0) });
    let yielder = party::<H, _, _>("yielder", &global, |global| {
        // `goschedImpl`.
        global.lock.with(|()| global.append(3, 3));
    });
    // `runqputbatch`, whose ring is full: the rest goes to the global queue.
    if is_wrong("museum-go-40457") {
        global.append(1, 2);
    } else {
        global.lock.with(|()| global.append(1, 2));
    }
    H::join(yielder);
    let mut order = Vec::new();
    let mut g = global.links[0].get();
    while g != NIL && order.len() < 4 {
        order.push(g);
        g = global.links[g as usize].get();
    }
    assert!(order.len() == 3, "three Gs were queued, and the list has {order:?}");
    format!("{order:?}")
}

const BATCH: &str = "museum::go_40457::a_batch_and_a_yield";

/// #40457.
pub(super) const UNLOCKED_BATCH: Case = Case {
    exhibit: told(
        "a list that was appended to without its lock",
        "golang/go#40457",
        2020,
        "museum-go-40457",
        [
            "In production the global queue was found corrupt, with nil where a G should be.",
            "A new function put a batch into a ring, and what did not fit to the global queue. Its comment spoke of \
             the lock; no caller took it.",
            "The caller takes the lock for what did not fit.",
        ],
    ),
    mutant: variant(
        "museum-go-40457",
        "what does not fit into a ring goes to the global queue without its lock",
        &[(BATCH, Engine::Rc11), (BATCH, Engine::Sc)],
    ),
    model: crate::model!("museum::go_40457::a_batch_and_a_yield", a_batch_and_a_yield,
        claim: "two that queue globally lose no G",
        size: "2 threads: a batch of 2 Gs, 1 G",
        invariants: [1, 2],
        must_reach: ["[1, 2, 3]", "[3, 1, 2]"],
        runs: [rc11(), sc()]),
};

/// A ring of two Gs whose P is to be taken away. A G's link is its own: the M that has taken it may write it.
struct Drained<H: ModelHost> {
    head: Atomic<H, u64>,
    links: [H::Cell<u64>; 3],
}

fn drained_while_robbed<H: ModelHost>() -> String {
    main_plays("owner");
    let drained = Arc::new(Drained::<H> { head: Atomic::new(0), links: [NIL, NIL, NIL].map(Cell::new) });
    let thief = party::<H, _, _>("thief", &drained, |drained| {
        // `runqgrab` of one. AcqRel: what is taken is ours, and was the owner's before.
        let taken = drained.head.compare_exchange(0, 1, AcqRel, Relaxed).is_ok();
        if taken {
            // It blocks, is readied, and is the last in the global queue.
            drained.links[1].set(NIL);
        }
        taken
    });
    let mut own = [NIL; 2];
    let mut kept = 0;
    loop {
        // `runqdrain`. Acquire: of what thieves took.
        let head = drained.head.load(Acquire);
        let link = |own: &mut [u64; 2]| {
            *own = [head + 1, 2];
            if head == 0 {
                // G1 is followed by G2.
                drained.links[1].set(2);
            }
        };
        if is_wrong("museum-go-runqdrain") {
            link(&mut own);
        }
        // AcqRel: all that is left is ours now.
        if drained.head.compare_exchange(head, 2, AcqRel, Relaxed).is_ok() {
            kept += 2 - head;
            if !is_wrong("museum-go-runqdrain") {
                link(&mut own);
            }
            break;
        }
    }
    let taken = H::join(thief);
    assert!(kept + u64::from(taken) == 2, "two Gs were there: {kept} were drained, {taken} was stolen");
    let next = drained.links[1].get();
    assert!(!taken || next == NIL, "G1 is in another queue, and its link leads to G{next}");
    assert!(taken || next == 2, "G1 was drained, and its link does not lead to G2");
    format!("drained {kept} from G{}", own[0])
}

const ROBBED: &str = "museum::go_runqdrain::drained_while_robbed";

/// The order of claim and links in `runqdrain`.
pub(super) const LINKED_BEFORE_IT_IS_OURS: Case = Case {
    exhibit: Exhibit {
        source: Source::Told,
        ..told(
            "links of Gs that were another's already",
            "golang/go runtime/proc.go, a comment at runqdrain; a thread of golang-dev",
            2020,
            "museum-go-runqdrain",
            [
                "No known user: it was found while the function was written, and a comment keeps the order.",
                "An M that empties a ring into a list writes a link into each G. If it does that before it has claimed \
                 them, a thief may have one already, and both write its link.",
                "Claim all of the ring with one exchange, then link.",
            ],
        )
    },
    mutant: variant(
        "museum-go-runqdrain",
        "an M that drains a ring links the Gs before it has claimed them",
        &[(ROBBED, Engine::Rc11), (ROBBED, Engine::Sc)],
    ),
    model: crate::model!("museum::go_runqdrain::drained_while_robbed", drained_while_robbed,
        claim: "only the M that has taken a G writes its link",
        size: "2 threads: owner, thief; 2 Gs",
        invariants: [1, 2, 7],
        must_reach: ["drained 2 from G1", "drained 1 from G2"],
        runs: [rc11(), sc()]),
};
