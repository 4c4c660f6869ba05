//! False deadlocks: `checkdead` counted no running M, because an M about to run did not count yet.

use crate::common::{Engine, ModelHost, is_wrong, main_plays, party, rc11, sc};
use crate::go::{Case, told, variant};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::Lock;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Release};

/// What is under `sched.lock`. There is one P.
pub(super) struct Sched {
    /// Ms, without `sysmon`.
    pub(super) mcount: i64,
    pub(super) nmidle: i64,
    /// `sysmon` lowers it to count as one that runs.
    pub(super) nmidlelocked: i64,
    pub(super) p_is_idle: bool,
    /// Gs in the global queue.
    pub(super) global: u64,
    /// Ms that were given the P.
    pub(super) started: u64,
    /// Is there a timer? Then a G may still become runnable, if none is.
    pub(super) has_timers: bool,
    /// May Gs of the user be run? Else one that is runnable is kept aside; it counts as queued here.
    pub(super) users_run: bool,
}

impl Sched {
    pub(super) fn new(mcount: i64, nmidle: i64) -> Self {
        Sched {
            mcount,
            nmidle,
            nmidlelocked: 0,
            p_is_idle: false,
            global: 0,
            started: 0,
            has_timers: false,
            users_run: true,
        }
    }

    /// `mput`, which ends with `checkdead`. In none of these scenarios is every M really stuck.
    pub(super) fn mput(&mut self) {
        self.nmidle += 1;
        let run = self.mcount - self.nmidle - self.nmidlelocked;
        assert!(run > 0 || self.global == 0, "checkdead: runnable g");
        assert!(run > 0 || self.has_timers, "all goroutines are asleep - deadlock!");
    }

    /// `pidleget`.
    fn pidleget(&mut self) -> bool {
        std::mem::take(&mut self.p_is_idle)
    }

    /// `startm`: an idle M is popped, or the new one is counted before it exists.
    fn startm(&mut self) {
        self.started += 1;
        if self.nmidle > 0 {
            self.nmidle -= 1;
        } else {
            self.mcount += 1;
        }
    }

    /// The G is run, or will be.
    fn check_at_rest(&self, ran: bool) {
        assert!(ran || self.started > 0, "the G is queued, and no M was started for it");
    }
}

/// The M that has the P runs out of work. True: it found the G before it let the P go.
fn lets_the_p_go<H: ModelHost>(sched: &H::Lock<Sched>) -> bool {
    sched.with(|sched| {
        let found = sched.global > 0;
        sched.global = 0;
        sched.p_is_idle = !found;
        found
    })
}

struct Polled<H: ModelHost> {
    sched: H::Lock<Sched>,
    /// `netpollWaiters`.
    waiters: Atomic<H, u64>,
}

fn the_monitor_polls<H: ModelHost>() -> String {
    main_plays("sysmon");
    let polled = Arc::new(Polled::<H> { sched: H::Lock::new(Sched::new(1, 0)), waiters: Atomic::new(1) });
    let m = party::<H, _, _>("m", &polled, |polled| {
        // `findRunnable`.
        if lets_the_p_go::<H>(&polled.sched) {
            return "found it";
        }
        // Does any G wait? Acquire: a G that is no longer waited for is seen to be runnable.
        if polled.waiters.load(Acquire) > 0 {
            return "polls";
        }
        // `stopm`.
        polled.sched.with(Sched::mput);
        "sleeps"
    });
    let adjust = || {
        // Release: the G is runnable before.
        polled.waiters.fetch_sub(1, Release)
    };
    // `netpoll(0)`: the socket of the only G is ready.
    if is_wrong("museum-go-61454") {
        adjust();
    }
    // `incidlelocked(-1)`: from here on `sysmon` counts as one that runs.
    polled.sched.with(|sched| sched.nmidlelocked -= 1);
    // `injectglist`, without a P.
    polled.sched.with(|sched| {
        sched.global += 1;
        if sched.pidleget() {
            sched.startm();
        }
    });
    if !is_wrong("museum-go-61454") {
        // `netpollAdjustWaiters`.
        adjust();
    }
    // `incidlelocked(1)`, and its `checkdead`: the M that was started counts.
    polled.sched.with(|sched| sched.nmidlelocked += 1);
    let end = H::join(m);
    polled.sched.with(|sched| sched.check_at_rest(end == "found it"));
    format!("the m {end}")
}

const POLLS: &str = "museum::go_61454::the_monitor_polls";

