//! The one-slot shortcut: the G that runs next, before the ring's.
//!
//! Go: `p.runnext`, in `runqput`, `runqget` and `runqgrab`.
//!
//! **The thread that empties the slot owns the G that was in it.** Only the P's owner fills it; the G that it displaces comes
//! back to it. Every write is an exchange, so no G is lost between a read and a write.
//!
//! Pair `slot`: a thread that sees the slot full sees what the owner did before it filled the slot; a thread that sees it
//! emptied sees what the owner had done before it emptied the slot (an emptiness test depends on that, golang/go #10573).
//!
//! Checked by: verification/src/models/local.rs, verification/rooms/src/rooms/local.rs

use crate::atomic::Atomic;
use crate::host::Host;
use crate::types::g::G;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A place for one G.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::queues::runnext::RunNext;
/// let next = RunNext::<Os>::new();
/// assert!(next.put(g(1)).is_none());
/// assert_eq!(next.put(g(2)).map(|g| g.id()), Some(1)); // displaced
/// assert!(next.is_set());
/// assert_eq!(next.steal().map(|g| g.id()), Some(2)); // by a thief
/// assert!(next.take().is_none()); // the owner comes too late
/// # }
/// ```
pub struct RunNext<H: Host>(Atomic<H, Option<G>>);

impl<H: Host> RunNext<H> {
    /// Empty.
    #[track_caller]
    pub fn new() -> Self {
        RunNext(Atomic::new(None))
    }

    /// Puts `g` there. Returns the G it displaces. Only for the owner.
    #[inline]
    #[must_use = "the displaced G has to go to the ring"]
    pub fn put(&self, g: G) -> Option<G> {
        // Release: `slot`, owner's half. The displaced G was put by the owner, which is us: no Acquire.
        self.0.swap(Some(g), Release)
    }

    /// Takes the G, if no thief has stolen it. Only for the owner.
    #[inline]
    pub fn take(&self) -> Option<G> {
        // Relaxed: only the owner fills it, so empty stays empty.
        if self.is_set() {
            // Release: `slot`. A spinning M that sees the emptied slot sees also what we put into the ring before.
            self.0.swap(None, Release)
        } else {
            None
        }
    }

    /// Takes the G. For thieves, and only when the ring was empty.
    #[inline]
    pub fn steal(&self) -> Option<G> {
        // Relaxed: a hint; the exchange decides.
        if self.is_set() {
            // Acquire: `slot`, thief's half. A thread that sees the slot that we empty sees what its owner released there: an
            // exchange continues the release sequence of the write before it, whatever its own ordering.
            self.0.swap(None, Acquire)
        } else {
            None
        }
    }

    /// Is there a G? A guess, unless the owner asks.
    #[inline]
    pub fn is_set(&self) -> bool {
        // Relaxed: a hint.
        self.0.load(Relaxed).map(G::into_raw).is_some()
    }

    /// Is there a G? If not, all that the owner did before the slot was emptied is seen.
    #[inline]
    pub(crate) fn is_set_acquire(&self) -> bool {
        // Acquire: `slot`, the emptiness test's half.
        self.0.load(Acquire).map(G::into_raw).is_some()
    }
}
