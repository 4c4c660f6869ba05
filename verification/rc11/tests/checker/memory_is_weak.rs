//! What weak memory is known for, in live code.

use super::{beside, outcomes, proved, refuted};
use rc11::engine::{Config, PlainCell, Word, explore, fence, fork, heavy_fence, light_fence};
use std::sync::Arc;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};

/// Two words.
fn words() -> [Arc<(Word, Word)>; 2] {
    let words = Arc::new((Word::new(0), Word::new(0)));
    [Arc::clone(&words), words]
}

/// Each writes its own word, then reads the other's.
fn store_buffering(order: Ordering, has_fence: bool) -> String {
    let [a, b] = words();
    let write_and_read = move |mine: &Word, theirs: &Word| {
        mine.store(1, if order == SeqCst { SeqCst } else { Relaxed });
        if has_fence {
            fence(SeqCst);
        }
        theirs.load(order)
    };
    let (a, b) = beside(move || write_and_read(&a.0, &a.1), move || write_and_read(&b.1, &b.0));
    format!("{a} {b}")
}

#[test]
fn stores_are_buffered() {
    assert_eq!(outcomes(|| store_buffering(Relaxed, false)), ["0 0", "0 1", "1 0", "1 1"]);
    assert_eq!(proved(&Config::default(), || store_buffering(Relaxed, false)).executions, 4);
}

#[test]
fn two_fences_empty_the_buffers() {
    assert_eq!(outcomes(|| store_buffering(Relaxed, true)), ["0 1", "1 0", "1 1"]);
    assert_eq!(proved(&Config::default(), || store_buffering(Relaxed, true)).executions, 3);
}

#[test]
fn sequentially_consistent_accesses_are_not_buffered() {
    assert_eq!(outcomes(|| store_buffering(SeqCst, false)), ["0 1", "1 0", "1 1"]);
}

#[test]
fn loads_are_not_buffered_in_rc11() {
    let body = || {
        let [a, b] = words();
        let read_and_write = |theirs: &Word, mine: &Word| {
            let seen = theirs.load(Relaxed);
            mine.store(1, Relaxed);
            seen
        };
        let (a, b) = beside(move || read_and_write(&a.0, &a.1), move || read_and_write(&b.1, &b.0));
        format!("{a} {b}")
    };
    assert_eq!(outcomes(body), ["0 0", "0 1", "1 0"]);
}

/// Data and a flag, which a third thread changes once more; main reads the data if it sees that.
fn message(change: fn(&Word)) -> String {
    let shared = Arc::new((PlainCell::new(0u64), Word::new(0)));
    let [sender, changer] = [Arc::clone(&shared), Arc::clone(&shared)];
    let sender = fork("sender", move || {
        sender.0.set(7);
        sender.1.store(1, Release);
    });
    let changer = fork("changer", move || change(&changer.1));
    let got = if shared.1.load(Acquire) == 2 { shared.0.get() } else { 0 };
    sender.join();
    changer.join();
    got.to_string()
}

#[test]
fn a_release_sequence_goes_on_through_an_update() {
    let update = |flag: &Word| {
        let _ = flag.compare_exchange(1, 2, Relaxed, Relaxed);
    };
    assert_eq!(outcomes(move || message(update)), ["0", "7"]);
}

#[test]
fn a_store_ends_a_release_sequence() {
    let sentence = refuted(&Config::default(), || message(|flag| flag.store(2, Relaxed)));
    assert!(sentence.starts_with("data race: T1 and T0 touch the same memory"), "{sentence}");
}

/// Each writes its own word, passes its fence, and reads the other's.
fn fenced_by(fences: [fn(); 2]) -> String {
    let [a, b] = words();
    let write_and_read = |mine: &Word, fence: fn(), theirs: &Word| {
        mine.store(1, Relaxed);
        fence();
        theirs.load(Relaxed)
    };
    let [first, second] = fences;
    let (a, b) = beside(move || write_and_read(&a.0, first, &a.1), move || write_and_read(&b.1, second, &b.0));
    format!("{a} {b}")
}

#[test]
fn a_heavy_fence_makes_up_for_a_light_one() {
    let light_and_heavy: [fn(); 2] = [light_fence, heavy_fence];
    let tally = proved(&Config::default(), move || fenced_by(light_and_heavy));
    assert!(tally.outcomes.keys().eq(["0 1", "1 0", "1 1"]) && tally.executions == 3, "{tally:?}");
    let others: [[fn(); 2]; 3] = [[light_fence, light_fence], [light_fence, || fence(SeqCst)], [|| (), heavy_fence]];
    for fences in others {
        assert_eq!(outcomes(move || fenced_by(fences)), ["0 0", "0 1", "1 0", "1 1"]);
    }
}

#[test]
fn a_picture_shows_light_and_heavy_fences() {
    let body = || {
        let late: fn() = || {
            heavy_fence();
            light_fence();
        };
        let seen = fenced_by([light_fence, late]);
        assert_ne!(seen, "0 1", "reached");
        seen
    };
    let found = explore(&Config::default(), body, |_| ()).failure.expect("it is reached");
    let columns = found.picture("late", body).columns();
    for label in ["F light", "F heavy", "F heavy: returns"] {
        assert!(columns.contains(label), "{columns}");
    }
}
