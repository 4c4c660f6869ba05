//! The seam: all that the kernel asks of its surroundings.
//!
//! The kernel is generic in one parameter, `H: Host`. `Cores`, in the runtime, is the host that runs on real cores; the
//! model checkers are hosts too. `RunQueue<Cores>` and `RunQueue<Loom>` are different types of the same
//! source, so a model can never run on real atomics by accident, and no `--cfg` is needed.
//!
//! A host of your own implements these four traits; the contract of each method stands at the method. The README has one for `std` in forty
//! lines, `Os`, which the examples here use; `examples/embed_host.rs` has one for a machine without an operating system.

use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};

/// Nanoseconds since some moment that never changes while the program runs.
pub type Nanos = u64;

/// No moment: later than all.
pub const NEVER: Nanos = Nanos::MAX;

/// What the kernel runs on. All that its own text does not determine goes through here.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
/// fn elsewhere<H: Host>() -> Nanos {
///     static DONE: AtomicU64 = AtomicU64::new(0);
///     let before = H::now();
///     H::spawn("another", || DONE.store(1, Ordering::Release)).expect("there can be a thread");
///     while DONE.load(Ordering::Acquire) == 0 {
///         H::relax();
///     }
///     H::now() - before // time never goes back
/// }
/// elsewhere::<Os>();
/// assert!((0..100).all(|_| Os::choose(3) < 3));
/// # }
/// ```
pub trait Host: Sized + Send + Sync + 'static {
    /// The only memory that the kernel shares without a lock.
    type Word: Word;
    /// Mutual exclusion. Entering acquires what leaving released.
    type Lock<T: Send + 'static>: Lock<T> + Send + Sync + 'static;
    /// Where one thread sleeps until another wakes it.
    type Parker: Parker;

    /// Does this host end its threads by unwinding them, as checkers do when an execution is over? What is dropped then makes no step,
    /// and how the life of an M ends is not asked. Elsewhere a thread unwinds because the embedder's code panicked.
    const UNWINDS_TO_END: bool = false;

    /// A memory fence. `SeqCst` must order every earlier access before every later one, for all threads alike.
    #[track_caller]
    fn fence(order: Ordering);

    /// A short pause, to let another thread finish what it is about to do: a few microseconds at most. In a model,
    /// nothing: there the other thread may come first anyway.
    fn relax();

    /// Any number below `n` (`n > 0`). The kernel is correct for every answer: a checker tries them all, cores take one at
    /// random.
    fn choose(n: usize) -> usize;

    /// What time it is; never less than before. Virtual in a model.
    fn now() -> Nanos;

    /// Runs `body` on a new thread.
    ///
    /// # Errors
    /// [`SpawnError`] if thread creation failed now. The kernel then keeps the work and tries again later.
    fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError>;
}

/// One 64-bit atomic word. Orderings mean what they mean in C11.
///
/// ```
/// use spinpark_kernel::host::Word;
/// use std::sync::atomic::{AtomicU64, Ordering::{Acquire, Relaxed, Release}};
///
/// fn push<W: Word>(word: &W) -> Result<u64, u64> {
///     word.compare_exchange(1, 2, Release, Relaxed)
/// }
/// let word = <AtomicU64 as Word>::new(1); // the processor's own is one
/// assert_eq!((push(&word), push(&word)), (Ok(1), Err(2)));
/// assert_eq!(Word::load(&word, Acquire), 2);
/// ```
///
/// Every method is `#[track_caller]`, so that a wrapper sees which line of the kernel made the access.
pub trait Word: Send + Sync + 'static {
    /// A word that holds `value`.
    #[track_caller]
    fn new(value: u64) -> Self;
    /// The same word, of which the kernel states that any two writes are ordered by what happens before what:
    /// [`ByOwner`](crate::atomic::ByOwner), [`UnderLock`](crate::atomic::UnderLock). A host that checks holds the
    /// kernel to it; others have nothing to do.
    #[inline(always)]
    fn with_ordered_writes(self) -> Self
    where
        Self: Sized,
    {
        self
    }
    /// Reads.
    #[track_caller]
    fn load(&self, order: Ordering) -> u64;
    /// Writes.
    #[track_caller]
    fn store(&self, value: u64, order: Ordering);
    /// Writes, and returns what was there.
    #[track_caller]
    fn swap(&self, value: u64, order: Ordering) -> u64;
    /// Adds, wrapping around, and returns what was there.
    #[track_caller]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64;
    /// Writes `new` if `current` is there. `Err` carries what was there instead. Never fails without a reason.
    ///
    /// # Errors
    /// The value found, if it was not `current`.
    #[track_caller]
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64>;
}

/// The processor's own.
impl Word for AtomicU64 {
    #[inline(always)]
    fn new(value: u64) -> Self {
        AtomicU64::new(value)
    }
    #[inline(always)]
    fn load(&self, order: Ordering) -> u64 {
        AtomicU64::load(self, order)
    }
    #[inline(always)]
    fn store(&self, value: u64, order: Ordering) {
        AtomicU64::store(self, value, order);
    }
    #[inline(always)]
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        AtomicU64::swap(self, value, order)
    }
    #[inline(always)]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        AtomicU64::fetch_add(self, value, order)
    }
    #[inline(always)]
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        AtomicU64::compare_exchange(self, current, new, success, failure)
    }
}

/// A value that one thread at a time may touch. A closure instead of a guard: nothing to leak or to hold by accident.
///
/// ```
/// use spinpark_kernel::host::Lock;
/// use std::sync::{Mutex, PoisonError};
///
/// struct OsLock<T>(Mutex<T>);
/// impl<T> Lock<T> for OsLock<T> {
///     fn new(value: T) -> Self { OsLock(Mutex::new(value)) }
///     fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R { f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)) }
/// }
/// let lock = OsLock::new(1);
/// lock.with(|n| *n += 1);
/// assert_eq!(lock.with(|n| *n), 2);
/// ```
pub trait Lock<T> {
    /// An open lock around `value`.
    fn new(value: T) -> Self;
    /// Runs `f` alone. Must not be entered again from inside `f`.
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R;
}

/// Where one thread sleeps. [`unpark`](Parker::unpark) before [`park`](Parker::park) is remembered, once.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
/// fn remembers<P: Parker>(parker: &P) {
///     parker.unpark();
///     parker.park(); // returns at once
///     parker.park_timeout(1_000_000); // nothing is remembered any more: a millisecond at most
/// }
/// remembers(&OsParker::new());
/// # }
/// ```
pub trait Parker: Send + Sync + 'static {
    /// A parker that remembers nothing.
    fn new() -> Self;
    /// Sleeps until `unpark`; may also wake spuriously. Acquires, on *every* way out, what `unpark` released
    /// (golang/go #63384 is what happens otherwise). Only ever called by one thread.
    #[track_caller]
    fn park(&self);
    /// As [`park`](Parker::park), but returns after `nanos` at the latest.
    #[track_caller]
    fn park_timeout(&self, nanos: Nanos);
    /// Wakes the thread in `park`, or lets the next `park` return at once. Releases. Callable from anywhere.
    #[track_caller]
    fn unpark(&self);
}

/// A host could not start a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpawnError {
    /// The operating system's error code, where there is one.
    pub os_error: Option<i32>,
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("thread creation failed")?;
        match self.os_error {
            Some(code) => write!(f, " (os error {code}); is a limit on threads or memory reached?"),
            None => Ok(()),
        }
    }
}

impl core::error::Error for SpawnError {}
