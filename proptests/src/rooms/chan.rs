//! A channel: threads that send and receive, wait or give up, beside one that closes it in the end. What they are answered must
//! have an order in which a list answers so.

pub mod queue;

use crate::linear::History;
use crate::room::{Program, Room, reached_if};
use proptest::prelude::*;
use queue::Call;
use serde::{Deserialize, Serialize};
use spinpark_kernel::waits::chan::errors::{TryRecvError, TrySendError};
use spinpark_verification::engines::Engine;
use spinpark_verification::harness::chan::{Tiny, UNBOUNDED};
use spinpark_verification::hosts::model_host::ModelHost;
use std::sync::Arc;

/// Sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// Room for so many; `None`: for all.
    pub capacity: Option<usize>,
}

/// What a thread does. The values are numbered in the order of the program; what comes after the fourth is not sent, and after
/// the second receive that gives up none is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Sends; waits if it has to.
    Send,
    /// Sends, if it has not to wait.
    TrySend,
    /// Sends; gives up if it has to wait.
    SendOrGiveUp,
    /// Receives; waits if it has to.
    Recv,
    /// Receives, if it has not to wait.
    TryRecv,
    /// Receives; waits if it has to, and gives up.
    RecvOrGiveUp,
    /// Closes the channel.
    Close,
}

/// So many values, as the harness has cells.
const VALUES: u64 = 4;
/// So many receives that give up: for each any value may have been given.
const GIVE_UP: usize = 2;

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct Chan;

impl Room for Chan {
    const NAME: &'static str = "chan";
    const CLAIM: &'static str = "a channel is linearizable to a list, and each waiter is served or learns of the end";
    const THREADS: usize = 3;
    const LONGEST: usize = 12;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] = &[
        "chan-wakes-before-it-gives",
        "chan-enqueues-under-another-lock",
        "chan-closed-is-empty",
        "chan-closes-and-forgets-senders",
        "chan-closes-and-forgets-receivers",
        "chan-puts-back-at-the-end",
        "chan-puts-back-without-its-number",
        "chan-forgets-what-it-was-given",
    ];
    const PATHS: &'static [&'static str] = &[
        "a send waited",
        "a receive waited",
        "a value was given to a receive that gave up",
        "something was left when it was closed",
    ];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        prop_oneof![3 => (0..3usize).prop_map(Some), 1 => Just(None)].prop_map(|capacity| Setup { capacity }).boxed()
    }
    fn op(_: usize) -> BoxedStrategy<Op> {
        prop_oneof![
            5 => Just(Op::Send),
            2 => Just(Op::TrySend),
            1 => Just(Op::SendOrGiveUp),
            4 => Just(Op::Recv),
            2 => Just(Op::TryRecv),
            3 => Just(Op::RecvOrGiveUp),
            1 => Just(Op::Close),
        ]
        .boxed()
    }
    fn simpler(setup: &Setup) -> Vec<Setup> {
        let smaller = setup.capacity.unwrap_or(3);
        (0..smaller).map(|capacity| Setup { capacity: Some(capacity) }).collect()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        let capacity = program.setup.capacity.unwrap_or(UNBOUNDED);
        let shared = Arc::new(Shared::<H> { tiny: Tiny::new(capacity), history: History::default() });
        let plays = |thread: usize| {
            let (shared, ops) = (Arc::clone(&shared), numbered(program, thread));
            move || ops.into_iter().for_each(|(op, n)| shared.does(thread, op, n))
        };
        let mut others: Vec<_> = (1..program.threads()).map(|thread| H::fork("other", plays(thread))).collect();
        // Each waiter is served, or learns of this.
        let closer = Arc::clone(&shared);
        others.push(H::fork("closer", move || closer.does(Self::THREADS, Op::Close, 0)));
        plays(0)();
        others.into_iter().for_each(|other| H::join(other));
        let rest = shared.tiny.rest();
        reached_if(!rest.is_empty(), "something was left when it was closed");
        queue::check(capacity, shared.history.records(), &rest);
        format!("left {}", rest.len())
    }
}

/// What this thread does, and with which values.
fn numbered(program: &Program<Chan>, thread: usize) -> Vec<(Op, u64)> {
    let (mut next, mut gives_up) = (0, 0);
    let numbered = program.ops.iter().filter_map(|&(who, op)| {
        let n = next;
        match op {
            Op::Send | Op::TrySend | Op::SendOrGiveUp => next += 1,
            Op::RecvOrGiveUp => gives_up += 1,
            Op::Recv | Op::TryRecv | Op::Close => (),
        }
        let is_done = next <= VALUES && gives_up <= GIVE_UP;
        (who == thread && is_done).then_some((op, n))
    });
    numbered.collect()
}

struct Shared<H: ModelHost> {
    tiny: Arc<Tiny<H>>,
    history: History<H, Call>,
}

impl<H: ModelHost> Shared<H> {
    fn does(&self, thread: usize, op: Op, n: u64) {
        let waited = self.tiny.has_waited();
        self.history.calls(thread, || ((), self.asks(op, n).into_iter().collect()));
        let waits = !waited && self.tiny.has_waited();
        reached_if(waits && op == Op::Send, "a send waited");
        reached_if(waits && op == Op::Recv, "a receive waited");
    }

    /// `None`: it came to nothing.
    fn asks(&self, op: Op, n: u64) -> Option<Call> {
        let tiny = &self.tiny;
        Some(match op {
            Op::Send => tiny.send(n).map_or_else(Call::Refused, |()| Call::Sent(n)),
            Op::TrySend => match tiny.try_send(n) {
                Ok(()) => Call::Sent(n),
                Err(TrySendError::Full(n)) => Call::Full(n),
                Err(TrySendError::Closed(n)) => Call::Refused(n),
            },
            Op::SendOrGiveUp => return tiny.send_or_give_up(n).is_none().then_some(Call::Sent(n)),
            Op::Recv => tiny.recv().map_or(Call::NoneLeft, Call::Received),
            Op::TryRecv => match tiny.try_recv() {
                Ok(n) => Call::Received(n),
                Err(TryRecvError::Empty) => Call::Empty,
                Err(TryRecvError::Closed) => Call::NoneLeft,
            },
            Op::RecvOrGiveUp => tiny.recv_or_give_up().map_or(Call::GaveUp, Call::Received),
            Op::Close => Call::Closed(tiny.close()),
        })
    }
}
