//! The scheduler with its embedder: what Gs do, and how it is played.

use crate::checker::order::EventChecker;
use crate::harness::common::g;
use crate::harness::embedder::end_all;
use crate::hosts::model_host::{Cell, ModelHost};
use crate::status::{Status, StatusWord};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::Parker;
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::locked::{Wake, Woken};
use spinpark_kernel::protocol::sources::SearchOrder;
use spinpark_kernel::protocol::syscall::{Away, Way};
use spinpark_kernel::protocol::sysmon::SLICE;
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::sched::observer::{Event, Observer};
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::m::MId;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// What a G does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Nothing.
    Run,
    /// Makes a system call, and goes on on the same M.
    Syscall,
    /// The same, but may go on on another M.
    SyscallThenAnyM,
    /// Makes a call that is known to block.
    Block,
    /// Is interrupted by the monitor's signal, and runs on without its P.
    Interrupted,
    /// Panics in a system call.
    Panic,
    /// Spawns a G, and waits for it without a P.
    WaitForChild,
    /// Stops the world.
    Stop,
    /// Yields.
    Yield,
    /// Ends bound to its M, whose thread ends too.
    EndLocked,
}

/// How many Gs of what kind, under what scheduler.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) procs: usize,
    pub(super) max_procs: usize,
    pub(super) max_ms: usize,
    pub(super) order: SearchOrder,
    pub(super) acts: &'static [Act],
    pub(super) submitters: usize,
    /// From outside: the world is stopped once for each, and this many Ps there are afterwards.
    pub(super) resizes: &'static [usize],
    /// How often the monitor looks.
    pub(super) ticks: usize,
}

pub(super) const SMALL: Shape = Shape {
    procs: 1,
    max_procs: 1,
    max_ms: 3,
    order: SearchOrder::StealFirst,
    acts: &[],
    submitters: 1,
    resizes: &[],
    ticks: 0,
};

struct Embedder<H: ModelHost> {
    shape: Shape,
    tasks: Vec<Task<H>>,
    all_asleep: H::Parker,
    /// Does a G run under this P? One cell a P, for its owner alone: two owners race.
    used: Vec<H::Cell<bool>>,
    /// Is the world stopped? The stopper writes it, Gs that run read it: never at the same time.
    stopped: H::Cell<bool>,
    /// Ways out of system calls, one bit each; 16: a P was retaken. Of `std`: nothing depends on it but the outcome.
    ways: AtomicU32,
    events: EventChecker,
}

struct Task<H: ModelHost> {
    status: StatusWord<H>,
    data: H::Cell<u64>,
    /// Is its system call behind it?
    is_back: H::Cell<bool>,
    /// Its waiter: the M's number and one.
    waiter: Atomic<H, u64>,
    is_done: Atomic<H, bool>,
}

impl<H: ModelHost> Observer for Embedder<H> {
    fn event(&self, event: Event<'_>) {
        self.events.check(&event);
        match event {
            // When all is over, and not each time that all sleep: see the common embedder's.
            Event::Slept { sleeping, alive, .. } | Event::Gone { sleeping, alive }
                if sleeping == alive && self.all_done() =>
            {
                self.all_asleep.unpark();
            }
            Event::Returned { way, .. } => self.note(match way {
                Way::Kept => 1,
                Way::TookBack => 2,
                Way::Idle => 4,
                Way::Queued => 8,
            }),
            Event::Retaken { .. } => self.note(16),
            Event::Deadlock { .. } => panic!("a deadlock was seen, and there is none"),
            _ => (),
        }
    }
}

type This<H> = Arc<Sched<H, Embedder<H>>>;

impl<H: ModelHost> Embedder<H> {
    fn new(shape: Shape) -> Self {
        let task = |_| Task {
            status: StatusWord::new(),
            data: Cell::new(0),
            is_back: Cell::new(false),
            waiter: Atomic::new(0),
            is_done: Atomic::new(false),
        };
        Embedder {
            shape,
            // Each may have a child, whose number comes after all of theirs.
            tasks: (0..shape.acts.len() * 2).map(task).collect(),
            all_asleep: H::Parker::new(),
            used: (0..shape.procs.max(shape.max_procs)).map(|_| Cell::new(false)).collect(),
            stopped: Cell::new(false),
            ways: AtomicU32::new(0),
            events: EventChecker::default(),
        }
    }

