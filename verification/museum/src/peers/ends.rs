//! A pair, and one end of it that closes, is dropped or gives up as the other acts. What the last act of an end is
//! decides whether the other still sees it.

use crate::common::{Cell, Exhibit, Model, ModelHost, Mutant, Source, is_wrong, main_plays, party, rc11, sc};
use crate::peers::set_bits;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{Lock, Parker};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

const VALUE_SENT: u64 = 1;
const CLOSED: u64 = 2;
const RECEIVER_SET: u64 = 4;

/// tokio's oneshot.
struct Oneshot<H: ModelHost> {
    state: Atomic<H, u64>,
    /// The value, or 0.
    value: H::Cell<u64>,
}

impl<H: ModelHost> Oneshot<H> {
    /// `consume_value`.
    fn take(&self) -> u64 {
        let value = self.value.get();
        assert!(value != 0, "a value is taken that is not there");
        self.value.set(0);
        value
    }

    /// `State::set_complete`; what was there.
    fn set_complete(&self) -> u64 {
        if is_wrong("museum-tokio-4225") {
            return set_bits(&self.state, VALUE_SENT);
        }
        // Relaxed: only what to try first.
        let mut found = self.state.load(Relaxed);
        while found & CLOSED == 0 {
            // AcqRel: publishes the value. Acquire: sees that the receiver has closed.
            match self.state.compare_exchange(found, found | VALUE_SENT, AcqRel, Acquire) {
                Ok(_) => break,
                Err(now) => found = now,
            }
        }
        found
    }

    /// `Sender::send`. Was it accepted?
    fn send(&self) -> bool {
        self.value.set(42);
        let is_closed = self.set_complete() & CLOSED != 0;
        if is_closed {
            self.take();
        }
        !is_closed
    }

    /// `Receiver::close`, and `try_recv`. Was there a value?
    fn close_and_receive(&self) -> bool {
        set_bits(&self.state, CLOSED);
        // Acquire: sees the value.
        let is_sent = self.state.load(Acquire) & VALUE_SENT != 0;
        if is_sent {
            self.take();
        }
        is_sent
    }
}

fn a_value_is_sent_as_the_receiver_closes<H: ModelHost>() -> String {
    main_plays("receiver");
    let oneshot = Arc::new(Oneshot::<H> { state: Atomic::new(0), value: Cell::new(0) });
    let sender = party::<H, _, _>("sender", &oneshot, Oneshot::send);
    let received = oneshot.close_and_receive();
    let accepted = H::join(sender);
    assert!(accepted == received, "accepted {accepted}, received {received}");
    format!("received {received}")
}

/// The receiver of async-oneshot, and its sender, which is dropped.
struct AsyncOneshot<H: ModelHost> {
    state: Atomic<H, u64>,
    /// `recv`: the receiver's waker.
    waker: H::Cell<u64>,
    parker: H::Parker,
}

impl<H: ModelHost> AsyncOneshot<H> {
    /// `Receiver::poll`, until it is over; how many times it waited.
    fn receive(&self) -> u32 {
        for waited in 0.. {
            // Acquire: sees what the sender did.
            let state = self.state.load(Acquire);
            if state & CLOSED != 0 {
                return waited;
            }
            if state & RECEIVER_SET == 0 {
                // `set_recv`.
                self.waker.set(7);
                let found = set_bits(&self.state, RECEIVER_SET);
                if found & CLOSED != 0 && !is_wrong("museum-async-oneshot-9") {
                    return waited;
                }
            }
            self.parker.park();
        }
        unreachable!("a receiver polls for ever")
    }

    /// `Drop for Sender`.
    fn drop_sender(&self) {
        if set_bits(&self.state, CLOSED) & RECEIVER_SET != 0 && self.waker.get() == 7 {
            self.parker.unpark();
        }
    }
}

fn a_sender_is_dropped_as_the_receiver_polls<H: ModelHost>() -> String {
    main_plays("receiver");
    let oneshot = AsyncOneshot::<H> { state: Atomic::new(0), waker: Cell::new(0), parker: H::Parker::new() };
    let oneshot = Arc::new(oneshot);
    let sender = party::<H, _, _>("sender", &oneshot, AsyncOneshot::drop_sender);
    let waited = oneshot.receive();
    H::join(sender);
    format!("waited {waited} times")
}

