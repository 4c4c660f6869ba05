//! The poller: entered before it was made; a break that it swallowed; and, with the kernel's own protocol, one that was not sent, or was read by
//! another M.

use crate::common::{Cell, Engine, Exhibit, ModelHost, Source, is_wrong, main_plays, party, rc11, sc, tso};
use crate::go::{Case, told, variant};
use spinpark_kernel::atomic::{Atomic, store_load};
use spinpark_kernel::host::{Lock, NEVER, Nanos, Parker};
use spinpark_kernel::protocol::netpoll::{Neighbours, Netpoll};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// What `epfd` is before anything is stored in it, and what an old kernel answers to a call that it does not know.
const NO_FD: i64 = -1;
const NOT_KNOWN: i64 = -38;

/// The poller's descriptor. A plain variable, as in Go.
struct Made<H: ModelHost> {
    epfd: H::Cell<i64>,
    /// `netpollInited`.
    inited: Atomic<H, bool>,
}

fn polled_while_it_is_made<H: ModelHost>() -> String {
    main_plays("first to dial");
    let made = Arc::new(Made::<H> { epfd: Cell::new(NO_FD), inited: Atomic::new(false) });
    let sysmon = party::<H, _, _>("sysmon", &made, |made| {
        // `netpoll`. Acquire: what was made is seen.
        let is_made = is_wrong("museum-go-22606") || made.inited.load(Acquire);
        if !is_made || made.epfd.get() == NO_FD {
            return false;
        }
        let epfd = made.epfd.get();
        assert!(epfd >= 0, "epollwait on fd {epfd} failed");
        true
    });
    // `netpollinit`, on a kernel that does not know `epoll_create1`.
    made.epfd.set(NOT_KNOWN);
    made.epfd.set(3);
    // Release: a thread that sees that it is made sees its descriptor.
    made.inited.store(true, Release);
    if H::join(sysmon) { "polled" } else { "not made yet" }.to_owned()
}

const MADE: &str = "museum::go_22606::polled_while_it_is_made";

/// #22606.
pub(super) const HALF_MADE: Case = Case {
    exhibit: told(
        "a poller that was entered half made",
        "golang/go#22606",
        2017,
        "museum-go-22606",
        [
            "A program on an old Linux crashed at its first dial: epollwait on descriptor -38.",
            "The descriptor's variable was written with the error code of a first attempt before a second one worked. \
             An M that polled looked at that variable, and not at the flag that says that it is all made.",
            "An M that polls asks the flag, which is set last.",
        ],
    ),
    mutant: variant(
        "museum-go-22606",
        "an M that polls looks at the descriptor, and not whether the poller is all made",
        &[(MADE, Engine::Rc11), (MADE, Engine::Sc)],
    ),
    model: crate::model!("museum::go_22606::polled_while_it_is_made", polled_while_it_is_made,
        claim: "an M that polls while the poller is made waits on its descriptor, or does not wait",
        size: "2 threads: first to dial, sysmon",
        invariants: [],
        must_reach: ["polled", "not made yet"],
        runs: [rc11(), sc()]),
};

/// A poller that was broken once, and a P that adds two more timers.
struct Breakable<H: ModelHost> {
    /// `netpollWakeSig`.
    flag: Atomic<H, u64>,
    /// The event descriptor's count.
    event: H::Lock<u64>,
    /// Where `epoll_wait` sleeps.
    parker: H::Parker,
    timers: [Atomic<H, bool>; 2],
}

impl<H: ModelHost> Breakable<H> {
    /// `netpollBreak`.
    fn breaks(&self) {
        // Acquire: the poller had read the event before it lowered the flag.
        if self.flag.compare_exchange(0, 1, Acquire, Relaxed).is_ok() {
            self.event.with(|n| *n += 1);
            self.parker.unpark();
        }
    }

