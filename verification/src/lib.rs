#![doc = include_str!("../README.md")]

pub mod engine;
pub mod job;
pub mod loom;
pub mod model;
pub mod models;
pub mod mutant;
pub mod report;
pub mod schedule;
pub mod shuttle;
pub mod stage;
pub mod tiny;
pub mod twins;
pub mod wrap;
