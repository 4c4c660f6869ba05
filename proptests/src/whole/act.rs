//! What Gs do.

use super::outside::safepoint;
use super::plan::Step;
use super::program::Act;

use super::play::{Embedder, This};
use spinpark_kernel::host::{Parker, Word};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::locked::{Wake, Woken};
use spinpark_kernel::protocol::syscall::Away;
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::m::MId;
use spinpark_verification::checker::facts::Fact;
use spinpark_verification::hosts::model_host::{Cell, ModelHost};
use std::ops::ControlFlow::{self, Break, Continue};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// An M's life.
pub(super) fn life<H: ModelHost>(sched: &This<H>, worker: Worker) {
    let mut worker = Some(worker);
    while let Some(mine) = worker {
        let Some((mine, g)) = sched.next(mine) else { return };
        worker = run(sched, mine, g);
    }
}

/// After a step the G goes on, on the M that is there; or the M goes on without it.
type Then = ControlFlow<Option<Worker>, (Worker, G)>;

/// Runs one G, or what is left of it. `None`: the M has ended.
fn run<H: ModelHost>(sched: &This<H>, worker: Worker, g: G) -> Option<Worker> {
    let world = sched.observer();
    let n = g.id();
    let task = world.task(n);
    task.status.execute();
    world.runs(n, worker.p());
    let (mut worker, mut g) = (worker, g);
    loop {
        let at = task.next_step.get();
        let Some(&step) = world.plan.gs[n as usize - 1].get(at) else { break };
        task.next_step.set(at + 1);
        match take_step(sched, worker, g, step) {
            Continue(both) => (worker, g) = both,
            Break(m) => return m,
        }
    }
    finish(sched, &worker, g);
    Some(worker)
}

fn take_step<H: ModelHost>(sched: &This<H>, mut worker: Worker, g: G, step: Step) -> Then {
    let n = g.id();
    match step {
        Step::Spawn { first, last } => {
            for child in first..=last {
                sched.ready(&mut worker, sched.observer().make(child));
            }
        }
        Step::Hog { child, other } => hog(sched, &mut worker, child, other),
        Step::Await { child } => worker = wait_for(sched, worker, n, child),
        Step::Act(Act::SyscallAnyM) => return syscall_any_m(sched, worker, g),
        Step::Act(Act::Gosched) => return gosched(sched, worker, g),
        Step::Act(Act::EndLocked) => return end_locked(sched, worker, g),
        Step::Act(act) => worker = stay(sched, worker, n, act),
    }
    Continue((worker, g))
}

/// What a G does on one M from beginning to end.
fn stay<H: ModelHost>(sched: &This<H>, worker: Worker, n: u64, act: Act) -> Worker {
    let world = sched.observer();
    match act {
        Act::Syscall => call(sched, worker, n, |worker| sched.entersyscall(worker), || dwell::<H>(3)),
        Act::SlowCall => call(sched, worker, n, |worker| sched.entersyscall(worker), || dwell::<H>(40)),
        Act::Interrupted => {
            let interrupt = |worker: Worker| {
                without_event(world, &worker);
                sched.interrupt(worker)
            };
            call(sched, worker, n, interrupt, || dwell::<H>(40))
        }
        Act::Block => call(sched, worker, n, |worker| sched.entersyscallblock(worker), || dwell::<H>(3)),
        Act::Panic => call(
            sched,
            worker,
            n,
            |worker| sched.entersyscall(worker),
            || {
                // As an embedder does that catches it; no panic hook runs.
                let caught = catch_unwind(AssertUnwindSafe(|| resume_unwind(Box::new(n))));
                assert!(caught.is_err_and(|payload| payload.downcast_ref() == Some(&n)), "another G's panic");
            },
        ),
        Act::MakeWay => yield_p(sched, worker, n),
        Act::Checkpoint if sched.should_yield(&worker) => yield_p(sched, worker, n),
        Act::Stop => {
            let others = world.stoppers.fetch_add(1, Relaxed);
            world.reached_if(others > 0, "two stood in line to stop");
            let stop = |worker: Worker| {
                without_event(world, &worker);
                let stopped = sched.stop_the_world(Some(worker));
                let seen = sched.snapshot();
                world.tell(Fact::Stopped { held: seen.held, procs: seen.procs });
                world.stoppers.fetch_sub(1, Relaxed);
                sched.start_the_world(stopped).expect("a G stopped it")
            };
            call(sched, worker, n, stop, || ())
        }
        Act::EachP => {
            let pass = |worker: Worker| {
                without_event(world, &worker);
                let away = safepoint(sched, |f| sched.for_each_p(Some(worker), f));
                away.expect("a G asked for it")
            };
            call(sched, worker, n, pass, || ())
        }
        _ => {
            dwell::<H>(2);
            worker
        }
    }
}

/// Takes so many steps, in which something can happen.
fn dwell<H: ModelHost>(steps: usize) {
    let nothing = H::Word::new(0);
    for _ in 0..steps {
        nothing.load(Relaxed);
    }
}

