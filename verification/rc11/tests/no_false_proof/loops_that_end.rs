//! A loop that waits is given up only when it is shown to have no end. Each of these loops ends, by what another thread
//! writes later, and meanwhile that thread changes memory that the loop does not look at: a right one must be proved, and a
//! wrong one must be seen to go wrong in each round from which it may end.

use super::{outcome, proved, refuted};
use rc11::hint;
use rc11::model::Verdict;
use rc11::sync::Arc;
use rc11::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use rc11::sync::atomic::{AtomicPtr, AtomicUsize, fence};
use rc11::thread;

type Words = [AtomicUsize; 3];

/// `f` waits. Beside it, a thread stores to each of those words in turn, and changes memory of its own before each.
fn beside(stores: &[(usize, usize)], f: impl Fn(&Words)) {
    let words: Arc<Words> = Arc::new(Default::default());
    let (theirs, stores) = (words.clone(), stores.to_vec());
    let other = thread::spawn(move || {
        let mut own = Vec::new();
        for (word, value) in stores {
            own.push(Box::new(value));
            theirs[word].store(value, Release);
            *own[0] += 1;
        }
    });
    f(&words);
    other.join().unwrap();
}

/// The same; it yields until `round` says that it is done, which is told how many rounds there were, by `next`.
fn counted(words: &Words, next: impl Fn(usize) -> usize, mut round: impl FnMut(&Words, usize) -> bool) -> usize {
    let mut n = 0;
    while !round(words, n) {
        n = next(n);
        hint::spin_loop();
    }
    n
}

const ALL: [(usize, usize); 3] = [(0, 1), (1, 1), (2, 1)];

/// From which of the states of its count a loop may end.
fn ends_at(numbers: std::ops::Range<usize>, next: impl Fn(usize) -> usize + Send + Sync + Copy + 'static) {
    for number in numbers {
        let why = refuted(move || {
            beside(&ALL, |words| {
                let n = counted(words, next, |words, _| words[2].load(Acquire) == 1);
                assert!(n != number, "it has come so far");
            });
        });
        assert!(why.contains("it has come so far"), "{number}: {why}");
    }
}

#[test]
fn one_that_counts_round_and_round() {
    ends_at(0..2, |n| (n + 1) % 2);
    ends_at(0..5, |n| (n + 1) % 5);
    proved(|| {
        beside(&ALL, |words| assert!(counted(words, |n| (n + 1) % 5, |words, _| words[2].load(Acquire) == 1) < 5))
    });
}

#[test]
fn one_whose_count_comes_to_rest() {
    ends_at(0..8, |n| 7.min(n + 1));
    proved(|| {
        beside(&ALL, |words| assert!(counted(words, |n| 7.min(n + 1), |words, _| words[2].load(Acquire) == 1) < 8))
    });
}

#[test]
fn one_that_counts_to_a_circle() {
    ends_at(0..6, |n| if n < 5 { n + 1 } else { 3 });
}

/// It looks at another word in each round; the one in which the last look was is not the one that is written.
#[test]
fn one_that_looks_at_its_words_by_turns() {
    for waits_for in 0..3 {
        for modulus in [2, 3] {
            let looks = move |words: &Words, n: usize| words[n].load(Acquire) == 1;
            if waits_for < modulus {
                proved(move || {
                    beside(&[(waits_for, 1)], |words| {
                        let n = counted(words, |n| (n + 1) % modulus, looks);
                        assert!(n == waits_for);
                    });
                });
                let why = refuted(move || {
                    beside(&[(waits_for, 1)], |words| {
                        let n = counted(words, |n| (n + 1) % modulus, looks);
                        assert!(n != waits_for, "it ends there");
                    });
                });
                assert!(why.contains("it ends there"), "{why}");
            } else {
                let why = refuted(move || {
                    beside(&[(waits_for, 1)], |words| _ = counted(words, |n| (n + 1) % modulus, looks));
                });
                assert!(why.starts_with("deadlock"), "{why}");
            }
        }
    }
}

/// What it has looked at once, on its way to the circle, it never looks at again: that there is something new is no help.
#[test]
fn one_that_looks_once_and_then_elsewhere_does_not_end() {
    let looks = |words: &Words, n: usize| words[usize::from(n > 0)].load(Acquire) == 1;
    let why = refuted(move || beside(&[(0, 1)], |words| _ = counted(words, |n| 3.min(n + 1), looks)));
    assert!(why.starts_with("deadlock"), "{why}");
    proved(move || beside(&[(0, 1), (1, 1)], |words| _ = counted(words, |n| 3.min(n + 1), looks)));
}

