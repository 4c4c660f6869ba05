//! How many threads are idle, or awake, or there at all: counts that decide whether a thread is woken or started. Each
//! change has to be made once, by the thread that makes it true.

use crate::common::{Exhibit, Model, ModelHost, Mutant, Source, is_wrong, main_plays, party, rc11, sc};
use spinpark_kernel::atomic::{Atomic, store_load};
use spinpark_kernel::host::{Lock, Parker};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// What tokio's blocking pool keeps under its lock.
#[derive(Default)]
struct Shared {
    queue: u32,
    /// `num_notify`: wakes that no thread has used up yet.
    notify: u32,
    /// `num_idle_threads`.
    idle: i32,
    shutdown: bool,
}

/// tokio's blocking pool, and the one thread it has.
struct Blocking<H: ModelHost> {
    shared: H::Lock<Shared>,
    condvar: H::Parker,
}

impl<H: ModelHost> Blocking<H> {
    fn new(shared: Shared) -> Arc<Self> {
        Arc::new(Blocking { shared: H::Lock::new(shared), condvar: H::Parker::new() })
    }

    /// `spawn_task`. `None`: the pool shuts down. Else: was an idle thread counted on?
    fn spawn(&self) -> Option<bool> {
        let counts_on_one = self.shared.with(|shared| {
            if shared.shutdown {
                return None;
            }
            shared.queue += 1;
            let is_one_idle = shared.idle > 0;
            if is_one_idle {
                // The thread is woken, and so no longer idle: its waker says so.
                shared.idle -= 1;
                shared.notify += 1;
            }
            Some(is_one_idle)
        });
        if counts_on_one == Some(true) {
            self.condvar.unpark();
        }
        counts_on_one
    }

    fn shut_down(&self) {
        self.shared.with(|shared| shared.shutdown = true);
        self.condvar.unpark();
    }

    /// `Inner::run`, until the pool shuts down; how many tasks it ran.
    fn run(&self) -> u32 {
        let mut ran = 0;
        loop {
            self.shared.with(|shared| {
                ran += std::mem::take(&mut shared.queue);
                shared.idle += 1;
            });
            let (is_counted_idle, ends) = loop {
                let woken = self.shared.with(|shared| {
                    let is_notified = shared.notify > 0;
                    shared.notify -= u32::from(is_notified);
                    (is_notified || shared.shutdown).then_some((!is_notified, shared.shutdown))
                });
                match woken {
                    Some(woken) => break woken,
                    None => self.condvar.park(),
                }
            };
            if ends {
                return self.shared.with(|shared| {
                    // The notifier of this thread has counted it out already, though it ends instead of working.
                    if is_counted_idle || is_wrong("museum-tokio-7922") {
                        shared.idle -= 1;
                    }
                    assert!(shared.idle >= 0, "{} threads are idle", shared.idle);
                    ran + std::mem::take(&mut shared.queue)
                });
            }
        }
    }

    /// The wait of an idle thread that ends when it was not needed for a while. Did it run a task?
    fn waits_for_a_while(&self) -> bool {
        self.condvar.park_timeout(10);
        self.shared.with(|shared| {
            let is_notified = shared.notify > 0;
            if is_notified {
                shared.notify -= 1;
                shared.queue -= 1;
            } else if !is_wrong("museum-tokio-1562") {
                // It ends, and no spawner may count on it.
                shared.idle -= 1;
            }
            is_notified
        })
    }
}

fn a_task_is_spawned_as_the_pool_shuts_down<H: ModelHost>() -> String {
    main_plays("owner");
    let pool = Blocking::<H>::new(Shared::default());
    let thread = party::<H, _, _>("thread", &pool, Blocking::run);
    let spawner = party::<H, _, _>("spawner", &pool, Blocking::spawn);
    pool.shut_down();
    let (ran, spawned) = (H::join(thread), H::join(spawner));
    assert!(ran == u32::from(spawned.is_some()), "a task was accepted, and is not run");
    format!("spawned {spawned:?} ran {ran}")
}

