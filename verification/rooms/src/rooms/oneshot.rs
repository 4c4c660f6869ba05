//! One value, from one task to another.
//!
//! Invariant 113: the value is received once, or comes back, or is dropped with the receiver, once. Invariant 114: each end that
//! waits is notified of what the other does, and sees what it did before.

use crate::host::RoomHost;
use crate::room::{Begun, CallId, Does, Effects, Focus, Real, Room, Spec, WAITS, Wait, Waiting};
use crate::values::{Maker, Value};
use crate::wakers::{Lends, Wakes};
use kernel::host::Host;
use kernel::waits::chan::errors::TryRecvError;
use kernel::waits::oneshot::{Oneshot, State};
use std::task::Poll;

/// The room.
#[derive(Debug)]
pub struct Oneshots;

/// What a thread holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// It sends.
    Sender,
    /// It receives.
    Receiver,
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Sends; the sender is gone.
    Send,
    /// The sender is gone, and has not sent.
    DropSender,
    /// Waits until the receiver is gone, or has closed.
    Closed,
    /// Receives.
    Recv,
    /// Receives, if there is something.
    TryRecv,
    /// Takes nothing that is sent from now on.
    Close,
    /// The receiver is gone.
    DropReceiver,
}

/// What a call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It is done.
    Done,
    /// The value comes back.
    Refused(u64),
    /// Here it is.
    Received(u64),
    /// There is nothing now.
    Empty,
    /// There will be nothing.
    Over,
}

/// A oneshot on a host.
pub type OnHost<H> = Oneshot<Value<H>, Wakes<H>, <H as Host>::Lock<State<Value<H>, Wakes<H>>>>;

impl Room for Oneshots {
    type Setup = ();
    type Role = End;
    type Op = Op;
    type Answer = Answer;
    type Spec = Flags;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "oneshot";

    fn setups() -> Vec<()> {
        vec![()]
    }
    fn roles() -> Vec<End> {
        vec![End::Sender, End::Receiver]
    }
    fn may(role: End, done: &[Op]) -> Vec<Op> {
        match (done.last(), role) {
            (Some(Op::Send | Op::DropSender | Op::DropReceiver), _) => vec![],
            (_, End::Sender) => vec![Op::Send, Op::DropSender, Op::Closed],
            (_, End::Receiver) => vec![Op::Recv, Op::TryRecv, Op::Close, Op::DropReceiver],
        }
    }
    fn waits(op: Op) -> &'static [Waiting] {
        match op {
            Op::Closed => WAITS,
            Op::Recv => &[Waiting::ToTheEnd, Waiting::GivenUp, Waiting::Renewed],
            _ => &[],
        }
    }
    fn focuses() -> Vec<Focus<Self>> {
        let has = |_, _, waiting| waiting != Some(Waiting::Renewed);
        vec![Focus::new(&[3, 2], has)]
    }
    /// There is one of each end.
    fn is_worth_it(roles: &[End]) -> bool {
        let count = |end| roles.iter().filter(|&&role| role == end).count();
        count(End::Sender) <= 1 && count(End::Receiver) <= 1
    }
}

fn tried<H: RoomHost>(tried: Result<Value<H>, TryRecvError>) -> Answer {
    match tried {
        Ok(value) => Answer::Received(value.take()),
        Err(TryRecvError::Empty) => Answer::Empty,
        Err(TryRecvError::Closed) => Answer::Over,
    }
}

impl<H: RoomHost> Real<Oneshots, H> for OnHost<H> {
    type Hand = ();
    fn new((): (), _: &[End]) -> Self {
        Oneshot::new()
    }
    fn hand(&self, _: End) {}
    fn begin<'a>(&'a self, (): &'a mut (), op: Op, values: &Maker<H>) -> Begun<'a, H, Answer> {
        let done = |()| Answer::Done;
        Begun::Over(match op {
            Op::Send => self.send(values.value()).map_or_else(|back| Answer::Refused(back.take()), done),
            Op::DropSender => done(self.drop_sender()),
            Op::Closed => return Begun::Waits(Box::new(WaitsForTheEnd(self))),
            Op::Recv => return Begun::Waits(Box::new(Receives(self))),
            Op::TryRecv => tried(self.try_recv()),
            Op::Close => done(self.close()),
            Op::DropReceiver => done(self.drop_receiver()),
        })
    }
}

