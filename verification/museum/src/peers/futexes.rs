//! Locks that sleep in the system. The waker spares the system call: it reads a count of sleepers first; then it
//! is the handshake of `dekker` again, with a lock or an exchange on one side that is taken for a barrier.

use crate::common::{Exhibit, Model, ModelHost, Mutant, Source, is_wrong, main_plays, party, rc11, sc, tso};
use crate::peers::Futex;
use spinpark_kernel::atomic::{Atomic, store_load};
use spinpark_kernel::host::{Lock, Parker};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

/// folly's `ParkingLot`, one bucket.
struct Folly<H: ModelHost> {
    /// The user's word: there is no reason to park any more.
    flag: Atomic<H, u64>,
    /// `Bucket::count_`.
    count: Atomic<H, u64>,
    bucket: Futex<H>,
}

impl<H: ModelHost> Folly<H> {
    /// `park`.
    fn park(&self) -> bool {
        // SeqCst: as folly has it. It is no barrier for the read below.
        self.count.fetch_add(1, SeqCst);
        if !is_wrong("museum-folly-2649") {
            // `count/flag`, the parker.
            store_load::<H>();
        }
        // Relaxed: the user's own choice, in `toPark`; the barrier has to do.
        let slept = self.bucket.wait(|| self.flag.load(Relaxed) == 0);
        // Relaxed: one fewer to look for.
        self.count.fetch_sub(1, Relaxed);
        slept
    }

    /// `unpark`, after the user's store.
    fn unpark(&self) {
        // Relaxed: the user's own choice; the barrier has to do.
        self.flag.store(1, Relaxed);
        if !is_wrong("museum-folly-ff7ab9d") {
            // `count/flag`, the unparker.
            store_load::<H>();
        }
        // SeqCst: as folly has it. It is no barrier for the store above.
        if self.count.load(SeqCst) > 0 {
            self.bucket.wake();
        }
    }
}

fn a_flag_is_raised_as_a_thread_parks<H: ModelHost>() -> String {
    main_plays("parker");
    let lot = Arc::new(Folly::<H> { flag: Atomic::new(0), count: Atomic::new(0), bucket: Futex::new() });
    let unparker = party::<H, _, _>("unparker", &lot, Folly::unpark);
    let slept = lot.park();
    H::join(unparker);
    format!("slept {slept}")
}

/// oneTBB's `mutex`, and the list of those that wait for it.
struct Tbb<H: ModelHost> {
    /// `my_flag`: 1 is locked.
    flag: Atomic<H, u64>,
    /// `concurrent_monitor`: is the waiter in the list?
    waiters: H::Lock<bool>,
    /// How long the list is, for threads that do not hold its lock.
    len: Atomic<H, u64>,
    parker: H::Parker,
}

impl<H: ModelHost> Tbb<H> {
    fn takes_out(&self) -> bool {
        self.waiters.with(|is_in| {
            // Relaxed: written under the lock, and read as a hint.
            self.len.store(0, Relaxed);
            std::mem::take(is_in)
        })
    }

    /// `lock`, by a thread that finds it taken.
    fn lock(&self) -> &'static str {
        // Acquire: takes the lock.
        if self.flag.swap(1, Acquire) == 0 {
            return "free";
        }
        // `prepare_wait`.
        self.waiters.with(|is_in| {
            *is_in = true;
            // Relaxed: the barrier orders it.
            self.len.store(1, Relaxed);
        });
        // `flag/waiters`, the waiter.
        store_load::<H>();
        // Relaxed: the barrier orders it. If the lock is free: `cancel_wait`; else `commit_wait`.
        let waits = self.flag.load(Relaxed) == 1 || !self.takes_out();
        if waits {
            self.parker.park();
        }
        // Acquire: takes the lock.
        assert!(self.flag.swap(1, Acquire) == 0, "a waiter goes on, and the lock is taken");
        if waits { "woken" } else { "free after all" }
    }

    /// `unlock`, `notify_one_relaxed`.
    fn unlock(&self) {
        // SeqCst: lets go of the lock. An exchange, but no barrier for another word.
        self.flag.swap(0, SeqCst);
        if !is_wrong("museum-onetbb-2136") {
            // `flag/waiters`, the unlocker.
            store_load::<H>();
        }
        // Relaxed: a look without the list's lock; the barrier orders it.
        if self.len.load(Relaxed) > 0 && self.takes_out() {
            self.parker.unpark();
        }
    }
}

