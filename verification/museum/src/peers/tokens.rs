//! A wake that finds another wake already there does nothing. But what its caller wrote before must be seen by the
//! thread that uses up that other wake.

use crate::common::{Exhibit, Model, ModelHost, Mutant, Source, is_wrong, main_plays, party, rc11, sc, tso};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::Parker;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

/// Rust's `thread::park`, and two flags that are waited for.
struct Park<H: ModelHost> {
    /// EMPTY, NOTIFIED or PARKED.
    state: Atomic<H, u64>,
    flags: [Atomic<H, u64>; 2],
    parker: H::Parker,
}

const EMPTY: u64 = 0;
const NOTIFIED: u64 = 1;
const PARKED: u64 = 2;

impl<H: ModelHost> Park<H> {
    /// Raises a flag, and `unpark`.
    fn raise(&self, flag: usize) {
        // Relaxed: `unpark` publishes it.
        self.flags[flag].store(1, Relaxed);
        // Release: publishes what its caller wrote.
        if self.state.swap(NOTIFIED, Release) == PARKED {
            self.parker.unpark();
        }
    }

    /// `park`.
    fn park(&self) {
        // Acquire: sees what was written before the token. So everywhere here.
        if self.state.compare_exchange(EMPTY, PARKED, Acquire, Acquire).is_ok() {
            self.parker.park();
        }
        if is_wrong("museum-rust-53366") {
            // SeqCst: as std had it. It does not help: a store reads nothing, and the token may be another's by now.
            self.state.store(EMPTY, SeqCst);
        } else {
            // Acquire: whose token it is shows only now.
            self.state.swap(EMPTY, Acquire);
        }
    }

    /// Waits for both flags; how many times it parked.
    fn wait(&self) -> u32 {
        let mut parked = 0;
        // Relaxed: `park` has to do.
        while self.flags.iter().any(|flag| flag.load(Relaxed) == 0) {
            self.park();
            parked += 1;
        }
        parked
    }
}

fn two_unpark_who_waits_for_both<H: ModelHost>() -> String {
    main_plays("waiter");
    let flags = [Atomic::new(0), Atomic::new(0)];
    let park = Arc::new(Park::<H> { state: Atomic::new(EMPTY), flags, parker: H::Parker::new() });
    let one = party::<H, _, _>("one", &park, |park| park.raise(0));
    let two = party::<H, _, _>("two", &park, |park| park.raise(1));
    let parked = park.wait();
    H::join(one);
    H::join(two);
    format!("parked {parked} times")
}

/// A task of tokio's, which waits for a flag. It has just been woken, spuriously.
struct Task<H: ModelHost> {
    /// `State`: SCHEDULED and RUNNING, or 0.
    state: Atomic<H, u64>,
    flag: Atomic<H, u64>,
    /// Where the worker sleeps that polls it.
    parker: H::Parker,
}

const SCHEDULED: u64 = 1;
const RUNNING: u64 = 2;

impl<H: ModelHost> Task<H> {
    /// Raises the flag, and `wake_by_ref`.
    fn wake(&self) {
        // Relaxed: the wake publishes it.
        self.flag.store(1, Relaxed);
        // Relaxed: only to know what to try.
        let mut state = self.state.load(Relaxed);
        loop {
            if state & SCHEDULED != 0 && is_wrong("museum-tokio-7622") {
                // It will be polled anyway. But nothing was released, and the poll may not see the flag.
                return;
            }
            // Release: the next poll sees the flag, scheduled before or not.
            match self.state.compare_exchange(state, state | SCHEDULED, Release, Relaxed) {
                // `schedule`: a task that runs is scheduled by its own worker, when it is done.
                Ok(0) => return self.parker.unpark(),
                Ok(_) => return,
                Err(found) => state = found,
            }
        }
    }

