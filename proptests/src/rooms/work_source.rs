//! Sources that get work while the real scheduler runs, gives up, or sleeps: when all is quiet, each G has run.

use crate::oracle::g;
use crate::room::{Program, Room, reached, reached_if};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::Parker;
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::sources::{SearchOrder, Source};
use spinpark_kernel::protocol::work_source::{Waker, WorkSource};
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::sched::observer::{Event, Observer};
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::p::PId;
use spinpark_verification::engines::Engine;
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::hosts::wrap::trace::main_plays;
use spinpark_verification::mutation::mutant;
use std::sync::atomic::Ordering::{AcqRel, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicUsize};
use std::sync::{Arc, OnceLock};

/// Each has a source of its own.
const NAMES: [&str; 3] = ["outsider 0", "outsider 1", "outsider 2"];

/// An outsider makes at most so many Gs, and each of them one more.
const MOST: u64 = 32;

/// How it begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// How many Ps there are; of Ms there may be one more.
    pub procs: usize,
    /// Are other Ps searched before the global queue and the sources?
    pub steal_first: bool,
}

/// What an outsider does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Submits a G.
    Submit,
    /// Submits a G that readies another.
    SubmitParent,
    /// A G becomes runnable in its source, unless one lies there.
    Ring,
}

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkSources;

impl Room for WorkSources {
    const NAME: &'static str = "work_source";
    const CLAIM: &'static str = "a source that gets work while spinning Ms give up, or sleep, is not missed";
    const THREADS: usize = NAMES.len();
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random, Engine::TsoPct];
    const FALLS: &'static [&'static str] =
        &["work_source-does-not-wake", "work_source-wakes-before-it-shows", "work_source-no-wakers-fence"];
    const PATHS: &'static [&'static str] = &[
        "a G was found in a source",
        "a source got work while every M slept",
        "a source got work while some M slept",
        "another was faster",
    ];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        (1..=2usize, any::<bool>()).prop_map(|(procs, steal_first)| Setup { procs, steal_first }).boxed()
    }
    fn op(_: usize) -> BoxedStrategy<Op> {
        prop_oneof![2 => Just(Op::Submit), 1 => Just(Op::SubmitParent), 3 => Just(Op::Ring)].boxed()
    }
    fn simpler(setup: &Setup) -> Vec<Setup> {
        let one = (setup.procs > 1).then(|| Setup { procs: 1, ..setup.clone() });
        let usual = (!setup.steal_first).then(|| Setup { steal_first: true, ..setup.clone() });
        one.into_iter().chain(usual).collect()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        main_plays(NAMES[0]);
        let sched = open::<H>(&program.setup);
        let outsider = |me: usize| {
            let (sched, ops) = (Arc::clone(&sched), program.of(me));
            move || plays(&sched, me, ops)
        };
        let others: Vec<_> = (1..program.threads()).map(|me| H::fork(NAMES[me], outsider(me))).collect();
        outsider(0)();
        others.into_iter().for_each(|other| H::join(other));
        finish(&sched)
    }
}

/// The sources of all outsiders: the number of a G that is runnable, or 0.
struct Bells<H: ModelHost> {
    ready: Vec<Atomic<H, u64>>,
    waker: OnceLock<Waker>,
}

/// One of them, as the scheduler sees it.
struct BellSource<H: ModelHost> {
    waker: Waker,
    bells: Arc<Bells<H>>,
    which: usize,
}

impl<H: ModelHost> WorkSource for BellSource<H> {
    fn waker(&self) -> &Waker {
        &self.waker
    }
    fn has_work(&self) -> bool {
        // Relaxed: `work/spinning` came before, or it is a hint.
        self.bells.ready[self.which].load(Relaxed) != 0
    }
    fn take(&self, _: Option<PId>, put: &mut dyn FnMut(G)) {
        // AcqRel: what was done before the G became runnable comes with it.
        match self.bells.ready[self.which].swap(0, AcqRel) {
            0 => reached("another was faster"),
            n => put(g(n)),
        }
    }
    fn is_expecting(&self) -> bool {
        false
    }
}

/// The embedder. What it counts is no part of what is checked by an engine.
struct Embedder<H: ModelHost> {
    bells: Arc<Bells<H>>,
    /// How often each G was made runnable less how often it ran.
    waits: Vec<AtomicU32>,
    /// Some M has fallen asleep as the last.
    all_asleep: H::Parker,
    sleeping: AtomicUsize,
    alive: AtomicUsize,
}

