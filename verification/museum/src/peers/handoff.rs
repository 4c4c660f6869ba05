//! The wake was sent, the task was put: to whom, and where? Each of these is a step left out or taken too early; none
//! needs a weak machine.

use crate::common::{Exhibit, Model, ModelHost, Mutant, Source, is_wrong, main_plays, party, rc11, sc};
use crate::peers::Futex;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{Lock, Parker};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// A worker of tokio's calls `block_in_place`: it hands its core to another thread and waits for another task's answer.
struct Tokio<H: ModelHost> {
    /// The core, if it lies there to be taken.
    core: Atomic<H, u64>,
    /// The core's run queue; the worker that has the core writes it.
    queue: Atomic<H, u64>,
    answer: Atomic<H, u64>,
    worker: H::Parker,
    other: H::Parker,
}

impl<H: ModelHost> Tokio<H> {
    /// `block_in_place`. The task that is to answer has yielded, and is deferred: its waker lies with this thread.
    fn block_in_place(&self) -> &'static str {
        if !is_wrong("museum-tokio-7877") {
            // Relaxed: handed over with the core.
            self.queue.store(1, Relaxed);
        }
        // Release: hands the core over.
        self.core.swap(1, Release);
        self.other.unpark();
        // Acquire: takes the answer with what was done before.
        if self.answer.load(Acquire) == 1 {
            return "there already";
        }
        self.worker.park();
        // What is deferred is woken when the thread is back.
        "waited for"
    }

    /// The thread that takes the core over.
    fn take_over(&self) {
        // Acquire: takes the core with its queue.
        while self.core.swap(0, Acquire) == 0 {
            self.other.park();
        }
        // Relaxed: it has the core.
        while self.queue.swap(0, Relaxed) == 0 {
            self.other.park();
        }
        // Release: gives the answer.
        self.answer.store(1, Release);
        self.worker.unpark();
    }
}

fn a_task_blocks_while_another_is_deferred<H: ModelHost>() -> String {
    main_plays("worker");
    let tokio = Arc::new(Tokio::<H> {
        core: Atomic::new(0),
        queue: Atomic::new(0),
        answer: Atomic::new(0),
        worker: H::Parker::new(),
        other: H::Parker::new(),
    });
    let other = party::<H, _, _>("other", &tokio, Tokio::take_over);
    let answer = tokio.block_in_place();
    H::join(other);
    format!("the answer was {answer}")
}

/// Two workers that sleep in one place, and a task that only the first may run.
struct Pinned<H: ModelHost> {
    books: H::Lock<Books>,
    parkers: [H::Parker; 2],
}

#[derive(Default)]
struct Books {
    is_there: bool,
    is_over: bool,
    asleep: [bool; 2],
}

impl<H: ModelHost> Pinned<H> {
    /// Worker `me`, until it has run its task or all is over.
    fn work(&self, me: usize) {
        while self.books.with(|books| {
            books.asleep[me] = !(books.is_over || me == 0 && books.is_there);
            books.asleep[me]
        }) {
            self.parkers[me].park();
        }
    }

    /// The task is there; how many slept?
    fn wake(&self) -> usize {
        let (slept, wakes) = self.books.with(|books| {
            books.is_there = true;
            let sleepers: Vec<usize> = (0..2).filter(|worker| books.asleep[*worker]).collect();
            let wakes = match is_wrong("museum-switchyard-5") {
                // `notify_one`: any that sleeps there.
                true if !sleepers.is_empty() => Some(sleepers[H::choose(sleepers.len())]),
                true => None,
                false => books.asleep[0].then_some(0),
            };
            (sleepers.len(), wakes)
        });
        wakes.into_iter().for_each(|worker| self.parkers[worker].unpark());
        slept
    }
}

fn a_task_that_only_one_may_run_is_woken<H: ModelHost>() -> String {
    main_plays("waker");
    let parkers = [H::Parker::new(), H::Parker::new()];
    let pinned = Arc::new(Pinned::<H> { books: H::Lock::new(Books::default()), parkers });
    let owner = party::<H, _, _>("owner", &pinned, |pinned| pinned.work(0));
    let other = party::<H, _, _>("other", &pinned, |pinned| pinned.work(1));
    let slept = pinned.wake();
    H::join(owner);
    pinned.books.with(|books| books.is_over = true);
    pinned.parkers[1].unpark();
    H::join(other);
    format!("{slept} slept")
}

/// flume's channel: messages, and receivers that wait for one.
struct Flume<H: ModelHost> {
    channel: H::Lock<Channel>,
    parker: H::Parker,
}

#[derive(Default)]
struct Channel {
    messages: u32,
    /// `waiting`: the hooks of those that wait, oldest first. 0 is the one that gives up, 1 the one that goes on.
    waiting: Vec<usize>,
}

