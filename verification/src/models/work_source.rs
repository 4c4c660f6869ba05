//! Models of `work_source`: a place outside of the kernel where Gs become runnable, under the real scheduler.
//!
//! The source is one word: the number of a G that has become runnable. The thread that makes it so writes the G's data
//! first, then the word, then wakes.

use crate::engines::Engine;
use crate::harness::common::g;
use crate::harness::embedder::{
    Embedded, Extra, Note, Play, finish, first_runs, open_with, small, stops, submit, until_all_sleep,
};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, loom_bounded, rc11, rc11_cut, sampled, sc};
use crate::mutation::mutant::{self, Mutant};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::locked::{Wake, Woken};
use spinpark_kernel::protocol::sources::Source;
use spinpark_kernel::protocol::work_source::{Wakep, Waker, WorkSource};
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::sched::observer::Event;
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::p::PId;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, OnceLock, Weak};

/// A source, as its own threads see it.
struct Bell<H: ModelHost> {
    /// The G that is runnable; 0: none.
    ready: Atomic<H, u64>,
    /// Has it yet to become runnable, and will?
    is_coming: Atomic<H, bool>,
    waker: OnceLock<Waker>,
    /// G1 is about to wait, on M0.
    waits: Note<H>,
    asleep: AtomicU32,
    /// Did an M sleep when the G was found?
    was_woken: AtomicBool,
}

/// As the scheduler sees it.
struct BellSource<H: ModelHost> {
    waker: Waker,
    bell: Arc<Bell<H>>,
}

impl<H: ModelHost> WorkSource for BellSource<H> {
    fn waker(&self) -> &Waker {
        &self.waker
    }
    fn has_work(&self) -> bool {
        // Relaxed: `work/spinning` came before, or it is a hint.
        self.bell.ready.load(Relaxed) != 0
    }
    fn take(&self, _: Option<PId>, put: &mut dyn FnMut(G)) {
        // AcqRel: what was done before the G became runnable comes with it.
        match self.bell.ready.swap(0, AcqRel) {
            0 => (),
            n => put(g(n)),
        }
    }
    fn is_expecting(&self) -> bool {
        self.bell.is_coming.load(Acquire)
    }
}

/// The embedder's part.
struct Rope<H: ModelHost>(Arc<Bell<H>>);

impl<H: ModelHost> Extra for Rope<H> {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Slept { .. } => drop(self.0.asleep.fetch_add(1, Relaxed)),
            Event::Found { from: Source::Extra, .. } => {
                self.0.was_woken.store(self.0.asleep.load(Relaxed) > 0, Relaxed);
            }
            _ => (),
        }
    }
}

type Tower<H> = Embedded<H, Rope<H>>;

fn tower<H: ModelHost>(config: Config, n: u64, play: Play<H, Rope<H>>) -> Tower<H> {
    let bell = Arc::new(Bell {
        ready: Atomic::new(0),
        is_coming: Atomic::new(true),
        waker: OnceLock::new(),
        waits: Note::new(),
        asleep: AtomicU32::new(0),
        was_woken: AtomicBool::new(false),
    });
    open_with(config, n, Rope(Arc::clone(&bell)), play, |waker| {
        let _ = bell.waker.set(waker.clone());
        vec![Box::new(BellSource { waker: waker.clone(), bell })]
    })
}

/// The last G becomes runnable.
fn ring<H: ModelHost>(sched: &Tower<H>, n: u64) {
    let bell = &sched.observer().more.0;
    let wake = || bell.waker.get().expect("it was made from one").wake();
    let n = sched.observer().make(n).into_raw().get();
    if mutant::is_variant("wakes-before-it-shows") {
        wake();
    }
    // Release: with what was done before.
    bell.ready.store(n, Release);
    // Release: an M that sees this sees that it is runnable.
    bell.is_coming.store(false, Release);
    if mutant::variant().is_none() {
        wake();
    }
}

