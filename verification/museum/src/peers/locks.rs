//! Locks that wake too few: a bit or a count in the lock's word says that a thread waits, and is read or changed at the
//! wrong moment. All of these a patient test on any machine may find.

use crate::common::{Exhibit, Model, ModelHost, Mutant, Source, is_wrong, main_plays, party, rc11, sc};
use crate::peers::Futex;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{Lock, Parker};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// Asterinas's `RwMutex`: held by a reader that might become a writer, and wanted by a writer.
struct Asterinas<H: ModelHost> {
    lock: Atomic<H, u64>,
    queue: Futex<H>,
}

const WRITER: u64 = 1;
const UPGRADEABLE: u64 = 2;

impl<H: ModelHost> Asterinas<H> {
    /// The drop of `RwMutexUpgradeableGuard`.
    fn drop_guard(&self) {
        // Release: lets go of the lock. It returns what was there before.
        let before = self.lock.fetch_sub(UPGRADEABLE, Release);
        let was_the_last = if is_wrong("museum-asterinas-1303") { 0 } else { UPGRADEABLE };
        if before == was_the_last {
            self.queue.wake();
        }
    }

    fn try_write(&self) -> bool {
        // Acquire: takes the lock.
        self.lock.compare_exchange(0, WRITER, Acquire, Relaxed).is_ok()
    }

    /// `write`. Did it sleep?
    fn write(&self) -> bool {
        let slept = !self.try_write() && self.queue.wait(|| !self.try_write());
        assert!(!slept || self.try_write(), "a writer is woken, and the lock is held");
        slept
    }
}

fn a_guard_is_dropped_as_a_writer_waits<H: ModelHost>() -> String {
    main_plays("writer");
    let mutex = Arc::new(Asterinas::<H> { lock: Atomic::new(UPGRADEABLE), queue: Futex::new() });
    let reader = party::<H, _, _>("reader", &mutex, Asterinas::drop_guard);
    let slept = mutex.write();
    H::join(reader);
    format!("slept {slept}")
}

/// Unikraft's futex, and a program's mutex on it.
struct Unikraft<H: ModelHost> {
    /// The program's word: 1 is locked.
    word: Atomic<H, u64>,
    waiters: Futex<H>,
}

impl<H: ModelHost> Unikraft<H> {
    /// The program unlocks; `futex_wake`.
    fn unlock(&self) {
        // Release: lets go of the lock.
        self.word.swap(0, Release);
        self.waiters.wake();
    }

    fn is_locked(&self) -> bool {
        // Relaxed: the list's lock orders it.
        self.word.load(Relaxed) == 1
    }

    /// `futex_wait`. Did it sleep?
    fn lock(&self) -> bool {
        // Whether there is a reason to wait must be asked under the list's lock.
        let was_locked = self.is_locked();
        let slept = self.waiters.wait(|| if is_wrong("museum-unikraft-1763") { was_locked } else { self.is_locked() });
        // Acquire: takes the lock.
        assert!(self.word.swap(1, Acquire) == 0, "the system lets a thread go on, and the lock is taken");
        slept
    }
}

fn a_futex_is_woken_as_a_thread_waits<H: ModelHost>() -> String {
    main_plays("waiter");
    let futex = Arc::new(Unikraft::<H> { word: Atomic::new(1), waiters: Futex::new() });
    let holder = party::<H, _, _>("holder", &futex, Unikraft::unlock);
    let slept = futex.lock();
    H::join(holder);
    format!("slept {slept}")
}

/// FEX's `WritePriorityMutex`: a reader sleeps on one half of the word.
struct Fex<H: ModelHost> {
    word: Atomic<H, u64>,
    readers: Futex<H>,
}

const WRITE_OWNED: u64 = 1 << 31;
const READ_WAITER: u64 = 1 << 30;

impl<H: ModelHost> Fex<H> {
    /// `unlock`, by a writer: wakes the readers that have said that they wait.
    fn unlock(&self) {
        // Release: lets go of the lock.
        if self.word.swap(0, Release) & READ_WAITER != 0 {
            self.readers.wake();
        }
    }

    /// A writer unlocks, takes the lock again if it can, and unlocks.
    fn write_twice(&self) {
        self.unlock();
        // Acquire: takes the lock.
        if self.word.compare_exchange(0, WRITE_OWNED, Acquire, Relaxed).is_ok() {
            self.unlock();
        }
    }

