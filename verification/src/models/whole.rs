//! Models of the whole scheduler with everything at once: Gs that make system calls, block, wait for each other, panic and
//! stop the world, while Ps come and go, threads are refused, and the monitor takes what it finds.
//!
//! At the end all is quiet, each G has run to its end exactly once, and no G ran while the world was stopped.

use crate::checker::story::Story;
use crate::engines::Engine;
use crate::harness::common::g;
use crate::hosts::model_host::{Cell, ModelHost};
use crate::model::{Model, loom_bounded, rc11, rc11_cut, sampled};
use crate::mutation::mutant::Mutant;
use crate::status::{Status, StatusWord};
use spinpark::atomic::Atomic;
use spinpark::host::Parker;
use spinpark::kernel::protocol::find::Worker;
use spinpark::kernel::protocol::locked::{Wake, Woken};
use spinpark::kernel::protocol::sources::SearchOrder;
use spinpark::kernel::protocol::syscall::{Away, Way};
use spinpark::kernel::protocol::sysmon::SLICE;
use spinpark::kernel::sched::Sched;
use spinpark::kernel::sched::config::Config;
use spinpark::kernel::sched::observer::{Event, Observer};
use spinpark::kernel::types::g::G;
use spinpark::kernel::types::m::MId;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// What a G does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
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
    /// Makes way.
    Yield,
    /// Ends bound to its M, whose thread ends too.
    EndLocked,
}

/// How many Gs of what kind, under what scheduler.
#[derive(Debug, Clone, Copy)]
struct Shape {
    procs: usize,
    max_procs: usize,
    max_ms: usize,
    order: SearchOrder,
    acts: &'static [Act],
    submitters: usize,
    refusals: usize,
    /// From outside: the world is stopped once for each, and this many Ps there are afterwards.
    resizes: &'static [usize],
    /// How often the monitor looks.
    ticks: usize,
    /// How many steps a system call takes.
    dwell: usize,
    /// What is counted as the outcome.
    outcome: Outcome,
}

#[derive(Debug, Clone, Copy)]
enum Outcome {
    Ways,
    Ms,
}

const SMALL: Shape = Shape {
    procs: 1,
    max_procs: 1,
    max_ms: 3,
    order: SearchOrder::StealFirst,
    acts: &[],
    submitters: 1,
    refusals: 0,
    resizes: &[],
    ticks: 0,
    dwell: 0,
    outcome: Outcome::Ways,
};

struct World<H: ModelHost> {
    shape: Shape,
    tasks: Vec<Task<H>>,
    all_asleep: H::Parker,
    /// Gs that run now.
    running: Atomic<H, u64>,
    /// Is the world stopped, by whom it should be?
    stopped: Atomic<H, bool>,
    /// Ways out of system calls, one bit each; 16: a P was retaken.
    ways: Atomic<H, u64>,
    story: Story,
}

struct Task<H: ModelHost> {
    status: StatusWord<H>,
    data: H::Cell<u64>,
    /// Is its system call behind it?
    is_back: H::Cell<bool>,
    /// Who waits for it: the M's number and one.
    waiter: Atomic<H, u64>,
    is_done: Atomic<H, bool>,
}