    /// `netpoll`, which waits until it is broken.
    fn polls(&self) {
        while self.event.with(|n| *n == 0) {
            self.parker.park();
        }
        if is_wrong("museum-go-break-flag") {
            // Release: as below, and too early.
            self.flag.store(0, Release);
            self.event.with(|n| *n = 0);
        } else {
            self.event.with(|n| *n = 0);
            // Release: the next break writes an event that is not read with this one.
            self.flag.store(0, Release);
        }
    }
}

fn broken_again_and_again<H: ModelHost>() -> String {
    main_plays("poller");
    let timers = [Atomic::new(false), Atomic::new(false)];
    let poller =
        Arc::new(Breakable::<H> { flag: Atomic::new(1), event: H::Lock::new(1), parker: H::Parker::new(), timers });
    let adder = party::<H, _, _>("adder", &poller, |poller| {
        for timer in &poller.timers {
            // Relaxed: a deadline. The heap has a lock.
            timer.store(true, Relaxed);
            // `timer/flag`: the adder.
            store_load::<H>();
            poller.breaks();
        }
    });
    let mut rounds = 0;
    // Relaxed: after the StoreLoad.
    let is_served = |timer: &Atomic<H, bool>| timer.load(Relaxed);
    // `findRunnable`: with a timer that it has not seen it sleeps for good, and the engine reports a deadlock.
    while !poller.timers.iter().all(is_served) {
        poller.polls();
        // `timer/flag`: the poller, after it was broken.
        store_load::<H>();
        rounds += 1;
    }
    H::join(adder);
    format!("broken {rounds} times")
}

const AGAIN: &str = "museum::go_break_flag::broken_again_and_again";

/// The order of the flag and the event.
pub(super) const SWALLOWED_BREAK: Case = Case {
    exhibit: Exhibit {
        source: Source::Told,
        ..told(
            "a break that was read with the one before",
            "golang/go runtime/netpoll_epoll.go, a comment",
            2021,
            "museum-go-break-flag",
            [
                "No user: the source states the order that is needed, and has it.",
                "If the poller lowered the flag before it reads the event, a break in between would write an event \
                 that is read with the old one, and leave the flag up. Every later break would trust the flag and do \
                 nothing.",
                "Read the event, then lower the flag.",
            ],
        )
    },
    mutant: variant(
        "museum-go-break-flag",
        "the poller lowers the flag of a break before it reads the event",
        &[(AGAIN, Engine::Rc11), (AGAIN, Engine::Sc)],
    ),
    model: crate::model!("museum::go_break_flag::broken_again_and_again", broken_again_and_again,
        claim: "each timer that is added while the poller is polled is seen",
        size: "2 threads: poller, adder; 1 break before, 2 timers",
        invariants: [28, 44],
        must_reach: ["broken 1 times", "broken 2 times", "broken 3 times"],
        runs: [rc11(), sc(), tso()]),
};

const SOON: Nanos = 5;
const LATE: Nanos = 100;

/// The kernel's protocol, two timers, and a poller that was broken or not.
struct Waited<H: ModelHost> {
    netpoll: Netpoll<H>,
    timers: [Atomic<H, u64>; 2],
    broken: Atomic<H, bool>,
}

impl<H: ModelHost> Neighbours for Waited<H> {
    fn deadline(&self) -> Nanos {
        // Relaxed: as the kernel's.
        self.timers.iter().map(|when| when.load(Relaxed)).min().unwrap_or(NEVER)
    }
    fn is_awaited(&self) -> bool {
        false
    }
    fn interrupt(&self) {
        if !is_wrong("museum-go-38860") {
            self.broken.swap(true, AcqRel);
        }
    }
    fn wakep(&self) {}
}

