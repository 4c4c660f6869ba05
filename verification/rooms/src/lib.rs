#![doc = include_str!("../README.md")]

pub mod cores;
pub mod explore;
pub mod history;
pub mod host;
pub mod oracle;
pub mod play;
pub mod program;
pub mod room;
pub mod rooms;
pub mod values;
pub mod wakers;
