//! Integers.

use super::{AtomicMut, fails_spuriously, fetch_update, with_mut};
use crate::graph::{Compute, Op, Update};
use crate::machine;
use crate::place::Place;
use std::fmt;
use std::sync::atomic::Ordering;

macro_rules! operations {
    ($int:ty: $($(#[$doc:meta])* $name:ident $op:ident)*) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $name(&self, value: $int, order: Ordering) -> $int {
            self.compute(Op::$op, value, order)
        }
    )*};
}

macro_rules! atomic_int {
    ($($name:ident $int:ident $unsigned:ident $is_signed:literal)*) => {$(
        #[doc = concat!("Like `std::sync::atomic::", stringify!($name), "`.")]
        ///
        /// ```
        /// use rc11::sync::atomic::{AtomicU8, Ordering::{AcqRel, Acquire, Relaxed}};
        /// rc11::model(|| {
        ///     let mut n = AtomicU8::new(1);
        ///     n.store(2, Relaxed);
        ///     assert_eq!((n.swap(3, AcqRel), n.load(Relaxed)), (2, 3));
        ///     assert_eq!(n.compare_exchange(3, 4, AcqRel, Acquire), Ok(3));
        ///     while n.compare_exchange_weak(4, 5, AcqRel, Acquire).is_err() {} // may fail spuriously
        ///     assert_eq!((n.fetch_add(1, Relaxed), n.fetch_sub(2, Relaxed), n.fetch_max(9, Relaxed)), (5, 6, 4));
        ///     assert_eq!(n.fetch_update(Relaxed, Relaxed, |n| n.checked_add(1)), Ok(9));
        ///     assert!(n.try_update(Relaxed, Relaxed, |_| None).is_err());
        ///     assert_eq!((n.update(Relaxed, Relaxed, |n| n * 2), n.compare_and_swap(20, 21, AcqRel)), (10, 20));
        ///     n.with_mut(|n| *n += 1); // no other thread has it
        ///     *n.get_mut() += 1;
        ///     assert_eq!((unsafe { n.unsync_load() }, n.into_inner()), (23, 23));
        /// });
        /// ```
        pub struct $name(Place);

        impl $name {
            fn from_word(word: u64) -> $int {
                word as $int
            }

            fn into_word(value: $int) -> u64 {
                u64::try_from(value as $unsigned).unwrap_or_default()
            }

            #[track_caller]
            fn compute(&self, op: Op, value: $int, order: Ordering) -> $int {
                let compute = Compute { op, bits: $int::BITS as u8, is_signed: $is_signed };
                Self::from_word(self.0.update(order.into(), Update::Compute(compute, Self::into_word(value))))
            }

            /// Holds `value`. A thread may only use it if its making happens before that use.
            ///
            /// # Panics
            /// Outside of a model.
            #[must_use]
            #[track_caller]
            pub fn new(value: $int) -> Self {
                let place = Place::new(Self::into_word(value));
                machine::note_type(place.loc(), stringify!($int));
                Self(place)
            }

            /// Hands out the value, with exclusive access to the atomic. Every access that does not happen before this
            /// is a race.
            #[track_caller]
            pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut $int) -> R) -> R {
                with_mut(&self.0, Self::from_word, Self::into_word, f)
            }

            /// The value, with exclusive access to the atomic; what is made of it is written back when this is dropped. Every
            /// access that does not happen before this is a race.
            #[track_caller]
            pub fn get_mut(&mut self) -> AtomicMut<'_, $int> {
                AtomicMut::new(&self.0, Self::from_word, Self::into_word)
            }

            /// Reads, not atomically.
            ///
            /// # Safety
            /// It is a race with every write that does not happen before it, which is found.
            #[must_use]
            #[track_caller]
            pub unsafe fn unsync_load(&self) -> $int {
                Self::from_word(self.0.load_plain())
            }

            /// The value.
            #[must_use]
            #[track_caller]
            pub fn into_inner(self) -> $int {
                Self::from_word(self.0.load_plain())
            }

            /// Reads. Every value that the memory model lets this thread see is tried.
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $int {
                Self::from_word(self.0.load(order.into()))
            }

            /// Writes.
            #[track_caller]
            pub fn store(&self, value: $int, order: Ordering) {
                self.0.store(Self::into_word(value), order.into());
            }

            /// Writes, and returns what was there.
            #[track_caller]
            pub fn swap(&self, value: $int, order: Ordering) -> $int {
                Self::from_word(self.0.update(order.into(), Update::Swap(Self::into_word(value))))
            }

            /// As `compare_exchange`, with the failure's ordering made from `order`; returns what was there.
            #[track_caller]
            pub fn compare_and_swap(&self, current: $int, new: $int, order: Ordering) -> $int {
                let found = self.compare_exchange(current, new, order, super::of_failure(order));
                found.unwrap_or_else(|found| found)
            }

            /// Writes `new` if `current` is there. It never fails spuriously.
            ///
            /// # Errors
            /// What was there, if it was not `current`.
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $int,
                new: $int,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$int, $int> {
                let found =
                    self.0.compare_exchange(Self::into_word(current), Self::into_word(new), success, failure);
                found.map(Self::from_word).map_err(Self::from_word)
            }

            /// The same, but it may fail spuriously, as often in an execution as the model allows: see
            /// [`Builder::spurious`](crate::model::Builder::spurious).
            ///
            /// # Errors
            /// What was there.
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $int,
                new: $int,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$int, $int> {
                if fails_spuriously() {
                    return Err(self.load(failure));
                }
                self.compare_exchange(current, new, success, failure)
            }

            operations! { $int:
                /// Adds, wrapping around, and returns what was there.
                fetch_add Add
                /// Subtracts, wrapping around, and returns what was there.
                fetch_sub Sub
                /// Bitwise and; returns what was there.
                fetch_and And
                /// Bitwise and, then not; returns what was there.
                fetch_nand Nand
                /// Bitwise or; returns what was there.
                fetch_or Or
                /// Bitwise exclusive or; returns what was there.
                fetch_xor Xor
                /// The greater one; returns what was there.
                fetch_max Max
                /// The smaller one; returns what was there.
                fetch_min Min
            }

            /// Writes what `f` makes of the value, unless it makes nothing of it: a load, and exchanges until one
            /// succeeds.
            ///
            /// # Errors
            /// The value of which `f` made nothing.
            #[track_caller]
            pub fn fetch_update<F>(&self, set_order: Ordering, fetch_order: Ordering, mut f: F) -> Result<$int, $int>
            where
                F: FnMut($int) -> Option<$int>,
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
                f: impl FnMut($int) -> Option<$int>,
            ) -> Result<$int, $int> {
                self.fetch_update(set_order, fetch_order, f)
            }

            /// Writes what `f` makes of the value, and returns what was there: a load, and exchanges until one succeeds.
            #[track_caller]
            pub fn update(&self, set_order: Ordering, fetch_order: Ordering, mut f: impl FnMut($int) -> $int) -> $int {
                let found = self.fetch_update(set_order, fetch_order, |value| Some(f(value)));
                found.unwrap_or_else(|found| found)
            }
        }

        impl Default for $name {
            #[track_caller]
            fn default() -> Self {
                Self::new(0)
            }
        }

        impl From<$int> for $name {
            #[track_caller]
            fn from(value: $int) -> Self {
                Self::new(value)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(concat!(stringify!($name), " { .. }"))
            }
        }
    )*};
}

atomic_int! {
    AtomicU8 u8 u8 false
    AtomicU16 u16 u16 false
    AtomicU32 u32 u32 false
    AtomicU64 u64 u64 false
    AtomicUsize usize usize false
    AtomicI8 i8 u8 true
    AtomicI16 i16 u16 true
    AtomicI32 i32 u32 true
    AtomicI64 i64 u64 true
    AtomicIsize isize usize true
}