fn leave<H: ModelHost>(world: &Embedder<H>, worker: &Worker, n: u64) {
    world.tell(Fact::Leaves { g: n, p: worker.p().0 });
    // Its P may go to another M, and a P has to come back.
    world.tell(Fact::Causes(2));
}

/// What `worker` is about to do with its P is no event.
fn without_event<H: ModelHost>(world: &Embedder<H>, worker: &Worker) {
    world.tell(Fact::WithoutEvent { m: worker.m().0 });
}

/// Leaves by `enter`, does `what`, and comes back to the same M.
fn call<H: ModelHost>(
    sched: &This<H>,
    worker: Worker,
    n: u64,
    enter: impl FnOnce(Worker) -> Away,
    what: impl FnOnce(),
) -> Worker {
    let world = sched.observer();
    let bound = worker.m().0;
    leave(world, &worker, n);
    world.in_calls.fetch_add(1, Relaxed);
    let away = enter(worker);
    what();
    world.in_calls.fetch_sub(1, Relaxed);
    let (worker, _) = sched.exitsyscall_bound(away);
    back(world, worker, n, bound)
}

fn back<H: ModelHost>(world: &Embedder<H>, worker: Worker, n: u64, bound: u32) -> Worker {
    world.tell(Fact::Bound { g: n, bound, now: worker.m().0 });
    world.runs(n, worker.p());
    worker
}

fn yield_p<H: ModelHost>(sched: &This<H>, worker: Worker, n: u64) -> Worker {
    let world = sched.observer();
    let bound = worker.m().0;
    leave(world, &worker, n);
    let worker = sched.yield_bound(worker);
    back(world, worker, n, bound)
}

/// Spawns G `child` and waits until it is over, or thread creation failed to run it.
fn wait_for<H: ModelHost>(sched: &This<H>, mut worker: Worker, n: u64, child: u64) -> Worker {
    let world = sched.observer();
    let bound = worker.m().0;
    sched.ready(&mut worker, world.make(child));
    let task = world.task(child);
    task.waiter.swap(u64::from(bound) + 1, AcqRel);
    while !task.is_done.load(Acquire) {
        world.reached("a G waited for its child");
        leave(world, &worker, n);
        let (next, why) = sched.park_bound(worker, Wake::Inside);
        worker = back(world, next, n, bound);
        // Each G that waits has an M, and each P may have one that looks.
        let most = world.plan.gs.len() + world.setup.config().capacity();
        let may_lack_threads = world.plan.refusals > 0 || world.setup.max_ms <= most;
        world.tell(Fact::WaitEnded { why, may_lack_threads });
        if why == Woken::NoThread {
            world.reached("no thread for a waiting G");
            break;
        }
    }
    worker
}

/// Spawns both and waits until `child` is over, with its P in hand: another P has to run it.
fn hog<H: ModelHost>(sched: &This<H>, worker: &mut Worker, child: u64, other: u64) {
    let world = sched.observer();
    sched.ready(worker, world.make(child));
    sched.ready(worker, world.make(other));
    let task = world.task(child);
    while !task.is_done.load(Acquire) {
        world.reached("a G kept its P until its child had run");
        task.over.park();
    }
}

fn syscall_any_m<H: ModelHost>(sched: &This<H>, worker: Worker, g: G) -> Then {
    let world = sched.observer();
    let n = g.id();
    let task = world.task(n);
    leave(world, &worker, n);
    task.status.preempt();
    world.in_calls.fetch_add(1, Relaxed);
    let away = sched.entersyscall(worker);
    dwell::<H>(3);
    world.in_calls.fetch_sub(1, Relaxed);
    world.tell(Fact::Returns(n));
    match sched.exitsyscall(away, g) {
        Ok((worker, g, _)) => {
            task.status.execute();
            world.runs(n, worker.p());
            Continue((worker, g))
        }
        Err(m) => {
            world.reached("was queued at the way out");
            Break(sched.rest(m))
        }
    }
}

fn gosched<H: ModelHost>(sched: &This<H>, mut worker: Worker, g: G) -> Then {
    let world = sched.observer();
    leave(world, &worker, g.id());
    world.task(g.id()).status.preempt();
    sched.yield_now(&mut worker, g);
    Break(Some(worker))
}

fn end_locked<H: ModelHost>(sched: &This<H>, worker: Worker, g: G) -> Then {
    finish(sched, &worker, g);
    sched.observer().reached("an M ended with its G");
    sched.observer().tell(Fact::Causes(2));
    without_event(sched.observer(), &worker);
    sched.end(worker);
    Break(None)
}

fn finish<H: ModelHost>(sched: &This<H>, worker: &Worker, g: G) {
    let world = sched.observer();
    let n = g.into_raw().get();
    let task = world.task(n);
    task.status.exit();
    world.tell(Fact::Leaves { g: n, p: worker.p().0 });
    world.tell(Fact::Ends(n));
    task.is_done.swap(true, AcqRel);
    task.over.unpark();
    let waiter = task.waiter.swap(0, AcqRel);
    if waiter > 0 {
        world.tell(Fact::Causes(1));
        sched.ready_bound(MId(waiter as u32 - 1));
    }
}
