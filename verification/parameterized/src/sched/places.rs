//! Where a thread of the scheduler is.

use crate::logic::Places;
use crate::system::places;

places! {
    /// Without a P: a thread of the embedder, or an M whose G is in a system call.
    OUT;
    /// An M that was never started, or has ended.
    NEW;
    /// It sleeps, on the list.
    ASLEEP;
    /// Its number is taken and its `nextp` set, and it has no thread yet.
    RESERVED;
    /// Its `nextp` is set, and it is to wake, or its thread begins: it searches.
    WOKEN;
    /// The same, and it is counted.
    WOKEN_COUNTED;
    /// It runs a G.
    RUN;
    /// It has left its P in the P's word, to enter a system call, and has yet to pass the StoreLoad.
    ENTERED;
    /// It has passed it, and asks whether its P is wanted.
    CHECKS;
    /// Its P is wanted: it takes it back, to hand it off.
    GIVES;
    /// It is in a system call.
    INSIDE;
    /// It is back, its P is gone, and it has seen that P in another's call.
    TAKES_BACK;
    /// The monitor has seen a P in a system call.
    RETAKES;
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
    /// It has set the `nextp` of an M that has no thread yet, for a P for an M that is to spin.
    NEWM;
    /// The same, for an M that is not.
    NEWM_UNCOUNTED;
    /// There is no thread for that M: it asks, under the lock, for one that has fallen asleep meanwhile.
    NO_THREAD;
    /// The same, for an M that is not to spin.
    NO_THREAD_UNCOUNTED;
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
    /// It holds each P that was idle, and says that the world is to stop; it has yet to pass the StoreLoad.
    SAYS;
    /// It has passed it, and looks at the words.
    SCANS;
    /// It has seen a P in a word.
    SEES;
    /// It has taken that P out of its system call.
    HOLDS;
    /// It has looked at all words, and asks whether every P is held.
    WAITS;
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
    /// Wrong: it has read `wanted` before it leaves its P in the word.
    READ_FIRST;
    /// Wrong: it has seen its P in the word, and keeps it.
    KEEPS;
}

/// Where it hands a P off.
const HANDING_OFF: Places = Places::of(&[HAND_OFF, HAND_TRUSTS, HAND_RECHECK, HAND_IDLES, HAND_SEES_NEED, HAND_CALLED]);
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
    WOKEN_COUNTED,
    NEWM,
    NO_THREAD,
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
    WOKEN_COUNTED,
    NEWM,
    NO_THREAD,
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
    START_UNCOUNTED,
    SLEEPS_IN_LINE,
    WAITS_FOR_START,
    LEFT_EARLY,
    WOKEN,
    WOKEN_COUNTED,
    INSIDE,
    TAKES_BACK,
    RETAKES,
    KEEPS,
    RESERVED,
    NEWM_UNCOUNTED,
    NO_THREAD_UNCOUNTED,
])
.and(HANDING_OFF)
.and(GIVERS)
.and(STOPPERS);
/// Where it owns one.
pub const WITH_P: Places = Places::of(&[
    RUN,
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
pub const HANDING: Places =
    Places::of(&[START, START_UNCOUNTED, REFUSED_DRAIN, HOLDS, NO_THREAD, NO_THREAD_UNCOUNTED]).and(HANDING_OFF);
/// Where a stopper has its turn.
pub const SERVED: Places = STOPPERS.and(Places::of(&[FIRST]));
/// Where it does nothing for others now.
pub const SLEEPERS: Places = Places::of(&[NEW, RESERVED, ASLEEP, SLEEPS_IN_LINE, SLEEPS, STOPPED, WAITS_FOR_START]);
/// Where no M is available to it.
pub const REFUSED: Places = Places::of(&[REFUSED_DRAIN, REFUSED_LOWER, REFUSED_ASK]);
/// Where it scans.
pub const SCANNING: Places = Places::of(&[SCAN_FOUND, SCAN_RETIRED]);
/// Where it may do anything: it runs a G, is out, or in a system call.
pub const OUTSIDE: Places = Places::of(&[RUN, OUT, INSIDE]);
/// Where its `nextp` is set, and it has a thread.
pub const WOKENS: Places = Places::of(&[WOKEN, WOKEN_COUNTED]);
/// Where it starts the thread of an M.
pub const STARTING: Places = Places::of(&[NEWM, NEWM_UNCOUNTED]);
/// Where its P is in a word and it will look whether the P is wanted.
pub const GIVERS: Places = Places::of(&[ENTERED, CHECKS, GIVES]);
/// Where its system call may have been seen in a word, and no more.
pub const SEEING: Places = Places::of(&[SEES, RETAKES, TAKES_BACK, KEEPS]);
/// Where a stopper has passed its StoreLoad, and the world is not stopped yet.
pub const LOOKERS: Places = WAITERS.and(Places::of(&[SCANS, SEES, HOLDS]));
/// Where it has looked at every word.
pub const WAITERS: Places = Places::of(&[WAITS, SLEEPS]);
/// Where it may be in a system call: it enters one, hands off the P that it has taken back, or queues Gs.
pub const CALLERS: Places = Places::of(&[
    INSIDE,
    KEEPS,
    START,
    START_UNCOUNTED,
    QUEUED,
    FENCED,
    ELECT,
    REQUESTED,
    SEES_IDLE,
    ELECTED,
    LOWER,
    ASK,
    NO_THREAD,
    NO_THREAD_UNCOUNTED,
])
.and(GIVERS)
.and(HANDING_OFF)
.and(REFUSED)
.and(STARTING);
/// Where it is about to idle a P. Under the lock.
pub const IDLING: Places = Places::of(&[RECHECK, IDLES, HAND_RECHECK, HAND_IDLES]);
/// Where a stopper has said that the world is to stop, and has not started it.
pub const STOPPERS: Places = LOOKERS.and(Places::of(&[SAYS, STOPPED]));
/// Where it searches, with a P.
pub const SEARCHING: Places = Places::of(&[SEARCH, SPIN]);
