//! A guard that is entered without having seen what was done before it was left: each of these needs a machine that is
//! weaker than a PC, or a compiler that makes use of what it may do.

use crate::common::{Cell, Exhibit, Model, ModelHost, Mutant, Source, is_wrong, main_plays, party, rc11, sc};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::Parker;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

const WRITER: u64 = 1 << 8;

/// parking_lot's `RwLock`, held by a reader, and what it guards.
struct RwLock<H: ModelHost> {
    /// Whether a writer has it, or will as soon as the readers, of which this is the number, are gone.
    state: Atomic<H, u64>,
    data: H::Cell<u64>,
    parker: H::Parker,
}

impl<H: ModelHost> RwLock<H> {
    /// Reads, and `unlock_shared`.
    fn read(&self) -> u64 {
        let data = self.data.get();
        // Release: a writer comes after this reading.
        if self.state.fetch_sub(1, Release) == WRITER + 1 {
            self.parker.unpark();
        }
        data
    }

    /// `lock_exclusive`: takes the writer's bit, and `wait_for_readers`. Then it writes. Did it sleep?
    fn write(&self) -> bool {
        // Acquire: comes after the last writer.
        let mut state = self.state.fetch_add(WRITER, Acquire) + WRITER;
        let slept = state != WRITER;
        while state != WRITER {
            let seen = match is_wrong("museum-parking-lot-257") {
                // Relaxed: that no reader is left, but not that they are done.
                true => self.state.load(Relaxed),
                // Acquire: comes after the last reader.
                false => self.state.load(Acquire),
            };
            if seen != WRITER {
                self.parker.park();
            }
            state = seen;
        }
        self.data.set(self.data.get() + 1);
        slept
    }
}

fn a_writer_waits_for_a_reader<H: ModelHost>() -> String {
    main_plays("writer");
    let lock = Arc::new(RwLock::<H> { state: Atomic::new(1), data: Cell::new(0), parker: H::Parker::new() });
    let reader = party::<H, _, _>("reader", &lock, RwLock::read);
    let waited = lock.write();
    assert!(H::join(reader) == 0, "a reader reads what is written while it reads");
    format!("waited {waited}")
}

const LOCKED: u64 = 1;
const QUEUED: u64 = 2;

/// parking_lot's `WordLock`, which guards the buckets; of its queue there is only one.
struct WordLock<H: ModelHost> {
    state: Atomic<H, u64>,
    data: H::Cell<u64>,
    parker: H::Parker,
}

impl<H: ModelHost> WordLock<H> {
    /// Takes the lock, adds, and lets go.
    fn add(&self, may_queue: bool) -> &'static str {
        let mut end = "at once";
        // Acquire: comes after the last owner. Relaxed: on to `lock_slow`.
        while self.state.compare_exchange(0, LOCKED, Acquire, Relaxed).is_err() {
            end = "later";
            // `lock_slow`. Relaxed: only what to try.
            let state = self.state.load(Relaxed);
            if state & LOCKED == 0 {
                let taken = match is_wrong("museum-parking-lot-292") {
                    // Release: it takes the lock, and sees nothing.
                    true => self.state.compare_exchange(state, state | LOCKED, Release, Relaxed),
                    // Acquire: as above. Relaxed: as above.
                    false => self.state.compare_exchange(state, state | LOCKED, Acquire, Relaxed),
                };
                if taken.is_ok() {
                    break;
                }
            } else if may_queue {
                // AcqRel: queues. Relaxed: it is another state by now.
                if self.state.compare_exchange(state, state | QUEUED, AcqRel, Relaxed).is_ok() {
                    self.parker.park();
                }
            }
        }
        self.data.set(self.data.get() + 1);
        // Release: the next owner comes after this.
        if self.state.swap(0, Release) & QUEUED != 0 {
            self.parker.unpark();
        }
        end
    }
}

fn a_word_is_locked_late<H: ModelHost>() -> String {
    main_plays("late");
    // The other has it.
    let lock = WordLock::<H> { state: Atomic::new(LOCKED), data: Cell::new(0), parker: H::Parker::new() };
    let lock = Arc::new(lock);
    let holder = party::<H, _, _>("holder", &lock, |lock| {
        lock.data.set(lock.data.get() + 1);
        // Release: as above.
        if lock.state.swap(0, Release) & QUEUED != 0 {
            lock.parker.unpark();
        }
    });
    let end = lock.add(true);
    H::join(holder);
    assert!(lock.data.get() == 2, "one of two additions is lost");
    end.to_owned()
}

/// A slot of crossbeam's Michael-Scott queue, in which a thread waits for a value.
struct Signal<H: ModelHost> {
    ready: Atomic<H, bool>,
    value: H::Cell<u64>,
    parker: H::Parker,
}

