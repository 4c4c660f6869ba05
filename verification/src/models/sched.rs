//! Models of the whole scheduler: the rooms put together, with real threads, real `nextp` and real sleep.
//!
//! A few Gs come from outside, each spawns some more. The main thread waits until every M sleeps, then
//! takes a picture under the lock and asks the invariants of quiescence; then it closes, and each G must have run
//! exactly once, with the data that its submitter wrote before.
//!
//! `two_ps_four_ms` cannot be explored to its end: it is as large as what random programs draw, and the same each time, so
//! that a change of the kernel can be compared by it. The others can, some in many minutes: `cargo best` says which have been.

use crate::checker::order::EventChecker;
use crate::engines::Engine;
use crate::harness::common::g;
use crate::harness::embedder::end_all;
use crate::hosts::model_host::{Cell, ModelHost};
use crate::model::{Model, loom_bounded, rc11, rc11_cut, sampled, sc, sc_cut};
use crate::mutation::mutant::Mutant;
use crate::status::{Status, StatusWord};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::Parker;
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::sources::Source;
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::sched::observer::{Event, Observer};
use spinpark_kernel::types::g::G;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};

/// How many Gs of what kind, under what scheduler.
#[derive(Debug, Clone, Copy)]
struct Shape {
    procs: usize,
    max_ms: usize,
    ring: usize,
    /// Gs that are submitted from outside, by how many threads.
    roots: u64,
    submitters: u64,
    /// How many Gs each of those spawns.
    children: u64,
    /// How many thread starts are refused.
    refusals: usize,
    passes: u32,
    /// Is it asserted that no more Gs run at once than there are Ps? Costs steps.
    counts: bool,
}

const SMALL: Shape =
    Shape { procs: 1, max_ms: 8, ring: 2, roots: 1, submitters: 1, children: 0, refusals: 0, passes: 1, counts: false };

const LARGE: Shape = Shape { passes: 2, counts: true, ..SMALL };

/// The embedder: a table of tasks, and a watcher.
struct Embedder<H: ModelHost> {
    shape: Shape,
    tasks: Vec<Task<H>>,
    /// Has every M fallen asleep since the main thread last looked?
    all_asleep: H::Parker,
    /// Ms that are running a G now.
    running: Atomic<H, u64>,
    /// Of `std`: nothing depends on it but the outcome.
    stolen: AtomicBool,
    events: EventChecker,
}

struct Task<H: ModelHost> {
    status: StatusWord<H>,
    data: H::Cell<u64>,
}

impl<H: ModelHost> Observer for Embedder<H> {
    fn event(&self, event: Event<'_>) {
        self.events.check(&event);
        match event {
            Event::Slept { sleeping, alive, .. } if sleeping == alive => self.all_asleep.unpark(),
            Event::Found { from: Source::Steal, .. } => self.stolen.store(true, Relaxed),
            _ => (),
        }
    }
}

type This<H> = Arc<Sched<H, Embedder<H>>>;

impl<H: ModelHost> Embedder<H> {
    fn new(shape: Shape) -> Self {
        let n = shape.roots * (1 + shape.children);
        Embedder {
            shape,
            tasks: (0..n).map(|_| Task { status: StatusWord::new(), data: Cell::new(0) }).collect(),
            all_asleep: H::Parker::new(),
            running: Atomic::new(0),
            stolen: AtomicBool::new(false),
            events: EventChecker::default(),
        }
    }

    /// One more G runs.
    fn enter(&self) {
        if self.shape.counts {
            let running = self.running.fetch_add(1, AcqRel) + 1;
            assert!(running <= self.shape.procs as u64, "{running} Gs run on {} Ps", self.shape.procs);
        }
    }

    /// One less.
    fn leave(&self) {
        if self.shape.counts {
            self.running.fetch_sub(1, AcqRel);
        }
    }

    fn make(&self, n: u64) -> G {
        self.tasks[n as usize - 1].data.set(n);
        g(n)
    }
}

/// An M's life.
fn life<H: ModelHost>(sched: &This<H>, mut worker: Worker) {
    while let Some((next, g)) = sched.next(worker) {
        worker = next;
        run(sched, &mut worker, g);
    }
}

/// Runs one G: numbers 1 to `roots` spawn, the rest only run.
fn run<H: ModelHost>(sched: &This<H>, worker: &mut Worker, g: G) {
    let world = sched.observer();
    let shape = world.shape;
    world.events.runs(worker.m().0, g.id());
    world.enter();
    let task = &world.tasks[g.id() as usize - 1];
    task.status.execute();
    assert!(task.data.get() == g.id(), "G{} runs, but does not see what was done before it was submitted", g.id());
    if g.id() <= shape.roots {
        for child in 0..shape.children {
            let n = shape.roots + (g.id() - 1) * shape.children + child + 1;
            sched.ready(worker, world.make(n));
        }
    }
    task.status.exit();
    let _ = g.into_raw();
    world.leave();
}

