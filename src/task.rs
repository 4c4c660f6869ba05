//! Tasks: spawning, joining, groups of them, and what a task can ask of its thread.
//!
//! | you want | take |
//! |----------|------|
//! | a task of a future, or of a closure | [`spawn`](spawn()), [`go`]; [`try_spawn`], [`try_go`] outside of a runtime |
//! | its value; to abort it | [`JoinHandle`], [`JoinError`]; [`AbortHandle`], [`AbortOnDropHandle`] |
//! | many tasks | [`JoinSet`]; [`JoinMap`] by keys; [`ErrGroup`]: the first error cancels the others; [`TaskTracker`] waits for all |
//! | tasks that borrow | [`scope`](scope()), [`Scope`] |
//! | tasks that are not `Send` | [`LocalSet`] |
//! | a task with a name | [`TaskBuilder`] |
//! | to call what blocks (tokio: `spawn_blocking`) | [`blocking`](blocking()) if it is long, [`syscall`] if it is short; [`try_blocking`] |
//! | to let others run | [`yield_now`], in a closure [`checkpoint`] |
//! | a closure that waits for a future | [`Wait`], with [`Blocking`] for traits that read and write |
//! | a value for all that a task calls | [`task_local!`](crate::task_local), [`LocalKey`] |
//! | one thread for all that a task does | [`lock_thread`] |
//! | several futures in one task | [`join!`](crate::join), [`try_join!`](crate::try_join), [`select!`](crate::select) |
//!
//! ```
//! use spinpark::task::{JoinSet, blocking, spawn};
//!
//! # spinpark::run(async {
//! let task = spawn(async { blocking(|| 1) });
//! assert_eq!(task.await.unwrap(), 1);
//!
//! let mut tasks: JoinSet<u32> = (2..=4).map(|n| async move { n }).collect();
//! let mut sum = 0;
//! while let Some(value) = tasks.join_next().await {
//!     sum += value.unwrap();
//! }
//! assert_eq!(sum, 9);
//! # });
//! ```
//!
//! A [`JoinHandle`] that is dropped leaves its task running. A panic ends its task alone.
//!
//! # Graceful shutdown
//!
//! Three steps: tell the tasks by a [`CancellationToken`](crate::sync::CancellationToken), let each end at a place where nothing
//! is lost, and wait for all of them by a [`TaskTracker`].
//!
//! ```
//! use spinpark::sync::CancellationToken;
//! use spinpark::task::TaskTracker;
//! use spinpark::{chan, select};
//! use std::time::Duration;
//!
//! let runtime = spinpark::Runtime::new()?;
//! let saved = runtime.block_on(async {
//!     let (token, tracker) = (CancellationToken::new(), TaskTracker::new());
//!     let (saves, saved) = chan::unbounded();
//!     for n in 0..3 {
//!         let (token, saves) = (token.clone(), saves.clone());
//!         tracker.spawn(async move {
//!             let mut jobs = 0;
//!             loop {
//!                 select! {
//!                     _ = token.cancelled() => break,
//!                     timeout(Duration::from_millis(1)) => jobs += 1, // the work
//!                 }
//!             }
//!             saves.send((n, jobs)).await.expect("the receiver lives");
//!         });
//!     }
//!     // A server waits here: `spinpark::signal::ctrl_c().await?`.
//!     token.cancel();
//!     tracker.close();
//!     tracker.wait().await;
//!     saved.len()
//! })?;
//! assert_eq!(saved, 3);
//! // A task in a call that blocks cannot be told: no longer than this.
//! runtime.shutdown_timeout(Duration::from_secs(5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The type [`Runtime`](crate::Runtime) says what its drop, `shutdown_timeout` and `shutdown_background` do with tasks that are left.

#[doc(inline)]
pub use crate::runtime::{
    AbortHandle, AbortOnDropHandle, AccessError, Blocking, EnterGuard, ErrGroup, JoinError, JoinHandle, JoinMap,
    JoinSet, LocalKey, LocalSet, NoThread, Panic, Scope, ScopedJoinHandle, TaskBuilder, TaskId, TaskLocalFuture,
    TaskTracker, TaskTrackerToken, TaskTrackerWait, ThreadLock, TrackedFuture, Wait, YieldNow, blocking, checkpoint,
    go, lock_thread, scope, spawn, syscall, try_blocking, try_go, try_spawn, yield_now,
};
