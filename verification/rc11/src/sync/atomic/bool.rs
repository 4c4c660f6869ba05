//! A bool.

use super::{AtomicMut, fails_spuriously, fetch_update, with_mut};
use crate::graph::{Compute, Op, Update};
use crate::machine;
use crate::place::Place;
use std::fmt;
use std::sync::atomic::Ordering;

/// Like `std::sync::atomic::AtomicBool`.
///
/// ```
/// use rc11::sync::atomic::{AtomicBool, Ordering::{AcqRel, Acquire, Relaxed}};
/// rc11::model(|| {
///     let mut flag = AtomicBool::new(false);
///     flag.store(true, Relaxed);
///     assert!(flag.swap(false, AcqRel) && !flag.load(Relaxed));
///     assert_eq!(flag.compare_exchange(false, true, AcqRel, Acquire), Ok(false));
///     while flag.compare_exchange_weak(true, false, AcqRel, Acquire).is_err() {} // may fail spuriously
///     assert!(!flag.fetch_or(true, Relaxed) && flag.fetch_and(true, Relaxed));
///     assert!(flag.fetch_xor(true, Relaxed) && !flag.fetch_nand(true, Relaxed) && flag.fetch_not(Relaxed));
///     assert_eq!(flag.fetch_update(Relaxed, Relaxed, |is| Some(!is)), Ok(false));
///     assert!(flag.update(Relaxed, Relaxed, |is| !is) && flag.try_update(Relaxed, Relaxed, |_| None).is_err());
///     assert!(!flag.compare_and_swap(false, true, AcqRel));
///     flag.with_mut(|is| *is = false); // no other thread has it
///     *flag.get_mut() = true;
///     assert!(unsafe { flag.unsync_load() } && flag.into_inner());
/// });
/// ```
pub struct AtomicBool(Place);

fn from_word(word: u64) -> bool {
    word != 0
}

impl AtomicBool {
    #[track_caller]
    fn compute(&self, op: Op, value: bool, order: Ordering) -> bool {
        let compute = Compute { op, bits: 1, is_signed: false };
        from_word(self.0.update(order.into(), Update::Compute(compute, u64::from(value))))
    }

    /// Holds `value`. A thread may only use it if its making happens before that use.
    ///
    /// # Panics
    /// Outside of a model.
    #[must_use]
    #[track_caller]
    pub fn new(value: bool) -> AtomicBool {
        let place = Place::new(u64::from(value));
        machine::note_type(place.loc(), "bool");
        AtomicBool(place)
    }

