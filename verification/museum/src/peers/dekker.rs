//! One writes and then reads, the other writes and then reads: a task is put and then the sleepers are counted, a
//! sleeper counts itself and then looks for tasks. Without a StoreLoad barrier on both sides neither may see the other.

use crate::common::{Exhibit, Model, ModelHost, Mutant, Source, is_wrong, main_plays, party, rc11, sc, tso};
use spinpark_kernel::atomic::{Atomic, store_load};
use spinpark_kernel::host::{Lock, Parker};
use spinpark_verification::mutation::mutant;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

/// tokio's `Idle`, for two workers: one runs a task, the other has searched everywhere.
struct Tokio<H: ModelHost> {
    /// How many tasks wait in the first worker's ring.
    ring: Atomic<H, u64>,
    /// `Idle::state`: how many search in the lower half, how many do not sleep in the upper.
    state: Atomic<H, u64>,
    /// `Idle::sleepers`: is the second worker one?
    sleepers: H::Lock<bool>,
    parker: H::Parker,
}

const AWAKE: u64 = 1 << 16;

impl<H: ModelHost> Tokio<H> {
    /// `Local::push_back`.
    fn push(&self) {
        // Release: publishes the task.
        self.ring.store(1, Release);
        self.notify_parked();
    }

    /// `Idle::worker_to_notify`, and the `unpark`.
    fn notify_parked(&self) {
        let state = match is_wrong("museum-tokio-1768") {
            // SeqCst: nothing of the kind; the push above may still be on its way, and the read may be of an old value.
            true => self.state.load(SeqCst),
            // SeqCst: it writes, so it comes before a searcher's own change of the word, which then sees the push, or
            // after, and then it sees that no worker searches.
            false => self.state.fetch_add(0, SeqCst),
        };
        if !state.is_multiple_of(AWAKE) || state / AWAKE == 2 {
            return;
        }
        let wakes = self.sleepers.with(|sleeps| {
            // SeqCst: as tokio has it.
            let _ = *sleeps && self.state.fetch_add(AWAKE + 1, SeqCst) > 0;
            std::mem::take(sleeps)
        });
        if wakes {
            self.parker.unpark();
        }
    }

    /// `Core::steal_work`.
    fn steal(&self) -> bool {
        // AcqRel: takes the task with what was done before it was put.
        self.ring.compare_exchange(1, 0, AcqRel, Acquire).is_ok()
    }

    /// The second worker.
    fn search(&self) -> &'static str {
        if self.steal() {
            return "searching";
        }
        // `transition_to_parked`.
        let was_last = self.sleepers.with(|sleeps| {
            *sleeps = true;
            // SeqCst: the other half of `notify_parked`.
            self.state.fetch_sub(AWAKE + 1, SeqCst) % AWAKE == 1
        });
        // Acquire: `notify_if_work_pending`.
        if was_last && self.ring.load(Acquire) > 0 {
            self.notify_parked();
        }
        self.parker.park();
        assert!(self.steal(), "a worker was woken, and there is nothing to steal");
        "woken"
    }
}

fn a_task_is_pushed_as_the_last_searcher_parks<H: ModelHost>() -> String {
    main_plays("searcher");
    let tokio = Arc::new(Tokio::<H> {
        ring: Atomic::new(0),
        state: Atomic::new(2 * AWAKE + 1),
        sleepers: H::Lock::new(false),
        parker: H::Parker::new(),
    });
    let pusher = party::<H, _, _>("pusher", &tokio, Tokio::push);
    let found = tokio.search();
    H::join(pusher);
    found.to_owned()
}

/// The sleeping thread of Julia's scheduler, and the submitter of a task for it.
struct Julia<H: ModelHost> {
    /// The heap of tasks.
    tasks: Atomic<H, u64>,
    /// `sleep_check_state`: 1 is asleep, or about to be.
    sleeping: Atomic<H, u64>,
    parker: H::Parker,
}

