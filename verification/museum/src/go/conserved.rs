//! Work that waits while a P is idle, and Ms that look for it and do not find it.

use crate::common::{Engine, ModelHost, is_wrong, main_plays, party, rc11, sc, tso};
use crate::go::{Case, told, variant};
use spinpark_kernel::atomic::{Atomic, store_load};
use spinpark_kernel::host::Lock;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// What is under `sched.lock`.
#[derive(Default)]
struct Sched {
    /// `npidle`.
    idle: u64,
    /// Ms that were given a P, to look for work or to run what is queued globally.
    started: u64,
    /// The global queue.
    global: u64,
}

/// A scheduler, as far as it matters here. All work that is not queued globally is one number.
struct Small<H: ModelHost> {
    sched: H::Lock<Sched>,
    /// `npidle`, to be read without the lock.
    npidle: Atomic<H, u64>,
    nmspinning: Atomic<H, u64>,
    /// Gs that wait in rings, or other work.
    work: Atomic<H, u64>,
}

impl<H: ModelHost> Small<H> {
    fn new(nmspinning: u64, work: u64) -> Arc<Self> {
        let (npidle, nmspinning, work) = (Atomic::new(0), Atomic::new(nmspinning), Atomic::new(work));
        Arc::new(Small { sched: H::Lock::new(Sched::default()), npidle, nmspinning, work })
    }

    /// `pidleput`, and back.
    fn set_idle(&self, change: impl FnOnce(&mut Sched) -> bool) -> bool {
        self.sched.with(|sched| {
            let done = change(sched);
            // Relaxed: a hint; the lock has the truth.
            self.npidle.store(sched.idle, Relaxed);
            done
        })
    }

    fn pidleput(&self) {
        self.set_idle(|sched| {
            sched.idle += 1;
            true
        });
    }

    fn pidleget(&self) -> bool {
        self.set_idle(|sched| {
            let was_idle = sched.idle > 0;
            sched.idle -= u64::from(was_idle);
            was_idle
        })
    }

    /// `wakep`: if no M spins and a P is idle, a spinning M is started.
    fn wakep(&self) {
        // Relaxed: after the caller's StoreLoad.
        if self.nmspinning.compare_exchange(0, 1, AcqRel, Relaxed).is_err() {
            return;
        }
        if self.pidleget() {
            self.sched.with(|sched| sched.started += 1);
        } else {
            // Release: an M that reads the lower count knows that no M was started.
            self.nmspinning.fetch_sub(1, Release);
        }
    }

    /// The end of `findRunnable`, by an M that is counted in `nmspinning`: it lets its P go, leaves the count, and
    /// looks once more. True: it has a P again, and takes what there is.
    fn gives_up(&self, sees: impl Fn(&Self) -> bool) -> bool {
        self.pidleput();
        // AcqRel: an M that finds the count lowered knows all that was done before.
        self.nmspinning.fetch_sub(1, AcqRel);
        // `work/nmspinning`: the spinning M. A submitter that still read the count has its work seen here.
        store_load::<H>();
        sees(self) && self.pidleget()
    }

    /// A runnable G and an idle P, and no M that brings them together?
    fn check_at_rest(&self, somebody_looks: bool) {
        // Relaxed: all threads were waited for.
        let work = self.work.load(Relaxed);
        self.sched.with(|sched| {
            assert!(sched.global == 0 || sched.started > 0, "a G is in the global queue, and no M was started for it");
            let waits = work > 0 && sched.idle > 0;
            assert!(!waits || somebody_looks || sched.started > 0, "work waits, a P is idle, and no M looks");
        });
    }
}

