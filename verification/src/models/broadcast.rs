//! Models of a broadcast: each receiver gets all that is sent while it is there, or is told what it has missed.

use crate::engines::Engine;
use crate::harness::common::party;
use crate::harness::sleeper::Sleeper;
use crate::hosts::model_host::{Cell, ModelHost};
use crate::model::{Model, loom, rc11, sampled, sc};
use crate::mutation::mutant::Mutant;
use crate::mutation::variants::broadcast::{self as steps, Broadcast};
use spinpark_kernel::waits::broadcast::Missing;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// A value, and a count of all that live, copies included.
struct Live {
    n: u64,
    live: Arc<AtomicUsize>,
}

impl Live {
    fn new(n: u64, live: &Arc<AtomicUsize>) -> Live {
        live.fetch_add(1, SeqCst);
        Live { n, live: Arc::clone(live) }
    }
}

impl Clone for Live {
    fn clone(&self) -> Self {
        Live::new(self.n, &self.live)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.live.fetch_sub(1, SeqCst);
    }
}

/// A broadcast with one sender, and what belongs to its values.
struct Tiny<H: ModelHost> {
    broadcast: Broadcast<H, Live>,
    work: [H::Cell<u64>; 4],
    /// What receivers did before they were dropped.
    ends: [H::Cell<u64>; 2],
    /// No memory of the model's: it orders nothing there, and is read when all has ended.
    live: Arc<AtomicUsize>,
}

/// What a receiver got: values, and how many it has missed in between.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Got {
    values: Vec<u64>,
    missed: u64,
}

impl<H: ModelHost> Tiny<H> {
    fn new(capacity: usize, receivers: usize) -> Arc<Self> {
        let (work, ends) = ([(); 4].map(|()| Cell::new(0)), [(); 2].map(|()| Cell::new(0)));
        Arc::new(Tiny { broadcast: Broadcast::<H, _>::new(capacity, receivers), work, ends, live: Arc::default() })
    }

    /// Sends `n`; to how many?
    fn sends(&self, n: u64) -> usize {
        self.work[n as usize].set(n);
        steps::send(&self.broadcast, Live::new(n, &self.live)).unwrap_or(0)
    }

    /// Receives until no sender is left; what was missed stands where it was told.
    fn receives_all(&self, mut next: u64) -> Got {
        let mut got = Got { values: Vec::new(), missed: 0 };
        loop {
            match steps::receive(&self.broadcast, &mut next, || ()) {
                Ok(Live { n, .. }) => {
                    let work = self.work[n as usize].get();
                    assert!(work == n, "{n} is here, and not what was done before");
                    got.values.push(n);
                }
                Err(Missing::Lagged(n)) => got.missed += n,
                Err(Missing::Closed) => break,
            }
        }
        steps::drop_receiver(&self.broadcast, next);
        got
    }

    /// Nobody is there any more, so nothing is.
    fn nothing_lives(&self) {
        let (live, left) = (self.live.load(SeqCst), self.broadcast.with(|state| state.len()));
        assert!((live, left) == (0, 0), "nobody receives, and {live} values live, {left} are left");
    }
}

/// One sends two, and there is room; two receive.
fn each_gets_all<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(2, 2);
    let receiver = |tiny: &Tiny<H>| tiny.receives_all(0);
    let one = party::<H, _, _>("receiver", &tiny, receiver);
    let other = party::<H, _, _>("other receiver", &tiny, receiver);
    let to = [tiny.sends(1), tiny.sends(2)];
    steps::drop_sender(&tiny.broadcast);
    for got in [H::join(one), H::join(other)] {
        assert!(got == Got { values: vec![1, 2], missed: 0 }, "1 and 2 were sent, {got:?} received");
    }
    tiny.nothing_lives();
    format!("to {to:?}")
}

/// One sends three, and there is room for one; another receives.
fn who_is_slow_is_told<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(1, 1);
    let receiver = party::<H, _, _>("receiver", &tiny, |tiny| tiny.receives_all(0));
    (1..=3).for_each(|n| assert!(tiny.sends(n) == 1, "one receives"));
    steps::drop_sender(&tiny.broadcast);
    let got = H::join(receiver);
    assert!(got.values.is_sorted() && got.values.last() == Some(&3), "3 was sent last, and {got:?} received");
    assert!(got.values.len() as u64 + got.missed == 3, "3 were sent, and {got:?} received or told");
    tiny.nothing_lives();
    format!("{:?}, missed {}", got.values, got.missed)
}

/// One sends two; one of two receivers is dropped meanwhile.
fn one_is_dropped<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(2, 2);
    let gives_up = party::<H, _, _>("gives up", &tiny, |tiny| {
        let mut next = 0;
        let got = tiny.broadcast.recv().poll(&mut next, &mut Sleeper::<H>::new().lender()).is_ready();
        steps::drop_receiver(&tiny.broadcast, next);
        got
    });
    let receiver = party::<H, _, _>("receiver", &tiny, |tiny| tiny.receives_all(0));
    let to = [tiny.sends(1), tiny.sends(2)];
    steps::drop_sender(&tiny.broadcast);
    let (gave_up, got) = (H::join(gives_up), H::join(receiver));
    assert!(got == Got { values: vec![1, 2], missed: 0 }, "1 and 2 were sent, {got:?} received");
    tiny.nothing_lives();
    format!("to {to:?}, the other got one: {gave_up}")
}

