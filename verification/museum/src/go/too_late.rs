//! What is read after it is no longer ours.

use crate::common::{Cell, Engine, Exhibit, ModelHost, Source, is_wrong, main_plays, party, rc11, sc};
use crate::go::{Case, told, variant};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::Lock;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// To which M a G is bound: to none, or to that.
const NONE: u64 = 0;
const OTHER_M: u64 = 2;

struct Returned<H: ModelHost> {
    /// `sched.lock`: is the G in the global queue?
    global: H::Lock<bool>,
    /// `gp.lockedm`.
    lockedm: Atomic<H, u64>,
}

fn it_locks_another_thread<H: ModelHost>() -> String {
    main_plays("returner");
    let g = Arc::new(Returned::<H> { global: H::Lock::new(false), lockedm: Atomic::new(NONE) });
    let other = party::<H, _, _>("other m", &g, |g| {
        // `findRunnable`.
        let found = g.global.with(std::mem::take);
        if found {
            // The G calls `LockOSThread` here. Relaxed: the lock orders the Ms that have the G.
            g.lockedm.store(OTHER_M, Relaxed);
        }
        found
    });
    // `exitsyscall0`: no P is idle. Is the G bound? Relaxed: it is ours.
    let mut lockedm = g.lockedm.load(Relaxed);
    g.global.with(|queued| *queued = true);
    if is_wrong("museum-go-46524") {
        // Relaxed: wrong. The G may be another's.
        lockedm = g.lockedm.load(Relaxed);
    }
    // `stoplockedm`, if it is; this M has no G that is bound to it. Else `stopm`.
    assert!(lockedm == NONE, "stoplockedm: inconsistent locking");
    let ran = H::join(other);
    if ran { "the other m ran it" } else { "it is queued" }.to_owned()
}

const ANOTHER: &str = "museum::go_46524::it_locks_another_thread";

/// #46524.
pub(super) const NO_LONGER_OURS: Case = Case {
    exhibit: Exhibit {
        source: Source::OurReading,
        ..told(
            "a G that was asked after it was given away",
            "golang/go#46524",
            2021,
            "museum-go-46524",
            [
                "Go's builders crashed now and then: stoplockedm, inconsistent locking.",
                "An M that returns from a system call and finds no P queues its G, and then read whether the G is \
                 bound to it. Another M may run the G by then, and the G bind itself to that one.",
                "Read it before the G is queued.",
            ],
        )
    },
    mutant: variant(
        "museum-go-46524",
        "whether a G is bound is read after the G was queued",
        &[(ANOTHER, Engine::Rc11), (ANOTHER, Engine::Sc)],
    ),
    model: crate::model!("museum::go_46524::it_locks_another_thread", it_locks_another_thread,
        claim: "an M that queues its G does not take it for bound because it binds itself to another",
        size: "2 threads: an M that returns, another; 1 G",
        invariants: [19],
        must_reach: ["the other m ran it", "it is queued"],
        runs: [rc11(), sc()]),
};

/// What stands in memory that is used for something else by now.
const REUSED: u64 = 999;

/// An M that looks at all Ps once more, without one of its own, while the number of Ps changes.
struct Resized<H: ModelHost> {
    /// `sched.lock`: has the M a P? Then a stop of the world waits for it.
    m_has_p: H::Lock<bool>,
    /// The backing array of `allp`, as it was.
    old: H::Cell<u64>,
    /// `m.allpSnapshot`: what the collector finds.
    kept: Atomic<H, bool>,
}

fn resized_and_collected<H: ModelHost>() -> String {
    main_plays("collector");
    let all = Arc::new(Resized::<H> { m_has_p: H::Lock::new(true), old: Cell::new(7), kept: Atomic::new(false) });
    let looker = party::<H, _, _>("looker", &all, |all| {
        // `findRunnable`: the snapshot, which is kept in the M, and not on a stack that is not scanned.
        if !is_wrong("museum-go-74414") {
            // Relaxed: the lock publishes it.
            all.kept.store(true, Relaxed);
        }
        // `pidleput`.
        all.m_has_p.with(|has_p| *has_p = false);
        // `checkRunqsNoP`.
        let p = all.old.get();
        // `clearAllpSnapshot`. Release: a stopper that finds it cleared comes after the look.
        all.kept.store(false, Release);
        p
    });
    // `GOMAXPROCS`: a stop of the world waits for an M that has a P, and for no other.
    let stops = all.m_has_p.with(|has_p| !*has_p);
    // A collection: is the old array found anywhere? Acquire: if it is not any more, the look at it is over.
    let frees = stops && !all.kept.load(Acquire);
    if frees {
        // That memory is used again.
        all.old.set(REUSED);
    }
    let p = H::join(looker);
    assert!(p == 7, "the M looked at P {p} in memory that was freed");
    format!("stopped {stops}, freed {frees}")
}

const COLLECTED: &str = "museum::go_74414::resized_and_collected";

/// #74414.
pub(super) const FREED_SNAPSHOT: Case = Case {
    exhibit: told(
        "a snapshot that the collector did not find",
        "golang/go#74414",
        2025,
        "museum-go-74414",
        [
            "Reported by one of its authors: an M may follow pointers in memory that is used for something else.",
            "An M that gives its P up keeps the array of all Ps on its own system stack to look at it once more. \
             Without a P it is not stopped when the number of Ps changes, nor is that stack scanned: the array is \
             freed.",
            "The M keeps it in a field that the collector reads.",
        ],
    ),
    mutant: variant(
        "museum-go-74414",
        "an M without a P looks at an array that nothing keeps alive",
        &[(COLLECTED, Engine::Rc11), (COLLECTED, Engine::Sc)],
    ),
    model: crate::model!("museum::go_74414::resized_and_collected", resized_and_collected,
        claim: "an array of Ps that an M looks at is not freed",
        size: "2 threads: collector, an M that looks; 1 array",
        invariants: [27],
        must_reach: ["stopped true, freed false", "stopped true, freed true", "stopped false"],
        runs: [rc11(), sc()]),
};