fn a_mutex_is_unlocked_as_a_thread_waits<H: ModelHost>() -> String {
    main_plays("waiter");
    let mutex = Arc::new(Tbb::<H> {
        flag: Atomic::new(1),
        waiters: H::Lock::new(false),
        len: Atomic::new(0),
        parker: H::Parker::new(),
    });
    let holder = party::<H, _, _>("holder", &mutex, Tbb::unlock);
    let end = mutex.lock();
    H::join(holder);
    end.to_owned()
}

/// brpc's `ParkingLot`, where idle workers sleep; with the option not to signal when no worker waits.
struct Brpc<H: ModelHost> {
    tasks: Atomic<H, u64>,
    /// `_pending_signal`.
    signals: Atomic<H, u64>,
    /// `_waiter_num`.
    waiters: Atomic<H, u64>,
    futex: Futex<H>,
}

impl<H: ModelHost> Brpc<H> {
    /// `signal`, after the push.
    fn push(&self) {
        // Release: publishes the task.
        self.tasks.store(1, Release);
        // Release: a worker that reads this sees the task.
        self.signals.fetch_add(2, Release);
        if !is_wrong("museum-brpc-3539") {
            // `signals/waiters`, the signaller.
            store_load::<H>();
        }
        // Relaxed: the barrier orders it.
        if self.waiters.load(Relaxed) > 0 {
            self.futex.wake();
        }
    }

    /// A worker: remembers the signals, looks for a task, waits.
    fn work(&self) -> &'static str {
        // Acquire: what was signalled before this can be stolen now.
        let seen = self.signals.load(Acquire);
        // Acquire: takes the task with what was done before it was pushed.
        if self.tasks.load(Acquire) == 1 {
            return "stolen";
        }
        // Relaxed: the barrier orders it.
        self.waiters.fetch_add(1, Relaxed);
        if !is_wrong("museum-brpc-3539") {
            // `signals/waiters`, the waiter.
            store_load::<H>();
        }
        // Relaxed: the system compares the word with what the worker remembers.
        let slept = self.futex.wait(|| self.signals.load(Relaxed) == seen);
        // Relaxed: one fewer to wake.
        self.waiters.fetch_sub(1, Relaxed);
        // Acquire: as above.
        let is_new = self.signals.load(Acquire) != seen;
        // Acquire: as above.
        assert!(is_new && self.tasks.load(Acquire) == 1, "a worker goes on, and there is nothing to steal");
        if slept { "woken" } else { "signalled" }
    }
}

fn a_signal_comes_as_a_worker_waits<H: ModelHost>() -> String {
    main_plays("worker");
    let lot = Arc::new(Brpc::<H> {
        tasks: Atomic::new(0),
        signals: Atomic::new(0),
        waiters: Atomic::new(0),
        futex: Futex::new(),
    });
    let pusher = party::<H, _, _>("pusher", &lot, Brpc::push);
    let end = lot.work();
    H::join(pusher);
    end.to_owned()
}

/// Linux: a mutex in a program, and the kernel's bucket for it.
struct Linux<H: ModelHost> {
    /// The program's word: 1 is locked.
    word: Atomic<H, u64>,
    /// `hash_bucket::waiters`.
    waiters: Atomic<H, u64>,
    bucket: Futex<H>,
}

impl<H: ModelHost> Linux<H> {
    /// The program unlocks, and enters `futex_wake`.
    fn unlock(&self) {
        // Release: lets go of the lock.
        self.word.swap(0, Release);
        if !is_wrong("museum-linux-private-futex") {
            // `word/waiters`, the waker: `get_futex_key` is to be a barrier, for whatever kind of futex.
            store_load::<H>();
        }
        // Relaxed: `hb_waiters_pending`; the barrier orders it.
        if self.waiters.load(Relaxed) > 0 {
            self.bucket.wake();
        }
    }

    /// `futex_wait`, by a thread that found the word locked.
    fn lock(&self) -> bool {
        // Relaxed: `hb_waiters_inc`, and the barrier after it.
        self.waiters.fetch_add(1, Relaxed);
        // `word/waiters`, the waiter.
        store_load::<H>();
        // Relaxed: read under the bucket's lock; the barrier orders it.
        let slept = self.bucket.wait(|| self.word.load(Relaxed) == 1);
        // Relaxed: one fewer to wake.
        self.waiters.fetch_sub(1, Relaxed);
        // Acquire: takes the lock.
        assert!(self.word.swap(1, Acquire) == 0, "the system lets a thread go on, and the lock is taken");
        slept
    }
}

fn a_private_futex_is_woken_as_a_thread_waits<H: ModelHost>() -> String {
    main_plays("waiter");
    let linux = Arc::new(Linux::<H> { word: Atomic::new(1), waiters: Atomic::new(0), bucket: Futex::new() });
    let holder = party::<H, _, _>("holder", &linux, Linux::unlock);
    let slept = linux.lock();
    H::join(holder);
    format!("slept {slept}")
}

