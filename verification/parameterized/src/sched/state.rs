//! The state of the scheduler: where each thread is, and what it holds.

use crate::logic::{Formula, Places, Sort, Var, all, among, and, at, not, or, some};
use crate::system::{places, relations};

/// Threads: Ms, and those of the embedder that submit, or stop the world.
pub const M: Sort = Sort("M");
/// Ps.
pub const P: Sort = Sort("P");
/// Gs.
pub const G: Sort = Sort("G");

relations! {
    /// It is one of those that `nmspinning` counts.
    COUNTED = "counted"(M);
    /// It holds the scheduler's lock from one step to the next.
    LOCKS = "locks"(M);
    /// Its clear of `needspinning` is in its store buffer.
    CLEARS = "clears_buffered"(M);
    /// It has found the global queue empty, in this scan.
    SAW_GLOBAL = "saw_global"(M);
    /// It has found this ring empty, in this scan.
    SAW_RING = "saw_ring"(M, P);
    /// It holds this P, to run Gs.
    OWNS = "owns"(M, P);
    /// It holds this P, to pass it on.
    HANDS = "hands"(M, P);
    /// It has put this G into its P's ring, and the store is in its store buffer.
    PUTS = "puts_buffered"(M, G);
    /// It has put this G into the global queue, and the store of the length is in its store buffer.
    PUTS_GLOBAL = "puts_global_buffered"(M, G);
    /// It has taken this G out of `runnext`, or of its full ring, to put it into the ring or the global queue.
    SPILLS = "in_hand"(M, G);
    /// It has yielded this G under its own P, woke no M, and searches next.
    YIELDED = "yielded"(M, G);
    /// It has started the world, and has this P, in whose ring there are Gs, to be run by another M.
    STARTS = "starts"(M, P);
    /// It is on the idle list.
    IDLE = "idle"(P);
    /// It is held for a stopper.
    HELD = "held"(P);
    /// It is none of the Ps that there are: a resize has ended it, or may begin it.
    SPARE = "spare"(P);
    /// The world is to stop.
    STOPPING = "stopping"();
    /// It is in no queue, and no thread is about to put it into one: it is new, runs, or waits.
    UNQUEUED = "unqueued"(G);
    /// It is in the global queue.
    GLOBAL = "global"(G);
    /// It is in this P's ring, or its `runnext`.
    RING = "ring"(G, P);
    /// `needspinning`.
    NEED = "needspinning"();
    /// It is in the line of stoppers.
    IN_LINE = "in_line"(M);
    /// It came into the line before that one.
    AHEAD = "ahead"(M, M);
    /// Its parker was unparked, and it has not parked since.
    TOKEN = "token"(M);
    /// It has noted, under the lock, that it has to wake that stopper.
    OWES = "owes_a_wake"(M, M);
    /// What a step moves at once: as it likes, and nothing between steps.
    BATCH = "batch"(G);
}

