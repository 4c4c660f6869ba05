//! The last M that has nothing to do, in the poller, or on its way there or back, beside an M that idles a P or adds a
//! timer. On the real scheduler.
//!
//! G1 keeps M0 and P0, but in the last. So what becomes runnable has to be run by another M, and what there is to wait for has
//! to be waited for by another; if none does, the main thread waits for ever, and the engine says so.
//!
//! | the M in the poller                             | beside it                              | model                       |
//! |-------------------------------------------------|----------------------------------------|-----------------------------|
//! | comes back with a G, and finds no P             | an M idles one, and sleeps             | `reported_beside_idle`      |
//! | has claimed it, and there is nothing to wait for | a timer is added                      | `given_up_beside_a_timer`   |

use crate::harness::common::g;
use crate::harness::embedder::Play;
use crate::harness::script::{
    HALT, MAIN, Script, Scripted, begin, keeps, numbers, saw, says_and_keeps, script, waits_at, with_poller,
};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, rc11};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{NEVER, Nanos, Parker};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::work_source::{Poller, Waker, WorkSource};
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::p::PId;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::{Arc, OnceLock};

/// The G that ends waits here.
const ENDS: usize = 1;

/// A socket and a timer, for one G each, in as few words as can be: each time that one is read is a choice for the engine.
struct Outside<H: ModelHost> {
    /// How many wait for the socket.
    waiters: Atomic<H, u64>,
    /// The G that can go on; 0: none.
    ready: Atomic<H, u64>,
    /// When the timer of G [`TIMED`] is due.
    due: Atomic<H, Nanos>,
    /// Where the M in the poller sleeps.
    parker: H::Parker,
    waker: OnceLock<Waker>,
}

/// The G that waits for the timer.
const TIMED: u64 = 4;

struct Timer<H: ModelHost>(Arc<Outside<H>>, Waker);

impl<H: ModelHost> WorkSource for Timer<H> {
    fn waker(&self) -> &Waker {
        &self.1
    }
    fn has_work(&self) -> bool {
        let due = self.0.due.load(Acquire);
        due != NEVER && due <= H::now()
    }
    fn take(&self, _: Option<PId>, put: &mut dyn FnMut(G)) {
        if self.0.due.swap(NEVER, AcqRel) != NEVER {
            put(g(TIMED));
        }
    }
    fn deadline(&self) -> Nanos {
        self.0.due.load(Relaxed)
    }
    fn is_expecting(&self) -> bool {
        self.deadline() != NEVER
    }
}

struct Sea<H: ModelHost>(Arc<Outside<H>>);

impl<H: ModelHost> Poller for Sea<H> {
    fn is_awaited(&self) -> bool {
        self.0.waiters.load(Relaxed) > 0
    }
    fn poll(&self, until: Nanos, put: &mut dyn FnMut(G)) {
        match until {
            NEVER => self.0.parker.park(),
            _ => self.0.parker.park_timeout(until.saturating_sub(H::now())),
        }
        if let n @ 1.. = self.0.ready.swap(0, AcqRel) {
            put(g(n));
            self.0.waiters.store(0, Release);
        }
    }
    fn interrupt(&self) {
        self.0.parker.unpark();
    }
}

/// A scheduler with a socket, for which one waits, and perhaps a timer.
fn open<H: ModelHost>(
    (procs, max_ms): (usize, usize),
    has_timer: bool,
    n: u64,
    play: Play<H, Script<H>>,
) -> (Scripted<H>, Arc<Outside<H>>) {
    let outside = Arc::new(Outside {
        waiters: Atomic::new(1),
        ready: Atomic::new(0),
        due: Atomic::new(NEVER),
        parker: H::Parker::new(),
        waker: OnceLock::new(),
    });
    let sched = with_poller(numbers(procs, max_ms), n, play, |waker| {
        let _ = outside.waker.set(waker.clone());
        let timer = has_timer.then(|| Box::new(Timer(Arc::clone(&outside), waker.clone())) as Box<dyn WorkSource>);
        (timer.into_iter().collect(), Box::new(Sea(Arc::clone(&outside))))
    });
    (sched, outside)
}

