//! The steps of a channel, the right ones unless a variant says otherwise.

use crate::harness::chan::{Chan, OnModel};
use crate::harness::sleeper::{ParkWaker, Sleeper, ThreadLender};
use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::{is_variant, variant};
use spinpark_kernel::waits::chan::Waiter;
use spinpark_kernel::waits::chan::errors::{Closed, SendError, TryRecvError};
use spinpark_kernel::waits::chan::receive::Receive;
use spinpark_kernel::waits::chan::send::Send;
use spinpark_kernel::waits::chan::state::{Side, State};
use spinpark_kernel::waits::waker::{Lender, wake};
use std::task::Poll;

/// Sends, or waits to. See [`Send::poll`].
pub fn poll_send<'a, H: ModelHost>(
    chan: &'a Chan<H>,
    send: &mut Send<'a, OnModel<H>>,
    lender: &mut ThreadLender<'_, H>,
) -> Poll<Result<(), SendError<u64>>> {
    if !is_variant("wakes-before-it-gives") || send.is_waiting() {
        return send.poll(lender);
    }
    // The first receiver is woken, and given its value after that.
    let woken = chan.with(|state| state.next(Side::Receivers).map(|key| (key, state.waiter(key).waker.take())));
    let Some((key, waker)) = woken else { return send.poll(lender) };
    wake(waker);
    let value = std::mem::replace(send, Send::new(chan, 0)).into_inner().expect("it was not sent");
    // It has woken it, so it does not again.
    drop(chan.with(|state| state.hand_over(key, value)));
    Poll::Ready(Ok(()))
}

/// Receives at once, or not. See [`spinpark_kernel::waits::chan::Channel::try_take`].
pub fn try_recv<H: ModelHost>(chan: &Chan<H>) -> Result<u64, TryRecvError> {
    match variant() {
        Some("lets-nobody-in") => {
            chan.with(|state| state.pop().ok_or(TryRecvError::Empty)).or_else(|_| chan.try_take())
        }
        Some("closed-is-empty") if chan.with(|state| state.is_closed()) => Err(TryRecvError::Closed),
        Some("lets-in-under-another-lock") => take_and_let_in(chan).map_or_else(|| chan.try_take(), Ok),
        _ => chan.try_take(),
    }
}

/// Takes a value, and under another lock lets in the next sender.
fn take_and_let_in<H: ModelHost>(chan: &Chan<H>) -> Option<u64> {
    let value = chan.with(State::pop)?;
    wake(chan.with(State::let_in));
    Some(value)
}

/// Receives, however long that takes; says so each time that it `waits`. See [`Receive::poll`].
pub fn receive<H: ModelHost>(chan: &Chan<H>, sleeper: &Sleeper<H>, waits: impl Fn()) -> Result<u64, Closed> {
    match variant() {
        Some("closed-is-empty") if chan.with(|state| state.is_closed()) => return Err(Closed),
        Some("lets-nobody-in") => {
            if let Some(value) = chan.with(State::pop) {
                return Ok(value);
            }
        }
        Some("lets-in-under-another-lock") => {
            if let Some(value) = take_and_let_in(chan) {
                return Ok(value);
            }
        }
        // It looks, and enqueues its waiter under another lock.
        Some("enqueues-under-another-lock") => {
            if let Some(received) = chan.try_recv_or_closed() {
                return received;
            }
            let waker = sleeper.lender().lend().expect("it is trusted");
            let key = chan.with(|state| state.enqueue(Side::Receivers, Waiter::<OnModel<H>>::new(waker, None, None)));
            return sleeper.wait_for(|_| come_for(chan, key).map_or(Poll::Pending, Poll::Ready));
        }
        _ => (),
    }
    let mut receive = Receive::new(chan);
    sleeper.wait_for(|lender| {
        let polled = receive.poll(lender);
        polled.is_pending().then(&waits);
        polled
    })
}

/// What the waiting came to. `None`: it goes on.
fn come_for<H: ModelHost>(chan: &Chan<H>, key: usize) -> Option<Result<u64, Closed>> {
    chan.with(|state| {
        state.waiter(key).outcome?;
        Some(state.leave(Side::Receivers, key).value.ok_or(Closed))
    })
}

/// Gives back what a receive was given: the how manieth it was, and the value. Returns whom to wake.
pub type PutBack<H> = fn(&mut State<OnModel<H>>, u64, u64) -> Option<ParkWaker<H>>;

/// A receive that waits.
pub enum Waiting<'a, H: ModelHost> {
    /// As it is.
    Right(Receive<'a, OnModel<H>>),
    /// One that gives back wrongly, by this, what it was given: the how manieth, and the value.
    Wrong {
        /// At which channel.
        chan: &'a Chan<H>,
        /// Its waiter.
        key: usize,
        /// How it gives back.
        put_back: PutBack<H>,
    },
}

/// Begins to receive.
///
/// # Errors
/// It waits.
pub fn begin_to_receive<'a, H: ModelHost>(
    chan: &'a Chan<H>,
    sleeper: &Sleeper<H>,
) -> Result<Result<u64, Closed>, Waiting<'a, H>> {
    let put_back: PutBack<H> = match variant() {
        Some("puts-back-at-the-end") => |state, _, value| state.put(value).ok().flatten(),
        Some("puts-back-without-its-number") => |state, _, value| state.put_back(0, value),
        Some("puts-back-with-a-new-number") => |state, number, value| match state.next(Side::Receivers) {
            Some(key) => state.hand_over(key, value),
            None => state.put_back(number, value),
        },
        Some("forgets-what-it-was-given") => |_, _, _| None,
        _ => {
            let mut receive = Receive::new(chan);
            return match receive.poll(&mut sleeper.lender()) {
                Poll::Ready(received) => Ok(received),
                Poll::Pending => Err(Waiting::Right(receive)),
            };
        }
    };
    let waker = sleeper.lender().lend().expect("it is trusted");
    let taken = chan.with(|state| match state.take() {
        Ok((value, woken)) => Ok((Ok(value), woken)),
        Err(TryRecvError::Closed) => Ok((Err(Closed), None)),
        Err(TryRecvError::Empty) => Err(state.enqueue(Side::Receivers, Waiter::<OnModel<H>>::new(waker, None, None))),
    });
    match taken {
        Err(key) => Err(Waiting::Wrong { chan, key, put_back }),
        Ok((received, woken)) => {
            wake(woken);
            Ok(received)
        }
    }
}

impl<H: ModelHost> Waiting<'_, H> {
    /// It is dropped. See [`Receive::withdraw`].
    pub fn give_up(self) {
        match self {
            Waiting::Right(receive) => drop(receive),
            Waiting::Wrong { chan, key, put_back } => wake(chan.with(|state| {
                let waiter = state.leave(Side::Receivers, key);
                waiter.value.and_then(|value| put_back(state, waiter.number, value))
            })),
        }
    }
}

/// Closes it. See [`State::close`].
pub fn close<H: ModelHost>(chan: &Chan<H>) -> bool {
    let forgotten = match variant() {
        Some("closes-and-forgets-senders") => Side::Senders,
        Some("closes-and-forgets-receivers") => Side::Receivers,
        _ => return chan.close(),
    };
    let mut wakers = Vec::new();
    let is_first = chan.with(|state| {
        let is_first = state.shut();
        match forgotten {
            Side::Senders => state.turn_away(Side::Receivers, &mut wakers),
            Side::Receivers => state.turn_away(Side::Senders, &mut wakers),
        }
        is_first
    });
    wake(wakers);
    is_first
}
