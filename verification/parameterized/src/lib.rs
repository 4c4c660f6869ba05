//! Spinpark's protocols for every size: transition systems over any number of Ms, Ps and Gs, their inductive invariants, and two
//! solvers that check them.

pub mod custody;
pub mod finite;
pub mod logic;
pub mod obligations;
pub mod runq;
pub mod search;
pub mod smt;
pub mod solver;
pub mod spinning;
pub mod system;
