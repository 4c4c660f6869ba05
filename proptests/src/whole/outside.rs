//! The parties that are no Ms: submitters, the monitor, a stopper, and a source of work.

use super::plan::{Does, Plan};
use super::play::This;
use super::program::Op;
use crate::oracle::g;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::Lock;
use spinpark_kernel::protocol::sysmon::SLICE;
use spinpark_kernel::protocol::work_source::{Waker, WorkSource};
use spinpark_kernel::sched::sysmon::SysmonTicks;
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::p::PId;
use spinpark_verification::checker::facts::Fact;
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::mutation::mutant;
use std::collections::VecDeque;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::{Arc, OnceLock};

/// A source of work, as its own threads see it.
pub(super) struct Bell<H: ModelHost> {
    ready: H::Lock<VecDeque<u64>>,
    /// How many are ready. Written under the lock.
    count: Atomic<H, u64>,
    /// How many have yet to become ready.
    coming: Atomic<H, u64>,
    /// Says that it has work, and has none.
    wolf: Atomic<H, bool>,
    waker: OnceLock<Waker>,
}

/// As the scheduler sees it.
pub(super) struct BellSource<H: ModelHost> {
    waker: Waker,
    bell: Arc<Bell<H>>,
}

impl<H: ModelHost> Bell<H> {
    pub(super) fn new(plan: &Plan) -> Self {
        let coming = plan.outsiders.iter().flatten().filter(|does| matches!(does, Does::Ring(_))).count() as u64;
        Bell {
            ready: H::Lock::new(VecDeque::new()),
            count: Atomic::new(0),
            coming: Atomic::new(coming),
            wolf: Atomic::new(false),
            waker: OnceLock::new(),
        }
    }

    pub(super) fn hang(&self, waker: &Waker) {
        let _ = self.waker.set(waker.clone());
    }

    fn wake(&self) {
        self.waker.get().expect("it was made from one").wake();
    }

    fn ring(&self, n: u64) {
        if mutant::is_variant("wakes-before-it-shows") {
            self.wake();
        }
        self.ready.with(|ready| {
            ready.push_back(n);
            // Relaxed: the waker's StoreLoad orders it.
            self.count.store(ready.len() as u64, Relaxed);
        });
        // Release: a thread that sees this sees that it is ready.
        self.coming.fetch_sub(1, Release);
        if mutant::variant().is_none() {
            self.wake();
        }
    }

    fn cry_wolf(&self) {
        // Relaxed: a lie needs no order.
        self.wolf.store(true, Relaxed);
        self.wake();
    }
}

impl<H: ModelHost> BellSource<H> {
    pub(super) fn new(waker: &Waker, bell: &Arc<Bell<H>>) -> Self {
        BellSource { waker: waker.clone(), bell: Arc::clone(bell) }
    }
}

impl<H: ModelHost> WorkSource for BellSource<H> {
    fn waker(&self) -> &Waker {
        &self.waker
    }
    fn has_work(&self) -> bool {
        // Relaxed, both: `work/spinning` came before, or it is a hint.
        self.bell.count.load(Relaxed) > 0 || self.bell.wolf.load(Relaxed)
    }
    fn take(&self, _: Option<PId>, put: &mut dyn FnMut(G)) {
        self.bell.wolf.swap(false, AcqRel);
        let ready = self.bell.ready.with(|ready| {
            // Relaxed: under the lock.
            self.bell.count.store(0, Relaxed);
            std::mem::take(ready)
        });
        ready.into_iter().for_each(|n| put(g(n)));
    }
    fn is_expecting(&self) -> bool {
        self.bell.coming.load(Acquire) > 0
    }
}

/// Outsider `i` does what the plan says.
pub(super) fn acts<H: ModelHost>(sched: &This<H>, i: usize) {
    let mut watch = sched.watch();
    let does = sched.observer().plan.outsiders.get(i).cloned().unwrap_or_default();
    does.into_iter().for_each(|does| act(sched, does, &mut watch));
}