/// Gs 1 to `roots` are submitted, and a thread beside the main one rings for the last of `n`. All is quiet after that,
/// and each has run.
fn rings<H: ModelHost>(config: Config, roots: u64, n: u64, play: Play<H, Rope<H>>) -> String {
    let sched = tower::<H>(config, n, play);
    submit(&sched, 1, roots);
    first_runs(&sched);
    let ringer = H::fork("ringer", {
        let sched = Arc::clone(&sched);
        move || ring(&sched, n)
    });
    H::join(ringer);
    let snapshot = finish(&sched);
    let was_woken = sched.observer().more.0.was_woken.load(Relaxed);
    format!("{} Ms, {}", snapshot.alive, if was_woken { "somebody slept" } else { "nobody had slept" })
}

fn the_last_spinning_m_gives_up<H: ModelHost>() -> String {
    rings::<H>(small(1, 2), 1, 2, |_, worker, _| Some(worker))
}

fn a_p_is_handed_on<H: ModelHost>() -> String {
    rings::<H>(small(1, 2), 1, 2, |sched, worker, n| {
        if n > 1 {
            return Some(worker);
        }
        let away = sched.entersyscallblock(worker);
        let (worker, _) = sched.exitsyscall_bound(away);
        sched.observer().uses(&worker);
        Some(worker)
    })
}

fn there_are_two_ps<H: ModelHost>() -> String {
    rings::<H>(small(2, 1), 1, 2, |sched, worker, _| {
        sched.observer().uses(&worker);
        Some(worker)
    })
}

fn the_world_is_stopped<H: ModelHost>() -> String {
    let sched = tower::<H>(small(1, 1), 2, |_, worker: Worker, _| Some(worker));
    until_all_sleep(&sched, 1, || submit(&sched, 1, 1));
    let ringer = H::fork("ringer", {
        let sched = Arc::clone(&sched);
        move || ring(&sched, 2)
    });
    stops(&sched, |_| ());
    H::join(ringer);
    let snapshot = finish(&sched);
    format!("{} Ms", snapshot.alive)
}

/// G1 waits for the one that becomes runnable.
fn a_g_waits_for_it<H: ModelHost>() -> String {
    let sched = tower::<H>(small(1, 2), 2, |sched, mut worker, n| {
        let m = spinpark_kernel::types::m::MId(0);
        if n == 1 {
            assert!(worker.m() == m, "the first M there is");
            sched.observer().more.0.waits.wakeup();
            let woken;
            (worker, woken) = sched.park_bound(worker, Wake::Inside);
            assert!(woken == Woken::Ready, "told {woken:?}, but a source had work, or was to get it");
        } else {
            sched.ready_bound(m);
        }
        sched.observer().uses(&worker);
        Some(worker)
    });
    submit(&sched, 1, 1);
    sched.observer().more.0.waits.sleep();
    ring(&sched, 2);
    let snapshot = finish(&sched);
    format!("{} Ms", snapshot.alive)
}

/// A scheduler that only counts what it is told.
#[derive(Default)]
struct WakeCounts {
    wakes: AtomicU32,
    announced: AtomicU32,
}

impl Wakep for WakeCounts {
    fn wakep(self: Arc<Self>) {
        self.wakes.fetch_add(1, Relaxed);
    }
    fn announce(self: Arc<Self>, when: u64) {
        self.announced.fetch_add(when as u32, Relaxed);
    }
}