/// The second word is looked at only if the first one is as it was.
#[test]
fn one_that_waits_for_either_of_two_words() {
    let ends = |stores: &'static [(usize, usize)]| {
        move || {
            beside(stores, |words| {
                let n =
                    counted(words, |n| 1 - n, |words, _| words[0].load(Acquire) != 0 || words[1].load(Acquire) == 2);
                assert!(words[0].load(Relaxed) == 0 || n < 2);
            });
        }
    };
    proved(ends(&[(2, 1), (0, 1)]));
    proved(ends(&[(1, 1), (1, 2)]));
    assert!(refuted(ends(&[(1, 1), (2, 1)])).starts_with("deadlock"));
}

/// It counts what changes, and how often it has looked since.
#[test]
fn one_that_counts_changes() {
    let found = |wrong: usize| {
        move || {
            beside(&[(0, 1), (1, 1), (0, 2), (1, 2)], |words| {
                let (mut last, mut looks) = (0, 0);
                loop {
                    let now = words[0].load(Acquire);
                    looks = if now == last { 3.min(looks + 1) } else { 0 };
                    last = now;
                    if words[1].load(Acquire) == 2 {
                        break;
                    }
                    hint::spin_loop();
                }
                assert!(last != 1 || looks != wrong, "that many looks at 1");
            });
        }
    };
    for wrong in 0..=3 {
        let why = refuted(found(wrong));
        assert!(why.contains("that many looks at 1"), "{wrong}: {why}");
    }
    proved(found(4));
}

/// It goes round, and learns something in any of its rounds: from there it goes round once more.
#[test]
fn one_that_learns_on_its_way() {
    let learns = |modulus: usize, wrong: usize| {
        move || {
            beside(&[(1, 1), (2, 1), (0, 1)], |words| {
                let mut learnt = 0;
                let n = counted(
                    words,
                    |n| (n + 1) % modulus,
                    |words, _| {
                        let ends = words[0].load(Acquire) == 1;
                        if !ends {
                            learnt = words[1].load(Acquire);
                        }
                        ends
                    },
                );
                assert!(learnt != 1 || n != wrong, "in that round");
            });
        }
    };
    for modulus in [2, 3, 4] {
        for wrong in 0..modulus {
            let why = refuted(learns(modulus, wrong));
            assert!(why.contains("in that round"), "{modulus} {wrong}: {why}");
        }
        proved(learns(modulus, modulus));
    }
}

/// The same, and it remembers in which of its rounds it has learnt that: the circle before it did is none afterwards.
#[test]
fn one_that_remembers_when_it_has_learnt() {
    let learns = |learns_at: usize, wrong: usize| {
        move || {
            beside(&[(1, 1), (2, 1), (0, 1)], |words| {
                let (mut n, mut learnt_at) = (0, None);
                while words[0].load(Acquire) == 0 {
                    if words[1].load(Acquire) == 1 && learnt_at.is_none() {
                        learnt_at = Some(n);
                    }
                    // 0, 1, 2, 3, 2, 3 and so on.
                    n = if n < 3 { n + 1 } else { 2 };
                    hint::spin_loop();
                }
                assert!(learnt_at != Some(learns_at) || n != wrong, "in that round");
            });
        }
    };
    for (learns_at, wrong) in (0..4).flat_map(|at| (2..4).map(move |n| (at, n))) {
        let why = refuted(learns(learns_at, wrong));
        assert!(why.contains("in that round"), "{learns_at} {wrong}: {why}");
    }
    proved(learns(4, 4));
}

/// An exchange that fails, also where it need not.
#[test]
fn one_that_exchanges() {
    let exchanges = |is_weak: bool, modulus: usize, wrong: usize| {
        move || {
            beside(&[(1, 1), (0, 7)], |words| {
                let exchanged = |words: &Words, _| {
                    match is_weak {
                        true => words[0].compare_exchange_weak(7, 8, AcqRel, Acquire),
                        false => words[0].compare_exchange(7, 8, AcqRel, Acquire),
                    }
                    .is_ok()
                };
                let n = counted(words, |n| (n + 1) % modulus, exchanged);
                assert!(words[1].load(Relaxed) == 1);
                assert!(n != wrong, "in that round");
            });
        }
    };
    for is_weak in [false, true] {
        for wrong in 0..3 {
            let why = refuted(exchanges(is_weak, 3, wrong));
            assert!(why.contains("in that round"), "{is_weak} {wrong}: {why}");
        }
    }
    proved(exchanges(false, 3, 3));
}

/// The order comes from a fence in the round, or after the loop.
#[test]
fn one_with_a_fence() {
    let fenced = |in_round: bool, after: bool, modulus: usize| {
        move || {
            beside(&[(1, 1), (0, 1)], |words| {
                let looks = |words: &Words, _| {
                    let found = words[0].load(Relaxed) == 1;
                    if in_round {
                        fence(SeqCst);
                    }
                    found
                };
                counted(words, |n| (n + 1) % modulus, looks);
                if after {
                    fence(Acquire);
                }
                assert!(words[1].load(Relaxed) == 1, "a stale value");
            });
        }
    };
    for modulus in [1, 2, 3] {
        proved(fenced(true, false, modulus));
        proved(fenced(false, true, modulus));
        assert!(refuted(fenced(false, false, modulus)).contains("a stale value"));
    }
}

