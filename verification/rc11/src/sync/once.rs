//! What happens once: `Once`, `OnceLock`. Each may be in a `static`, and is new in each execution.

use crate::graph::{Order, Update};
use crate::machine;
use crate::place::{LatePlace, Place};
use crate::state::{self, OnceValue};
use crate::step::Ask;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::Ordering;

const RUNNING: u64 = 1;
const DONE: u64 = 2;
/// A call has panicked, and that was caught.
const POISONED: u64 = 3;

/// Like `std::sync::Once`. Of the threads that call it at once, each may be the one that runs the closure; the others wait,
/// and then know what it did, but not what each other did. A call whose panic is caught poisons it.
///
/// ```
/// use rc11::sync::{Arc, Once};
/// rc11::model(|| {
///     let once = Arc::new(Once::new());
///     let theirs = once.clone();
///     let other = rc11::thread::spawn(move || theirs.call_once(|| ()));
///     once.call_once_force(|state| assert!(!state.is_poisoned()));
///     once.wait(); // or `wait_force()`: until it is over
///     assert!(once.is_completed());
///     other.join().unwrap();
/// });
/// ```
#[derive(Debug)]
pub struct Once {
    place: LatePlace,
}

/// Like `std::sync::OnceState`.
///
/// ```
/// use rc11::sync::Once;
/// rc11::model(|| {
///     let once = Once::new();
///     once.call_once_force(|state| assert!(!state.is_poisoned()));
/// });
/// ```
#[derive(Debug)]
pub struct OnceState(bool);

impl OnceState {
    /// Has a call panicked before?
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.0
    }
}

impl Once {
    /// One that nothing has called. It may be in a `static`.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "std's has none")]
    pub const fn new() -> Once {
        Once { place: LatePlace::new() }
    }

    /// Runs `f`, if this is the first call; else waits until the first one has returned.
    ///
    /// # Panics
    /// If a call has panicked; outside of a model.
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        self.call(false, |_| f());
    }

    /// The same; a call that has panicked does not count.
    ///
    /// # Panics
    /// Outside of a model.
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, f: F) {
        self.call(true, f);
    }

    #[track_caller]
    fn call(&self, is_forced: bool, f: impl FnOnce(&OnceState)) {
        let place = self.place.place();
        let mut expected = 0;
        loop {
            match place.compare_exchange(expected, RUNNING, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => break,
                Err(DONE) => return,
                Err(POISONED) if is_forced => expected = POISONED,
                Err(POISONED) => panic!("Once instance has previously been poisoned"),
                Err(_) => _ = machine::ask(Ask::Spin),
            };
        }
        let mut call = Call { place: &place, ends_as: POISONED };
        f(&OnceState(expected == POISONED));
        call.ends_as = DONE;
    }

    /// Has a call returned? If so, what it did happens before what comes next.
    ///
    /// # Panics
    /// Outside of a model.
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.place.place().load(Order::Acquire) == DONE
    }

    /// Waits until a call has returned.
    ///
    /// # Panics
    /// If a call has panicked; outside of a model.
    #[track_caller]
    pub fn wait(&self) {
        loop {
            match self.place.place().load(Order::Acquire) {
                DONE => return,
                POISONED => panic!("Once instance has previously been poisoned"),
                _ => _ = machine::ask(Ask::Spin),
            }
        }
    }

    /// The same; a call that has panicked does not count.
    ///
    /// # Panics
    /// Outside of a model.
    #[track_caller]
    pub fn wait_force(&self) {
        while !self.is_completed() {
            machine::ask(Ask::Spin);
        }
    }
}

/// A call that runs, or unwinds.
struct Call<'a> {
    place: &'a Place,
    ends_as: u64,
}

impl Drop for Call<'_> {
    #[track_caller]
    fn drop(&mut self) {
        self.place.update(Order::Release, Update::Swap(self.ends_as));
    }
}

/// Like `std::sync::OnceLock`. Its value belongs to an execution: one in a `static` is empty at the beginning of each, and
/// its value is dropped when the model's first thread has ended and all others are joined; else it is never dropped.
///
/// ```
/// use rc11::sync::{Arc, OnceLock};
/// rc11::model(|| {
///     let lock = Arc::new(OnceLock::new());
///     let theirs = lock.clone();
///     let other = rc11::thread::spawn(move || theirs.set(7).is_ok());
///     let is_mine = *lock.get_or_init(|| 8) == 8;
///     assert_ne!(other.join().unwrap(), is_mine); // one of them
///     assert_eq!(lock.get(), Some(lock.wait()));
///     let mut lock = Arc::into_inner(lock).unwrap();
///     *lock.get_mut().unwrap() = 9;
///     assert_eq!((lock.take(), lock.into_inner()), (Some(9), None));
/// });
/// ```
pub struct OnceLock<T> {
    once: Once,
    value: PhantomData<T>,
}

