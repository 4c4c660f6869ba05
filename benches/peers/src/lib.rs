//! spinpark beside its peers: the same work, counted and summed, in each of them.
//!
//! ```text
//!    the bench (drive)                                a contender (child), a process for each row
//!    ┌──────────────────────────────┐   "20000"       ┌────────────────────────────────────────┐
//!    │ a row: A, B, C               ├────────────────►│ one round: 20000 operations, inside of │
//!    │ round 1: B C A               │   count, sum,   │ a task of its own runtime              │
//!    │ round 2: C A B  …            │◄────────────────┤                                        │
//!    └──────────────────────────────┘   nanoseconds   └────────────────────────────────────────┘
//! ```
//!
//! A process for each, because may has one scheduler a process, because what one leaves in the allocator is nothing to
//! the next, and because processor time and memory are counted by process. A contender sleeps between its turns.
//!
//! | file         | what it is                                                     |
//! |--------------|----------------------------------------------------------------|
//! | `row`        | what a row is; count and sum                                   |
//! | `rows/`      | the rows: each workload is written once, for every async runtime |
//! | `tasks`      | what a workload needs of an async runtime                      |
//! | `contenders/`| tokio, smol, spinpark: that, for each. may: the same work, in coroutines |
//! | `parts`      | what the workloads share: a countdown, a gate                  |
//! | `meters`     | processor time, switches, memory                               |
//! | `child`      | a contender's life                                             |
//! | `drive`      | starts contenders, asks them in turn, or under valgrind or strace |
//! | `report`     | medians, tables, JSON                                          |
//! | `cli`        | the command line                                               |

pub mod child;
pub mod cli;
pub mod contenders;
pub mod drive;
pub mod meters;
pub mod parts;
pub mod report;
pub mod row;
pub mod rows;
pub mod tasks;
