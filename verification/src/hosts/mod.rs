//! Hosts: what the kernel runs on while it is checked. Each answers [`Host`](spinpark_kernel::host::Host), and
//! [`ModelHost`](model_host::ModelHost), which adds threads that can be joined and cells whose races are seen.
//!
//! ```text
//!   engines that explore:   rc11 (its package's words)   loom   shuttle ────┐
//!   chosen at run time:     any ◄───────────────────────────────────────────┘
//!   played by hand:         stepped, solo               real threads: threads
//!   hosts around hosts:     wrap: Trace, Tso, Apart, Jitter, Signals, Count
//! ```

pub mod any;
pub mod loom;
pub mod model_host;
pub mod rc11;
mod room;
pub mod shuttle;
pub mod solo;
pub mod stepped;
#[cfg(feature = "cores")]
pub mod threads;
pub mod wrap;