// SAFETY: it lends `&T` to any thread, and a thread may take out what another has put in, as with std's.
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// An empty one. It may be in a `static`.
    #[must_use]
    pub const fn new() -> OnceLock<T> {
        OnceLock { once: Once::new(), value: PhantomData }
    }

    /// The value, if it is there.
    ///
    /// # Panics
    /// Outside of a model.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        self.once.is_completed().then(|| self.there())
    }

    /// The value, if it is there; the lock is not shared.
    ///
    /// # Panics
    /// Outside of a model.
    #[track_caller]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        if self.once.place.place().load_plain() != DONE {
            return None;
        }
        // SAFETY: the value is there, and is lent as the lock is.
        Some(unsafe { &mut *self.pointer() })
    }

    /// Waits until the value is there.
    ///
    /// # Panics
    /// Outside of a model.
    #[track_caller]
    pub fn wait(&self) -> &T {
        self.once.wait_force();
        self.there()
    }

    /// Puts `value` in.
    ///
    /// # Errors
    /// `value`, if another one is there.
    ///
    /// # Panics
    /// Outside of a model.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.once.call_once_force(|_| self.put(value.take().expect("it runs once")));
        value.map_or(Ok(()), Err)
    }

    /// The value; `f` makes it, if it is not there. Of the threads that ask at once, each may be the one whose `f` runs.
    ///
    /// # Panics
    /// Outside of a model.
    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> T>(&self, f: F) -> &T {
        self.once.call_once_force(|_| self.put(f()));
        self.there()
    }

    /// The same; a panic of `f` is every later caller's.
    #[track_caller]
    pub(super) fn get_or_init_once(&self, f: impl FnOnce() -> T) -> &T {
        self.once.call_once(|| self.put(f()));
        self.there()
    }

    /// Takes the value out, if it is there.
    ///
    /// # Panics
    /// Outside of a model.
    #[must_use]
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        if self.once.place.place().load_plain() != DONE {
            return None;
        }
        let value = self.remove();
        self.once = Once::new();
        value
    }

    /// The value, if it is there.
    ///
    /// # Panics
    /// Outside of a model.
    #[must_use]
    #[track_caller]
    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    fn put(&self, value: T) {
        unsafe fn drop_value<T>(at: *mut ()) {
            // SAFETY: `at` is from `Box::into_raw` of that type, and is given to this once.
            drop(unsafe { Box::from_raw(at.cast::<T>()) });
        }
        let number = self.once.place.number().expect("its place was used just now");
        let at = Box::into_raw(Box::new(value)).cast();
        state::with(|state| state.values.insert(number, OnceValue { at, drop: drop_value::<T> }));
    }

    fn pointer(&self) -> *mut T {
        let at = |number| state::with(|state| state.values.get(&number).map(|value| value.at.cast()));
        // Without a value the execution is over, or all that is in a `static` was dropped.
        self.once.place.number().and_then(at).unwrap_or_else(|| {
            machine::fail("a `static` is used after the model's first thread has ended, and all others");
            machine::rest_in_peace()
        })
    }

    fn there(&self) -> &T {
        // SAFETY: the value was put in, which happens before this, and stays where it is until it is taken out through
        // `&mut self`, or until the execution ends.
        unsafe { &*self.pointer() }
    }

    fn remove(&self) -> Option<T> {
        let value = state::with(|state| state.values.remove(&self.once.place.number()?))?;
        // SAFETY: it is from `Box::into_raw` of that type, and is there no more for another to take.
        Some(*unsafe { Box::from_raw(value.at.cast()) })
    }
}

impl<T> Drop for OnceLock<T> {
    fn drop(&mut self) {
        drop(self.remove());
    }
}

/// The model's first thread has ended: of what is left, nothing can be used any more, if the others have ended before.
pub(crate) fn drop_statics() {
    if !machine::all_are_joined() {
        return;
    }
    // One's destructor may use another.
    while let Some((_, value)) = state::with(|state| state.values.pop_last()) {
        // SAFETY: `put` says what drops it; it is in the map no more.
        unsafe { (value.drop)(value.at) };
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    #[track_caller]
    fn from(value: T) -> OnceLock<T> {
        let lock = OnceLock::new();
        lock.once.call_once(|| lock.put(value));
        lock
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> OnceLock<T> {
        self.get().cloned().map_or_else(OnceLock::new, OnceLock::from)
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    #[track_caller]
    fn eq(&self, other: &OnceLock<T>) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

impl<T> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("OnceLock { .. }")
    }
}