places! {
    /// Without a P: a thread of the embedder, or an M whose G is in a system call.
    OUT;
    /// An M that was never started, or has ended.
    NEW;
    /// It sleeps, on the list.
    ASLEEP;
    /// It runs a G.
    RUN;
    /// Its G is in a short system call; its P is in the P's word.
    SYSCALL;
    /// It has taken Gs out of its full ring.
    SPILL;
    /// It has put a G into `runnext`, and has the G that was there in its hands.
    KICKS;
    /// It has queued a G.
    QUEUED;
    /// It has passed the StoreLoad of `wakep`.
    FENCED;
    /// It has read that no M is counted.
    ELECT;
    /// It has read that a spinning M is asked for.
    REQUESTED;
    /// It has read that a spinning M is asked for, and that a P is idle all the same.
    SEES_IDLE;
    /// It is counted, and looks for an idle P.
    ELECTED;
    /// There is none: it lowers its count. Under the lock.
    LOWER;
    /// It asks for a spinning M. Under the lock.
    ASK;
    /// It has a P for an M that is to spin.
    START;
    /// It has a P for an M that is not.
    START_UNCOUNTED;
    /// No M is available: it puts the P's Gs into the global queue. Under the lock.
    REFUSED_DRAIN;
    /// No M is available: it has idled the P, and lowers its count. Under the lock.
    REFUSED_LOWER;
    /// No M is available: it asks for a spinning M. Under the lock.
    REFUSED_ASK;
    /// It hands a P off.
    HAND_OFF;
    /// It looks for a G, and does not spin.
    SEARCH;
    /// It has just been counted, and clears `needspinning`.
    CLEAR;
    /// It spins.
    SPIN;
    /// It spins, and has found a G.
    FOUND;
    /// It is about to idle its P, and no other is idle: it reads the count. Under the lock.
    RECHECK;
    /// It idles its P. Under the lock.
    IDLES;
    /// It has read that a spinning M is asked for. Under the lock.
    SEES_NEED;
    /// As SEES_NEED, of a P that it hands off.
    HAND_SEES_NEED;
    /// It was asked to spin, is counted, and clears `needspinning`. Under the lock.
    CALLED;
    /// As RECHECK, of a P that it hands off.
    HAND_RECHECK;
    /// As IDLES, of a P that it hands off.
    HAND_IDLES;
    /// As CALLED, for the M that gets the P.
    HAND_CALLED;
    /// Wrong: it has read, before it takes the lock, that another looks, or that a P is idle.
    HAND_TRUSTS;
    /// Wrong: it is back from a system call, and has seen, under an earlier hold of the lock, that no P is idle.
    SAW_NO_P;
    /// Wrong: it has read that no P is idle, and puts Gs into its ring.
    SAW_NONE_IDLE;
    /// It is counted, and has idled its P.
    IDLED;
    /// It has found a G, was the last that was counted, and scans.
    SCAN_FOUND;
    /// It has left the count without a G, and scans.
    SCAN_RETIRED;
    /// It has seen work, and looks for an idle P.
    SAW_WORK;
    /// It has one.
    GOT_P;
    /// It is about to sleep.
    REST;
    /// It spins, and has seen that the world is to stop: it leaves the count. Under the lock.
    GIVES_UP;
    /// A stopper that asks whether it is the first in the line.
    ASKS;
    /// It sleeps until it is.
    SLEEPS_IN_LINE;
    /// It is the first.
    FIRST;
    /// It has said that the world is to stop, and asks whether every P is held.
    WAITS;
    /// It has taken a P out of a system call.
    HOLDS;
    /// It sleeps until every P is held.
    SLEEPS;
    /// The world is stopped.
    STOPPED;
    /// An M that is back from the poller, with a P and one G in hand.
    INJECTS_ONE;
    /// The same with more.
    INJECTS;
    /// It has put what sources or the poller have into its ring, and has yet to wake an M.
    TURNS;
    /// Wrong: it holds a P for another M, and waits for the world to start.
    WAITS_FOR_START;
    /// Wrong: it has left the line before the world runs.
    LEFT_EARLY;
}

