//! Timers and sockets of tokio: what a thread knows of the poller, and what the poller knows of it, when both have just
//! changed their minds.

use crate::common::{Exhibit, Model, ModelHost, Mutant, Source, is_wrong, main_plays, party, rc11, sc};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{Lock, Parker};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// tokio's time driver. The timers of the last round are gone.
struct Driver<H: ModelHost> {
    /// The wheel: the earliest timer, or 0.
    wheel: H::Lock<u64>,
    /// `next_wake`: until when the driver sleeps; 0: for ever.
    next_wake: Atomic<H, u64>,
    parker: H::Parker,
}

impl<H: ModelHost> Driver<H> {
    /// `park_internal`, until a timer is there; how often it slept.
    fn park(&self) -> u32 {
        for slept in 0.. {
            let late = is_wrong("museum-tokio-6682");
            let earliest = self.wheel.with(|earliest| {
                if !late {
                    // Relaxed: guarded by the wheel's lock.
                    self.next_wake.store(*earliest, Relaxed);
                }
                *earliest
            });
            if late {
                // Release: says what was found; meanwhile it may no longer be so.
                self.next_wake.store(earliest, Release);
            }
            if earliest != 0 {
                return slept;
            }
            self.parker.park();
        }
        unreachable!("a driver parks for ever")
    }

    /// A `Sleep` is polled for the first time.
    fn register(&self, when: u64) -> bool {
        let unparks = self.wheel.with(|earliest| {
            *earliest = when;
            // Relaxed: guarded by the lock.
            let next_wake = self.next_wake.load(Relaxed);
            next_wake == 0 || when < next_wake
        });
        if unparks {
            self.parker.unpark();
        }
        unparks
    }
}

fn a_timer_is_added_as_the_driver_parks<H: ModelHost>() -> String {
    main_plays("driver");
    // The last round was to end at 3.
    let driver = Driver::<H> { wheel: H::Lock::new(0), next_wake: Atomic::new(3), parker: H::Parker::new() };
    let driver = Arc::new(driver);
    let sleeper = party::<H, _, _>("sleeper", &driver, |driver| driver.register(5));
    let slept = driver.park();
    let unparked = H::join(sleeper);
    format!("slept {slept} times, unparked {unparked}")
}

const READY: u64 = 1;
const TICK: u64 = 2;
/// The tick has one bit here, and eight there.
const TICKS: u64 = 2 * TICK;

/// A socket of tokio's, of which it was told that it can be read.
struct Scheduled<H: ModelHost> {
    /// `readiness`: is it ready, and the tick of which that was told.
    readiness: Atomic<H, u64>,
    /// What the socket has: in the system.
    bytes: Atomic<H, u64>,
    waits: H::Lock<bool>,
    parker: H::Parker,
}

impl<H: ModelHost> Scheduled<H> {
    /// Two turns of the driver: in the first another socket is ready, in the second this one.
    fn turn_twice(&self) {
        // Release: the bytes are there before it is told.
        self.bytes.store(1, Release);
        // Relaxed: only the driver writes the tick.
        let found = self.readiness.load(Relaxed) & TICK;
        let turns = if is_wrong("museum-tokio-6133") { 2 } else { 1 };
        let tick = (found + turns * TICK) % TICKS;
        // AcqRel: `set_readiness`; a task that sees it sees the bytes.
        self.readiness.swap(tick | READY, AcqRel);
        if self.waits.with(std::mem::take) {
            self.parker.unpark();
        }
    }

    /// `async_io`: reads until there is something; how many times it found nothing.
    fn read(&self) -> u32 {
        for blocked in 0.. {
            let ready = loop {
                // Acquire: sees what was told.
                let readiness = self.readiness.load(Acquire);
                if readiness & READY != 0 {
                    break readiness;
                }
                let sleeps = self.waits.with(|waits| {
                    // Acquire: as above.
                    *waits = self.readiness.load(Acquire) & READY == 0;
                    *waits
                });
                if sleeps {
                    self.parker.park();
                }
            };
            // Relaxed: the system's own business.
            if self.bytes.load(Relaxed) != 0 {
                return blocked;
            }
            // `clear_readiness`, unless the tick is another. AcqRel: as tokio has it. Relaxed: there is news.
            let _ = self.readiness.compare_exchange(ready, ready & !READY, AcqRel, Relaxed);
        }
        unreachable!("a socket is read for ever")
    }
}

fn bytes_come_as_a_read_would_block<H: ModelHost>() -> String {
    main_plays("reader");
    let scheduled = Scheduled::<H> {
        readiness: Atomic::new(READY),
        bytes: Atomic::new(0),
        waits: H::Lock::new(false),
        parker: H::Parker::new(),
    };
    let scheduled = Arc::new(scheduled);
    let driver = party::<H, _, _>("driver", &scheduled, Scheduled::turn_twice);
    let blocked = scheduled.read();
    H::join(driver);
    format!("blocked {blocked} times")
}

/// tokio's I/O driver, which ends, and a socket that is to be waited for.
struct Ending<H: ModelHost> {
    /// Is there still a strong handle of the driver?
    is_there: Atomic<H, bool>,
    /// Has the driver been shut down; is a task in the list of the socket's waiters?
    waiters: H::Lock<(bool, bool)>,
    parker: H::Parker,
}