impl<H: ModelHost> Flume<H> {
    /// Wakes the oldest that waits.
    fn wake_one(&self, channel: &mut Channel) {
        if !channel.waiting.is_empty() && channel.waiting.remove(0) == 1 {
            self.parker.unpark();
        }
    }

    fn send(&self) {
        self.channel.with(|channel| {
            channel.messages += 1;
            self.wake_one(channel);
        });
    }

    /// `recv_async`, polled once, and then dropped: another branch of `select!` was ready. Was it woken just before?
    fn gives_up(&self) -> bool {
        let waits = self.channel.with(|channel| {
            let waits = channel.messages == 0;
            channel.waiting.extend(waits.then_some(0));
            waits
        });
        waits
            && self.channel.with(|channel| {
                let was_woken = !channel.waiting.contains(&0);
                channel.waiting.retain(|hook| *hook != 0);
                if was_woken && !is_wrong("museum-flume-cancel") {
                    // The wake was for a message that this one will never take.
                    self.wake_one(channel);
                }
                was_woken
            })
    }

    /// `recv`.
    fn receive(&self) {
        while self.channel.with(|channel| {
            let waits = channel.messages == 0;
            channel.messages -= u32::from(!waits);
            channel.waiting.extend(waits.then_some(1));
            waits
        }) {
            self.parker.park();
        }
    }
}

fn a_receiver_gives_up_as_it_is_woken<H: ModelHost>() -> String {
    main_plays("sender");
    let flume = Arc::new(Flume::<H> { channel: H::Lock::new(Channel::default()), parker: H::Parker::new() });
    let gives_up = party::<H, _, _>("gives up", &flume, Flume::gives_up);
    let receiver = party::<H, _, _>("receiver", &flume, Flume::receive);
    flume.send();
    let was_woken = H::join(gives_up);
    H::join(receiver);
    format!("woken as it gave up: {was_woken}")
}

/// async-executor: one thread spawns a task while it runs the executor, the other polls it by `tick`.
struct Smol<H: ModelHost> {
    /// The queue of all.
    queue: Atomic<H, u64>,
    /// The queue of the thread that spawns.
    local: Atomic<H, u64>,
    ticker: H::Parker,
}

impl<H: ModelHost> Smol<H> {
    /// `spawn`, on a thread that runs the executor, and is done with that right afterwards.
    fn spawn(&self) {
        let queue = if is_wrong("museum-async-executor-104") { &self.local } else { &self.queue };
        // Release: publishes the task.
        queue.store(1, Release);
        self.ticker.unpark();
    }

    /// `tick`, until the task was run; how many times it slept. It looks where it may: not in another thread's queue.
    fn tick(&self) -> u32 {
        let mut slept = 0;
        // Acquire: takes the task with what was done before.
        while self.queue.load(Acquire) == 0 {
            self.ticker.park();
            slept += 1;
        }
        slept
    }
}

fn a_task_is_spawned_by_a_thread_that_leaves<H: ModelHost>() -> String {
    main_plays("ticker");
    let smol = Arc::new(Smol::<H> { queue: Atomic::new(0), local: Atomic::new(0), ticker: H::Parker::new() });
    let spawner = party::<H, _, _>("spawner", &smol, Smol::spawn);
    let slept = smol.tick();
    H::join(spawner);
    format!("slept {slept} times")
}

/// ntf-core's `Async`: a queue of functors with its own lock, and a thread that waits on a condition with another.
struct Ntf<H: ModelHost> {
    functors: H::Lock<u32>,
    run: Futex<H>,
}

impl<H: ModelHost> Ntf<H> {
    /// `execute`.
    fn execute(&self) {
        self.functors.with(|functors| *functors += 1);
        self.run.wake();
    }

    fn is_empty(&self) -> bool {
        self.functors.with(|functors| *functors == 0)
    }

    /// `run`, one round. Did it wait?
    fn run(&self) -> bool {
        let is_empty = self.is_empty();
        // What was seen without the condition's lock must be looked at again under it.
        let waited = is_empty && self.run.wait(|| is_wrong("museum-ntf-core-395") || self.is_empty());
        assert!(!self.is_empty(), "it goes on, and there is nothing to run");
        waited
    }
}

fn a_functor_is_queued_as_the_thread_waits<H: ModelHost>() -> String {
    main_plays("runner");
    let ntf = Arc::new(Ntf::<H> { functors: H::Lock::new(0), run: Futex::new() });
    let executor = party::<H, _, _>("executor", &ntf, Ntf::execute);
    let waited = ntf.run();
    H::join(executor);
    format!("waited {waited}")
}

