//! How large a ring may be.
//!
//! **A capacity is a power of two**, so that a cursor that wraps around lands on the right slot.
//!
//! Checked by: proptests/tests/config.rs

use core::fmt;

/// How many Gs a ring holds: a power of two.
///
/// ```
/// use spinpark_kernel::queues::runq::{BadCapacity, Capacity};
/// assert_eq!(Capacity::new(256), Ok(Capacity::DEFAULT));
/// assert_eq!(Capacity::new(3), Err(BadCapacity(3))); // no power of two
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity(pub(crate) u32);

impl Capacity {
    /// The smallest.
    pub const MIN: Capacity = Capacity(2);
    /// Go's.
    pub const DEFAULT: Capacity = Capacity(256);
    /// The largest.
    pub const MAX: Capacity = Capacity(1 << 16);

    /// Checks `n`.
    ///
    /// # Errors
    /// If `n` is no power of two, or out of range.
    ///
    /// ```
    /// use spinpark_kernel::queues::runq::Capacity;
    ///
    /// assert_eq!(Capacity::new(256).map(Capacity::get), Ok(256));
    /// assert!(Capacity::new(100).is_err(), "no power of two");
    /// ```
    pub const fn new(n: usize) -> Result<Capacity, BadCapacity> {
        if n.is_power_of_two() && n >= Self::MIN.get() && n <= Self::MAX.get() {
            Ok(Capacity(n as u32))
        } else {
            Err(BadCapacity(n))
        }
    }

    /// As a number.
    #[inline(always)]
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

/// A ring cannot have this size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadCapacity(pub usize);

impl fmt::Display for BadCapacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (min, max) = (Capacity::MIN.get(), Capacity::MAX.get());
        write!(f, "a ring cannot hold {} Gs: give a power of two from {min} to {max}", self.0)
    }
}

impl core::error::Error for BadCapacity {}

static_assertions::const_assert!(Capacity::DEFAULT.get().is_power_of_two());
