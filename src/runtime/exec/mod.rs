//! Running tasks: an M's life, and all that a task can ask of the thread it runs on.
//!
//! ```text
//!   spawn ─► task ─► the kernel's queues ─► worker: next ─ run ─ next ─ …
//!             ▲ waker, join, block_on           ├ waits: suspended (a future, goroutine), or with its thread
//!             └──────────────────────────────── ├ blocking, syscall: the P is another's meanwhile
//!                                               └ preempt: a task that ignores preemption goes on without a P
//! ```

pub(super) mod block_on;
pub(super) mod blocking;
pub(super) mod context;
pub(super) mod entered;
pub(super) mod goroutine;
pub(super) mod idle;
pub(super) mod join;
pub(super) mod local_set;
pub(super) mod owned;
pub(super) mod preempt;
pub(super) mod registry;
pub(super) mod task;
pub(super) mod thread_lock;
pub(super) mod wait_graph;
pub(super) mod waker;
pub(super) mod worker;
pub(super) mod yielding;
