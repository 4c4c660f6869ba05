//! Are the calls of a channel those of a list?

use crate::harness::chan::Tiny;
use crate::harness::common::{any_of, party};
use crate::harness::history::{Call, Ended, Record, calls, is_linearizable};
use crate::hosts::model_host::ModelHost;
use spinpark_kernel::waits::chan::errors::{TryRecvError, TrySendError};
use std::sync::Arc;

/// What can be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Send,
    Recv,
    TrySend,
    TryRecv,
    Close,
}

/// Calls it; a send sends `n`.
fn call<H: ModelHost>(tiny: &Tiny<H>, op: Op, n: u64) -> Call {
    match op {
        Op::Send => tiny.send(n).map_or_else(Call::Refused, |()| Call::Sent(n)),
        Op::Recv => tiny.recv().map_or(Call::Over, Call::Received),
        Op::Close => Call::Closed(tiny.close()),
        Op::TrySend => match tiny.try_send(n) {
            Ok(()) => Call::Sent(n),
            Err(TrySendError::Full(n)) => Call::Full(n),
            Err(TrySendError::Closed(n)) => Call::Refused(n),
        },
        Op::TryRecv => match tiny.try_recv() {
            Ok(n) => Call::Received(n),
            Err(TryRecvError::Empty) => Call::Empty,
            Err(TryRecvError::Closed) => Call::Over,
        },
    }
}

/// A channel, and who has called.
type Recorded<H> = (Arc<Tiny<H>>, Ended<H>);

/// Caller `me` calls these; the first send sends 1 more than twice its number.
fn calls_of<H: ModelHost>(both: &Recorded<H>, me: usize, ops: &[Op]) -> Vec<Record> {
    let (tiny, ended) = both;
    ended.record(me, ops.iter().zip(2 * me as u64..).map(|(&op, n)| move || call(tiny, op, n)))
}

fn check(capacity: usize, threads: &[Vec<Record>]) -> String {
    assert!(is_linearizable(capacity, threads), "no list with room for {capacity} answers so: {threads:?}");
    let threads: Vec<String> = threads.iter().map(|records| format!("{:?}", calls(records))).collect();
    threads.join(" ")
}

/// Two threads call twice each, whatever does not wait.
pub(super) fn what_does_not_wait<H: ModelHost>() -> String {
    const OPS: [Op; 3] = [Op::TrySend, Op::TryRecv, Op::Close];
    let draw = || any_of::<H, _>(&OPS);
    let (one, other) = ([draw(), draw()], [draw(), draw()]);
    let both = Arc::new((Tiny::<H>::new(1), Ended::new()));
    let caller = party::<H, _, _>("caller", &both, move |both| calls_of(both, 0, &one));
    let mine = calls_of(&both, 1, &other);
    check(1, &[H::join(caller), mine])
}

/// Two threads call twice each, and a third closes, whether they wait or not.
pub(super) fn what_waits<H: ModelHost>() -> String {
    let capacity = any_of::<H, _>(&[0, 1]);
    let one = any_of::<H, _>(&[[Op::Send, Op::Recv], [Op::Recv, Op::Send], [Op::Send, Op::Send], [Op::Recv, Op::Recv]]);
    let other = any_of::<H, _>(&[[Op::Send, Op::TryRecv], [Op::Recv, Op::TrySend], [Op::TrySend, Op::Recv]]);
    let both = Arc::new((Tiny::<H>::new(capacity), Ended::new()));
    let caller = party::<H, _, _>("caller", &both, move |both| calls_of(both, 0, &one));
    let another = party::<H, _, _>("other caller", &both, move |both| calls_of(both, 1, &other));
    // Last, so that nobody waits for ever.
    let mine = calls_of(&both, 2, &[Op::Close]);
    let threads = [H::join(caller), H::join(another), mine];
    format!("room for {capacity}: {}", check(capacity, &threads))
}
