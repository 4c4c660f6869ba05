//! Locks in a circle. Nothing is asserted: the engine says that every thread waits for ever.

use crate::common::{Engine, ModelHost, is_wrong, main_plays, party, rc11, sc};
use crate::go::{Case, told, variant};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{Lock, Parker};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Release};

/// A G that waits for the network, while its stack is scanned.
struct Scanned<H: ModelHost> {
    /// `_Gscan`, the bit of its status that is a lock. What it guards: was the stack scanned?
    bit: H::Lock<bool>,
    /// `sched.lock`, and the global queue.
    sched: H::Lock<u64>,
}

fn injected_while_it_is_scanned<H: ModelHost>() -> String {
    main_plays("injector");
    let g = Arc::new(Scanned::<H> { bit: H::Lock::new(false), sched: H::Lock::new(0) });
    let scanner = party::<H, _, _>("scanner", &g, |g| {
        // `castogscanstatus`, `scanstack`.
        let enlists = g.bit.with(|scanned| {
            *scanned = true;
            // `gcWork.put`, which found so much that another worker is to help: `enlistWorker`.
            if is_wrong("museum-go-19112") {
                g.sched.with(|_| ());
                return false;
            }
            true
        });
        // `restartg`. Only now may it wake an M, which takes the lock.
        if enlists {
            g.sched.with(|_| ());
        }
    });
    // `injectglist`, with `casgstatus` under the lock: it waits for the bit.
    let first = g.sched.with(|queued| {
        let scanned = g.bit.with(|scanned| *scanned);
        *queued += 1;
        !scanned
    });
    H::join(scanner);
    if first { "injected, then scanned" } else { "scanned, then injected" }.to_owned()
}

const SCANNED: &str = "museum::go_19112::injected_while_it_is_scanned";

/// #19112.
pub(super) const BIT_AND_LOCK: Case = Case {
    exhibit: told(
        "a bit that is a lock, and the scheduler's lock",
        "golang/go#19112",
        2017,
        "museum-go-19112",
        [
            "A production job took 100 % of the processor and answered no request for 328 minutes, until it was \
             killed.",
            "One M injects a G: it held the scheduler's lock and waited for the G's scan bit. Another held the bit, \
             scanned the stack, found much to do, and took the scheduler's lock to wake a helper.",
            "Do not wait for the bit under the lock, and wake no M while the bit is held. The variant mends the \
             second.",
        ],
    ),
    mutant: variant(
        "museum-go-19112",
        "an M that scans a stack wakes a helper while it holds the G's scan bit",
        &[(SCANNED, Engine::Rc11), (SCANNED, Engine::Sc)],
    ),
    model: crate::model!("museum::go_19112::injected_while_it_is_scanned", injected_while_it_is_scanned,
        claim: "a G can be injected while its stack is scanned",
        size: "2 threads: injector, scanner; 1 G",
        invariants: [23],
        must_reach: ["injected, then scanned", "scanned, then injected"],
        runs: [rc11(), sc()]),
};

/// A connection whose deadline is set anew while the old one expires.
struct Connection<H: ModelHost> {
    /// `pd.lock`, and whether the deadline has expired.
    desc: H::Lock<bool>,
    /// `timersLock`, and whether the timer is still there.
    timers: H::Lock<bool>,
}

fn set_anew_while_it_expires<H: ModelHost>() -> String {
    main_plays("setter");
    let c = Arc::new(Connection::<H> { desc: H::Lock::new(false), timers: H::Lock::new(true) });
    let runner = party::<H, _, _>("runner", &c, |c| {
        // `checkTimers`, `runtimer`.
        let is_due = c.timers.with(|timer| {
            let is_due = std::mem::take(timer);
            if is_due && is_wrong("museum-go-35532") {
                // `netpollReadDeadline`, called with the timers locked.
                c.desc.with(|expired| *expired = true);
                return false;
            }
            is_due
        });
        // The same, after `unlock`.
        if is_due {
            c.desc.with(|expired| *expired = true);
        }
    });
    // `poll_runtime_pollSetDeadline`.
    let was_there = c.desc.with(|_| {
        // `resettimer`.
        c.timers.with(std::mem::take)
    });
    H::join(runner);
    let expired = c.desc.with(|expired| *expired);
    assert!(expired != was_there, "the deadline was moved, and expired");
    if was_there { "moved" } else { "expired" }.to_owned()
}

