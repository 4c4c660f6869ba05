//! How this crate keeps a thread local: behind a function that is never inlined, and says where it lies now.
//!
//! **No address of a thread local is kept over a change of stacks.** A goroutine that waits may go on upon another thread, where
//! each thread local lies elsewhere. The compiler does not know that: what it inlines into the goroutine's code it may compute
//! once, before the wait, and use after it, when the first thread has ended perhaps. A function that it calls computes the address
//! anew. `tests/thread_locals.rs` reads the machine code of goroutines into which everything else was inlined.

/// Declares a thread local, `static NAME: Type = value;`, which is reached by `NAME::with`: that runs a closure with it, and returns
/// `None` if the thread is ending and it has been destroyed. The value is a constant. The closure must not change stacks.
///
/// `NAME::in_place` does the same without a call. It is for a function that is itself not inlined, and for an M's loop, which never
/// leaves its thread.
macro_rules! thread_state {
    ($($(#[$attribute:meta])* $visible:vis static $name:ident: $type:ty = $value:expr;)+) => {$(
        $(#[$attribute])*
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        $visible struct $name;

        impl $name {
            #[allow(dead_code)]
            #[allow(unsafe_code)]
            #[inline(always)]
            $visible fn with<R>(f: impl FnOnce(&$type) -> R) -> Option<R> {
                // SAFETY: it is there, and this thread's, which stays on this stack until `f` has returned.
                Self::place().map(|place| f(unsafe { place.as_ref() }))
            }

            /// Where it lies now.
            #[allow(dead_code)]
            #[inline(never)]
            fn place() -> Option<core::ptr::NonNull<$type>> {
                // SeqCst: for the compiler alone, which must not take two calls for one.
                core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
                Self::in_place(|place| core::ptr::NonNull::from(place))
            }

            #[inline(always)]
            $visible fn in_place<R>(f: impl FnOnce(&$type) -> R) -> Option<R> {
                std::thread_local!(static PLACE: $type = const { $value });
                PLACE.try_with(f).ok()
            }
        }
    )+};
}

pub(in crate::runtime) use thread_state;
