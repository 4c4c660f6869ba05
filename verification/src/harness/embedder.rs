//! The real scheduler for a model: an embedder whose Gs do as the model says, once each, under Ps that are cells which only
//! their owners may touch.

use crate::checker::order::EventChecker;
use crate::harness::common::Tasks;
use crate::hosts::model_host::{Cell, ModelHost};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::Parker;
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::locked::Woken;
use spinpark_kernel::protocol::syscall::Away;
use spinpark_kernel::protocol::work_source::{Poller, Waker};
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::sched::observer::{Event, Observer};
use spinpark_kernel::sched::snapshot::Snapshot;
use spinpark_kernel::sched::stw::StoppedWorld;
use spinpark_kernel::sched::{Sched, Sources};
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::p::PId;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicUsize};
use std::sync::{Arc, Mutex};

/// Something that happens once, and can be waited for: Go's `note`.
pub(crate) struct Note<H: ModelHost> {
    is_set: Atomic<H, bool>,
    parker: H::Parker,
}

impl<H: ModelHost> Note<H> {
    pub(crate) fn new() -> Self {
        Note { is_set: Atomic::new(false), parker: H::Parker::new() }
    }

    pub(crate) fn wakeup(&self) {
        self.is_set.store(true, Release);
        self.parker.unpark();
    }

    /// By one thread.
    pub(crate) fn sleep(&self) {
        // A park may wake spuriously.
        while !self.is_set.load(Acquire) {
            self.parker.park();
        }
    }
}

/// What a model adds to the [`Embedder`].
pub(crate) trait Extra: Send + Sync + 'static {
    /// It watches, too.
    fn event(&self, event: &Event<'_>) {
        let _ = event;
    }
}

impl Extra for () {}

/// What G number `n` does under `worker`; what it ends with. `None`: its thread ends.
pub(crate) type Play<H, X> = fn(&Embedded<H, X>, Worker, u64) -> Option<Worker>;

/// A scheduler with its embedder.
pub(crate) type Embedded<H, X> = Arc<Sched<H, Embedder<H, X>>>;

/// The embedder: what its Gs do, and what watches them.
pub(crate) struct Embedder<H: ModelHost, X: Extra> {
    play: Play<H, X>,
    tasks: Tasks<H>,
    /// How often each G ran. No part of what is checked, as all that is of `std` here.
    ran: Vec<AtomicU32>,
    /// Every M sleeps, and `awaited` Gs have run.
    all_asleep: H::Parker,
    /// How many Gs run before the main thread goes on. Of `std`: it is written where no M is awake.
    awaited: AtomicUsize,
    /// G1 runs.
    first_runs: Note<H>,
    /// Is the world stopped? The stopper writes it, Gs read it: never at the same time.
    stopped: H::Cell<bool>,
    /// One cell a P: only its owner uses it.
    used: Vec<H::Cell<bool>>,
    reported: Mutex<Reported>,
    pub(crate) events: EventChecker,
    pub(crate) more: X,
}

/// What was reported.
#[derive(Debug, Default, Clone)]
pub(crate) struct Reported {
    /// Those that are deadlocked.
    pub(crate) deadlocks: Vec<Woken>,
    /// How many tickets were found in a queue.
    pub(crate) tickets: usize,
    pub(crate) refused: usize,
    pub(crate) stops: usize,
}

impl<H: ModelHost, X: Extra> Observer for Embedder<H, X> {
    fn event(&self, event: Event<'_>) {
        self.events.check(&event);
        let mut reported = self.reported.lock().unwrap();
        match &event {
            Event::Deadlock { why, .. } => reported.deadlocks.push(*why),
            Event::Refused => reported.refused += 1,
            Event::Found { g, .. } if g.bound().is_some() => reported.tickets += 1,
            Event::Stopped => reported.stops += 1,
            _ => (),
        }
        drop(reported);
        self.more.event(&event);
        match event {
            // The main thread is told when all is over, and not each time that all sleep: each of its looks meets what Ms do
            // then in as many orders as a model of its own. Where all sleep, how many Gs ran depends on nothing but the execution.
            Event::Slept { sleeping, alive, .. } | Event::Gone { sleeping, alive }
                if sleeping == alive && self.is_awaited() =>
            {
                self.all_asleep.unpark();
            }
            _ => (),
        }
    }
}