fn a_task_is_spawned_as_the_idle_thread_ends<H: ModelHost>() -> String {
    main_plays("spawner");
    let pool = Blocking::<H>::new(Shared { idle: 1, ..Shared::default() });
    let thread = party::<H, _, _>("thread", &pool, Blocking::waits_for_a_while);
    // If no thread is idle, one is started, which is not played here.
    let is_left_to_it = pool.spawn() == Some(true);
    let ran = H::join(thread);
    assert!(ran == is_left_to_it, "a task is left to a thread that has ended");
    format!("left to it {is_left_to_it}")
}

/// What tokio's scheduler keeps under its lock.
#[derive(Default)]
struct Synced {
    tasks: u32,
    /// `idle::Synced::sleepers`: worker 0, or none; twice, if it is wrong.
    sleepers: Vec<usize>,
}

/// A worker of tokio's of which a dump is requested.
struct Dumped<H: ModelHost> {
    synced: H::Lock<Synced>,
    /// `num_unparked`.
    unparked: Atomic<H, u64>,
    is_dump_asked_for: Atomic<H, u64>,
    parker: H::Parker,
}

impl<H: ModelHost> Dumped<H> {
    /// The worker is no sleeper any more; was it?
    fn wakes_up(&self, synced: &mut Synced) -> bool {
        let slept = synced.sleepers.pop().is_some();
        // Relaxed: written under the lock.
        self.unparked.fetch_add(u64::from(slept), Relaxed);
        slept
    }

    fn ask_for_dump(&self) {
        // Release: as the request is made.
        self.is_dump_asked_for.store(1, Release);
        self.parker.unpark();
    }

    fn push(&self) {
        let wakes = self.synced.with(|synced| {
            synced.tasks += 1;
            self.wakes_up(synced)
        });
        if wakes {
            self.parker.unpark();
        }
    }

    /// The worker, until it has run the task; how many dumps it made.
    fn run(&self) -> u32 {
        let mut dumps = 0;
        loop {
            let found = self.synced.with(|synced| {
                if synced.tasks > 0 {
                    return true;
                }
                // `transition_worker_to_parked`.
                synced.sleepers.push(0);
                // Relaxed: written under the lock.
                let unparked = self.unparked.fetch_sub(1, Relaxed);
                assert!(synced.sleepers.len() == 1 && unparked == 1, "a worker is in the list of sleepers twice");
                false
            });
            if found {
                return dumps;
            }
            loop {
                self.parker.park();
                // AcqRel: sees the request.
                if self.is_dump_asked_for.swap(0, AcqRel) == 1 {
                    // It leaves its sleep, and says so, unless a push has said so for it.
                    if !is_wrong("museum-tokio-8372") {
                        self.synced.with(|synced| self.wakes_up(synced));
                    }
                    dumps += 1;
                    break;
                }
                if self.synced.with(|synced| synced.sleepers.is_empty()) {
                    break;
                }
            }
        }
    }
}

fn a_sleeper_is_woken_for_a_dump<H: ModelHost>() -> String {
    main_plays("worker");
    let worker = Arc::new(Dumped::<H> {
        synced: H::Lock::new(Synced::default()),
        unparked: Atomic::new(1),
        is_dump_asked_for: Atomic::new(0),
        parker: H::Parker::new(),
    });
    let asker = party::<H, _, _>("asker", &worker, Dumped::ask_for_dump);
    let pusher = party::<H, _, _>("pusher", &worker, Dumped::push);
    let dumps = worker.run();
    H::join(asker);
    H::join(pusher);
    format!("dumps {dumps}")
}

/// Java's `ForkJoinPool`: two counts side by side in one word, three bits each here, signed.
struct ForkJoin<H: ModelHost> {
    /// `ctl`: above, how many are released, less those there should be; below, how many there are, the same.
    ctl: Atomic<H, u64>,
    tasks: Atomic<H, u64>,
    parker: H::Parker,
}

