//! The protocols between a task and what it waits for: a channel, a `select!`, a `WaitGroup`, a `Cond`.
//!
//! Generic in the [host](crate::host), like the kernel: the runtime waits by them on real cores, the models on hosts that
//! explore. Nothing here knows of an executor. Who waits is a [`Waker`](waker::Waker), which is copied, woken and dropped
//! where no lock is held.
//!
//! ```text
//!   select ──► chan ──► queue: waiters in the order of coming, the claim of a select among them ──► waker
//!                         ▲
//!   wait_group, cond ─────┘
//! ```

#[cfg(feature = "std")]
pub mod chan;
#[cfg(feature = "std")]
pub mod claim;
#[cfg(feature = "std")]
pub mod cond;
#[cfg(feature = "std")]
pub mod queue;
#[cfg(feature = "std")]
pub mod select;
#[cfg(feature = "std")]
pub mod wait_group;
#[cfg(feature = "std")]
pub mod waker;