/// Small numbers.
pub(crate) fn small(procs: usize, max_ms: usize) -> Config {
    Config { procs, max_ms, ring: 2, steal_passes: 1, ..Config::default() }
}

impl<H: ModelHost, X: Extra> Embedder<H, X> {
    /// Makes G `n`.
    pub(crate) fn make(&self, n: u64) -> G {
        self.tasks.make(n)
    }

    /// `g` runs, or is given back, for the first time. Its number.
    pub(crate) fn runs(&self, g: G) -> u64 {
        let n = self.tasks.run(g);
        assert!(self.ran[n as usize - 1].fetch_add(1, Relaxed) == 0, "G{n} runs twice");
        n
    }

    /// G `n`, which runs, is to run once more.
    pub(crate) fn again(&self, n: u64) -> G {
        assert!(self.ran[n as usize - 1].swap(0, Relaxed) == 1, "G{n} does not run");
        self.tasks.make(n)
    }

    /// A G runs under `worker`'s P: no other G does, and the world is not stopped.
    pub(crate) fn uses(&self, worker: &Worker) {
        assert!(!self.stopped.get(), "a G runs, but the world is stopped");
        self.uses_p(worker.p());
    }

    pub(crate) fn uses_p(&self, p: PId) {
        let used = &self.used[p.index()];
        assert!(!used.get(), "two use P{}", p.0);
        used.set(true);
        used.set(false);
    }

    /// For the stopper, once the world is stopped or about to start.
    pub(crate) fn is_stopped(&self, yes: bool) {
        assert!(self.stopped.get() != yes, "two have stopped the world");
        self.stopped.set(yes);
    }

    /// The number of the last of its Gs.
    pub(crate) fn last(&self) -> u64 {
        self.ran.len() as u64
    }

    /// Have as many Gs run as the main thread waits for?
    fn is_awaited(&self) -> bool {
        self.ran.iter().filter(|ran| ran.load(Relaxed) > 0).count() == self.awaited.load(Relaxed)
    }

    pub(crate) fn each_ran_once(&self) {
        for (i, ran) in self.ran.iter().enumerate() {
            assert!(ran.load(Relaxed) == 1, "all is quiet, but G{} did not run", i + 1);
        }
    }

    pub(crate) fn reported(&self) -> Reported {
        self.reported.lock().unwrap().clone()
    }
}

fn life<H: ModelHost, X: Extra>(sched: &Embedded<H, X>, mut worker: Worker) {
    let embedder = sched.observer();
    while let Some((next, g)) = sched.next(worker) {
        let n = embedder.runs(g);
        embedder.uses(&next);
        if n == 1 {
            embedder.first_runs.wakeup();
        }
        match (embedder.play)(sched, next, n) {
            Some(next) => worker = next,
            None => return,
        }
    }
}

/// A scheduler for `n` Gs, with no M yet.
pub(crate) fn open<H: ModelHost, X: Extra>(config: Config, n: u64, more: X, play: Play<H, X>) -> Embedded<H, X> {
    open_with(config, n, more, play, |_| Vec::new())
}

/// The same, with sources.
pub(crate) fn open_with<H: ModelHost, X: Extra>(
    config: Config,
    n: u64,
    more: X,
    play: Play<H, X>,
    make: impl FnOnce(&Waker) -> Sources,
) -> Embedded<H, X> {
    let embedder = embedder(&config, n, more, play);
    Sched::with_sources(config, embedder, life, make).expect("the numbers are allowed")
}

/// The same, with a poller, into which each looks in its turn.
pub(crate) fn open_polling<H: ModelHost, X: Extra>(
    config: Config,
    n: u64,
    more: X,
    play: Play<H, X>,
    make: impl FnOnce(&Waker) -> (Sources, Box<dyn Poller>),
) -> Embedded<H, X> {
    let config = Config { peek_every: 0, ..config };
    let embedder = embedder(&config, n, more, play);
    Sched::with_poller(config, embedder, life, make).expect("the numbers are allowed")
}

