//! Seeing what happens: numbers, traces, spans, one line. Nothing here decides anything.
//!
//! ```text
//!   events ──┬─► meter ◄── sampling ─────► metrics, histogram: for the user
//!            ├─► watch ──► observers ────► trace: in memory, in a file
//!            └─► spans                     schedtrace: a line now and then; sigquit: a dump on demand
//! ```
//!
//! **Imports** `host`, `id`, `guarded`; `watchers` and `attached` the error of the builder, whose they are; `metrics` and `prometheus` alone are above `exec`;
//! `metrics` asks a scheduler. Imported by everything but `host` (which has `spans`).

pub(super) mod attached;
pub(super) mod count;
pub(super) mod event;
pub(super) mod histogram;
pub(super) mod json;
pub(super) mod meter;
pub(super) mod metrics;
pub(super) mod prometheus;
pub(super) mod sampling;
pub(super) mod schedtrace;
#[cfg(all(unix, feature = "signal"))]
pub(super) mod sigquit;
pub(super) mod spans;
pub mod trace;
pub(super) mod watch;
pub(super) mod watchers;
