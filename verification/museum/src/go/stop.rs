//! Stopping the world: what the stopper reads, and Ps that the stopper cannot stop.

use crate::common::{Cell, Engine, ModelHost, is_wrong, main_plays, party, rc11, sc};
use crate::go::{Case, told, variant};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{Lock, Parker};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// What is in a note's word: no sleeper yet, a sleeper, or that it was told.
const NOBODY: u64 = 0;
const SLEEPER: u64 = 1;
const TOLD: u64 = 2;

/// `sched.stopwait`, plain memory, and the note by which the stopper is told that it is 0.
struct Noted<H: ModelHost> {
    lock: H::Lock<()>,
    stopwait: H::Cell<u64>,
    note: Atomic<H, u64>,
    parker: H::Parker,
}

fn told_and_stale<H: ModelHost>() -> String {
    main_plays("stopper");
    let (lock, stopwait) = (H::Lock::new(()), Cell::new(1));
    let noted = Arc::new(Noted::<H> { lock, stopwait, note: Atomic::new(NOBODY), parker: H::Parker::new() });
    let last = party::<H, _, _>("last", &noted, |noted| {
        // `gcstopm`.
        noted.lock.with(|()| noted.stopwait.set(noted.stopwait.get() - 1));
        // `notewakeup`. Release: the stopper reads what was done before.
        if noted.note.swap(TOLD, Release) == SLEEPER {
            noted.parker.unpark();
        }
    });
    // `notetsleep`: the sleeper registers, unless the note was told already.
    let sleeps = if is_wrong("museum-go-63384") {
        // Relaxed: wrong. If it was told already, nothing orders what was done before.
        noted.note.compare_exchange(NOBODY, SLEEPER, Relaxed, Relaxed).is_ok()
    } else {
        // Acquire: if it was told already, what was done before is seen.
        noted.note.compare_exchange(NOBODY, SLEEPER, Relaxed, Acquire).is_ok()
    };
    if sleeps {
        noted.parker.park();
    }
    // `stopTheWorldWithSema`, which reads it without the lock: the world is stopped.
    let left = noted.stopwait.get();
    assert!(left == 0, "stopTheWorld: not stopped (stopwait {left})");
    H::join(last);
    if sleeps { "slept" } else { "told at once" }.to_owned()
}

const STALE: &str = "museum::go_63384::told_and_stale";

/// #63384.
pub(super) const STALE_AFTER_THE_NOTE: Case = Case {
    exhibit: told(
        "told that all stopped, and not seen",
        "golang/go#63384",
        2023,
        "museum-go-63384",
        [
            "Go's tests crashed on OpenBSD for POWER: stopTheWorld, not stopped; forEachP, not done.",
            "The stopper is woken by a note and then reads a plain count. On the path on which the note was set \
             already, the code for POWER had no acquire, so the count could be older than the note.",
            "Reading the note acquires on every way out.",
        ],
    ),
    mutant: variant("museum-go-63384", "a note that is set already is read without Acquire", &[(STALE, Engine::Rc11)]),
    model: crate::model!("museum::go_63384::told_and_stale", told_and_stale,
        claim: "a stopper that is told that all have stopped reads that all have stopped",
        size: "2 threads: stopper, the last M that stops",
        invariants: [16, 17],
        must_reach: ["told at once", "slept"],
        runs: [rc11(), sc()]),
};

/// Two Ps, and their stopper.
#[derive(Default)]
struct Sched {
    /// `gcwaiting`.
    stopping: bool,
    stopwait: u64,
    /// Ps that no M has.
    idle: u64,
}

struct StoppedWorld<H: ModelHost> {
    sched: H::Lock<Sched>,
    /// Where the stopper sleeps: `stopnote`.
    stopper: H::Parker,
    /// Where an M sleeps that stopped in the middle of what its G does, until the world is started.
    preempted: H::Parker,
    /// `newmHandoff.haveTemplateThread`.
    has_template: Atomic<H, bool>,
    /// Where what only the template thread can do waits for it.
    template: H::Parker,
}

impl<H: ModelHost> StoppedWorld<H> {
    fn new(idle: u64) -> Arc<Self> {
        let [stopper, preempted, template] = [(); 3].map(|()| H::Parker::new());
        let sched = H::Lock::new(Sched { idle, ..Sched::default() });
        Arc::new(StoppedWorld { sched, stopper, preempted, has_template: Atomic::new(false), template })
    }

