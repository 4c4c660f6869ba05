//! Like `std::sync`.

mod arc;
pub mod atomic;
mod barrier;
mod condvar;
mod lazy_lock;
mod lock;
pub mod mpsc;
mod mutex;
mod notify;
mod once;
mod poison;
mod rwlock;

pub(crate) use self::arc::DROPS_OUR_ARC;
pub use self::arc::{Arc, Weak};
pub use self::barrier::{Barrier, BarrierWaitResult};
pub use self::condvar::{Condvar, WaitTimeoutResult};
pub use self::lazy_lock::LazyLock;
pub use self::mutex::{Mutex, MutexGuard};
pub use self::notify::Notify;
pub(crate) use self::once::drop_statics;
pub use self::once::{Once, OnceLock, OnceState};
pub use self::rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
#[doc(no_inline)]
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
