//! Two Ms that fill the rings of their Ps, while others stop the world and change how many Ps there are. No G is lost,
//! and those of one P keep their order.

mod run;

use crate::room::{Program, Room};
use proptest::prelude::*;
use run::ResizeRun;
use serde::{Deserialize, Serialize};
use spinpark_verification::engines::Engine;
use spinpark_verification::hosts::model_host::ModelHost;

/// Sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// How many Ps there are at first.
    pub procs: usize,
}

/// What is done. An M that is in a system call comes back before it does anything else; one that has no P takes one
/// that no thread has, or does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// An M appends a G to the ring of its P.
    Put,
    /// An M makes a G the next; the one before goes to the ring.
    PutNext,
    /// An M takes the next G, after its scheduling point: a stop that is asked for gets its P.
    Get,
    /// An M takes the next G of the global queue, after its scheduling point.
    GetGlobal,
    /// An M enters a system call. Its Gs stay with its P.
    Entersyscall,
    /// Its system call is over.
    Exitsyscall,
    /// A thread outside stops the world, and makes the Ps so many.
    Procresize(usize),
}

/// Threads 0 and 1 are Ms; the others stop the world.
const MS: usize = 2;

/// So many Ps at most.
const CAPACITY: usize = 3;

/// So many Gs a ring.
const RING: usize = 4;

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct Resize;

impl Room for Resize {
    const NAME: &'static str = "resize";
    const CLAIM: &'static str = "a resize loses no G, and what a P that ends still held comes first, in its order";
    const THREADS: usize = 4;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random, Engine::TsoRandom];
    const FALLS: &'static [&'static str] = &[];
    const PATHS: &'static [&'static str] = &[
        "a P that ended held Gs",
        "two Ps that ended held Gs",
        "a P that ended held more than its runnext",
        "a P that ended was in a system call",
        "an M came back when its P had ended",
        "a P began",
        "the world was stopped while another stood in line",
    ];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        (1..=CAPACITY).prop_map(|procs| Setup { procs }).boxed()
    }
    fn op(thread: usize) -> BoxedStrategy<Op> {
        if thread >= MS {
            return (1..=CAPACITY).prop_map(Op::Procresize).boxed();
        }
        prop_oneof![
            5 => Just(Op::Put),
            4 => Just(Op::PutNext),
            2 => Just(Op::Get),
            2 => Just(Op::GetGlobal),
            2 => Just(Op::Entersyscall),
            1 => Just(Op::Exitsyscall),
        ]
        .boxed()
    }
    fn simpler(setup: &Setup) -> Vec<Setup> {
        (1..setup.procs).map(|procs| Setup { procs }).collect()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        ResizeRun::<H>::play(program)
    }
}
