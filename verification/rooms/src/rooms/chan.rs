//! A channel.
//!
//! Invariants 90 to 94: each value that is sent is received once, or comes back, or is dropped with the last receiver; in the
//! order of sending, but for those that a receive was given that is dropped: they are the first again. A send before its
//! receive, without room a receive before its send completes, the close before a receive that finds the channel closed.

mod list;

use crate::host::RoomHost;
use crate::program::Program;
use crate::room::{Begun, Focus, Real, Room, WAITS, Wait, Waiting};
use crate::rooms::permits;
use crate::values::{Maker, Value};
use crate::wakers::{Lends, Wakes};
use kernel::host::Host;
use kernel::waits::chan::errors::{SendError, TryRecvError, TrySendError};
use kernel::waits::chan::receive::Receive;
use kernel::waits::chan::send::{PutAway, Send};
use kernel::waits::chan::state::{Side, State};
use kernel::waits::chan::{Channel, Parts};
use std::marker::PhantomData;
use std::task::Poll;

pub use list::List;

/// The room.
#[derive(Debug)]
pub struct Chans;

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Sends, if there is room.
    TrySend,
    /// Sends.
    Send,
    /// Receives, if there is something.
    TryRecv,
    /// Receives.
    Recv,
    /// Closes.
    Close,
    /// A sender is gone.
    DropSender,
    /// A receiver is gone.
    DropReceiver,
    /// How does it look?
    Look,
    /// Holds so many slots, if they are free. This and what follows is of the room [`permits`].
    TryReserve(usize),
    /// Holds a slot.
    Reserve,
    /// Sends by a slot that the thread holds.
    SendReserved,
    /// Gives back all of them.
    Release,
}

/// What a call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It is sent.
    Sent,
    /// No room: here is the value.
    Full(u64),
    /// Closed: here is the value.
    Refused(u64),
    /// Here is a value.
    Received(u64),
    /// There is nothing now.
    Empty,
    /// There will be nothing.
    Over,
    /// Was it the first?
    Closed(bool),
    /// An end is gone.
    Gone,
    /// A send was given up; its value, if it was not taken.
    Back(Option<u64>),
    /// There is room for so many values, and so many are in it; is it empty, and is it closed?
    Looks(usize, usize, bool, bool),
    /// It holds what it asked for.
    Reserved,
    /// There are too few slots.
    NoSlot,
    /// Closed: it holds no more than before.
    NotReserved,
    /// It holds none.
    HoldsNone,
}

impl Room for Chans {
    /// How many values there is room for.
    type Setup = usize;
    type Role = ();
    type Op = Op;
    type Answer = Answer;
    type Spec = List;
    type Real<H: RoomHost> = Channel<OnHost<H>>;

    const NAME: &'static str = "chan";

    fn setups() -> Vec<usize> {
        vec![0, 1, 2]
    }
    fn roles() -> Vec<()> {
        vec![()]
    }
    fn may((): (), done: &[Op]) -> Vec<Op> {
        let (sends, receives) = (!done.contains(&Op::DropSender), !done.contains(&Op::DropReceiver));
        let of_senders = [Op::TrySend, Op::Send, Op::DropSender].into_iter().filter(|_| sends);
        let of_receivers = [Op::TryRecv, Op::Recv, Op::DropReceiver].into_iter().filter(|_| receives);
        let of_both = [Op::Close].into_iter().filter(|_| sends || receives);
        // Behind two others, so that it adds few programs.
        let of_all = [Op::Look].into_iter().filter(|_| done.len() == 2);
        of_senders.chain(of_receivers).chain(of_both).chain(of_all).collect()
    }
    fn waits(op: Op) -> &'static [Waiting] {
        if matches!(op, Op::Send | Op::Recv) { WAITS } else { &[] }
    }
    /// Values that come back are put among those that were sent meanwhile: that takes two receives that are given up.
    fn focuses() -> Vec<Focus<Self>> {
        let has = |(), op, waiting| match op {
            Op::TrySend | Op::TryRecv => true,
            Op::Recv => waiting == Some(Waiting::GivenUp),
            _ => false,
        };
        // A value that went from one receive to the next, and comes back later than a younger one. The first says that it has
        // given up by what it does after that.
        let comes_back_twice = |program: &Program<Self>| {
            let ops = || program.threads.iter().flat_map(|thread| thread.steps.iter().map(|step| step.op));
            let receives = ops().filter(|&op| op == Op::Recv).count();
            program.setup == 2 && receives == 3 && ops().filter(|&op| op == Op::TrySend).count() == 2
        };
        // Of two receivers the last goes beside a send, of two senders beside a receive.
        let at_once = |(), op, _| !matches!(op, Op::Send | Op::Recv | Op::Look);
        let as_asked = |(), op, waiting| op != Op::Send || waiting == Some(Waiting::ToTheEnd);
        vec![
            Focus::new(&[2, 2, 1], has),
            Focus { lens: &[2, 2, 1, 1], has, is_played: comes_back_twice },
            Focus::new(&[2, 1], at_once),
            Focus { lens: &[2, 1, 1], has: as_asked, is_played: is_overtaken },
            Focus { lens: &[2, 2, 1], has: as_asked, is_played: is_let_in },
        ]
    }
}

