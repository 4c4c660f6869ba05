//! The models, a file a room; and what each room's mutants are killed by.

mod common;
pub mod g;
pub mod globq;
pub mod idle;
pub mod local;
pub mod runq;
pub mod sched;
pub mod spinning;
pub mod threads;

use crate::model::Model;
use crate::mutant::Mutant;

/// Every model, in reading order.
pub const MODELS: &[&[Model]] = &[
    g::MODELS,
    runq::MODELS,
    local::RUNNEXT,
    local::LOCAL,
    globq::MODELS,
    idle::MODELS,
    spinning::MODELS,
    threads::MODELS,
    sched::MODELS,
];

/// Every mutant, in reading order.
pub const MUTANTS: &[&[Mutant]] = &[
    g::MUTANTS,
    runq::MUTANTS,
    local::MUTANTS,
    globq::MUTANTS,
    idle::MUTANTS,
    spinning::MUTANTS,
    threads::MUTANTS,
    sched::MUTANTS,
];
