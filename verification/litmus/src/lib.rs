//! Litmus tests: small concurrent programs with a known answer, in herd7's C format.
//!
//! [`parse`] reads them, [`enumerate`] answers them from the axioms of RC11 in the plainest way, [`speculate`] from those
//! of models with load buffering, [`play`] plays them on any [`ModelHost`](spinpark_verification::hosts::model_host::ModelHost), [`run`] does that on an
//! engine, and [`report`] says what came of it. [`random`] makes up more of them, and [`membarrier`] says what asymmetric
//! fences are once more.

mod ask;
mod calls;
mod check;
mod code;
mod depend;
pub mod enumerate;
mod graph;
mod lex;
pub mod membarrier;
pub mod model;
pub mod orbits;
pub mod parse;
mod perform;
pub mod play;
pub mod program;
pub mod question;
pub mod random;
mod relation;
pub mod report;
pub mod run;
pub mod speculate;
mod uses;

#[cfg(test)]
mod tests;
