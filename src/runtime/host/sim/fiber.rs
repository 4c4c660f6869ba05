//! A thread of the system that runs only when it is its turn: so a simulated thread has thread locals of its own, which begin and end
//! with it in the order of a stack, as on real cores. Crates that keep a pointer to a frame in a thread local (`scoped_tls`) rely on it.
//!
//! **One runs at a time.** The thread that resumes a fiber sleeps until the fiber suspends itself or has ended; the turn is handed over
//! under a lock, so each sees what the other did before.

use crate::runtime::host::foreign_threads::Known;
use crate::runtime::host::thread_state::thread_state;
use core::cell::RefCell;
use core::mem;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

thread_state! {
    /// The fiber that this thread is. The first thread local that it has: they are destroyed in the reverse order, so that the turn is
    /// given back behind the others.
    static ME: RefCell<Option<Me>> = RefCell::new(None);
}

struct Me {
    turn: Arc<Turn>,
    ended: thread::Result<()>,
}

impl Drop for Me {
    fn drop(&mut self) {
        self.turn.give(Whose::Ended(mem::replace(&mut self.ended, Ok(()))));
    }
}

/// Whose turn it is.
enum Whose {
    /// Of the thread that resumes the fiber: the fiber has suspended itself, or has yet to begin.
    Resumer,
    Fiber,
    /// The fiber is not wanted: it has not begun, and ends.
    Dropped,
    /// The fiber has ended, by this panic perhaps.
    Ended(thread::Result<()>),
}

struct Turn {
    whose: Mutex<Whose>,
    changed: Condvar,
}

impl Turn {
    fn lock(&self) -> MutexGuard<'_, Whose> {
        self.whose.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give(&self, whose: Whose) {
        *self.lock() = whose;
        self.changed.notify_all();
    }

    /// Waits as long as it is `theirs`.
    fn wait_while(&self, theirs: fn(&Whose) -> bool) -> MutexGuard<'_, Whose> {
        self.changed.wait_while(self.lock(), |whose| theirs(whose)).unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_for_fiber(&self) -> MutexGuard<'_, Whose> {
        self.wait_while(|whose| matches!(whose, Whose::Fiber))
    }

    /// `false`: the fiber is not wanted.
    fn wait_for_resumer(&self) -> bool {
        !matches!(*self.wait_while(|whose| matches!(whose, Whose::Resumer)), Whose::Dropped)
    }
}

/// A function that can be left in its middle.
pub(super) struct Fiber {
    turn: Arc<Turn>,
    thread: Option<JoinHandle<()>>,
    has_begun: bool,
}

impl Fiber {
    /// Of `body`, on a thread with a stack of so many bytes.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub(super) fn new(name: &str, stack: usize, body: impl FnOnce() + Send + 'static) -> io::Result<Fiber> {
        let turn = Arc::new(Turn { whose: Mutex::new(Whose::Resumer), changed: Condvar::new() });
        let mine = Arc::clone(&turn);
        let thread = thread::Builder::new().name(name.to_owned()).stack_size(stack).spawn(move || {
            let _known = Known::new();
            if !mine.wait_for_resumer() {
                return;
            }
            ME::with(|me| me.replace(Some(Me { turn: mine, ended: Ok(()) })));
            let ended = catch_unwind(AssertUnwindSafe(body));
            ME::with(|me| {
                if let Some(me) = &mut *me.borrow_mut() {
                    me.ended = ended;
                }
            });
        })?;
        Ok(Fiber { turn, thread: Some(thread), has_begun: false })
    }

    /// Runs it until it suspends itself (`false`), or has ended (`true`), and its thread locals with it. A panic of its is the caller's.
    pub(super) fn resume(&mut self) -> bool {
        if self.thread.is_none() {
            return true;
        }
        self.has_begun = true;
        self.turn.give(Whose::Fiber);
        let ended = match mem::replace(&mut *self.turn.wait_for_fiber(), Whose::Resumer) {
            Whose::Ended(ended) => ended,
            Whose::Resumer | Whose::Fiber | Whose::Dropped => return false,
        };
        let joined = self.thread.take().map_or(Ok(()), JoinHandle::join);
        ended.and(joined).map_or_else(|payload| resume_unwind(payload), |()| true)
    }
}

