//! A select over two channels, in every way in which one can end: by a case, by a default, dropped, or gone on with by one of its cases.
//!
//! Invariants 90, 93, 95 and 96: one case takes effect, and what the others had comes back; none that could go on is missed; what a select
//! was given that is dropped goes back to its channel.

mod cases;
mod two;

use crate::host::RoomHost;
use crate::program::Program;
use crate::room::{Begun, Focus, Real, Room, Waiting};
use crate::rooms::chan::{self, OnHost};
use crate::values::Maker;
use kernel::waits::chan::Channel;
use kernel::waits::chan::errors::{TryRecvError, TrySendError};

pub use two::Two;

/// The room.
#[derive(Debug)]
pub struct Selects;

/// The part of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It selects among these cases.
    Select(Kind),
    /// The same, once, beside another that selects.
    Meets(Kind),
    /// It sends to both.
    Sender,
    /// It receives from both.
    Receiver,
    /// It closes both.
    Closer,
    /// It asks in which order cases are tried.
    Asker,
}

/// The two cases of a select. Those of two channels are in the order of the channels: two selects that meet from two sides then do not
/// withdraw from each other for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A receive from each.
    Receives,
    /// A send to each.
    Sends,
    /// Receives from the first, sends to the second.
    ReceivesSends,
    /// Sends to the first, receives from the second.
    SendsReceives,
    /// Sends to the first, and receives from it.
    BothEnds,
}

/// What a case does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// It sends.
    Sends,
    /// It receives.
    Receives,
}

impl Kind {
    /// What the cases do, and at which channel.
    fn cases(self) -> [(Way, usize); 2] {
        match self {
            Kind::Receives => [(Way::Receives, 0), (Way::Receives, 1)],
            Kind::Sends => [(Way::Sends, 0), (Way::Sends, 1)],
            Kind::ReceivesSends => [(Way::Receives, 0), (Way::Sends, 1)],
            Kind::SendsReceives => [(Way::Sends, 0), (Way::Receives, 1)],
            Kind::BothEnds => [(Way::Sends, 0), (Way::Receives, 0)],
        }
    }
}

const KINDS: [Kind; 5] = [Kind::Receives, Kind::Sends, Kind::ReceivesSends, Kind::SendsReceives, Kind::BothEnds];

/// How a select ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum How {
    /// By a case, or it is withdrawn.
    Waits,
    /// By a case, and it is polled twice.
    Again,
    /// By its default, if no case is ready.
    OrDefault,
    /// As above, but its cases are dropped one by one, and it is not withdrawn.
    Dropped,
    /// The select ends after its first poll, and its first case is gone on with alone.
    ThenAlone,
}

const HOWS: [How; 5] = [How::Waits, How::Again, How::OrDefault, How::Dropped, How::ThenAlone];

/// What a thread does, with the channel of that number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Selects.
    Select(Kind, How),
    /// Sends, if there is room.
    TrySend(usize),
    /// Sends.
    Send(usize),
    /// Receives, if there is something.
    TryRecv(usize),
    /// Receives.
    Recv(usize),
    /// Closes.
    Close(usize),
    /// In which order are three cases tried, if chance is this: of two, and of three?
    Order(usize, usize),
}

/// What a send or a receive comes to. A value that was not sent comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    /// It is sent.
    Sent,
    /// There is no room.
    Full,
    /// Closed, for one that sends.
    Refused,
    /// Here is a value.
    Received(u64),
    /// There is nothing now.
    Empty,
    /// There will be nothing.
    Over,
}

/// What a call returns, with the values that come back.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Answer {
    /// A send or a receive without a wait.
    Is(What, Vec<u64>),
    /// The case of that number.
    Case(usize, What, Vec<u64>),
    /// No case was ready.
    Default(Vec<u64>),
    /// It was given up.
    Back(Vec<u64>),
    /// Was it the first?
    Closed(bool),
    /// The cases in this order, and the default.
    Order(Vec<usize>),
    /// Nothing yet: it has to try its cases, and to enqueue a waiter for each. That is no answer of a call.
    Tries,
}

impl Room for Selects {
    /// How many values there is room for in each channel.
    type Setup = usize;
    type Role = Role;
    type Op = Op;
    type Answer = Answer;
    type Spec = Two;
    type Real<H: RoomHost> = Channels<H>;

    const NAME: &'static str = "select";
    const SOURCE: &'static str = "select claim queue chan";

