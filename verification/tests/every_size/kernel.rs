//! A few Gs under the real kernel, and all that it did.

use super::recorded::{self, Item, Recorded, Told};
use spinpark::atomic::Atomic;
use spinpark::host::Parker;
use spinpark::kernel::protocol::find::Worker;
use spinpark::kernel::protocol::sources::SearchOrder;
use spinpark::kernel::protocol::syscall::Way;
use spinpark::kernel::sched::Sched;
use spinpark::kernel::sched::config::Config;
use spinpark::kernel::sched::observer::{Event, Observer};
use spinpark::kernel::types::g::G;
use spinpark_verification::hosts::model_host::ModelHost;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

/// What a G does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Run,
    /// Readies so many others, which only run.
    Spawn(u64),
    /// Yields once, for all that wait.
    Yield,
    /// Yields once, for what waits under the same P.
    YieldHere,
    /// Makes a system call that blocks.
    Block,
    /// Makes a short system call.
    Call,
}

/// What is played.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scenario {
    pub(crate) acts: &'static [Act],
    pub(crate) procs: usize,
    pub(crate) ring: usize,
    pub(crate) max_ms: usize,
    pub(crate) order: SearchOrder,
}

/// Gs come from outside, by turns from two threads.
pub(crate) fn play<H: ModelHost>(scenario: Scenario) -> Vec<Item> {
    recorded::begin();
    run::<Recorded<H>>(scenario)
}

fn run<H: ModelHost>(scenario: Scenario) -> Vec<Item> {
    let Scenario { acts, procs, ring, max_ms, order } = scenario;
    let config = Config {
        procs,
        ring,
        order,
        max_ms,
        steal_passes: 2,
        global_every: 3,
        keep_alive: u64::MAX,
        ..Config::default()
    };
    let spawned = acts.iter().map(|act| if let Act::Spawn(n) = act { *n } else { 0 }).sum::<u64>();
    let world = World {
        acts,
        all_asleep: H::Parker::new(),
        left: Atomic::new(acts.len() as u64 + spawned),
        fresh: Atomic::new(acts.len() as u64),
        paused: Atomic::new(0),
    };
    let sched = Sched::<H, World<H>>::new(config, world, life::<H>).expect("the numbers are allowed");
    let other = {
        let sched = Arc::clone(&sched);
        H::fork("submitter", move || submit(&sched, 2))
    };
    submit(&sched, 1);
    H::join(other);
    while sched.observer().left.load(Acquire) > 0 || !sched.snapshot().is_quiescent() {
        sched.observer().all_asleep.park();
    }
    let items = recorded::end();
    assert!(sched.close().is_empty(), "nothing was left");
    items
}

struct World<H: ModelHost> {
    acts: &'static [Act],
    all_asleep: H::Parker,
    left: Atomic<H, u64>,
    fresh: Atomic<H, u64>,
    paused: Atomic<H, u64>,
}

fn project(event: Event<'_>) -> Option<Told> {
    let number = |p: spinpark::kernel::types::p::PId| p.0 as u8;
    Some(match event {
        Event::Queued { p, g, next } => Told::Queued { p: p.map(number), g: g.id(), next },
        Event::Found { p, g, .. } => Told::Found { p: number(p), g: g.id() },
        Event::Got { m, p } => Told::Got { m: m.0 as u8, p: number(p) },
        Event::Called { .. } => Told::Called,
        Event::Spinning { .. } => Told::Spinning,
        Event::Sought { .. } => Told::Sought,
        Event::Listed { p } => Told::Listed { p: number(p) },
        Event::Slept { .. } => Told::Slept,
        Event::Woken { m } => Told::Woken { m: m.0 as u8 },
        Event::Starting { m } => Told::Starting { m: m.0 as u8 },
        Event::Refused => Told::Refused,
        Event::Entered { p, blocks, .. } => Told::Entered { p: number(p), blocks },
        Event::Returned { p, way, .. } => Told::Returned { p: number(p), kept: way == Way::Kept },
        _ => return None,
    })
}

impl<H: ModelHost> Observer for World<H> {
    fn event(&self, event: Event<'_>) {
        project(event).into_iter().for_each(recorded::tell::<H>);
        if let Event::Slept { sleeping, alive, .. } = event
            && sleeping == alive
        {
            self.all_asleep.unpark();
        }
    }
}

fn g(n: u64) -> G {
    G::from_raw(NonZeroU64::new(n).expect("numbers begin at 1"))
}

fn submit<H: ModelHost>(sched: &Arc<Sched<H, World<H>>>, first: u64) {
    for n in (first..=sched.observer().acts.len() as u64).step_by(2) {
        assert!(sched.submit(g(n)).is_ok(), "the scheduler is open");
    }
}

fn life<H: ModelHost>(sched: &Arc<Sched<H, World<H>>>, mut worker: Worker) {
    let world = sched.observer();
    while let Some((mut mine, g)) = sched.next(worker) {
        let n = g.id();
        let act = world.acts.get(n as usize - 1).copied().unwrap_or(Act::Run);
        let pauses = matches!(act, Act::Yield | Act::YieldHere);
        let is_again = pauses && world.paused.fetch_add(0, AcqRel) >> n & 1 == 1;
        if pauses && !is_again {
            world.paused.fetch_add(1 << n, AcqRel);
        }
        match act {
            Act::Yield if !is_again => {
                sched.yield_now(&mut mine, g);
                worker = mine;
                continue;
            }
            Act::YieldHere if !is_again => {
                sched.goyield(&mut mine, g);
                worker = mine;
                continue;
            }
            Act::Block | Act::Call => {
                let away = if act == Act::Block { sched.entersyscallblock(mine) } else { sched.entersyscall(mine) };
                match sched.exitsyscall(away, g) {
                    Ok((back, g, _)) => {
                        over(world, g);
                        worker = back;
                    }
                    // Another M runs it, and it makes its call again.
                    Err(m) => match sched.rest(m) {
                        Some(back) => worker = back,
                        None => return,
                    },
                }
            }
            _ => {
                if let Act::Spawn(children) = act {
                    for _ in 0..children {
                        let child = world.fresh.fetch_add(1, AcqRel) + 1;
                        sched.ready(&mut mine, self::g(child));
                    }
                }
                over(world, g);
                worker = mine;
            }
        }
    }
}

fn over<H: ModelHost>(world: &World<H>, g: G) {
    g.into_raw();
    world.left.fetch_sub(1, AcqRel);
}
