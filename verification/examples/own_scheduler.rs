//! An embedder's scheduler on the bare kernel, with a model of its own:
//! `cargo run -p spinpark-verification --example own_scheduler`.
//!
//! Actors: each has a mailbox, and is a G while there is anything in it. The kernel runs Gs, and asks one thing of who
//! queues them: a G is queued once for each time that it is to run. So one M must decide, alone, when an actor
//! becomes a G. Here it is a count of what is in the mailbox: who raises it from 0 queues the actor, and the M that runs it
//! queues it again unless it lowers the count to 0.
//!
//! ```text
//!   sender:  mailbox ◄── message;  pending += 1, was 0?  ──►  queue the G          (AcqRel)
//!   an M:    n = pending;  handle n messages;  pending -= n, is 0?  no ──► queue it again   (AcqRel)
//! ```
//!
//! All of that is written over `H: Host`, as the kernel is. So the same source runs on cores, under `Sched`, and in a
//! model, which two wrong variants must not pass.

use spinpark_kernel::host::{Lock, Word};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::queues::globq::{GlobQueue, Len};
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::types::g::G;
use spinpark_verification::engines::{self, Job};
use spinpark_verification::hosts::model_host::{Cell, ModelHost};
use spinpark_verification::hosts::threads::Threads;
use spinpark_verification::model::{Model, rc11, sc, tso};
use spinpark_verification::output::thousands;
use std::collections::{BTreeSet, VecDeque};
use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// How an M that has handled `n` messages takes them off the count.
#[derive(Clone, Copy)]
enum Leave {
    /// As it must be.
    Subtract(Ordering),
    /// As one might write it: all that was there is handled, so there are 0.
    SetToZero,
}

struct Actor<H: ModelHost> {
    mailbox: H::Lock<VecDeque<u64>>,
    pending: H::Word,
    /// What one M at a time may touch. That it is one at a time is what the model is for.
    sum: H::Cell<u64>,
}

impl<H: ModelHost> Actor<H> {
    fn new() -> Self {
        Actor { mailbox: Lock::new(VecDeque::new()), pending: Word::new(0), sum: Cell::new(0) }
    }

    /// Is the actor to be queued now, by the caller?
    fn send(&self, message: u64) -> bool {
        self.mailbox.with(|mailbox| mailbox.push_back(message));
        // AcqRel: the M that runs the actor next has seen what the M before it did, whose count of 0 this is.
        self.pending.fetch_add(1, AcqRel) == 0
    }

    /// Handles what is there. Is the actor to be queued again?
    fn run(&self, leave: Leave, mut handle: impl FnMut(u64)) -> bool {
        // Acquire: the messages that are counted can be taken.
        let n = self.pending.load(Acquire);
        for _ in 0..n {
            let message = self.mailbox.with(VecDeque::pop_front).expect("it was counted");
            self.sum.set(self.sum.get() + message);
            handle(message);
        }
        match leave {
            Leave::Subtract(order) => self.pending.fetch_add(n.wrapping_neg(), order) != n,
            Leave::SetToZero => self.pending.swap(0, AcqRel) == 0,
        }
    }
}

// On cores: eight actors in a ring, under the kernel's scheduler.

const RING: usize = 8;
static ACTORS: OnceLock<Vec<Actor<Threads>>> = OnceLock::new();
static SEEN: Mutex<(u64, BTreeSet<usize>)> = Mutex::new((0, BTreeSet::new()));

fn actors() -> &'static [Actor<Threads>] {
    ACTORS.get_or_init(|| (0..RING).map(|_| Actor::new()).collect())
}

/// Actor `n` as a G.
fn g(n: usize) -> G {
    G::from_raw(NonZeroU64::new(n as u64 + 1).expect("numbers begin at 1"))
}

/// An M's life. An actor that gets `n` sends `n - 1` to the next one.
fn live(sched: &Arc<Sched<Threads>>, mut worker: Worker) {
    while let Some((mine, taken)) = sched.next(worker) {
        worker = mine;
        let me = taken.into_raw().get() as usize - 1;
        let (mut handled, next) = (0, (me + 1) % RING);
        let again = actors()[me].run(Leave::Subtract(AcqRel), |message| {
            handled += 1;
            if message > 0 && actors()[next].send(message - 1) {
                sched.ready(&mut worker, g(next));
            }
        });
        if again {
            sched.ready(&mut worker, g(me));
        }
        let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
        seen.0 += handled;
        seen.1.insert(Threads::me());
    }
}

