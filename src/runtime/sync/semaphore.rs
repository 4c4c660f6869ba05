//! Permits: so many may be in at once.

use crate::runtime::exec::yielding::Leaf;
use crate::runtime::host::cores::{Cores, CoresLock};
use crate::runtime::sync::waking::Lender;
use crate::runtime::task_waker::TaskWaker;
use crate::waits::semaphore::{self, Refused, State};
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

type Inner = semaphore::Semaphore<Cores, TaskWaker>;

/// So many may be in at once. Go: `golang.org/x/sync/semaphore`; the names are tokio's.
///
/// Waiters are served in FIFO order: a waiter that asks for many permits is not overtaken by later waiters that ask for fewer.
///
/// ```
/// use spinpark::sync::Semaphore;
///
/// # let runtime = spinpark::Runtime::builder().procs(2).build()?;
/// runtime.block_on(async {
///     let at_once = Semaphore::new(3);
///     let one = at_once.acquire().await.expect("it is never closed");
///     let two = at_once.acquire_many(2).await.expect("it is never closed");
///     assert!(at_once.try_acquire().is_err(), "three are in");
///     drop(one); // given back
///     assert_eq!(at_once.available_permits(), 1);
///     two.forget(); // gone for good
///     assert_eq!(at_once.available_permits(), 1);
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// With permits that go along with a task, it is a limit of how many of those there are:
///
/// ```
/// use spinpark::sync::Semaphore;
/// use std::sync::Arc;
///
/// # let runtime = spinpark::Runtime::builder().procs(2).build()?;
/// runtime.block_on(async {
///     let at_once = Arc::new(Semaphore::new(2));
///     for n in 0..10 {
///         let permit = Arc::clone(&at_once).acquire_owned().await.expect("it is never closed");
///         spinpark::spawn(async move {
///             println!("{n}: one of two");
///             drop(permit);
///         });
///     }
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Cancel safety
/// A wait that is dropped gives up its place, and has no permit: called again, it waits at the end of the queue.
///
/// ```
/// use spinpark::sync::Semaphore;
/// use std::sync::Arc;
///
/// # spinpark::run(async {
/// let semaphore = Arc::new(Semaphore::new(3));
/// semaphore.add_permits(1);
/// assert_eq!(semaphore.forget_permits(1), 1);
/// let two = semaphore.acquire_many(2).await.expect("it is open");
/// let one = semaphore.clone().acquire_many_owned(1).await.expect("it is open");
/// assert!(semaphore.try_acquire().is_err() && semaphore.try_acquire_many(2).is_err());
/// drop((one, two));
/// assert!(semaphore.clone().try_acquire_owned().is_ok());
/// assert!(semaphore.clone().try_acquire_many_owned(4).is_err());
/// semaphore.close();
/// assert!(semaphore.acquire().await.is_err());
/// # });
/// ```
pub struct Semaphore(Inner);

impl Semaphore {
    /// So many permits there may be at most.
    pub const MAX_PERMITS: usize = semaphore::MAX_PERMITS;

    /// Lets `permits` in at once.
    ///
    /// # Panics
    /// If they are more than [`MAX_PERMITS`](Semaphore::MAX_PERMITS).
    ///
    /// ```
    /// # spinpark::run(async {
    /// let two_at_once = spinpark::sync::Semaphore::new(2);
    /// let (_one, _two) = (two_at_once.acquire().await, two_at_once.acquire().await);
    /// assert!(two_at_once.try_acquire().is_err());
    /// # });
    /// ```
    #[track_caller]
    pub const fn new(permits: usize) -> Self {
        assert!(permits <= Self::MAX_PERMITS, "a semaphore has at most Semaphore::MAX_PERMITS permits");
        Semaphore(Inner::from_lock(CoresLock::new(State::new(permits))))
    }

    /// How many are free.
    #[must_use]
    pub fn available_permits(&self) -> usize {
        self.0.with(|state| state.free())
    }