    /// Hands out the value, with exclusive access to the atomic. Every access that does not happen before this is a
    /// race.
    #[track_caller]
    pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut bool) -> R) -> R {
        with_mut(&self.0, from_word, u64::from, f)
    }

    /// The value, with exclusive access to the atomic; what is made of it is written back when this is dropped. Every
    /// access that does not happen before this is a race.
    #[track_caller]
    pub fn get_mut(&mut self) -> AtomicMut<'_, bool> {
        AtomicMut::new(&self.0, from_word, u64::from)
    }

    /// Reads, not atomically.
    ///
    /// # Safety
    /// It is a race with every write that does not happen before it, which is found.
    #[must_use]
    #[track_caller]
    pub unsafe fn unsync_load(&self) -> bool {
        from_word(self.0.load_plain())
    }

    /// The value.
    #[must_use]
    #[track_caller]
    pub fn into_inner(self) -> bool {
        from_word(self.0.load_plain())
    }

    /// Reads. Every value that the memory model lets this thread see is tried.
    #[track_caller]
    pub fn load(&self, order: Ordering) -> bool {
        from_word(self.0.load(order.into()))
    }

    /// Writes.
    #[track_caller]
    pub fn store(&self, value: bool, order: Ordering) {
        self.0.store(u64::from(value), order.into());
    }

    /// Writes, and returns what was there.
    #[track_caller]
    pub fn swap(&self, value: bool, order: Ordering) -> bool {
        from_word(self.0.update(order.into(), Update::Swap(u64::from(value))))
    }

    /// As `compare_exchange`, with the failure's ordering made from `order`; returns what was there.
    #[track_caller]
    pub fn compare_and_swap(&self, current: bool, new: bool, order: Ordering) -> bool {
        self.compare_exchange(current, new, order, super::of_failure(order)).unwrap_or_else(|found| found)
    }

    /// Writes `new` if `current` is there. It never fails spuriously.
    ///
    /// # Errors
    /// What was there, if it was not `current`.
    #[track_caller]
    pub fn compare_exchange(
        &self,
        current: bool,
        new: bool,
        success: Ordering,
        failure: Ordering,
    ) -> Result<bool, bool> {
        let found = self.0.compare_exchange(u64::from(current), u64::from(new), success, failure);
        found.map(from_word).map_err(from_word)
    }

    /// The same, but it may fail spuriously, as often in an execution as the model allows: see
    /// [`Builder::spurious`](crate::model::Builder::spurious).
    ///
    /// # Errors
    /// What was there.
    #[track_caller]
    pub fn compare_exchange_weak(
        &self,
        current: bool,
        new: bool,
        success: Ordering,
        failure: Ordering,
    ) -> Result<bool, bool> {
        if fails_spuriously() {
            return Err(self.load(failure));
        }
        self.compare_exchange(current, new, success, failure)
    }

    /// And; returns what was there.
    #[track_caller]
    pub fn fetch_and(&self, value: bool, order: Ordering) -> bool {
        self.compute(Op::And, value, order)
    }

    /// And, then not; returns what was there.
    #[track_caller]
    pub fn fetch_nand(&self, value: bool, order: Ordering) -> bool {
        self.compute(Op::Nand, value, order)
    }

    /// Or; returns what was there.
    #[track_caller]
    pub fn fetch_or(&self, value: bool, order: Ordering) -> bool {
        self.compute(Op::Or, value, order)
    }

    /// Exclusive or; returns what was there.
    #[track_caller]
    pub fn fetch_xor(&self, value: bool, order: Ordering) -> bool {
        self.compute(Op::Xor, value, order)
    }

    /// Not; returns what was there.
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }

    /// Writes what `f` makes of the value, unless it makes nothing of it: a load, and exchanges until one succeeds.
    ///
    /// # Errors
    /// The value of which `f` made nothing.
    #[track_caller]
    pub fn fetch_update<F>(&self, set_order: Ordering, fetch_order: Ordering, mut f: F) -> Result<bool, bool>
    where
        F: FnMut(bool) -> Option<bool>,
    {
        fetch_update!(self, set_order, fetch_order, f)
    }

    /// The same, by its name in std since 1.95.
    ///
    /// # Errors
    /// The value of which `f` made nothing.
    #[track_caller]
    pub fn try_update(
        &self,
        set_order: Ordering,
        fetch_order: Ordering,
        f: impl FnMut(bool) -> Option<bool>,
    ) -> Result<bool, bool> {
        self.fetch_update(set_order, fetch_order, f)
    }

    /// Writes what `f` makes of the value, and returns what was there: a load, and exchanges until one succeeds.
    #[track_caller]
    pub fn update(&self, set_order: Ordering, fetch_order: Ordering, mut f: impl FnMut(bool) -> bool) -> bool {
        let found = self.fetch_update(set_order, fetch_order, |value| Some(f(value)));
        found.unwrap_or_else(|found| found)
    }
}

impl Default for AtomicBool {
    #[track_caller]
    fn default() -> AtomicBool {
        AtomicBool::new(false)
    }
}

impl From<bool> for AtomicBool {
    #[track_caller]
    fn from(value: bool) -> AtomicBool {
        AtomicBool::new(value)
    }
}

impl fmt::Debug for AtomicBool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("AtomicBool { .. }")
    }
}