/// One sends two; another subscribes meanwhile.
fn one_comes_later<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(2, 1);
    let late = party::<H, _, _>("subscribes", &tiny, |tiny| {
        let next = steps::subscribe(&tiny.broadcast);
        tiny.receives_all(next)
    });
    let to = [tiny.sends(1), tiny.sends(2)];
    steps::drop_sender(&tiny.broadcast);
    let first = tiny.receives_all(0);
    assert!(first == Got { values: vec![1, 2], missed: 0 }, "1 and 2 were sent, {first:?} received");
    let late = H::join(late);
    let expected: Vec<u64> = (1..=2).filter(|&n| to[n as usize - 1] == 2).collect();
    assert!(late == Got { values: expected, missed: 0 }, "sent to {to:?} receivers, and {late:?} came later");
    tiny.nothing_lives();
    format!("{:?}", late.values)
}

/// A sender waits until no receiver is left.
fn the_last_of_two_receivers<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(1, 2);
    let receiver = |n: usize| {
        move |tiny: &Tiny<H>| {
            tiny.ends[n].set(1);
            steps::drop_receiver(&tiny.broadcast, 0);
        }
    };
    let one = party::<H, _, _>("receiver", &tiny, receiver(0));
    let other = party::<H, _, _>("other receiver", &tiny, receiver(1));
    let (mut end, mut waited) = (tiny.broadcast.closed(), false);
    Sleeper::<H>::new().wait_for_untrusted(|lender| {
        let polled = end.poll(lender);
        waited |= polled.is_pending();
        polled
    });
    assert!(tiny.ends[0].get() + tiny.ends[1].get() == 2, "nobody receives, and what they did before is not seen");
    H::join(one);
    H::join(other);
    format!("waited: {waited}")
}

const ALL: &str = "broadcast::each_gets_all_or_is_told::two_receivers";
const SLOW: &str = "broadcast::each_gets_all_or_is_told::who_is_slow";
const DROPPED: &str = "broadcast::each_gets_all_or_is_told::one_is_dropped";
const LATER: &str = "broadcast::each_gets_all_or_is_told::one_comes_later";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("broadcast::each_gets_all_or_is_told::two_receivers", each_gets_all,
        claim: "each of two receivers gets all that is sent, in order, with what was done before; and no value is left",
        size: "3 threads, 2 values, room for 2",
        invariants: [118],
        must_reach: ["to [2, 2]"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
    crate::model!("broadcast::each_gets_all_or_is_told::who_is_slow", who_is_slow_is_told,
        claim: "a receiver that does not keep up is told how many it has missed, and gets the others, in order",
        size: "2 threads, 3 values, room for 1",
        invariants: [118],
        must_reach: ["[1, 2, 3], missed 0", "[1, 3], missed 1", "[2, 3], missed 1", "[3], missed 2"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
    crate::model!("broadcast::each_gets_all_or_is_told::one_is_dropped", one_is_dropped,
        claim: "of two receivers one is dropped beside the sends: the other gets all, and no value is left",
        size: "3 threads, 2 values, room for 2",
        invariants: [118],
        must_reach: ["to [2, 2], the other got one: true", "to [2, 2], the other got one: false", "to [1, 1], the other got one: false",
            "to [2, 1], the other got one: true"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
    crate::model!("broadcast::each_gets_all_or_is_told::one_comes_later", one_comes_later,
        claim: "a receiver that comes beside the sends gets all that were sent after, which are those that count it",
        size: "2 threads, 2 values, room for 2",
        invariants: [118],
        must_reach: ["[1, 2]", "[2]", "[]"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
    crate::model!("broadcast::the_end_is_told::the_last_of_two_receivers", the_last_of_two_receivers,
        claim: "a sender that waits is told when the last of two receivers is dropped, and sees what both did before",
        size: "3 threads",
        invariants: [118],
        must_reach: ["waited: true", "waited: false"],
        runs: [rc11(), loom(), sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "broadcast";
    "broadcast-looks-and-waits-apart": "a receiver looks for a value, and enqueues its waiter under another lock",
        variant("looks-and-waits-apart"), by ALL => [Rc11];
    "broadcast-wakes-the-first": "of the receivers that wait one is woken",
        variant("wakes-the-first"), by ALL => [Rc11];
    "broadcast-ends-silently": "the last sender wakes nobody",
        variant("ends-silently"), by ALL => [Rc11];
    "broadcast-passes-over-what-it-missed": "a receiver that does not keep up goes on with the oldest, and is not told",
        variant("passes-over-what-it-missed"), by SLOW => [Rc11];
    "broadcast-subscribes-apart": "a receiver reads its number under another lock than that under which it is counted",
        variant("subscribes-apart"), by LATER => [Rc11];
    "broadcast-leaves-its-share": "a receiver that is dropped leaves values counted as yet to be read",
        variant("leaves-its-share"), by DROPPED => [Rc11];
};