/// The third look helps: the other thread waits for it.
#[test]
fn one_that_helps_itself_after_some_rounds() {
    let helps = |helps_at: usize, most: usize| {
        move || {
            let words: Arc<Words> = Arc::new(Default::default());
            let theirs = words.clone();
            let other = thread::spawn(move || {
                let mut rounds = Box::new(0);
                while theirs[1].load(Acquire) == 0 {
                    *rounds = 2.min(*rounds + 1);
                    hint::spin_loop();
                }
                theirs[0].store(1, Release);
            });
            let mut n = 0;
            while words[0].load(Acquire) == 0 {
                n = most.min(n + 1);
                if n == helps_at && words[1].load(Relaxed) == 0 {
                    words[1].store(1, Release);
                }
                hint::spin_loop();
            }
            other.join().unwrap();
        }
    };
    for helps_at in 1..=5 {
        proved(helps(helps_at, 5));
    }
    assert!(refuted(helps(6, 5)).starts_with("deadlock"));
}

/// The word that it looks at is found by another one.
#[test]
fn one_that_follows_a_pointer() {
    let follows = |links: bool, wrong: usize| {
        move || {
            let words: Arc<(Words, AtomicPtr<AtomicUsize>)> = Arc::default();
            let (theirs, first) = (words.clone(), std::ptr::from_ref(&words.0[0]).cast_mut());
            words.1.store(first, Relaxed);
            let other = thread::spawn(move || {
                let mut own = vec![1];
                if links {
                    theirs.1.store(std::ptr::from_ref(&theirs.0[1]).cast_mut(), Release);
                }
                own.push(2);
                theirs.0[1].store(1, Release);
            });
            // SAFETY: both words live as long as `words`.
            let n = counted(&words.0, |n| (n + 1) % 2, |_, _| unsafe { &*words.1.load(Acquire) }.load(Acquire) == 1);
            assert!(n != wrong, "in that round");
            other.join().unwrap();
        }
    };
    proved(follows(true, 2));
    for wrong in 0..2 {
        assert!(refuted(follows(true, wrong)).contains("in that round"));
    }
    assert!(refuted(follows(false, 2)).starts_with("deadlock"));
}

/// A wait in each round, which may time out.
#[test]
fn one_that_times_out() {
    for number in 0..3 {
        let verdict = outcome(move || {
            let main = thread::current();
            let words: Arc<Words> = Arc::default();
            let theirs = words.clone();
            let other = thread::spawn(move || {
                let mut own = vec![1];
                theirs[0].store(1, Release);
                own.push(2);
                main.unpark();
            });
            let mut n = 0;
            while words[0].load(Acquire) == 0 {
                n = (n + 1) % 3;
                thread::park_timeout(std::time::Duration::from_secs(1));
            }
            assert!(n != number, "in that round");
            other.join().unwrap();
        })
        .verdict;
        assert!(!matches!(verdict, Verdict::Proved), "{number}: {verdict}");
    }
}

/// Two that wait for each other by turns, in loops whose rounds differ.
#[test]
fn two_that_play_ping_pong() {
    let plays = |last: usize, wrong: usize| {
        move || {
            let words: Arc<Words> = Arc::default();
            let theirs = words.clone();
            let waits = |words: &Words, wanted: usize| {
                counted(words, |n| (n + 1) % 2, |words, _| words[0].load(Acquire) == wanted)
            };
            let other = thread::spawn(move || {
                let own = Box::new(waits(&theirs, 1));
                theirs[0].store(2, Release);
                drop(own);
            });
            words[0].store(1, Release);
            let n = waits(&words, last);
            assert!(n != wrong, "in that round");
            other.join().unwrap();
        }
    };
    proved(plays(2, 2));
    for wrong in 0..2 {
        assert!(refuted(plays(2, wrong)).contains("in that round"));
    }
    assert!(refuted(plays(3, 2)).starts_with("deadlock"));
}

/// It counts further than it is played: that it waits for ever is not shown, nor that it ends.
#[test]
fn one_that_gives_up_late() {
    let gives_up = |words: &Words, n: usize| n == 100_000 || words[0].load(Acquire) == 1;
    for stores in [&[][..], &[(1, 1)]] {
        let verdict = outcome(move || beside(stores, |words| _ = counted(words, |n| n + 1, gives_up))).verdict;
        assert!(matches!(verdict, Verdict::Bounded(_)), "{verdict}");
    }
}
