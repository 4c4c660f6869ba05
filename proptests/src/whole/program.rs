//! What is played: the scheduler's numbers, what Gs and outsiders can do, and the rooms in which they do it.

use crate::room::{Program, Room};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_kernel::protocol::sources::SearchOrder;
use spinpark_kernel::sched::config::Config;
use spinpark_verification::engines::Engine;
use spinpark_verification::hosts::model_host::ModelHost;

/// The whole scheduler.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole;

/// The scheduler's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// Ps at first.
    pub procs: usize,
    /// Ps at most.
    pub max_procs: usize,
    /// Ms at most.
    pub max_ms: usize,
    /// A P's ring.
    pub ring: usize,
    /// Is the global queue asked before others are robbed?
    pub global_first: bool,
    /// How often thieves go round.
    pub steal_passes: u32,
    /// One dispatch in so many serves the global queue first.
    pub global_every: u32,
    /// K.
    pub inherit_at_most: u32,
    /// Do Ms end that have slept for long?
    pub ms_end: bool,
    /// Do the counters of each P, of its takings and its dispatches, start near their wrap?
    #[serde(default)]
    pub wraps: bool,
}

impl Setup {
    /// The smallest.
    pub const SMALL: Setup = Setup {
        procs: 1,
        max_procs: 1,
        max_ms: 2,
        ring: 2,
        global_first: false,
        steal_passes: 1,
        global_every: 61,
        inherit_at_most: 2,
        ms_end: false,
        wraps: false,
    };

    /// As the scheduler takes it.
    pub fn config(&self) -> Config {
        Config {
            procs: self.procs,
            max_procs: self.max_procs,
            ring: self.ring,
            order: if self.global_first { SearchOrder::GlobalFirst } else { SearchOrder::StealFirst },
            global_every: self.global_every,
            inherit_at_most: self.inherit_at_most,
            steal_passes: self.steal_passes,
            max_ms: self.max_ms,
            keep_alive: if self.ms_end { 1_000 } else { u64::MAX },
            ..Config::default()
        }
    }
}

/// Something that a G does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Act {
    /// Takes some steps.
    Linger,
    /// Makes a system call, and goes on on the same M.
    Syscall,
    /// The same, but may go on on another M.
    SyscallAnyM,
    /// Makes a system call that takes long.
    SlowCall,
    /// Runs for long, and is interrupted: goes on without its P.
    Interrupted,
    /// Makes a call that is known to block.
    Block,
    /// Panics in a system call, and is caught.
    Panic,
    /// Spawns so many Gs, which do nothing.
    Spawn(usize),
    /// Spawns two, each of which spawns two, so many times.
    Tree(usize),
    /// Spawns a G and waits for it without a P.
    Await,
    /// Goes to the end of the queue.
    Gosched,
    /// Yields, bound to its M.
    MakeWay,
    /// Yields if it is asked to.
    Checkpoint,
    /// Stops the world and starts it.
    Stop,
    /// Has a function run under each P.
    EachP,
    /// Spawns two Gs and keeps its P until the first, which the second has displaced from `runnext`, has run under
    /// another. Only where no thread stops the world.
    Hog,
    /// Ends bound to its M, whose thread ends too. Whatever is to come after is left out.
    EndLocked,
}

/// Something that an outsider does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Submits a G that does this.
    Go(Act),
    /// And then this: the last G that this thread submitted.
    Then(Act),
    /// A source of work gets a G.
    Ring,
    /// A source says that it has work, and has none.
    CryWolf,
    /// The world is stopped and started.
    Stop,
    /// The world is stopped, and there are so many Ps after.
    Resize(usize),
    /// A function runs under each P.
    EachP,
    /// The monitor looks.
    Tick,
    /// The monitor looks three times, half a slice apart.
    Watch,
    /// Half a slice passes.
    Pass,
    /// An hour passes.
    Jump,
    /// So many threads are refused from now on.
    Refuse(usize),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => Just(Act::Linger),
        4 => Just(Act::Syscall),
        4 => Just(Act::SyscallAnyM),
        3 => Just(Act::SlowCall),
        2 => Just(Act::Interrupted),
        2 => Just(Act::Block),
        1 => Just(Act::Panic),
        3 => (1usize..=4).prop_map(Act::Spawn),
        1 => (1usize..=2).prop_map(Act::Tree),
        3 => Just(Act::Await),
        2 => Just(Act::Gosched),
        1 => Just(Act::MakeWay),
        1 => Just(Act::Checkpoint),
        1 => Just(Act::Stop),
        1 => Just(Act::EachP),
        1 => Just(Act::EndLocked),
    ]
}