fn a_value_comes_as_its_receiver_parks<H: ModelHost>() -> String {
    main_plays("receiver");
    let signal = Signal::<H> { ready: Atomic::new(false), value: Cell::new(0), parker: H::Parker::new() };
    let signal = Arc::new(signal);
    let pusher = party::<H, _, _>("pusher", &signal, |signal| {
        signal.value.set(42);
        match is_wrong("museum-crossbeam-97") {
            // Relaxed: the unpark releases. But a receiver that did not sleep has not seen it.
            true => signal.ready.store(true, Relaxed),
            // Release: publishes the value.
            false => signal.ready.store(true, Release),
        }
        signal.parker.unpark();
    });
    let mut parked = 0;
    // Acquire: takes the value.
    while !signal.ready.load(Acquire) {
        signal.parker.park();
        parked += 1;
    }
    assert!(signal.value.get() == 42, "a slot is ready, and its value is not there");
    H::join(pusher);
    format!("parked {parked} times")
}

const RW_LOCK: &str = "museum::parking_lot_257::a_writer_waits_for_a_reader";
const WORD_LOCK: &str = "museum::parking_lot_292::a_word_is_locked_late";
const SIGNAL: &str = "museum::crossbeam_97::a_value_comes_as_its_receiver_parks";

/// The variants' models.
pub const MODELS: &[Model] = &[
    crate::model!("museum::parking_lot_257::a_writer_waits_for_a_reader", a_writer_waits_for_a_reader,
        claim: "a writer that finds the readers gone comes after their reading",
        size: "2 threads, 1 lock",
        invariants: [],
        must_reach: ["waited true", "waited false"],
        runs: [rc11(), sc()]),
    crate::model!("museum::parking_lot_292::a_word_is_locked_late", a_word_is_locked_late,
        claim: "a thread that takes the lock on the slow way comes after the one that had it",
        size: "2 threads, 1 lock",
        invariants: [],
        must_reach: ["at once", "later"],
        runs: [rc11(), sc()]),
    crate::model!("museum::crossbeam_97::a_value_comes_as_its_receiver_parks", a_value_comes_as_its_receiver_parks,
        claim: "a receiver that finds its slot ready sees the value, whether it has slept or not",
        size: "2 threads, 1 value",
        invariants: [],
        must_reach: ["parked 0 times", "parked 1 times"],
        runs: [rc11(), sc()]),
];

/// The variants. SC sees nothing wrong: there every thread sees what came before.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "museum";
    "museum-parking-lot-257": "a writer reads Relaxed that no reader is left",
        variant("museum-parking-lot-257"), by RW_LOCK => [Rc11, Loom];
    "museum-parking-lot-292": "the slow way takes the lock by a Release",
        variant("museum-parking-lot-292"), by WORD_LOCK => [Rc11, Loom];
    "museum-crossbeam-97": "a slot is made ready Relaxed, before an unpark",
        variant("museum-crossbeam-97"), by SIGNAL => [Rc11, Loom];
};

/// The bugs.
pub const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "parking-lot-257",
        project: "parking_lot",
        issue: "https://github.com/Amanieu/parking_lot/pull/260",
        year: 2020,
        people: "The thread sanitizer complained of the lock's own tests (#257).",
        cause: "A writer takes its bit, and waits until no reader is left. That it reads Relaxed: it knows that they \
                are gone, and need not come after what they read.",
        fix: "Acquire in wait_for_readers.",
        source: Source::Read,
        mutant: "museum-parking-lot-257",
    },
    Exhibit {
        name: "parking-lot-292",
        project: "parking_lot",
        issue: "https://github.com/Amanieu/parking_lot/pull/292",
        year: 2021,
        people: "A user tried his own locks with the thread sanitizer, and parking_lot's beside them as the reference.",
        cause: "The slow way of the little lock that guards the queues takes it by an exchange that is only Release.",
        fix: "Stronger orderings, on the slow ways of lock and unlock.",
        source: Source::Read,
        mutant: "museum-parking-lot-292",
    },
    Exhibit {
        name: "crossbeam-97",
        project: "crossbeam",
        issue: "https://github.com/crossbeam-rs/crossbeam/pull/98",
        year: 2016,
        people: "Found by reading.",
        cause: "A pusher writes the value, sets a flag Relaxed, and unparks; the receiver looks at the flag. It relies \
                on the unpark for the ordering, but park may return without one, and the flag may be seen before any \
                park.",
        fix: "Release and Acquire at the flag.",
        source: Source::Read,
        mutant: "museum-crossbeam-97",
    },
];