impl<H: ModelHost> Julia<H> {
    /// `jl_wakeup_thread`, after the push.
    fn push(&self) {
        // Release: the heap's spin lock is let go of by such a store.
        self.tasks.store(1, Release);
        let is_asleep = match mutant::variant() {
            // SeqCst: on a PC a load all the same, which may overtake the store above.
            Some("museum-julia-36785") => self.sleeping.load(SeqCst) == 1 && self.sleeping.swap(0, SeqCst) == 1,
            // SeqCst: on a PC a full barrier. But the sleeper's store does not read what this writes, so nothing makes
            // the sleeper see the push.
            Some("museum-julia-43418") => self.sleeping.swap(0, SeqCst) == 1,
            _ => {
                // `push/sleeping`, the waker's half.
                store_load::<H>();
                // Relaxed: the barrier orders it. AcqRel: one of several wakers wakes.
                self.sleeping.load(Relaxed) == 1 && self.sleeping.swap(0, AcqRel) == 1
            }
        };
        if is_asleep {
            self.parker.unpark();
        }
    }

    /// `jl_task_get_next`, when nothing was found.
    fn sleep(&self) -> &'static str {
        // Relaxed: the barrier orders it.
        self.sleeping.store(1, Relaxed);
        // `push/sleeping`, the sleeper's half.
        store_load::<H>();
        // Acquire: takes the task with what was done before it was pushed.
        if self.tasks.load(Acquire) == 1 {
            // Relaxed: a waker that comes too late leaves a token.
            self.sleeping.store(0, Relaxed);
            return "saw it";
        }
        self.parker.park();
        // Acquire: as above.
        assert!(self.tasks.load(Acquire) == 1, "a thread was woken for nothing");
        "woken"
    }
}

fn a_task_is_pushed_as_a_thread_falls_asleep<H: ModelHost>() -> String {
    main_plays("sleeper");
    let julia = Arc::new(Julia::<H> { tasks: Atomic::new(0), sleeping: Atomic::new(0), parker: H::Parker::new() });
    let pusher = party::<H, _, _>("pusher", &julia, Julia::push);
    let end = julia.sleep();
    H::join(pusher);
    end.to_owned()
}

/// .NET's pool: an enqueuer asks for a worker, unless one was asked for that has not come yet.
struct DotNet<H: ModelHost> {
    queue: Atomic<H, u64>,
    /// `_hasOutstandingThreadRequest`.
    is_requested: Atomic<H, u64>,
    parker: H::Parker,
}

impl<H: ModelHost> DotNet<H> {
    /// `Enqueue`, `EnsureThreadRequested`.
    fn enqueue(&self) {
        // Release: publishes the work item.
        self.queue.store(1, Release);
        // AcqRel: either it is seen by the worker that answers the request, or it is a request of its own.
        if self.is_requested.swap(1, AcqRel) == 0 {
            self.parker.unpark();
        }
    }

    fn answer(&self) {
        // AcqRel: the other half of `enqueue`.
        self.is_requested.swap(0, AcqRel);
    }

    /// `Dispatch`: a worker has come. Was there work?
    fn dispatch(&self) -> bool {
        // First the request is answered, then the queue is looked at: what is enqueued later makes a new request.
        if !is_wrong("museum-dotnet-121887") {
            self.answer();
        }
        // AcqRel: takes the work item with what was done before it was enqueued.
        let took = self.queue.compare_exchange(1, 0, AcqRel, Relaxed).is_ok();
        if is_wrong("museum-dotnet-121887") {
            self.answer();
        }
        took
    }

    fn work(&self) -> &'static str {
        if self.dispatch() {
            return "at once";
        }
        self.parker.park();
        assert!(self.dispatch(), "a worker was requested, and there is no work");
        "requested again"
    }
}

fn an_item_is_enqueued_as_a_worker_finds_none<H: ModelHost>() -> String {
    main_plays("worker");
    let pool = Arc::new(DotNet::<H> { queue: Atomic::new(0), is_requested: Atomic::new(1), parker: H::Parker::new() });
    let enqueuer = party::<H, _, _>("enqueuer", &pool, DotNet::enqueue);
    let end = pool.work();
    H::join(enqueuer);
    end.to_owned()
}

/// The pool of Bun: one word says whether a worker was notified that has not noticed yet, or that one sleeps.
struct Bun<H: ModelHost> {
    /// How many tasks wait in `run_queue`.
    tasks: Atomic<H, u64>,
    sync: Atomic<H, u64>,
    parker: H::Parker,
}

const NOTIFIED: u64 = 1;
const IDLE: u64 = 2;

