//! Wakers: where a task leaves its waker, and the waker of which task is woken. A task that leaves its waker and then looks,
//! and a thread that acts and then looks for a waker, must not miss each other; and a waker is other people's code.

use crate::common::{Cell, Exhibit, Model, ModelHost, Mutant, Source, is_wrong, main_plays, party, rc11, sc, tso};
use crate::peers::set_bits;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{Lock, Parker};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};

/// The states of futures' `AtomicWaker`: nothing is there, a waker is there, one is being put there, it is being woken.
const EMPTY: u64 = 0;
const HOLDS: u64 = 1;
const REGISTERING: u64 = 2;
const WAKING: u64 = 4;

/// futures' `AtomicWaker`. A waker is the number of its task.
struct AtomicWaker<H: ModelHost> {
    state: Atomic<H, u64>,
    waker: H::Cell<u64>,
}

impl<H: ModelHost> AtomicWaker<H> {
    fn new() -> Self {
        AtomicWaker { state: Atomic::new(EMPTY), waker: Cell::new(0) }
    }

    /// `register`: leaves the waker of `task`. Is it to be polled again at once?
    fn register(&self, task: u64) -> bool {
        // Acquire: sees what a wake beside it is about.
        let mut found = self.state.load(Acquire);
        loop {
            if found & WAKING != 0 {
                return true;
            }
            if found & REGISTERING != 0 {
                // Another task registers. Two at once are not promised that both are woken.
                return true;
            }
            // AcqRel: takes the slot, and sees what was done before the last wake. Acquire: as above.
            match self.state.compare_exchange(found, REGISTERING, AcqRel, Acquire) {
                Ok(_) => break,
                Err(now) => found = now,
            }
        }
        self.waker.set(task);
        // AcqRel: gives the slot back, the waker in it. Acquire: a wake has come meanwhile; sees what it is about.
        if self.state.compare_exchange(REGISTERING, HOLDS, AcqRel, Acquire).is_ok() {
            return false;
        }
        let early = is_wrong("museum-futures-868");
        if early {
            // AcqRel: as below, and too early: the slot is no longer this task's.
            self.state.swap(EMPTY, AcqRel);
        }
        let waker = self.waker.get();
        assert!(waker == task, "a task wakes the waker of another, instead of the one that it has left");
        if !early {
            // AcqRel: gives the slot back, empty.
            self.state.swap(EMPTY, AcqRel);
        }
        true
    }

    /// `wake`; the task that is to be woken.
    fn wake(&self) -> Option<u64> {
        // SeqCst: it is a load, and does not wait for what was stored before it.
        if is_wrong("museum-futures-1335") && self.state.load(SeqCst) == EMPTY {
            return None;
        }
        let found = set_bits(&self.state, WAKING);
        if found & (REGISTERING | WAKING) != 0 {
            return None;
        }
        let waker = (found == HOLDS).then(|| self.waker.get());
        // AcqRel: gives the slot back, empty.
        self.state.swap(EMPTY, AcqRel);
        waker
    }
}

fn two_tasks_register_as_one_is_woken<H: ModelHost>() -> String {
    main_plays("waker");
    let slot = Arc::new(AtomicWaker::<H>::new());
    let tasks =
        [("task 1", 1), ("task 2", 2)].map(|(name, task)| party::<H, _, _>(name, &slot, move |s| s.register(task)));
    let woken = slot.wake();
    let again = tasks.map(H::join).into_iter().filter(|again| *again).count();
    format!("woken {}, polled again {again}", woken.is_some())
}

/// A task that waits for a flag.
struct Flagged<H: ModelHost> {
    flag: Atomic<H, u64>,
    slot: AtomicWaker<H>,
    parker: H::Parker,
}

fn a_flag_is_raised_as_its_task_registers<H: ModelHost>() -> String {
    main_plays("task");
    let task = Flagged::<H> { flag: Atomic::new(0), slot: AtomicWaker::new(), parker: H::Parker::new() };
    let task = Arc::new(task);
    let raiser = party::<H, _, _>("raiser", &task, |task| {
        // Relaxed: the wake publishes it.
        task.flag.store(1, Relaxed);
        if task.slot.wake().is_some() {
            task.parker.unpark();
        }
    });
    let mut polls = 1;
    loop {
        let again = task.slot.register(1);
        // Relaxed: the registration has seen what came before the last wake.
        if task.flag.load(Relaxed) == 1 {
            break;
        }
        if !again {
            task.parker.park();
        }
        polls += 1;
    }
    H::join(raiser);
    format!("polled {polls} times")
}

