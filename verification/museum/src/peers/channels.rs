//! Several waiters at one channel, or one at several: for each message a receiver is awake, and stays so until it has
//! looked.

use crate::common::{Exhibit, Model, ModelHost, Mutant, Source, is_wrong, main_plays, party, rc11};
use spinpark_kernel::host::{Lock, Parker};
use std::sync::Arc;

/// async-std's channel, with a `WakerSet` of two receivers.
struct AsyncStd<H: ModelHost> {
    channel: H::Lock<Set>,
    parkers: [H::Parker; 2],
}

#[derive(Default)]
struct Set {
    messages: u32,
    /// The receivers that sleep.
    asleep: [bool; 2],
    /// The receivers that are notified, and have not run since.
    notified: [bool; 2],
}

impl<H: ModelHost> AsyncStd<H> {
    /// `send`. Was a receiver notified?
    fn send(&self) -> bool {
        let woken = self.channel.with(|channel| {
            channel.messages += 1;
            if is_wrong("museum-async-std-452") && channel.notified.contains(&true) {
                // One is on its way already. For a lock that would do.
                return None;
            }
            let woken = channel.asleep.iter().position(|asleep| *asleep)?;
            channel.asleep[woken] = false;
            channel.notified[woken] = true;
            Some(woken)
        });
        woken.into_iter().for_each(|woken| self.parkers[woken].unpark());
        woken.is_some()
    }

    /// `recv`, by receiver `me`; how many times it slept.
    fn receive(&self, me: usize) -> u32 {
        let mut slept = 0;
        while self.channel.with(|channel| {
            channel.notified[me] = false;
            channel.asleep[me] = channel.messages == 0;
            channel.messages -= u32::from(!channel.asleep[me]);
            channel.asleep[me]
        }) {
            slept += 1;
            self.parkers[me].park();
        }
        slept
    }
}

fn two_messages_come_for_two_that_sleep<H: ModelHost>() -> String {
    main_plays("sender");
    let parkers = [H::Parker::new(), H::Parker::new()];
    let channel = Arc::new(AsyncStd::<H> { channel: H::Lock::new(Set::default()), parkers });
    let one = party::<H, _, _>("one", &channel, |channel| channel.receive(0));
    let two = party::<H, _, _>("two", &channel, |channel| channel.receive(1));
    let woken = [channel.send(), channel.send()].into_iter().filter(|woken| *woken).count();
    H::join(one);
    H::join(two);
    format!("{woken} woken")
}

/// Raven's channels A and B: one receiver selects on both, the other waits at B alone.
struct Raven<H: ModelHost> {
    channels: H::Lock<Channels>,
    /// The selecting receiver's, and the other's.
    parkers: [H::Parker; 2],
}

#[derive(Default)]
struct Channels {
    /// What is in A, and in B.
    messages: [u32; 2],
    /// The waiters at A, and at B, the oldest first.
    waiting: [Vec<usize>; 2],
    /// Did a select pass a wake on?
    forwarded: bool,
}

const A: usize = 0;
const B: usize = 1;
const SELECTS: usize = 0;

impl<H: ModelHost> Raven<H> {
    /// Puts a message, and wakes the oldest that waits there.
    fn send(&self, channel: usize) {
        let woken = self.channels.with(|channels| {
            channels.messages[channel] += 1;
            let waiting = &mut channels.waiting[channel];
            (!waiting.is_empty()).then(|| waiting.remove(0))
        });
        woken.into_iter().for_each(|woken| self.parkers[woken].unpark());
    }

