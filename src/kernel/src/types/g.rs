//! G: a task, to the kernel one opaque number that is moved and never copied.
//!
//! Go: `type g`, `guintptr`.
//!
//! **A G is in one place at every moment**: in a queue, in the hands of an M, or with the embedder. It cannot be copied, so
//! it cannot be queued twice. What it stands for, and whether it runs or waits, the embedder knows; the kernel only moves it.
//!
//! Checked by: proptests/tests/words.rs

use crate::atomic::Value;
use crate::types::m::MId;
use core::num::NonZeroU64;

/// A task. The embedder puts a number or a pointer into it and gets it back when the task is to run.
///
/// * **A `G` that is dropped is forgotten**: it has no `Drop`, so what it stands for is neither run nor freed. Take the number out, by
///   [`into_raw`](G::into_raw) or [`into_address`](G::into_address), and free that.
/// * **One number in two Gs runs twice**, perhaps at once: the kernel compares no numbers. Give a type that owns the task, and makes its
///   `G` by value, and a second one cannot be made (the runtime's `Task` is such a type).
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a G that is dropped never runs"]
pub struct G(NonZeroU64);

/// This bit set: no task, but a ticket for the M whose number the others are.
const TICKET: u64 = 1 << 63;

impl G {
    /// The G that stands for `raw`.
    ///
    /// # Panics
    /// If `raw` is 2^63 or more: these numbers are the kernel's own. An address may be so large, where the system tags pointers:
    /// see [`from_address`](G::from_address).
    ///
    /// ```
    /// use spinpark_kernel::types::g::G;
    /// let number = core::num::NonZeroU64::new(7).expect("numbers begin at 1");
    /// assert_eq!(G::from_raw(number).into_raw(), number);
    /// ```
    #[inline(always)]
    pub fn from_raw(raw: NonZeroU64) -> G {
        assert!(raw.get() < TICKET, "g: a number of 2^63 or more cannot be a G");
        G(raw)
    }

    /// The G that stands for what lies at `address`. All 64 bits of it come back: Arm and Android, among others, tag pointers in the
    /// highest byte.
    ///
    /// ```
    /// use core::num::NonZeroU64;
    /// use spinpark_kernel::types::g::G;
    ///
    /// let address = NonZeroU64::new(0xb400_0000_dead_beee).expect("not null");
    /// assert_eq!(G::from_address(address).into_address(), address);
    /// ```
    ///
    /// # Panics
    /// If `address` is odd: the lowest bit gives way to the kernel's own.
    #[inline(always)]
    pub fn from_address(address: NonZeroU64) -> G {
        assert!(address.get() & 1 == 0, "g: an odd address cannot be a G");
        G::from_raw(rotated(address, 63))
    }

    /// The address that the embedder put in, by [`from_address`](G::from_address).
    #[inline(always)]
    pub fn into_address(self) -> NonZeroU64 {
        rotated(self.0, 1)
    }

    /// The same, to name it in a trace; owns nothing.
    #[inline(always)]
    pub fn address(&self) -> u64 {
        rotated(self.0, 1).get()
    }

    /// What stands in a queue for the G that is bound to `m`: the M that finds it gives `m` its P. See `locked`.
    #[inline]
    pub(crate) fn bound_to(m: MId) -> G {
        G(NonZeroU64::MIN.saturating_add(TICKET | u64::from(m.0) << 1))
    }

    /// The M that this is a ticket for.
    #[inline(always)]
    pub fn bound(&self) -> Option<MId> {
        (self.0.get() & TICKET != 0).then_some(MId((self.0.get() >> 1) as u32))
    }

    /// What the embedder put in.
    #[inline(always)]
    pub fn into_raw(self) -> NonZeroU64 {
        self.0
    }

    /// Its number, to name it in a trace; owns nothing.
    #[inline(always)]
    pub fn id(&self) -> u64 {
        self.0.get()
    }
}

/// Rotated to the left by so many bits.
#[inline(always)]
fn rotated(number: NonZeroU64, bits: u32) -> NonZeroU64 {
    NonZeroU64::new(number.get().rotate_left(bits)).unwrap_or(number)
}

impl Value for Option<G> {
    #[inline(always)]
    fn into_word(self) -> u64 {
        self.map_or(0, |g| g.0.get())
    }
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        NonZeroU64::new(word).map(G)
    }
}

static_assertions::assert_impl_all!(G: Send, Sync);
static_assertions::assert_not_impl_any!(G: Copy, Clone);
static_assertions::const_assert_eq!(size_of::<Option<G>>(), size_of::<u64>());