impl Drop for Fiber {
    /// One that has not begun ends. One in its middle is left there, for ever, with its thread: to unwind it would run the scheduler's
    /// code in a world that has ended.
    fn drop(&mut self) {
        if !self.has_begun {
            self.turn.give(Whose::Dropped);
            self.thread.take().map(JoinHandle::join);
        }
    }
}

/// Leaves the fiber that runs now, until it is resumed.
///
/// # Panics
/// If none does.
pub(super) fn suspend() {
    let turn = ME::with(|me| me.borrow().as_ref().map(|me| Arc::clone(&me.turn))).flatten();
    let turn = turn.expect("sim: what is no fiber cannot be suspended");
    turn.give(Whose::Resumer);
    turn.wait_for_resumer();
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;
    use core::sync::atomic::AtomicUsize;
    use core::sync::atomic::Ordering::SeqCst;

    const STACK: usize = 256 << 10;

    mod a_fiber {
        use super::*;

        #[test]
        fn goes_on_where_it_was_left() {
            let steps = Arc::new(AtomicUsize::new(0));
            let mut fibers: Vec<_> = (0..2)
                .map(|_| {
                    let steps = Arc::clone(&steps);
                    let body = move || {
                        for _ in 0..3 {
                            steps.fetch_add(1, SeqCst);
                            suspend();
                        }
                    };
                    Fiber::new("one", STACK, body).expect("a thread")
                })
                .collect();
            for round in 1..=3 {
                assert!(fibers.iter_mut().all(|fiber| !fiber.resume()), "it has ended too early");
                assert_eq!(steps.load(SeqCst), 2 * round);
            }
            assert!(fibers.iter_mut().all(Fiber::resume), "it goes on after its end");
        }

        #[test]
        fn hands_its_panic_to_the_thread_that_runs_it() {
            let mut fiber = Fiber::new("one", STACK, || resume_unwind(Box::new("its own"))).expect("a thread");
            let caught = catch_unwind(AssertUnwindSafe(|| fiber.resume()));
            assert_eq!(caught.expect_err("it panicked").downcast_ref(), Some(&"its own"));
            assert!(fiber.resume(), "it has ended");
        }

        #[test]
        fn may_be_dropped_before_it_begins_and_in_its_middle() {
            let owned = Arc::new(());
            let theirs = Arc::clone(&owned);
            drop(Fiber::new("one", STACK, move || drop(theirs)).expect("a thread"));
            assert_eq!(Arc::strong_count(&owned), 1);
            let mut fiber = Fiber::new("one", STACK, suspend).expect("a thread");
            assert!(!fiber.resume());
        }

        #[test]
        fn has_thread_locals_that_end_before_it_has_ended() {
            struct Slow(Arc<AtomicUsize>);
            impl Drop for Slow {
                fn drop(&mut self) {
                    suspend();
                    self.0.fetch_add(1, SeqCst);
                }
            }
            thread_state! { static SLOW: Cell<Option<Slow>> = Cell::new(None); }
            let dropped = Arc::new(AtomicUsize::new(0));
            let theirs = Arc::clone(&dropped);
            let mut fiber =
                Fiber::new("one", STACK, move || assert!(SLOW::with(|slow| slow.set(Some(Slow(theirs)))).is_some()))
                    .expect("a thread");
            assert!(!fiber.resume(), "its thread local has yet to end");
            assert_eq!(dropped.load(SeqCst), 0);
            assert!(fiber.resume());
            assert_eq!(dropped.load(SeqCst), 1);
        }
    }
}