/// Wakers of two schedulers, of which one may be gone, and a copy.
fn wakers_of_two<H: ModelHost>() -> String {
    let scheds = [Arc::new(WakeCounts::default()), Arc::new(WakeCounts::default())];
    let waker = |of: usize| Waker::new(Arc::downgrade(&scheds[of]) as Weak<dyn Wakep>);
    let (one, other) = (H::choose(2), H::choose(2));
    let (first, mut second) = (waker(one), waker(other));
    let is_copied = H::choose(2) == 1;
    if is_copied {
        second = first.clone();
    }
    let is_same = is_copied || one == other;
    assert!(first.is_same(&second) == is_same, "of schedulers {one} and {other}: the same? {}", first.is_same(&second));
    second.wake();
    second.announce(5);
    let told = if is_copied { one } else { other };
    for (n, sched) in scheds.iter().enumerate() {
        let heard = (sched.wakes.load(Relaxed), sched.announced.load(Relaxed));
        assert!(heard == if n == told { (1, 5) } else { (0, 0) }, "scheduler {n} heard {heard:?}, {told} was told");
    }
    drop(scheds);
    first.wake();
    first.announce(5);
    (if is_same { "the same" } else { "two" }).to_owned()
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("work_source::its_work_is_run::the_last_spinning_m_gives_up", the_last_spinning_m_gives_up,
        claim: "a source gets work while the last spinning M gives up, or sleeps: it is not missed",
        size: "1 P, 2 Ms, 1 G, 1 of the source's",
        invariants: [1, 2, 30, 31, 32, 33, 34, 36],
        must_reach: ["nobody had slept", "somebody slept"],
        runs: [rc11(), loom_bounded(2), sampled(Engine::Pct, 5_000), sampled(Engine::TsoPct, 5_000)]),
    crate::model!("work_source::its_work_is_run::a_p_is_handed_on", a_p_is_handed_on,
    claim: "a source gets work while the only P is handed on, or idled: it is not missed",
    size: "1 P, 2 Ms, 1 G, 1 of the source's, 1 system call",
    invariants: [1, 2, 30, 31, 32, 33, 34, 36],
    must_reach: ["nobody had slept", "somebody slept"],
    runs: [rc11_cut(),
        loom_bounded(1),
        sampled(Engine::Random, 5_000),
        sampled(Engine::Pct, 5_000),
        sampled(Engine::TsoPct, 5_000),
    ]),
    crate::model!("work_source::its_work_is_run::there_are_two_ps", there_are_two_ps,
        claim: "the same with two Ps, of which one is idle",
        size: "2 Ps, 1 M, 1 G, 1 of the source's",
        invariants: [1, 2, 30, 31, 32, 33, 34, 36],
        must_reach: ["nobody had slept", "somebody slept"],
        runs: [rc11_cut(), sampled(Engine::Pct, 4_000), sampled(Engine::TsoPct, 2_000)]),
    crate::model!("work_source::its_work_is_run::the_world_is_stopped", the_world_is_stopped,
    claim: "a source gets work while the world is stopped: it is run when that runs again",
    size: "1 P, 1 M, 1 G, 1 of the source's, 1 stop",
    invariants: [1, 2, 16, 30, 31, 32, 33, 34, 36, 42],
    must_reach: ["1 Ms"],
    runs: [rc11(), sampled(Engine::Random, 5_000), sampled(Engine::Pct, 5_000), sampled(Engine::TsoPct, 3_000)]),
    crate::model!("work_source::a_waker_wakes_its_scheduler::wakers_of_two", wakers_of_two,
        claim: "a waker wakes the scheduler it is of, if that is there, and is told from that of another",
        size: "1 thread, 2 schedulers, 2 wakers",
        invariants: [37],
        must_reach: ["the same", "two"],
        runs: [sc()]),
    crate::model!("deadlock::never_told_without_reason::a_source_gets_work", a_g_waits_for_it,
    claim: "a G waits for one that a source makes runnable, which was expected until it was there: it is not told",
    size: "1 P, 2 Ms, 2 Gs, 1 wait",
    invariants: [1, 2, 25, 30, 31, 32, 33, 34],
    must_reach: ["2 Ms"],
    runs: [rc11_cut(),
        loom_bounded(2),
        sampled(Engine::Random, 5_000),
        sampled(Engine::Pct, 5_000),
        sampled(Engine::TsoPct, 3_000),
    ]),
];

const GIVES_UP: &str = "work_source::its_work_is_run::the_last_spinning_m_gives_up";

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "work_source";
    "work_source-does-not-wake": "a source gets work and wakes no M (golang/go #60693)",
        variant("does-not-wake"), by GIVES_UP => [Pct, Loom, Rc11];
    "work_source-wakes-before-it-shows": "a source wakes, then shows its work",
        variant("wakes-before-it-shows"), by GIVES_UP => [Pct, Loom, Rc11];
    "work_source-no-wakers-fence": "wakep, for a source, without its StoreLoad",
        weaken("protocol/spinning.rs", "pub fn wakep", "store_load::<H>()"), by GIVES_UP => [Loom, Rc11];
};