/// Four Ps. One is busy for long and has a G in its ring; two Ms look for work; the fourth, which has none, may not
/// look, because two are enough for four.
fn who_may_not_look_sleeps<H: ModelHost>() -> String {
    main_plays("throttled");
    let small = Small::<H>::new(2, 1);
    let spinning_ms = ["spinning_m", "other spinning M"].map(|name| {
        party::<H, _, _>(name, &small, |small| {
            // `stealWork`. Acquire: the G comes with what was done before it was queued.
            if small.work.compare_exchange(1, 0, Acquire, Relaxed).is_ok() {
                // `resetspinning`. AcqRel: as in `gives_up`.
                small.nmspinning.fetch_sub(1, AcqRel);
                return true;
            }
            // Acquire: as above.
            small.gives_up(|small| small.work.load(Acquire) > 0)
        })
    });
    let mut rounds = 0;
    let end = loop {
        rounds += 1;
        assert!(rounds <= 2, "an M that may not take the work goes round and round because it sees it");
        // `findRunnable`: may it begin to look? Relaxed: both are hints.
        let busy = 4 - small.npidle.load(Relaxed);
        // Relaxed: a hint.
        if 2 * small.nmspinning.load(Relaxed) < busy {
            // Acquire: the G comes with what was done before it was queued.
            break if small.work.compare_exchange(1, 0, Acquire, Relaxed).is_ok() {
                "took it"
            } else {
                "found nothing"
            };
        }
        small.pidleput();
        let looks_again = is_wrong("museum-go-43997");
        // `checkRunqsNoP`. Acquire: as a thief.
        if !looks_again || small.work.load(Acquire) == 0 || !small.pidleget() {
            break "slept";
        }
    };
    let [one, other] = spinning_ms.map(H::join);
    small.check_at_rest(one || other);
    format!("{end}, spinning Ms {one} {other}")
}

const MAY_NOT: &str = "museum::go_43997::who_may_not_look_sleeps";

/// #43997.
pub(super) const SPINS_IN_VAIN: Case = Case {
    exhibit: told(
        "work that one may see and not take",
        "golang/go#43997",
        2021,
        "museum-go-43997",
        [
            "A gVisor workload spent 14 s of processor time in the kernel, in a run of less than 9 s.",
            "Enough Ms looked for work, so one more was not allowed to steal. It still looked at all rings again after \
             it had given its P up, saw a G, took the P back, was not allowed to steal, and so on.",
            "Only an M that was spinning looks again; any other goes to sleep.",
        ],
    ),
    mutant: variant(
        "museum-go-43997",
        "an M that was not allowed to look for work looks again after it gave its P up",
        &[(MAY_NOT, Engine::Rc11), (MAY_NOT, Engine::Sc)],
    ),
    model: crate::model!("museum::go_43997::who_may_not_look_sleeps", who_may_not_look_sleeps,
        claim: "an M that may not look for work does not go round because it sees some; those that look take it",
        size: "3 threads: 2 spinning Ms, 1 that may not look; 4 Ps, 1 G",
        invariants: [30, 38],
        must_reach: ["slept", "found nothing"],
        runs: [rc11(), sc()]),
};

/// The poller's M has a P, and injects two Gs, while the only other P is given up.
fn a_p_is_idled_meanwhile<H: ModelHost>() -> String {
    main_plays("injector");
    let small = Small::<H>::new(1, 0);
    // Acquire: as a thief.
    let spinning_m =
        party::<H, _, _>("spinning_m", &small, |small| small.gives_up(|small| small.work.load(Acquire) > 0));
    // `injectglist`. Relaxed: a snapshot that may be old; that is the point.
    let idle = small.npidle.load(Relaxed);
    if idle > 0 {
        // One G goes to the global queue, and an M is started for it, if the P is still idle.
        let started = small.pidleget();
        small.sched.with(|sched| sched.started += u64::from(started));
        assert!(started, "only this M starts others");
    } else {
        // `runqputbatch`, into the own ring, behind the G that this M runs next. Release: the G comes with its data.
        small.work.store(1, Release);
        if !is_wrong("museum-go-63555") {
            // `work/nmspinning`: the submitter.
            store_load::<H>();
            small.wakep();
        }
    }
    let looks = H::join(spinning_m);
    small.check_at_rest(looks);
    let started = small.sched.with(|sched| sched.started);
    format!("idle {idle}, started {started}, the spinning M looks {looks}")
}

const MEANWHILE: &str = "museum::go_63555::a_p_is_idled_meanwhile";

