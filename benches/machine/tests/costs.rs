//! What an access costs, by the owner of its line before.

use spinpark_kernel::host::{Host, Lock as _, Parker as _, Word as _};
use spinpark_machine::costs::{Costs, NANO, Picos};
use spinpark_machine::engine;
use spinpark_machine::host::{Lock, Parker, Sim, Word};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::{Arc, Mutex};

/// Runs `body` on a machine, and returns what it gave.
fn on<T: Send + 'static>(costs: Costs, body: impl FnOnce() -> T + Send + 'static) -> T {
    let result = Arc::new(Mutex::new(None));
    let put = Arc::clone(&result);
    engine::run(costs, 1, move || *put.lock().expect("one thread") = Some(body()));
    let result = result.lock().expect("one thread").take();
    result.expect("the machine has ended")
}

/// What `f` takes on the thread that runs.
fn time(f: impl FnOnce()) -> Picos {
    let from = engine::now();
    f();
    engine::now() - from
}

/// A word that goes from core to core `n` times: what each of the two cores paid for its exchanges, one after the other.
fn bounced(costs: Costs, n: u64) -> Picos {
    on(costs, move || {
        let word = Arc::new(Word::new(0));
        word.store(0, Relaxed);
        let paid = Arc::new(Mutex::new(0));
        let start = engine::now();
        let (there, other) = (Arc::clone(&word), Arc::clone(&paid));
        engine::spawn(move || {
            for i in 0..n / 2 {
                engine::sleep_until(start + (2 * i + 200) * 1_000 * NANO);
                let took = time(|| _ = there.swap(1, SeqCst));
                *other.lock().expect("one thread") += took;
            }
        });
        for i in 0..n / 2 {
            engine::sleep_until(start + (2 * i + 201) * 1_000 * NANO);
            let took = time(|| _ = word.swap(1, SeqCst));
            *paid.lock().expect("one thread") += took;
        }
        engine::sleep_until(start + 1_000_000 * NANO);
        engine::fence();
        *paid.lock().expect("one thread")
    })
}

mod a_word {
    use super::*;

    #[test]
    fn that_is_bounced_between_two_cores_costs_two_transfers() {
        let costs = Costs::default();
        let one = costs.line + costs.locked;
        assert_eq!(bounced(costs.clone(), 2), 2 * one);
        assert_eq!(bounced(costs, 20), 20 * one);
    }

    #[test]
    fn costs_more_if_the_transfer_does() {
        let dear = Costs { line: 1_000 * NANO, ..Costs::default() };
        let more = bounced(dear, 20) - bounced(Costs::default(), 20);
        assert_eq!(more, 20 * (1_000 * NANO - Costs::default().line));
        let far = Costs { socket: 1, ..Costs::default() };
        let more = bounced(far.clone(), 20) - bounced(Costs::default(), 20);
        assert_eq!(more, 20 * (far.far_line - far.line), "each core is a socket of its own");
    }

    #[test]
    fn that_stays_costs_no_transfer() {
        let costs = Costs::default();
        let (local, locked) = (costs.local, costs.locked);
        let took = on(costs, || {
            let word = Word::new(0);
            _ = word.swap(1, SeqCst);
            (time(|| _ = word.load(Acquire)), time(|| word.store(2, Release)), time(|| _ = word.swap(3, SeqCst)))
        });
        assert_eq!(took, (local, local, locked));
    }

    #[test]
    fn that_is_stored_is_waited_for_by_the_next_fence() {
        let costs = Costs::default();
        let (local, locked, memory) = (costs.local, costs.locked, costs.memory);
        let took = on(costs, || {
            let word = Word::new(0);
            (time(|| word.store(1, Release)), time(|| Sim::fence(SeqCst)), time(|| Sim::fence(SeqCst)))
        });
        assert_eq!(took, (local, memory - local + locked, locked), "the line comes while the core goes on");
    }

    #[test]
    fn of_the_same_line_comes_with_the_other() {
        let costs = Costs::default();
        let (local, memory) = (costs.local, costs.memory);
        let took = on(costs, || {
            let words: Box<[Word]> = (0..16).map(Word::new).collect();
            [0, 7, 8].map(|n| time(|| _ = words[n].load(Relaxed)))
        });
        assert_eq!(took, [memory + local, local, memory + local], "eight words are a line, and the block begins one");
    }
}

mod a_lock {
    use super::*;

    #[test]
    fn is_waited_for_until_it_is_left() {
        let waited = on(Costs::default(), || {
            let lock = Arc::new(Lock::new(0));
            let theirs = Arc::clone(&lock);
            engine::spawn(move || theirs.with(|n| *n = 1));
            let begins = engine::now() + Costs::default().start.1;
            lock.with(|n| {
                engine::sleep_until(begins + 50_000 * NANO);
                assert_eq!(*n, 0, "a thread was let in");
            });
            engine::sleep_until(begins + 100_000 * NANO);
            lock.with(|n| assert_eq!(*n, 1));
            engine::counts().waited
        });
        assert!((50_000 * NANO..70_000 * NANO).contains(&waited), "{waited}");
    }
}

mod a_sleeper {
    use super::*;

    #[test]
    fn runs_as_long_after_its_wake_as_the_system_takes() {
        let costs = Costs { wake: (3_000 * NANO, 3_000 * NANO), ..Costs::default() };
        let late = on(costs, || {
            let parker = Arc::new(Parker::new());
            let woken = Arc::new(Mutex::new(0));
            let (theirs, at) = (Arc::clone(&parker), Arc::clone(&woken));
            engine::spawn(move || {
                theirs.park();
                *at.lock().expect("one thread") = engine::now();
            });
            engine::sleep_until(engine::now() + 100_000 * NANO);
            let from = engine::now();
            parker.unpark();
            engine::sleep_until(from + 50_000 * NANO);
            engine::fence();
            *woken.lock().expect("one thread") - from
        });
        assert!((3_000 * NANO..3_500 * NANO).contains(&late), "{late}: a wake, and a line or two");
    }
}
