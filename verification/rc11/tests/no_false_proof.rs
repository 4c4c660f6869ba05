//! *Proved* is said of a model that was explored whole, and of no other. Each test tries another way to obtain it falsely.
//! Checkpoints have tests of their own: `checkpoints.rs`.

#[path = "no_false_proof/loops_that_end.rs"]
mod loops_that_end;
#[path = "no_false_proof/random_loops.rs"]
mod random_loops;

use rc11::hint;
use rc11::model::{Builder, Outcome, Verdict};
use rc11::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use rc11::sync::atomic::{AtomicBool, AtomicUsize};
use rc11::sync::{Arc, Mutex};
use rc11::thread;

fn outcome(f: impl Fn() + Send + Sync + 'static) -> Outcome {
    Builder::new().outcome_of(f)
}

#[track_caller]
fn bounded(f: impl Fn() + Send + Sync + 'static) -> String {
    match outcome(f).verdict {
        Verdict::Bounded(why) => why,
        other => panic!("{other}"),
    }
}

#[track_caller]
fn proved(f: impl Fn() + Send + Sync + 'static) -> Outcome {
    let outcome = outcome(f);
    assert_eq!(outcome.verdict, Verdict::Proved);
    outcome
}

#[track_caller]
fn refuted(f: impl Fn() + Send + Sync + 'static) -> String {
    match outcome(f).verdict {
        Verdict::Failed(why) => why,
        other => panic!("{other}"),
    }
}

/// A thread that sets a flag, beside one that looks at it until `gives_up` says so.
fn waits(mut gives_up: impl FnMut() -> bool) {
    let flag = Arc::new(AtomicBool::new(false));
    let theirs = flag.clone();
    let other = thread::spawn(move || theirs.store(true, Release));
    while !flag.load(Acquire) {
        assert!(!gives_up(), "the slow path");
        hint::spin_loop();
    }
    other.join().unwrap();
}

/// A loop that counts its rounds has an end, wherever it counts.
mod a_loop_that_counts {
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;

    const ROUNDS: [u32; 6] = [1, 10, 63, 64, 65, 400];

    /// `counter` makes what counts, up to a number.
    #[track_caller]
    fn is_refuted<C: FnMut() -> bool>(counter: impl Fn(u32) -> C + Send + Sync + Copy + 'static) {
        for rounds in ROUNDS {
            let why = refuted(move || waits(counter(rounds)));
            assert_eq!(why, "the slow path", "of {rounds} rounds");
        }
    }

    #[test]
    fn on_its_stack() {
        is_refuted(|rounds| {
            let mut n = 0;
            move || {
                n += 1;
                n > rounds
            }
        });
    }

    #[test]
    fn in_a_box() {
        is_refuted(|rounds| {
            let mut n = Box::new(0);
            move || {
                *n += 1;
                *n > rounds
            }
        });
    }

    #[test]
    fn in_what_it_shares_with_itself() {
        is_refuted(|rounds| {
            let n = Rc::new(RefCell::new(vec![0u8; 7]));
            move || {
                let carry = |digit: &mut u8| {
                    *digit = (*digit + 1) % 10;
                    *digit == 0
                };
                n.borrow_mut().iter_mut().all(carry);
                let n = n.borrow().iter().rev().fold(0, |n, digit| 10 * n + u32::from(*digit));
                n > rounds
            }
        });
    }

    #[test]
    fn in_the_length_of_a_list() {
        is_refuted(|rounds| {
            let mut list = Vec::new();
            move || {
                list.push(0u8);
                list.len() > rounds as usize
            }
        });
    }

    #[test]
    fn in_a_value_of_its_thread() {
        rc11::thread_local! {
            static N: Cell<u32> = Cell::new(0);
        }
        is_refuted(|rounds| {
            move || {
                N.with(|n| n.set(n.get() + 1));
                N.with(|n| n.get() > rounds)
            }
        });
    }

    #[test]
    fn in_floating_point() {
        is_refuted(|rounds| {
            let mut n = 0.0;
            move || {
                n += 0.5;
                n > f64::from(rounds) / 2.0
            }
        });
    }

    #[test]
    fn in_a_frame_further_up() {
        #[inline(never)]
        fn looks(flag: &AtomicBool) -> bool {
            let seen = flag.load(Acquire);
            hint::spin_loop();
            seen
        }
        for rounds in ROUNDS {
            let why = refuted(move || {
                let flag = Arc::new(AtomicBool::new(false));
                let theirs = flag.clone();
                let other = thread::spawn(move || theirs.store(true, Release));
                let seen = (0..rounds).any(|_| looks(&flag));
                other.join().unwrap();
                assert!(seen, "given up");
            });
            assert_eq!(why, "given up", "of {rounds} rounds");
        }
    }

