//! The M in the poller: Ms that add timers and go to sleep, hand their Ps on, look into the poller, wait there and come
//! back; and others that add timers from outside. At the end all parties have come to rest: there is a timer and a P is
//! idle, but does an M look, or wait until then? And the word that a shard of timers shows.

use crate::room::{Program, Room, reached, reached_if, together};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_kernel::host::{NEVER, Nanos};
use spinpark_kernel::protocol::netpoll::Poll;
use spinpark_verification::engines::Engine;
use spinpark_verification::harness::netpoll::{End, Tiny};
use spinpark_verification::harness::timers::Shard;
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::hosts::wrap::trace::main_plays;
use spinpark_verification::mutation::variants::netpoll::{Polling, Scenario, play};
use std::sync::Arc;

/// Two Ms that have a P at first, and a thread that never has one.
const NAMES: [&str; 3] = ["M0", "M1", "outsider"];

/// How it begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// A timer without an owner.
    pub timer: Option<Nanos>,
    /// An M has waited before, until then: the room remembers it.
    pub waited: Option<Nanos>,
}

/// What a party does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Its timer is due then; from outside that is announced. An M without a P does nothing.
    Add(Nanos),
    /// Its timer is gone.
    Remove,
    /// Has nothing to do: idles its P and sleeps, or waits in the poller. Without a P it takes an idle one first.
    Sleeps,
    /// Hands its P on.
    HandsOn,
    /// Looks into the poller.
    Peeks,
    /// Comes back from the poller, if it waits there; for a timer that is due, or because it was interrupted.
    Returns(bool),
}

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct Netpoll;

impl Room for Netpoll {
    const NAME: &'static str = "netpoll";
    const CLAIM: &'static str =
        "no timer is forgotten beside an idle P: an M looks, or one waits, and not for too long";
    const THREADS: usize = NAMES.len();
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random, Engine::TsoPct, Engine::TsoRandom];
    const FALLS: &'static [&'static str] = &[
        "netpoll-no-adders-fence",
        "netpoll-no-waiters-fence",
        "netpoll-reads-it-once",
        "netpoll-trusts-who-waits",
        "netpoll-peeks-and-goes",
        "netpoll-peeks-beside-who-waits",
        "netpoll-never-interrupts",
        "netpoll-wakes-nobody",
        "netpoll-ignores-until",
        "netpoll-never-missing",
    ];
    const PATHS: &'static [&'static str] = &[
        "one waits",
        "one sleeps",
        "one was asked to search",
        "one peeked",
        "one could not peek",
        "a P handed on was run",
    ];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        let when = || prop_oneof![1 => Just(None), 1 => (1..=3 as Nanos).prop_map(Some)];
        (when(), when()).prop_map(|(timer, waited)| Setup { timer, waited }).boxed()
    }
    fn op(thread: usize) -> BoxedStrategy<Op> {
        let when = 1..=3 as Nanos;
        match thread {
            2 => prop_oneof![4 => when.prop_map(Op::Add), 1 => Just(Op::Remove)].boxed(),
            _ => prop_oneof![
                3 => when.prop_map(Op::Add),
                1 => Just(Op::Remove),
                8 => Just(Op::Sleeps),
                2 => Just(Op::HandsOn),
                3 => Just(Op::Peeks),
                2 => any::<bool>().prop_map(Op::Returns),
            ]
            .boxed(),
        }
    }
    fn simpler(setup: &Setup) -> Vec<Setup> {
        let no_timer = setup.timer.map(|_| Setup { timer: None, ..setup.clone() });
        let not_waited = setup.waited.map(|_| Setup { waited: None, ..setup.clone() });
        no_timer.into_iter().chain(not_waited).collect()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        play::<H, _>(program)
    }
}

impl<H: ModelHost> Scenario<H> for &Program<Netpoll> {
    fn play<D: Polling>(self) -> String {
        main_plays(NAMES[0]);
        let tiny = Tiny::<H, D>::with_timers(&[NEVER, NEVER, NEVER, self.setup.waited.unwrap_or(NEVER)]);
        if self.setup.waited.is_some() {
            let poll = tiny.waits();
            tiny.room.leave(poll, 1);
        }
        tiny.set(3, self.setup.timer.unwrap_or(NEVER));
        let party = |me: usize| Party { tiny: Arc::clone(&tiny), me, is: Is::Busy, poll: None, owes: false };
        let others: Vec<_> = (1..self.threads())
            .map(|me| {
                let (party, ops) = (party(me), self.of(me));
                H::fork(NAMES[me], move || party.plays(ops))
            })
            .collect();
        let first = party(0).plays(self.of(0));
        let others = others.into_iter().map(|other| H::join(other));
        let ends: Vec<End> = std::iter::once(first).chain(others).collect();
        tiny.check_at_rest(&ends)
    }
}

