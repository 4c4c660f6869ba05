//! Like `std::sync`.

mod arc;
pub mod atomic;
mod barrier;
mod condvar;
mod lock;
pub mod mpsc;
mod mutex;
mod notify;
mod once;
mod rwlock;

pub use self::arc::{Arc, Weak};
pub use self::barrier::{Barrier, BarrierWaitResult};
pub use self::condvar::{Condvar, WaitTimeoutResult};
pub use self::mutex::{Mutex, MutexGuard};
pub use self::notify::Notify;
pub(crate) use self::once::drop_statics;
pub use self::once::{LazyLock, Once, OnceLock, OnceState};
pub use self::rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
#[doc(no_inline)]
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