/// A worker of hew's: a queue, and a condition to sleep on. Its waker does not take the condition's lock.
struct Hew<H: ModelHost> {
    queue: Atomic<H, u64>,
    sleeps: H::Lock<bool>,
    parker: H::Parker,
}

impl<H: ModelHost> Hew<H> {
    /// `sched_try_wake`, after the push.
    fn push(&self) {
        // Release: publishes the task.
        self.queue.store(1, Release);
        let wakes = self.sleeps.with(std::mem::take);
        if wakes {
            self.parker.unpark();
        }
    }

    /// `worker_loop`. Did it sleep?
    fn work(&self) -> bool {
        // AcqRel: takes the task with what was done before.
        if self.queue.compare_exchange(1, 0, AcqRel, Relaxed).is_ok() {
            return false;
        }
        let sleeps = self.sleeps.with(|sleeps| {
            // Acquire: the last look, at the queue and not only at whether all is over.
            *sleeps = is_wrong("museum-hew-2830") || self.queue.load(Acquire) == 0;
            *sleeps
        });
        if sleeps {
            self.parker.park();
        }
        // AcqRel: as above.
        assert!(self.queue.compare_exchange(1, 0, AcqRel, Relaxed).is_ok(), "a worker goes on, and there is no task");
        sleeps
    }
}

fn a_task_is_pushed_between_look_and_sleep<H: ModelHost>() -> String {
    main_plays("worker");
    let hew = Arc::new(Hew::<H> { queue: Atomic::new(0), sleeps: H::Lock::new(false), parker: H::Parker::new() });
    let pusher = party::<H, _, _>("pusher", &hew, Hew::push);
    let slept = hew.work();
    H::join(pusher);
    format!("slept {slept}")
}

const DEFERRED: &str = "museum::tokio_7877::a_task_blocks_while_another_is_deferred";
const PINNED: &str = "museum::switchyard_5::a_task_that_only_one_may_run_is_woken";
const GIVES_UP: &str = "museum::flume_cancel::a_receiver_gives_up_as_it_is_woken";
const LEAVES: &str = "museum::async_executor_104::a_task_is_spawned_by_a_thread_that_leaves";
const FUNCTOR: &str = "museum::ntf_core_395::a_functor_is_queued_as_the_thread_waits";
const BETWEEN: &str = "museum::hew_2830::a_task_is_pushed_between_look_and_sleep";

/// The variants' models.
pub const MODELS: &[Model] = &[
    crate::model!("museum::tokio_7877::a_task_blocks_while_another_is_deferred",
        a_task_blocks_while_another_is_deferred,
        claim: "a task that blocks its thread leaves the tasks deferred there to the thread that takes the core",
        size: "2 threads, 2 tasks",
        invariants: [],
        must_reach: ["there already", "waited for"],
        runs: [rc11(), sc()]),
    crate::model!("museum::switchyard_5::a_task_that_only_one_may_run_is_woken", a_task_that_only_one_may_run_is_woken,
        claim: "a wake goes to the worker that may run the task",
        size: "3 threads, 1 task",
        invariants: [],
        must_reach: ["0 slept", "1 slept", "2 slept"],
        runs: [rc11(), sc()]),
    crate::model!("museum::flume_cancel::a_receiver_gives_up_as_it_is_woken", a_receiver_gives_up_as_it_is_woken,
        claim: "a receiver that gives up as it is woken passes the wake on",
        size: "3 threads, 1 message",
        invariants: [],
        must_reach: ["woken as it gave up: true", "woken as it gave up: false"],
        runs: [rc11(), sc()]),
    crate::model!("museum::async_executor_104::a_task_is_spawned_by_a_thread_that_leaves",
        a_task_is_spawned_by_a_thread_that_leaves,
        claim: "a task lies where a thread that goes on looks",
        size: "2 threads, 1 task",
        invariants: [],
        must_reach: ["slept 0 times", "slept 1 times"],
        runs: [rc11(), sc()]),
    crate::model!("museum::ntf_core_395::a_functor_is_queued_as_the_thread_waits",
        a_functor_is_queued_as_the_thread_waits,
        claim: "a functor queued as the thread begins to wait is seen by it, or wakes it",
        size: "2 threads, 1 functor",
        invariants: [],
        must_reach: ["waited true", "waited false"],
        runs: [rc11(), sc()]),
    crate::model!("museum::hew_2830::a_task_is_pushed_between_look_and_sleep", a_task_is_pushed_between_look_and_sleep,
        claim: "a task pushed between a worker's last look and its sleep is seen by it, or wakes it",
        size: "2 threads, 1 task",
        invariants: [],
        must_reach: ["slept true", "slept false"],
        runs: [rc11(), sc()]),
];