/// What a party is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Is {
    /// It has a P, and runs.
    Busy,
    /// It has a P, and has yet to look for work.
    Looks,
    /// It waits in the poller.
    Waits(Nanos),
    /// It sleeps, or is away.
    Asleep,
}

struct Party<H: ModelHost, D: Polling> {
    tiny: Arc<Tiny<H, D>>,
    me: usize,
    is: Is,
    poll: Option<Poll>,
    /// Has it added a timer without announcing it?
    owes: bool,
}

impl<H: ModelHost, D: Polling> Party<H, D> {
    fn plays(mut self, ops: Vec<Op>) -> End {
        for op in ops {
            if self.me == 2 { self.acts_outside(op) } else { self.does(op) }
        }
        match self.is {
            Is::Waits(until) => End::Waits(until),
            Is::Asleep => End::Asleep,
            // When it has nothing to do it sees what it has added.
            Is::Looks => End::Looks,
            Is::Busy if self.owes => End::Looks,
            Is::Busy => End::Busy,
        }
    }

    fn acts_outside(&self, op: Op) {
        match op {
            Op::Add(when) => self.tiny.set_from_outside(self.me, when),
            _ => self.tiny.set(self.me, NEVER),
        }
    }

    fn does(&mut self, op: Op) {
        let has_p = matches!(self.is, Is::Busy | Is::Looks);
        match op {
            Op::Add(when) if has_p => {
                self.tiny.set(self.me, when);
                self.owes = true;
            }
            Op::Remove if has_p => self.tiny.set(self.me, NEVER),
            Op::Sleeps if has_p => {
                let (end, poll) = self.tiny.idles();
                self.ends(end, poll);
            }
            Op::Sleeps if self.is == Is::Asleep && self.tiny.takes_p() => self.is = Is::Looks,
            Op::HandsOn if has_p => {
                reached_if(self.tiny.hands_on(), "a P handed on was run");
                (self.is, self.owes) = (Is::Asleep, false);
            }
            Op::Peeks if has_p => {
                reached(if self.tiny.peeks() { "one peeked" } else { "one could not peek" });
            }
            Op::Returns(is_due) => {
                if let Some(poll) = self.poll.take() {
                    let (end, poll) = self.tiny.returns(poll, is_due);
                    self.ends(end, poll);
                }
            }
            _ => (),
        }
    }

    fn ends(&mut self, end: End, poll: Option<Poll>) {
        (self.poll, self.owes) = (poll, false);
        self.is = match end {
            End::Waits(until) => {
                reached("one waits");
                Is::Waits(until)
            }
            End::Asleep => {
                reached("one sleeps");
                Is::Asleep
            }
            _ => {
                reached("one was asked to search");
                Is::Looks
            }
        };
    }
}

/// The word of a shard of timers.
#[derive(Debug, Clone, PartialEq)]
pub struct Word;

/// A timer is added, and removed again or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timer {
    when: Nanos,
    is_removed: bool,
}

impl Room for Word {
    const NAME: &'static str = "timers";
    const CLAIM: &'static str = "the word of a shard is the moment of its earliest timer";
    const THREADS: usize = 3;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] = &["timers-tells-when-late", "timers-forgets-to-tell-when"];
    const PATHS: &'static [&'static str] = &["one stays", "one is removed"];
    type Setup = ();
    type Op = Timer;

    fn setup() -> BoxedStrategy<()> {
        Just(()).boxed()
    }
    fn op(_: usize) -> BoxedStrategy<Timer> {
        (1..=9 as Nanos, any::<bool>()).prop_map(|(when, is_removed)| Timer { when, is_removed }).boxed()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        fn plays<H: ModelHost>(shard: &Arc<Shard<H>>, timers: Vec<Timer>) {
            for Timer { when, is_removed } in timers {
                reached(if is_removed { "one is removed" } else { "one stays" });
                shard.add(when, is_removed);
            }
        }
        main_plays("one");
        let (shard, ()) =
            together::<H, Self, _, _>(program, Shard::<H>::new(), |shard, _, ops| plays(shard, ops), plays);
        let stays = program.ops.iter().filter(|(_, timer)| !timer.is_removed);
        let (told, found) = (stays.map(|(_, timer)| timer.when).min().unwrap_or(NEVER), shard.deadline());
        assert!(told == found, "the earliest timer is due at {told}, and the shard says {found}");
        format!("{found}")
    }
}
