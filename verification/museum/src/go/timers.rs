//! Timers that fire late, fill a ring, or are waited for by the M that holds them.

use crate::common::{Engine, Exhibit, ModelHost, Source, is_wrong, main_plays, party, rc11, sc, tso};
use crate::go::{Case, told, variant};
use spinpark_kernel::atomic::{Atomic, store_load};
use spinpark_kernel::host::Lock;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// No timer; no deadline.
const NONE: u64 = 0;
/// No M is in the poller.
const NOBODY_POLLS: u64 = 1;

/// One P adds a timer while the M of the other goes to sleep.
struct Bed<H: ModelHost> {
    /// When the earliest timer of the adder's P is due: `timer0When`.
    timer: Atomic<H, u64>,
    nmspinning: Atomic<H, u64>,
    /// 0: an M waits in the poller.
    lastpoll: Atomic<H, u64>,
    /// Until when. [`NONE`]: for ever.
    poll_until: Atomic<H, u64>,
    /// Idle Ps, and Ms that were woken with one.
    sched: H::Lock<(u64, u64)>,
    /// `netpollBreak` was called.
    broken: Atomic<H, bool>,
}

/// `wakeNetPoller`, and `wakep` in it. True: an M will look.
fn wake_net_poller<H: ModelHost>(parker: &Bed<H>, when: u64) {
    // Relaxed: after the StoreLoad.
    if parker.lastpoll.load(Relaxed) == 0 {
        // Relaxed: if it is old, the poller is broken once too often.
        let until = parker.poll_until.load(Relaxed);
        if until == NONE || until > when {
            // Relaxed: the poller's descriptor orders.
            parker.broken.store(true, Relaxed);
        }
        return;
    }
    // Relaxed: after the StoreLoad.
    if parker.nmspinning.load(Relaxed) == 0 {
        parker.sched.with(|(idle, woken)| (*idle, *woken) = (idle.saturating_sub(1), *woken + *idle));
    }
}

fn added_while_the_last_goes_to_sleep<H: ModelHost>() -> String {
    main_plays("adder");
    let parker = Arc::new(Bed::<H> {
        timer: Atomic::new(NONE),
        nmspinning: Atomic::new(1),
        lastpoll: Atomic::new(NOBODY_POLLS),
        poll_until: Atomic::new(NONE),
        sched: H::Lock::new((0, 0)),
        broken: Atomic::new(false),
    });
    let spinning_m = party::<H, _, _>("spinning_m", &parker, |parker| {
        // `stealWork`: what is the earliest deadline? Relaxed: it is read again.
        let mut until = parker.timer.load(Relaxed);
        // `pidleput`.
        parker.sched.with(|(idle, _)| *idle += 1);
        // AcqRel: an M that finds it lowered knows all that was done before.
        parker.nmspinning.fetch_sub(1, AcqRel);
        // `timer/nmspinning`: the M that goes to sleep.
        store_load::<H>();
        if !is_wrong("museum-go-44868") {
            // `checkTimersNoP`. Relaxed: after the StoreLoad.
            until = parker.timer.load(Relaxed);
        }
        if until == NONE {
            // `stopm`: there is nothing to wait for.
            return None;
        }
        // AcqRel: one M only is in the poller.
        if parker.lastpoll.swap(0, AcqRel) == NOBODY_POLLS {
            // Relaxed: see `wake_net_poller`.
            parker.poll_until.store(until, Relaxed);
        }
        Some(until)
    });
    // `addtimer`, due at 5. Relaxed: it is a deadline, the heap has a lock.
    parker.timer.store(5, Relaxed);
    // `timer/nmspinning`: the adder.
    store_load::<H>();
    wake_net_poller(&*parker, 5);
    let polls = H::join(spinning_m);
    let (idle, woken) = parker.sched.with(|counts| *counts);
    let in_time = polls.is_some_and(|until| until <= 5);
    assert!(in_time || woken > 0 || idle == 0, "the timer is due at 5, a P is idle, and no M waits for it");
    format!("polls {polls:?}, woken {woken}")
}