/// One fills the channel and waits to send, beside a receive and a send that may overtake it. Or one sends and receives, beside a
/// close and a receive that gives up what it was given: the close was reported to the first by then.
fn is_overtaken(program: &Program<Chans>) -> bool {
    let steps = |n: usize| program.threads[n].steps.iter().map(|step| (step.op, step.waiting));
    let others: Vec<_> = steps(1).chain(steps(2)).collect();
    let has = |op| others.iter().any(|&(other, _)| other == op);
    let receives = has(Op::TryRecv) || others.contains(&(Op::Recv, Some(Waiting::ToTheEnd)));
    let gives_up = others.contains(&(Op::Recv, Some(Waiting::GivenUp)));
    match steps(0).map(|(op, _)| op).collect::<Vec<_>>()[..] {
        [Op::TrySend, Op::Send] => program.setup == 1 && has(Op::TrySend) && receives,
        [Op::TrySend, Op::Recv] => program.setup == 1 && has(Op::Close) && gives_up,
        _ => false,
    }
}

/// A send waits; a receive lets it in behind a value, or not yet: a value has come back, and there is no room even then.
fn is_let_in(program: &Program<Chans>) -> bool {
    let ops = |n: usize| program.threads[n].steps.iter().map(|step| step.op).collect::<Vec<_>>();
    let gives_up = program.threads[0].steps[0].waiting == Some(Waiting::GivenUp);
    let waits = ops(2) == [Op::Send];
    match (program.setup, &ops(0)[..], &ops(1)[..]) {
        (2, [Op::TrySend, Op::TrySend], [Op::TryRecv, Op::TryRecv]) => waits,
        (1, [Op::TrySend, Op::TrySend], [Op::Recv, Op::TryRecv]) => waits,
        (1, [Op::Recv, Op::TryRecv], [Op::TrySend, Op::TrySend]) => waits && gives_up,
        _ => false,
    }
}

/// What a channel is made of on a host.
pub struct OnHost<H>(PhantomData<fn() -> H>);

impl<H: RoomHost> Parts for OnHost<H> {
    type Host = H;
    type Value = Value<H>;
    type Waker = Wakes<H>;
    type Lock = <H as Host>::Lock<State<Self>>;

    fn drop_value(value: Value<H>) {
        value.drop_guarded();
    }
}

/// What a send that does not wait came to.
fn refused<H: RoomHost>(error: TrySendError<Value<H>>) -> Answer {
    let says = (error.is_full(), error.is_closed());
    let (answer, is) = match error {
        TrySendError::Full(back) => (Answer::Full(back.take()), (true, false)),
        TrySendError::Closed(back) => (Answer::Refused(back.take()), (false, true)),
    };
    assert!(says == is, "it says that it is full and closed: {says:?}");
    answer
}

/// With both ends for so many threads.
pub(super) fn channel<H: RoomHost>(capacity: usize, threads: usize) -> Channel<OnHost<H>> {
    let chan = Channel::new(capacity);
    for _ in 1..threads {
        chan.add_end(Side::Senders);
        chan.add_end(Side::Receivers);
    }
    chan
}