    /// `stopTheWorldWithSema`, and `startTheWorldWithSema`.
    fn stops(&self) -> bool {
        let waits = self.sched.with(|sched| {
            sched.stopping = true;
            sched.stopwait = 2 - std::mem::take(&mut sched.idle);
            sched.stopwait > 0
        });
        while self.sched.with(|sched| sched.stopwait > 0) {
            self.stopper.park();
        }
        self.sched.with(|sched| sched.stopping = false);
        self.preempted.unpark();
        waits
    }

    /// An M lets its P go: `gcstopm` if the world is to stop, else `pidleput`. True: it is to stop.
    fn lets_go(&self) -> bool {
        let (stopping, is_last) = self.sched.with(|sched| {
            sched.idle += u64::from(!sched.stopping);
            sched.stopwait -= u64::from(sched.stopping);
            (sched.stopping, sched.stopwait == 0)
        });
        if stopping && is_last {
            self.stopper.unpark();
        }
        stopping
    }

    /// A place where a G may be preempted: if the world is to stop, its M stops, until the world is started.
    fn may_be_preempted(&self) {
        if self.sched.with(|sched| sched.stopping) && self.lets_go() {
            // When it goes on it has its P again.
            self.preempted.park();
        }
    }

    /// `LockOSThread`, which makes the template thread if there is none. True: this one did.
    fn locks_its_thread(&self) -> bool {
        // `startTemplateThread`. AcqRel: one makes it.
        if self.has_template.compare_exchange(false, true, AcqRel, Acquire).is_err() {
            return false;
        }
        // `acquirem`: not preempted from here on.
        if is_wrong("museum-go-38931") {
            self.may_be_preempted();
        }
        // `newm`: from here on there is a template thread.
        self.template.unpark();
        true
    }
}

fn stopped_before_it_was_made<H: ModelHost>() -> String {
    main_plays("stopper");
    let world = StoppedWorld::<H>::new(0);
    let first = party::<H, _, _>("first", &world, |world| {
        let made = world.locks_its_thread();
        world.lets_go();
        made
    });
    let locked = party::<H, _, _>("locked", &world, |world| {
        let made = world.locks_its_thread();
        if !made {
            // `stoplockedm`, `handoffp`, `startm`, `newm`: a locked thread makes no thread; the template thread makes
            // the M that gets the P. What follows happens there.
            world.template.park();
        }
        // The new M, in `schedule`.
        world.lets_go();
    });
    let waits = world.stops();
    let made = H::join(first);
    H::join(locked);
    format!("waits {waits}, the first made it {made}")
}

const UNBORN: &str = "museum::go_38931::stopped_before_it_was_made";

/// #38931.
pub(super) const UNBORN_TEMPLATE: Case = Case {
    exhibit: told(
        "a thread that was promised, and stopped before it was made",
        "golang/go#38931",
        2020,
        "museum-go-38931",
        [
            "A program that locks threads could hang for ever when the world was stopped.",
            "The M that makes the template thread first sets the flag that there is one, and could be preempted before \
             it made it. Another locked M then left the making of an M to the template thread, with a P for it; the \
             stopper waits for that P, and the first waits for the world to start.",
            "No preemption between the flag and the thread.",
        ],
    ),
    mutant: variant(
        "museum-go-38931",
        "an M that makes the template thread may be preempted after it said that there is one",
        &[(UNBORN, Engine::Rc11), (UNBORN, Engine::Sc)],
    ),
    model: crate::model!("museum::go_38931::stopped_before_it_was_made", stopped_before_it_was_made,
        claim: "a stop of the world ends while threads are locked and made",
        size: "3 threads: stopper, 2 that lock their threads; 2 Ps",
        invariants: [24, 41],
        must_reach: ["waits true, the first made it true", "waits true, the first made it false", "waits false"],
        runs: [rc11(), sc()]),
};

fn stopped_with_a_p_in_hand<H: ModelHost>() -> String {
    main_plays("stopper");
    let world = StoppedWorld::<H>::new(1);
    let waker = party::<H, _, _>("waker", &world, |world| {
        // `wakep`: `acquirem`, and `pidleget`.
        let has_p = world.sched.with(|sched| std::mem::take(&mut sched.idle) > 0);
        if has_p {
            if is_wrong("museum-go-42237") {
                world.may_be_preempted();
            }
            // `startm`: the M that gets the P comes to `schedule`.
            world.lets_go();
        }
        // `releasem`. Its own G goes on and ends.
        world.lets_go();
        has_p
    });
    let waits = world.stops();
    let woke = H::join(waker);
    format!("waits {waits}, woke {woke}")
}

const IN_HAND: &str = "museum::go_42237::stopped_with_a_p_in_hand";

