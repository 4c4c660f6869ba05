//! The host: what the kernel asks of the world, answered by real cores, or by a machine that is simulated.
//!
//! ```text
//!   kernel ── Host ──► Cores: atomics, futex, template, threads, cheaprand      signal: preemption, and used-up stacks
//!                  └─► Sim: one thread plays all, by a seed; time is a number
//!   time, trace ─────► clock: the one that this thread is on
//! ```
//!
//! They are two types, and `Cores` knows nothing of `Sim`: no test for it is on the way of a real thread (tests/seam.rs,
//! tests/codegen.rs). What else of a runtime has to differ is in [`Platform`](crate::runtime::exec::platform::Platform).
//!
//! **Imports** nothing of the runtime but `id`, and, for parkers, `observe::spans`: one call, empty without the feature
//! `tracing`. Imported by everything.

pub(super) mod cheaprand;
pub(super) mod clock;
pub(super) mod cores;
pub(super) mod cpus;
pub(super) mod duration;
pub(super) mod foreign_threads;
pub(super) mod futex;
pub(super) mod signal;
#[cfg(all(unix, feature = "signal"))]
pub(super) mod signal_handler;
#[cfg(all(unix, feature = "signal"))]
mod signal_stack;
#[cfg(target_os = "linux")]
mod signal_text;
pub(super) mod sim;
pub(super) mod template;
pub(super) mod thread_config;
pub(super) mod thread_state;
pub(super) mod threads;
