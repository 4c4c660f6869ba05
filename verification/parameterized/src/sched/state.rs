//! The state of the scheduler: where each thread is, and what it holds.

pub use super::places::*;
use crate::logic::{Formula, Places, Sort, Var, all, among, and, at, not, or, some};
use crate::system::relations;

/// Threads: Ms, and those of the embedder that submit, or stop the world.
pub const M: Sort = Sort("M");
/// Ps.
pub const P: Sort = Sort("P");
/// Gs.
pub const G: Sort = Sort("G");
/// System calls: what an M leaves in its P's word, an M and a tick in the kernel. (A tick that comes round, after 2^32 takings while
/// a thread stands between its load and its exchange, is left out.)
pub const C: Sort = Sort("C");

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
    /// The P is in this M's `nextp`.
    NEXTP = "nextp"(M, P);
    /// It has set the `nextp` of that M, which has no thread yet.
    RESERVES = "reserves"(M, M);
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
    /// The P's word says that its M is in this system call.
    WORD = "word"(P, C);
    /// This thread has stored that into the word, and the store is in its store buffer.
    LEAVES = "leaves_buffered"(M, P, C);
    /// This thread is in this system call, and has left its P in a word.
    IN = "in_call"(M, C);
    /// There was such a call.
    MADE = "made"(C);
    /// This M made the call. Only a wrong variant asks, and a trace.
    BY = "made_by"(C, M);
    /// The call is none: a G that ignores preemption was interrupted. The stopper may miss it, and the monitor will not.
    DETACHED = "detached"(C);
    /// This thread has read the word of this P, and found this call there.
    SEEN = "seen"(M, P, C);
    /// A P was taken out of another call than the one that was seen.
    MISTAKEN = "mistaken"();
    /// `wanted` says that the world is to stop.
    WANTED = "wanted"();
    /// This stopper's store to `wanted` is in its store buffer.
    REQUESTS = "requests_buffered"(M);
    /// This stopper has looked at the word of this P.
    SCANNED = "scanned"(M, P);
    /// What a step moves at once: as it likes, and nothing between steps.
    BATCH = "batch"(G);
}

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

/// It holds this P: to run Gs, to pass it on, or in its `nextp`.
pub fn has(m: Var, p: Var) -> Formula {
    or([OWNS, HANDS, STARTS, NEXTP].map(|rel| rel.of([m, p])))
}

/// The P is in its word, or about to be.
pub fn in_word(p: Var, c: Var) -> Formula {
    or([WORD.of([p, c]), some("w", M, |w| LEAVES.of([w, p, c]))])
}

/// It is in a system call, and has left its P in a word.
pub fn in_call(m: Var) -> Formula {
    some("c", C, |c| IN.of([m, c]))
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
