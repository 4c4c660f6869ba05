//! Locks, and waiting for others, without occupying a thread. Go: `sync`.
//!
//! | Go | here |
//! |----|------|
//! | `sync.Mutex` | [`Mutex`]: the value is inside; unlocked when the guard is dropped |
//! | `sync.RWMutex` | [`RwLock`] |
//! | `sync.WaitGroup` | [`WaitGroup`] |
//! | `sync.Cond` | [`Cond`]: `wait` takes the guard and gives it back |
//! | `sync.Once`, `sync.OnceValue` | [`OnceCell`]: `get_or_init`, with `()` if there is no value |
//! | a variable, and a channel that is closed when it is set | [`SetOnce`] |
//! | `x/sync/semaphore` | [`Semaphore`] |
//! | `make(chan struct{}, 1)` as a signal | [`Notify`]: `notify_one` leaves a permit, `notify_waiters` wakes all |
//! | `make(chan T, 1)` for one answer | [`oneshot`] |
//! | a value under a mutex, and a channel that is closed at each change | [`watch`] |
//! | a channel for each of many receivers | [`broadcast`] |
//! | two `WaitGroup`s in turn | [`Barrier`] |
//! | `x/sync/singleflight` | [`singleflight::Group`] |
//! | `context.WithCancel` | [`CancellationToken`]: a token, not an argument of everything; or a [`Context`](crate::context::Context) |
//!
//! ```
//! use spinpark::sync::{Mutex, WaitGroup};
//! use std::sync::Arc;
//!
//! # let runtime = spinpark::Runtime::builder().procs(2).build()?;
//! let sum = runtime.block_on(async {
//!     let shared = Arc::new((Mutex::new(0), WaitGroup::new()));
//!     for n in 1..=4 {
//!         let shared = Arc::clone(&shared);
//!         shared.1.add(1);
//!         spinpark::spawn(async move {
//!             *shared.0.lock().await += n;
//!             shared.1.done();
//!         });
//!     }
//!     shared.1.wait().await;
//!     *shared.0.lock().await
//! })?;
//! assert_eq!(sum, 10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `Mutex` and `OnceCell` are those of the crate
//! [async-lock](https://docs.rs/async-lock), in a thin coat: what blocks a thread is not offered, and a task that locks
//! over and over yields when it is asked to, even if it never has to wait. The others are ours, and have models;
//! the names of `Semaphore`, `RwLock`, `Notify`, `oneshot`, `watch`, `broadcast`, `Barrier` and `CancellationToken` are tokio's.
//!
//! A lock of the standard library is the better one where nothing is awaited under it. These are for guards that are held
//! across an `.await`.
//!
//! ```text
//!   rw_lock ──► semaphore
//!   select ──► chan, cond, wait_group, notify, oneshot, watch, broadcast, barrier: futures
//!                │
//!                ├──► waits: what is done under their locks, and in which order
//!                └──► waking: the wakers of tasks, outside of locks
//! ```
//!
//! All futures may be dropped at any time, and awaited in any executor. A panic under a lock poisons nothing, as in Go.

mod barrier;
pub mod broadcast;
pub mod chan;
mod cond;
mod coop;
mod locks;
mod mapped;
mod notify;
pub mod oneshot;
mod owned;
mod rw_lock;
#[doc(hidden)]
pub mod select;
mod semaphore;
mod set_once;
pub mod singleflight;
mod wait_group;
pub(super) mod waking;
pub mod watch;

pub use crate::runtime::structured::cancellation::{
    CancellationToken, DropGuard, WaitForCancellationFuture, WaitForCancellationFutureOwned,
};
pub use async_lock::{MutexGuard, MutexGuardArc as OwnedMutexGuard};
pub use barrier::{Barrier, BarrierWait, BarrierWaitResult};
pub use cond::{Cond, CondWait};
pub use coop::Turn;
pub use locks::{Lock, Mutex, OnceCell};
pub use mapped::{MapMutexGuard, MappedMutexGuard, RwLockMappedReadGuard, RwLockMappedWriteGuard};
pub use notify::{Notified, Notify, OwnedNotified};
pub use owned::LockOwned;
pub use rw_lock::{
    OwnedRwLockReadGuard, OwnedRwLockWriteGuard, Read, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, Write,
};
pub use semaphore::{Acquire, AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError};
pub use set_once::{SetOnce, SetOnceError};
pub use wait_group::{WaitGroup, Waiting};
