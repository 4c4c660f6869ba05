//! The wrong protocols, each beside the right one: ten lines, to see which step matters, and a schedule that kills it.

pub mod handoff;
pub mod netpoll;
pub mod spinning;
pub mod syscall;
