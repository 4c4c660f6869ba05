//! The whole scheduler: random configurations, workloads and faults, watched for every invariant that can be seen.
//!
//! ```text
//!   program ──► plan: each G and what it does ──► Sched<H, Embedder>, its Ms, up to three outsiders ──► all is quiet
//!                                                        │ events and facts                              │
//!                                                        ▼                                               ▼
//!                                                      checker: an invariant for each of them        snapshot
//! ```
//!
//! The same program is played under shuttle's schedulers, over store buffers, and on real cores with
//! [`Jitter`](spinpark_verification::hosts::wrap::jitter::Jitter).

mod act;
mod outside;
mod plan;
mod play;
mod program;

pub use program::{Act, Hogs, OnCores, Op, Setup, Whole};