/// The variants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "museum";
    "museum-tokio-7877": "a thread that gives its core away keeps the tasks that are deferred",
        variant("museum-tokio-7877"), by DEFERRED => [Rc11, Sc, Loom];
    // loom does not try both sleepers.
    "museum-switchyard-5": "any sleeper is woken for a task that only one may run",
        variant("museum-switchyard-5"), by PINNED => [Rc11, Sc];
    "museum-flume-cancel": "a receiver that gives up keeps the wake that it got",
        variant("museum-flume-cancel"), by GIVES_UP => [Rc11, Sc, Loom];
    "museum-async-executor-104": "a task is put where only a thread looks that leaves",
        variant("museum-async-executor-104"), by LEAVES => [Rc11, Sc, Loom];
    "museum-ntf-core-395": "a thread waits on a condition for what it has seen without its lock",
        variant("museum-ntf-core-395"), by FUNCTOR => [Rc11, Sc, Loom];
    "museum-hew-2830": "a worker that falls asleep does not look at the queue under the lock",
        variant("museum-hew-2830"), by BETWEEN => [Rc11, Sc, Loom];
};

/// The bugs.
pub const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "tokio-7877",
        project: "tokio",
        issue: "https://github.com/tokio-rs/tokio/issues/7877",
        year: 2026,
        people: "A task that waits in block_in_place for another one's answer waited for ever under load.",
        cause: "A task that has used up its turn is deferred, and its waker kept by the thread. The thread gives its \
                core to another and blocks; the waker stays behind. (The same in 2022, #5251, and 2025, #7216.)",
        fix: "What is deferred is woken before the thread blocks (#7879).",
        source: Source::Read,
        mutant: "museum-tokio-7877",
    },
    Exhibit {
        name: "switchyard-5",
        project: "switchyard",
        issue: "https://github.com/BVE-Reborn/switchyard/issues/5",
        year: 2020,
        people: "A task that is bound to its thread was not run again after a wake.",
        cause: "All threads of the pool sleep on one condition, and a wake goes to any of them. That one finds no task \
                of its own and sleeps again.",
        fix: "A wake has to go to the thread that owns the task.",
        source: Source::Read,
        mutant: "museum-switchyard-5",
    },
    Exhibit {
        name: "julia-32551",
        project: "Julia",
        issue: "https://github.com/JuliaLang/julia/pull/32551",
        year: 2019,
        people: "Programs with threads stood still; its author nominates it for the hardest one to find.",
        cause: "A wrong variable: another thread was woken than the one that the task is for.",
        fix: "The right variable.",
        source: Source::Read,
        mutant: "museum-switchyard-5",
    },
    Exhibit {
        name: "flume-cancel",
        project: "flume",
        issue: "https://github.com/n0-computer/iroh/pull/2536",
        year: 2024,
        people: "iroh's tests hung one time in a thousand: a message lay in the channel, and its receiver slept. iroh \
                 left flume for that.",
        cause: "A receiver inside of select! may be dropped after it was woken and before it has looked. Its wake is \
                lost with it, unless it is passed on. Which line of flume lets that happen was not found out there.",
        fix: "iroh took another channel.",
        source: Source::OurReading,
        mutant: "museum-flume-cancel",
    },
    Exhibit {
        name: "async-executor-104",
        project: "async-executor",
        issue: "https://github.com/smol-rs/async-executor/pull/104",
        year: 2024,
        people: "Bevy hung; the release was withdrawn.",
        cause: "For speed a task was put into a queue of the thread that spawns it. If from then on only others poll \
                the executor, by tick, no thread looks there.",
        fix: "The queues of threads were taken out again.",
        source: Source::Read,
        mutant: "museum-async-executor-104",
    },
    Exhibit {
        name: "ntf-core-395",
        project: "ntf-core",
        issue: "https://github.com/bloomberg/ntf-core/pull/395",
        year: 2026,
        people: "A functor was not run until the next one came.",
        cause: "A thread asks the queue whether it is empty, takes the lock of a condition, and waits. The functor and \
                its signal came in between.",
        fix: "It asks again under the condition's lock.",
        source: Source::Read,
        mutant: "museum-ntf-core-395",
    },
    Exhibit {
        name: "hew-2830",
        project: "hew",
        issue: "https://github.com/hew-lang/hew/issues/2830",
        year: 2026,
        people: "A task was now and then ten milliseconds late: the sleep has a timeout, which hid the bug.",
        cause: "Under the condition's lock a worker looks only whether all is over, not whether there is work; and the \
                waker does not take that lock.",
        fix: "The waker takes the lock, and the sleeper looks at the queues under it.",
        source: Source::Read,
        mutant: "museum-hew-2830",
    },
];