    #[test]
    fn by_recursion() {
        #[inline(never)]
        fn look_again(flag: &AtomicBool, left: u32) -> bool {
            if left == 0 || flag.load(Acquire) {
                return left > 0;
            }
            thread::yield_now();
            std::hint::black_box(look_again(flag, left - 1))
        }
        let why = refuted(|| {
            let flag = Arc::new(AtomicBool::new(false));
            let theirs = flag.clone();
            let other = thread::spawn(move || theirs.store(true, Release));
            let seen = look_again(&flag, 100);
            other.join().unwrap();
            assert!(seen, "given up");
        });
        assert_eq!(why, "given up");
    }

    #[test]
    fn further_than_an_execution_may_go() {
        let why = bounded(|| {
            let mut n = 0;
            waits(|| {
                n += 1;
                n > 100_000
            });
        });
        assert!(why.starts_with("the loop at ") && why.contains("no_false_proof.rs:"), "{why}");
        assert!(why.contains("raise `max_branches`"), "{why}");
    }

    #[test]
    fn and_is_right() {
        proved(|| {
            let flag = Arc::new(AtomicBool::new(false));
            let theirs = flag.clone();
            let other = thread::spawn(move || theirs.store(true, Release));
            let _ = (0..100).any(|_| {
                hint::spin_loop();
                flag.load(Acquire)
            });
            other.join().unwrap();
            assert!(flag.load(Relaxed));
        });
    }
}

mod a_loop_that_waits {
    use super::*;

    #[test]
    fn is_shown_to_have_no_end() {
        let outcome = proved(|| waits(|| false));
        assert!(outcome.assumes.contains("shown to go on for ever"), "{}", outcome.assumes);
    }

    #[test]
    fn is_shown_to_have_no_end_though_it_backs_off() {
        proved(|| {
            let mut step = 0u32;
            waits(|| {
                (0..1 << step.min(6)).for_each(|_| hint::spin_loop());
                step = step.min(9) + 1;
                false
            });
        });
    }

    #[test]
    fn is_shown_to_have_no_end_though_it_allocates() {
        proved(|| {
            waits(|| *std::hint::black_box(Box::new(7)) == 0);
        });
    }

    #[test]
    fn and_writes_in_its_rounds_is_cut_at_its_line() {
        let why = bounded(|| {
            let flag = Arc::new(AtomicBool::new(true));
            let theirs = flag.clone();
            let other = thread::spawn(move || theirs.store(false, Release));
            while flag.swap(true, Acquire) {
                hint::spin_loop();
            }
            other.join().unwrap();
        });
        assert!(why.contains(&format!("no_false_proof.rs:{}:", line!() - 4)), "{why}");
        assert!(why.contains("load first"), "{why}");
    }
}

/// A loop that comes back to where it was, but not at once: it may be left from each state on the way.
mod a_loop_whose_rounds_differ {
    use super::*;

    /// Waits for a flag, and counts the rounds by `next`. Which number must never be reached?
    #[track_caller]
    fn comes_to(next: impl Fn(u32) -> u32 + Send + Sync + Copy + 'static, number: u32) {
        let why = refuted(move || assert_ne!(rounds(next), number));
        assert!(why.contains("assertion `left != right` failed"), "{why}");
    }

    fn rounds(next: impl Fn(u32) -> u32) -> u32 {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        let mut n = 0;
        while !flag.load(Acquire) {
            n = next(n);
            hint::spin_loop();
        }
        other.join().unwrap();
        n
    }

    #[test]
    fn since_its_count_comes_to_rest() {
        for most in [1, 2, 3, 10, 60] {
            for number in 1..=most {
                comes_to(move |n| most.min(n + 1), number);
            }
        }
    }

    #[test]
    fn since_its_count_goes_round() {
        for modulus in [2, 3, 5] {
            for number in 1..modulus {
                comes_to(move |n| (n + 1) % modulus, number);
            }
        }
        // A way to the circle, and then the circle.
        for number in 1..7 {
            comes_to(|n| if n < 6 { n + 1 } else { 4 }, number);
        }
    }

    #[test]
    fn and_is_right() {
        proved(|| assert!(rounds(|n| 10.min(n + 1)) <= 10));
        proved(|| assert!(rounds(|n| (n + 1) % 3) < 3));
    }

    /// One execution for each number of rounds, and not more.
    #[test]
    fn is_played_once_from_each_state() {
        let executions = |most: u32| proved(move || _ = rounds(move |n| most.min(n + 1))).executions;
        assert_eq!([executions(0), executions(1), executions(2), executions(9)], [2, 2, 3, 10]);
    }

