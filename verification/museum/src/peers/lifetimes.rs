//! A waiter goes on as soon as it may, and its memory with it: the waker's last store is the last moment in which that
//! memory is there. What would be on the waiter's stack is a cell here, which its owner uses for something else when it
//! goes on.

use crate::common::{Cell, Exhibit, Model, ModelHost, Mutant, Source, is_wrong, main_plays, party, rc11, sc};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::Parker;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// What stands in memory that is in use.
const ALIVE: u64 = 7;

fn read<H: ModelHost>(memory: &H::Cell<u64>, whose: &str) {
    assert!(memory.get() == ALIVE, "{whose} is read after its owner has gone on");
}

/// A latch of rayon's on the stack of a worker of another pool, that worker, and the pool.
struct Rayon<H: ModelHost> {
    latch: Atomic<H, u64>,
    /// The latch's other fields: whom to wake.
    fields: H::Cell<u64>,
    /// The waiting worker's own memory, in which its handle of the pool is.
    worker: H::Cell<u64>,
    /// The pool, which lives on: a thread sleeps there, or none.
    parker: H::Parker,
}

impl<H: ModelHost> Rayon<H> {
    /// `Latch::set`, by the worker that has done the job.
    fn set(&self) {
        if !is_wrong("museum-rayon-739") {
            // All that is needed is read before the latch is set.
            read::<H>(&self.fields, "the latch");
        }
        // Release: publishes the job's result. From here on the waiting worker may go on, and end.
        self.latch.store(1, Release);
        if is_wrong("museum-rayon-739") {
            read::<H>(&self.fields, "the latch");
        }
        if is_wrong("museum-rayon-929") {
            read::<H>(&self.worker, "the worker's handle of its pool");
        }
        self.parker.unpark();
    }

    /// `wait_until`, and what comes after it.
    fn wait(&self) -> &'static str {
        // Acquire: sees the job's result. A worker looks several times before it sleeps.
        let looked = self.latch.load(Acquire) == 1;
        if !looked {
            self.parker.park();
            // Acquire: as above.
            assert!(self.latch.load(Acquire) == 1, "a worker is woken, and its latch is not set");
        }
        // The stack is used again; the worker ends.
        self.fields.set(0);
        self.worker.set(0);
        if looked { "saw it" } else { "woken" }
    }
}

fn a_latch_is_set_as_its_owner_looks<H: ModelHost>() -> String {
    main_plays("owner");
    let rayon = Rayon::<H> {
        latch: Atomic::new(0),
        fields: Cell::new(ALIVE),
        worker: Cell::new(ALIVE),
        parker: H::Parker::new(),
    };
    let rayon = Arc::new(rayon);
    let setter = party::<H, _, _>("setter", &rayon, Rayon::set);
    let end = rayon.wait();
    H::join(setter);
    end.to_owned()
}

/// `std::thread::scope`: its data are on the stack of the thread that waits for all others.
struct Scope<H: ModelHost> {
    /// `num_running_threads`.
    running: Atomic<H, u64>,
    /// `main_thread`: whom to wake.
    main_thread: H::Cell<u64>,
    parker: H::Parker,
}

impl<H: ModelHost> Scope<H> {
    /// `decrement_num_running_threads`.
    fn ends(&self) {
        if !is_wrong("museum-rust-98498") {
            // The handle is taken while the scope is sure to be there.
            read::<H>(&self.main_thread, "the scope");
        }
        // AcqRel: publishes what this thread did; the last one has seen what all did.
        if self.running.fetch_sub(1, AcqRel) == 1 {
            if is_wrong("museum-rust-98498") {
                read::<H>(&self.main_thread, "the scope");
            }
            self.parker.unpark();
        }
    }

    /// The end of `scope`.
    fn wait(&self) -> u32 {
        let mut parked = 0;
        // Acquire: sees what all threads did.
        while self.running.load(Acquire) > 0 {
            self.parker.park();
            parked += 1;
        }
        self.main_thread.set(0);
        parked
    }
}

fn two_threads_of_a_scope_end<H: ModelHost>() -> String {
    main_plays("main");
    let scope = Scope::<H> { running: Atomic::new(2), main_thread: Cell::new(ALIVE), parker: H::Parker::new() };
    let scope = Arc::new(scope);
    let threads = ["one", "two"].map(|name| party::<H, _, _>(name, &scope, Scope::ends));
    let parked = scope.wait();
    threads.into_iter().for_each(H::join);
    format!("parked {parked} times")
}

