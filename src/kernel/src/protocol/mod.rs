//! The protocols, one a room: each has its invariant, its race as two columns, and its orderings.
//!
//! ```text
//!   spinning ── find, sources, work_source, random_order          which Ms look for work, and where
//!   threads ── handoff                                            an M for a P, another M for a P
//!   syscall ── role ── locked                                     an M without its P, a G that keeps its M
//!   netpoll ── sysmon ── deadlock                                 the last M that waits; time; the end
//!   stw: stw, wanted, safepoint, resize                           every P at once
//! ```
//!
//! A room imports [`types`](super::types) and no other room: what it needs of others is a trait `Neighbours` of at most
//! four methods. The file of its name in [`sched`](super::sched) implements it with the real structures, the models with the
//! smallest ones.

pub mod deadlock;
pub mod find;
pub mod handoff;
pub mod locked;
pub mod netpoll;
pub mod random_order;
pub mod role;
pub mod sources;
pub mod spinning;
pub mod stw;
pub mod syscall;
pub mod sysmon;
pub mod threads;
pub mod work_source;
