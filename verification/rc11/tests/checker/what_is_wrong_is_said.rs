//! Every way in which an execution can be wrong is found, and said in a sentence.

use super::{beside, proved, refuted};
use rc11::engine::{Config, Lock, Parker, PlainCell, Thread, Word, fork, spin};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};
use std::sync::{Arc, Mutex};

fn wrong(body: impl Fn() -> String + Send + Sync + 'static) -> String {
    refuted(&Config::default(), body)
}

const NO_WAKE: &str = "wait, and nothing that could wake them can come any more";

#[test]
fn an_assertion() {
    let body = || {
        let word = Arc::new(Word::new(0));
        let theirs = Arc::clone(&word);
        let _other = fork("other", move || theirs.store(1, Relaxed));
        assert_ne!(word.load(Relaxed), 1, "it was written");
        String::new()
    };
    assert!(wrong(body).contains("it was written"));
}

#[test]
fn an_assertion_in_a_thread() {
    assert_eq!(wrong(|| format!("{:?}", beside(|| (), || panic!("oh no")))), "oh no");
}

#[test]
fn a_data_race() {
    let body = || {
        let cell = Arc::new(PlainCell::new(0u64));
        let theirs = Arc::clone(&cell);
        let other = fork("other", move || theirs.set(1));
        let seen = cell.get();
        other.join();
        seen.to_string()
    };
    assert_eq!(wrong(body), "data race: T1 and T0 touch the same memory, and neither happens before the other");
}

#[test]
fn two_locks_taken_crosswise() {
    let body = || {
        let locks = Arc::new((Lock::new(0u64), Lock::new(0u64)));
        let theirs = Arc::clone(&locks);
        beside(
            move || locks.0.with(|a| locks.1.with(|b| *a = *b)),
            move || theirs.1.with(|b| theirs.0.with(|a| *b = *a)),
        );
        String::new()
    };
    assert_eq!(wrong(body), format!("deadlock: T0, T1, T2 {NO_WAKE}"));
}

#[test]
fn a_sleeper_whom_nobody_wakes() {
    let body = || {
        Parker::new().park();
        String::new()
    };
    assert_eq!(wrong(body), format!("deadlock: T0 {NO_WAKE}"));
}

#[test]
fn a_loop_that_waits_for_ever() {
    let body = || {
        let word = Word::new(0);
        while word.load(Relaxed) == 0 {
            spin();
        }
        String::new()
    };
    assert_eq!(wrong(body), format!("deadlock: T0 {NO_WAKE}"));
}

#[test]
fn a_sleeper_who_is_left_alone() {
    let body = || {
        let _sleeper = fork("sleeper", || Parker::new().park());
        String::new()
    };
    assert_eq!(wrong(body), "the main thread has ended, but T1 wait for ever: no thread joins or wakes them");
}

#[test]
fn a_loop_without_an_end() {
    let loads = |n| {
        let word = Word::new(0);
        (0..n).for_each(|_| assert_eq!(word.load(Relaxed), 0));
        String::new()
    };
    let config = Config { max_events: 100, ..Config::default() };
    proved(&config, move || loads(100));
    let sentence = "more than 100 events in one execution: a loop never ended: call `hint::spin_loop()` in it, or raise \
        `max_branches`";
    assert_eq!(refuted(&config, move || loads(101)), sentence);
    assert_eq!(refuted(&config, move || loads(usize::MAX)), sentence);
}

const TOO_MANY: &str = "more than 16 threads in one execution";

fn threads(n: usize) -> String {
    let threads: Vec<_> = (0..n).map(|_| fork("one", || ())).collect();
    threads.into_iter().for_each(Thread::join);
    String::new()
}

#[test]
fn seventeen_threads() {
    assert_eq!(proved(&Config::default(), || threads(15)).executions, 1);
    assert_eq!(wrong(|| threads(16)), TOO_MANY);
}

#[test]
fn sixteen_children_of_one() {
    let one_by_one = || {
        (0..16).for_each(|_| drop(threads(1)));
        String::new()
    };
    assert_eq!(wrong(one_by_one), TOO_MANY);
}

#[test]
fn threads_of_threads_without_end() {
    fn nest(depth: usize) -> usize {
        if depth == 0 { 0 } else { 1 + fork("child", move || nest(depth - 1)).join() }
    }
    assert_eq!(proved(&Config::default(), || nest(14).to_string()).executions, 1);
    assert_eq!(wrong(|| nest(16).to_string()), TOO_MANY);
}

/// A new word comes to another thread through memory that is not the checker's; a flag of the checker's says that it is there.
fn smuggled(published: Ordering, has_done_something: bool) -> String {
    let shared = Arc::new((Word::new(0), Mutex::new(None::<Arc<Word>>)));
    let theirs = Arc::clone(&shared);
    let maker = fork("maker", move || {
        if has_done_something {
            Word::new(0).load(Relaxed);
        }
        *theirs.1.lock().expect("one at a time") = Some(Arc::new(Word::new(7)));
        theirs.0.store(1, published);
    });
    let seen = if shared.0.load(Acquire) == 1 {
        let word = shared.1.lock().expect("one at a time").clone();
        word.expect("the flag says that it is there").load(Relaxed)
    } else {
        0
    };
    maker.join();
    seen.to_string()
}