/// Does the operation, of a thread that holds so many slots, or creates its wait.
pub(super) fn begin<'a, H: RoomHost>(
    chan: &'a Channel<OnHost<H>>,
    slots: &'a mut usize,
    op: Op,
    values: &Maker<H>,
) -> Begun<'a, H, Answer> {
    Begun::Over(match op {
        Op::Send => {
            return Begun::Waits(Box::new(Sending(chan, Some(Send::new(chan, values.value().guarded()).put_away()))));
        }
        Op::Recv => return Begun::Waits(Box::new(Receiving(chan, Receive::new(chan).put_away()))),
        Op::Reserve => return Begun::Waits(Box::new(permits::Reserving::new(chan, slots))),
        Op::TrySend => chan.try_put(values.value().guarded()).map_or_else(refused, |()| Answer::Sent),
        Op::TryRecv => match chan.try_take() {
            Ok(value) => Answer::Received(value.take()),
            Err(TryRecvError::Empty) => Answer::Empty,
            Err(TryRecvError::Closed) => Answer::Over,
        },
        Op::Close => Answer::Closed(chan.close()),
        Op::DropSender => {
            chan.drop_end(Side::Senders);
            Answer::Gone
        }
        Op::DropReceiver => {
            chan.drop_end(Side::Receivers);
            Answer::Gone
        }
        Op::Look => {
            chan.with(|state| Answer::Looks(state.capacity(), state.len(), state.is_empty(), state.is_closed()))
        }
        Op::TryReserve(n) => permits::try_reserve(chan, slots, n),
        Op::SendReserved | Op::Release if *slots == 0 => Answer::HoldsNone,
        Op::SendReserved => {
            *slots -= 1;
            chan.put_reserved(values.value().guarded());
            Answer::Sent
        }
        Op::Release => {
            chan.unreserve(std::mem::take(slots));
            Answer::Gone
        }
    })
}

impl<H: RoomHost> Real<Chans, H> for Channel<OnHost<H>> {
    type Hand = usize;
    fn new(capacity: usize, roles: &[()]) -> Self {
        channel(capacity, roles.len())
    }
    fn hand(&self, (): ()) -> usize {
        0
    }
    fn begin<'a>(&'a self, slots: &'a mut usize, op: Op, values: &Maker<H>) -> Begun<'a, H, Answer> {
        begin(self, slots, op, values)
    }
}

/// A send that is put away between two polls.
struct Sending<'a, H: RoomHost>(&'a Channel<OnHost<H>>, Option<PutAway<OnHost<H>>>);

impl<'a, H: RoomHost> Sending<'a, H> {
    fn resumed(&mut self) -> Send<'a, OnHost<H>> {
        Send::resumed(self.0, self.1.take().expect("it is there between two polls"))
    }
}

impl<H: RoomHost> Wait<H, Answer> for Sending<'_, H> {
    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<Answer> {
        let refused = |SendError(value): SendError<Value<H>>| Answer::Refused(value.take());
        let mut send = self.resumed();
        let sent = send.poll(lender);
        assert!(send.is_waiting() == sent.is_pending(), "it says that it waits: {}", send.is_waiting());
        self.1 = Some(send.put_away());
        sent.map(|sent| sent.map_or_else(refused, |()| Answer::Sent))
    }
    fn give_up(mut self: Box<Self>) -> Option<Answer> {
        Some(Answer::Back(self.resumed().into_inner().map(Value::take)))
    }
}

/// A receive that is put away between two polls.
struct Receiving<'a, H: RoomHost>(&'a Channel<OnHost<H>>, Option<usize>);

impl<H: RoomHost> Wait<H, Answer> for Receiving<'_, H> {
    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<Answer> {
        let mut receive = Receive::resumed(self.0, self.1.take());
        let received = receive.poll(lender);
        assert!(receive.is_waiting() == received.is_pending(), "it says that it waits: {}", receive.is_waiting());
        self.1 = receive.put_away();
        received.map(|received| received.map_or(Answer::Over, |value| Answer::Received(value.take())))
    }
    fn give_up(self: Box<Self>) -> Option<Answer> {
        drop(Receive::resumed(self.0, self.1));
        None
    }
}
