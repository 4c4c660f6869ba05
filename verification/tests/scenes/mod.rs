//! A few Gs under the real kernel, on any host: what each does, and what else is there. For the tests that tie a
//! drawing to the kernel.

use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::Parker;
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::sources::SearchOrder;
use spinpark_kernel::protocol::syscall::Away;
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::sched::observer::{Event, Observer};
use spinpark_kernel::types::g::G;
use spinpark_verification::hosts::model_host::ModelHost;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

/// What a G does.
#[allow(dead_code, reason = "each test plays some of them")]
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
    /// Is interrupted: it runs on without a P, for a while.
    Detach,
    /// Stops the world, and starts it.
    Stop,
}

/// What is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scenario {
    /// What Gs 1 to n do. They come from outside, by turns from two threads.
    pub(crate) acts: &'static [Act],
    pub(crate) procs: usize,
    pub(crate) ring: usize,
    pub(crate) max_ms: usize,
    pub(crate) order: SearchOrder,
    /// So many threads stop the world, each once.
    pub(crate) stoppers: usize,
    /// So often the monitor ticks.
    pub(crate) ticks: u64,
    /// So many threads are refused.
    pub(crate) refusals: usize,
}

impl Scenario {
    /// Two Ps, three Ms, and no other thread.
    pub(crate) const PLAIN: Scenario = Scenario {
        acts: &[],
        procs: 2,
        ring: 2,
        max_ms: 3,
        order: SearchOrder::StealFirst,
        stoppers: 0,
        ticks: 0,
        refusals: 0,
    };

    fn detaches(&self) -> usize {
        usize::from(self.acts.contains(&Act::Detach))
    }

    /// So many Ms there may be: one more, if one is detached.
    #[allow(dead_code, reason = "one of two tests asks")]
    pub(crate) fn ms(&self) -> usize {
        self.max_ms + self.detaches()
    }
}

/// What is kept of an execution.
pub(crate) trait Watch<H>: Send + Sync + 'static {
    /// The kernel tells this.
    fn event(&self, event: Event<'_>);
    /// This G is over.
    fn over(&self, _g: u64) {}
}

/// Plays it; when all is over, and before the scheduler is closed, `end` is called.
pub(crate) fn play<H: ModelHost, W: Watch<H>, T>(scenario: Scenario, watch: W, end: impl FnOnce(&W) -> T) -> T {
    let Scenario { acts, procs, ring, max_ms, order, .. } = scenario;
    let config = Config {
        procs,
        ring,
        order,
        max_ms,
        max_detached: scenario.detaches(),
        steal_passes: 2,
        global_every: 3,
        keep_alive: u64::MAX,
        ..Config::default()
    };
    let spawned = acts.iter().map(|act| if let Act::Spawn(n) = act { *n } else { 0 }).sum::<u64>();
    let world = World {
        acts,
        watch,
        all_asleep: H::Parker::new(),
        left: Atomic::new(acts.len() as u64 + spawned),
        fresh: Atomic::new(acts.len() as u64),
        paused: Atomic::new(0),
    };
    let sched = Sched::<H, World<H, W>>::new(config, world, life::<H, W>).expect("the numbers are allowed");
    H::refuse_spawns(scenario.refusals);
    let fork = |name: &str, f: fn(&Played<H, W>, Scenario)| {
        let sched = Arc::clone(&sched);
        H::fork(name, move || f(&sched, scenario))
    };
    let mut others = vec![fork("submitter", |sched, _| submit(sched, 2))];
    if scenario.ticks > 0 {
        others.push(fork("monitor", monitor));
    }
    // The main thread is one of them.
    others.extend((1..scenario.stoppers).map(|_| fork("stopper", |sched, _| stop(sched))));
    submit(&sched, 1);
    if scenario.stoppers > 0 {
        stop(&sched);
    }
    others.into_iter().for_each(H::join);
    if scenario.refusals > 0 {
        // Without an M only the monitor tries again.
        monitor(&sched, Scenario { ticks: 1, ..scenario });
    }
    while sched.observer().left.load(Acquire) > 0 || !sched.snapshot().is_quiescent() {
        sched.observer().all_asleep.park();
    }
    let kept = end(&sched.observer().watch);
    assert!(sched.close().is_empty(), "nothing was left");
    kept
}