/// #61454.
pub(super) const LOWERED_TOO_EARLY: Case = Case {
    exhibit: told(
        "not waited for any more, and not yet runnable",
        "golang/go#61454",
        2023,
        "museum-go-61454",
        [
            "Go's own tests began to die of a deadlock that was none, a day after an earlier mistake in the same \
             counter had been mended.",
            "The number of Gs that wait for the network was lowered as soon as they were polled, and they were made \
             runnable later. In between an M saw no work and no G to poll for, slept, and was the last.",
            "Lower the number after the Gs are runnable.",
        ],
    ),
    mutant: variant(
        "museum-go-61454",
        "the number of those that wait for the network is lowered before they are runnable",
        &[(POLLS, Engine::Rc11), (POLLS, Engine::Sc)],
    ),
    model: crate::model!("museum::go_61454::the_monitor_polls", the_monitor_polls,
        claim: "a G whose socket is ready is run, and no deadlock is told",
        size: "2 threads: sysmon, 1 M; 1 P, 1 G",
        invariants: [25, 29],
        must_reach: ["found it", "polls"],
        runs: [rc11(), sc()]),
};

/// The only P is idle. `sysmon` takes it, to start an M that serves a timer, while an M comes back from the poller with
/// a G and finds no P.
fn the_monitor_has_the_p<H: ModelHost>(another_sleeps: bool) -> String {
    main_plays("sysmon");
    // `sysmon` does not count. Beside the M there is one that sleeps, or there is none.
    let counted = if another_sleeps { Sched::new(2, 1) } else { Sched::new(1, 0) };
    let sched = Arc::new(H::Lock::new(Sched { p_is_idle: true, has_timers: true, ..counted }));
    let m = party::<H, _, _>("m", &sched, |sched: &H::Lock<Sched>| {
        // `findRunnable`, after `netpoll`.
        if sched.with(Sched::pidleget) {
            return "has the P";
        }
        // `injectglist`. There is no P to start an M for.
        sched.with(|sched| sched.global += 1);
        // `stopm`.
        sched.with(Sched::mput);
        "sleeps"
    });
    let is_late = is_wrong(if another_sleeps { "museum-go-59600" } else { "museum-go-40368" });
    // `pidleget`, and `startm`, by which an M begins to count.
    let has_p = sched.with(|sched| {
        let has_p = sched.pidleget();
        if has_p && !is_late {
            sched.startm();
        }
        has_p
    });
    if has_p && is_late {
        // The lock was open: `startm` took it once more, or the new M counts only when it is made.
        sched.with(Sched::startm);
    }
    let end = H::join(m);
    sched.with(|sched| sched.check_at_rest(end == "has the P"));
    format!("the m {end}")
}

fn one_sleeps<H: ModelHost>() -> String {
    the_monitor_has_the_p::<H>(true)
}

fn none_sleeps<H: ModelHost>() -> String {
    the_monitor_has_the_p::<H>(false)
}

const REUSED: &str = "museum::go_59600::the_monitor_has_the_p";
const NEW: &str = "museum::go_40368::the_m_is_not_made_yet";

/// #59600.
pub(super) const NOBODYS_P: Case = Case {
    exhibit: told(
        "a P that no M holds",
        "golang/go#59600, golang/go#60788",
        2023,
        "museum-go-59600",
        [
            "Programs with one P crashed every now and then, Prometheus' node_exporter among them: checkdead, runnable \
             g.",
            "sysmon, which does not count, took the idle P under the lock, opened the lock, and took it again in \
             startm to choose an M. In between the only other M came from the poller with Gs, found no P, and slept as \
             the last.",
            "The lock is held from taking the P to choosing the M.",
        ],
    ),
    mutant: variant(
        "museum-go-59600",
        "the lock is opened between taking an idle P and choosing its M",
        &[(REUSED, Engine::Rc11), (REUSED, Engine::Sc)],
    ),
    model: crate::model!("museum::go_59600::the_monitor_has_the_p", one_sleeps,
        claim: "while a P is on its way to an M, no deadlock is told",
        size: "2 threads: sysmon, 1 M; another M sleeps; 1 P, 1 G",
        invariants: [24, 25],
        must_reach: ["the m sleeps", "the m has the P"],
        runs: [rc11(), sc()]),
};

/// #40368.
pub(super) const UNBORN_M: Case = Case {
    exhibit: told(
        "an M that was not counted yet",
        "golang/go#40368",
        2020,
        "museum-go-40368",
        [
            "Programs crashed: checkdead, runnable g. sysmon stood at the scheduler's lock, on its way to start an M.",
            "A new M got its number, and with it counted, only while it was made, under a second hold of the lock. In \
             between the last M slept.",
            "The number is reserved under the same hold of the lock under which no idle M was found.",
        ],
    ),
    mutant: variant(
        "museum-go-40368",
        "a new M is counted when it is made, not when it is decided on",
        &[(NEW, Engine::Rc11), (NEW, Engine::Sc)],
    ),
    model: crate::model!("museum::go_40368::the_m_is_not_made_yet", none_sleeps,
        claim: "while an M is made, no deadlock is told",
        size: "2 threads: sysmon, 1 M; 1 P, 1 G",
        invariants: [25],
        must_reach: ["the m sleeps", "the m has the P"],
        runs: [rc11(), sc()]),
};