/// libra's channel: a queue with a lock, held by an `Arc`.
struct Libra<H: ModelHost> {
    /// `Arc::strong_count`: one for the receiver, one for each sender.
    strong_count: Atomic<H, u64>,
    shared: H::Lock<Libras>,
    parker: H::Parker,
}

struct Libras {
    /// `num_senders`.
    senders: u32,
    /// Is the receiver's waker there?
    waits: bool,
}

impl<H: ModelHost> Libra<H> {
    /// `Drop for Sender`, and what comes after it: its handle of the `Arc` goes.
    fn drop_sender(&self) {
        let wakes = self.shared.with(|shared| {
            shared.senders -= 1;
            std::mem::take(&mut shared.waits)
        });
        if wakes {
            self.parker.unpark();
        }
        // Release: as an `Arc` is dropped.
        self.strong_count.fetch_sub(1, Release);
    }

    /// The receiver, until no sender is left; how many times it waited.
    fn receive(&self) -> u32 {
        let mut waited = 0;
        while self.shared.with(|shared| {
            shared.waits = match is_wrong("museum-diem-4479") {
                // Relaxed: as `Arc::strong_count` was then.
                true => self.strong_count.load(Relaxed) > 1,
                false => shared.senders > 0,
            };
            shared.waits
        }) {
            waited += 1;
            self.parker.park();
        }
        waited
    }
}

fn the_last_sender_is_dropped_as_the_receiver_waits<H: ModelHost>() -> String {
    main_plays("receiver");
    let libra = Libra::<H> {
        strong_count: Atomic::new(2),
        shared: H::Lock::new(Libras { senders: 1, waits: false }),
        parker: H::Parker::new(),
    };
    let libra = Arc::new(libra);
    let sender = party::<H, _, _>("sender", &libra, Libra::drop_sender);
    let waited = libra.receive();
    H::join(sender);
    format!("waited {} times", waited.min(1))
}

const IDLE: u64 = 0;
const SCHEDULED: u64 = 1;
const CANCELLED: u64 = 2;
const RUNNING: u64 = 4;

/// A task of a `LocalSet` of tokio's: its future may be touched by one thread only.
struct Local<H: ModelHost> {
    state: Atomic<H, u64>,
    /// The future: by which thread it was dropped, plus 1.
    dropped_by: H::Cell<u64>,
    parker: H::Parker,
}

impl<H: ModelHost> Local<H> {
    fn drop_future(&self) {
        assert!(self.dropped_by.get() == 0, "a future is dropped twice");
        self.dropped_by.set(H::me() as u64 + 1);
    }

    /// `JoinHandle::abort`, called on another thread.
    fn abort(&self) {
        // AcqRel: sees the future, and hands on what was done before the abort.
        let found = self.state.swap(SCHEDULED | CANCELLED, AcqRel);
        if is_wrong("museum-tokio-3929") && found == IDLE {
            // No thread runs it: `shutdown`, here and now.
            self.drop_future();
        }
        if found == IDLE {
            self.parker.unpark();
        }
    }

    /// The thread of the `LocalSet`, which polls the task once, and then waits for what comes. It sleeps from then on.
    fn run(&self) -> &'static str {
        // AcqRel: takes the task.
        let found = self.state.swap(RUNNING, AcqRel);
        let mut is_cancelled = found & CANCELLED != 0;
        if !is_cancelled {
            // AcqRel: gives the task back. Acquire: it was aborted while it ran.
            is_cancelled = self.state.compare_exchange(RUNNING, IDLE, AcqRel, Acquire).is_err();
        }
        let end = if is_cancelled { "aborted early" } else { "aborted asleep" };
        if !is_cancelled {
            self.parker.park();
        }
        if self.dropped_by.get() == 0 {
            self.drop_future();
        }
        end
    }
}