/// libc++'s `atomic<T>::wait`, for a `T` that the system cannot wait on: it waits on a count beside it.
struct Libcxx<H: ModelHost> {
    /// The program's value.
    value: Atomic<H, u64>,
    /// `__platform_state`: one more with each notification.
    state: Atomic<H, u64>,
    /// `__contention_state`: how many wait.
    waiters: Atomic<H, u64>,
    futex: Futex<H>,
}

impl<H: ModelHost> Libcxx<H> {
    /// `notify_one`, after the program's store.
    fn notify(&self) {
        // Release: the program's own.
        self.value.store(1, Release);
        // Release: a waiter that reads this sees the value.
        self.state.fetch_add(1, Release);
        // `state/waiters`, the notifier.
        store_load::<H>();
        // SeqCst: as libc++ has it.
        if self.waiters.load(SeqCst) > 0 {
            self.futex.wake();
        }
    }

    /// `wait`.
    fn wait(&self) -> &'static str {
        // Acquire: what was notified before this is seen below.
        let seen = self.state.load(Acquire);
        // Acquire: the program's own.
        if self.value.load(Acquire) == 1 {
            return "there already";
        }
        // SeqCst: as libc++ has it. It is no barrier for the system's read of another word.
        self.waiters.fetch_add(1, SeqCst);
        if !is_wrong("museum-libcxx-109290") {
            // `state/waiters`, the waiter.
            store_load::<H>();
        }
        // Relaxed: the system compares, and promises no more.
        let slept = self.futex.wait(|| self.state.load(Relaxed) == seen);
        // Release: as libc++ has it.
        self.waiters.fetch_sub(1, Release);
        // Acquire: as above.
        let is_new = self.state.load(Acquire) != seen;
        // Acquire: the program's own.
        assert!(is_new && self.value.load(Acquire) == 1, "a thread goes on, and the value is the old one");
        if slept { "woken" } else { "notified" }
    }
}

fn a_value_is_notified_as_a_thread_waits<H: ModelHost>() -> String {
    main_plays("waiter");
    let atomic = Arc::new(Libcxx::<H> {
        value: Atomic::new(0),
        state: Atomic::new(0),
        waiters: Atomic::new(0),
        futex: Futex::new(),
    });
    let notifier = party::<H, _, _>("notifier", &atomic, Libcxx::notify);
    let end = atomic.wait();
    H::join(notifier);
    end.to_owned()
}

const FOLLY: &str = "museum::folly_2649::a_flag_is_raised_as_a_thread_parks";
const TBB: &str = "museum::onetbb_2136::a_mutex_is_unlocked_as_a_thread_waits";
const BRPC: &str = "museum::brpc_3539::a_signal_comes_as_a_worker_waits";
const LINUX: &str = "museum::linux_private_futex::it_is_woken_as_a_thread_waits";
const LIBCXX: &str = "museum::libcxx_109290::a_value_is_notified_as_a_thread_waits";

/// The variants' models.
pub const MODELS: &[Model] = &[
    crate::model!("museum::folly_2649::a_flag_is_raised_as_a_thread_parks", a_flag_is_raised_as_a_thread_parks,
        claim: "a flag raised as a thread parks is seen by it, or wakes it",
        size: "2 threads, 1 wake",
        invariants: [],
        must_reach: ["slept true", "slept false"],
        runs: [rc11(), sc(), tso()]),
    crate::model!("museum::onetbb_2136::a_mutex_is_unlocked_as_a_thread_waits", a_mutex_is_unlocked_as_a_thread_waits,
        claim: "a mutex unlocked as a thread begins to wait is taken by it",
        size: "2 threads, 1 lock",
        invariants: [],
        must_reach: ["free", "woken", "free after all"],
        runs: [rc11(), sc(), tso()]),
    crate::model!("museum::brpc_3539::a_signal_comes_as_a_worker_waits", a_signal_comes_as_a_worker_waits,
        claim: "a signal that comes as a worker begins to wait is seen by it, or wakes it",
        size: "2 threads, 1 task",
        invariants: [],
        must_reach: ["stolen", "woken", "signalled"],
        runs: [rc11(), sc(), tso()]),
    crate::model!("museum::linux_private_futex::it_is_woken_as_a_thread_waits",
        a_private_futex_is_woken_as_a_thread_waits,
        claim: "a futex woken as a thread begins to wait is not waited for",
        size: "2 threads, 1 lock",
        invariants: [],
        must_reach: ["slept true", "slept false"],
        runs: [rc11(), sc(), tso()]),
    crate::model!("museum::libcxx_109290::a_value_is_notified_as_a_thread_waits", a_value_is_notified_as_a_thread_waits,
        claim: "a value notified as a thread begins to wait is seen by it, or wakes it",
        size: "2 threads, 1 notification",
        invariants: [],
        must_reach: ["there already", "woken", "notified"],
        runs: [rc11(), sc(), tso()]),
];