impl<H: ModelHost> Bun<H> {
    /// `schedule`.
    fn schedule(&self) {
        // Release: publishes the task.
        self.tasks.fetch_add(1, Release);
        let sync = match is_wrong("museum-bun-28907") {
            // Relaxed: may read that a worker was notified though that one has noticed, and looked, and sleeps.
            true => self.sync.load(Relaxed),
            // Release: it writes what was there, so the worker that takes this notification sees the task.
            false => self.sync.fetch_add(0, Release),
        };
        // Release: `notifySlow`; the same.
        if sync != NOTIFIED && self.sync.swap(NOTIFIED, Release) == IDLE {
            self.parker.unpark();
        }
    }

    /// `wait`: returns when a notification was taken.
    fn wait(&self) {
        loop {
            // Acquire: sees what was scheduled before the notification.
            match self.sync.compare_exchange(NOTIFIED, 0, Acquire, Relaxed) {
                Ok(_) => return,
                Err(IDLE) => self.parker.park(),
                // Relaxed: nothing is handed over by falling asleep.
                Err(_) => _ = self.sync.compare_exchange(0, IDLE, Relaxed, Relaxed),
            }
        }
    }

    /// A worker, until it has run two tasks.
    fn work(&self) -> String {
        let mut ran = String::new();
        while ran.len() < 2 {
            // Acquire: takes the tasks with what was done before they were scheduled.
            let n = self.tasks.swap(0, Acquire);
            match n {
                0 => self.wait(),
                n => ran.push_str(&n.to_string().repeat(n as usize)),
            }
        }
        ran
    }
}

fn a_second_task_is_scheduled_as_the_worker_takes_the_first<H: ModelHost>() -> String {
    main_plays("worker");
    let pool = Arc::new(Bun::<H> { tasks: Atomic::new(0), sync: Atomic::new(0), parker: H::Parker::new() });
    let scheduler = party::<H, _, _>("scheduler", &pool, |pool| {
        pool.schedule();
        pool.schedule();
    });
    let ran = pool.work();
    H::join(scheduler);
    format!("at once {ran}")
}

const TOKIO: &str = "museum::tokio_1768::a_task_is_pushed_as_the_last_searcher_parks";
const JULIA: &str = "museum::julia_36785::a_task_is_pushed_as_a_thread_falls_asleep";
const DOTNET: &str = "museum::dotnet_121887::an_item_is_enqueued_as_a_worker_finds_none";
const BUN: &str = "museum::bun_28907::a_second_task_is_scheduled_as_the_worker_takes_the_first";

/// The variants' models.
pub const MODELS: &[Model] = &[
    crate::model!("museum::tokio_1768::a_task_is_pushed_as_the_last_searcher_parks",
        a_task_is_pushed_as_the_last_searcher_parks,
        claim: "a task pushed as the last searcher parks is found by it, or wakes it",
        size: "2 threads, 1 task",
        invariants: [],
        must_reach: ["searching", "woken"],
        runs: [rc11(), sc(), tso()]),
    crate::model!("museum::julia_36785::a_task_is_pushed_as_a_thread_falls_asleep",
        a_task_is_pushed_as_a_thread_falls_asleep,
        claim: "a task pushed as a thread falls asleep is seen by it, or wakes it",
        size: "2 threads, 1 task",
        invariants: [],
        must_reach: ["saw it", "woken"],
        runs: [rc11(), sc(), tso()]),
    crate::model!("museum::dotnet_121887::an_item_is_enqueued_as_a_worker_finds_none",
        an_item_is_enqueued_as_a_worker_finds_none,
        claim: "a work item enqueued as a worker finds none is found by it, or requests a worker",
        size: "2 threads, 1 work item",
        invariants: [],
        must_reach: ["at once", "requested again"],
        runs: [rc11(), sc(), tso()]),
    crate::model!("museum::bun_28907::a_second_task_is_scheduled_as_the_worker_takes_the_first",
        a_second_task_is_scheduled_as_the_worker_takes_the_first,
        claim: "of two tasks scheduled as a worker wakes and falls asleep, both are run",
        size: "2 threads, 2 tasks",
        invariants: [],
        must_reach: ["at once 11", "at once 22"],
        runs: [rc11(), sc(), tso()]),
];

