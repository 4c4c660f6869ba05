//! Hosts around hosts. Each is a few lines an access, and they compose: `Trace<Weaken<Tso<Shuttle>>>`.

pub mod apart;
pub mod jitter;
pub mod trace;
pub mod tso;
pub mod weaken;