/// The future inside of a `Shared` of futures 0.1, and the handles that wait for it.
struct Shared<H: ModelHost> {
    inner: H::Lock<Inner>,
    /// The tasks that wait beside the one that polled last: is A among them?
    waiters: H::Lock<bool>,
    parker: H::Parker,
}

#[derive(Default)]
struct Inner {
    is_ready: bool,
    /// The task that polled last, which is the only one that the future wakes.
    task: Option<&'static str>,
}

impl<H: ModelHost> Shared<H> {
    /// Wakes all that wait.
    fn wake_waiters(&self) {
        if self.waiters.with(std::mem::take) {
            self.parker.unpark();
        }
    }

    /// A, until the future is ready; how many times it waited.
    fn wait(&self) -> u32 {
        for waited in 0.. {
            let is_ready = self.inner.with(|inner| {
                inner.task = Some("A");
                if !inner.is_ready && !is_wrong("museum-futures-339") {
                    self.waiters.with(|waits| *waits = true);
                }
                inner.is_ready
            });
            if is_ready {
                return waited;
            }
            if is_wrong("museum-futures-339") {
                // In between B has polled, and is gone.
                self.waiters.with(|waits| *waits = true);
            }
            self.parker.park();
        }
        unreachable!("a task polls for ever")
    }

    /// B: polls once, and its handle is dropped.
    fn poll_and_drop(&self) {
        self.inner.with(|inner| inner.task = Some("B"));
        self.wake_waiters();
    }

    /// The future is ready.
    fn complete(&self) {
        let task = self.inner.with(|inner| {
            inner.is_ready = true;
            inner.task
        });
        if task == Some("A") {
            self.parker.unpark();
        }
    }
}

fn a_handle_is_dropped_as_another_polls<H: ModelHost>() -> String {
    main_plays("A");
    let shared =
        Shared::<H> { inner: H::Lock::new(Inner::default()), waiters: H::Lock::new(false), parker: H::Parker::new() };
    let shared = Arc::new(shared);
    let b = party::<H, _, _>("B", &shared, Shared::poll_and_drop);
    let future = party::<H, _, _>("future", &shared, Shared::complete);
    let waited = shared.wait();
    H::join(b);
    H::join(future);
    format!("waited {} times", waited.min(2))
}

/// What lies in a channel of tokio's for its receiver: no waker, one that holds a sender, one that holds nothing.
#[derive(Clone, Copy, PartialEq)]
enum Waker {
    None,
    WithSender,
    Plain,
}

/// The channel, with a sender of its own and one in the waker.
struct Held<H: ModelHost> {
    channel: H::Lock<(Waker, u32)>,
}

impl<H: ModelHost> Held<H> {
    /// A waker is dropped, and with it the sender that it may hold.
    fn drop_waker(&self, waker: Waker) {
        if waker == Waker::WithSender {
            self.channel.with(|(_, senders)| *senders -= 1);
        }
    }

    /// `poll_recv` with a new waker: the old one is replaced.
    fn poll(&self) -> Waker {
        if is_wrong("museum-tokio-5429") {
            return self.channel.with(|(waker, _)| {
                let old = std::mem::replace(waker, Waker::Plain);
                self.drop_waker(old);
                old
            });
        }
        // The old waker is put aside, and dropped when the lock is free.
        let old = self.channel.with(|(waker, _)| std::mem::replace(waker, Waker::Plain));
        self.drop_waker(old);
        old
    }

    /// `send`: takes the waker, and wakes it when the lock is free. It is dropped then.
    fn send(&self) {
        let waker = self.channel.with(|(waker, _)| std::mem::replace(waker, Waker::None));
        self.drop_waker(waker);
    }
}

fn a_waker_is_replaced_that_holds_a_sender<H: ModelHost>() -> String {
    main_plays("receiver");
    let held = Arc::new(Held::<H> { channel: H::Lock::new((Waker::WithSender, 2)) });
    let sender = party::<H, _, _>("sender", &held, Held::send);
    let replaced = held.poll() == Waker::WithSender;
    H::join(sender);
    let senders = held.channel.with(|(_, senders)| *senders);
    assert!(senders == 1, "{senders} senders are left of 2, and one was dropped");
    format!("dropped by the receiver {replaced}")
}

const SLOT: &str = "museum::futures_868::two_tasks_register_as_one_is_woken";
const FLAG: &str = "museum::futures_1335::a_flag_is_raised_as_its_task_registers";
const SHARED: &str = "museum::futures_339::a_handle_is_dropped_as_another_polls";
const HELD: &str = "museum::tokio_5429::a_waker_is_replaced_that_holds_a_sender";

