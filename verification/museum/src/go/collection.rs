//! A collection that cannot end, because the G that began it was preempted.

use crate::common::{Engine, Exhibit, ModelHost, Source, is_wrong, main_plays, party, rc11, sc};
use crate::go::deadlock::Sched;
use crate::go::{Case, told, variant};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::Lock;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// `worldsema`.
struct Sema {
    held: bool,
    /// Does the worker's G wait for it?
    waits: bool,
}

struct Collected<H: ModelHost> {
    sched: H::Lock<Sched>,
    sema: H::Lock<Sema>,
    /// `gp.preempt`, of the G that began the collection.
    preempt: Atomic<H, bool>,
}

impl<H: ModelHost> Collected<H> {
    /// `gcMarkTermination`, and `schedEnableUser`: the collection is over.
    fn ends(&self) {
        self.sched.with(|sched| {
            sched.users_run = true;
            sched.global = 0;
        });
    }

    /// The G that began the collection is to be put aside. False: it goes on, the collection is over.
    fn is_put_aside(&self) -> bool {
        self.sched.with(|sched| {
            sched.global += u64::from(!sched.users_run);
            !sched.users_run
        })
    }
}

fn preempted_before_it_releases<H: ModelHost>() -> String {
    main_plays("beginner");
    let sched = H::Lock::new(Sched { users_run: false, ..Sched::new(2, 0) });
    let sema = H::Lock::new(Sema { held: true, waits: false });
    let all = Arc::new(Collected::<H> { sched, sema, preempt: Atomic::new(false) });
    let worker = party::<H, _, _>("worker", &all, |all| {
        // `gcMarkDone`, which asks all to pass a safepoint. Relaxed: a request.
        all.preempt.store(true, Relaxed);
        // `semacquire(&worldsema)`.
        let has_it = all.sema.with(|sema| {
            sema.waits = sema.held;
            !std::mem::replace(&mut sema.held, true)
        });
        if has_it {
            all.ends();
        } else {
            // Its G waits, and there is nothing else to run.
            all.sched.with(Sched::mput);
        }
        has_it
    });
    // `gcStart`: the world runs again, only the collection's Gs are run. May this G be preempted? Relaxed: a request.
    let is_early = is_wrong("museum-go-38404") && all.preempt.load(Relaxed);
    let mut end = "put aside";
    if !is_early {
        // `semrelease(&worldsema)`.
        let waits = all.sema.with(|sema| {
            sema.held = sema.waits;
            sema.waits
        });
        if waits {
            // `goready`: when this G is put aside, its M runs the worker's G.
            all.ends();
            end = "runs the worker";
        }
    }
    // `Gosched`.
    if end == "put aside" && all.is_put_aside() {
        all.sched.with(Sched::mput);
    }
    let has_it = H::join(worker);
    all.sched.with(|sched| assert!(sched.users_run && sched.global == 0, "the collection never ends"));
    format!("the beginner {end}, the worker has it {has_it}")
}

const ASIDE: &str = "museum::go_38404::preempted_before_it_releases";

/// #34736, and #38404.
pub(super) const PUT_ASIDE_WITH_IT: Case = Case {
    exhibit: Exhibit {
        source: Source::OurReading,
        ..told(
            "put aside with the semaphore in hand",
            "golang/go#34736, golang/go#38404",
            2019,
            "museum-go-38404",
            [
                "Collections with GODEBUG=gcstoptheworld=1 crashed almost any program: checkdead, runnable g.",
                "The G that begins such a collection lets no G of the user run any more, itself included, and could be \
                 preempted before it released the semaphore that the end of the collection needs.",
                "No preemption before the release.",
            ],
        )
    },
    mutant: variant(
        "museum-go-38404",
        "a G that begins a collection that lets no other G run may be preempted before it releases the semaphore",
        &[(ASIDE, Engine::Rc11), (ASIDE, Engine::Sc)],
    ),
    model: crate::model!("museum::go_38404::preempted_before_it_releases", preempted_before_it_releases,
        claim: "a collection that lets no G of the user run ends, and no deadlock is told",
        size: "2 threads: the starter, a worker; 1 semaphore",
        invariants: [24, 25],
        must_reach: ["runs the worker", "put aside, the worker has it true"],
        runs: [rc11(), sc()]),
};
