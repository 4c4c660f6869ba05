//! Custody of a P: one owner at every moment, through system calls, retaking, hand-off, sleep, stop; and no P sits out a stop in
//! a system call.
//!
//! A system call is an element: what its M leaves in the P's word is that element, as M and tick are in the kernel. (A tick
//! that comes round, after 2^32 takings while a thread stands between its load and its exchange, is left out.)
//!
//! A P that a thread holds to hand it on is another relation than the one under which it runs a G: an M that runs may hold a
//! second P for another M, and a thread that starts the world holds many.

mod invariant;
pub mod retakes;
mod steps;

use crate::finite::{Finite, State, Universe};
use crate::logic::{Formula, Places, Sort, all, among, not};
use crate::system::{System, Variant, nothing, places, relations};

/// Threads: Ms, the monitor, stoppers.
pub const M: Sort = Sort("M");
/// Ps.
pub const P: Sort = Sort("P");
/// System calls.
pub const C: Sort = Sort("C");

relations! {
    /// It runs under this P.
    OWNS = "owns"(M, P);
    /// It holds this P to hand it on.
    HANDS = "hands"(M, P);
    /// The P is in this M's `nextp`.
    NEXTP = "nextp"(M, P);
    /// The P is on the idle list.
    IDLE = "idle"(P);
    /// It is held for the stopper.
    HELD = "held"(P);
    /// Its word says that its M is in this system call.
    WORD = "word"(P, C);
    /// This thread has stored that into the word, and the store is in its store buffer.
    PUTS = "puts_buffered"(M, P, C);
    /// This thread is in this system call.
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
    /// The world is to stop. Under the lock.
    STOPPING = "stopping"();
    /// `wanted` says so.
    WANTED = "wanted"();
    /// This stopper's store to `wanted` is in its store buffer.
    ASKS = "asks_buffered"(M);
    /// This stopper has looked at the word of this P.
    SCANNED = "scanned"(M, P);
}

places! {
    /// It runs no G: an M without a P, or any other thread.
    OUT;
    /// An M sleeps, until its `nextp` is set.
    ASLEEP;
    /// An M runs under a P.
    RUN;
    /// It has left its P in the word, and has yet to pass the StoreLoad.
    ENTERED;
    /// It has passed it, and asks whether its P is wanted.
    CHECKS;
    /// Its P is wanted: it takes it back, to hand it off.
    GIVES;
    /// It is in a system call.
    INSIDE;
    /// It is back, and its P is gone.
    BACK;
    /// It is back, and has seen its old P in another's call.
    TAKES_BACK;
    /// The monitor has seen a P in a system call.
    RETAKES;
    /// A stopper: all that were idle are held; it has yet to pass the StoreLoad.
    SAYS;
    /// A stopper that looks at the words.
    SCANS;
    /// It has seen a P in a word.
    SEES;
    /// It has looked at all words, and sleeps until all Ps are held.
    WAITS;
    /// The world is stopped.
    STOPPED;
    /// Wrong: an M that has read `wanted` before it leaves its P.
    READ_FIRST;
    /// Wrong: an M that has seen its P in its word, and keeps it.
    KEEPS;
}

/// Those that stop the world.
pub const STOPPERS: Places = Places::of(&[SAYS, SCANS, SEES, WAITS, STOPPED]);
const OWNERS: Places = Places::of(&[RUN, READ_FIRST]);
const CALLERS: Places = Places::of(&[ENTERED, CHECKS, GIVES, INSIDE, KEEPS]);
const GIVERS: Places = Places::of(&[ENTERED, CHECKS, GIVES]);

/// The protocol; or with one step wrong, if `variant` names it.
pub fn system(variant: &str) -> System {
    System {
        name: "custody",
        about: "custody of a P: one owner at every moment, and none sits out a stop in a system call",
        memory: "TSO-like store buffers",
        sorts: &[M, P, C],
        places: PLACES,
        relations: RELATIONS,
        axioms: Vec::new(),
        initial: initial(),
        begins,
        transitions: steps::steps(variant),
        invariant: invariant::invariant(),
        safety: invariant::safety(),
        sizes: &[&[2, 1, 1], &[2, 1, 2], &[2, 2, 2], &[3, 2, 2]],
    }
}

fn initial() -> Vec<Formula> {
    let mut facts = vec![all("m", M, |m| among(m, Places::of(&[OUT, ASLEEP]))), all("p", P, |p| IDLE.of([p]))];
    facts.extend(RELATIONS.iter().filter(|rel| **rel != IDLE).map(|rel| match rel.sorts {
        [] => not(Formula::Rel(*rel, Vec::new())),
        _ => nothing(*rel),
    }));
    facts
}

fn begins(system: &System, sizes: Universe) -> Vec<State> {
    let finite = Finite::new(system, sizes);
    let mut state = State::EMPTY;
    (0..sizes[1] as u8).for_each(|p| finite.put(&mut state, IDLE, &[p], true));
    vec![state]
}

/// Wrong in so many steps; 0: no execution was found that goes wrong.
const fn wrong(steps: usize, name: &'static str, what: &'static str, known: &'static str) -> Variant {
    Variant { name, what, known, sizes: &[2, 1, 1], steps: if steps == 0 { None } else { Some(steps) } }
}

/// Wrong variants.
pub const WRONG: &[Variant] = &[
    wrong(9, "no-entering-fence", "entersyscall without its StoreLoad", "mutant syscall-no-entering-fence"),
    wrong(
        9,
        "no-stopping-fence",
        "stop without its StoreLoad",
        "mutants syscall-no-stopping-fence, stw-no-stopper-fence",
    ),
    wrong(
        8,
        "reads-before-it-writes",
        "an M that enters reads whether its P is wanted, then leaves it in its word",
        "mistake of protocol/syscall.rs; Go 1.27's reentersyscall",
    ),
    Variant {
        sizes: &[2, 1, 2],
        ..wrong(9, "take-without-tick", "a retaker compares the M, but not the call", "mistake of protocol/syscall.rs")
    },
    wrong(7, "retake-by-store", "a retaker loads the word, then stores", "mistake of protocol/syscall.rs"),
    wrong(
        8,
        "exit-without-its-exchange",
        "an M that returns keeps its P if a load says that it is still there",
        "mistake of protocol/syscall.rs",
    ),
    wrong(
        6,
        "forgets-the-stop",
        "a P that is handed off is idled although the world is to stop",
        "mistake of sched/handoff.rs",
    ),
    wrong(
        8,
        "takes-without-an-exchange",
        "a stopper that sees a P in a system call holds it without an exchange",
        "mistake of protocol/syscall.rs",
    ),
    wrong(
        9,
        "scans-before-it-says",
        "a stopper looks at the words, then says that it stops",
        "mistake of protocol/stw/mod.rs",
    ),
    wrong(4, "takes-nextp-without-an-exchange", "an M that wakes leaves its P in its nextp", ""),
];

/// Changes that are right.
pub const RIGHT: &[Variant] = &[];
