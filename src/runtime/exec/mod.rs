//! Running tasks: an M's life, and all that a task can ask of the thread it runs on.
//!
//! ```text
//!   spawn ─► task ─► the kernel's queues ─► mloop: schedule ─ execute ─ execute ─ …
//!             ▲ waker, join, block_on           ├ waits: suspended (a future, goroutine), or with its thread
//!             └──────────────────────────────── ├ blocking: the P is another's meanwhile (leaving)
//!                                               └ preempt: a task that ignores preemption goes on without a P
//! ```
//!
//! | layer | files, each may import those above it |
//! |-------|---------------------------------------|
//! | state, kept in `Shared` | `owned` (above `task`), `wait_graph`, `block_on_waiters`, `idle`, `preempt`, `task_locals`, `goroutine/stack` |
//! | a scheduler of tasks | `needs_tokio`, `outcome`, `polling`, `waker_words`, `why`, `task`, `blocked`, `awaited`, `on_thread`; `scheduler`: tasks as Gs; `current_worker`: an M with its P; `tasks`: one on either host; `registry`: by number |
//! | a thread | `entered`, `context`: what it is to a runtime; `inside`, `leaving`, `checkpoint`, `unwind` |
//! | waiting with it | `waits`, `platform` (what differs between hosts), `pollers`, `theirs` (in tokio's poller), `sources`, `checkdead`, `looks`, `dump`, `block_on`, `blocking` |
//! | tasks | `report`, `names`, `life`, `waker`, `goroutine`, `abort`, `join`, `spawn`, `local_set`, `thread_lock`, `yielding` |
//! | an M | `thread_hooks`, `mloop`; `saved`: one that is simulated; `shutdown` |
//!
//! **Imports** `host`, `id`, `guarded`, the state of `observe`, `io` and `time`, and `shared` and `events`. Imported by the
//! public parts of `io`, `time`, `sync`, by `world`, `build`, `handle`, `runtime`, and by `compat`.

pub(super) mod abort;
pub(super) mod awaited;
pub(super) mod block_on;
pub(super) mod block_on_waiters;
pub(super) mod blocked;
pub(super) mod blocking;
pub(super) mod call_site;
pub(super) mod checkdead;
pub(super) mod checkpoint;
pub(super) mod context;
pub(super) mod current_worker;
pub(super) mod dump;
pub(super) mod entered;
pub(super) mod goroutine;
pub(super) mod idle;
pub(super) mod inside;
pub(super) mod join;
pub(super) mod leaving;
pub(super) mod life;
pub(super) mod local_set;
mod looks;
pub(super) mod mloop;
pub(super) mod names;
mod needs_tokio;
pub(super) mod not_in_runtime;
pub(super) mod on_thread;
pub(super) mod outcome;
pub(super) mod owned;
pub(super) mod platform;
pub(super) mod pollers;
pub(super) mod polling;
pub(super) mod preempt;
pub(super) mod registry;
pub(super) mod report;
pub(super) mod scheduler;
pub(super) mod shutdown;
pub(super) mod sources;
pub(super) mod spawn;
pub(super) mod task;
pub(super) mod task_locals;
pub(super) mod tasks;
#[cfg(feature = "tokio-context")]
pub(super) mod theirs;
pub(super) mod thread_hooks;
pub(super) mod thread_lock;
pub(super) mod time_here;
pub(super) mod turn_pace;
pub(super) mod unwind;
pub(super) mod wait_graph;
pub(super) mod waits;
pub(super) mod waker;
pub(super) mod waker_words;
pub(super) mod why;
pub(super) mod yielding;
