//! Tasks that belong together: begun, awaited and ended as one.
//!
//! ```text
//!   JoinSet ─────────── tasks of one type, joined in the order of ending; dropped, it aborts them
//!   JoinMap ─────────── the same, each with a key
//!   ErrGroup ────────── tasks of one piece of work: the first error cancels the others
//!   TaskTracker ─────── waits until all have ended; keeps none
//!   scope ───────────── tasks that borrow: it returns when none is left
//!   CancellationToken ─ says that they are no longer wanted, down a tree
//!   Context ─────────── the same, with a deadline, a reason and values
//!   join!, try_join! ── futures of one task, side by side
//!   task_local! ─────── a value for all that a task calls
//! ```
//!
//! The protocols are [`waits::join_set`](crate::waits::join_set), [`waits::scope`](crate::waits::scope) and
//! [`waits::cancellation`](crate::waits::cancellation). Stands above `exec` and `handle`, and is imported only by
//! `sync`, which shows the token.

pub(super) mod abort_on_drop;
pub(super) mod cancellation;
pub mod context;
mod erased;
pub(super) mod err_group;
mod join_blocking;
pub(super) mod join_map;
pub(super) mod join_set;
pub(super) mod scope;
pub(super) mod scoped;
pub(super) mod task_builder;
pub(super) mod task_local;
#[doc(hidden)]
pub mod together;
pub(super) mod tracker;
