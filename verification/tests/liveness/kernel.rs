//! A few Gs under the real kernel, on any host; and what was told of them.

use super::trace::{Log, Trace};
use spinpark::atomic::Atomic;
use spinpark::host::Parker;
use spinpark::kernel::protocol::find::Worker;
use spinpark::kernel::protocol::sources::SearchOrder;
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
    /// Makes way once, for all that wait.
    Yield,
    /// Makes way once, for what waits under the same P.
    YieldHere,
    /// Makes a system call that blocks.
    Call,
}

/// Gs 1 to n come from outside, by turns from two threads. At most `max_ms` Ms.
pub(crate) fn play<H: ModelHost>(acts: &'static [Act], max_ms: usize, order: SearchOrder) -> Trace {
    let config = Config {
        procs: 2,
        ring: 8,
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
        log: Log::new(),
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
    // Who sleeps last may have told so before the main thread joined the other.
    while sched.observer().left.load(Acquire) > 0 || !sched.snapshot().is_quiescent() {
        sched.observer().all_asleep.park();
    }
    let trace = sched.observer().log.end(max_ms);
    assert!(sched.close().is_empty(), "nothing was left");
    trace
}

struct World<H: ModelHost> {
    acts: &'static [Act],
    log: Log,
    all_asleep: H::Parker,
    /// How many Gs are not over.
    left: Atomic<H, u64>,
    /// The number that was given last.
    fresh: Atomic<H, u64>,
    /// A bit for each G that has yielded, or its call.
    paused: Atomic<H, u64>,
}

impl<H: ModelHost> Observer for World<H> {
    fn event(&self, event: Event<'_>) {
        self.log.tell(H::me(), event);
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
        let is_again =
            matches!(act, Act::Yield | Act::YieldHere | Act::Call) && world.paused.fetch_add(0, AcqRel) >> n & 1 == 1;
        if matches!(act, Act::Yield | Act::YieldHere | Act::Call) && !is_again {
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
            Act::Call if !is_again => match sched.exitsyscall(sched.entersyscallblock(mine), g) {
                Ok((back, g, _)) => {
                    over(world, g);
                    worker = back;
                }
                Err(m) => match sched.rest(m) {
                    Some(back) => worker = back,
                    None => return,
                },
            },
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
    let n = g.into_raw().get();
    world.log.over(H::me(), n);
    world.left.fetch_sub(1, AcqRel);
}
