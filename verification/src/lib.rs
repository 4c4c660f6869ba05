#![doc = include_str!("../README.md")]

pub mod any;
pub mod command_line;
pub mod engine;
pub mod fnv;
pub mod job;
pub mod lists;
pub mod litmus;
pub mod loom;
pub mod model;
#[cfg(not(test))]
pub mod models;
#[cfg(test)]
#[path = "models/none.rs"]
pub mod models;
pub mod museum;
pub mod mutant;
mod naming;
pub mod output;
pub mod publish;
pub mod puppets;
pub mod rc11;
pub mod report;
pub mod schedule;
pub mod shuttle;
pub mod solo;
pub mod stage;
pub mod staged;
pub mod tally;
#[cfg(feature = "cores")]
pub mod threads;
pub mod tiny;
pub mod trial;
pub mod variants;
pub mod worker;
pub mod wrap;