const ADDED: &str = "museum::go_44868::added_while_the_last_goes_to_sleep";

/// #44868, and #45716.
pub(super) const NOBODY_LOOKS_AGAIN: Case = Case {
    exhibit: told(
        "a timer of no duration that took two minutes",
        "golang/go#44868, golang/go#45716",
        2021,
        "museum-go-44868",
        [
            "Rarely, a timer that was due at once fired after two minutes, when a forced collection woke the \
             scheduler; and a ticker stopped for good after GOMAXPROCS was lowered.",
            "The adder saw that an M was looking, and woke none. That M had read the timers already, and after \
             it stopped looking it read the queues again, but not the timers.",
            "The timers are read again too, after the M is no longer counted.",
        ],
    ),
    mutant: variant(
        "museum-go-44868",
        "an M that goes to sleep does not read the timers again after it is no longer counted",
        &[(ADDED, Engine::Rc11), (ADDED, Engine::Sc)],
    ),
    model: crate::model!("museum::go_44868::added_while_the_last_goes_to_sleep", added_while_the_last_goes_to_sleep,
        claim: "a timer that is added while the last spinning M goes to sleep is waited for, or an M is woken for it",
        size: "2 threads: adder, spinning M; 2 Ps, 1 timer",
        invariants: [35, 44],
        must_reach: ["polls Some(5)", "polls None, woken 1"],
        runs: [rc11(), sc(), tso()]),
};

/// How many a ring holds.
const RING: usize = 4;

/// A P that is robbed: a ring of Gs, and timers that each ready one more. Both as lists under a lock: races of rings
/// are other exhibits.
struct Robbed {
    ring: VecDeque<u64>,
    timers: Vec<u64>,
    taken: u64,
}

fn a_thief_runs_timers_first<H: ModelHost>() -> String {
    main_plays("thief");
    let p = Arc::new(H::Lock::new(Robbed { ring: (1..=4).collect(), timers: vec![5, 6, 7], taken: 0 }));
    let owner = party::<H, _, _>("owner", &p, |p: &H::Lock<Robbed>| {
        // Its G yields twice; at the second time it runs its timers, if they are still there.
        p.with(|p| p.taken += u64::from(p.ring.pop_front().is_some()));
        p.with(|p| {
            while let Some(g) = p.timers.pop() {
                p.ring.push_back(g);
            }
        });
    });
    // `stealWork`, the last pass: `checkTimers` of the other P. What they ready goes into the thief's own ring.
    let mut own: VecDeque<u64> = p.with(|p| p.timers.drain(..).collect());
    let ran = own.len();
    // The ring may not be empty any more. If it is not, take what is there.
    let found = if ran > 0 && !is_wrong("museum-go-39518") { own.pop_front() } else { None };
    if found.is_none() {
        // `runqsteal`: half of what is there. One is run, the rest goes behind what the thief has.
        p.with(|p| {
            let n = p.ring.len().div_ceil(2);
            assert!(n == 0 || n == 1 || own.len() + n - 1 < RING, "runqsteal: runq overflow");
            own.extend(p.ring.drain(..n));
        });
    }
    H::join(owner);
    let (left, taken) = p.with(|p| ((p.ring.len() + p.timers.len()) as u64, p.taken));
    let mine = own.len() as u64 + u64::from(found.is_some());
    assert!(left + taken + mine == 7, "7 Gs were there, and {} are", left + taken + mine);
    format!("ran {ran} timers, has {mine}")
}

const FIRST: &str = "museum::go_39518::a_thief_runs_timers_first";