    /// From now on so many more may be in. From any thread.
    ///
    /// # Panics
    /// If that would be more than [`MAX_PERMITS`](Semaphore::MAX_PERMITS). Nothing has changed then.
    #[track_caller]
    pub fn add_permits(&self, more: usize) {
        if self.0.release(more).is_err() {
            panic!("{more} more permits would be more than Semaphore::MAX_PERMITS");
        }
    }

    /// So many of those that are free, `n` at most, are gone for good. Returns how many. From any thread.
    pub fn forget_permits(&self, n: usize) -> usize {
        self.0.with(|state| state.forget(n))
    }

    /// Waits until one more may come in, which is in until the permit is dropped. Go: `Acquire`.
    ///
    /// # Errors
    /// When awaited: if the semaphore is [closed](Semaphore::close), or was.
    pub fn acquire(&self) -> Acquire<'_> {
        self.acquire_many(1)
    }

    /// The same, for `n` at once: has none until it has all.
    ///
    /// # Errors
    /// As [`acquire`](Semaphore::acquire).
    pub fn acquire_many(&self, n: u32) -> Acquire<'_> {
        self.acquire_for(n, "semacquire")
    }

    /// The same; `why` it waits, in Go's words.
    pub(super) fn acquire_for(&self, n: u32, why: &'static str) -> Acquire<'_> {
        Acquire { semaphore: self, permits: n as usize, acquire: self.0.acquire(n as usize), why, leaf: Leaf::new() }
    }

    /// Acquires a permit, if one is free and no task waits. From any thread. Go: `TryAcquire`.
    ///
    /// # Errors
    /// If none may, or it is closed.
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// The same, for `n` at once.
    ///
    /// # Errors
    /// As [`try_acquire`](Semaphore::try_acquire).
    pub fn try_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.0.try_acquire(n as usize)?;
        Ok(SemaphorePermit { semaphore: self, permits: n as usize })
    }

    /// As [`acquire`](Semaphore::acquire), with a permit that keeps the semaphore alive: it may go along with a task.
    ///
    /// # Errors
    /// As [`acquire`](Semaphore::acquire).
    pub async fn acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.acquire_many_owned(1).await
    }

    /// The same, for `n` at once.
    ///
    /// # Errors
    /// As [`acquire`](Semaphore::acquire).
    pub async fn acquire_many_owned(self: Arc<Self>, n: u32) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.acquire_many(n).await?.forget();
        Ok(OwnedSemaphorePermit { semaphore: self, permits: n as usize })
    }

    /// As [`try_acquire`](Semaphore::try_acquire), with a permit that keeps the semaphore alive.
    ///
    /// # Errors
    /// As [`try_acquire`](Semaphore::try_acquire).
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    /// The same, for `n` at once.
    ///
    /// # Errors
    /// As [`try_acquire`](Semaphore::try_acquire).
    pub fn try_acquire_many_owned(self: Arc<Self>, n: u32) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.0.try_acquire(n as usize)?;
        Ok(OwnedSemaphorePermit { semaphore: self, permits: n as usize })
    }

    /// From now on no permit is given, and waiters get an error. Permits that are out stay good. From any thread.
    pub fn close(&self) {
        self.0.close();
    }

    /// Was it closed?
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.with(|state| state.is_closed())
    }

    /// Permits come back.
    fn give_back(&self, permits: usize) {
        if permits > 0 {
            self.add_permits(permits);
        }
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").field("permits", &self.available_permits()).finish_non_exhaustive()
    }
}

/// What [`Semaphore::acquire`] returns.
#[must_use = "a future does nothing until it is awaited"]
pub struct Acquire<'a> {
    semaphore: &'a Semaphore,
    permits: usize,
    acquire: semaphore::Acquire<'a, Cores, TaskWaker>,
    why: &'static str,
    leaf: Leaf,
}

impl<'a> Future for Acquire<'a> {
    type Output = Result<SemaphorePermit<'a>, AcquireError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Acquire { semaphore, permits, acquire, why, leaf } = &mut *self;
        let polled = leaf.poll(cx, why, |cx| acquire.poll(&mut Lender::new(cx.waker())));
        polled.map(|result| match result {
            Ok(()) => Ok(SemaphorePermit { semaphore, permits: *permits }),
            Err(_) => Err(AcquireError(())),
        })
    }
}

