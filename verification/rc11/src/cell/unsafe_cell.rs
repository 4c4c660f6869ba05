//! Cells whose accesses are known, and last from one moment to another.
//!
//! The value lies in memory, not in the graph. That it is the right one has three reasons. An access is an event, and
//! the memory is touched between the answer to that event and the thread's next question. A play, new or repeated,
//! answers in an order that goes with program order, reads-from, starts and joins: a read after the write that it
//! reads, what follows it after that. Happens-before is made of these. So if no two accesses race, those of one cell
//! are totally ordered but for reads among themselves, and are played in that order, from the start in each play: what
//! lies there is what the last write before has left. If two do race, the one that comes second is told so instead.
//!
//! An access by a closure that has more events inside of it begins and ends by one, so that an access between is found: by
//! the marks in the cell, if it is ordered with both ends, as a race, if not. A pointer that is handed out is an access
//! when it is made, and again when it is asked for what it points to.

use crate::machine;
use crate::place::Place;
use crate::quarantine::checker;
use std::cell::{Cell, UnsafeCell as StdUnsafeCell};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};

/// Like `std::cell::UnsafeCell`, but hands its pointer to a closure, or out with a mark that it is in use.
///
/// ```
/// use rc11::cell::UnsafeCell;
/// rc11::model(|| {
///     let cell = UnsafeCell::new(1);
///     cell.with_mut(|count| unsafe { *count += 1 }); // a race with any access that does not happen before or after it
///     assert_eq!(cell.with(|count| unsafe { *count }), 2);
/// });
/// ```
pub struct UnsafeCell<T: ?Sized> {
    state: Owner,
    data: StdUnsafeCell<T>,
}

/// Where the cell is, and how many accesses last: -1 is a write.
#[derive(Debug, Clone)]
struct State(Arc<(Place, AtomicIsize)>);

impl State {
    /// An access begins.
    #[track_caller]
    fn begin(&self, is_write: bool, is_closed: bool) -> Access {
        let (place, uses) = &*self.0;
        let at = std::ptr::from_ref(self).addr();
        place.access_at(at, is_write);
        // Relaxed, here and below: a play is one thread of the machine.
        let now = uses.load(Relaxed);
        if now < 0 || (is_write && now > 0) {
            machine::fail(match now {
                -1 => "a cell is accessed while another access writes it",
                _ => "a cell is written while other accesses read it",
            });
        }
        uses.store(if is_write { -1 } else { now + 1 }, Relaxed);
        Access { state: self.clone(), at, is_write, is_closed, now: Cell::new((machine::current(), machine::told())) }
    }
}

/// The cell's own: its life ends with the cell's, though pointers that were handed out have its state too.
struct Owner(State);

impl Drop for Owner {
    fn drop(&mut self) {
        let State(shared) = &self.0;
        shared.0.end();
    }
}

/// An access, as long as it lasts.
struct Access {
    state: State,
    /// Where the cell lies.
    at: usize,
    is_write: bool,
    /// It lasts for a closure, to its end. A pointer that is handed out is accessed when it is asked for what it points
    /// to: the one that gives a slot back drops the pointer to it after that.
    is_closed: bool,
    /// The thread that touched the memory last, and how many events it had had then.
    now: Cell<(u8, u16)>,
}

impl Access {
    /// The memory is touched again, if there was anything since.
    #[track_caller]
    fn again(&self) {
        if (machine::current(), machine::told()) != self.now.get() {
            self.state.0.0.access_at(self.at, self.is_write);
            self.now.set((machine::current(), machine::told()));
        }
    }
}

impl Drop for Access {
    #[track_caller]
    fn drop(&mut self) {
        let uses = &self.state.0.1;
        if machine::play().is_none() {
            return;
        }
        if self.is_closed {
            self.again();
        }
        uses.store(if self.is_write { 0 } else { uses.load(Relaxed) - 1 }, Relaxed);
    }
}

/// A pointer to what a cell holds, for reading. While it is there the cell is being read.
///
/// ```
/// use rc11::cell::UnsafeCell;
/// rc11::model(|| {
///     let cell = UnsafeCell::new(1);
///     let reads = cell.get(); // one read, as long as it is there
///     assert_eq!(unsafe { *reads.deref() }, 1);
///     assert_eq!(reads.with(|count| unsafe { *count }), 1);
/// });
/// ```
pub struct ConstPtr<T: ?Sized> {
    access: Access,
    pointer: *const T,
}

