//! Every width wraps around, and every operation does what std's does.

use super::{proved, refuted};
use loom::sync::Arc;
use loom::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use loom::sync::atomic::{AtomicBool, AtomicUsize};
use loom::thread;

macro_rules! agrees_with_std {
    ($($name:ident $atomic:ident $int:ident)*) => {$(
        #[test]
        fn $name() {
            let all = [0, 1, 2, $int::MIN, $int::MIN + 1, $int::MAX, $int::MAX - 1, $int::MAX / 2, $int::MAX / 3];
            assert_eq!(
                proved(move || {
                    for a in all {
                        for b in all {
                            let (ours, std) = (loom::sync::atomic::$atomic::new(a), std::sync::atomic::$atomic::new(a));
                            let both = [
                                (ours.fetch_add(b, Relaxed), std.fetch_add(b, Relaxed)),
                                (ours.fetch_sub(a, Relaxed), std.fetch_sub(a, Relaxed)),
                                (ours.fetch_xor(b, Relaxed), std.fetch_xor(b, Relaxed)),
                                (ours.fetch_max(b, Relaxed), std.fetch_max(b, Relaxed)),
                                (ours.fetch_nand(b, Relaxed), std.fetch_nand(b, Relaxed)),
                                (ours.fetch_min(b, Relaxed), std.fetch_min(b, Relaxed)),
                                (ours.fetch_or(a, Relaxed), std.fetch_or(a, Relaxed)),
                                (ours.fetch_and(b, Relaxed), std.fetch_and(b, Relaxed)),
                                (ours.swap(b, AcqRel), std.swap(b, AcqRel)),
                                (ours.load(SeqCst), std.load(SeqCst)),
                                (ours.into_inner(), std.into_inner()),
                            ];
                            both.iter().for_each(|(ours, std)| assert_eq!(ours, std));
                        }
                    }
                }),
                1
            );
        }
    )*};
}

#[rustfmt::skip]
agrees_with_std! {
    u8_ AtomicU8 u8
    u16_ AtomicU16 u16
    u32_ AtomicU32 u32
    u64_ AtomicU64 u64
    usize_ AtomicUsize usize
    i8_ AtomicI8 i8
    i16_ AtomicI16 i16
    i32_ AtomicI32 i32
    i64_ AtomicI64 i64
    isize_ AtomicIsize isize
}

#[test]
fn bools() {
    proved(|| {
        for a in [false, true] {
            for b in [false, true] {
                let (ours, std) = (loom::sync::atomic::AtomicBool::new(a), std::sync::atomic::AtomicBool::new(a));
                assert_eq!(ours.fetch_nand(b, Relaxed), std.fetch_nand(b, Relaxed));
                assert_eq!(ours.fetch_xor(b, Relaxed), std.fetch_xor(b, Relaxed));
                assert_eq!(ours.fetch_or(a, Relaxed), std.fetch_or(a, Relaxed));
                assert_eq!(ours.fetch_and(b, Relaxed), std.fetch_and(b, Relaxed));
                assert_eq!(ours.load(Relaxed), std.load(Relaxed));
            }
        }
    });
}

#[test]
fn exchanges_and_updates() {
    proved(|| {
        let mut word = loom::sync::atomic::AtomicU8::new(5);
        assert_eq!(word.compare_exchange(4, 6, AcqRel, Acquire), Err(5));
        while word.compare_exchange_weak(5, 6, AcqRel, Acquire) == Err(5) {}
        assert_eq!(word.compare_and_swap(6, 7, AcqRel), 6);
        assert_eq!(word.fetch_update(AcqRel, Acquire, |n| n.checked_add(1)), Ok(7));
        assert_eq!(word.fetch_update(AcqRel, Acquire, |n| n.checked_add(250)), Err(8));
        word.with_mut(|n| *n += 1);
        // SAFETY: no other thread has it.
        assert_eq!(unsafe { word.unsync_load() }, 9);
    });
}

#[test]
fn an_update_is_one_step_whatever_it_computes() {
    let twice = |is_one_step: bool| {
        let word = Arc::new(AtomicUsize::new(1));
        let theirs = word.clone();
        let double = move |word: &AtomicUsize| {
            if is_one_step {
                word.update(Relaxed, Relaxed, |value| 2 * value);
            } else {
                word.store(2 * word.load(Relaxed), Relaxed);
            }
        };
        let other = thread::spawn(move || double(&theirs));
        double(&word);
        other.join().unwrap();
        assert_eq!(word.load(Relaxed), 4, "one is lost");
    };
    proved(move || twice(true));
    assert!(refuted(move || twice(false)).contains("one is lost"));
}

#[test]
fn an_update_may_make_nothing_of_the_value() {
    proved(|| {
        let word = AtomicUsize::new(1);
        assert_eq!(word.try_update(Relaxed, Relaxed, |value| value.checked_sub(1)), Ok(1));
        assert_eq!(word.try_update(Relaxed, Relaxed, |value| value.checked_sub(1)), Err(0));
        let flag = AtomicBool::new(false);
        assert!(!flag.fetch_not(Relaxed) && flag.update(Relaxed, Relaxed, |flag| !flag) && !flag.load(Relaxed));
    });
}

#[test]
fn an_owner_changes_the_value_without_an_atomic_step() {
    proved(|| {
        let mut word = AtomicUsize::new(1);
        *word.get_mut() += 1;
        assert_eq!(*word.get_mut(), 2);
        assert_eq!(word.into_inner(), 2);
    });
    let owner = |joins: bool| {
        let word = std::sync::Arc::new(AtomicUsize::new(0));
        let theirs = std::sync::Arc::as_ptr(&word).cast_mut() as usize;
        let other = {
            let word = word.clone();
            thread::spawn(move || word.store(1, Relaxed))
        };
        let mut other = Some(other);
        if joins {
            other.take().unwrap().join().unwrap();
        }
        // SAFETY: no other reference is used meanwhile, if the thread was joined; if not, that is what is to be found.
        *unsafe { &mut *(theirs as *mut AtomicUsize) }.get_mut() += 1;
        if let Some(other) = other {
            other.join().unwrap();
        }
    };
    proved(move || owner(true));
    assert!(refuted(move || owner(false)).contains("race"));
}
