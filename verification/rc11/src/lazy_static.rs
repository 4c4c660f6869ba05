//! What [`lazy_static!`](macro@crate::lazy_static) makes: values that are made once in an execution, by who needs them first.

use crate::graph::Order;
use crate::machine;
use crate::place::Place;
use crate::state;
use crate::sync::RawLock;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

pub use crate::thread::{AccessError, yield_now};
#[doc(no_inline)]
pub use std::thread::panicking;

/// Like `lazy_static::Lazy`.
pub struct Lazy<T> {
    #[doc(hidden)]
    pub init: fn() -> T,
    #[doc(hidden)]
    pub _p: PhantomData<fn(T)>,
}

/// Statics, in the order in which they were first used in this process.
static KEYS: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Which one it is.
fn number(key: usize) -> u32 {
    let mut keys = KEYS.lock().unwrap_or_else(PoisonError::into_inner);
    let found = keys.iter().position(|known| *known == key);
    found.unwrap_or_else(|| {
        keys.push(key);
        keys.len() - 1
    }) as u32
}

impl<T: 'static> Lazy<T> {
    /// The value. Making it happens before what each thread does with it.
    ///
    /// # Panics
    /// Outside of a model, or when the model's first thread has ended, and with it all such values.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        let key = std::ptr::from_ref(self).addr();
        let number = number(key);
        let is_made = Place::of_static(2 * number);
        if is_made.load(Order::Acquire) == 0 {
            let lock = RawLock::of_static(2 * number + 1);
            lock.lock();
            if is_made.load(Order::Relaxed) == 0 {
                let value: Arc<dyn Any> = Arc::new((self.init)());
                state::with(|state| state.statics.insert(key, value));
                is_made.store(1, Order::Release);
            }
            lock.unlock();
        }
        let Some(value) = state::with(|state| state.statics.get(&key).cloned()) else {
            machine::fail("a `lazy_static!` is used after the model's first thread has ended, and with it the value");
            machine::rest_in_peace();
        };
        let value: *const T = value.downcast_ref::<T>().expect("a key has one type");
        // SAFETY: the value is dropped when the first thread of the execution ends; until then nobody moves it. A model
        // that keeps the reference beyond that uses it after it was freed, as one of loom's would: the reference is said
        // to live for ever, since lazy_static's does.
        unsafe { &*value }
    }
}

impl<T: 'static> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Lazy { .. }")
    }
}

/// The first thread is at its end.
pub(crate) fn drop_statics() {
    let statics = state::with(|state| std::mem::take(&mut state.statics));
    drop(statics);
}