impl<H: ModelHost> Outside<H> {
    /// The socket is ready for `g`, which waits for it.
    fn rings(&self, g: G) {
        self.ready.store(g.into_raw().get(), Release);
        self.parker.unpark();
    }

    /// `g` waits for the timer, which a thread without a P adds.
    fn add(&self, g: G) {
        assert!(g.into_raw().get() == TIMED, "it is the G that waits for it");
        let due = H::now() + 1_000;
        self.due.store(due, Release);
        self.waker.get().expect("a scheduler was made").announce(due);
    }
}

/// Two Ps: G1 is kept, and does not say so; an M waits in the poller, and does; then G2 runs. What happens from here on happens
/// at once.
fn two_run<H: ModelHost>(play: Play<H, Script<H>>) -> (Scripted<H>, Arc<Outside<H>>) {
    let (sched, outside) = open((2, 3), false, 3, play);
    script(&sched).tells_main(saw::POLLING);
    begin(&sched, 1);
    script(&sched).tells_main(0);
    begin(&sched, 2);
    script(&sched).forget();
    (sched, outside)
}

/// The G ends when the model lets it.
fn goes_on<H: ModelHost>(sched: &Scripted<H>, worker: Worker) -> Option<Worker> {
    waits_at(sched, ENDS);
    Some(worker)
}

/// Waits until what was queued has run.
fn outcome<H: ModelHost>(sched: &Scripted<H>) -> String {
    script(sched).wait(MAIN);
    script(sched).words(&[(saw::SLEPT, "slept"), (saw::POLLING, "waited"), (saw::STARTED, "started")])
}

/// The socket is ready for G3 as G2 ends.
fn reported_beside_idle<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Scripted<H>, worker: Worker, n: u64) -> Option<Worker> {
        match n {
            1 => keeps::<H>(worker),
            2 => goes_on(sched, worker),
            _ => says_and_keeps(sched, worker),
        }
    }
    let (sched, outside) = two_run::<H>(play::<H>);
    script(&sched).open(ENDS);
    outside.rings(sched.observer().make(3));
    outcome(&sched)
}

/// As the only M falls asleep the socket is given up, and then a G waits for a timer.
fn given_up_beside_a_timer<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Scripted<H>, worker: Worker, n: u64) -> Option<Worker> {
        match n {
            1 => Some(worker),
            _ => says_and_keeps(sched, worker),
        }
    }
    let (sched, outside) = open((1, 1), true, TIMED, play::<H>);
    // It has found nothing, and is about to look once more, and to sleep.
    script(&sched).halts_at(saw::SOUGHT);
    begin(&sched, 1);
    script(&sched).open(HALT);
    script(&sched).halts_at(saw::SOUGHT);
    script(&sched).wait(MAIN);
    script(&sched).forget();
    script(&sched).open(HALT);
    outside.waiters.store(0, Release);
    sched.break_idle_poll();
    outside.add(sched.observer().make(TIMED));
    outcome(&sched)
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("sched::the_last_m_waits_for_all::reported_beside_idle", reported_beside_idle,
        claim: "what the poller reports while no P is idle is run, though an M idles its P and falls asleep meanwhile",
        size: "2 Ps, 3 Ms, 1 G that keeps its M, 1 that ends, 1 that waits for a socket",
        invariants: [28, 30, 36],
        must_reach: [],
        runs: [rc11()]),
    crate::model!("sched::the_last_m_waits_for_all::given_up_beside_a_timer", given_up_beside_a_timer,
        claim: "a timer that is added as the only M finds nothing to wait for in the poller fires",
        size: "1 P, 1 M, 1 G that ends, 1 socket that is given up, 1 timer",
        invariants: [28, 35, 36],
        must_reach: [],
        runs: [rc11()]),
];