impl<H: ModelHost> Observer for World<H> {
    fn event(&self, event: Event<'_>) {
        self.story.hear(&event);
        match event {
            Event::Slept { sleeping, alive, .. } if sleeping == alive => self.all_asleep.unpark(),
            Event::Gone { .. } => self.all_asleep.unpark(),
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

type This<H> = Arc<Sched<H, World<H>>>;

impl<H: ModelHost> World<H> {
    fn new(shape: Shape) -> Self {
        let task = |_| Task {
            status: StatusWord::new(),
            data: Cell::new(0),
            is_back: Cell::new(false),
            waiter: Atomic::new(0),
            is_done: Atomic::new(false),
        };
        World {
            shape,
            // Each may have a child, whose number comes after all of theirs.
            tasks: (0..shape.acts.len() * 2).map(task).collect(),
            all_asleep: H::Parker::new(),
            running: Atomic::new(0),
            stopped: Atomic::new(false),
            ways: Atomic::new(0),
            story: Story::default(),
        }
    }

    fn note(&self, bit: u64) {
        let mut seen = self.ways.load(Relaxed);
        while let Err(found) = self.ways.compare_exchange(seen, seen | bit, Relaxed, Relaxed) {
            seen = found;
        }
    }

    fn task(&self, n: u64) -> &Task<H> {
        &self.tasks[n as usize - 1]
    }

    fn make(&self, n: u64) -> G {
        self.task(n).data.set(n);
        g(n)
    }

    /// A G begins to run, or goes on.
    fn enter(&self) {
        let running = self.running.fetch_add(1, AcqRel) + 1;
        let most = self.shape.procs.max(self.shape.max_procs) as u64;
        assert!(running <= most, "{running} Gs run on {most} Ps");
        assert!(!self.stopped.load(Acquire), "a G runs while the world is stopped");
    }

    /// It ends, or waits.
    fn leave(&self) {
        assert!(!self.stopped.load(Acquire), "a G ran while the world was stopped");
        self.running.fetch_sub(1, AcqRel);
    }

    /// In a stopped world.
    fn is_still(&self) {
        assert!(self.running.load(Acquire) == 0, "the world is stopped, and a G runs");
    }
}

/// An M's life.
fn life<H: ModelHost>(sched: &This<H>, worker: Worker) {
    let mut worker = Some(worker);
    while let Some(mine) = worker {
        let Some((mine, g)) = sched.next(mine) else { return };
        sched.observer().story.runs(mine.m().0, g.id());
        worker = run(sched, mine, g);
    }
}

/// Runs one G, or what is left of it. `None`: the M has ended.
fn run<H: ModelHost>(sched: &This<H>, mut worker: Worker, g: G) -> Option<Worker> {
    let world = sched.observer();
    let n = g.id();
    let task = world.task(n);
    world.enter();
    task.status.execute();
    assert!(task.data.get() == n, "G{n} runs, but does not see what was done before it was submitted");
    let act = world.shape.acts.get(n as usize - 1).copied().unwrap_or(Act::Run);
    match act {
        Act::Run => (),
        Act::Yield => {
            world.leave();
            worker = sched.yield_bound(worker);
            world.enter();
        }
        Act::Syscall => worker = come_back(sched, sched.entersyscall(left(world, worker))),
        Act::Block => worker = come_back(sched, sched.entersyscallblock(left(world, worker))),
        Act::Interrupted => {
            world.story.leaves(worker.m().0);
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
            dwell(world);
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
            world.story.leaves(worker.m().0);
            let stopped = sched.stop_the_world(Some(left(world, worker)));
            world.is_still();
            world.stopped.store(true, Release);
            world.stopped.store(false, Release);
            let away = sched.start_the_world(stopped).expect("a G stopped it");
            worker = come_back(sched, away);
        }
        Act::EndLocked => {
            finish(sched, g);
            world.story.leaves(worker.m().0);
            sched.end(worker);
            return None;
        }
    }
    finish(sched, g);
    Some(worker)
}

fn left<H: ModelHost>(world: &World<H>, worker: Worker) -> Worker {
    world.leave();
    worker
}

/// What a system call does: it takes some steps, so that something can happen meanwhile.
fn dwell<H: ModelHost>(world: &World<H>) {
    for _ in 0..world.shape.dwell {
        world.running.load(Relaxed);
    }
}

fn come_back<H: ModelHost>(sched: &This<H>, away: Away) -> Worker {
    dwell(sched.observer());
    let (worker, _) = sched.exitsyscall_bound(away);
    sched.observer().enter();
    worker
}

fn finish<H: ModelHost>(sched: &This<H>, g: G) {
    let world = sched.observer();
    let task = world.task(g.into_raw().get());
    task.status.exit();
    world.leave();
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
        world.leave();
        let (next, woken) = sched.park_bound(worker, Wake::Inside);
        worker = next;
        world.enter();
        assert!(woken == Woken::Ready, "the wait for a child ended: {woken:?}");
    }
    worker
}

fn play<H: ModelHost>(shape: Shape) -> String {
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
    let sched = Sched::<H, World<H>>::new(config, World::new(shape), life::<H>).expect("the numbers are allowed");
    if shape.refusals > 0 {
        sched.start().expect("the first M");
        H::refuse_spawns(shape.refusals);
    }
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
            for _ in 0..shape.ticks {
                sched.tick(&mut watch, H::now());
                H::pass(SLICE / 2);
            }
        }));
    }
    submit_all(&sched, 1, share);
    for &procs in shape.resizes {
        let mut stopped = sched.stop_the_world(None);
        let world = sched.observer();
        world.is_still();
        world.stopped.store(true, Release);
        sched.procresize(&mut stopped, procs).expect("there is room");
        world.is_still();
        world.stopped.store(false, Release);
        assert!(sched.start_the_world(stopped).is_none(), "it was stopped from outside");
    }
    parties.into_iter().for_each(|party| H::join(party));
    if shape.refusals > 0 {
        // What a refused start left behind, the monitor tries again.
        sched.tick(&mut sched.watch(), H::now());
    }
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
    H::refuse_spawns(0);
    if let Some(violation) = snapshot.violation() {
        panic!("{violation}: {snapshot:?}");
    }
    let procs = shape.resizes.last().copied().unwrap_or(shape.procs);
    assert!(snapshot.procs == procs, "there are {} Ps, and should be {procs}", snapshot.procs);
    let ways = sched.observer().ways.load(Relaxed);
    let ms = snapshot.alive;
    sched.observer().story.closes();
    let left = sched.close();
    assert!(left.is_empty(), "{} Gs were given back that nobody submitted", left.len());
    match shape.outcome {
        Outcome::Ms => format!("{ms} Ms"),
        Outcome::Ways => {
            let names = ["kept", "took back", "idle", "queued", "retaken"];
            let seen = names.iter().enumerate().filter(|(bit, _)| ways & 1 << bit != 0).map(|(_, name)| *name);
            seen.collect::<Vec<_>>().join(", ")
        }
    }
}

