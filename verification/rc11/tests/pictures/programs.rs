//! What the pictures in docs/evidence/counterexample-pictures.md show. Its line numbers are in them.

use rc11::engine::{Lock, Parker, PlainCell, Word, fence, fork, name_thread};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};

/// The kernel's parking protocol, in small.
struct Parking {
    queued: Word,
    nmspinning: Word,
}

/// A submitter queues a G, and wakes an M if none looks for work. A spinning M says that it looks no longer, and looks
/// a last time. With both fences one of them sees the other.
pub(crate) fn parking(submitter_has_fence: bool, spinning_m_has_fence: bool) -> String {
    name_thread("submitter");
    let kernel = Arc::new(Parking { queued: Word::new(0), nmspinning: Word::new(1) });
    let theirs = Arc::clone(&kernel);
    let spinning_m = fork("spinning_m", move || {
        let Parking { queued, nmspinning } = &*theirs;
        nmspinning.swap(0, AcqRel);
        if spinning_m_has_fence {
            fence(SeqCst);
        }
        queued.load(Relaxed) == 1
    });
    let Parking { queued, nmspinning } = &*kernel;
    queued.store(1, Relaxed);
    if submitter_has_fence {
        fence(SeqCst);
    }
    let wakes = nmspinning.load(Relaxed) == 0;
    let sees = spinning_m.join();
    assert!(wakes || sees, "the G is missed");
    String::new()
}

/// A slot is filled, and then its flag is set, but the flag releases nothing.
pub(crate) fn race() -> String {
    name_thread("consumer");
    let shared = Arc::new((PlainCell::new(0), Word::new(0)));
    let theirs = Arc::clone(&shared);
    let producer = fork("producer", move || {
        let (slot, full) = &*theirs;
        slot.set(7);
        full.store(1, Relaxed);
    });
    let (slot, full) = &*shared;
    if full.load(Acquire) == 1 {
        assert_eq!(slot.get(), 7);
    }
    producer.join();
    String::new()
}

/// The waker needs the lock with which the sleeper sleeps.
pub(crate) fn deadlock() -> String {
    name_thread("sleeper");
    let shared = Arc::new((Lock::new(()), Parker::new()));
    let theirs = Arc::clone(&shared);
    let waker = fork("waker", move || {
        let (list, alarm) = &*theirs;
        list.with(|()| {
            alarm.unpark();
        });
    });
    let (list, alarm) = &*shared;
    list.with(|()| {
        alarm.park();
    });
    waker.join();
    String::new()
}
