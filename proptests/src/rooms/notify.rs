//! A `Notify`: threads that take apples, or wait for news, or for a ring, beside others that bring some, and notify one, or all. As
//! many come as are wanted, so a thread that sleeps for ever was forgotten.

use crate::room::{Program, Room, reached_if};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_kernel::host::Lock;
use spinpark_verification::engines::Engine;
use spinpark_verification::harness::sleeper::Sleeper;
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::mutation::variants::notify::{self as steps, Notify as Steps};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What is done: by threads 0 and 1, which wait; and by the others, which notify. What is wanted besides comes from one more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Takes an apple, when there is one: waits before it looks.
    Take,
    /// Waits for an apple, and gives up.
    GiveUp,
    /// Waits for the news, unless they are there.
    WaitForNews,
    /// Looks whether all were notified, and whether they are after that.
    LookTwice,
    /// Waits to be rung for. Once in a program, by thread 0.
    WaitForARing,
    /// Brings an apple, and notifies one.
    Bring,
    /// There are news; notifies all.
    Publish,
    /// Rings.
    Ring,
}

/// So many threads wait.
const WAITERS: usize = 2;

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct Notify;

impl Room for Notify {
    const NAME: &'static str = "notify";
    const CLAIM: &'static str = "no notification is lost, and one of all ends no wait that was created after it";
    const THREADS: usize = 4;
    const LONGEST: usize = 12;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] = &[
        "notify-enqueues-after-it-looked",
        "notify-keeps-no-permit",
        "notify-keeps-the-notification",
        "notify-waits-from-its-first-poll",
        "notify-remembers-the-round-late",
        "notify-notifies-one-of-all",
        "notify-counts-after-it-served",
    ];
    const PATHS: &'static [&'static str] =
        &["a taker waited", "one gave up that was notified", "the news came late", "it was rung for before"];
    type Setup = ();
    type Op = Op;

    fn setup() -> BoxedStrategy<()> {
        Just(()).boxed()
    }
    fn op(thread: usize) -> BoxedStrategy<Op> {
        if thread >= WAITERS {
            return prop_oneof![3 => Just(Op::Bring), 2 => Just(Op::Publish), 1 => Just(Op::Ring)].boxed();
        }
        let both = prop_oneof![
            3 => Just(Op::Take), 1 => Just(Op::GiveUp), 2 => Just(Op::WaitForNews), 1 => Just(Op::LookTwice)
        ];
        if thread == 0 { prop_oneof![6 => both, 1 => Just(Op::WaitForARing)].boxed() } else { both.boxed() }
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        let of = |wanted: Op| program.ops.iter().filter(|(_, op)| *op == wanted).count() as u64;
        let (wanted, brought) = (of(Op::Take), of(Op::Bring));
        let shared = Arc::new(Shared::<H>::new());
        let plays = |thread: usize| {
            let (shared, ops) = (Arc::clone(&shared), program.of(thread));
            move || shared.does_all(ops)
        };
        let mut others: Vec<_> = (1..program.threads()).map(|thread| H::fork("other", plays(thread))).collect();
        let mut missing = vec![Op::Bring; wanted.saturating_sub(brought) as usize];
        missing.extend((of(Op::Publish) == 0).then_some(Op::Publish));
        missing.extend((of(Op::Ring) == 0).then_some(Op::Ring));
        let last = Arc::clone(&shared);
        others.push(H::fork("the one that brings the rest", move || last.does_all(missing)));
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
    is_apple: Steps<H>,
    has_news: H::Lock<bool>,
    is_news: Steps<H>,
    ring: Steps<H>,
    /// How often all were being notified, and were. No part of what is played.
    begun: AtomicU64,
    ended: AtomicU64,
}

impl<H: ModelHost> Shared<H> {
    fn new() -> Self {
        Shared {
            apples: H::Lock::new(0),
            is_apple: Steps::<H>::new(),
            has_news: H::Lock::new(false),
            is_news: Steps::<H>::new(),
            ring: Steps::<H>::new(),
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
        }
    }

    fn does_all(&self, ops: Vec<Op>) {
        let mut has_rung = false;
        for op in ops {
            match op {
                Op::Take => self.take(),
                Op::GiveUp => self.give_up(),
                Op::WaitForNews => self.wait_for_news(),
                Op::LookTwice => self.look_twice(),
                Op::WaitForARing if std::mem::replace(&mut has_rung, true) => (),
                Op::WaitForARing => {
                    let waited = Cell::new(false);
                    steps::wait(&self.ring, self.ring.notified(), || waited.set(true));
                    reached_if(!waited.get(), "it was rung for before");
                }
                Op::Bring => {
                    self.apples.with(|apples| *apples += 1);
                    steps::notify_one(&self.is_apple);
                }
                Op::Publish => {
                    self.has_news.with(|has_news| *has_news = true);
                    self.begun.fetch_add(1, Relaxed);
                    steps::notify_waiters(&self.is_news);
                    self.ended.fetch_add(1, Relaxed);
                }
                Op::Ring => steps::notify_one(&self.ring),
            }
        }
    }

    fn take(&self) {
        loop {
            let mut notified = self.is_apple.notified();
            steps::enable(&mut notified);
            let took = self.apples.with(|apples| {
                let is_there = *apples > 0;
                *apples -= u64::from(is_there);
                is_there
            });
            if took {
                return steps::give_up(notified);
            }
            steps::wait(&self.is_apple, notified, || reached_if(true, "a taker waited"));
        }
    }

    /// It takes nothing, so what it was notified of is another's.
    fn give_up(&self) {
        let mut notified = self.is_apple.notified();
        let is_over = steps::enable(&mut notified) || notified.poll(&mut Sleeper::<H>::new().lender()).is_ready();
        steps::give_up(notified);
        reached_if(is_over, "one gave up that was notified");
        if is_over {
            // Its wait has ended, and nothing is passed on by itself.
            steps::notify_one(&self.is_apple);
        }
    }

    fn wait_for_news(&self) {
        loop {
            let notified = self.is_news.notified();
            if self.has_news.with(|has_news| *has_news) {
                return;
            }
            steps::wait(&self.is_news, notified, || reached_if(true, "the news came late"));
        }
    }

    /// One notification of all ends no wait that is created after another has ended by it.
    fn look_twice(&self) {
        let (before, sleeper) = (self.ended.load(Relaxed), Sleeper::<H>::new());
        let is_over = |notified: &mut steps::Notified<'_, H>| notified.poll(&mut sleeper.lender()).is_ready();
        let mut first = self.is_news.notified();
        if (is_over(&mut first) || is_over(&mut first)) && is_over(&mut self.is_news.notified()) {
            let calls = self.begun.load(Relaxed) - before;
            assert!(calls >= 2, "all were notified {calls} times, and two waits, one after the other, have ended");
        }
    }
}