    fn note(&self, bit: u32) {
        self.ways.fetch_or(bit, Relaxed);
    }

    fn task(&self, n: u64) -> &Task<H> {
        &self.tasks[n as usize - 1]
    }

    fn make(&self, n: u64) -> G {
        self.task(n).data.set(n);
        g(n)
    }

    /// A G begins to run, or goes on.
    fn enter(&self, worker: &Worker) {
        let used = &self.used[worker.p().index()];
        assert!(!used.get(), "two Gs run under P{}", worker.p().0);
        used.set(true);
        assert!(!self.stopped.get(), "a G runs while the world is stopped");
    }

    /// It ends, or waits.
    fn leave(&self, worker: &Worker) {
        assert!(!self.stopped.get(), "a G ran while the world was stopped");
        self.used[worker.p().index()].set(false);
    }

    /// The world is stopped; or is about to run again.
    fn is_stopped(&self, yes: bool) {
        assert!(self.used.iter().all(|used| !used.get()), "the world is stopped, and a G runs");
        assert!(self.stopped.get() != yes, "two have stopped the world");
        self.stopped.set(yes);
    }
}

/// An M's life.
fn life<H: ModelHost>(sched: &This<H>, worker: Worker) {
    let mut worker = Some(worker);
    while let Some(mine) = worker {
        let Some((mine, g)) = sched.next(mine) else { return };
        sched.observer().events.runs(mine.m().0, g.id());
        worker = run(sched, mine, g);
    }
}

/// Runs one G, or what is left of it. `None`: the M has ended.
fn run<H: ModelHost>(sched: &This<H>, mut worker: Worker, g: G) -> Option<Worker> {
    let world = sched.observer();
    let n = g.id();
    let task = world.task(n);
    world.enter(&worker);
    task.status.execute();
    assert!(task.data.get() == n, "G{n} runs, but does not see what was done before it was submitted");
    let act = world.shape.acts.get(n as usize - 1).copied().unwrap_or(Act::Run);
    match act {
        Act::Run => (),
        Act::Yield => {
            world.leave(&worker);
            worker = sched.yield_bound(worker);
            world.enter(&worker);
        }
        Act::Syscall => worker = come_back(sched, sched.entersyscall(left(world, worker))),
        Act::Block => worker = come_back(sched, sched.entersyscallblock(left(world, worker))),
        Act::Interrupted => {
            world.events.leaves(worker.m().0);
            worker = come_back(sched, sched.interrupt(left(world, worker)));
        }
        Act::Panic => {
            let away = sched.entersyscall(left(world, worker));
            // As an embedder does that catches it; no panic hook runs.
            let caught = catch_unwind(AssertUnwindSafe(|| resume_unwind(Box::new(n))));
            worker = come_back(sched, away);
            assert!(caught.is_err_and(|payload| payload.downcast_ref() == Some(&n)), "another G's panic");
        }
        Act::SyscallThenAnyM if !task.is_back.get() => {
            task.is_back.set(true);
            task.status.preempt();
            let away = sched.entersyscall(left(world, worker));
            return match sched.exitsyscall(away, g) {
                Ok((worker, g, _)) => run(sched, worker, g),
                Err(m) => {
                    world.note(8);
                    sched.rest(m)
                }
            };
        }
        Act::SyscallThenAnyM => (),
        Act::WaitForChild => worker = wait_for_child(sched, worker, n),
        Act::Stop => {
            world.events.leaves(worker.m().0);
            let stopped = sched.stop_the_world(Some(left(world, worker)));
            world.is_stopped(true);
            world.is_stopped(false);
            let away = sched.start_the_world(stopped).expect("a G stopped it");
            worker = come_back(sched, away);
        }
        Act::EndLocked => {
            finish(sched, &worker, g);
            world.events.leaves(worker.m().0);
            sched.end(worker);
            return None;
        }
    }
    finish(sched, &worker, g);
    Some(worker)
}

fn left<H: ModelHost>(world: &Embedder<H>, worker: Worker) -> Worker {
    world.leave(&worker);
    worker
}

fn come_back<H: ModelHost>(sched: &This<H>, away: Away) -> Worker {
    let (worker, _) = sched.exitsyscall_bound(away);
    sched.observer().enter(&worker);
    worker
}

