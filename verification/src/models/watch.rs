//! Models of a watched value: no change is missed, and what is seen last was sent last.

use crate::engines::Engine;
use crate::harness::common::party;
use crate::harness::sleeper::Sleeper;
use crate::hosts::model_host::{Cell, ModelHost};
use crate::model::{Model, loom, rc11, rc11_spurious, sampled, sc};
use crate::mutation::mutant::Mutant;
use crate::mutation::variants::watch::{self as steps, Value, Watch};
use spinpark_kernel::host::Lock;
use std::sync::Arc;

/// A watched value; what belongs to each value that one sender sends, and to each receiver's end.
struct Tiny<H: ModelHost> {
    watch: Watch<H>,
    work: [H::Cell<u64>; 4],
    ends: [H::Cell<u64>; 3],
    /// Who waited.
    waited: [H::Cell<bool>; 3],
}

impl<H: ModelHost> Tiny<H> {
    fn new(receivers: usize) -> Arc<Self> {
        let (work, ends) = ([(); 4].map(|()| Cell::new(0)), [(); 3].map(|()| Cell::new(0)));
        let waited = [(); 3].map(|()| Cell::new(false));
        Arc::new(Tiny { watch: Watch::<H>::new(Value(H::Lock::new(0)), receivers), work, ends, waited })
    }

    /// Sends `n`, which no other sends.
    fn sends(&self, n: u64) {
        self.work[n as usize].set(n);
        steps::send(&self.watch, n);
    }

    /// Reads the value; returns it, and its version.
    fn reads(&self) -> (u64, u64) {
        let (value, version) = steps::read(&self.watch);
        if value > 0 {
            let work = self.work[value as usize].get();
            assert!(work == value, "{value} is here, and not what was done before");
        }
        (value, version)
    }

    /// Waits for another version; none, if there is no sender.
    fn waits(&self, seen: u64) -> Option<u64> {
        let waited = &self.waited[H::me()];
        steps::changed(&self.watch, seen, || waited.set(true)).ok()
    }

    fn has_waited(&self) -> bool {
        self.waited[H::me()].get()
    }
}

/// One sends two values and is dropped; another reads whenever there is another.
fn what_is_seen_last_was_sent_last<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(1);
    let sender = party::<H, _, _>("sender", &tiny, |tiny| {
        (1..=2).for_each(|n| tiny.sends(n));
        steps::drop_sender(&tiny.watch);
    });
    let (mut seen, mut values) = (0, vec![0]);
    while tiny.waits(seen).is_some() {
        let (value, version) = tiny.reads();
        assert!(version > seen, "it goes on, and version {version} was seen");
        seen = version;
        values.push(value);
    }
    H::join(sender);
    assert!(values.is_sorted_by(|one, next| one < next), "a value was seen twice, or in another order: {values:?}");
    assert!(values.last() == Some(&2), "2 was sent last, and {values:?} were seen");
    format!("seen {values:?}, waited: {}", tiny.has_waited())
}

/// Two wait for one value.
fn two_wait_for_one<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(2);
    let receiver = |tiny: &Tiny<H>| {
        let version = tiny.waits(0);
        assert!(version == Some(1) && tiny.reads() == (1, 1), "1 was sent, and version {version:?} is there");
        tiny.has_waited()
    };
    let one = party::<H, _, _>("receiver", &tiny, receiver);
    let other = party::<H, _, _>("other receiver", &tiny, receiver);
    tiny.sends(1);
    let mut waited = [H::join(one), H::join(other)];
    waited.sort_unstable();
    format!("waited: {waited:?}")
}

/// Two senders add to the value, and are dropped; a third thread waits for the end.
fn the_last_of_two_senders<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(1);
    tiny.watch.add_sender();
    let sender = |n: usize| {
        move |tiny: &Tiny<H>| {
            tiny.work[n].set(1);
            steps::modify(&tiny.watch, |value| *value += 1);
            steps::drop_sender(&tiny.watch);
        }
    };
    let one = party::<H, _, _>("sender", &tiny, sender(0));
    let other = party::<H, _, _>("other sender", &tiny, sender(1));
    let mut seen = 0;
    while let Some(version) = tiny.waits(seen) {
        seen = version;
    }
    let value = steps::read(&tiny.watch).0;
    assert!((seen, value) == (2, 2), "both have sent: version {seen} was seen, and {value} is there");
    assert!(tiny.work[0].get() + tiny.work[1].get() == 2, "what both did before is seen");
    H::join(one);
    H::join(other);
    format!("waited: {}", tiny.has_waited())
}

