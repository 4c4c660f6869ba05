//! One atomic word with a type, which says what it holds and which threads write it; and the StoreLoad barrier as a word of its own.

use crate::host::{Host, Word};
use core::marker::PhantomData;
use core::sync::atomic::Ordering;

/// Something that fits into one word.
pub trait Value: Sized {
    /// As a word.
    fn into_word(self) -> u64;
    /// Back from a word that [`into_word`](Value::into_word) made.
    fn from_word(word: u64) -> Self;
}

/// Which threads write a word: [`ByAnyone`], [`ByOwner`] or [`UnderLock`].
pub trait Writers {
    /// Are any two writes ordered, each after the other or before it, by what happens before what?
    const ARE_ORDERED: bool;
}

/// Any thread writes it, at any time.
#[derive(Debug, Clone, Copy)]
pub enum ByAnyone {}

/// One thread at a time writes it: the owner of what the word stands in, a P for instance. The next owner comes after it. Such a word is
/// stored to, never exchanged.
#[derive(Debug, Clone, Copy)]
pub enum ByOwner {}

/// A thread writes it that holds the lock around what the word tells of. Others read it without. Stored to, never exchanged.
#[derive(Debug, Clone, Copy)]
pub enum UnderLock {}

impl Writers for ByAnyone {
    const ARE_ORDERED: bool = false;
}

impl Writers for ByOwner {
    const ARE_ORDERED: bool = true;
}

impl Writers for UnderLock {
    const ARE_ORDERED: bool = true;
}

/// A word of the host's, holding a `V`, which the threads write that `W` names. Every access is charged to the line that asked for it. The
/// compiler refuses an exchange where one thread at a time writes, and a checker that knows what happens before what refuses a write of
/// another thread ([`Word::with_ordered_writes`]).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::atomic::Atomic;
/// use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
/// let is_open = Atomic::<Os, bool>::new(true);
/// assert!(is_open.swap(false, Relaxed));
/// is_open.store(true, Release);
/// assert_eq!(is_open.compare_exchange(true, false, Acquire, Relaxed), Ok(true));
/// assert_eq!(is_open.compare_exchange(true, false, Acquire, Relaxed), Err(false));
/// let count = Atomic::<Os, u64>::from_word(AtomicU64::new(7)); // a word that is there
/// count.fetch_add(2, Relaxed);
/// count.fetch_sub(1, Relaxed);
/// assert_eq!(count.load(Relaxed), 8);
/// # }
/// ```
///
/// ```compile_fail,E0599
/// use spinpark_kernel::atomic::{Atomic, ByOwner};
/// # use spinpark_kernel::host::Host;
/// # use std::sync::atomic::Ordering::Relaxed;
/// fn take<H: Host>(tail: &Atomic<H, u32, ByOwner>) -> u32 {
///     tail.swap(0, Relaxed) // only its owner writes it: there is nothing to exchange with
/// }
/// ```
pub struct Atomic<H: Host, V, W = ByAnyone> {
    word: H::Word,
    holds: PhantomData<fn(V, W) -> V>,
}

/// Orders everything before it, stores included, before everything after it, loads included.
///
/// The one ordering that acquire and release do not give. Both sides of a pair need it: whichever barrier comes
/// second, its thread sees what the other wrote before its own.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::atomic::{Atomic, store_load};
/// use std::sync::atomic::Ordering::Relaxed;
/// static WORDS: OnceLock<[Atomic<Os, bool>; 2]> = OnceLock::new();
/// fn side(mine: usize) -> bool {
///     let words = WORDS.get_or_init(|| [Atomic::new(false), Atomic::new(false)]);
///     words[mine].store(true, Relaxed);
///     store_load::<Os>();
///     words[1 - mine].load(Relaxed)
/// }
/// let other = thread::spawn(|| side(1));
/// assert!(side(0) || other.join().unwrap()); // one of them, at least, sees the other's store
/// # }
/// ```
#[inline(always)]
#[track_caller]
pub fn store_load<H: Host>() {
    // SeqCst: the only fence that is a StoreLoad. The pair's name stands at each call.
    H::fence(Ordering::SeqCst);
}

impl<H: Host, V: Value, W: Writers> Atomic<H, V, W> {
    /// A word that holds `value`.
    #[inline]
    #[track_caller]
    pub fn new(value: V) -> Self {
        let word = H::Word::new(value.into_word());
        Atomic { word: if W::ARE_ORDERED { word.with_ordered_writes() } else { word }, holds: PhantomData }
    }

    /// Reads.
    #[inline(always)]
    #[track_caller]
    pub fn load(&self, order: Ordering) -> V {
        V::from_word(self.word.load(order))
    }

    /// Writes.
    #[inline(always)]
    #[track_caller]
    pub fn store(&self, value: V, order: Ordering) {
        self.word.store(value.into_word(), order);
    }
}

impl<H: Host, V: Value> Atomic<H, V> {
    /// A word of the host's that holds a `V` already.
    #[inline]
    pub const fn from_word(word: H::Word) -> Self {
        Atomic { word, holds: PhantomData }
    }

    /// Writes, and returns what was there.
    #[inline(always)]
    #[track_caller]
    pub fn swap(&self, value: V, order: Ordering) -> V {
        V::from_word(self.word.swap(value.into_word(), order))
    }

    /// Writes `new` if `current` is there.
    ///
    /// # Errors
    /// The value found instead.
    #[inline(always)]
    #[track_caller]
    pub fn compare_exchange(&self, current: V, new: V, success: Ordering, failure: Ordering) -> Result<V, V> {
        match self.word.compare_exchange(current.into_word(), new.into_word(), success, failure) {
            Ok(word) => Ok(V::from_word(word)),
            Err(word) => Err(V::from_word(word)),
        }
    }
}

impl<H: Host> Atomic<H, u64> {
    /// Adds, wrapping around, and returns what was there.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.word.fetch_add(value, order)
    }

    /// Subtracts, wrapping around, and returns what was there.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_sub(&self, value: u64, order: Ordering) -> u64 {
        self.word.fetch_add(value.wrapping_neg(), order)
    }
}

impl Value for u64 {
    #[inline(always)]
    fn into_word(self) -> u64 {
        self
    }
    #[inline(always)]
    fn from_word(word: u64) -> u64 {
        word
    }
}

impl Value for u32 {
    #[inline(always)]
    fn into_word(self) -> u64 {
        u64::from(self)
    }
    #[inline(always)]
    fn from_word(word: u64) -> u32 {
        word as u32
    }
}

impl Value for bool {
    #[inline(always)]
    fn into_word(self) -> u64 {
        u64::from(self)
    }
    #[inline(always)]
    fn from_word(word: u64) -> bool {
        word != 0
    }
}