impl Room for Whole {
    const NAME: &'static str = "sched";
    const CLAIM: &'static str = "every invariant that can be seen from outside holds, and every G runs to its end";
    const THREADS: usize = 3;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random, Engine::TsoPct];
    const FALLS: &'static [&'static str] = &["work_source-does-not-wake", "work_source-wakes-before-it-shows"];
    const PATHS: &'static [&'static str] = &[
        "found: the global queue in its turn",
        "found: local",
        "found: global",
        "found: a source",
        "found: stolen",
        "kept its P",
        "took its P back",
        "took an idle P",
        "was queued at the way out",
        "retaken by the monitor",
        "a P was held for a stop",
        "stopped while a G was in a call",
        "a thread was refused",
        "no thread for a waiting G",
        "a G waited for its child",
        "an M ended after a long sleep",
        "an M ended with its G",
        "fewer Ps, and Gs queued",
        "two stood in line to stop",
        "a source cried wolf",
        "a wake found its sleeper",
    ];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        let procs = prop_oneof![3 => Just(1usize), 4 => Just(2), 2 => Just(3), 1 => 4usize..=8];
        let numbers = (1u32..=3, prop_oneof![Just(0u32), Just(1), Just(3), Just(61)], 0u32..=3);
        (procs, 0usize..=3, 1usize..=16, prop_oneof![Just(2usize), Just(4), Just(8)], any::<[bool; 3]>(), numbers)
            .prop_map(|(procs, more, max_ms, ring, [global_first, ms_end, wraps], (steal_passes, global_every, k))| {
                Setup {
                    procs,
                    max_procs: (procs + more).min(8),
                    max_ms,
                    ring,
                    global_first,
                    steal_passes,
                    global_every,
                    inherit_at_most: k,
                    ms_end,
                    wraps,
                }
            })
            .boxed()
    }

    fn op(thread: usize) -> BoxedStrategy<Op> {
        let go = || act().prop_map(Op::Go);
        let then = || act().prop_map(Op::Then);
        match thread {
            0 => prop_oneof![6 => go(), 3 => then(), 1 => Just(Op::Ring)].boxed(),
            1 => prop_oneof![
                3 => Just(Op::Tick),
                4 => Just(Op::Watch),
                2 => Just(Op::Pass),
                1 => Just(Op::Jump),
                1 => Just(Op::Ring),
                1 => Just(Op::CryWolf),
                1 => (1usize..=3).prop_map(Op::Refuse),
            ]
            .boxed(),
            _ => prop_oneof![
                2 => go(),
                1 => then(),
                1 => Just(Op::Stop),
                2 => (1usize..=8).prop_map(Op::Resize),
                1 => Just(Op::EachP),
            ]
            .boxed(),
        }
    }

    fn simpler(setup: &Setup) -> Vec<Setup> {
        let small = Setup::SMALL;
        let mut simpler = vec![
            Setup { procs: setup.procs - usize::from(setup.procs > 1), ..*setup },
            Setup { max_procs: setup.max_procs.saturating_sub(1).max(setup.procs), ..*setup },
            Setup { ring: small.ring, ..*setup },
            Setup { global_first: small.global_first, ..*setup },
            Setup { steal_passes: small.steal_passes, ..*setup },
            Setup { global_every: small.global_every, ..*setup },
            Setup { inherit_at_most: small.inherit_at_most, ..*setup },
            Setup { ms_end: small.ms_end, ..*setup },
            Setup { wraps: small.wraps, ..*setup },
            Setup { max_ms: setup.max_ms - usize::from(setup.max_ms > 1), ..*setup },
        ];
        simpler.retain(|other| other != setup);
        simpler
    }

    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        super::play::play::<H>(program.setup, &program.ops)
    }
}

/// The whole scheduler, when a G that is not noticed is not found by chance: those that spawn keep their Ps.
#[derive(Debug, Clone, PartialEq)]
pub struct Hogs;

impl Room for Hogs {
    const NAME: &'static str = "hogs";
    const CLAIM: &'static str = "a G that is readied by one that keeps its P is run under another P";
    const THREADS: usize = 2;
    const ENGINES: &'static [Engine] = &[Engine::TsoPct, Engine::Pct];
    // The spinning M's fence comes after an exchange, which TSO does not let a store pass: only weaker memories miss it.
    const FALLS: &'static [&'static str] = &["sched-no-submitter-fence"];
    const PATHS: &'static [&'static str] =
        &["a G kept its P until its child had run", "found: stolen", "a wake found its sleeper"];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        (2usize..=3, any::<bool>())
            .prop_map(|(procs, global_first)| Setup {
                procs,
                global_first,
                max_procs: procs,
                max_ms: 16,
                ..Setup::SMALL
            })
            .boxed()
    }
    fn op(_thread: usize) -> BoxedStrategy<Op> {
        prop_oneof![
            4 => Just(Op::Go(Act::Hog)),
            2 => Just(Op::Then(Act::Hog)),
            3 => Just(Op::Go(Act::Linger)),
            1 => Just(Op::Then(Act::Gosched)),
            1 => (1usize..=3).prop_map(|n| Op::Go(Act::Spawn(n))),
        ]
        .boxed()
    }
    fn simpler(setup: &Setup) -> Vec<Setup> {
        let fewer = Setup { procs: 2, max_procs: 2, ..*setup };
        [fewer, Setup { global_first: false, ..*setup }].into_iter().filter(|other| other != setup).collect()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        super::play::play::<H>(program.setup, &program.ops)
    }
}

/// The whole scheduler on real cores.
#[derive(Debug, Clone, PartialEq)]
pub struct OnCores;

impl Room for OnCores {
    const NAME: &'static str = "cores";
    const CLAIM: &'static str = Whole::CLAIM;
    const THREADS: usize = Whole::THREADS;
    const ENGINES: &'static [Engine] = &[Engine::Random];
    const FALLS: &'static [&'static str] = &[];
    const PATHS: &'static [&'static str] = &["found: stolen", "took an idle P", "was queued at the way out"];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        Whole::setup()
    }
    fn op(thread: usize) -> BoxedStrategy<Op> {
        Whole::op(thread)
    }
    fn simpler(setup: &Setup) -> Vec<Setup> {
        Whole::simpler(setup)
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        super::play::play::<H>(program.setup, &program.ops)
    }
    fn on_cores(program: &Program<Self>) -> Option<Result<(), String>> {
        Some(super::play::on_cores(program.setup, &program.ops))
    }
}