fn play<H: ModelHost>(shape: Shape) -> String {
    let config = Config {
        procs: shape.procs,
        ring: shape.ring,
        max_ms: shape.max_ms,
        steal_passes: shape.passes,
        global_every: 3,
        inherit_at_most: 2,
        ..Config::default()
    };
    let sched = Sched::<H, Embedder<H>>::new(config, Embedder::new(shape), life::<H>).expect("the numbers are allowed");
    if shape.refusals > 0 {
        // One M there must be, and it sleeps. The next starts are refused.
        sched.start().expect("the first M");
        sched.observer().all_asleep.park();
        H::refuse_spawns(shape.refusals);
    }
    let share = shape.roots / shape.submitters;
    let submitters: Vec<_> = (1..shape.submitters)
        .map(|i| {
            let sched = Arc::clone(&sched);
            H::fork("submitter", move || submit_all(&sched, i * share + 1, (i + 1) * share))
        })
        .collect();
    submit_all(&sched, 1, share);
    submitters.into_iter().for_each(|submitter| H::join(submitter));
    // At least one M falls asleep as the last of all after the last submission.
    let snapshot = loop {
        sched.observer().all_asleep.park();
        let snapshot = sched.snapshot();
        if snapshot.is_quiescent() {
            break snapshot;
        }
    };
    H::refuse_spawns(0);
    if let Some(violation) = snapshot.violation() {
        panic!("{violation}: {snapshot:?}");
    }
    let world = sched.observer();
    for (i, task) in world.tasks.iter().enumerate() {
        let status = task.status.peek();
        assert!(status == Status::Dead, "every M sleeps and a P is idle, but G{} is {status:?}", i + 1);
    }
    let stolen = world.stolen.load(Relaxed);
    let ms = snapshot.alive;
    end_all(&sched, &world.events);
    format!("{ms} Ms, {}", if stolen { "stole" } else { "did not steal" })
}

fn submit_all<H: ModelHost>(sched: &This<H>, from: u64, to: u64) {
    for n in from..=to {
        let g = sched.observer().make(n);
        assert!(sched.submit(g).is_ok(), "the scheduler is open");
    }
}

fn one_p_one_g<H: ModelHost>() -> String {
    play::<H>(SMALL)
}

fn two_ps_one_g<H: ModelHost>() -> String {
    play::<H>(Shape { procs: 2, max_ms: 2, ..SMALL })
}

fn one_p_two_gs<H: ModelHost>() -> String {
    play::<H>(Shape { roots: 2, max_ms: 2, ..SMALL })
}

fn two_ps_three_ms<H: ModelHost>() -> String {
    play::<H>(Shape { procs: 2, max_ms: 3, roots: 2, ..SMALL })
}

fn two_ps_four_ms<H: ModelHost>() -> String {
    play::<H>(Shape { procs: 2, max_ms: 4, roots: 3, children: 2, ..LARGE })
}

fn few_threads_can_be_had<H: ModelHost>() -> String {
    let ms = play::<H>(Shape { procs: 2, max_ms: 2, children: 2, refusals: 1, ..SMALL });
    format!("refused at first: {ms}")
}

fn more_ps_than_ms<H: ModelHost>() -> String {
    play::<H>(Shape { procs: 2, max_ms: 1, roots: 2, submitters: 2, ..SMALL })
}