const TC_UNIT: u64 = 1;
const TC_MASK: u64 = 0b000_111;
const RC_UNIT: u64 = 0b001_000;
const RC_MASK: u64 = 0b111_000;
/// The sign of the upper count: too few are released.
const TOO_FEW: u64 = 0b100_000;

impl<H: ModelHost> ForkJoin<H> {
    fn change(&self, to: impl Fn(u64) -> Option<u64>) -> bool {
        // Acquire: as `ctl` is read.
        let mut ctl = self.ctl.load(Acquire);
        while let Some(new) = to(ctl) {
            // AcqRel: as `ctl` is changed.
            match self.ctl.compare_exchange(ctl, new, AcqRel, Acquire) {
                Ok(_) => return true,
                Err(found) => ctl = found,
            }
        }
        false
    }

    /// `tryTrim`: a thread that was idle for long ends.
    fn trim(&self) {
        self.change(|ctl| {
            let fewer = ctl.wrapping_sub(TC_UNIT);
            Some(match is_wrong("museum-jdk-8351933") {
                // The lower count may have been 0, and then the upper one has paid for it.
                true => fewer & (RC_MASK | TC_MASK),
                false => (ctl & RC_MASK) | (fewer & TC_MASK),
            })
        });
    }

    /// `push`, `signalWork`. Was there still one more thread?
    fn submit(&self) -> bool {
        // Release: publishes the task.
        self.tasks.store(1, Release);
        // `tasks/ctl`: what the original's full exchanges do.
        store_load::<H>();
        // Relaxed: the barrier orders it.
        let before = self.ctl.load(Relaxed) & TC_MASK == 0;
        let signals =
            self.change(|ctl| (ctl & TOO_FEW != 0).then_some((ctl.wrapping_add(RC_UNIT) & RC_MASK) | (ctl & TC_MASK)));
        if signals {
            self.parker.unpark();
        }
        before
    }

    /// An idle thread.
    fn work(&self) {
        self.parker.park();
        // Acquire: takes the task with what was done before.
        assert!(self.tasks.load(Acquire) == 1, "a thread was signalled, and there is no task");
    }
}

fn a_task_is_submitted_as_a_thread_is_trimmed<H: ModelHost>() -> String {
    main_plays("worker");
    // As low as the upper count can be: that many threads have been trimmed at the wrong moment before.
    let pool = Arc::new(ForkJoin::<H> { ctl: Atomic::new(TOO_FEW), tasks: Atomic::new(0), parker: H::Parker::new() });
    let trimmed = party::<H, _, _>("trimmed", &pool, ForkJoin::trim);
    let submitter = party::<H, _, _>("submitter", &pool, ForkJoin::submit);
    pool.work();
    H::join(trimmed);
    let before = H::join(submitter);
    format!("submitted before {before}")
}

const SHUTDOWN: &str = "museum::tokio_7922::a_task_is_spawned_as_the_pool_shuts_down";
const TIMEOUT: &str = "museum::tokio_1562::a_task_is_spawned_as_the_idle_thread_ends";
const DUMP: &str = "museum::tokio_8372::a_sleeper_is_woken_for_a_dump";
const TRIM: &str = "museum::jdk_8351933::a_task_is_submitted_as_a_thread_is_trimmed";

