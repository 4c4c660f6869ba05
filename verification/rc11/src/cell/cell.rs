//! A cell whose value is copied or replaced as a whole.

use super::UnsafeCell;
use std::cmp::Ordering;
use std::mem;

/// Like `std::cell::Cell`, on a checked [`UnsafeCell`].
///
/// ```
/// use rc11::cell::Cell;
/// rc11::model(|| {
///     let (one, two) = (Cell::new(1), Cell::new(2));
///     one.swap(&two);
///     two.set(5);
///     assert_eq!((one.replace(3), one.get(), two.into_inner()), (2, 3, 5));
/// });
/// ```
#[derive(Debug)]
pub struct Cell<T> {
    cell: UnsafeCell<T>,
}

impl<T> Cell<T> {
    /// Holds `value`.
    ///
    /// # Panics
    /// Outside of a model.
    #[must_use]
    #[track_caller]
    pub fn new(value: T) -> Self {
        Cell { cell: UnsafeCell::new(value) }
    }

    /// Writes.
    #[track_caller]
    pub fn set(&self, value: T) {
        drop(self.replace(value));
    }

    /// Each gets what the other had.
    #[track_caller]
    pub fn swap(&self, other: &Self) {
        if std::ptr::eq(self, other) {
            return;
        }
        self.cell.with_mut(|mine| {
            // SAFETY: both cells are borrowed, so they are there, they are not the same, and while they are being
            // written no other thread accesses them: the second one would get the error instead.
            other.cell.with_mut(|theirs| unsafe { mine.swap(theirs) });
        });
    }

    /// Writes, and returns what was there.
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        // SAFETY: the cell is borrowed, and while it is being written no other thread accesses it.
        self.cell.with_mut(|here| mem::replace(unsafe { &mut *here }, value))
    }

    /// A copy of what is there.
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        // SAFETY: the cell is borrowed, and while it is being read no thread writes it.
        self.cell.with(|here| unsafe { *here })
    }

    /// Takes what is there, and leaves the default.
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.replace(T::default())
    }

    /// The value.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.cell.into_inner()
    }
}

impl<T: Default> Default for Cell<T> {
    #[track_caller]
    fn default() -> Cell<T> {
        Cell::new(T::default())
    }
}

impl<T: Copy> Clone for Cell<T> {
    #[track_caller]
    fn clone(&self) -> Cell<T> {
        Cell::new(self.get())
    }
}

impl<T> From<T> for Cell<T> {
    #[track_caller]
    fn from(value: T) -> Cell<T> {
        Cell::new(value)
    }
}

impl<T: PartialEq + Copy> PartialEq for Cell<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq + Copy> Eq for Cell<T> {}

impl<T: PartialOrd + Copy> PartialOrd for Cell<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.get().partial_cmp(&other.get())
    }
}

impl<T: Ord + Copy> Ord for Cell<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.get().cmp(&other.get())
    }
}