fn act<H: ModelHost>(sched: &This<H>, does: Does, watch: &mut SysmonTicks) {
    let world = sched.observer();
    match does {
        Does::Submit(n) => {
            let g = world.make(n);
            assert!(sched.submit(g).is_ok(), "the scheduler is open");
        }
        Does::Ring(n) => {
            let _ = world.make(n).into_raw();
            world.tell(Fact::Rings(n));
            world.bell.ring(n);
        }
        Does::Op(Op::CryWolf) => {
            world.reached("a source cried wolf");
            world.tell(Fact::Causes(1));
            world.bell.cry_wolf();
        }
        Does::Op(Op::Stop) => stop(sched, None),
        Does::Op(Op::Resize(procs)) => stop(sched, Some(procs)),
        Does::Op(Op::EachP) => each_p(sched),
        Does::Op(Op::Tick) => tick(sched, watch),
        Does::Op(Op::Watch) => {
            for _ in 0..3 {
                tick(sched, watch);
                H::pass(SLICE / 2 + 1);
            }
        }
        Does::Op(Op::Pass) => H::pass(SLICE / 2 + 1),
        Does::Op(Op::Jump) => H::pass(3_600_000_000_000),
        Does::Op(Op::Refuse(n)) => {
            // A thread that is refused was told as a start; what it was to run is run by an M that is woken instead.
            world.tell(Fact::Causes(n as u64));
            H::refuse_spawns(n);
        }
        Does::Op(Op::Go(_) | Op::Then(_) | Op::Ring) => unreachable!("the plan has resolved it"),
    }
}

pub(super) fn tick<H: ModelHost>(sched: &This<H>, watch: &mut SysmonTicks) {
    // What was refused is tried again, and what has slept for long ends.
    sched.observer().tell(Fact::Causes(1));
    let alive = sched.snapshot().alive;
    sched.tick(watch, H::now());
    sched.observer().reached_if(sched.snapshot().alive < alive, "an M ended after a long sleep");
}

fn stop<H: ModelHost>(sched: &This<H>, resize: Option<usize>) {
    let world = sched.observer();
    let others = world.stoppers.fetch_add(1, Relaxed);
    world.reached_if(others > 0, "two stood in line to stop");
    let mut stopped = sched.stop_the_world(None);
    world.reached_if(world.in_calls.load(Relaxed) > 0, "stopped while a G was in a call");
    let before = sched.snapshot();
    world.tell(Fact::Stopped { held: before.held, procs: before.procs });
    if let Some(procs) = resize {
        let most = world.setup.config().capacity();
        let procs = (procs - 1) % most + 1;
        sched.procresize(&mut stopped, procs).expect("there is room");
        let after = sched.snapshot();
        let count = |snapshot: &spinpark_kernel::sched::snapshot::Snapshot| {
            snapshot.global + snapshot.local.iter().sum::<usize>()
        };
        assert!(after.procs == procs, "there should be {procs} Ps: {after:?}");
        // Another thread may submit meanwhile.
        assert!(count(&before) <= count(&after), "a resize loses a queued G: {before:?} {after:?}");
        world.reached_if(procs < before.procs && count(&before) > 0, "fewer Ps, and Gs queued");
    }
    world.stoppers.fetch_sub(1, Relaxed);
    assert!(sched.start_the_world(stopped).is_none(), "it was stopped from outside");
}

fn each_p<H: ModelHost>(sched: &This<H>) {
    let away = safepoint(sched, |f| sched.for_each_p(None, f));
    assert!(away.is_none(), "it was asked for from outside");
}

/// Has a function run under each P, by `ask`.
pub(super) fn safepoint<H: ModelHost, R>(
    sched: &This<H>,
    ask: impl FnOnce(&Arc<spinpark_kernel::protocol::stw::safepoint::SafepointFn>) -> R,
) -> R {
    let world = sched.observer();
    let round = world.round();
    let procs = Arc::new(AtomicUsize::new(0));
    let f: Arc<spinpark_kernel::protocol::stw::safepoint::SafepointFn> = {
        let (sched, procs) = (Arc::downgrade(sched), Arc::clone(&procs));
        Arc::new(move |p: spinpark_kernel::types::p::PId| {
            if let Some(sched) = sched.upgrade() {
                procs.store(sched.procs(), Relaxed);
                sched.observer().tell(Fact::Passed { round, p: p.0 });
            }
        })
    };
    // Each P that it passes may have work of its own afterwards.
    world.tell(Fact::Causes(2 * world.setup.config().capacity() as u64));
    let asked = ask(&f);
    world.tell(Fact::Over { round, procs: procs.load(Relaxed).max(1) });
    asked
}
