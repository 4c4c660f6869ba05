//! The smallest scheduler around each room: what a model, or a generated program, is played on.

pub mod bound;
pub mod locked;
pub mod safepoint;
mod stopper;
pub mod stw;
pub mod syscall;
pub mod unrest;