    /// The worker, until the task is done; how many times it polled.
    fn run(&self) -> u32 {
        let mut polls = 0;
        loop {
            // AcqRel: `transition_to_running`; sees what was written before the wake.
            let scheduled = self.state.swap(RUNNING, AcqRel);
            assert!(scheduled == SCHEDULED, "a task is polled that was not scheduled");
            polls += 1;
            // Relaxed: the wake has to do.
            if self.flag.load(Relaxed) == 1 {
                return polls;
            }
            // AcqRel: `transition_to_idle`.
            if self.state.compare_exchange(RUNNING, 0, AcqRel, Relaxed).is_ok() {
                self.parker.park();
            } else {
                // AcqRel: woken while it ran; on to the next poll.
                self.state.swap(SCHEDULED, AcqRel);
            }
        }
    }
}

fn a_task_is_woken_that_is_scheduled_already<H: ModelHost>() -> String {
    main_plays("worker");
    let task = Task::<H> { state: Atomic::new(SCHEDULED), flag: Atomic::new(0), parker: H::Parker::new() };
    let task = Arc::new(task);
    let waker = party::<H, _, _>("waker", &task, Task::wake);
    let polls = task.run();
    H::join(waker);
    format!("polled {polls} times")
}

const PARK: &str = "museum::rust_53366::two_unpark_who_waits_for_both";
const TASK: &str = "museum::tokio_7622::a_task_is_woken_that_is_scheduled_already";

/// The variants' models.
pub const MODELS: &[Model] = &[
    crate::model!("museum::rust_53366::two_unpark_who_waits_for_both", two_unpark_who_waits_for_both,
        claim: "an unparked thread sees what was written before each unpark, though two leave one token",
        size: "3 threads, 2 unparks",
        invariants: [],
        must_reach: ["parked 0 times", "parked 1 times", "parked 2 times"],
        runs: [rc11(), sc(), tso()]),
    crate::model!("museum::tokio_7622::a_task_is_woken_that_is_scheduled_already",
        a_task_is_woken_that_is_scheduled_already,
        claim: "a task that is woken while it is scheduled sees what was written before the wake",
        size: "2 threads, 1 task, 2 wakes",
        invariants: [],
        must_reach: ["polled 1 times", "polled 2 times"],
        runs: [rc11(), sc(), tso()]),
];

/// The variants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "museum";
    // SC sees nothing wrong: there every thread sees what came before. Nor would a PC, where such a store is an
    // exchange; TSO, which lets it wait in the buffer, is no judge of that.
    "museum-rust-53366": "park uses up its token by a store",
        variant("museum-rust-53366"), by PARK => [Rc11, Loom];
    "museum-tokio-7622": "a wake that finds the task scheduled writes nothing",
        variant("museum-tokio-7622"), by TASK => [Rc11, Tso, Loom];
};

/// The bugs.
pub const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "rust-53366",
        project: "Rust's std",
        issue: "https://github.com/rust-lang/rust/issues/53366",
        year: 2018,
        people: "Found by reading, as the code was copied into tokio.",
        cause: "park finds a token by a failed exchange and removes it by a store. If another unpark has come in \
                between, its token is removed too, and what its caller wrote need not be seen.",
        fix: "The token is removed by an exchange, which acquires (#54174).",
        source: Source::Read,
        mutant: "museum-rust-53366",
    },
    Exhibit {
        name: "rust-114591",
        project: "Rust's std",
        issue: "https://github.com/rust-lang/rust/pull/114591",
        year: 2023,
        people: "The same promise, broken a second time, in the parker of systems that wake a thread by its number.",
        cause: "Again the token was removed by a store.",
        fix: "One exchange that looks for the token and removes it.",
        source: Source::Read,
        mutant: "museum-rust-53366",
    },
    Exhibit {
        name: "tokio-7622",
        project: "tokio",
        issue: "https://github.com/tokio-rs/tokio/pull/7622",
        year: 2025,
        people: "On ARM, and under Miri, a task was not run again after a wake; a channel's users hung (#7589).",
        cause: "wake_by_ref finds by a load that the task is notified already, and returns. Without a write nothing is \
                released: the poll that is to come need not see what the wake is about.",
        fix: "The word is written as it was, Release.",
        source: Source::Read,
        mutant: "museum-tokio-7622",
    },
];