const NOT_MADE: &str =
    "uninitialised: a thread uses an object that another has made, but nothing orders the making before the use";

#[test]
fn a_word_that_may_not_have_been_made() {
    assert_eq!(wrong(|| smuggled(Relaxed, true)), NOT_MADE);
    assert_eq!(proved(&Config::default(), || smuggled(Release, true)).executions, 2);
}

#[test]
fn a_word_that_its_maker_made_first_of_all() {
    assert_eq!(wrong(|| smuggled(Relaxed, false)), NOT_MADE);
    assert_eq!(proved(&Config::default(), || smuggled(Release, false)).executions, 2);
}

#[test]
fn what_a_thread_has_made_is_known_to_who_joins_it() {
    let body = || fork("maker", || Word::new(7)).join().load(Relaxed).to_string();
    assert_eq!(proved(&Config::default(), body).executions, 1);
}

#[test]
fn a_model_that_is_not_deterministic() {
    static PLAYS: AtomicU64 = AtomicU64::new(0);
    let body = || {
        let word = Arc::new(Word::new(0));
        let theirs = Arc::clone(&word);
        // Past the checker: not even the same value when it is played again.
        let other = fork("other", move || theirs.store(PLAYS.fetch_add(1, Relaxed), Relaxed));
        let seen = word.load(Relaxed);
        other.join();
        seen.to_string()
    };
    let sentence = "the model is not deterministic: the same reads did not lead to the same operations; time, chance and \
        shared memory must go through the checker, not by std's atomics, locks or addresses";
    assert_eq!(wrong(body), sentence);
}

mod and_nothing_is_left_behind {
    use super::*;

    /// Is dropped with its last owner.
    type Token = Arc<()>;

    /// `body` gives the token to threads that never end of themselves. Is it given back?
    fn is_given_back(body: impl Fn(Token) -> String + Send + Sync + 'static) {
        let token = Token::default();
        let theirs = Arc::clone(&token);
        wrong(move || body(Arc::clone(&theirs)));
        assert_eq!(Arc::strong_count(&token), 1);
    }

    #[test]
    fn by_sleepers() {
        is_given_back(|token| {
            let _sleeper = fork("sleeper", move || (Parker::new().park(), token));
            String::new()
        });
    }

    #[test]
    fn by_a_thread_that_has_not_begun() {
        is_given_back(|token| {
            let _other = fork("other", move || drop(token));
            panic!("before it begins");
        });
    }

    /// Enters its lock when it is dropped.
    struct Enters {
        lock: Arc<Lock<()>>,
        _token: Token,
    }

    impl Drop for Enters {
        fn drop(&mut self) {
            self.lock.with(|_| ());
        }
    }

    #[test]
    fn by_a_thread_that_has_not_begun_and_whose_destructors_ask() {
        is_given_back(|token| {
            let theirs = Enters { lock: Arc::new(Lock::new(())), _token: token };
            let _other = fork("other", move || drop(theirs));
            panic!("before it begins");
        });
    }

    #[test]
    fn by_who_holds_a_lock() {
        is_given_back(|token| {
            let lock = Arc::new(Lock::new(token));
            let theirs = Arc::clone(&lock);
            let _holder = fork("holder", move || theirs.with(|_| Parker::new().park()));
            lock.with(|_| ());
            String::new()
        });
    }
}

#[inline(never)]
fn there(word: &Word, n: u64) -> u64 {
    1 + std::hint::black_box(back(word, word.load(Relaxed) + n))
}

#[inline(never)]
fn back(word: &Word, n: u64) -> u64 {
    1 + std::hint::black_box(there(word, word.load(Relaxed) + n))
}

#[test]
fn endless_recursion_names_who_calls_whom() {
    // More events than there is stack for.
    let config = Config { max_events: 60_000, ..Config::default() };
    let why = refuted(&config, || fork("it calls", || there(&Word::new(0), 0)).join().to_string());
    assert!(why.starts_with("endless recursion: "), "{why}");
    assert!(why.contains("there") && why.contains("back"), "{why}");
}

#[test]
fn a_stack_that_is_nearly_used_up_is_none() {
    fn down(word: &Word, n: u64) -> u64 {
        let here = std::hint::black_box([n; 64]);
        if n == 0 { word.load(Relaxed) } else { here[7] - n + std::hint::black_box(down(word, n - 1)) }
    }
    let ended = super::outcomes(|| fork("it calls", || down(&Word::new(5), 100)).join().to_string());
    assert_eq!(ended, ["5"]);
}