fn finish<H: ModelHost>(sched: &This<H>, worker: &Worker, g: G) {
    let world = sched.observer();
    let n = g.into_raw().get();
    let task = world.task(n);
    task.status.exit();
    world.leave(worker);
    if n as usize <= world.shape.acts.len() {
        return; // one that is no child is not waited for
    }
    task.is_done.swap(true, AcqRel);
    let waiter = task.waiter.swap(0, AcqRel);
    if waiter > 0 {
        sched.ready_bound(MId(waiter as u32 - 1));
    }
}

fn wait_for_child<H: ModelHost>(sched: &This<H>, mut worker: Worker, n: u64) -> Worker {
    let world = sched.observer();
    let child = n + world.shape.acts.len() as u64;
    sched.ready(&mut worker, world.make(child));
    let task = world.task(child);
    task.waiter.swap(u64::from(worker.m().0) + 1, AcqRel);
    while !task.is_done.load(Acquire) {
        world.leave(&worker);
        let (next, woken) = sched.park_bound(worker, Wake::Inside);
        worker = next;
        world.enter(&worker);
        assert!(woken == Woken::Ready, "the wait for a child ended: {woken:?}");
    }
    worker
}

pub(super) fn play<H: ModelHost>(shape: Shape) -> String {
    let config = Config {
        procs: shape.procs,
        max_procs: shape.max_procs,
        ring: 2,
        order: shape.order,
        max_ms: shape.max_ms,
        steal_passes: 1,
        global_every: 3,
        inherit_at_most: 2,
        keep_alive: u64::MAX,
        ..Config::default()
    };
    let sched = Sched::<H, Embedder<H>>::new(config, Embedder::new(shape), life::<H>).expect("the numbers are allowed");
    let n = shape.acts.len() as u64;
    let share = n / shape.submitters as u64;
    let mut parties: Vec<_> = (1..shape.submitters as u64)
        .map(|i| {
            let sched = Arc::clone(&sched);
            H::fork("submitter", move || submit_all(&sched, i * share + 1, (i + 1) * share))
        })
        .collect();
    if shape.ticks > 0 {
        let sched = Arc::clone(&sched);
        parties.push(H::fork("monitor", move || {
            let mut watch = sched.watch();
            // Its own clock: one that all threads read would be one more thing that each may see late.
            (0..shape.ticks as u64).for_each(|tick| {
                sched.tick(&mut watch, tick * (SLICE / 2));
            });
        }));
    }
    submit_all(&sched, 1, share);
    for &procs in shape.resizes {
        let mut stopped = sched.stop_the_world(None);
        let world = sched.observer();
        world.is_stopped(true);
        sched.procresize(&mut stopped, procs).expect("there is room");
        world.is_stopped(false);
        assert!(sched.start_the_world(stopped).is_none(), "it was stopped from outside");
    }
    parties.into_iter().for_each(|party| H::join(party));
    let snapshot = loop {
        sched.observer().all_asleep.park();
        let snapshot = sched.snapshot();
        if snapshot.is_quiescent() && sched.observer().all_done() {
            break snapshot;
        }
        assert!(
            !snapshot.is_quiescent() || snapshot.global > 0,
            "every M sleeps, nothing is queued, and a G has not run: {snapshot:?}"
        );
    };
    if let Some(violation) = snapshot.violation() {
        panic!("{violation}: {snapshot:?}");
    }
    let procs = shape.resizes.last().copied().unwrap_or(shape.procs);
    assert!(snapshot.procs == procs, "there are {} Ps, and should be {procs}", snapshot.procs);
    let ways = sched.observer().ways.load(Relaxed);
    end_all(&sched, &sched.observer().events);
    let names = ["kept", "took back", "idle", "queued", "retaken"];
    let seen = names.iter().enumerate().filter(|(bit, _)| ways & 1 << bit != 0).map(|(_, name)| *name);
    seen.collect::<Vec<_>>().join(", ")
}

impl<H: ModelHost> Embedder<H> {
    /// Have all Gs ended that were submitted, and their children?
    fn all_done(&self) -> bool {
        let is_done = |n: u64| self.task(n).status.peek() == Status::Dead;
        let acts = self.shape.acts;
        (1..=acts.len() as u64)
            .all(|n| is_done(n) && (acts[n as usize - 1] != Act::WaitForChild || is_done(n + acts.len() as u64)))
    }
}

fn submit_all<H: ModelHost>(sched: &This<H>, from: u64, to: u64) {
    for n in from..=to {
        assert!(sched.submit(sched.observer().make(n)).is_ok(), "the scheduler is open");
    }
}