/// A sender that waits until the receiver is gone.
struct WaitsForTheEnd<'a, H: RoomHost>(&'a OnHost<H>);

impl<H: RoomHost> Wait<H, Answer> for WaitsForTheEnd<'_, H> {
    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<Answer> {
        self.0.poll_closed(lender).map(|()| Answer::Done)
    }
    fn give_up(self: Box<Self>) -> Option<Answer> {
        self.0.stop_waiting();
        None
    }
}

/// A receiver, which is the wait: dropped, it is gone.
struct Receives<'a, H: RoomHost>(&'a OnHost<H>);

impl<H: RoomHost> Wait<H, Answer> for Receives<'_, H> {
    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<Answer> {
        self.0.poll_recv(lender).map(|found| found.map_or(Answer::Over, |value| Answer::Received(value.take())))
    }
    fn give_up(self: Box<Self>) -> Option<Answer> {
        self.0.drop_receiver();
        None
    }
}

/// The value, and which ends are gone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Flags {
    value: Option<(u64, CallId)>,
    sender_gone: Option<CallId>,
    receiver_gone: Option<CallId>,
    /// Does the sender's thread wait, or the receiver's, for which end?
    waits: Vec<Option<End>>,
}

impl Flags {
    fn receive(&mut self, effects: &mut Effects) -> Answer {
        if let Some((number, by)) = self.value.take() {
            effects.sees.push(by);
            return Answer::Received(number);
        }
        match self.receiver_gone.or(self.sender_gone) {
            Some(_) => {
                effects.sees.extend(self.receiver_gone.or(self.sender_gone));
                Answer::Over
            }
            None => Answer::Empty,
        }
    }

    fn begin(&mut self, me: CallId, op: Op, number: u64, effects: &mut Effects) -> Option<Answer> {
        Some(match op {
            Op::Send => {
                self.sender_gone = Some(me);
                if let Some(gone) = self.receiver_gone {
                    effects.sees.push(gone);
                    return Some(Answer::Refused(number));
                }
                self.value = Some((number, me));
                Answer::Done
            }
            Op::DropSender => {
                self.sender_gone = Some(me);
                Answer::Done
            }
            Op::TryRecv => self.receive(effects),
            Op::Close => {
                self.receiver_gone.get_or_insert(me);
                Answer::Done
            }
            Op::DropReceiver => {
                self.receiver_gone.get_or_insert(me);
                effects.drops = self.value.take().iter().count();
                Answer::Done
            }
            Op::Closed | Op::Recv => {
                self.waits[me.thread] = Some(if op == Op::Closed { End::Sender } else { End::Receiver });
                return None;
            }
        })
    }

    fn poll(&mut self, me: usize, effects: &mut Effects) -> Option<Answer> {
        match self.waits[me]? {
            End::Sender => {
                effects.sees.push(self.receiver_gone?);
                Some(Answer::Done)
            }
            End::Receiver => Some(self.receive(effects)).filter(|answer| *answer != Answer::Empty),
        }
    }
}

impl Spec<Oneshots> for Flags {
    fn new((): (), roles: &[End]) -> Self {
        Flags { value: None, sender_gone: None, receiver_gone: None, waits: vec![None; roles.len()] }
    }

    fn step(&mut self, me: CallId, does: Does<Op>, _: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        match does {
            Does::Begin(op, number) => self.begin(me, op, number, effects),
            Does::Poll => {
                let answer = self.poll(me.thread, effects);
                self.waits[me.thread].take_if(|_| answer.is_some());
                answer
            }
            Does::Enable => unreachable!("no wait of a oneshot is enabled"),
            Does::GiveUp => {
                if self.waits[me.thread].take() == Some(End::Receiver) {
                    self.begin(me, Op::DropReceiver, 0, effects);
                }
                None
            }
        }
    }

    fn held(&self) -> usize {
        usize::from(self.value.is_some())
    }
}