    /// Receives from one of `from`, the first that has something; from which.
    fn receive(&self, me: usize, from: &[usize]) -> usize {
        loop {
            let (taken, wakes) = self.channels.with(|channels| {
                // No longer registered anywhere.
                channels.waiting.iter_mut().for_each(|waiting| waiting.retain(|waits| *waits != me));
                let taken = from.iter().copied().find(|channel| channels.messages[*channel] > 0);
                let Some(channel) = taken else {
                    from.iter().for_each(|channel| channels.waiting[*channel].push(me));
                    return (None, None);
                };
                channels.messages[channel] -= 1;
                let other = from.iter().copied().find(|other| *other != channel && channels.messages[*other] > 0);
                // It may have been woken for that one, too: the wake is passed on.
                let wakes = other.filter(|other| !is_wrong("museum-raven-403") && !channels.waiting[*other].is_empty());
                channels.forwarded |= wakes.is_some();
                (taken, wakes.map(|other| channels.waiting[other].remove(0)))
            });
            wakes.into_iter().for_each(|woken| self.parkers[woken].unpark());
            match taken {
                Some(channel) => return channel,
                None => self.parkers[me].park(),
            }
        }
    }
}

fn one_selects_and_one_waits<H: ModelHost>() -> String {
    main_plays("sender");
    let parkers = [H::Parker::new(), H::Parker::new()];
    let raven = Arc::new(Raven::<H> { channels: H::Lock::new(Channels::default()), parkers });
    let selects = party::<H, _, _>("selects", &raven, |raven| raven.receive(SELECTS, &[A, B]));
    let waits = party::<H, _, _>("waits", &raven, |raven| raven.receive(1, &[B]));
    raven.send(A);
    raven.send(B);
    // The select takes from A, which was sent to first.
    let from = H::join(selects);
    H::join(waits);
    let is_woken_twice = raven.channels.with(|channels| channels.forwarded);
    format!("selected {from}, passed a wake on {is_woken_twice}")
}

const ASYNC_STD: &str = "museum::async_std_452::two_messages_come_for_two_that_sleep";
const RAVEN: &str = "museum::raven_403::one_selects_and_one_waits";

/// The variants' models.
pub const MODELS: &[Model] = &[
    crate::model!("museum::async_std_452::two_messages_come_for_two_that_sleep", two_messages_come_for_two_that_sleep,
        claim: "for each message one receiver is awake",
        size: "3 threads, 2 messages",
        invariants: [],
        must_reach: ["0 woken", "1 woken", "2 woken"],
        runs: [rc11()]),
    crate::model!("museum::raven_403::one_selects_and_one_waits", one_selects_and_one_waits,
        claim: "a receiver that was woken for two channels and takes from one passes the other wake on",
        size: "3 threads, 2 channels, 2 messages",
        invariants: [],
        must_reach: ["selected 0, passed a wake on true", "selected 0, passed a wake on false"],
        runs: [rc11()]),
];

/// The variants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "museum";
    "museum-async-std-452": "a sender wakes no receiver as long as one is on its way",
        variant("museum-async-std-452"), by ASYNC_STD => [Rc11, Sc, Loom];
    "museum-raven-403": "a select that was woken for two channels takes from one and forgets the other",
        variant("museum-raven-403"), by RAVEN => [Rc11, Sc, Loom];
};

/// The bugs.
pub const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "async-std-452",
        project: "async-std",
        issue: "https://github.com/async-rs/async-std/pull/452",
        year: 2019,
        people: "A test of channels with many receivers hung when it was repeated.",
        cause: "A send notifies no receiver if one is notified already. That one takes one message; the second message \
                lies there, and the second receiver sleeps.",
        fix: "Each send notifies one more. For locks the old way was right, and stayed.",
        source: Source::Read,
        mutant: "museum-async-std-452",
    },
    Exhibit {
        name: "raven-403",
        project: "Raven",
        issue: "https://github.com/martian56/raven/issues/403",
        year: 2026,
        people: "A receiver waited for ever, with a value in its channel.",
        cause: "A select waits at A and at B, before a receiver that waits at B. A value for A wakes it, then one for \
                B: the wake is used up by the select, which takes from A and leaves.",
        fix: "A select that takes a value wakes the next receiver of each other channel that has one (#493).",
        source: Source::Read,
        mutant: "museum-raven-403",
    },
];