/// The variants' models.
pub const MODELS: &[Model] = &[
    crate::model!("museum::futures_868::two_tasks_register_as_one_is_woken", two_tasks_register_as_one_is_woken,
        claim: "a task that finds a wake beside its registration wakes the waker that it has left",
        size: "3 threads, 2 registrations, 1 wake",
        invariants: [],
        must_reach: ["woken true", "woken false, polled again 0", "polled again 2"],
        runs: [rc11(), sc()]),
    crate::model!("museum::futures_1335::a_flag_is_raised_as_its_task_registers",
        a_flag_is_raised_as_its_task_registers,
        claim: "a task that leaves its waker sees the flag, or the thread that raises the flag sees the waker",
        size: "2 threads, 1 task",
        invariants: [],
        must_reach: ["polled 1 times", "polled 2 times"],
        runs: [rc11(), sc(), tso()]),
    crate::model!("museum::futures_339::a_handle_is_dropped_as_another_polls", a_handle_is_dropped_as_another_polls,
        claim: "if the task that polled last is gone, another one that waits polls again",
        size: "3 threads, 2 handles, 1 future",
        invariants: [],
        must_reach: ["waited 0 times", "waited 1 times", "waited 2 times"],
        runs: [rc11(), sc()]),
    crate::model!("museum::tokio_5429::a_waker_is_replaced_that_holds_a_sender",
        a_waker_is_replaced_that_holds_a_sender,
        claim: "a waker may use the channel when it is dropped",
        size: "2 threads, 1 waker",
        invariants: [],
        must_reach: ["true", "false"],
        runs: [rc11(), sc()]),
];

/// The variants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "museum";
    "museum-futures-868": "a task gives the waker's slot back, and then reads from it the waker to wake",
        variant("museum-futures-868"), by SLOT => [Rc11, Sc, Loom];
    // SC sees nothing wrong: there a load that finds no waker comes before the registration, which then sees the flag.
    "museum-futures-1335": "a wake that finds no waker by a load does nothing more",
        variant("museum-futures-1335"), by FLAG => [Rc11, Tso, Loom];
    "museum-futures-339": "a task that has polled says only after it has opened the lock that it waits",
        variant("museum-futures-339"), by SHARED => [Rc11, Sc, Loom];
    "museum-tokio-5429": "the old waker is dropped under the channel's lock",
        variant("museum-tokio-5429"), by HELD => [Rc11, Sc, Loom];
};

/// The bugs.
pub const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "futures-868",
        project: "futures",
        issue: "https://github.com/rust-lang/futures-rs/pull/868",
        year: 2018,
        people: "Found by reading, when AtomicWaker was allowed to be registered with by two tasks at once.",
        cause: "One use of the waker was left outside of the section that guards it. Which one was not seen; here it is that \
                of a task that finds a wake beside its own registration.",
        fix: "The waker is used before the slot is given back.",
        source: Source::OurReading,
        mutant: "museum-futures-868",
    },
    Exhibit {
        name: "futures-1335",
        project: "futures",
        issue: "https://github.com/rust-lang/futures-rs/issues/1335",
        year: 2018,
        people: "Found by reading, after a release: notify might not see the registered task, and both would wait.",
        cause: "For speed wake looked first by a load whether a waker is there (#1316). The load is SeqCst, but the \
                registration is AcqRel: nothing orders it behind the store before the wake.",
        fix: "The word is written in any case, as before.",
        source: Source::Read,
        mutant: "museum-futures-1335",
    },
    Exhibit {
        name: "futures-339",
        project: "futures",
        issue: "https://github.com/rust-lang/futures-rs/issues/339",
        year: 2017,
        people: "A task that waits for a Shared future was wedged for ever.",
        cause: "A future wakes the task that polled it last. A polls, and opens the lock; B polls, and its handle is dropped, \
                which wakes the others that wait, and finds none; then A says that it waits.",
        fix: "A plain mutex around polling and waiting (#340).",
        source: Source::Read,
        mutant: "museum-futures-339",
    },
    Exhibit {
        name: "tokio-5429",
        project: "tokio",
        issue: "https://github.com/tokio-rs/tokio/issues/5429",
        year: 2023,
        people: "Any channel or lock of tokio's could deadlock with a waker that is not tokio's own.",
        cause: "A future that is polled with another waker than before dropped the old one under the lock. A waker is other \
                people's code: if it uses the channel, it waits for the lock that its own thread holds.",
        fix: "Old wakers are put aside, and dropped when the lock is free (#5578 for broadcast).",
        source: Source::Read,
        mutant: "museum-tokio-5429",
    },
];
