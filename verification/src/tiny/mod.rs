//! The smallest scheduler around each room: what a model, or a generated program, is played on.

pub mod handoff;
pub mod queues;
pub mod spinning;
pub mod threads;
