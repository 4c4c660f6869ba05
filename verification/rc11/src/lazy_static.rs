//! What [`lazy_static!`](macro@crate::lazy_static) makes: values that are made once in an execution, by the thread that needs
//! them first.

use crate::sync::OnceLock;
use std::fmt;

pub use crate::thread::{AccessError, yield_now};
#[doc(no_inline)]
pub use std::thread::panicking;

/// Like `lazy_static::Lazy`.
///
/// ```
/// rc11::lazy_static! {
///     static ref ANSWER: u32 = 6 * 7;
/// }
/// rc11::model(|| {
///     assert_eq!(*ANSWER, 42); // made once an execution
/// });
/// ```
pub struct Lazy<T> {
    #[doc(hidden)]
    pub init: fn() -> T,
    #[doc(hidden)]
    pub value: OnceLock<T>,
}

// SAFETY: a play, with all of its threads, is one thread of the machine, so that nothing is really shared. loom's is `Sync`
// for any `T` too.
unsafe impl<T> Sync for Lazy<T> {}

impl<T: 'static> Lazy<T> {
    /// The value. Making it happens before what each thread does with it.
    ///
    /// # Panics
    /// Outside of a model.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        self.value.get_or_init(self.init)
    }
}

impl<T: 'static> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Lazy { .. }")
    }
}
