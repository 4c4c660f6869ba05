//! A `Cond`: threads that wait for apples, or give up, beside others that bring some and notify one, or all. As many come as are
//! wanted, so a thread that sleeps for ever was forgotten.

use crate::room::{Program, Room, reached_if};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_kernel::host::Lock;
use spinpark_verification::engines::Engine;
use spinpark_verification::harness::sleeper::Sleeper;
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::mutation::variants::cond::{self as steps, Condition};
use std::sync::Arc;

/// What is done: by threads 0 and 1, which take apples; and by the others, which bring them. What is wanted besides is brought
/// by one more, one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Takes an apple, when there is one.
    Take,
    /// Waits for an apple, and gives up; takes one that is there at once, and puts it back.
    TakeOrGiveUp,
    /// The same, but it looks whether it was notified before it gives up.
    LookAndGiveUp,
    /// Brings an apple, and notifies one.
    BringOne,
    /// Brings two, and notifies all.
    BringTwo,
}

/// So many threads take.
const TAKERS: usize = 2;

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct Cond;

impl Room for Cond {
    const NAME: &'static str = "cond";
    const CLAIM: &'static str =
        "no notification is missed, and one chosen for a waiter that gave up goes on to another";
    const THREADS: usize = 4;
    const LONGEST: usize = 12;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] =
        &["cond-enqueues-after-unlocking", "cond-notifies-one-of-all", "cond-keeps-the-notification"];
    const PATHS: &'static [&'static str] = &[
        "a taker waited",
        "a taker that was notified waited again",
        "a taker gave up",
        "one gave up that was notified",
    ];
    type Setup = ();
    type Op = Op;

    fn setup() -> BoxedStrategy<()> {
        Just(()).boxed()
    }
    fn op(thread: usize) -> BoxedStrategy<Op> {
        if thread < TAKERS {
            return prop_oneof![3 => Just(Op::Take), 1 => Just(Op::TakeOrGiveUp), 1 => Just(Op::LookAndGiveUp)].boxed();
        }
        prop_oneof![3 => Just(Op::BringOne), 1 => Just(Op::BringTwo)].boxed()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        let of = |wanted: Op| program.ops.iter().filter(|(_, op)| *op == wanted).count() as u64;
        let (wanted, brought) = (of(Op::Take), of(Op::BringOne) + 2 * of(Op::BringTwo));
        let shared = Arc::new(Shared::<H> { apples: H::Lock::new(0), cond: Condition::<H>::new() });
        let plays = |thread: usize| {
            let (shared, ops) = (Arc::clone(&shared), program.of(thread));
            move || ops.into_iter().for_each(|op| shared.does(op))
        };
        let mut others: Vec<_> = (1..program.threads()).map(|thread| H::fork("other", plays(thread))).collect();
        let missing = wanted.saturating_sub(brought);
        let last = Arc::clone(&shared);
        others
            .push(H::fork("the one that brings the rest", move || (0..missing).for_each(|_| last.does(Op::BringOne))));
        plays(0)();
        others.into_iter().for_each(|other| H::join(other));
        let left = shared.apples.with(|apples| *apples);
        let expected = brought.max(wanted) - wanted;
        assert!(left == expected, "{left} apples are left, and not {expected}");
        format!("left {left}")
    }
}

struct Shared<H: ModelHost> {
    apples: H::Lock<u64>,
    cond: Condition<H>,
}

impl<H: ModelHost> Shared<H> {
    fn does(&self, op: Op) {
        match op {
            Op::Take => self.take(),
            Op::TakeOrGiveUp => self.give_up(false),
            Op::LookAndGiveUp => self.give_up(true),
            Op::BringOne => {
                self.apples.with(|apples| *apples += 1);
                self.cond.notify_one();
            }
            Op::BringTwo => {
                self.apples.with(|apples| *apples += 2);
                steps::notify_all(&self.cond);
            }
        }
    }

    fn take(&self) {
        for waited in 0.. {
            let sleeper = Sleeper::new();
            let mut place = self.cond.place();
            let took = steps::ask_or_enqueue::<H, _>(&self.apples, &mut place, &sleeper, |apples| {
                let is_there = *apples > 0;
                *apples -= u64::from(is_there);
                is_there
            });
            if took {
                return;
            }
            reached_if(waited == 0, "a taker waited");
            reached_if(waited > 0, "a taker that was notified waited again");
            sleeper.wait_for(|lender| place.poll(lender));
            place.goes_on();
        }
    }

    /// It takes nothing, so what it was notified of is another's.
    fn give_up(&self, looks: bool) {
        let sleeper = Sleeper::new();
        let mut place = self.cond.place();
        let is_there = steps::ask_or_enqueue::<H, _>(&self.apples, &mut place, &sleeper, |apples| *apples > 0);
        if !is_there {
            let was_notified = looks && place.poll(&mut sleeper.lender()).is_ready();
            reached_if(true, "a taker gave up");
            reached_if(was_notified, "one gave up that was notified");
        }
        steps::give_up(place);
    }
}