impl<H: ModelHost> Observer for Embedder<H> {
    fn event(&self, event: Event<'_>) {
        match event {
            Event::Found { from: Source::Extra, .. } => reached("a G was found in a source"),
            Event::Woken { .. } => drop(self.sleeping.fetch_sub(1, Relaxed)),
            Event::Slept { sleeping, alive, .. } => {
                self.sleeping.store(sleeping, Relaxed);
                self.alive.store(alive, Relaxed);
                if sleeping == alive {
                    self.all_asleep.unpark();
                }
            }
            _ => (),
        }
    }
}

impl<H: ModelHost> Embedder<H> {
    fn makes(&self, n: u64) -> u64 {
        self.waits[n as usize].fetch_add(1, Relaxed);
        n
    }
}

type S<H> = Arc<Sched<H, Embedder<H>>>;

fn open<H: ModelHost>(setup: &Setup) -> S<H> {
    let order = if setup.steal_first { SearchOrder::StealFirst } else { SearchOrder::GlobalFirst };
    let max_ms = setup.procs + 1;
    let config = Config { procs: setup.procs, max_ms, ring: 2, steal_passes: 1, order, ..Config::default() };
    let ready = NAMES.iter().map(|_| Atomic::new(0)).collect();
    let bells = Arc::new(Bells { ready, waker: OnceLock::new() });
    let embedder = Embedder {
        bells: Arc::clone(&bells),
        waits: (0..2 * MOST * NAMES.len() as u64).map(|_| AtomicU32::new(0)).collect(),
        all_asleep: H::Parker::new(),
        sleeping: AtomicUsize::new(0),
        alive: AtomicUsize::new(0),
    };
    let sched = Sched::with_sources(config, embedder, life::<H>, |waker| {
        let _ = bells.waker.set(waker.clone());
        let seen = |which| -> Box<dyn WorkSource> {
            Box::new(BellSource { waker: waker.clone(), bells: Arc::clone(&bells), which })
        };
        (0..NAMES.len()).map(seen).collect()
    });
    sched.expect("the numbers are allowed")
}

/// Odd numbers have a child, the next even one.
fn life<H: ModelHost>(sched: &S<H>, mut worker: Worker) {
    while let Some((next, found)) = sched.next(worker) {
        worker = next;
        let n = found.into_raw().get();
        let before = sched.observer().waits[n as usize].fetch_sub(1, Relaxed);
        assert!(before == 1, "G{n} was taken twice");
        if n % 2 == 1 {
            sched.ready(&mut worker, g(sched.observer().makes(n + 1)));
        }
    }
}

fn plays<H: ModelHost>(sched: &S<H>, me: usize, ops: Vec<Op>) {
    let embedder = sched.observer();
    let of_me = |k: u64| 2 * (MOST * me as u64 + k + 1);
    for (op, k) in ops.into_iter().zip(0..MOST - 1) {
        match op {
            Op::Submit => assert!(sched.submit(g(embedder.makes(of_me(k)))).is_ok(), "it is open"),
            Op::SubmitParent => assert!(sched.submit(g(embedder.makes(of_me(k) - 1))).is_ok(), "it is open"),
            Op::Ring => ring(embedder, me, of_me(k)),
        }
    }
}

/// G `n` becomes runnable in the source of `me`.
fn ring<H: ModelHost>(embedder: &Embedder<H>, me: usize, n: u64) {
    let bell = &embedder.bells.ready[me];
    // Relaxed: only its owner puts anything there.
    if bell.load(Relaxed) != 0 {
        return;
    }
    let (sleeping, alive) = (embedder.sleeping.load(Relaxed), embedder.alive.load(Relaxed));
    reached_if(alive > 0 && sleeping == alive, "a source got work while every M slept");
    reached_if(sleeping > 0 && sleeping < alive, "a source got work while some M slept");
    let wake = || embedder.bells.waker.get().expect("it was made from one").wake();
    if mutant::is_variant("wakes-before-it-shows") {
        wake();
    }
    // Release: with what was done before.
    bell.store(embedder.makes(n), Release);
    if mutant::variant().is_none() {
        wake();
    }
}

/// Waits until every M sleeps, and sees that each G has run.
fn finish<H: ModelHost>(sched: &S<H>) -> String {
    let embedder = sched.observer();
    let snapshot = loop {
        let snapshot = sched.snapshot();
        if snapshot.is_quiescent() {
            break snapshot;
        }
        embedder.all_asleep.park();
    };
    for (n, waits) in embedder.waits.iter().enumerate() {
        assert!(waits.load(Relaxed) == 0, "all is quiet, but G{n} did not run");
    }
    if let Some(violation) = snapshot.violation() {
        panic!("{violation}: {snapshot:?}");
    }
    let left = sched.close();
    assert!(left.is_empty(), "{} Gs were given back that were never submitted", left.len());
    format!("{} Ms", snapshot.alive)
}
