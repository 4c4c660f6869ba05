//! Spinpark's protocols for every size: transition systems over any number of Ms, Ps and Gs, their inductive invariants, and two
//! solvers that check them.
//!
//! | module | what it is |
//! |--------|------------|
//! | [`logic`], [`system`] | formulas; transitions, invariants, safety, each written once |
//! | [`smt`], [`solver`], [`obligations`] | printed for z3 and cvc5, which know no bound |
//! | [`finite`], [`search`] | evaluated in a small universe: counterexamples, executions of wrong variants |
//! | [`record`] | what the solvers have said, kept in a file |
//! | [`replay`] | is a trace of the kernel an execution of the system? |
//! | [`sched`], [`runq`] | the protocols |
//!
//! See docs/evidence/every-size.md.

pub mod finite;
#[path = "../../src/fnv.rs"]
pub mod fnv;
pub mod logic;
pub mod needed;
pub mod obligations;
pub mod page;
pub mod record;
pub mod replay;
pub mod runq;
pub mod said;
pub mod sched;
pub mod search;
pub mod smt;
pub mod solver;
#[path = "../../src/stamp.rs"]
pub mod stamp;
pub mod system;

use obligations::Obligation;
use system::{Protocol, System};

/// The protocols.
pub static PROTOCOLS: &[Protocol] = &[
    Protocol { name: "sched", system: sched::system, wrong: sched::WRONG, right: sched::RIGHT, needed: needed::SCHED },
    Protocol { name: "runq", system: runq::system, wrong: runq::WRONG, right: runq::RIGHT, needed: needed::RUNQ },
];

/// The obligations of what comes to pass in a system.
pub type Liveness = fn(&System) -> Vec<Obligation>;

/// What comes to pass, by protocol: its obligations. Of the first some fail, which it names.
pub static LIVENESS: &[(&str, Liveness)] = &[
    ("sched", sched::progress::obligations),
    ("runq", runq::leaves::obligations),
    ("sched", sched::retakes::obligations),
    ("sched", sched::ends::obligations),
];