/// The variants' models.
pub const MODELS: &[Model] = &[
    crate::model!("museum::tokio_7922::a_task_is_spawned_as_the_pool_shuts_down",
        a_task_is_spawned_as_the_pool_shuts_down,
        claim: "an idle thread that is woken for a task as the pool shuts down is counted out once, and runs it",
        size: "3 threads, 1 task",
        invariants: [],
        must_reach: ["spawned None ran 0", "spawned Some(true) ran 1", "spawned Some(false) ran 1"],
        runs: [rc11(), sc()]),
    crate::model!("museum::tokio_1562::a_task_is_spawned_as_the_idle_thread_ends",
        a_task_is_spawned_as_the_idle_thread_ends,
        claim: "no task is left to a thread that ends because it was idle for long",
        size: "2 threads, 1 task",
        invariants: [],
        must_reach: ["left to it true", "left to it false"],
        runs: [rc11(), sc()]),
    crate::model!("museum::tokio_8372::a_sleeper_is_woken_for_a_dump", a_sleeper_is_woken_for_a_dump,
        claim: "a worker that is woken to show a dump sleeps again, and is woken for a task",
        size: "3 threads, 1 dump, 1 task",
        invariants: [],
        must_reach: ["dumps 0", "dumps 1"],
        runs: [rc11(), sc()]),
    crate::model!("museum::jdk_8351933::a_task_is_submitted_as_a_thread_is_trimmed",
        a_task_is_submitted_as_a_thread_is_trimmed,
        claim: "a thread that ends takes nothing from the count that decides whether a task gets one",
        size: "3 threads, 1 task, counts of 3 bits",
        invariants: [],
        must_reach: ["submitted before true", "submitted before false"],
        runs: [rc11(), sc()]),
];

/// The variants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "museum";
    "museum-tokio-7922": "a thread that ends counts itself out though its waker has done so",
        variant("museum-tokio-7922"), by SHUTDOWN => [Rc11, Sc, Loom];
    "museum-tokio-1562": "a thread that ends because it was idle for long stays counted as idle",
        variant("museum-tokio-1562"), by TIMEOUT => [Rc11, Sc, Loom];
    // Not on loom, which fails inside of itself when a sleeper is woken twice.
    "museum-tokio-8372": "a worker that is woken for a dump stays in the list of sleepers",
        variant("museum-tokio-8372"), by DUMP => [Rc11, Sc];
    "museum-jdk-8351933": "the lower of two counts in a word borrows from the upper",
        variant("museum-jdk-8351933"), by TRIM => [Rc11, Sc, Loom];
};

/// The bugs.
pub const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "tokio-7922",
        project: "tokio",
        issue: "https://github.com/tokio-rs/tokio/pull/7922",
        year: 2026,
        people: "A thread of the blocking pool panicked as the runtime shut down.",
        cause: "A thread that spawns a task counts the idle thread out that it wakes. If the pool shuts down before \
                that one is awake, the thread ends, and counts itself out again.",
        fix: "The thread remembers whether it is still counted.",
        source: Source::Read,
        mutant: "museum-tokio-7922",
    },
    Exhibit {
        name: "tokio-1562",
        project: "tokio",
        issue: "https://github.com/tokio-rs/tokio/pull/1562",
        year: 2019,
        people: "After ten idle seconds no blocking task was ever run again.",
        cause: "Threads end when they were idle for long, and stayed counted: the pool woke threads that were gone.",
        fix: "A thread that ends counts itself out (also #1560).",
        source: Source::Read,
        mutant: "museum-tokio-1562",
    },
    Exhibit {
        name: "tokio-8372",
        project: "tokio",
        issue: "https://github.com/tokio-rs/tokio/issues/8373",
        year: 2026,
        people: "After a task dump, tasks spawned from outside were no longer run.",
        cause: "The dump wakes parked workers without a word to the books; each parks again and is in the list of \
                sleepers twice, and the count of those awake runs below zero.",
        fix: "A worker that leaves its sleep for a dump says so (#8372).",
        source: Source::Read,
        mutant: "museum-tokio-8372",
    },
    Exhibit {
        name: "jdk-8351933",
        project: "JDK",
        issue: "https://github.com/openjdk/jdk/pull/24034",
        year: 2025,
        people: "After weeks a ForkJoinPool ran no tasks any more, and the program had to be started again.",
        cause: "Two signed counts share a word. When the lower one was 0 its decrement borrowed one from the upper, a \
                little more each time, until that one ran below its least value and read as: enough threads.",
        fix: "Each count is masked by itself.",
        source: Source::Read,
        mutant: "museum-jdk-8351933",
    },
];