const ANEW: &str = "museum::go_35532::set_anew_while_it_expires";

/// #35532.
pub(super) const DEADLINE_AND_TIMERS: Case = Case {
    exhibit: told(
        "a deadline that was moved as it expired",
        "golang/go#35532",
        2019,
        "museum-go-35532",
        [
            "A busy server hung within an hour on what was to be Go 1.14, when timers had moved to the Ps.",
            "A G that moves a connection's deadline holds the connection's lock and takes the timers'. The M that runs \
             the old deadline's timer held the timers' and took the connection's.",
            "A timer's function runs with the timers unlocked.",
        ],
    ),
    mutant: variant(
        "museum-go-35532",
        "a timer's function runs with the timers locked",
        &[(ANEW, Engine::Rc11), (ANEW, Engine::Sc)],
    ),
    model: crate::model!("museum::go_35532::set_anew_while_it_expires", set_anew_while_it_expires,
        claim: "a deadline that is moved as it expires is moved, or expires",
        size: "2 threads: setter, runner; 1 connection, 1 timer",
        invariants: [23],
        must_reach: ["moved", "expired"],
        runs: [rc11(), sc()]),
};

/// A thread that profiles a lock's use, and the preemptor that suspends it.
struct Suspended<H: ModelHost> {
    /// The lock of the profile, and its entries.
    profile: H::Lock<u64>,
    /// `SuspendThread`, until `ResumeThread`.
    suspended: Atomic<H, bool>,
    parker: H::Parker,
}

impl<H: ModelHost> Suspended<H> {
    /// The system may suspend a thread anywhere; here it does so only here.
    fn may_be_suspended(&self) {
        // Acquire: of the preemptor's store.
        while self.suspended.load(Acquire) {
            self.parker.park();
        }
    }
}

fn suspended_with_the_lock<H: ModelHost>() -> String {
    main_plays("preemptor");
    let thread =
        Arc::new(Suspended::<H> { profile: H::Lock::new(0), suspended: Atomic::new(false), parker: H::Parker::new() });
    let target = party::<H, _, _>("target", &thread, |thread| {
        thread.may_be_suspended();
        // It unlocked a mutex that is profiled.
        thread.profile.with(|entries| {
            thread.may_be_suspended();
            *entries += 1;
            *entries
        })
    });
    let records = || {
        // `unlock`, of a lock of the runtime's for which others had waited.
        thread.profile.with(|entries| *entries += 1);
    };
    // `preemptM`. Release: what it wants stands there before.
    thread.suspended.store(true, Release);
    if is_wrong("museum-go-80982") {
        records();
    }
    // `ResumeThread`. Release: it finds where it is to go on.
    thread.suspended.store(false, Release);
    thread.parker.unpark();
    if !is_wrong("museum-go-80982") {
        records();
    }
    format!("the target's entry is number {}", H::join(target))
}

const SUSPENDED: &str = "museum::go_80982::suspended_with_the_lock";

/// #80982.
pub(super) const LOCK_OF_THE_SUSPENDED: Case = Case {
    exhibit: told(
        "waiting for a lock of a thread that one holds still",
        "golang/go#80982",
        2026,
        "museum-go-80982",
        [
            "On Windows a program that profiled its mutexes could stop for ever during a collection.",
            "To preempt a G its thread is suspended. The preemptor meanwhile unlocked a lock of the runtime's, and to \
             unlock meant to write down how long others had waited, under the profile's lock. The suspended thread may \
             hold that.",
            "Nothing is written down while a thread is suspended.",
        ],
    ),
    mutant: variant(
        "museum-go-80982",
        "a preemptor that has suspended a thread takes a lock that the thread may hold",
        &[(SUSPENDED, Engine::Rc11), (SUSPENDED, Engine::Sc)],
    ),
    model: crate::model!("museum::go_80982::suspended_with_the_lock", suspended_with_the_lock,
        claim: "a preemptor that suspends a thread resumes it",
        size: "2 threads: preemptor, target; 1 lock",
        invariants: [23],
        must_reach: ["number 1", "number 2"],
        runs: [rc11(), sc()]),
};
