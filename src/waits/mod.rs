//! The protocols between a task, or a thread, and what it waits for.
//!
//! Generic in the [host](crate::host), like the kernel: the runtime uses them on real cores, the models on hosts that explore.
//! What a waker, a socket or a thread is belongs to whoever uses them.

pub mod bell;
pub mod interrupt;
pub mod parker;
pub mod readiness;
pub mod timer_queue;
