//! Sleeping, and not waiting for too long.
//!
//! | you want | take |
//! |----------|------|
//! | to wait | [`sleep`](sleep()), [`sleep_until`]: a [`Sleep`], which can be [reset](Sleep::reset) |
//! | not to wait for too long | [`timeout`], [`timeout_at`]: the value, or [`Elapsed`] |
//! | a function to be called later | [`after_func`]: an [`AfterFunc`], which can be stopped and reset |
//! | values that expire, each at its own moment | [`DelayQueue`] |
//! | time that stands still, and jumps, for tests | [`pause`], [`advance`], [`resume`] |
//! | something now and then | [`interval`](interval()), [`interval_at`]: an [`Interval`], with a [`MissedTickBehavior`] |
//!
//! ```
//! use core::time::Duration;
//! use spinpark::time::{sleep, timeout};
//!
//! # let runtime = spinpark::Runtime::builder().procs(1).build()?;
//! runtime.block_on(async {
//!     sleep(Duration::from_millis(1)).await;
//!     let late = timeout(Duration::from_millis(1), core::future::pending::<()>()).await;
//!     assert!(late.is_err());
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A timer is due at its moment or a little later, never earlier. On an idle runtime up to a millisecond, to which a wait
//! is rounded up (so that a thousand timers are not a thousand wake-ups; Go and tokio do the same). On a busy one: the
//! runtime looks when a thread has nothing else to do; if all are busy, every 61 tasks, and every 10 ms. Go: `time.Sleep`,
//! `time.Timer`, `time.Ticker`.

// `clock` and `timer` are state, below `shared`; the rest is above `exec`, and `after` above `handle`.
mod after;
pub(in crate::runtime) mod clock;
pub mod delay_queue;
mod interval;
mod pause;
mod sleep;
pub(in crate::runtime) mod timer;

pub use after::{AfterFunc, after_func};
pub use delay_queue::DelayQueue;
pub use interval::{Interval, MissedTickBehavior, interval, interval_at};
pub use pause::{advance, pause, resume};
pub use sleep::{Elapsed, Sleep, Timeout, sleep, sleep_until, timeout, timeout_at};