/// A pointer to what a cell holds, for writing. While it is there no other thread may access the cell.
///
/// ```
/// use rc11::cell::UnsafeCell;
/// rc11::model(|| {
///     let cell = UnsafeCell::new(1);
///     let writes = cell.get_mut(); // one write, as long as it is there
///     unsafe { *writes.deref() += 1 };
///     assert_eq!(writes.with(|count| unsafe { *count }), 2);
/// });
/// ```
pub struct MutPtr<T: ?Sized> {
    access: Access,
    pointer: *mut T,
}

impl<T> UnsafeCell<T> {
    /// Holds `value`.
    ///
    /// # Panics
    /// Outside of a model.
    #[must_use]
    #[track_caller]
    pub fn new(value: T) -> UnsafeCell<T> {
        let place = Place::counted(0);
        machine::note_type(place.loc(), std::any::type_name::<T>());
        let state = State(checker(|| Arc::new((place, AtomicIsize::new(0)))));
        UnsafeCell { state: Owner(state), data: StdUnsafeCell::new(value) }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads: `f` gets a pointer to the value.
    #[track_caller]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        let _access = self.state.0.begin(false, true);
        note(machine::last_event_to_note(), self.data.get());
        f(self.data.get().cast_const())
    }

    /// Writes: `f` gets a pointer to the value.
    #[track_caller]
    pub fn with_mut<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        let _access = self.state.0.begin(true, true);
        let access = machine::last_event_to_note();
        let result = f(self.data.get());
        note(access, self.data.get());
        result
    }

    /// A pointer for reading, as long as it is kept.
    #[track_caller]
    pub fn get(&self) -> ConstPtr<T> {
        ConstPtr { access: self.state.0.begin(false, false), pointer: self.data.get() }
    }

    /// A pointer for writing, as long as it is kept.
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<T> {
        MutPtr { access: self.state.0.begin(true, false), pointer: self.data.get() }
    }
}

/// Notes what lies there, if it is a number or a `bool`, for the picture of an execution.
fn note<T: ?Sized>(access: Option<(u8, u16)>, pointer: *mut T) {
    let Some(access) = access else { return };
    macro_rules! note {
        ($($number:ident)*) => {
            match std::any::type_name::<T>() {
                $(stringify!($number) => {
                    // SAFETY: the pointer is a cell's that is borrowed. A name without a path is that of the language's own
                    // type; a program's have their crate's before it.
                    let value = unsafe { pointer.cast::<$number>().read() };
                    machine::note_value(access, checker(|| value.to_string()));
                })*
                _ => (),
            }
        };
    }
    note! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64 bool }
}

impl<T: Default> Default for UnsafeCell<T> {
    #[track_caller]
    fn default() -> UnsafeCell<T> {
        UnsafeCell::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    #[track_caller]
    fn from(value: T) -> UnsafeCell<T> {
        UnsafeCell::new(value)
    }
}

impl<T: ?Sized> ConstPtr<T> {
    /// What it points to.
    ///
    /// # Safety
    /// The cell must still be there. That no thread writes it is checked.
    #[must_use]
    #[track_caller]
    pub unsafe fn deref(&self) -> &T {
        self.access.again();
        // SAFETY: the pointer is a cell's, which the caller says is there; no other thread writes it, or the execution is
        // over by then.
        unsafe { &*self.pointer }
    }

    /// `f` gets the pointer, and must not keep it.
    #[track_caller]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        self.access.again();
        f(self.pointer)
    }
}

impl<T: ?Sized> MutPtr<T> {
    /// What it points to.
    ///
    /// # Safety
    /// The cell must still be there, and of all that this returns one may be in use. That no other thread accesses it is
    /// checked.
    #[must_use]
    #[expect(clippy::mut_from_ref, reason = "it stands for a raw pointer, as loom's does")]
    #[track_caller]
    pub unsafe fn deref(&self) -> &mut T {
        self.access.again();
        // SAFETY: the pointer is a cell's, which the caller says is there; no other thread accesses it, or the execution is
        // over by then.
        unsafe { &mut *self.pointer }
    }

    /// `f` gets the pointer, and must not keep it.
    #[track_caller]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        self.access.again();
        f(self.pointer)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("UnsafeCell { .. }")
    }
}

impl<T: ?Sized> fmt::Debug for ConstPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ConstPtr").field(&self.pointer).finish()
    }
}

impl<T: ?Sized> fmt::Debug for MutPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MutPtr").field(&self.pointer).finish()
    }
}