impl<H: ModelHost> World<H> {
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

use Act::{Block, EndLocked, Interrupted, Panic, Run, Stop, Syscall, SyscallThenAnyM, WaitForChild, Yield};

fn one_p_one_syscall<H: ModelHost>() -> String {
    play::<H>(Shape { max_ms: 2, acts: &[Syscall], ticks: 2, ..SMALL })
}

fn one_p_two_syscalls<H: ModelHost>() -> String {
    play::<H>(Shape { acts: &[Syscall, SyscallThenAnyM], ticks: 3, dwell: 3, ..SMALL })
}

fn two_ps_all_ways_out<H: ModelHost>() -> String {
    let acts = &[Syscall, SyscallThenAnyM, Syscall, Block, SyscallThenAnyM, Run];
    play::<H>(Shape { procs: 2, max_ms: 6, acts, submitters: 2, ticks: 6, dwell: 8, ..SMALL })
}

fn hogs_and_a_system_call<H: ModelHost>() -> String {
    let acts = &[Interrupted, Syscall, Interrupted, Run, Interrupted, Run];
    play::<H>(Shape { procs: 2, max_ms: 6, acts, submitters: 2, ticks: 6, dwell: 8, ..SMALL })
}

fn one_hog<H: ModelHost>() -> String {
    play::<H>(Shape { acts: &[Interrupted, Run], max_ms: 2, ticks: 3, dwell: 3, ..SMALL })
}

/// Nobody retakes their Ps: what is left to go wrong is the count.
fn two_hogs<H: ModelHost>() -> String {
    play::<H>(Shape { procs: 2, acts: &[Interrupted, Interrupted], max_ms: 2, dwell: 1, ..SMALL })
}

fn hogs_while_the_world_is_stopped<H: ModelHost>() -> String {
    let acts = &[Interrupted, WaitForChild, Interrupted, Yield, Stop];
    play::<H>(Shape { procs: 2, max_procs: 3, max_ms: 8, acts, resizes: &[1, 2], ticks: 5, dwell: 4, ..SMALL })
}

fn stops_and_resizes<H: ModelHost>() -> String {
    let acts = &[Syscall, WaitForChild, Run, Block, Yield, SyscallThenAnyM];
    play::<H>(Shape { procs: 2, max_procs: 3, max_ms: 8, acts, resizes: &[1, 3, 2], ticks: 4, ..SMALL })
}

fn everything_at_once<H: ModelHost>() -> String {
    let order = SearchOrder::GlobalFirst;
    let acts = &[Syscall, Stop, WaitForChild, Panic, SyscallThenAnyM, EndLocked, Block, Yield, WaitForChild, Stop];
    let shape = Shape { procs: 2, max_procs: 3, max_ms: 12, acts, submitters: 2, resizes: &[3, 1], ticks: 6, ..SMALL };
    play::<H>(Shape { order, ..shape })
}

fn threads_are_refused<H: ModelHost>() -> String {
    let acts = &[Syscall, Block, Run, Panic, SyscallThenAnyM, Run];
    let outcome = Outcome::Ms;
    play::<H>(Shape { procs: 2, max_ms: 8, acts, refusals: 3, resizes: &[2], ticks: 4, outcome, ..SMALL })
}

fn bound_gs_end_with_their_ms<H: ModelHost>() -> String {
    play::<H>(Shape { procs: 2, max_ms: 6, acts: &[EndLocked, Run, EndLocked, Syscall], outcome: Outcome::Ms, ..SMALL })
}

/// A G sits in a system call until another has run, and there is one P: without the monitor that would be never.
fn a_syscall_waits_for_another_g<H: ModelHost>() -> String {
    struct Pair<H: ModelHost> {
        has_entered: H::Parker,
        is_in: Atomic<H, bool>,
        other_has_run: H::Parker,
        is_over: H::Parker,
        runs: Atomic<H, u64>,
        retaken: Atomic<H, u64>,
        story: Story,
    }
    impl<H: ModelHost> Observer for Pair<H> {
        fn event(&self, event: Event<'_>) {
            self.story.hear(&event);
            if let Event::Retaken { .. } = event {
                self.retaken.fetch_add(1, AcqRel);
            }
        }
    }
    fn wait<H: ModelHost>(pair: &Pair<H>, runs: u64, bed: &H::Parker) {
        while pair.runs.load(Acquire) < runs {
            bed.park();
        }
    }
    fn life<H: ModelHost>(sched: &Arc<Sched<H, Pair<H>>>, mut worker: Worker) {
        while let Some((next, g)) = sched.next(worker) {
            worker = next;
            let pair = sched.observer();
            if g.into_raw().get() == 1 {
                sched.ready(&mut worker, self::g(2));
                let away = sched.entersyscall(worker);
                pair.is_in.store(true, Release);
                pair.has_entered.unpark();
                wait(pair, 1, &pair.other_has_run);
                worker = sched.exitsyscall_bound(away).0;
            }
            pair.runs.fetch_add(1, AcqRel);
            pair.other_has_run.unpark();
            pair.is_over.unpark();
        }
    }
    let config = Config { ring: 2, max_ms: 3, steal_passes: 1, keep_alive: u64::MAX, ..Config::default() };
    let bed = H::Parker::new;
    let (runs, retaken) = (Atomic::new(0), Atomic::new(0));
    let is_in = Atomic::new(false);
    let story = Story::default();
    let pair = Pair { has_entered: bed(), is_in, other_has_run: bed(), is_over: bed(), runs, retaken, story };
    let sched = Sched::<H, Pair<H>>::new(config, pair, life::<H>).expect("the numbers are allowed");
    let monitor = {
        let sched = Arc::clone(&sched);
        H::fork("monitor", move || {
            while !sched.observer().is_in.load(Acquire) {
                sched.observer().has_entered.park();
            }
            let mut watch = sched.watch();
            sched.tick(&mut watch, H::now());
            H::pass(1);
            sched.tick(&mut watch, H::now());
        })
    };
    assert!(sched.submit(g(1)).is_ok(), "the scheduler is open");
    wait(sched.observer(), 2, &sched.observer().is_over);
    H::join(monitor);
    let retaken = sched.observer().retaken.load(Acquire);
    sched.observer().story.closes();
    assert!(sched.close().is_empty(), "a G was given back");
    format!("retaken {retaken}")
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("sched::a_syscall_holds_up_nobody::a_syscall_waits_for_another_g", a_syscall_waits_for_another_g,
        claim: "a P whose G sits in a system call while another G waits is retaken within two ticks of the monitor",
        size: "1 P, 3 Ms, 2 Gs, 2 ticks",
        invariants: [4, 20, 36, 43],
        must_reach: ["retaken 1"],
        runs: [rc11_cut(), loom_bounded(1), sampled(Engine::Pct, 5_000), sampled(Engine::TsoPct, 3_000)]),
    crate::model!("sched::each_p_has_one_owner::one_p_one_syscall", one_p_one_syscall,
        claim: "a G makes a system call while the monitor looks: the P is kept, or comes back",
        size: "1 P, 2 Ms, 1 G, 2 ticks",
        invariants: [1, 2, 4, 20, 21, 30, 32],
        must_reach: ["kept"],
        runs: [rc11(), loom_bounded(1), sampled(Engine::Pct, 5_000)]),
    crate::model!("sched::each_p_has_one_owner::one_p_two_syscalls", one_p_two_syscalls,
        claim: "two Gs make system calls under one P while the monitor looks",
        size: "1 P, 3 Ms, 2 Gs, 3 ticks",
        invariants: [1, 2, 4, 20, 21, 30, 32],
        must_reach: ["kept", "idle", "queued", "retaken"],
        runs: [rc11_cut(), sampled(Engine::Pct, 20_000), sampled(Engine::TsoPct, 10_000)]),
    crate::model!("sched::each_p_has_one_owner::two_ps_all_ways_out", two_ps_all_ways_out,
        claim: "six Gs, five of which make system calls, under two Ps: each way out is taken, each G runs once",
        size: "2 Ps, 6 Ms, 6 Gs, 6 ticks",
        invariants: [1, 2, 4, 20, 21, 30, 31, 32, 33, 34, 36],
        must_reach: ["kept", "took back", "idle", "queued", "retaken"],
        // Not `random`: it never took back a P in 5,000 schedules.
        runs: [rc11_cut(), sampled(Engine::Pct, 10_000), sampled(Engine::TsoPct, 5_000)]),
    crate::model!("sched::each_p_has_one_owner::one_hog", one_hog,
        claim: "a G that is interrupted loses its P to another, or keeps it; both run, once",
        size: "1 P, 2 Ms, 2 Gs, 3 ticks",
        invariants: [1, 2, 4, 20, 21, 30, 31, 32, 33, 34, 36],
        must_reach: ["kept", "queued", "retaken"],
        runs: [rc11_cut(), loom_bounded(1), sampled(Engine::Pct, 20_000), sampled(Engine::TsoPct, 5_000)]),
    crate::model!("sched::each_p_has_one_owner::two_hogs", two_hogs,
        claim: "two Gs are interrupted at once, and come back at once: when all is quiet none is counted as detached",
        size: "2 Ps, 2 Ms, 2 Gs",
        invariants: [1, 2, 4, 20, 30, 31, 32, 33, 34, 36, 52],
        must_reach: ["kept"],
        runs: [rc11_cut(), loom_bounded(1), sampled(Engine::Pct, 10_000)]),
    crate::model!("sched::each_p_has_one_owner::hogs_and_a_system_call", hogs_and_a_system_call,
        claim: "three Gs are interrupted, one makes a system call, two just run: each way back is taken, each runs once",
        size: "2 Ps, 6 Ms, 6 Gs, 6 ticks",
        invariants: [1, 2, 4, 20, 21, 30, 31, 32, 33, 34, 36],
        must_reach: ["kept", "idle", "queued", "retaken"],
        runs: [rc11_cut(), sampled(Engine::Pct, 10_000), sampled(Engine::TsoPct, 5_000)]),
    crate::model!("sched::a_stopped_world_stands_still::hogs_while_the_world_is_stopped",
        hogs_while_the_world_is_stopped,
        claim: "Gs are interrupted while the world is stopped and resized: every P is held, none twice, and all Gs run",
        size: "2 of 3 Ps, 8 Ms, 6 Gs, 3 stops, 5 ticks",
        invariants: [1, 2, 4, 16, 17, 26, 30, 31, 32, 33, 36, 41, 42],
        must_reach: ["kept", "idle"],
        runs: [rc11_cut(), sampled(Engine::Random, 4_000), sampled(Engine::Pct, 8_000), sampled(Engine::TsoPct, 4_000)]),
    crate::model!("sched::a_stopped_world_stands_still::stops_and_resizes", stops_and_resizes,
        claim: "the world is stopped three times, and the Ps become 1, 3, 2, while Gs call, block, wait and yield",
        size: "2 of 3 Ps, 8 Ms, 7 Gs, 3 stops, 4 ticks",
        invariants: [1, 2, 4, 16, 17, 26, 30, 31, 32, 33, 36, 41, 42],
        must_reach: ["kept", "idle"],
        runs: [rc11_cut(), sampled(Engine::Random, 4_000), sampled(Engine::Pct, 8_000), sampled(Engine::TsoPct, 4_000)]),
    crate::model!("sched::a_stopped_world_stands_still::everything_at_once", everything_at_once,
        claim: "the same with Gs that stop the world themselves, panic in a call, and end with their threads",
        size: "2 of 3 Ps, 12 Ms, 12 Gs, 4 stops, 6 ticks",
        invariants: [1, 2, 4, 16, 17, 19, 26, 30, 31, 32, 33, 36, 41, 42],
        must_reach: ["kept", "idle", "queued"],
        runs: [rc11_cut(), sampled(Engine::Random, 3_000), sampled(Engine::Pct, 6_000), sampled(Engine::TsoPct, 3_000)]),
    crate::model!("sched::work_waits_for_a_thread::threads_are_refused", threads_are_refused,
        claim: "three thread starts are refused while Gs call, block and panic, and the world is stopped once",
        size: "2 Ps, 8 Ms, 6 Gs, 3 refusals, 1 stop, 4 ticks",
        invariants: [1, 2, 4, 30, 31, 36],
        must_reach: ["2 Ms", "3 Ms"],
        runs: [rc11_cut(), sampled(Engine::Pct, 8_000), sampled(Engine::TsoPct, 4_000)]),
    crate::model!("sched::bound_gs::end_with_their_ms", bound_gs_end_with_their_ms,
        claim: "two threads end with the Gs that are bound to them, and leave nothing behind",
        size: "2 Ps, 6 Ms, 4 Gs",
        invariants: [1, 2, 4, 19, 30, 36],
        must_reach: ["1 Ms", "2 Ms"],
        runs: [rc11_cut(), sampled(Engine::Random, 5_000), sampled(Engine::Pct, 5_000)]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = &[];
