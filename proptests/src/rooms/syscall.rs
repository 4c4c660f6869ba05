//! Two Ms that make system calls, a monitor that takes their Ps, and a stopper that takes them all. A P has one owner,
//! each G is run, and no P sits out a stop in a system call.

mod run;

use crate::room::{Program, Room};
use proptest::prelude::*;
use run::SyscallRun;
use serde::{Deserialize, Serialize};
use spinpark_verification::engines::Engine;
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::mutation::variants::syscall::{self as variants, Crossing, Scenario};

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct Syscall;

/// Sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// How many Ps there are: one or two. Each M has one at first, if there are two.
    pub procs: usize,
    /// How many takings before their number wraps around; 0: it begins at 0.
    #[serde(default)]
    pub before_wrap: u32,
}

/// What is done. An M that is in a system call comes back before it does anything else; one that has no P takes an idle
/// one, or does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// An M does something under its P.
    Run,
    /// An M enters a system call that may be short. If it is the last thing it does, it lasts while the monitor watches.
    Entersyscall,
    /// The same, and it lasts until no thread will stop the world any more.
    EntersyscallAndBlock,
    /// An M enters a system call that is known to block.
    Entersyscallblock,
    /// Its system call is over.
    Exitsyscall,
    /// An M runs what is queued, then idles its P.
    Idle,
    /// The monitor looks at the word of a P.
    See(usize),
    /// The monitor takes a P, if it is still in the system call that was seen, and hands it on.
    Retake(usize),
    /// The monitor looks, and takes what it sees.
    Tick(usize),
    /// The world is stopped, and started.
    StopTheWorld,
}

const MONITOR: usize = 2;
const STOPPER: usize = 3;

impl Room for Syscall {
    const NAME: &'static str = "syscall";
    const CLAIM: &'static str = "a P has one owner, none sits out a stop in a system call, each G gets a P";
    const THREADS: usize = 4;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::TsoRandom, Engine::Random, Engine::TsoPct];
    const FALLS: &'static [&'static str] = &[
        "syscall-reads-before-it-writes",
        "syscall-take-without-tick",
        "syscall-take-unless-later",
        "syscall-retake-by-store",
        "syscall-exit-without-its-exchange",
        "syscall-queues-outside-the-lock",
        "syscall-no-entering-fence",
    ];
    const PATHS: &'static [&'static str] = &[
        "a retake lost to an exit",
        "an M took its own P back",
        "an M came back to an idle P",
        "an M came back to no P",
        "the M that entered gave its P up itself",
        "a stopper took a P out of a call",
        "a P that the monitor took was held for a stop",
    ];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        // One P is what two Ms quarrel about.
        let procs = prop_oneof![3 => Just(1usize), 2 => Just(2)];
        (procs, 0..3u32).prop_map(|(procs, before_wrap)| Setup { procs, before_wrap }).boxed()
    }
    fn op(thread: usize) -> BoxedStrategy<Op> {
        let p = 0usize..2;
        match thread {
            MONITOR => prop_oneof![
                2 => p.clone().prop_map(Op::See),
                3 => p.clone().prop_map(Op::Retake),
                4 => p.prop_map(Op::Tick),
            ]
            .boxed(),
            STOPPER => Just(Op::StopTheWorld).boxed(),
            _ => prop_oneof![
                1 => Just(Op::Run),
                8 => Just(Op::Entersyscall),
                2 => Just(Op::EntersyscallAndBlock),
                1 => Just(Op::Entersyscallblock),
                3 => Just(Op::Exitsyscall),
                1 => Just(Op::Idle),
            ]
            .boxed(),
        }
    }
    fn simpler(setup: &Setup) -> Vec<Setup> {
        let fewer = (1..setup.procs).map(|procs| Setup { procs, ..*setup });
        let later = (0..setup.before_wrap).map(|before_wrap| Setup { before_wrap, ..*setup });
        fewer.chain(later).collect()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        variants::play::<H, _>(program)
    }
}

impl<H: ModelHost> Scenario<H> for &Program<Syscall> {
    fn play<C: Crossing>(self) -> String {
        SyscallRun::<H, C>::play(self)
    }
}