/// `Arc<T>`: two handles, and what they hold.
struct Shared<H: ModelHost> {
    /// How many handles there are.
    strong: Atomic<H, u64>,
    data: H::Cell<u64>,
}

impl<H: ModelHost> Shared<H> {
    /// One handle is used, and dropped.
    fn uses_and_drops(&self) {
        self.data.set(self.data.get() + 1);
        // Release: a thread that finds itself alone comes after this use.
        self.strong.fetch_sub(1, Release);
    }

    /// `get_mut`, by the other.
    fn get_mut(&self) -> bool {
        // Relaxed, or Acquire: if it is alone, what all others did lies behind it.
        let order = if is_wrong("museum-rust-51780") { Relaxed } else { Acquire };
        let is_unique = self.strong.load(order) == 1;
        if is_unique {
            self.data.set(self.data.get() + 1);
        }
        is_unique
    }
}

fn one_handle_is_dropped_as_the_other_asks<H: ModelHost>() -> String {
    main_plays("asker");
    let shared = Arc::new(Shared::<H> { strong: Atomic::new(2), data: Cell::new(0) });
    let dropper = party::<H, _, _>("dropper", &shared, Shared::uses_and_drops);
    let is_unique = shared.get_mut();
    H::join(dropper);
    format!("alone {is_unique} data {}", shared.data.get())
}

/// CPython's `_PyRawMutex`, held by one, and one that waits with a semaphore on its stack.
struct RawMutex<H: ModelHost> {
    /// FREE or HELD; WAITED, if the waiter is in its list.
    state: Atomic<H, u64>,
    /// The waiter's memory, in which its semaphore is.
    semaphore: H::Cell<u64>,
    parker: H::Parker,
}

const FREE: u64 = 0;
const HELD: u64 = 1;
const WAITED: u64 = 2;

impl<H: ModelHost> RawMutex<H> {
    /// `_PyRawMutex_UnlockSlow`: takes the waiter out of the list, and then wakes it.
    fn unlock(&self) {
        // AcqRel: lets go of the lock, and sees the waiter.
        if self.state.swap(FREE, AcqRel) == WAITED {
            read::<H>(&self.semaphore, "the semaphore");
            self.parker.unpark();
        }
    }

    /// `_PyRawMutex_LockSlow`.
    fn lock(&self) -> &'static str {
        // AcqRel: shows the semaphore to the unlocker.
        if self.state.compare_exchange(HELD, WAITED, AcqRel, Acquire).is_err() {
            return "free";
        }
        // A signal may end the wait for the semaphore.
        let is_interrupted = H::choose(2) == 0;
        // Acquire: takes the lock, if it is free by now.
        let is_free = is_interrupted && self.state.load(Acquire) == FREE;
        // But the unlocker is still to wake this thread, by the semaphore.
        if !(is_free && is_wrong("museum-cpython-148820")) {
            self.parker.park();
            // Acquire: as above.
            assert!(self.state.load(Acquire) == FREE, "a waiter goes on, and the lock is held");
        }
        // It goes on, and its stack is used again.
        self.semaphore.set(0);
        if is_interrupted { "interrupted" } else { "woken" }
    }
}

fn a_waiter_is_interrupted_as_it_is_woken<H: ModelHost>() -> String {
    main_plays("waiter");
    let mutex = RawMutex::<H> { state: Atomic::new(HELD), semaphore: Cell::new(ALIVE), parker: H::Parker::new() };
    let mutex = Arc::new(mutex);
    let holder = party::<H, _, _>("holder", &mutex, RawMutex::unlock);
    let end = mutex.lock();
    H::join(holder);
    end.to_owned()
}

const RAYON: &str = "museum::rayon_739::a_latch_is_set_as_its_owner_looks";
const SCOPE: &str = "museum::rust_98498::two_threads_of_a_scope_end";
const RAW_MUTEX: &str = "museum::cpython_148820::a_waiter_is_interrupted_as_it_is_woken";
const SHARED: &str = "museum::rust_51780::one_handle_is_dropped_as_the_other_asks";