    #[test]
    fn though_another_thread_writes_between() {
        let why = refuted(|| {
            let words = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
            let theirs = words.clone();
            let other = thread::spawn(move || {
                theirs[0].store(1, Release);
                theirs[1].store(1, Release);
            });
            let mut n = 0;
            while words[1].load(Acquire) == 0 {
                n = 4.min(n + 1 + words[0].load(Relaxed));
                hint::spin_loop();
            }
            assert_ne!(n, 3);
            other.join().unwrap();
        });
        assert!(why.contains("assertion `left != right` failed"), "{why}");
    }
}

/// A wait that may time out, in a loop whose rounds differ.
mod a_loop_that_times_out {
    use super::*;
    use rc11::sync::Condvar;
    use std::time::Duration;

    const A_WHILE: Duration = Duration::from_secs(1);

    #[track_caller]
    fn is_not_proved(f: impl Fn() + Send + Sync + 'static) {
        let verdict = outcome(f).verdict;
        assert_ne!(verdict, Verdict::Proved);
    }

    #[test]
    fn on_a_condition_variable() {
        for number in 1..=6 {
            is_not_proved(move || {
                let shared = Arc::new((Mutex::new(false), Condvar::new()));
                let theirs = shared.clone();
                let other = thread::spawn(move || {
                    *theirs.0.lock().unwrap() = true;
                    theirs.1.notify_one();
                });
                let (mut n, mut flag) = (0, shared.0.lock().unwrap());
                while !*flag {
                    let (after, result) = shared.1.wait_timeout(flag, A_WHILE).unwrap();
                    flag = after;
                    n = 6.min(n + u32::from(result.timed_out()));
                }
                drop(flag);
                other.join().unwrap();
                assert_ne!(n, number);
            });
        }
    }

    /// After so many time-outs, the next wait may be woken.
    #[test]
    fn in_park() {
        for number in 1..=6 {
            let verdict = outcome(move || {
                let flag = Arc::new(AtomicUsize::new(0));
                let (theirs, main) = (flag.clone(), thread::current());
                let other = thread::spawn(move || {
                    theirs.store(1, Relaxed);
                    main.unpark();
                });
                let mut n = 0;
                while flag.load(Relaxed) == 0 {
                    thread::park_timeout(A_WHILE);
                    n = 6.min(n + 1);
                }
                other.join().unwrap();
                if n == number {
                    // Is there a token? Not if the last wait has had it; one before would have shown the flag.
                    thread::park();
                }
            })
            .verdict;
            match verdict {
                Verdict::Failed(why) => assert!(why.starts_with("deadlock"), "{why}"),
                // Its rounds are not all played.
                Verdict::Bounded(_) => assert!(number > 1),
                other => panic!("{other}"),
            }
        }
    }

    /// Two tokens, of which both may be taken before the flag is seen.
    #[test]
    fn in_park_and_is_woken_twice() {
        let why = refuted(|| {
            let flag = Arc::new(AtomicUsize::new(0));
            let (theirs, main) = (flag.clone(), thread::current());
            let other = thread::spawn(move || {
                (0..2).for_each(|_| main.unpark());
                theirs.store(1, Relaxed);
            });
            let mut woken = 0;
            while flag.load(Relaxed) == 0 {
                thread::park_timeout(A_WHILE);
                woken += 1;
            }
            other.join().unwrap();
            if woken == 2 {
                thread::park();
            }
        });
        assert!(why.starts_with("deadlock"), "{why}");
    }

    #[test]
    fn and_is_played_again_as_it_was() {
        let picture = Builder::new().refute("time-outs", || {
            let shared = Arc::new((Mutex::new(false), Condvar::new()));
            let theirs = shared.clone();
            let other = thread::spawn(move || *theirs.0.lock().unwrap() = true);
            let mut flag = shared.0.lock().unwrap();
            for _ in 0..5 {
                flag = shared.1.wait_timeout(flag, A_WHILE).unwrap().0;
            }
            assert!(*flag, "all have timed out");
            drop(flag);
            other.join().unwrap();
        });
        let text = picture.expect("it may be late").columns();
        assert!(text.contains("all have timed out") && text.contains("no_false_proof.rs"), "{text}");
    }

    #[test]
    fn in_a_channel() {
        for number in 1..=6 {
            is_not_proved(move || {
                let (sender, receiver) = rc11::sync::mpsc::channel();
                let other = thread::spawn(move || sender.send(1).unwrap());
                let mut n = 0;
                while receiver.recv_timeout(A_WHILE).is_err() {
                    n = 6.min(n + 1);
                }
                other.join().unwrap();
                assert_ne!(n, number);
            });
        }
    }
}