impl fmt::Debug for Acquire<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquire").finish_non_exhaustive()
    }
}

macro_rules! permits {
    ($permit:ident) => {
        impl $permit {
            permits!(methods: $permit);
        }
        permits!(traits: $permit);
    };
    ($permit:ident<$a:lifetime>) => {
        impl<$a> $permit<$a> {
            permits!(methods: $permit<$a>);
        }
        permits!(traits: $permit<'_>);
    };
    (methods: $permit:ty) => {
        /// Never gives them back: so many less may be in from now on.
        pub fn forget(mut self) {
            self.permits = 0;
        }

        /// How many it is for.
        #[must_use]
        pub fn num_permits(&self) -> usize {
            self.permits
        }

        /// `n` of these, as one of its own. `None`: there are not so many.
        pub fn split(&mut self, n: usize) -> Option<$permit> {
            self.permits = self.permits.checked_sub(n)?;
            Some(Self { semaphore: self.semaphore.clone(), permits: n })
        }

        /// These too, of the same semaphore.
        ///
        /// # Panics
        /// If they are of another.
        #[track_caller]
        pub fn merge(&mut self, mut other: $permit) {
            let (ours, theirs): (&Semaphore, &Semaphore) = (&self.semaphore, &other.semaphore);
            assert!(core::ptr::eq(ours, theirs), "permits of two semaphores cannot be merged");
            self.permits += core::mem::take(&mut other.permits);
        }
    };
    (traits: $permit:ty) => {
        impl Drop for $permit {
            fn drop(&mut self) {
                self.semaphore.give_back(self.permits);
            }
        }

        impl fmt::Debug for $permit {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct("SemaphorePermit").field("permits", &self.permits).finish_non_exhaustive()
            }
        }
    };
}

/// One is in, or some, until this is dropped.
///
/// ```
/// # spinpark::run(async {
/// let semaphore = spinpark::sync::Semaphore::new(3);
/// let mut three = semaphore.acquire_many(3).await.expect("it is open");
/// let one = three.split(1).expect("of three");
/// three.merge(one);
/// three.forget(); // they do not come back
/// assert_eq!(semaphore.available_permits(), 0);
/// # });
/// ```
#[must_use = "dropped, it is given back at once"]
pub struct SemaphorePermit<'a> {
    semaphore: &'a Semaphore,
    permits: usize,
}

/// The same, and keeps the semaphore alive.
#[must_use = "dropped, it is given back at once"]
pub struct OwnedSemaphorePermit {
    semaphore: Arc<Semaphore>,
    permits: usize,
}

permits!(SemaphorePermit<'a>);
permits!(OwnedSemaphorePermit);

impl<'a> SemaphorePermit<'a> {
    /// Of which semaphore.
    #[must_use]
    pub fn semaphore(&self) -> &'a Semaphore {
        self.semaphore
    }
}

impl OwnedSemaphorePermit {
    /// Of which semaphore.
    #[must_use]
    pub fn semaphore(&self) -> &Arc<Semaphore> {
        &self.semaphore
    }
}

/// The semaphore is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AcquireError(());

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the semaphore is closed")
    }
}

impl core::error::Error for AcquireError {}

/// Why no permit was acquired at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryAcquireError {
    /// The semaphore is closed.
    Closed,
    /// There are too few, or others wait for some.
    NoPermits,
}

impl From<Refused> for TryAcquireError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Closed => TryAcquireError::Closed,
            Refused::NoPermits => TryAcquireError::NoPermits,
        }
    }
}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryAcquireError::Closed => "the semaphore is closed",
            TryAcquireError::NoPermits => "the semaphore has too few permits now",
        })
    }
}

impl core::error::Error for TryAcquireError {}

static_assertions::assert_impl_all!(Acquire<'static>: Send, Sync, Unpin);