/// The variants' models.
pub const MODELS: &[Model] = &[
    crate::model!("museum::rayon_739::a_latch_is_set_as_its_owner_looks", a_latch_is_set_as_its_owner_looks,
        claim: "a worker that sets a latch touches nothing of its owner's afterwards",
        size: "2 threads, 1 latch",
        invariants: [],
        must_reach: ["saw it", "woken"],
        runs: [rc11(), sc()]),
    crate::model!("museum::rust_98498::two_threads_of_a_scope_end", two_threads_of_a_scope_end,
        claim: "the last thread of a scope touches nothing of the scope's when it has said that it ends",
        size: "3 threads",
        invariants: [],
        must_reach: ["parked 0 times", "parked 1 times"],
        runs: [rc11(), sc()]),
    crate::model!("museum::cpython_148820::a_waiter_is_interrupted_as_it_is_woken",
        a_waiter_is_interrupted_as_it_is_woken,
        claim: "a waiter that is interrupted stays until it is woken, if a waker is about to wake it",
        size: "2 threads, 1 lock, 1 interrupt",
        invariants: [],
        must_reach: ["free", "woken", "interrupted"],
        runs: [rc11(), sc()]),
    crate::model!("museum::rust_51780::one_handle_is_dropped_as_the_other_asks",
        one_handle_is_dropped_as_the_other_asks,
        claim: "a thread that finds itself to hold the only handle comes after every use of the others",
        size: "2 threads, 2 handles",
        invariants: [],
        must_reach: ["alone true data 2", "alone false data 1"],
        runs: [rc11(), sc()]),
];

/// The variants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "museum";
    "museum-rayon-739": "a worker that sets a latch reads from it afterwards whom to wake",
        variant("museum-rayon-739"), by RAYON => [Rc11, Sc, Loom];
    "museum-rayon-929": "a worker that sets a latch reaches the pool by the waiting worker's own handle",
        variant("museum-rayon-929"), by RAYON => [Rc11, Sc, Loom];
    "museum-rust-98498": "the last thread of a scope reads from it whom to wake, when it has said that it ends",
        variant("museum-rust-98498"), by SCOPE => [Rc11, Sc, Loom];
    "museum-cpython-148820": "a waiter that is interrupted and finds the lock free leaves before it is woken",
        variant("museum-cpython-148820"), by RAW_MUTEX => [Rc11, Sc, Loom];
    // SC sees nothing wrong: there the drop is seen with all that came before it.
    "museum-rust-51780": "Arc::get_mut reads the count of handles Relaxed",
        variant("museum-rust-51780"), by SHARED => [Rc11, Loom];
};

/// The bugs.
pub const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "rayon-739",
        project: "rayon",
        issue: "https://github.com/rayon-rs/rayon/issues/739",
        year: 2020,
        people: "Programs with two pools crashed under load; a second team met it months later (#768).",
        cause: "The latch is on the waiting worker's stack. As soon as it is set the worker may go on; whom to wake \
                was read from the latch after that.",
        fix: "Every field is read before the latch is set (#740).",
        source: Source::Read,
        mutant: "museum-rayon-739",
    },
    Exhibit {
        name: "rayon-929",
        project: "rayon",
        issue: "https://github.com/rayon-rs/rayon/issues/929",
        year: 2022,
        people: "Crashes again, after the latches were written anew (also #913).",
        cause: "The latch's field was read in time, but it borrows the pool's handle from the waiting worker, and that \
                one may end as soon as it sees the latch.",
        fix: "The setter uses its own hold of the pool (#934).",
        source: Source::Read,
        mutant: "museum-rayon-929",
    },
    Exhibit {
        name: "rust-98498",
        project: "Rust's std",
        issue: "https://github.com/rust-lang/rust/issues/98498",
        year: 2022,
        people: "Miri reported a race in every program that uses scoped threads, now and then.",
        cause: "The last thread counts itself out and then wakes the main thread by a handle inside of the scope, \
                which the main thread may have left: park may wake spuriously, or was never called.",
        fix: "The scope's data are counted, and live as long as a thread uses them (#98503).",
        source: Source::Read,
        mutant: "museum-rust-98498",
    },
    Exhibit {
        name: "cpython-148820",
        project: "CPython",
        issue: "https://github.com/python/cpython/pull/148885",
        year: 2026,
        people: "The interpreter stopped with a fatal error from its own lock.",
        cause: "The unlocker takes the waiter out of the list, and then posts the semaphore on its stack. If a signal \
                ends the wait in between, the waiter finds the lock free, goes on, and destroys the semaphore.",
        fix: "The waiter waits on until it is really posted.",
        source: Source::Read,
        mutant: "museum-cpython-148820",
    },
    Exhibit {
        name: "rust-51780",
        project: "Rust's std",
        issue: "https://github.com/rust-lang/rust/issues/51780",
        year: 2018,
        people: "Found as Arc was being proved correct.",
        cause: "get_mut reads the count Relaxed: it may find itself alone without coming after the last use by \
                another.",
        fix: "Acquire (#52031).",
        source: Source::Read,
        mutant: "museum-rust-51780",
    },
];