impl<H: ModelHost> Ending<H> {
    /// `Drop for Driver`.
    fn shut_down(&self) {
        let wakes = self.waiters.with(|(is_shut_down, waits)| {
            *is_shut_down = true;
            std::mem::take(waits)
        });
        if wakes {
            self.parker.unpark();
        }
        // Release: the last strong handle goes.
        self.is_there.store(false, Release);
    }

    /// `readiness`: waits for the socket, or for the driver's end; how many times it slept.
    fn wait(&self) -> u32 {
        for slept in 0.. {
            // Acquire: `Weak::upgrade`.
            if !self.is_there.load(Acquire) {
                return slept;
            }
            let sleeps = self.waiters.with(|(is_shut_down, waits)| {
                *waits = !*is_shut_down || is_wrong("museum-tokio-2924");
                *waits
            });
            if !sleeps {
                return slept;
            }
            self.parker.park();
        }
        unreachable!("a socket is waited for for ever")
    }
}

fn a_socket_is_waited_for_as_the_driver_ends<H: ModelHost>() -> String {
    main_plays("waiter");
    let ending =
        Ending::<H> { is_there: Atomic::new(true), waiters: H::Lock::new((false, false)), parker: H::Parker::new() };
    let ending = Arc::new(ending);
    let driver = party::<H, _, _>("driver", &ending, Ending::shut_down);
    let slept = ending.wait();
    H::join(driver);
    format!("slept {slept} times")
}

const TIMER: &str = "museum::tokio_6682::a_timer_is_added_as_the_driver_parks";
const SOCKET: &str = "museum::tokio_6133::bytes_come_as_a_read_would_block";
const ENDING: &str = "museum::tokio_2924::a_socket_is_waited_for_as_the_driver_ends";

/// The variants' models.
pub const MODELS: &[Model] = &[
    crate::model!("museum::tokio_6682::a_timer_is_added_as_the_driver_parks", a_timer_is_added_as_the_driver_parks,
        claim: "a driver that sleeps is woken for a timer that it has not seen",
        size: "2 threads, 1 timer",
        invariants: [],
        must_reach: ["slept 0 times, unparked false", "slept 1 times, unparked true"],
        runs: [rc11(), sc()]),
    crate::model!("museum::tokio_6133::bytes_come_as_a_read_would_block", bytes_come_as_a_read_would_block,
        claim: "a read that would block clears only the readiness that it has seen",
        size: "2 threads, 2 turns of the driver, 1 event",
        invariants: [],
        must_reach: ["blocked 0 times", "blocked 1 times"],
        runs: [rc11(), sc()]),
    crate::model!("museum::tokio_2924::a_socket_is_waited_for_as_the_driver_ends",
        a_socket_is_waited_for_as_the_driver_ends,
        claim: "no task waits for a driver that has ended",
        size: "2 threads, 1 socket",
        invariants: [],
        must_reach: ["slept 0 times", "slept 1 times"],
        runs: [rc11(), sc()]),
];

/// The variants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "museum";
    "museum-tokio-6682": "the driver says until when it sleeps after it has opened the wheel's lock",
        variant("museum-tokio-6682"), by TIMER => [Rc11, Sc, Loom];
    "museum-tokio-6133": "a socket's tick is that of the driver's turns, cut short",
        variant("museum-tokio-6133"), by SOCKET => [Rc11, Sc, Loom];
    "museum-tokio-2924": "a future joins the waiters without asking whether they were woken for the last time",
        variant("museum-tokio-2924"), by ENDING => [Rc11, Sc, Loom];
};

/// The bugs.
pub const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "tokio-6682",
        project: "tokio",
        issue: "https://github.com/tokio-rs/tokio/pull/6683",
        year: 2024,
        people: "A sleep did not end in time, after the timers had been divided among several wheels (#6682).",
        cause: "The driver looks for the earliest timer, opens the locks, and says then until when it sleeps. A timer \
                that is added in between is compared with the round before: it is later than that, and no worker is \
                woken.",
        fix: "It says so before it opens the locks.",
        source: Source::Read,
        mutant: "museum-tokio-6682",
    },
    Exhibit {
        name: "tokio-6133",
        project: "tokio",
        issue: "https://github.com/tokio-rs/tokio/issues/6133",
        year: 2023,
        people: "Now and then a socket hung for ever, in all versions; one user had met it in production.",
        cause: "A read that would block clears the readiness that it saw, unless the driver's tick is another by now. \
                But of the tick only some bits are kept: after so many turns of the driver the news looks like what \
                was seen.",
        fix: "Each socket has a tick of its own, which only its own events move (#6134). Later the word got more bits \
              for it.",
        source: Source::Read,
        mutant: "museum-tokio-6133",
    },
    Exhibit {
        name: "tokio-2924",
        project: "tokio",
        issue: "https://github.com/tokio-rs/tokio/issues/2924",
        year: 2020,
        people: "Found by reading, by two people: at a shutdown a task might wait for ever for a socket.",
        cause: "A driver that ends wakes all waiters, and its handle goes after that. A future that waits from then on \
                still finds the handle, and is not woken.",
        fix: "Not to ask the handle: here the waiters' own lock says that the driver has ended.",
        source: Source::Read,
        mutant: "museum-tokio-2924",
    },
];