fn embedder<H: ModelHost, X: Extra>(config: &Config, n: u64, more: X, play: Play<H, X>) -> Embedder<H, X> {
    Embedder {
        play,
        tasks: Tasks::new(n as usize),
        ran: (0..n).map(|_| AtomicU32::new(0)).collect(),
        all_asleep: H::Parker::new(),
        awaited: AtomicUsize::new(n as usize),
        first_runs: Note::new(),
        stopped: Cell::new(false),
        used: (0..config.capacity()).map(|_| Cell::new(false)).collect(),
        reported: Mutex::default(),
        events: EventChecker::default(),
        more,
    }
}

/// Starts `n` Ms, each when those before it sleep. What comes then meets threads that are there, in one order: models in which
/// threads start are others, and larger.
pub(crate) fn rest<H: ModelHost, X: Extra>(sched: &Embedded<H, X>, n: usize) {
    for _ in 0..n {
        until_all_sleep(sched, 0, || sched.start().expect("there is a thread"));
    }
}

/// While every M sleeps: acts, and waits until `gs` Gs have run and every M sleeps again. For models that allow no spurious wake-ups.
pub(crate) fn until_all_sleep<H: ModelHost, X: Extra>(sched: &Embedded<H, X>, gs: usize, act: impl FnOnce()) {
    let embedder = sched.observer();
    embedder.awaited.store(gs, Relaxed);
    act();
    embedder.all_asleep.park();
    embedder.awaited.store(embedder.ran.len(), Relaxed);
}

/// Submits Gs `from` to `to`.
pub(crate) fn submit<H: ModelHost, X: Extra>(sched: &Embedded<H, X>, from: u64, to: u64) {
    for n in from..=to {
        assert!(sched.submit(sched.observer().make(n)).is_ok(), "the scheduler is open");
    }
}

/// Waits until G1 runs: what comes then is more likely to come between.
pub(crate) fn first_runs<H: ModelHost, X: Extra>(sched: &Embedded<H, X>) {
    sched.observer().first_runs.sleep();
}

/// A stop: no G runs while `act` does. What that returns; the M, if `worker`'s has stopped it.
pub(crate) fn while_stopped<H: ModelHost, X: Extra, R>(
    sched: &Embedded<H, X>,
    worker: Option<Worker>,
    act: impl FnOnce(&mut StoppedWorld) -> R,
) -> (R, Option<Away>) {
    let mut stopped = sched.stop_the_world(worker);
    sched.observer().is_stopped(true);
    let result = act(&mut stopped);
    sched.observer().is_stopped(false);
    (result, sched.start_the_world(stopped))
}

/// A stop from outside.
pub(crate) fn stops<H: ModelHost, X: Extra, R>(sched: &Embedded<H, X>, act: impl FnOnce(&mut StoppedWorld) -> R) -> R {
    let (result, away) = while_stopped(sched, None, act);
    assert!(away.is_none(), "the stopper was no M");
    result
}

/// Waits until every M sleeps, and asks the invariants of quiescence.
pub(crate) fn quiet<H: ModelHost, X: Extra>(sched: &Embedded<H, X>) -> Snapshot {
    let snapshot = loop {
        sched.observer().all_asleep.park();
        let snapshot = sched.snapshot();
        // An M in the poller waits for something.
        if snapshot.is_quiescent() && snapshot.held == 0 && snapshot.polling == 0 {
            break snapshot;
        }
    };
    if let Some(violation) = snapshot.violation() {
        panic!("{violation}: {snapshot:?}");
    }
    assert!(snapshot.idle_ps == snapshot.procs, "every M sleeps, but a P is not idle: {snapshot:?}");
    snapshot
}

/// Waits until all is quiet, sees that each G ran once, and ends the Ms.
pub(crate) fn finish<H: ModelHost, X: Extra>(sched: &Embedded<H, X>) -> Snapshot {
    let snapshot = quiet(sched);
    sched.observer().each_ran_once();
    end_all(sched, &sched.observer().events);
    snapshot
}

/// Every M sleeps, and the model is over: closes the scheduler, if the engine wants each thread to end.
///
/// The ways in which Ms end one beside the other are as many as those of a small model before, and multiply with them. That
/// is the claim of the models of `close`.
pub(crate) fn end_all<H: ModelHost, O: Observer>(sched: &Arc<Sched<H, O>>, events: &EventChecker) {
    if H::leave_sleeping() {
        return;
    }
    events.closes();
    let left = sched.close();
    assert!(left.is_empty(), "{} Gs were given back that were not submitted", left.len());
}
