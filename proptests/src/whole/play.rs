//! Plays a plan once, on whatever host: starts the outsiders, waits until all is quiet, and looks.

use super::outside::{self, Bell, BellSource};
use super::plan::Plan;
use super::program::{Op, Setup};

use crate::oracle::g;
use crate::room;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::Parker;
use spinpark_kernel::protocol::sources::Source;
use spinpark_kernel::protocol::syscall::Way;
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::observer::{Event, Observer};
use spinpark_kernel::sched::snapshot::Snapshot;
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::p::PId;
use spinpark_verification::checker::Checker;
use spinpark_verification::checker::facts::Fact;
use spinpark_verification::checker::invariants::{Invariant, Violation};
use spinpark_verification::checker::tally::Tally;
use spinpark_verification::engines::panic_text;
use spinpark_verification::hosts::model_host::{Cell, ModelHost};
use spinpark_verification::hosts::threads::{self, Threads};
use spinpark_verification::hosts::wrap::jitter::Jitter;
use spinpark_verification::status::StatusWord;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What all share beside the scheduler.
pub(super) struct Embedder<H: ModelHost> {
    pub(super) plan: Plan,
    pub(super) setup: Setup,
    pub(super) bell: Arc<Bell<H>>,
    tasks: Vec<Task<H>>,
    /// Told everything. No part of what an engine sees.
    checker: Mutex<Checker>,
    reached: Mutex<Tally>,
    all_asleep: H::Parker,
    /// All was quiet, and the scheduler is being closed.
    closing: AtomicBool,
    rounds: AtomicU64,
    pub(super) in_calls: AtomicU64,
    pub(super) stoppers: AtomicU64,
}

/// A G.
pub(super) struct Task<H: ModelHost> {
    pub(super) status: StatusWord<H>,
    pub(super) data: H::Cell<u64>,
    /// Its next step. Only the M that runs it touches this.
    pub(super) next_step: H::Cell<usize>,
    /// Its waiter: the M's number and one.
    pub(super) waiter: Atomic<H, u64>,
    pub(super) is_done: Atomic<H, bool>,
    /// Where a G waits for it that keeps its P.
    pub(super) over: H::Parker,
}

pub(super) type This<H> = Arc<Sched<H, Embedder<H>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<H: ModelHost> Embedder<H> {
    fn new(plan: Plan, setup: Setup, bell: Arc<Bell<H>>) -> Self {
        let task = |_: &_| Task {
            status: StatusWord::new(),
            data: Cell::new(0),
            next_step: Cell::new(0),
            waiter: Atomic::new(0),
            is_done: Atomic::new(false),
            over: H::Parker::new(),
        };
        Embedder {
            tasks: plan.gs.iter().map(task).collect(),
            plan,
            setup,
            bell,
            checker: Mutex::new(Checker::new(setup.max_procs.max(setup.procs))),
            reached: Mutex::default(),
            all_asleep: H::Parker::new(),
            closing: AtomicBool::new(false),
            rounds: AtomicU64::new(0),
            in_calls: AtomicU64::new(0),
            stoppers: AtomicU64::new(0),
        }
    }

    pub(super) fn task(&self, n: u64) -> &Task<H> {
        &self.tasks[n as usize - 1]
    }

    /// Makes G `n`: writes what it is to see.
    pub(super) fn make(&self, n: u64) -> G {
        self.task(n).data.set(n);
        g(n)
    }

    /// A number for one more safepoint.
    pub(super) fn round(&self) -> u64 {
        self.rounds.fetch_add(1, Relaxed)
    }

    /// # Panics
    /// If an invariant does not hold.
    pub(super) fn tell(&self, fact: Fact) {
        self.check(|checker| checker.tell(fact));
    }

    fn check(&self, check: impl FnOnce(&mut Checker) -> Result<(), Violation>) {
        if !self.closing.load(Relaxed) {
            let checked = check(&mut lock(&self.checker));
            if let Err(violation) = checked {
                panic!("{violation}");
            }
        }
    }

    pub(super) fn reached(&self, path: &'static str) {
        lock(&self.reached).note(path);
    }

    pub(super) fn reached_if(&self, really: bool, path: &'static str) {
        if really {
            self.reached(path);
        }
    }

    /// G `n` goes on under `p`.
    pub(super) fn runs(&self, n: u64, p: PId) {
        self.tell(Fact::Runs { g: n, p: p.0, data: self.task(n).data.get() });
    }

    fn all_done(&self) -> bool {
        self.tasks.iter().all(|task| task.is_done.load(Acquire))
    }
}