/// Of two that wait one is dropped.
fn one_gives_up<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(2);
    let gives_up = party::<H, _, _>("gives up", &tiny, |tiny| {
        tiny.watch.changed().poll(0, &mut Sleeper::<H>::new().lender()).is_ready()
    });
    let receiver = party::<H, _, _>("receiver", &tiny, |tiny| {
        assert!(tiny.waits(0) == Some(1), "1 is sent");
        tiny.has_waited()
    });
    tiny.sends(1);
    format!("at once: {}, the other waited: {}", H::join(gives_up), H::join(receiver))
}

/// The sender waits until no receiver is left; two are dropped.
fn the_last_of_two_receivers<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(2);
    let receiver = |n: usize| {
        move |tiny: &Tiny<H>| {
            tiny.ends[n].set(1);
            steps::drop_receiver(&tiny.watch);
        }
    };
    let one = party::<H, _, _>("receiver", &tiny, receiver(0));
    let other = party::<H, _, _>("other receiver", &tiny, receiver(1));
    let mut end = tiny.watch.closed();
    let mut waited = false;
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

const LAST: &str = "watch::no_change_is_missed::what_is_seen_last_was_sent_last";
const TWO: &str = "watch::no_change_is_missed::two_wait_for_one";
const SENDERS: &str = "watch::the_end_is_told::the_last_of_two_senders";
const RECEIVERS: &str = "watch::the_end_is_told::the_last_of_two_receivers";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("watch::no_change_is_missed::what_is_seen_last_was_sent_last", what_is_seen_last_was_sent_last,
        claim: "who waits for a change and reads sees values in the order of sending, the last at the end, and what was done before each",
        size: "2 threads, 2 values",
        invariants: [115],
        must_reach: ["seen [0, 1, 2], waited: true", "seen [0, 2], waited: true", "seen [0, 2], waited: false",
            "seen [0, 1, 2], waited: false"],
        runs: [rc11(), sc()]),
    crate::model!("watch::no_change_is_missed::two_wait_for_one", two_wait_for_one,
        claim: "two that wait for a change go on both, and read it",
        size: "3 threads, 1 value",
        invariants: [115],
        must_reach: ["waited: [false, false]", "waited: [false, true]", "waited: [true, true]"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
    crate::model!("watch::no_change_is_missed::one_gives_up", one_gives_up,
        claim: "of two that wait one is dropped, and the other goes on",
        size: "3 threads, 1 value",
        invariants: [115],
        must_reach: ["at once: false, the other waited: true", "at once: false, the other waited: false",
            "at once: true, the other waited: true"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("watch::the_end_is_told::the_last_of_two_senders", the_last_of_two_senders,
        claim: "when the last of two senders is dropped a receiver has seen what both sent, and is told",
        size: "3 threads, 2 values",
        invariants: [115, 116],
        must_reach: ["waited: true", "waited: false"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
    crate::model!("watch::the_end_is_told::the_last_of_two_receivers", the_last_of_two_receivers,
        claim: "a sender that waits is told when the last of two receivers is dropped, and sees what both did before",
        size: "3 threads",
        invariants: [116],
        must_reach: ["waited: true", "waited: false"],
        runs: [rc11(), rc11_spurious(1), loom(), sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "watch";
    "watch-counts-before-it-writes": "the version is counted before the value is locked, and written",
        variant("counts-before-it-writes"), by LAST => [Sc, Rc11];
    "watch-reads-the-version-after": "a receiver reads the value, lets go of it, and then reads its version",
        variant("reads-the-version-after"), by LAST => [Sc, Rc11];
    "watch-enqueues-after-it-looked": "a receiver looks at the version, and enqueues its waiter under another lock",
        variant("enqueues-after-it-looked"), by LAST => [Sc, Rc11];
    "watch-wakes-the-first": "of those that wait for a change the first is woken",
        variant("wakes-the-first"), by TWO => [Rc11];
    "watch-ends-silently": "the last sender wakes nobody",
        variant("ends-silently"), by LAST => [Sc, Rc11], SENDERS => [Rc11];
    "watch-counts-receivers-apart": "a receiver looks whether it is the last under another lock than that under which it is counted",
        variant("counts-receivers-apart"), by RECEIVERS => [Sc, Rc11];
};
