//! Moments of a thread: which happens before which.

use rc11::engine::{Config, Lock, Word, at_the_latest, explore, fork, holds_a_lock, moment};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};

/// Whether the sender's end of a call is known where the receiver's next call begins, of each execution.
fn known(store: Ordering, load: Ordering) -> Vec<String> {
    let message = move || {
        let word = Arc::new(Word::new(0));
        let theirs = Arc::clone(&word);
        let sender = fork("sender", move || {
            theirs.store(1, store);
            moment()
        });
        let begins = moment();
        let read = word.load(load);
        let begins = at_the_latest(begins);
        // Not joined before: that would make it known.
        let sent = sender.join();
        format!("read {read}, known {}", sent.is_known_at(&begins))
    };
    let report = explore(&Config::default(), message, |_| ());
    assert!(report.is_proof(), "{:?}", report.failure);
    report.tally.outcomes.into_keys().collect()
}

#[test]
fn what_was_released_and_acquired_is_known() {
    assert_eq!(known(Release, Acquire), ["read 0, known false", "read 1, known true"]);
}

#[test]
fn what_was_read_relaxed_is_not() {
    assert_eq!(known(Relaxed, Acquire), ["read 0, known false", "read 1, known false"]);
}

#[test]
fn a_lock_is_held_inside_of_it_only() {
    let held = || {
        let lock = Lock::new(());
        format!("{} {} {}", holds_a_lock(), lock.with(|()| holds_a_lock()), holds_a_lock())
    };
    let report = explore(&Config::default(), held, |_| ());
    assert!(report.tally.outcomes.keys().eq(["false true false"]), "{:?}", report.tally.outcomes);
}

#[test]
fn how_an_execution_ended_may_be_said_at_its_end() {
    let asked = Arc::new(Mutex::new(0));
    let count = Arc::clone(&asked);
    let at_end = move || {
        *count.lock().unwrap() += 1;
        Ok(Some("at the end".to_owned()))
    };
    let config = Config { at_end: Some(Arc::new(at_end)), ..Config::default() };
    let report = explore(&config, || "by the closure".to_owned(), |_| ());
    assert!(report.tally.outcomes.keys().eq(["at the end"]), "{:?}", report.tally.outcomes);
    assert_eq!(*asked.lock().unwrap(), 1);
}

#[test]
fn at_its_end_every_word_holds_what_was_written_last() {
    struct Shared {
        word: Word,
        lock: Lock<Vec<u64>>,
    }
    let shared: Arc<Mutex<Option<Arc<Shared>>>> = Arc::default();
    let made = Arc::clone(&shared);
    let body = move || {
        let shared = Arc::new(Shared { word: Word::new(1), lock: Lock::new(vec![]) });
        *made.lock().unwrap() = Some(Arc::clone(&shared));
        let (one, other) = (Arc::clone(&shared), Arc::clone(&shared));
        let threads = [
            fork("one", move || {
                one.word.store(2, Relaxed);
                one.lock.with(|list| list.push(2));
            }),
            fork("other", move || {
                other.word.store(3, Relaxed);
                other.lock.with(|list| list.push(3));
            }),
        ];
        threads.into_iter().for_each(rc11::engine::Thread::join);
        String::new()
    };
    let at_end = move || {
        let shared = shared.lock().unwrap().take().unwrap();
        assert_eq!(shared.word.swap(4, Relaxed), shared.word.load(Relaxed)); // nothing is written any more
        let list = shared.lock.with(|list| list.clone());
        Ok(Some(format!("{}, {list:?}", shared.word.load(Relaxed))))
    };
    let config = Config { at_end: Some(Arc::new(at_end)), ..Config::default() };
    let report = explore(&config, body, |_| ());
    assert!(report.is_proof());
    let all = ["2, [2, 3]", "2, [3, 2]", "3, [2, 3]", "3, [3, 2]"];
    assert!(report.tally.outcomes.keys().eq(all), "{:?}", report.tally.outcomes);
}