/// #39518.
pub(super) const FILLED_RING: Case = Case {
    exhibit: Exhibit {
        source: Source::OurReading,
        ..told(
            "a thief whose ring was no longer empty",
            "golang/go#39518",
            2020,
            "museum-go-39518",
            [
                "Runs of the standard library's benchmarks crashed at random with an overflow of a run queue.",
                "A thief runs the timers of the P that it robs. What they ready goes into the thief's own ring, of \
                 which the theft that follows assumes that it is empty.",
                "After timers ran, the thief looks into its own ring first, and steals only if that is empty.",
            ],
        )
    },
    mutant: variant(
        "museum-go-39518",
        "a thief that has run timers does not look into its own ring before it steals",
        &[(FIRST, Engine::Rc11), (FIRST, Engine::Sc)],
    ),
    model: crate::model!("museum::go_39518::a_thief_runs_timers_first", a_thief_runs_timers_first,
        claim: "a thief's ring has room for what it steals, also if it ran timers of the P that it robs",
        size: "2 threads: thief, owner; rings of 4, 4 Gs and 3 timers",
        invariants: [7, 9],
        must_reach: ["ran 3 timers", "ran 0 timers"],
        runs: [rc11(), sc()]),
};

/// States of the timer that is reset.
const DELETED: u64 = 0;
const MODIFYING: u64 = 1;
const WAITING: u64 = 2;

struct Reset<H: ModelHost> {
    /// The timer on top of this P's heap.
    timer: Atomic<H, u64>,
    /// `gp.preempt`.
    preempt: Atomic<H, bool>,
}

impl<H: ModelHost> Reset<H> {
    /// `schedule`, `checkTimers`, `runtimer`, on the M that ran the G.
    fn schedules(&self) {
        for _ in 0..2 {
            // Acquire: the M that runs the timer knows what was modified.
            if self.timer.load(Acquire) != MODIFYING {
                return;
            }
            // `osyield`, and once more. Only a G in this P's queue would change it.
        }
        panic!("an M spins for a timer that only a G in its own queue lets go of");
    }
}

fn preempted_while_it_resets<H: ModelHost>() -> String {
    main_plays("resetter");
    let reset = Arc::new(Reset::<H> { timer: Atomic::new(DELETED), preempt: Atomic::new(false) });
    let monitor = party::<H, _, _>("monitor", &reset, |reset| {
        // `preemptone`. Relaxed: a request.
        reset.preempt.store(true, Relaxed);
    });
    // `modtimer`. AcqRel: one modifies it at a time.
    let begun = reset.timer.compare_exchange(DELETED, MODIFYING, AcqRel, Relaxed);
    assert!(begun == Ok(DELETED), "no other thread modifies it");
    // `acquirem`: no preemption from here to `releasem`.
    let is_preemptible = is_wrong("museum-go-38070");
    // The entry of `wakeNetPoller` is where a G may be preempted. Relaxed: a request.
    let within = is_preemptible && reset.preempt.load(Relaxed);
    if within {
        reset.schedules();
    }
    // Release: see `schedules`.
    reset.timer.store(WAITING, Release);
    // The next function's entry. Relaxed: a request.
    let after = reset.preempt.load(Relaxed);
    if after {
        reset.schedules();
    }
    H::join(monitor);
    format!("preempted {after}")
}

const RESETS: &str = "museum::go_38070::preempted_while_it_resets";

/// #38070.
pub(super) const WAITS_FOR_ITSELF: Case = Case {
    exhibit: told(
        "an M that waits for its own G",
        "golang/go#38070, golang/go#38023",
        2020,
        "museum-go-38070",
        [
            "Kubernetes' kubelets hung on Go 1.14, and other programs came to 100 % of a processor after minutes or \
             hours and never went back.",
            "A G that resets a timer marks it as being modified, and could be preempted before it was done. Its M then \
             ran the timers, met that mark, and waited for it to go. Only the G that it had just put aside could do \
             that.",
            "While a timer is being modified the G cannot be preempted.",
        ],
    ),
    mutant: variant(
        "museum-go-38070",
        "a G may be preempted while it modifies a timer",
        &[(RESETS, Engine::Rc11), (RESETS, Engine::Sc)],
    ),
    model: crate::model!("museum::go_38070::preempted_while_it_resets", preempted_while_it_resets,
        claim: "an M never waits for a timer that a G in its own queue holds",
        size: "2 threads: resetter, monitor; 1 timer",
        invariants: [24, 38],
        must_reach: ["preempted true", "preempted false"],
        runs: [rc11(), sc()]),
};
