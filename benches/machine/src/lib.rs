//! The kernel on a simulated machine: many cores, whose words cost time.
//!
//! ```text
//!    workloads: what the Gs do                    storm, fork_join, sparse, ping_pong, producer
//!        │ ready(g)            ▲ run(g)
//!    designs: what runs them   │                  ours and Go's rules: `Sched<Sim>`, the real source; tokio's: a sketch
//!        │ words, locks, parkers
//!    host: `Sim`, a host as any other             each access is charged before it is made
//!        │ line, core, moment
//!    lines: the owner of each     engine: each thread has a clock; the one whose clock is least goes on
//! ```
//!
//! **Accesses are made in the order of their moments.** A thread that is ahead of another's clock stops before its next access,
//! and the other goes first. So what is simulated is one order of accesses, sequentially consistent, and each takes the time
//! that the model of costs says. The same seed plays the same order.
//!
//! | file        | what it is                                                          |
//! |-------------|---------------------------------------------------------------------|
//! | `costs`     | the numbers                                                         |
//! | `lines`     | which core has which line, and until when it is on its way          |
//! | `engine`    | threads, their clocks, sleep and locks                              |
//! | `host`      | the seam of the kernel, on the engine                               |
//! | `allocator` | every block begins with a line, so that the same words share one in each run |
//! | `counts`    | what is counted                                                     |
//! | `designs/`  | ours, Go's rules, tokio's                                           |
//! | `workloads/`| what the Gs do                                                      |
//! | `play`      | one workload on one design: a round to warm up, a round that counts |
//! | `report`    | tables, curves                                                      |

#![deny(unsafe_code)]

mod allocator;
pub mod costs;
pub mod counts;
pub mod designs;
pub mod engine;
pub mod host;
mod lines;
pub mod play;
pub mod report;
pub mod workloads;
