//! Models of the whole scheduler: the rooms put together, with real threads, real `nextp` and real sleep.
//!
//! A few Gs come from outside, each spawns some more. The main thread waits until every M sleeps, then
//! takes a picture under the lock and asks the invariants of quiescence; then it closes, and each G must have run
//! exactly once, with the data that its submitter wrote before.
//!
//! `two_ps_four_ms` cannot be explored to its end: it is as large as what random programs draw, and the same each time, so
//! that a change of the kernel can be compared by it. The others can, some in minutes: `cargo best` says which have been.

use crate::engines::Engine;
use crate::harness::embedder::{Embedded, Extra, finish, open, rest, small, submit};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, loom_bounded, rc11, rc11_cut, sampled, sc, sc_cut};
use crate::mutation::mutant::Mutant;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::sources::Source;
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::sched::observer::Event;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU32};

/// How many Gs of what kind, under what scheduler.
#[derive(Debug, Clone, Copy)]
struct Shape {
    procs: usize,
    max_ms: usize,
    /// Gs that are submitted from outside, by how many threads.
    roots: u64,
    submitters: u64,
    /// How many Gs each of those spawns.
    children: u64,
    /// How many Ms sleep before the first G comes.
    asleep: usize,
    /// How many thread starts are refused.
    refusals: usize,
    passes: u32,
    /// Is it asserted that no more Gs run at once than there are Ps? Costs steps.
    counts: bool,
}

const SMALL: Shape = Shape {
    procs: 1,
    max_ms: 8,
    roots: 1,
    submitters: 1,
    children: 0,
    asleep: 0,
    refusals: 0,
    passes: 1,
    counts: false,
};

/// What its Gs do, and who has found them.
struct Family<H: ModelHost> {
    shape: Shape,
    /// Gs that run now.
    running: Atomic<H, u64>,
    /// A bit for each M that has found a G; and was one stolen? Of `std`: nothing depends on them but the outcome.
    finders: AtomicU32,
    stolen: AtomicBool,
}

impl<H: ModelHost> Extra for Family<H> {
    fn event(&self, event: &Event<'_>) {
        if let Event::Found { m, from, .. } = event {
            self.finders.fetch_or(1 << m.0, Relaxed);
            self.stolen.fetch_or(*from == Source::Steal, Relaxed);
        }
    }
}

impl<H: ModelHost> Family<H> {
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
}

/// Numbers 1 to `roots` spawn, the rest only run.
fn spawns<H: ModelHost>(sched: &Embedded<H, Family<H>>, mut worker: Worker, n: u64) -> Option<Worker> {
    let family = &sched.observer().more;
    let Shape { roots, children, .. } = family.shape;
    family.enter();
    if n <= roots {
        let first = roots + (n - 1) * children;
        for child in 1..=children {
            sched.ready(&mut worker, sched.observer().make(first + child));
        }
        sched.observer().uses(&worker);
    }
    family.leave();
    Some(worker)
}

/// Plays it: how many Ms there are at the end, how many found a G, and whether one was stolen.
fn play<H: ModelHost>(shape: Shape) -> String {
    let Shape { procs, max_ms, roots, submitters, children, asleep, refusals, passes, .. } = shape;
    let config = Config { steal_passes: passes, global_every: 3, inherit_at_most: 2, ..small(procs, max_ms) };
    let (finders, stolen) = (AtomicU32::new(0), AtomicBool::new(false));
    let family = Family { shape, running: Atomic::new(0), finders, stolen };
    let sched = open::<H, _>(config, roots * (1 + children), family, spawns::<H>);
    rest(&sched, asleep);
    H::refuse_spawns(refusals);
    let share = roots / submitters;
    let others: Vec<_> = (1..submitters)
        .map(|i| {
            let sched = Arc::clone(&sched);
            H::fork("submitter", move || submit(&sched, i * share + 1, (i + 1) * share))
        })
        .collect();
    submit(&sched, 1, share);
    others.into_iter().for_each(|submitter| H::join(submitter));
    let ms = finish(&sched).alive;
    H::refuse_spawns(0);
    let family = &sched.observer().more;
    let (found, stolen) = (family.finders.load(Relaxed).count_ones(), family.stolen.load(Relaxed));
    // Where Ms were there before, their number says nothing.
    let ms = if asleep == max_ms { format!("{found} of {ms}") } else { ms.to_string() };
    format!("{ms} Ms, {}", if stolen { "stole" } else { "did not steal" })
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
    play::<H>(Shape { procs: 2, max_ms: 3, roots: 2, asleep: 3, ..SMALL })
}

fn two_ps_four_ms<H: ModelHost>() -> String {
    play::<H>(Shape { procs: 2, max_ms: 4, roots: 3, children: 2, passes: 2, counts: true, ..SMALL })
}

fn few_threads_can_be_had<H: ModelHost>() -> String {
    let ms = play::<H>(Shape { procs: 2, max_ms: 2, children: 2, asleep: 1, refusals: 1, ..SMALL });
    format!("refused at first: {ms}")
}

fn more_ps_than_ms<H: ModelHost>() -> String {
    play::<H>(Shape { procs: 2, max_ms: 1, roots: 2, submitters: 2, ..SMALL })
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
        claim: "two Gs that come one after the other as three Ms sleep are found by one M or by two, and all is quiet again",
        size: "2 Ps, 3 Ms, 2 Gs from outside, 1 steal pass",
        invariants: [1, 2, 30, 31, 32, 33, 34],
        must_reach: ["1 of 3 Ms", "2 of 3 Ms"],
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
];

const WAITS: &str = "sched::work_is_conserved::a_g_waits_for_its_child";

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "sched";
    "sched-no-submitter-fence": "wakep without its StoreLoad, in the whole scheduler",
        weaken("protocol/spinning.rs", "pub fn wakep", "store_load::<H>()"), by WAITS => [TsoPct];
};
