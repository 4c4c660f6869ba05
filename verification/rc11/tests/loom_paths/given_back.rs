//! Memory that is given back, and threads that are woken, at the right time, and a step too early or too late.

use super::{Memory, proved, refuted};
use loom::hint;
use loom::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use loom::sync::atomic::{AtomicPtr, AtomicUsize};
use loom::sync::{Arc, Mutex};
use loom::thread;
use std::cell::RefCell;

/// A deque whose buffer grows: a thief may still read the old one.
mod a_buffer_that_is_replaced {
    use super::*;

    fn grown_beside_stolen(waits: bool) {
        let buffer = |values: &[usize]| Box::into_raw(Box::new(values.iter().map(|n| AtomicUsize::new(*n)).collect()));
        let shared: Arc<(AtomicPtr<Vec<AtomicUsize>>, AtomicUsize, AtomicUsize)> =
            Arc::new((AtomicPtr::new(buffer(&[1])), AtomicUsize::new(0), AtomicUsize::new(0)));
        let theirs = shared.clone();
        let thief = thread::spawn(move || {
            theirs.2.fetch_add(1, SeqCst);
            let top = theirs.1.load(Acquire);
            // SAFETY: a buffer is freed when no thief is counted. Is that so?
            let value = unsafe { &*theirs.0.load(SeqCst) }[0].load(Relaxed);
            let is_mine = theirs.1.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok();
            theirs.2.fetch_sub(1, Release);
            is_mine.then_some(value)
        });
        let old = shared.0.load(Relaxed);
        // SAFETY: this thread alone replaces it.
        let value = unsafe { &*old }[0].load(Relaxed);
        shared.0.swap(buffer(&[value, 2]), SeqCst);
        while waits && shared.2.load(SeqCst) > 0 {
            hint::spin_loop();
        }
        // SAFETY: as above.
        drop(unsafe { Box::from_raw(old) });
        assert_eq!(thief.join().unwrap(), Some(1));
        // SAFETY: the other thread has ended.
        drop(unsafe { Box::from_raw(shared.0.load(Relaxed)) });
    }

    #[test]
    fn and_freed_when_no_thief_reads_it() {
        proved(|| grown_beside_stolen(true));
    }

    #[test]
    fn and_freed_at_once() {
        assert!(refuted(|| grown_beside_stolen(false)).starts_with("use after free"));
    }
}

/// Read, copy, update: what was replaced is freed when each reader has been at rest since.
mod a_grace_period {
    use super::*;

    fn replaced_beside_two_readers(waits_for: usize) {
        let made = |value| Box::into_raw(Box::new(AtomicUsize::new(value)));
        let shared = Arc::new((AtomicPtr::new(made(1)), [AtomicUsize::new(0), AtomicUsize::new(0)]));
        let readers = [0, 1].map(|me| {
            let theirs = shared.clone();
            thread::spawn(move || {
                // SAFETY: it is freed when each reader has been at rest. Is that so?
                assert!(unsafe { &*theirs.0.load(Acquire) }.load(Relaxed) > 0);
                theirs.1[me].store(1, Release);
            })
        });
        let old = shared.0.swap(made(2), AcqRel);
        for rests in &shared.1[..waits_for] {
            while rests.load(Acquire) == 0 {
                hint::spin_loop();
            }
        }
        // SAFETY: as above.
        drop(unsafe { Box::from_raw(old) });
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        // SAFETY: the others have ended.
        drop(unsafe { Box::from_raw(shared.0.load(Relaxed)) });
    }

    #[test]
    fn of_all_readers() {
        proved(|| replaced_beside_two_readers(2));
    }

    #[test]
    fn of_one_of_them() {
        assert!(refuted(|| replaced_beside_two_readers(1)).starts_with("use after free"));
    }
}

/// A value for one, whose receiver parks.
mod a_thread_that_is_parked {
    use super::*;

    /// 0: empty; 1: it waits; 2: the value is there.
    fn sent(looks_again: bool) {
        let shared = Arc::new((AtomicUsize::new(0), Memory::default()));
        let (theirs, receiver) = (shared.clone(), thread::current());
        let other = thread::spawn(move || {
            theirs.1.write(7);
            if theirs.0.swap(2, AcqRel) == 1 {
                receiver.unpark();
            }
        });
        match looks_again {
            true => _ = shared.0.compare_exchange(0, 1, AcqRel, Acquire),
            false => shared.0.store(1, Release),
        }
        while shared.0.load(Acquire) != 2 {
            thread::park();
        }
        assert_eq!(shared.1.read(), 7);
        other.join().unwrap();
    }

    #[test]
    fn if_there_is_no_value() {
        proved(|| sent(true));
    }

    #[test]
    fn though_the_value_has_come() {
        assert!(refuted(|| sent(false)).starts_with("deadlock"));
    }
}

/// What one makes and the others wait for, by a loop.
mod a_value_that_is_made_once {
    use super::*;

    /// 0: not made; 1: it is being made; 2: it is there.
    fn got_by_two(exchanges: bool) {
        let cell = Arc::new((AtomicUsize::new(0), Memory::default()));
        let got = move |(state, data): &(AtomicUsize, Memory)| {
            let is_mine = match exchanges {
                true => state.compare_exchange(0, 1, Acquire, Relaxed).is_ok(),
                false => state.load(Acquire) == 0,
            };
            if is_mine {
                data.write(7);
                state.store(2, Release);
            }
            while state.load(Acquire) != 2 {
                hint::spin_loop();
            }
            data.read()
        };
        let theirs = cell.clone();
        let other = thread::spawn(move || got(&theirs));
        assert_eq!((got(&cell), other.join().unwrap()), (7, 7));
    }

    #[test]
    fn by_the_first_one() {
        proved(|| got_by_two(true));
    }

    #[test]
    fn by_each_that_finds_none() {
        assert!(refuted(|| got_by_two(false)).starts_with("data race"));
    }
}

/// Destructors of a thread's own values run before it counts as ended, and after all that it does itself.
mod a_value_of_a_thread {
    use super::*;

    struct Tells(Arc<(AtomicUsize, Memory)>);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.1.write(1);
            self.0.0.store(1, Release);
        }
    }

    loom::thread_local! {
        static TELLS: RefCell<Option<Tells>> = RefCell::new(None);
    }

    fn told(joins: bool) {
        let shared = Arc::new((AtomicUsize::new(0), Memory::default()));
        let (theirs, finished) = (shared.clone(), Arc::new(Mutex::new(false)));
        let also = finished.clone();
        let other = thread::spawn(move || {
            TELLS.with(|tells| *tells.borrow_mut() = Some(Tells(theirs)));
            *also.lock().unwrap() = true;
        });
        if joins {
            other.join().unwrap();
            assert_eq!(shared.1.read(), 1);
        } else if *finished.lock().unwrap() {
            // Its closure is over. Its values need not be.
            shared.1.read();
        }
    }

    #[test]
    fn is_gone_when_it_is_joined() {
        proved(|| told(true));
    }

    #[test]
    fn is_not_gone_when_its_closure_is_over() {
        assert!(refuted(|| told(false)).starts_with("data race"));
    }

    #[test]
    fn is_gone_after_its_scope() {
        proved(|| {
            let word = AtomicUsize::new(0);
            let data = Memory::default();
            thread::scope(|scope| {
                scope.spawn(|| {
                    data.write(1);
                    word.store(1, Release);
                });
                while word.load(Acquire) == 0 {
                    hint::spin_loop();
                }
            });
            assert_eq!(data.read(), 1);
        });
    }
}
