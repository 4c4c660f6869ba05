//! # spinpark
//!
//! A formally checked concurrency kernel: the G-M-P design of Go's scheduler, with its hardest parts isolated behind
//! traits, so that model checkers explore the very source that runs on real cores.
//!
//! (The full text is written with the README.)

#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code)]

extern crate alloc;

pub mod atomic;
pub mod host;
#[forbid(unsafe_code)]
pub mod kernel;
#[cfg(feature = "std")]
pub mod runtime;

#[cfg(feature = "std")]
pub use runtime::{
    BuildError, Builder, Handle, JoinError, JoinHandle, NotInRuntime, Panic, Runtime, ShutdownError, Unstarted, go,
    try_go,
};