    /// `lock_shared`, until no writer has the lock; how many times it slept.
    fn read(&self) -> u32 {
        // The half that the system compares. It must hold the reader's own bit: the thread that clears it has woken all
        // readers.
        let watched = if is_wrong("museum-fex-5161") { WRITE_OWNED } else { WRITE_OWNED | READ_WAITER };
        let mut slept = 0;
        // Acquire: sees what the writer did.
        let mut word = self.word.load(Acquire);
        while word & WRITE_OWNED != 0 {
            let waits = word | READ_WAITER;
            // Relaxed: nothing is handed over by waiting.
            if self.word.compare_exchange(word, waits, Relaxed, Relaxed).is_ok() {
                // Relaxed: the system compares.
                slept += u32::from(self.readers.wait(|| self.word.load(Relaxed) & watched == waits & watched));
            }
            // Acquire: as above.
            word = self.word.load(Acquire);
        }
        slept
    }
}

fn a_writer_comes_back_as_a_reader_waits<H: ModelHost>() -> String {
    main_plays("reader");
    let mutex = Arc::new(Fex::<H> { word: Atomic::new(WRITE_OWNED), readers: Futex::new() });
    let writer = party::<H, _, _>("writer", &mutex, Fex::write_twice);
    let slept = mutex.read();
    H::join(writer);
    format!("slept {slept} times")
}

/// parking_lot's `RwLock`: a writer has the lock but for a last reader, and waits for that one, not for ever.
struct ParkingLot<H: ModelHost> {
    /// `state`: WRITER, READER, and PARKED if the writer waits.
    state: Atomic<H, u64>,
    /// The queue: is the writer in it?
    queue: H::Lock<bool>,
    parker: H::Parker,
}

const READER: u64 = 4;
const PARKED: u64 = 8;

impl<H: ModelHost> ParkingLot<H> {
    /// Under the queue's lock: the writer does not wait any more.
    fn clear_parked(&self) {
        // Relaxed: the queue's lock orders it.
        if self.state.load(Relaxed) & PARKED != 0 {
            // Relaxed: as above.
            self.state.fetch_sub(PARKED, Relaxed);
        }
    }

    /// `unlock_shared`, by the last reader.
    fn read_unlock(&self) {
        // Release: lets go of the lock.
        if self.state.fetch_sub(READER, Release) & PARKED == 0 {
            return;
        }
        let wakes = self.queue.with(|is_queued| {
            self.clear_parked();
            std::mem::take(is_queued)
        });
        if wakes {
            self.parker.unpark();
        }
    }

    /// `wait_for_readers`, with a timeout; and unlocks if it gets the lock.
    fn try_write_for(&self) -> &'static str {
        // AcqRel: says that it waits, or takes the lock.
        let waits = self.state.compare_exchange(WRITER | READER, WRITER | READER | PARKED, AcqRel, Acquire).is_ok();
        let parks = waits
            && self.queue.with(|is_queued| {
                // Relaxed: the queue's lock orders it.
                *is_queued = self.state.load(Relaxed) & PARKED != 0;
                *is_queued
            });
        if parks {
            self.parker.park_timeout(10);
        }
        let has_timed_out = parks
            && self.queue.with(|is_queued| {
                let has_timed_out = std::mem::take(is_queued);
                if has_timed_out && !is_wrong("museum-parking-lot-465") {
                    self.clear_parked();
                }
                has_timed_out
            });
        // A reader that has left meanwhile clears the bit too.
        let bits = if has_timed_out && is_wrong("museum-parking-lot-465") { WRITER | PARKED } else { WRITER };
        // Release: lets go of the lock, had or not.
        self.state.fetch_sub(bits, Release);
        match (parks, has_timed_out) {
            (false, _) => "at once",
            (true, false) => "woken",
            (true, true) => "too late",
        }
    }
}

fn a_writer_gives_up_as_the_last_reader_leaves<H: ModelHost>() -> String {
    main_plays("writer");
    let lock = Arc::new(ParkingLot::<H> {
        state: Atomic::new(WRITER | READER),
        queue: H::Lock::new(false),
        parker: H::Parker::new(),
    });
    let reader = party::<H, _, _>("reader", &lock, ParkingLot::read_unlock);
    let end = lock.try_write_for();
    H::join(reader);
    // Relaxed: all are done.
    let state = lock.state.load(Relaxed);
    assert!(state == 0, "no thread has the lock, and its word is {state:#x}");
    end.to_owned()
}

const ASTERINAS: &str = "museum::asterinas_1303::a_guard_is_dropped_as_a_writer_waits";
const UNIKRAFT: &str = "museum::unikraft_1763::a_futex_is_woken_as_a_thread_waits";
const FEX: &str = "museum::fex_5161::a_writer_comes_back_as_a_reader_waits";
const PARKING_LOT: &str = "museum::parking_lot_465::a_writer_gives_up_as_the_last_reader_leaves";