mod a_closure_that_the_checker_does_not_see {
    use super::*;

    const WHY: &str = "the checker sees nothing that the threads share";

    #[test]
    fn because_its_atomics_are_those_of_std() {
        let why = bounded(|| {
            let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
            let theirs = flag.clone();
            let other = thread::spawn(move || theirs.store(true, Relaxed));
            flag.load(Relaxed);
            other.join().unwrap();
        });
        assert!(why.starts_with(WHY), "{why}");
    }

    #[test]
    fn though_each_thread_has_an_atomic_of_its_own() {
        let why = bounded(|| {
            let looks = || AtomicUsize::new(0).fetch_add(1, Relaxed);
            let other = thread::spawn(looks);
            looks();
            other.join().unwrap();
        });
        assert!(why.starts_with(WHY), "{why}");
    }

    #[test]
    fn because_it_does_nothing() {
        assert!(bounded(|| ()).starts_with(WHY));
    }

    #[test]
    fn but_one_thread_with_an_atomic_is_seen() {
        proved(|| assert_eq!(AtomicUsize::new(3).load(Relaxed), 3));
    }
}

/// What the tests below explore: more than a handful of executions, none of them wrong.
fn three_threads() {
    let word = Arc::new(AtomicUsize::new(0));
    let threads = [1, 2, 3].map(|n| {
        let word = word.clone();
        thread::spawn(move || {
            word.store(n, Relaxed);
            word.load(Relaxed)
        })
    });
    threads.into_iter().for_each(|thread| _ = thread.join().unwrap());
}

mod a_bound {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn few() -> Builder {
        let mut builder = Builder::new();
        builder.max_permutations = Some(5);
        builder
    }

    #[test]
    fn is_kept_to_the_execution() {
        assert_eq!(few().outcome_of(three_threads).executions, 5);
    }

    #[test]
    fn fails_a_test() {
        let panic = catch_unwind(AssertUnwindSafe(|| few().check(three_threads))).unwrap_err();
        let text = panic.downcast_ref::<String>().unwrap();
        assert!(text.starts_with("not proved, but bounded: not all was explored: max_permutations 5"), "{text}");
        assert!(text.contains("RC11_BOUNDED_OK=true"), "{text}");
    }

    #[test]
    fn passes_a_test_that_says_so() {
        few().bounded_ok().check(three_threads);
    }

    #[test]
    fn is_no_proof_though_the_test_says_so() {
        let panic = catch_unwind(AssertUnwindSafe(|| few().bounded_ok().prove(three_threads))).unwrap_err();
        let text = panic.downcast_ref::<String>().unwrap();
        assert!(
            text.contains("5 executions were explored") && text.contains("`Builder::prove` never accepts"),
            "{text}"
        );
    }

    #[test]
    fn of_time() {
        let mut builder = Builder::new();
        builder.max_duration = Some(std::time::Duration::ZERO);
        let six_threads = || (0..2).for_each(|_| three_threads());
        let Verdict::Bounded(_) = builder.outcome_of(six_threads).verdict else { panic!("it had no time") };
    }

    #[test]
    fn of_threads() {
        let mut builder = Builder::new();
        builder.max_threads = 2;
        let Verdict::Failed(why) = builder.outcome_of(three_threads).verdict else { panic!("they are four") };
        assert!(why.contains("more than 2 threads"), "{why}");
    }

    #[test]
    fn of_what_is_explored() {
        bounded(|| {
            rc11::stop_exploring();
            three_threads();
        });
        bounded(|| {
            rc11::skip_branch();
            three_threads();
        });
    }
}

/// What is left at the end is wrong, however the execution came to it.
mod a_leak {
    use super::*;

    #[test]
    fn in_one_execution_of_several() {
        let why = refuted(|| {
            let flag = Arc::new(AtomicBool::new(false));
            let theirs = flag.clone();
            let other = thread::spawn(move || theirs.store(true, Relaxed));
            if !flag.load(Relaxed) {
                std::mem::forget(flag.clone());
            }
            other.join().unwrap();
        });
        assert!(why.starts_with("Arc leaked"), "{why}");
    }

    #[test]
    fn of_a_thread_that_nobody_joins_and_that_waits() {
        let why = refuted(|| {
            let lock = Arc::new(Mutex::new(()));
            let theirs = lock.clone();
            std::mem::forget(lock.lock().unwrap());
            drop(thread::spawn(move || drop(theirs.lock().unwrap())));
        });
        assert!(why.contains("wait for ever"), "{why}");
    }
}