/// #63555.
pub(super) const STALE_IDLE_COUNT: Case = Case {
    exhibit: told(
        "a count of idle Ps that was old",
        "golang/go#63555",
        2023,
        "museum-go-63555",
        [
            "It was not reported from production: a reader of the source asked whether it can starve Gs, and it can.",
            "The M that injects what the poller found reads once how many Ps are idle. A P that is given up just after \
             that is not counted; all Gs go into the own ring, and no M is woken for them.",
            "Wake an M at the end, whatever the snapshot said.",
        ],
    ),
    mutant: variant(
        "museum-go-63555",
        "an M that injects Gs trusts its snapshot of npidle, and wakes no M for those in its own ring",
        &[(MEANWHILE, Engine::Rc11), (MEANWHILE, Engine::Sc)],
    ),
    model: crate::model!("museum::go_63555::a_p_is_idled_meanwhile", a_p_is_idled_meanwhile,
        claim: "Gs that are injected while a P is given up are looked for, or an M is woken for them",
        size: "2 threads: injector, spinning M; 2 Ps, 1 G beside the one that runs",
        invariants: [30],
        must_reach: ["idle 0, started 1", "the spinning M looks true", "idle 1"],
        runs: [rc11(), sc(), tso()]),
};

/// A collection begins and wants a worker on the other P, whose M is about to sleep.
fn a_collection_begins<H: ModelHost>() -> String {
    main_plays("starter");
    let small = Small::<H>::new(1, 0);
    /// `findRunnable`: does the search find the worker that is wanted?
    fn search<H: ModelHost>(small: &Small<H>) -> bool {
        if is_wrong("museum-go-44313") {
            return false;
        }
        // `findRunnableGCWorker`. AcqRel: one M only becomes that worker.
        small.work.swap(0, AcqRel) > 0
    }
    /// The same, without a P: is one wanted?
    fn sees<H: ModelHost>(small: &Small<H>) -> bool {
        // Acquire: of the M that wants one.
        !is_wrong("museum-go-44313") && small.work.load(Acquire) > 0
    }
    let spinning_m =
        party::<H, _, _>("spinning_m", &small, |small| search(small) || small.gives_up(sees) && search(small));
    // `gcStart`: a dedicated worker is wanted. Release: the M that becomes it knows the collection.
    small.work.store(1, Release);
    // `work/nmspinning`: the submitter.
    store_load::<H>();
    // `startTheWorldWithSema` ends with this; the starter runs its own G for long after it.
    small.wakep();
    let works = H::join(spinning_m);
    // What a woken M does: it searches.
    let started = small.sched.with(|sched| sched.started);
    let woken_works = started > 0 && search(&*small);
    // Relaxed: all threads were waited for.
    let wanted = small.work.load(Relaxed) > 0;
    let idle = small.sched.with(|sched| sched.idle) + u64::from(started > 0 && !woken_works);
    assert!(!wanted || idle == 0, "a worker is wanted, a P is idle, and no search finds it");
    format!("spinning M {works}, woken {woken_works}")
}

const BEGINS: &str = "museum::go_44313::a_collection_begins";

/// #44313.
pub(super) const SEARCH_IGNORES_A_SOURCE: Case = Case {
    exhibit: told(
        "woken for work that the search does not know",
        "golang/go#44313",
        2021,
        "museum-go-44313",
        [
            "Collections ran with fewer workers than they were meant to have, until each M came by the scheduler by \
             itself.",
            "An M that slept inside the search was woken when a collection began. But only the outer function looked \
             for a dedicated worker; the search, to which the M returned, did not, and it slept again.",
            "The search asks for a worker first, so that both look for the same things.",
        ],
    ),
    mutant: variant(
        "museum-go-44313",
        "the search does not look for the source of work for which its Ms are woken",
        &[(BEGINS, Engine::Rc11), (BEGINS, Engine::Sc)],
    ),
    model: crate::model!("museum::go_44313::a_collection_begins", a_collection_begins,
        claim: "an M that sleeps, or is about to, becomes the worker that a collection wants",
        size: "2 threads: starter, spinning M; 2 Ps, 1 worker wanted",
        invariants: [30],
        must_reach: ["spinning M true", "woken true"],
        runs: [rc11(), sc(), tso()]),
};