/// The variants' models.
pub const MODELS: &[Model] = &[
    crate::model!("museum::asterinas_1303::a_guard_is_dropped_as_a_writer_waits", a_guard_is_dropped_as_a_writer_waits,
        claim: "a writer that waits is woken when the last reader leaves",
        size: "2 threads, 1 lock",
        invariants: [],
        must_reach: ["slept true", "slept false"],
        runs: [rc11(), sc()]),
    crate::model!("museum::unikraft_1763::a_futex_is_woken_as_a_thread_waits", a_futex_is_woken_as_a_thread_waits,
        claim: "a futex woken as a thread begins to wait is not waited for",
        size: "2 threads, 1 lock",
        invariants: [],
        must_reach: ["slept true", "slept false"],
        runs: [rc11(), sc()]),
    crate::model!("museum::fex_5161::a_writer_comes_back_as_a_reader_waits", a_writer_comes_back_as_a_reader_waits,
        claim: "a reader that a writer has overtaken says once more that it waits",
        size: "2 threads, 1 lock, 2 unlocks",
        invariants: [],
        must_reach: ["slept 0 times", "slept 1 times"],
        runs: [rc11(), sc()]),
    crate::model!("museum::parking_lot_465::a_writer_gives_up_as_the_last_reader_leaves",
        a_writer_gives_up_as_the_last_reader_leaves,
        claim: "when a writer has given up and all readers have left, the lock's word says so",
        size: "2 threads, 1 lock, 1 timeout",
        invariants: [],
        must_reach: ["at once", "woken", "too late"],
        runs: [rc11(), sc()]),
];

/// The variants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "museum";
    "museum-asterinas-1303": "a thread that leaves the lock takes what was there before for what is there now",
        variant("museum-asterinas-1303"), by ASTERINAS => [Rc11, Sc, Loom];
    "museum-unikraft-1763": "futex_wait compares the word before it takes the list's lock",
        variant("museum-unikraft-1763"), by UNIKRAFT => [Rc11, Sc, Loom];
    "museum-fex-5161": "a reader does not watch the bit that says that it waits",
        variant("museum-fex-5161"), by FEX => [Rc11, Sc, Loom];
    "museum-parking-lot-465": "a writer that gives up clears its bit without the queue's lock",
        variant("museum-parking-lot-465"), by PARKING_LOT => [Rc11, Sc, Loom];
};

/// The bugs.
pub const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "asterinas-1303",
        project: "Asterinas",
        issue: "https://github.com/asterinas/asterinas/issues/1303",
        year: 2024,
        people: "A writer slept on a lock that was free.",
        cause: "fetch_sub returns what was there before; whether to wake a thread was decided as if it returned what \
                is left.",
        fix: "Compare with what the last one finds.",
        source: Source::Read,
        mutant: "museum-asterinas-1303",
    },
    Exhibit {
        name: "unikraft-1763",
        project: "Unikraft",
        issue: "https://github.com/unikraft/unikraft/pull/1763",
        year: 2026,
        people: "Any mutex or condition of a program could stand still for ever.",
        cause: "futex_wait compared the word, and then took the lock of the list of waiters. A wake in between finds \
                no waiter in the list.",
        fix: "The word is compared under the lock.",
        source: Source::Read,
        mutant: "museum-unikraft-1763",
    },
    Exhibit {
        name: "fex-5161",
        project: "FEX",
        issue: "https://github.com/FEX-Emu/FEX/pull/5161",
        year: 2025,
        people: "Now and then an emulated program stood still.",
        cause: "A reader's bit lay in the half of the word that it does not watch. A writer clears the bit and wakes, \
                another takes the lock at once: the reader, which had not slept yet, sees no change, and sleeps \
                without a bit.",
        fix: "The bit moves to the half that is watched.",
        source: Source::Read,
        mutant: "museum-fex-5161",
    },
    Exhibit {
        name: "parking-lot-465",
        project: "parking_lot",
        issue: "https://github.com/Amanieu/parking_lot/issues/465",
        year: 2025,
        people: "A server locked up about once an hour; the lock's word was full of ones.",
        cause: "A writer that waits with a timeout clears its bit when the time is over, without the queue's lock. The \
                last reader clears it as well, and a bit that is subtracted twice borrows from all above it.",
        fix: "The bit is cleared under the queue's lock (#466).",
        source: Source::Read,
        mutant: "museum-parking-lot-465",
    },
];