    fn setups() -> Vec<usize> {
        vec![0, 1]
    }
    fn roles() -> Vec<Role> {
        let selects = KINDS.into_iter().flat_map(|kind| [Role::Select(kind), Role::Meets(kind)]);
        selects.chain([Role::Sender, Role::Receiver, Role::Closer, Role::Asker]).collect()
    }
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        match role {
            Role::Select(kind) if done.is_empty() => HOWS.map(|how| Op::Select(kind, how)).to_vec(),
            Role::Select(kind) => vec![Op::Select(kind, How::OrDefault)],
            Role::Meets(kind) if done.is_empty() => {
                [How::Waits, How::OrDefault, How::Dropped].map(|how| Op::Select(kind, how)).to_vec()
            }
            Role::Sender => vec![Op::TrySend(0), Op::TrySend(1), Op::Send(0), Op::Send(1)],
            Role::Receiver => vec![Op::TryRecv(0), Op::TryRecv(1), Op::Recv(0), Op::Recv(1)],
            Role::Closer => vec![Op::Close(0), Op::Close(1)],
            Role::Asker if done.is_empty() => {
                (0..2).flat_map(|two| (0..3).map(move |three| Op::Order(two, three))).collect()
            }
            Role::Meets(_) | Role::Asker => vec![],
        }
    }
    fn waits(op: Op) -> &'static [Waiting] {
        match op {
            Op::Select(_, How::Waits) => &[Waiting::ToTheEnd, Waiting::GivenUp, Waiting::NeverPolled],
            Op::Select(_, How::Again) => &[Waiting::Renewed],
            Op::Select(_, How::Dropped) => &[Waiting::GivenUp, Waiting::NeverPolled],
            Op::Select(_, How::ThenAlone) | Op::Send(_) | Op::Recv(_) => &[Waiting::ToTheEnd, Waiting::GivenUp],
            _ => &[],
        }
    }
    /// One selects, or two meet. Two that would send to a channel and receive from it may withdraw from each other for ever.
    fn is_worth_it(roles: &[Role]) -> bool {
        let is_other = |role: &Role| matches!(role, Role::Sender | Role::Receiver | Role::Closer);
        match roles {
            [Role::Asker] => true,
            [Role::Meets(one), Role::Meets(other)] => (*one, *other) != (Kind::BothEnds, Kind::BothEnds),
            // Of three it is the first that may do more: the one that selects.
            [Role::Select(_), others @ ..] => others.iter().all(is_other),
            _ => false,
        }
    }
    fn focuses() -> Vec<Focus<Self>> {
        // It is polled again while two others would serve it.
        let again = |_, op, waiting| match op {
            Op::Select(_, how) => how == How::Again,
            Op::Send(_) | Op::Recv(_) => waiting == Some(Waiting::ToTheEnd),
            _ => true,
        };
        // At one channel something is done between two steps of a select, or of the case that is gone on with.
        let at_the_first = |_, op, waiting| match op {
            Op::Select(_, how) => matches!(how, How::Waits | How::ThenAlone) && waiting == Some(Waiting::ToTheEnd),
            _ => matches!(op, Op::TrySend(0) | Op::TryRecv(0)),
        };
        let has_room = |program: &Program<Self>| program.setup == 1;
        vec![
            Focus { is_played: meets_both, ..Focus::new(&[1, 1, 1], again) },
            Focus { is_played: has_room, ..Focus::new(&[1, 1, 1], at_the_first) },
            Focus { is_played: has_room, ..Focus::new(&[1, 2], at_the_first) },
        ]
    }
}

/// The threads beside the select are not both at one channel.
fn meets_both(program: &Program<Selects>) -> bool {
    let steps = program.threads.iter().flat_map(|thread| &thread.steps);
    let at = |chan: usize| {
        move |op: Op| match op {
            Op::TrySend(n) | Op::Send(n) | Op::TryRecv(n) | Op::Recv(n) | Op::Close(n) => n == chan,
            Op::Select(..) | Op::Order(..) => false,
        }
    };
    let ops: Vec<Op> = steps.map(|step| step.op).collect();
    (0..2).all(|chan| ops.iter().copied().any(at(chan)))
}

/// Two channels.
pub struct Channels<H: RoomHost>([Channel<OnHost<H>>; 2]);

impl<H: RoomHost> Real<Selects, H> for Channels<H> {
    type Hand = ();
    fn new(capacity: usize, _: &[Role]) -> Self {
        Channels([chan::channel(capacity, 1), chan::channel(capacity, 1)])
    }
    fn hand(&self, _: Role) {}
    fn begin<'a>(&'a self, (): &'a mut (), op: Op, values: &Maker<H>) -> Begun<'a, H, Answer> {
        let both = &self.0;
        Begun::Over(match op {
            Op::Select(kind, How::OrDefault) => cases::or_default(both, kind, values),
            Op::Select(kind, how) => return Begun::Waits(Box::new(cases::Selecting::new(both, kind, how, values))),
            Op::Send(n) => return Begun::Waits(Box::new(cases::One::new(both, (Way::Sends, n), values))),
            Op::Recv(n) => return Begun::Waits(Box::new(cases::One::new(both, (Way::Receives, n), values))),
            Op::TrySend(n) => match both[n].try_put(values.value()) {
                Ok(()) => Answer::Is(What::Sent, vec![]),
                Err(TrySendError::Full(back)) => Answer::Is(What::Full, vec![back.take()]),
                Err(TrySendError::Closed(back)) => Answer::Is(What::Refused, vec![back.take()]),
            },
            Op::TryRecv(n) => match both[n].try_take() {
                Ok(value) => Answer::Is(What::Received(value.take()), vec![]),
                Err(TryRecvError::Empty) => Answer::Is(What::Empty, vec![]),
                Err(TryRecvError::Closed) => Answer::Is(What::Over, vec![]),
            },
            Op::Close(n) => Answer::Closed(both[n].close()),
            Op::Order(two, three) => Answer::Order(cases::order_of::<H>([two, three])),
        })
    }
}