fn a_local_task_is_aborted_by_another_thread<H: ModelHost>() -> String {
    main_plays("local set");
    let local = Local::<H> { state: Atomic::new(SCHEDULED), dropped_by: Cell::new(0), parker: H::Parker::new() };
    let local = Arc::new(local);
    let aborter = party::<H, _, _>("aborter", &local, Local::abort);
    let end = local.run();
    H::join(aborter);
    let thread = local.dropped_by.get() - 1;
    assert!(thread == H::me() as u64, "a future that is not Send was dropped by thread {thread}");
    end.to_owned()
}

/// tokio's bounded channel: closed, but one that reserves holds a permit.
struct Reserved<H: ModelHost> {
    semaphore: H::Lock<Permits>,
    parker: H::Parker,
}

struct Permits {
    free: u32,
    is_closed: bool,
    /// Is the receiver's waker there?
    waits: bool,
}

impl<H: ModelHost> Reserved<H> {
    /// `reserve_many(2)`, which got one of two permits and waits in the queue, is dropped.
    fn drop_reserve(&self) {
        let wakes = self.semaphore.with(|permits| {
            permits.free += 1;
            let is_over = permits.is_closed && permits.free == 2;
            is_over && !is_wrong("museum-tokio-8260") && std::mem::take(&mut permits.waits)
        });
        if wakes {
            self.parker.unpark();
        }
    }

    /// `close`, and `recv` until it returns `None`; how many times it waited.
    fn close_and_receive(&self) -> u32 {
        self.semaphore.with(|permits| permits.is_closed = true);
        let mut waited = 0;
        while self.semaphore.with(|permits| {
            permits.waits = permits.free < 2;
            permits.waits
        }) {
            waited += 1;
            self.parker.park();
        }
        waited
    }
}

fn a_reservation_is_dropped_after_the_close<H: ModelHost>() -> String {
    main_plays("receiver");
    let permits = Permits { free: 1, is_closed: false, waits: false };
    let channel = Arc::new(Reserved::<H> { semaphore: H::Lock::new(permits), parker: H::Parker::new() });
    let sender = party::<H, _, _>("sender", &channel, Reserved::drop_reserve);
    let waited = channel.close_and_receive();
    H::join(sender);
    format!("waited {waited} times")
}

const ONESHOT: &str = "museum::tokio_4225::a_value_is_sent_as_the_receiver_closes";
const ASYNC_ONESHOT: &str = "museum::async_oneshot_9::a_sender_is_dropped_as_the_receiver_polls";
const LIBRA: &str = "museum::diem_4479::the_last_sender_is_dropped_as_the_receiver_waits";
const LOCAL: &str = "museum::tokio_3929::a_local_task_is_aborted_by_another_thread";
const RESERVED: &str = "museum::tokio_8260::a_reservation_is_dropped_after_the_close";

/// The variants' models.
pub const MODELS: &[Model] = &[
    crate::model!("museum::tokio_4225::a_value_is_sent_as_the_receiver_closes",
        a_value_is_sent_as_the_receiver_closes,
        claim: "one of a sender and a receiver that closes takes the value",
        size: "2 threads, 1 value",
        invariants: [],
        must_reach: ["received true", "received false"],
        runs: [rc11(), sc()]),
    crate::model!("museum::async_oneshot_9::a_sender_is_dropped_as_the_receiver_polls",
        a_sender_is_dropped_as_the_receiver_polls,
        claim: "a receiver that leaves its waker sees that the sender is gone, or is woken",
        size: "2 threads",
        invariants: [],
        must_reach: ["waited 0 times", "waited 1 times"],
        runs: [rc11(), sc()]),
    crate::model!("museum::diem_4479::the_last_sender_is_dropped_as_the_receiver_waits",
        the_last_sender_is_dropped_as_the_receiver_waits,
        claim: "a receiver that is woken by the last sender's drop sees that no sender is left",
        size: "2 threads, 1 sender",
        invariants: [],
        must_reach: ["waited 0 times", "waited 1 times"],
        runs: [rc11(), sc()]),
    crate::model!("museum::tokio_3929::a_local_task_is_aborted_by_another_thread",
        a_local_task_is_aborted_by_another_thread,
        claim: "the future of a local task is dropped by its own thread",
        size: "2 threads, 1 task",
        invariants: [],
        must_reach: ["aborted early", "aborted asleep"],
        runs: [rc11(), sc()]),
    crate::model!("museum::tokio_8260::a_reservation_is_dropped_after_the_close",
        a_reservation_is_dropped_after_the_close,
        claim: "the receiver of a closed channel is woken when the last permit comes back",
        size: "2 threads, 2 permits",
        invariants: [],
        must_reach: ["waited 0 times", "waited 1 times"],
        runs: [rc11(), sc()]),
];