/// #42237.
pub(super) const P_IN_HAND: Case = Case {
    exhibit: told(
        "stopped with another M's P in hand",
        "golang/go#42237",
        2020,
        "museum-go-42237",
        [
            "Go's tests hung on OpenBSD after timers began to wake Ms.",
            "An M that wakes another takes an idle P for it, and could now be preempted before it handed it over. The \
             P was neither idle nor owned: the stopper waited for it, and the M that had it waited for the world to \
             start.",
            "No preemption from taking the P to handing it over.",
        ],
    ),
    mutant: variant(
        "museum-go-42237",
        "an M that wakes another may be preempted while it holds the P for it",
        &[(IN_HAND, Engine::Rc11), (IN_HAND, Engine::Sc)],
    ),
    model: crate::model!("museum::go_42237::stopped_with_a_p_in_hand", stopped_with_a_p_in_hand,
        claim: "a stop of the world ends while an M is woken",
        size: "2 threads: stopper, waker; 2 Ps, one idle",
        invariants: [24, 41],
        must_reach: ["waits true, woke true", "waits true, woke false", "waits false"],
        runs: [rc11(), sc()]),
};

/// An M that is asleep for want of work, or in a system call that reads from a pipe.
struct Away<H: ModelHost> {
    /// `m.park`.
    park: H::Parker,
    /// Where the kernel lets it sleep.
    kernel: H::Parker,
    in_call: Atomic<H, bool>,
    /// What all threads are to do: asked, and done.
    asked: Atomic<H, bool>,
    done: Atomic<H, bool>,
    coordinator: H::Parker,
}

fn one_reads_from_a_pipe<H: ModelHost>() -> String {
    main_plays("coordinator");
    let [park, kernel, coordinator] = [(); 3].map(|()| H::Parker::new());
    let [in_call, asked, done] = [(); 3].map(|()| Atomic::new(false));
    let away = Arc::new(Away::<H> { park, kernel, in_call, asked, done, coordinator });
    let m = party::<H, _, _>("m", &away, |away| {
        let reads = H::choose(2) == 1;
        // Release: a stopper that finds it there sees what it did before.
        away.in_call.store(reads, Release);
        // Acquire: what is asked for is seen.
        while !away.asked.load(Acquire) {
            if reads {
                // A signal, or data, ends it.
                away.kernel.park();
            } else {
                // `stopm`.
                away.park.park();
            }
        }
        // Release: the coordinator sees what the call did on this thread.
        away.done.store(true, Release);
        away.coordinator.unpark();
        reads
    });
    // `doAllThreadsSyscall`: the world is stopped. Release: what is to be done goes before.
    away.asked.store(true, Release);
    // `notewakeup(&mp.park)`.
    away.park.unpark();
    // Acquire: of what it did before it went.
    let sees_call = away.in_call.load(Acquire);
    if !is_wrong("museum-go-50113") {
        // A thread that is in the kernel gets a signal.
        away.kernel.unpark();
    }
    // It waits for all, and then starts the world. Acquire: see above.
    while !away.done.load(Acquire) {
        away.coordinator.park();
    }
    // Only now could a G write to the pipe.
    away.kernel.unpark();
    let reads = H::join(m);
    format!("reads {reads}, seen {sees_call}")
}

const PIPE: &str = "museum::go_50113::one_reads_from_a_pipe";

/// #50113.
pub(super) const WOKEN_ON_THE_WRONG_NOTE: Case = Case {
    exhibit: told(
        "woken where it did not sleep",
        "golang/go#50113",
        2021,
        "museum-go-50113",
        [
            "Programs without cgo that changed their groups on all threads hung for ever if one of them read from a \
             pipe.",
            "Each thread was to be woken on the note on which an idle M sleeps, and waited for. A thread in a system \
             call sleeps in the kernel, which knows nothing of that note, until a stopped G writes to the pipe.",
            "Ms in system calls are reached too; since Go 1.18 by a signal to each thread.",
        ],
    ),
    mutant: variant(
        "museum-go-50113",
        "a G that needs all threads wakes them on the note for idle Ms only",
        &[(PIPE, Engine::Rc11), (PIPE, Engine::Sc)],
    ),
    model: crate::model!("museum::go_50113::one_reads_from_a_pipe", one_reads_from_a_pipe,
        claim: "what all threads are to do ends, wherever they sleep",
        size: "2 threads: coordinator, 1 M that is idle or in a call",
        invariants: [13],
        must_reach: ["reads true, seen true", "reads false"],
        runs: [rc11(), sc()]),
};
