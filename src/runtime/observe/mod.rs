//! Seeing what happens: numbers, traces, spans, one line. Nothing here decides anything.

pub(super) mod count;
pub(super) mod histogram;
pub(super) mod meter;
pub(super) mod metrics;
pub(super) mod sampling;
pub(super) mod schedtrace;
pub(super) mod spans;
pub mod trace;
pub(super) mod watch;
pub(super) mod watchers;