impl<H: ModelHost> Observer for Embedder<H> {
    fn event(&self, event: Event<'_>) {
        self.check(|checker| checker.hear(&event));
        match event {
            Event::Found { from, .. } => self.reached(found_in(from)),
            Event::Slept { sleeping, alive, .. } if sleeping == alive || H::IS_REAL => self.all_asleep.unpark(),
            Event::Woken { .. } => self.reached("a wake found its sleeper"),
            Event::Refused => {
                self.reached("a thread was refused");
                self.all_asleep.unpark();
            }
            Event::Returned { way, .. } => self.reached(came_back(way)),
            Event::Retaken { .. } => self.reached("retaken by the monitor"),
            Event::Held { .. } => self.reached("a P was held for a stop"),
            Event::Gone { .. } => self.all_asleep.unpark(),
            _ => (),
        }
    }
}

fn found_in(source: Source) -> &'static str {
    match source {
        Source::GlobalTurn => "found: the global queue in its turn",
        Source::Local => "found: local",
        Source::Global => "found: global",
        Source::Extra => "found: a source",
        Source::Steal => "found: stolen",
    }
}

fn came_back(way: Way) -> &'static str {
    match way {
        Way::Kept => "kept its P",
        Way::TookBack => "took its P back",
        Way::Idle => "took an idle P",
        Way::Queued => "was queued at the way out",
    }
}

/// One execution.
pub(super) fn play<H: ModelHost>(setup: Setup, ops: &[(usize, Op)]) -> String {
    let plan = Plan::of(&setup, ops);
    let bell = Arc::new(Bell::new(&plan));
    let world = Embedder::new(plan.clone(), setup, Arc::clone(&bell));
    let sched = Sched::with_sources(setup.config(), world, super::act::life::<H>, |waker| {
        bell.hang(waker);
        vec![Box::new(BellSource::new(waker, &bell))]
    });
    let sched: This<H> = sched.expect("the numbers are allowed");
    if setup.wraps {
        sched.counters_start_at(u32::MAX, u32::MAX - 2);
    }
    H::refuse_spawns(0);
    if plan.refusals > 0 {
        sched.observer().tell(Fact::Causes(1));
        sched.start().expect("the first M");
    }
    let fork = |i: usize| {
        let sched = Arc::clone(&sched);
        H::fork("outsider", move || outside::acts(&sched, i))
    };
    let others: Vec<_> = (1..plan.outsiders.len()).map(fork).collect();
    outside::acts(&sched, 0);
    others.into_iter().for_each(|other| H::join(other));
    H::refuse_spawns(0);
    let snapshot = quiet(&sched);
    let world = sched.observer();
    world.tell(Fact::Quiet(snapshot));
    world.closing.store(true, Relaxed);
    let left = sched.close();
    assert!(left.is_empty(), "{} Gs were given back, and all have run", left.len());
    room::reached_all(&lock(&world.reached));
    lock(&world.checker).checked().iter().for_each(|(of, times)| checked(*of, *times));
    String::new()
}

fn checked(of: Invariant, times: u64) {
    room::reached_times(of.says, times);
}

/// Waits until every M sleeps. No other thread is left, so nothing happens then.
fn quiet<H: ModelHost>(sched: &This<H>) -> Snapshot {
    let clock = Instant::now();
    let mut retried = 0;
    loop {
        let snapshot = sched.snapshot();
        if snapshot.refused > retried {
            // What a refused start left behind, the monitor tries again; if there are too many Ms, one of them does,
            // when it ends.
            retried = snapshot.refused;
            if sched.can_start_m() {
                outside::tick(sched, &mut sched.watch());
            }
            continue;
        }
        if snapshot.is_quiescent() {
            if !sched.observer().all_done() {
                sched.observer().tell(Fact::Quiet(snapshot.clone()));
                panic!("all is quiet, and a G has not run: {snapshot:?}");
            }
            return snapshot;
        }
        if H::IS_REAL {
            sched.observer().all_asleep.park_timeout(50_000_000);
            if let Some(failure) = threads::take_failure() {
                panic!("{failure}");
            }
            assert!(clock.elapsed() < Duration::from_secs(20), "nothing moves any more: {:?}", sched.snapshot());
        } else {
            sched.observer().all_asleep.park();
        }
    }
}

/// Plays it once on real cores, with windows widened. `Err`: what went wrong; then threads may be left over.
///
/// # Errors
/// The failure's message.
pub(super) fn on_cores(setup: Setup, ops: &[(usize, Op)]) -> Result<(), String> {
    // Refusals and the clock are the process's.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = lock(&ALONE);
    threads::begin();
    let played = catch_unwind(AssertUnwindSafe(|| play::<Jitter<Threads>>(setup, ops)));
    let failure = threads::take_failure();
    match played {
        Ok(_) => failure.map_or(Ok(()), Err),
        Err(payload) => Err(failure.unwrap_or_else(|| panic_text(&*payload))),
    }
}