impl<H: ModelHost> Waited<H> {
    /// `findRunnable`, with timers already due at some moment: the M waits until that, or less long.
    fn waits(adds: fn(&Self), looks: fn(&Self)) -> String {
        main_plays("M that waits");
        let timers = [Atomic::new(LATE), Atomic::new(NEVER)];
        let waited = Arc::new(Self { netpoll: Netpoll::new(), timers, broken: Atomic::new(false) });
        let poll = waited.netpoll.claim(&*waited).expect("no M waits yet");
        let adder = party::<H, _, _>("adder", &waited, adds);
        let until = waited.netpoll.prepare(&poll, &*waited);
        let other = party::<H, _, _>("M that looks", &waited, looks);
        H::join(adder);
        H::join(other);
        let is_broken = waited.broken.load(Relaxed);
        assert!(until <= SOON || is_broken, "a timer is due at {SOON}, and an M waits until {until}");
        format!("waits until {until}{}", if is_broken { ", and is broken" } else { "" })
    }

    fn adds(&self) {
        // Relaxed: as the kernel's.
        self.timers[1].store(SOON, Relaxed);
        self.netpoll.announce(SOON, self);
    }

    /// `netpoll(0)`: what it reads the M that waits does not read again.
    fn looks(&self) {
        let look = || _ = self.broken.swap(false, AcqRel);
        if is_wrong("museum-go-42515") {
            look();
        } else {
            self.netpoll.peek(self, || 1, look);
        }
    }
}

fn an_earlier_one_is_added<H: ModelHost>() -> String {
    Waited::<H>::waits(Waited::adds, |_| ())
}

fn another_looks<H: ModelHost>() -> String {
    Waited::<H>::waits(Waited::adds, Waited::looks)
}

const EARLIER: &str = "museum::go_38860::an_earlier_one_is_added";

/// #38860.
pub(super) const NOT_BROKEN: Case = Case {
    exhibit: told(
        "timers that waited for a busy P",
        "golang/go#38860",
        2020,
        "museum-go-38860",
        [
            "After Go 1.14 moved timers to the Ps, timers beside Gs that compute fired up to 10 ms and more too late.",
            "A timer was served by its own P only, however busy; and an M that slept in the poller until a later timer \
             was not woken for an earlier one.",
            "Other Ms run the timers of a busy P, and the adder of an earlier timer breaks the poller. The variant is \
             without the second.",
        ],
    ),
    mutant: variant(
        "museum-go-38860",
        "a thread that adds an earlier timer does not break the poller",
        &[(EARLIER, Engine::Rc11), (EARLIER, Engine::Sc)],
    ),
    model: crate::model!("museum::go_38860::an_earlier_one_is_added", an_earlier_one_is_added,
        claim: "an M that waits for a timer is woken for an earlier one, or waits for that",
        size: "2 threads: M that waits, adder; 2 timers",
        invariants: [35, 44],
        must_reach: ["waits until 5", "waits until 100, and is broken"],
        runs: [rc11(), sc(), tso()]),
};

const LOOKS: &str = "museum::go_42515::another_looks";

/// #42515.
pub(super) const READ_BY_ANOTHER: Case = Case {
    exhibit: told(
        "a break that another M read",
        "golang/go#42515",
        2020,
        "museum-go-42515",
        [
            "Go's tests stood still for two minutes on NetBSD, until a forced collection woke the scheduler.",
            "The poller is broken by an event. An M that only peeked into the poller read that event, and the one that \
             waited for hours in it went on waiting.",
            "Only the waiting M reads the event. Our kernel: no M peeks while one waits.",
        ],
    ),
    mutant: variant(
        "museum-go-42515",
        "an M that looks into the poller reads the break that was meant for the M that waits",
        &[(LOOKS, Engine::Rc11), (LOOKS, Engine::Sc)],
    ),
    model: crate::model!("museum::go_42515::another_looks", another_looks,
        claim: "an M that looks into the poller does not read the break of the one that waits",
        size: "3 threads: M that waits, adder, M that looks; 2 timers",
        invariants: [28, 44],
        must_reach: ["waits until 5", "waits until 100, and is broken"],
        runs: [rc11(), sc(), tso()]),
};