fn on_cores() {
    const FIRST: u64 = 10_000;
    let config = Config { procs: 2, ..Config::default() };
    let sched = Sched::<Threads>::new(config, (), live).expect("numbers that are allowed");
    for (n, actor) in actors().iter().enumerate() {
        if actor.send(FIRST) {
            sched.submit(g(n)).expect("it is open");
        }
    }
    let handled = || SEEN.lock().unwrap_or_else(PoisonError::into_inner).0;
    while handled() < RING as u64 * (FIRST + 1) {
        std::thread::yield_now();
    }
    assert!(sched.close().is_empty(), "no actor is queued when no message is left");
    let sum: u64 = actors().iter().map(|actor| actor.sum.get()).sum();
    assert_eq!(sum, RING as u64 * FIRST * (FIRST + 1) / 2);
    let threads = SEEN.lock().unwrap_or_else(PoisonError::into_inner).1.len();
    println!("on cores: {RING} actors handled {} messages on {threads} threads", thousands(handled()));
}

// In the model: one actor, two senders, two Ms; of the kernel the global queue, which is enough.

struct Scene<H: ModelHost> {
    actor: Actor<H>,
    queue: H::Lock<GlobQueue>,
    len: Len<H>,
}

impl<H: ModelHost> Scene<H> {
    fn queue(&self) {
        self.queue.with(|queue| queue.put(g(0), &self.len));
    }
    /// An M takes a G, if there is one, and runs it.
    fn step(&self, leave: Leave) -> bool {
        let taken = self.queue.with(|queue| queue.get(&self.len));
        if taken.is_some() && self.actor.run(leave, |_| ()) {
            self.queue();
        }
        taken.is_some()
    }
}

fn play<H: ModelHost>(leave: Leave) -> String {
    let scene = Arc::new(Scene::<H> { actor: Actor::new(), queue: Lock::new(GlobQueue::default()), len: Len::new() });
    let act = |name, act: fn(&Scene<H>, Leave)| {
        let scene = Arc::clone(&scene);
        H::fork(name, move || act(&scene, leave))
    };
    let send = |scene: &Scene<H>, _| {
        if scene.actor.send(1) {
            scene.queue();
        }
    };
    let others = [act("sender 1", send), act("sender 2", send), act("M1", |scene, leave| _ = scene.step(leave))];
    scene.step(leave);
    others.into_iter().for_each(H::join);
    let before = scene.actor.sum.get();
    while scene.step(leave) {}
    let sum = scene.actor.sum.get();
    assert!(sum == 2, "two messages were sent, {sum} handled, and no M will come for the rest");
    format!("handled {before} while they were sent")
}

fn right<H: ModelHost>() -> String {
    play::<H>(Leave::Subtract(AcqRel))
}
fn set_to_zero<H: ModelHost>() -> String {
    play::<H>(Leave::SetToZero)
}
fn relaxed<H: ModelHost>() -> String {
    play::<H>(Leave::Subtract(Relaxed))
}

macro_rules! actors {
    ($name:literal, $play:ident) => {
        spinpark_verification::model!(
            $name, $play,
            claim: "each message is handled once, by one M at a time",
            size: "4 threads: 2 senders, 2 Ms; 1 actor, 2 messages",
            invariants: [],
            must_reach: ["handled 0", "handled 1", "handled 2"],
            runs: [rc11(), sc(), tso()],
        )
    };
}
const RIGHT: Model = actors!("actors::each_message_is_handled_once::two_senders_two_ms", right);
const WRONG: [Model; 2] = [
    actors!("actors::each_message_is_handled_once::an_m_sets_the_count_to_zero", set_to_zero),
    actors!("actors::each_message_is_handled_once::an_m_leaves_relaxed", relaxed),
];

fn check(model: &Model) -> Vec<engines::Outcome> {
    let run = |run: &spinpark_verification::model::Run| {
        let jobs = NonZeroUsize::MIN;
        let job =
            Job { model, engine: run.engine, bounds: run.bounds, mutation: None, seed: 1, jobs, checkpoint: None };
        let outcome = engines::run(job, &engines::silent());
        let (engine, executions) = (run.engine, thousands(outcome.executions));
        println!("  {engine:<5} {}, {executions} executions", outcome.verdict);
        outcome
    };
    model.runs.iter().map(run).collect()
}

fn main() {
    on_cores();
    println!("{}: {}", RIGHT.name, RIGHT.claim);
    assert!(check(&RIGHT).iter().all(|outcome| outcome.verdict == engines::Verdict::Proved));
    for model in &WRONG {
        println!("{}", model.name);
        let failure = check(model).into_iter().find_map(|outcome| outcome.failure);
        let failure = failure.expect("a wrong variant that is not seen: the model is too weak");
        println!("{}", failure.picture.unwrap_or(failure.message));
    }
}