/// Where it is counted.
pub const COUNTING: Places = Places::of(&[
    ELECTED,
    LOWER,
    START,
    REFUSED_DRAIN,
    REFUSED_LOWER,
    CLEAR,
    SPIN,
    FOUND,
    CALLED,
    HAND_CALLED,
    IDLED,
    GIVES_UP,
]);
/// Where it holds the lock.
pub const LOCKING: Places = Places::of(&[
    LOWER,
    ASK,
    REFUSED_DRAIN,
    REFUSED_LOWER,
    REFUSED_ASK,
    RECHECK,
    IDLES,
    SEES_NEED,
    CALLED,
    HAND_RECHECK,
    HAND_IDLES,
    HAND_SEES_NEED,
    HAND_CALLED,
    GIVES_UP,
]);
/// Where it will look for Gs everywhere, or will see to it that another M does: at [`REQUESTED`] too, if a P is idle.
pub const ANSWERING: Places = Places::of(&[
    QUEUED,
    FENCED,
    ELECT,
    REQUESTED,
    SEES_IDLE,
    ELECTED,
    START,
    CLEAR,
    SPIN,
    FOUND,
    SEES_NEED,
    HAND_SEES_NEED,
    CALLED,
    HAND_CALLED,
    IDLED,
    SAW_WORK,
    GOT_P,
    SPILL,
    KICKS,
    INJECTS,
    TURNS,
]);
/// Where it owns no P.
pub const WITHOUT_P: Places = Places::of(&[
    OUT,
    NEW,
    ASLEEP,
    REST,
    IDLED,
    SCAN_RETIRED,
    SAW_WORK,
    HAND_OFF,
    HAND_RECHECK,
    HAND_IDLES,
    HAND_SEES_NEED,
    HAND_CALLED,
    HAND_TRUSTS,
    START_UNCOUNTED,
    SLEEPS_IN_LINE,
    WAITS,
    HOLDS,
    SLEEPS,
    STOPPED,
    WAITS_FOR_START,
    LEFT_EARLY,
]);
/// Where it owns one.
pub const WITH_P: Places = Places::of(&[
    RUN,
    SYSCALL,
    KICKS,
    SEARCH,
    CLEAR,
    SPIN,
    FOUND,
    RECHECK,
    SEES_NEED,
    CALLED,
    SCAN_FOUND,
    GOT_P,
    INJECTS_ONE,
    INJECTS,
    TURNS,
]);
/// Where it may hold a P to pass it on.
pub const HANDING: Places = Places::of(&[
    HAND_OFF,
    HAND_TRUSTS,
    HAND_RECHECK,
    HAND_IDLES,
    HAND_SEES_NEED,
    HAND_CALLED,
    START,
    START_UNCOUNTED,
    REFUSED_DRAIN,
    HOLDS,
]);
/// Where a stopper has its turn.
pub const SERVED: Places = Places::of(&[FIRST, WAITS, HOLDS, SLEEPS, STOPPED]);
/// Where it does nothing for others now.
pub const SLEEPERS: Places = Places::of(&[NEW, ASLEEP, SLEEPS_IN_LINE, SLEEPS, STOPPED, WAITS_FOR_START]);
/// Where no M is available to it.
pub const REFUSED: Places = Places::of(&[REFUSED_DRAIN, REFUSED_LOWER, REFUSED_ASK]);
/// Where it scans.
pub const SCANNING: Places = Places::of(&[SCAN_FOUND, SCAN_RETIRED]);
/// Where it may do anything: it runs a G, or is out.
pub const OUTSIDE: Places = Places::of(&[RUN, OUT]);
/// Where it is about to idle a P. Under the lock.
pub const IDLING: Places = Places::of(&[RECHECK, IDLES, HAND_RECHECK, HAND_IDLES]);
/// Where a stopper has said that the world is to stop, and has not started it.
pub const STOPPERS: Places = Places::of(&[WAITS, HOLDS, SLEEPS, STOPPED]);
/// Where it searches, with a P.
pub const SEARCHING: Places = Places::of(&[SEARCH, SPIN]);

/// `nmspinning` is 0.
pub fn none_counted() -> Formula {
    all("c", M, |c| not(COUNTED.of([c])))
}

/// The lock is free.
pub fn lock_is_free() -> Formula {
    all("h", M, |h| not(LOCKS.of([h])))
}

/// A P is on the idle list.
pub fn some_idle() -> Formula {
    some("i", P, |i| IDLE.of([i]))
}

/// It has no G in hand.
pub fn has_none_in_hand(m: Var) -> Formula {
    all("h", G, |h| not(SPILLS.of([m, h])))
}

/// The global queue shows a G.
pub fn global_shows() -> Formula {
    some("g", G, |g| GLOBAL.of([g]))
}

/// This ring shows a G.
pub fn ring_shows(p: Var) -> Formula {
    some("g", G, |g| RING.of([g, p]))
}

/// It holds a P, to run Gs.
pub fn has_p(m: Var) -> Formula {
    some("p", P, |p| OWNS.of([m, p]))
}

/// It answers for every G that is queued anywhere.
pub fn answers(m: Var) -> Formula {
    among(m, ANSWERING)
}

/// It answers for the Gs in this ring, whether a P is idle already or not.
pub fn answers_in_any_case(m: Var, p: Var) -> Formula {
    and([answers_for_ring(m, p), not(at(m, REQUESTED))])
}

/// It answers for the Gs in the global queue.
pub fn answers_for_global(m: Var) -> Formula {
    or([answers(m), and([among(m, SCANNING), not(SAW_GLOBAL.of([m]))])])
}

/// It answers for the Gs in this ring.
pub fn answers_for_ring(m: Var, p: Var) -> Formula {
    or([answers(m), and([among(m, SCANNING), not(SAW_RING.of([m, p]))])])
}

/// No M was available, or none sleeps any more: the next M that idles its P, or wants to sleep, will spin.
pub fn will_be_called() -> Formula {
    let asks = some("r", M, |r| among(r, REFUSED));
    and([or([NEED.of([]), asks]), all("s", M, |s| not(among(s, Places::of(&[ASLEEP]))))])
}

/// A P is being idled.
pub fn some_being_idled() -> Formula {
    some("i", M, |i| among(i, Places::of(&[IDLES, HAND_IDLES])))
}