/// The scheduler that is played.
type Played<H, W> = Arc<Sched<H, World<H, W>>>;

struct World<H: ModelHost, W> {
    acts: &'static [Act],
    watch: W,
    all_asleep: H::Parker,
    /// How many Gs are not over.
    left: Atomic<H, u64>,
    /// The number that was given last.
    fresh: Atomic<H, u64>,
    /// A bit for each G that has yielded, or made its call.
    paused: Atomic<H, u64>,
}

impl<H: ModelHost, W: Watch<H>> Observer for World<H, W> {
    fn event(&self, event: Event<'_>) {
        self.watch.event(event);
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

fn submit<H: ModelHost, W: Watch<H>>(sched: &Played<H, W>, first: u64) {
    for n in (first..=sched.observer().acts.len() as u64).step_by(2) {
        assert!(sched.submit(g(n)).is_ok(), "the scheduler is open");
    }
}

fn stop<H: ModelHost, W: Watch<H>>(sched: &Played<H, W>) {
    let stopped = sched.stop_the_world(None);
    assert!(sched.start_the_world(stopped).is_none(), "no G has stopped it");
}

/// Each tick is a second after the last.
fn monitor<H: ModelHost, W: Watch<H>>(sched: &Played<H, W>, scenario: Scenario) {
    let mut watch = sched.watch();
    for second in 1..=scenario.ticks {
        sched.tick(&mut watch, second * 1_000_000_000);
    }
}

fn life<H: ModelHost, W: Watch<H>>(sched: &Played<H, W>, mut worker: Worker) {
    let world = sched.observer();
    while let Some((mut mine, g)) = sched.next(worker) {
        let n = g.id();
        let act = world.acts.get(n as usize - 1).copied().unwrap_or(Act::Run);
        let pauses = !matches!(act, Act::Run | Act::Spawn(_));
        let is_again = pauses && world.paused.fetch_add(0, AcqRel) >> n & 1 == 1;
        if pauses && !is_again {
            world.paused.fetch_add(1 << n, AcqRel);
        }
        let act = if is_again { Act::Run } else { act };
        let leaves: fn(&Played<H, W>, Worker) -> Option<Away> = match act {
            Act::Yield => {
                sched.yield_now(&mut mine, g);
                worker = mine;
                continue;
            }
            Act::YieldHere => {
                sched.goyield(&mut mine, g);
                worker = mine;
                continue;
            }
            Act::Block => |sched, worker| Some(sched.entersyscallblock(worker)),
            Act::Call => |sched, worker| Some(sched.entersyscall(worker)),
            Act::Detach if sched.can_detach(&mine) => |sched, worker| Some(sched.interrupt(worker)),
            Act::Stop => |sched, worker| {
                let stopped = sched.stop_the_world(Some(worker));
                sched.start_the_world(stopped)
            },
            Act::Spawn(children) => {
                for _ in 0..children {
                    let child = world.fresh.fetch_add(1, AcqRel) + 1;
                    sched.ready(&mut mine, self::g(child));
                }
                over(world, g);
                worker = mine;
                continue;
            }
            Act::Run | Act::Detach => {
                over(world, g);
                worker = mine;
                continue;
            }
        };
        let away = leaves(sched, mine).expect("a G that leaves has to come back");
        match sched.exitsyscall(away, g) {
            Ok((back, g, _)) => {
                over(world, g);
                worker = back;
            }
            Err(m) => match sched.rest(m) {
                Some(back) => worker = back,
                None => return,
            },
        }
    }
}

fn over<H: ModelHost, W: Watch<H>>(world: &World<H, W>, g: G) {
    world.watch.over(g.into_raw().get());
    world.left.fetch_sub(1, AcqRel);
}
