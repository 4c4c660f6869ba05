//! The host: what the kernel asks of the world, answered by real cores, or by a machine that is simulated.
//!
//! ```text
//!   kernel ── Host ──► cores: atomics, futex, threads ── signal: preemption
//!                  └─► sim: one thread plays all, by a seed; time is a number
//! ```

pub(super) mod cheaprand;
pub(super) mod clock;
pub(super) mod cores;
pub(super) mod cpus;
pub(super) mod foreign_threads;
pub(super) mod futex;
pub(super) mod signal;
pub(super) mod sim;
pub(super) mod template;
pub(super) mod thread_config;
