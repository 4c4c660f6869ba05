//! A stack of its own, which its thread runs until it suspends itself.

#![allow(unsafe_code)]

use core::cell::Cell;
use core::ptr::NonNull;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, Yielder};
use std::io;

thread_local! {
    /// Of the fiber that runs now: what suspends it.
    static YIELDER: Cell<Option<NonNull<Yielder<(), ()>>>> = const { Cell::new(None) };
}

/// A function that can be left in its middle. It stays on the thread that has made it.
pub(super) struct Fiber(Option<Coroutine<(), (), ()>>);

impl Fiber {
    /// Of `body`, on a stack of so many bytes. Memory is only taken as it is used.
    ///
    /// # Errors
    /// If the system gives no stack.
    pub(super) fn new(stack: usize, body: impl FnOnce() + 'static) -> io::Result<Fiber> {
        let stack = DefaultStack::new(stack)?;
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            let _left = Leave;
            YIELDER.set(Some(NonNull::from(yielder)));
            body();
        });
        Ok(Fiber(Some(coroutine)))
    }

    /// Runs it until it suspends itself (`false`), or has ended (`true`). A panic of its is the caller's.
    pub(super) fn resume(&mut self) -> bool {
        self.0.as_mut().is_none_or(|coroutine| coroutine.resume(()).as_return().is_some())
    }
}

impl Drop for Fiber {
    /// One in its middle is forgotten, with its stack: to unwind it would run the scheduler's code in a world that has
    /// ended.
    fn drop(&mut self) {
        if let Some(coroutine) = self.0.take()
            && coroutine.started()
            && !coroutine.done()
        {
            core::mem::forget(coroutine);
        }
    }
}

/// The body has ended, by a panic perhaps.
struct Leave;

impl Drop for Leave {
    fn drop(&mut self) {
        YIELDER.set(None);
    }
}

/// Leaves the fiber that runs now, until it is resumed.
///
/// # Panics
/// If none does.
pub(super) fn suspend() {
    let yielder = YIELDER.take().expect("sim: what is no fiber cannot be suspended");
    // SAFETY: the body of the fiber that runs now has put it there, and is not left yet: whenever a fiber is left, by its
    // end or by the line below, it is taken out, and put back when that fiber runs again. So it is this one's, and the
    // coroutine keeps it until its body ends.
    unsafe { yielder.as_ref() }.suspend(());
    YIELDER.set(Some(yielder));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    mod a_fiber {
        use super::*;

        #[test]
        fn goes_on_where_it_was_left() {
            let steps = Rc::new(Cell::new(0));
            let mut fibers: Vec<_> = (0..2)
                .map(|_| {
                    let steps = Rc::clone(&steps);
                    Fiber::new(64 << 10, move || {
                        for _ in 0..3 {
                            steps.set(steps.get() + 1);
                            suspend();
                        }
                    })
                    .expect("a stack")
                })
                .collect();
            for round in 1..=3 {
                assert!(fibers.iter_mut().all(|fiber| !fiber.resume()), "it has ended too early");
                assert_eq!(steps.get(), 2 * round);
            }
            assert!(fibers.iter_mut().all(Fiber::resume), "it goes on after its end");
        }

        #[test]
        fn hands_its_panic_to_who_runs_it() {
            let mut fiber = Fiber::new(64 << 10, || std::panic::resume_unwind(Box::new("its own"))).expect("a stack");
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| fiber.resume()));
            assert_eq!(caught.expect_err("it panicked").downcast_ref(), Some(&"its own"));
            assert!(YIELDER.get().is_none(), "a fiber that has ended can be suspended");
        }

        #[test]
        fn may_be_dropped_in_its_middle() {
            let mut fiber = Fiber::new(64 << 10, suspend).expect("a stack");
            assert!(!fiber.resume());
        }
    }
}