/// The only M there can be ends with its G, just when another G comes: a thread has to see that there is room for an M
/// again.
fn the_only_m_ends_while_a_g_comes<H: ModelHost>() -> String {
    struct Ending<H: ModelHost> {
        has_run: AtomicBool,
        sleeps: H::Parker,
        events: EventChecker,
    }
    impl<H: ModelHost> Observer for Ending<H> {
        fn event(&self, event: Event<'_>) {
            self.events.check(&event);
            match event {
                Event::Slept { sleeping, alive, .. } if sleeping == alive => self.sleeps.unpark(),
                Event::Gone { .. } => self.sleeps.unpark(),
                _ => (),
            }
        }
    }
    fn life<H: ModelHost>(sched: &Arc<Sched<H, Ending<H>>>, worker: Worker) {
        let Some((worker, g)) = sched.next(worker) else { return };
        let ending = sched.observer();
        if g.into_raw().get() == 1 {
            ending.events.leaves(worker.m().0);
            return sched.end(worker);
        }
        // Of `std`: an M that sleeps is behind the run of its G.
        ending.has_run.store(true, Relaxed);
        assert!(sched.next(worker).is_none(), "there is no third");
    }
    let config = Config { procs: 1, ring: 2, max_ms: 1, steal_passes: 1, ..Config::default() };
    let has_run = AtomicBool::new(false);
    let ending = Ending { has_run, sleeps: H::Parker::new(), events: EventChecker::default() };
    let sched = Sched::<H, Ending<H>>::new(config, ending, life::<H>).expect("the numbers are allowed");
    assert!(sched.submit(g(1)).is_ok() && sched.submit(g(2)).is_ok(), "it is open");
    let refused = loop {
        sched.observer().sleeps.park();
        let snapshot = sched.snapshot();
        if snapshot.alive == 1 && snapshot.is_quiescent() {
            break snapshot.refused;
        }
    };
    assert!(sched.observer().has_run.load(Relaxed), "every M sleeps, and the second G has not run");
    end_all(&sched, &sched.observer().events);
    format!("refused {refused}")
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("sched::every_g_runs_and_all_is_quiet::one_p_one_g", one_p_one_g,
        claim: "one G from outside: an M is started, runs it, and sleeps; nothing waits, nothing is counted",
        size: "1 P, up to 8 Ms, 1 G, 1 steal pass",
        invariants: [1, 2, 30, 31, 32, 33, 34],
        must_reach: ["1 Ms"],
        runs: [rc11(), loom_bounded(2), sc()]),
    crate::model!("sched::every_g_runs_and_all_is_quiet::one_p_two_gs", one_p_two_gs,
        claim: "a second G comes while the first runs, or while its M goes to sleep",
        size: "1 P, 2 Ms, 2 Gs, 1 steal pass",
        invariants: [1, 2, 30, 31, 32, 33, 34],
        must_reach: ["1 Ms", "2 Ms"],
        runs: [rc11(), loom_bounded(2), sc_cut()]),
    crate::model!("sched::every_g_runs_and_all_is_quiet::two_ps_one_g", two_ps_one_g,
        claim: "the M that finds the only G wakes none, and sleeps again",
        size: "2 Ps, 2 Ms, 1 G, 1 steal pass",
        invariants: [1, 2, 30, 31, 32, 33, 34],
        must_reach: ["1 Ms"],
        runs: [rc11(), loom_bounded(1), sc()]),
    crate::model!("sched::every_g_runs_and_all_is_quiet::two_ps_three_ms", two_ps_three_ms,
        claim: "two Gs that come one after the other are found by one M or by two, and all is quiet again",
        size: "2 Ps, 3 Ms, 2 Gs from outside, 1 steal pass",
        invariants: [1, 2, 30, 31, 32, 33, 34],
        must_reach: ["1 Ms", "2 Ms"],
        runs: [rc11_cut(), sampled(Engine::Pct, 6_000)]),
    crate::model!("sched::every_g_runs_and_all_is_quiet::two_ps_four_ms", two_ps_four_ms,
        claim: "9 Gs, spawned by each other on rings of two that spill: each runs once, then all is quiet",
        size: "2 Ps, 4 Ms, 9 Gs, ring of 2, steal first",
        invariants: [1, 2, 11, 12, 13, 30, 31, 32, 33, 34, 36],
        must_reach: ["stole", "did not steal"],
        runs: [rc11_cut(), sampled(Engine::Random, 12_000), sampled(Engine::Pct, 12_000), sampled(Engine::TsoPct, 6_000)]),
    crate::model!("sched::work_waits_for_a_thread::few_threads_can_be_had", few_threads_can_be_had,
        claim: "a thread start is refused: no P and no G is lost, the work is run, if later",
        size: "2 Ps, up to 2 Ms, a G and its two children, 1 refusal",
        invariants: [1, 2, 4, 30, 31, 36],
        must_reach: ["refused at first: 2 Ms"],
        runs: [rc11_cut(), sampled(Engine::Pct, 8_000), sampled(Engine::TsoPct, 4_000)]),
    crate::model!("sched::work_waits_for_a_thread::more_ps_than_ms", more_ps_than_ms,
        claim: "the table of Ms is full before every P has one: the same",
        size: "2 Ps, 1 M, 2 Gs from two threads",
        invariants: [1, 2, 4, 30, 31, 36],
        must_reach: ["1 Ms"],
        runs: [rc11_cut(), sampled(Engine::Random, 4_000), sampled(Engine::Pct, 4_000)]),
    crate::model!("sched::work_waits_for_a_thread::the_only_m_ends_while_a_g_comes", the_only_m_ends_while_a_g_comes,
        claim: "the only M there can be ends just when a G comes: either of the two sees it, and an M runs the G",
        size: "1 P, 1 M, 2 Gs, of which the first ends its M",
        invariants: [1, 2, 30, 36],
        must_reach: ["refused 1"],
        runs: [rc11_cut(), sampled(Engine::Random, 10_000), sampled(Engine::Pct, 10_000)]),
];

const WAITS: &str = "sched::work_is_conserved::a_g_waits_for_its_child";

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "sched";
    "sched-no-submitter-fence": "wakep without its StoreLoad, in the whole scheduler",
        weaken("protocol/spinning.rs", "pub fn wakep", "store_load::<H>()"), by WAITS => [TsoPct];
};