/// The variants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "museum";
    "museum-tokio-4225": "a sender says that the value is there though the receiver has closed",
        variant("museum-tokio-4225"), by ONESHOT => [Rc11, Sc];
    "museum-async-oneshot-9": "a receiver that has left its waker does not look again",
        variant("museum-async-oneshot-9"), by ASYNC_ONESHOT => [Rc11, Sc, Loom];
    "museum-diem-4479": "a receiver counts the senders by the handles of the memory that they share",
        variant("museum-diem-4479"), by LIBRA => [Rc11, Sc, Loom];
    "museum-tokio-3929": "a thread that aborts a task that no thread runs drops its future",
        variant("museum-tokio-3929"), by LOCAL => [Rc11, Sc, Loom];
    "museum-tokio-8260": "a reservation that is dropped gives its permits back and wakes no receiver",
        variant("museum-tokio-8260"), by RESERVED => [Rc11, Sc, Loom];
};

/// The bugs.
pub const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "tokio-4225",
        project: "tokio",
        issue: "https://github.com/tokio-rs/tokio/issues/4225",
        year: 2021,
        people: "A panic in a oneshot's send every few seconds, and memory that was damaged (RUSTSEC-2021-0124).",
        cause: "A sender writes the value and sets the bit for it. If the receiver has closed, the sender takes the \
                value back; but a receiver that looks after the bit was set takes it, too.",
        fix: "The bit is not set if the channel is closed (#4226).",
        source: Source::Read,
        mutant: "museum-tokio-4225",
    },
    Exhibit {
        name: "async-oneshot-9",
        project: "async-oneshot",
        issue: "https://github.com/irrustible/async-oneshot/issues/9",
        year: 2020,
        people: "Found in a review: a receiver might never wake up.",
        cause: "The receiver looks at the state, and leaves its waker then. If the sender is dropped in between, it \
                finds no waker, and the receiver does not look again.",
        fix: "The receiver looks at what was there when it left its waker. How the project did it was not seen.",
        source: Source::Read,
        mutant: "museum-async-oneshot-9",
    },
    Exhibit {
        name: "diem-4479",
        project: "Diem",
        issue: "https://github.com/diem/diem/pull/4479",
        year: 2020,
        people: "Tests of the network were flaky: a peer that was told to close stayed for ever.",
        cause: "The number of senders was that of the handles of the shared state. A sender that is dropped wakes the \
                receiver first, and its handle goes after that: a quick receiver still counts it, and sleeps again.",
        fix: "Not to judge by the handles: here the senders are counted inside of the lock.",
        source: Source::Read,
        mutant: "museum-diem-4479",
    },
    Exhibit {
        name: "tokio-3929",
        project: "tokio",
        issue: "https://github.com/tokio-rs/tokio/issues/3929",
        year: 2021,
        people: "Safe code could drop on one thread what belongs to another.",
        cause: "abort drops the future itself if no thread runs the task. But a local task's future may not leave its \
                thread.",
        fix: "An abort only marks the task and schedules it; its own thread drops the future. So the variant has it.",
        source: Source::Read,
        mutant: "museum-tokio-3929",
    },
    Exhibit {
        name: "tokio-8260",
        project: "tokio",
        issue: "https://github.com/tokio-rs/tokio/pull/8260",
        year: 2026,
        people: "A receiver of a closed channel hung, though nothing was left that it could wait for.",
        cause: "A reservation of several permits that got some of them and is then dropped gives them back to the \
                semaphore, on a way that does not wake the receiver. OwnedPermit::release had the same hole (#8075).",
        fix: "A guard wakes the receiver if the channel is closed and nothing is out any more.",
        source: Source::Read,
        mutant: "museum-tokio-8260",
    },
];