/// The variants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "museum";
    // SC sees nothing wrong: there the load is as good as the exchange.
    "museum-tokio-1768": "a thread that pushes a task reads by a SeqCst load whether a worker searches",
        variant("museum-tokio-1768"), by TOKIO => [Rc11, Tso, Loom];
    "museum-julia-36785": "a thread that pushes a task reads by a load whether the thread sleeps",
        variant("museum-julia-36785"), by JULIA => [Rc11, Tso, Loom];
    // TSO sees nothing wrong: on a PC an exchange is a barrier.
    "museum-julia-43418": "a thread that pushes a task trusts its exchange to be a barrier",
        variant("museum-julia-43418"), by JULIA => [Rc11, Loom];
    "museum-dotnet-121887": "a worker answers the request for one after its last look at the queue",
        variant("museum-dotnet-121887"), by DOTNET => [Rc11, Sc, Loom];
    "museum-bun-28907": "a thread that schedules a task believes an old value that says a worker is notified",
        variant("museum-bun-28907"), by BUN => [Rc11, Loom];
};

/// The bugs.
pub const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "tokio-1768",
        project: "tokio",
        issue: "https://github.com/tokio-rs/tokio/issues/1768",
        year: 2019,
        people: "A runtime of the new scheduler stood still after some time, though tasks were queued.",
        cause: "The pusher of a task loaded the count of searching workers, SeqCst. The load may come before the push \
                is seen: the last searcher had looked already, and parked.",
        fix: "The count is read by an exchange that adds 0 (#1788). loom could not test it then.",
        source: Source::Read,
        mutant: "museum-tokio-1768",
    },
    Exhibit {
        name: "tokio-8201",
        project: "tokio",
        issue: "https://github.com/tokio-rs/tokio/pull/8201",
        year: 2026,
        people: "No user: it was proposed, and closed.",
        cause: "Seven years later the exchange that adds 0 looks like waste, and a SeqCst load like the same for less.",
        fix: "It was not merged. The exchange's write is what the searcher's next exchange has to read.",
        source: Source::Read,
        mutant: "museum-tokio-1768",
    },
    Exhibit {
        name: "julia-36785",
        project: "Julia",
        issue: "https://github.com/JuliaLang/julia/pull/36785",
        year: 2020,
        people: "Programs with several threads stood still, on PCs.",
        cause: "The waker pushes a task and then loads whether the thread sleeps. A PC lets the load overtake the \
                store.",
        fix: "An exchange instead of the load.",
        source: Source::Read,
        mutant: "museum-julia-36785",
    },
    Exhibit {
        name: "julia-43418",
        project: "Julia",
        issue: "https://github.com/JuliaLang/julia/pull/43418",
        year: 2022,
        people: "Threads still went to sleep on work, on some machines.",
        cause: "The exchange of 2020 mends it where an exchange is a barrier. The sleeper only stores, and so never \
                reads from that exchange: in the language's own terms nothing makes it see the push.",
        fix: "The orderings were gone through one by one, and fences stand on both sides.",
        source: Source::OurReading,
        mutant: "museum-julia-43418",
    },
    Exhibit {
        name: "dotnet-121887",
        project: ".NET thread pool",
        issue: "https://github.com/dotnet/runtime/pull/121887",
        year: 2025,
        people: "From .NET 9 on a work item could lie in the queue until the next one was enqueued; if that one waited \
                 for the first, for ever. The same in the pools for sockets and for Windows I/O.",
        cause: "The handshake between enqueuers and workers was relaxed (#100506): no longer did every item have a \
                worker that was sure to look after it. Shown here in its plainest form, a request answered after the \
                look.",
        fix: "The older handshake came back: first answer the request, then look.",
        source: Source::OurReading,
        mutant: "museum-dotnet-121887",
    },
    Exhibit {
        name: "bun-28907",
        project: "Bun",
        issue: "https://github.com/oven-sh/bun/pull/28907",
        year: 2026,
        people: "On ARM a task was left in the queue with every worker asleep; its awaiter hung.",
        cause: "A short cut reads Relaxed that a worker is notified already. That may be an old value: the worker has \
                taken the notification and looked, without seeing the task.",
        fix: "An exchange that changes nothing, Release: the worker's own exchange then sees the task.",
        source: Source::Read,
        mutant: "museum-bun-28907",
    },
];