/// The variants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "museum";
    "museum-folly-ff7ab9d": "the unparker has no barrier between its store and the count of those parked",
        variant("museum-folly-ff7ab9d"), by FOLLY => [Rc11, Tso, Loom];
    // TSO sees nothing wrong: on a PC the count's exchange is a barrier.
    "museum-folly-2649": "the parker has no barrier between counting itself and its last look",
        variant("museum-folly-2649"), by FOLLY => [Rc11, Loom];
    "museum-onetbb-2136": "a thread that unlocks a mutex by an exchange has no barrier before it looks for waiters",
        variant("museum-onetbb-2136"), by TBB => [Rc11, Loom];
    "museum-brpc-3539": "neither the signaller nor the waiter has a barrier",
        variant("museum-brpc-3539"), by BRPC => [Rc11, Loom];
    "museum-linux-private-futex": "futex_wake has no barrier before it looks whether a thread waits",
        variant("museum-linux-private-futex"), by LINUX => [Rc11, Loom];
    "museum-libcxx-109290": "the waiter takes its count's exchange, or the system, for a barrier",
        variant("museum-libcxx-109290"), by LIBCXX => [Rc11, Loom];
};

/// The bugs.
pub const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "folly-ff7ab9d",
        project: "folly",
        issue: "https://github.com/facebook/folly/commit/ff7ab9d",
        year: 2021,
        people: "A thread parked for ever, though the flag that it waits for was raised.",
        cause: "unpark reads the count of those parked, SeqCst. That orders it among SeqCst accesses only, and the \
                caller's store need not be one.",
        fix: "A SeqCst fence in unpark, before the count is read.",
        source: Source::Told,
        mutant: "museum-folly-ff7ab9d",
    },
    Exhibit {
        name: "folly-2649",
        project: "folly",
        issue: "https://github.com/facebook/folly/issues/2649",
        year: 2026,
        people: "Found by reading; it has not been seen to happen.",
        cause: "The same in park: a SeqCst exchange counts the thread, and its last look is at the caller's word, with \
                whatever ordering the caller likes. Taking the bucket's lock in between is no barrier.",
        fix: "The mirror fence is proposed (#2700), and not merged as this is written.",
        source: Source::Read,
        mutant: "museum-folly-2649",
    },
    Exhibit {
        name: "onetbb-2136",
        project: "oneTBB",
        issue: "https://github.com/uxlfoundation/oneTBB/pull/2136",
        year: 2026,
        people: "On AArch64 a thread slept for ever on a mutex that was free.",
        cause: "unlock is an exchange, and then a Relaxed look at the list of waiters. The comment beside it asks for \
                a full barrier; an exchange is none for another word.",
        fix: "A SeqCst fence before the list is looked at.",
        source: Source::Read,
        mutant: "museum-onetbb-2136",
    },
    Exhibit {
        name: "brpc-3539",
        project: "brpc",
        issue: "https://github.com/apache/brpc/pull/3539",
        year: 2026,
        people: "With the option not to signal when no worker waits, a worker slept until some later signal.",
        cause: "The signals and the count of waiters are two words, both Relaxed as far as each other is concerned: \
                each side may read the other's old value.",
        fix: "A barrier on both sides.",
        source: Source::Read,
        mutant: "museum-brpc-3539",
    },
    Exhibit {
        name: "linux-private-futex",
        project: "Linux",
        issue: "commit 76835b0ebf8a (futex: Ensure get_futex_key_refs() always implies a barrier)",
        year: 2014,
        people: "Android programs on ARM64 stood still, each thread waiting for a mutex that was free.",
        cause: "futex_wake was made to return early if no thread waits, and relies on a barrier inside of another \
                function. For a private futex that function does nothing, and so is no barrier.",
        fix: "An explicit barrier in the path of private futexes.",
        source: Source::Told,
        mutant: "museum-linux-private-futex",
    },
    Exhibit {
        name: "libcxx-109290",
        project: "libc++",
        issue: "https://github.com/llvm/llvm-project/issues/109290",
        year: 2024,
        people: "Found with herd7; possible on PowerPC, and on ARM with the newer instructions.",
        cause: "wait counts itself and lets the system compare another word; it was believed that the system's call, \
                or the SeqCst exchange before it, is a barrier.",
        fix: "A SeqCst fence before the system is called (#146267).",
        source: Source::Read,
        mutant: "museum-libcxx-109290",
    },
];
