//! Gs that are bound to their Ms wait for each other, and share one P. Each goes on once for each wait, and is told if
//! no thread can ready it any more; only then.

mod run;

use crate::room::{Program, Room};
use proptest::prelude::*;
use run::LockedRun;
use serde::{Deserialize, Serialize};
use spinpark_verification::engines::Engine;
use spinpark_verification::hosts::model_host::ModelHost;

/// The parties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// Is there an M for Gs that are not bound? If not, there can be none.
    pub worker: bool,
}

/// What is done. An M whose G is in a system call comes back before it does anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// A bound G does something under the P.
    Run,
    /// It waits until it is readied, by one of the others.
    Wait,
    /// Another G readies the G that is bound to this M.
    Ready(u32),
    /// A bound G spawns one that will ready the G that is bound to this M: into the P's ring.
    Go(u32),
    /// A thread outside submits one: into the global queue.
    Submit(u32),
    /// A bound G enters a system call; the P is handed on.
    Entersyscallblock,
    /// Its system call is over.
    Exitsyscall,
    /// A thread outside stops the world; if the P was idle, it is stopped at once.
    StopTheWorld,
    /// It starts the world again.
    StartTheWorld,
}

/// Threads 0 to 2 are Ms with a bound G each; the fourth is outside.
const MS: usize = 3;

/// What is readied, and when.
#[derive(Debug, Clone, PartialEq)]
pub struct Locked;

impl Room for Locked {
    const NAME: &'static str = "locked";
    const CLAIM: &'static str = "a bound G goes on once for each wait, whenever it is readied; a wake is kept, once";
    const THREADS: usize = MS + 1;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] =
        &["locked-forgets-an-early-wake", "locked-queues-a-second-ticket", "locked-rests-though-readied"];
    const PATHS: &'static [&'static str] = &[
        "a wake came before its wait",
        "a wake came while its M gave up the P",
        "a wake came to one that rested",
        "a ticket was queued",
        "a G readied itself",
    ];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        any::<bool>().prop_map(|worker| Setup { worker }).boxed()
    }
    fn op(thread: usize) -> BoxedStrategy<Op> {
        let m = 0..MS as u32;
        if thread == MS {
            return prop_oneof![6 => m.clone().prop_map(Op::Ready), 1 => m.prop_map(Op::Submit)].boxed();
        }
        prop_oneof![
            1 => Just(Op::Run),
            4 => Just(Op::Wait),
            4 => m.clone().prop_map(Op::Ready),
            1 => m.prop_map(Op::Go),
            1 => Just(Op::Entersyscallblock),
        ]
        .boxed()
    }
    fn simpler(setup: &Setup) -> Vec<Setup> {
        without_worker(setup)
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        LockedRun::<H>::play(program, true)
    }
}

/// The Gs that wait for ever.
#[derive(Debug, Clone, PartialEq)]
pub struct Deadlock;

impl Room for Deadlock {
    const NAME: &'static str = "deadlock";
    const CLAIM: &'static str =
        "a deadlock of Gs that no thread can ready any more is reported at once; as long as one can, none is";
    const THREADS: usize = MS + 1;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] = &[
        "deadlock-nobody-asks",
        "deadlock-ignores-the-queue",
        "deadlock-ignores-system-calls",
        "deadlock-ignores-ps-in-use",
    ];
    const PATHS: &'static [&'static str] = &[
        "a deadlock was told",
        "one was told that there is no thread",
        "one that was told readied another",
        "one waited while another was in a system call",
        "one waited while a G was queued",
        "one waited while the world was stopped",
    ];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        prop_oneof![3 => Just(true), 1 => Just(false)].prop_map(|worker| Setup { worker }).boxed()
    }
    fn op(thread: usize) -> BoxedStrategy<Op> {
        let m = 0..MS as u32;
        if thread == MS {
            return prop_oneof![
                3 => m.prop_map(Op::Submit),
                2 => Just(Op::StopTheWorld),
                1 => Just(Op::StartTheWorld),
            ]
            .boxed();
        }
        prop_oneof![
            6 => Just(Op::Wait),
            2 => m.clone().prop_map(Op::Ready),
            2 => m.prop_map(Op::Go),
            2 => Just(Op::Entersyscallblock),
            1 => Just(Op::Exitsyscall),
        ]
        .boxed()
    }
    fn simpler(setup: &Setup) -> Vec<Setup> {
        without_worker(setup)
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        LockedRun::<H>::play(program, false)
    }
}

fn without_worker(setup: &Setup) -> Vec<Setup> {
    if setup.worker { vec![Setup { worker: false }] } else { Vec::new() }
}
