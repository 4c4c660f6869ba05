//! Each value to every receiver.
//!
//! Invariant 118: a receiver gets each value that is sent while it is there, once and in order, or is told how many it has missed;
//! a value that no receiver is to read is gone; a sender that waits for the end goes on once no receiver was left.

use crate::host::RoomHost;
use crate::room::{Begun, CallId, Does, Effects, Focus, Real, Room, Spec, WAITS, Wait, Waiting};
use crate::values::{Maker, Value};
use crate::wakers::{Lends, Wakes};
use kernel::host::Host;
use kernel::waits::broadcast::{Broadcast, End, Missing, Recv, State};
use kernel::waits::chan::errors::SendError;
use std::collections::VecDeque;
use std::task::Poll;

/// The room.
#[derive(Debug)]
pub struct Broadcasts;

/// What a thread holds when it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A sender.
    Sender,
    /// A receiver.
    Receiver,
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Sends.
    Send,
    /// Waits until no receiver is left.
    End,
    /// A sender is a receiver too, of what is sent from now on.
    Subscribe,
    /// Asks how many values are left, and how many send and receive.
    Ask,
    /// The sender is gone.
    DropSender,
    /// Receives.
    Recv,
    /// The receiver is gone.
    DropReceiver,
}

/// What a call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Sent, to so many.
    Sent(usize),
    /// No receiver is left: here is the value.
    Refused(u64),
    /// Here is a value.
    Received(u64),
    /// So many were missed.
    Lagged(u64),
    /// There will be none.
    Closed,
    /// So many values are left, so many send, so many receive.
    Has(usize, usize, usize),
    /// It is done.
    Done,
}

impl Room for Broadcasts {
    /// How many values there is room for.
    type Setup = usize;
    type Role = Role;
    type Op = Op;
    type Answer = Answer;
    type Spec = Ring;
    type Real<H: RoomHost> = Shared<H>;

    const NAME: &'static str = "broadcast";

    fn setups() -> Vec<usize> {
        vec![1, 2]
    }
    fn roles() -> Vec<Role> {
        vec![Role::Sender, Role::Receiver]
    }
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        let has = |op| done.contains(&op);
        let sends = role == Role::Sender && !has(Op::DropSender);
        let receives = (role == Role::Receiver || has(Op::Subscribe)) && !has(Op::DropReceiver);
        let of_senders = [Op::Send, Op::End, Op::Ask, Op::DropSender].into_iter().filter(|_| sends);
        let subscribe = [Op::Subscribe].into_iter().filter(|_| sends && !has(Op::Subscribe));
        let of_receivers = [Op::Recv, Op::DropReceiver].into_iter().filter(|_| receives);
        of_senders.chain(subscribe).chain(of_receivers).collect()
    }
    fn waits(op: Op) -> &'static [Waiting] {
        if matches!(op, Op::Recv | Op::End) { WAITS } else { &[] }
    }
    fn is_worth_it(roles: &[Role]) -> bool {
        roles.contains(&Role::Sender)
    }
    /// A receiver that does not keep up misses several values; and two receivers get both values each.
    fn focuses() -> Vec<Focus<Self>> {
        let is_slow = |_, op, waiting| match op {
            Op::Send => true,
            Op::Recv => waiting == Some(Waiting::ToTheEnd),
            _ => false,
        };
        vec![Focus::new(&[3, 2], is_slow), Focus::new(&[2, 2, 2], is_slow)]
    }
}

/// The lock of a broadcast of values.
type LockOf<H> = <H as Host>::Lock<State<H, Value<H>, Wakes<H>>>;

/// A broadcast.
pub struct Shared<H: RoomHost>(Broadcast<H, Value<H>, Wakes<H>, LockOf<H>>);

impl<H: RoomHost> Real<Broadcasts, H> for Shared<H> {
    /// The number of a receiver's next value.
    type Hand = u64;
    fn new(capacity: usize, roles: &[Role]) -> Self {
        let of = |role| roles.iter().filter(|other| **other == role).count();
        let shared = Broadcast::new(capacity, of(Role::Receiver));
        (1..of(Role::Sender)).for_each(|_| shared.with(State::add_sender));
        Shared(shared)
    }
    fn hand(&self, _: Role) -> u64 {
        0
    }
    fn begin<'a>(&'a self, next: &'a mut u64, op: Op, values: &Maker<H>) -> Begun<'a, H, Answer> {
        Begun::Over(match op {
            Op::Send => match self.0.send(values.value()) {
                Ok(receivers) => Answer::Sent(receivers),
                Err(SendError(value)) => Answer::Refused(value.take()),
            },
            Op::End => return Begun::Waits(Box::new(self.0.closed())),
            Op::Recv => return Begun::Waits(Box::new(Receive { recv: self.0.recv(), next })),
            Op::Ask => self.0.with(|state| {
                let left = state.len();
                assert!(state.is_empty() == (left == 0), "it is empty if nothing is left");
                Answer::Has(left, state.senders(), state.receivers())
            }),
            Op::Subscribe => {
                *next = self.0.subscribe();
                Answer::Done
            }
            Op::DropSender => {
                self.0.drop_sender();
                Answer::Done
            }
            Op::DropReceiver => {
                self.0.drop_receiver(*next);
                Answer::Done
            }
        })
    }
}

/// A receive.
struct Receive<'a, H: RoomHost> {
    recv: Recv<'a, H, Value<H>, Wakes<H>, LockOf<H>>,
    next: &'a mut u64,
}

impl<H: RoomHost> Wait<H, Answer> for Receive<'_, H> {
    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<Answer> {
        self.recv.poll(self.next, lender).map(|received| match received {
            Ok(value) => Answer::Received(value.number()),
            Err(Missing::Lagged(n)) => Answer::Lagged(n),
            Err(Missing::Closed) => Answer::Closed,
        })
    }
}

impl<H: RoomHost> Wait<H, Answer> for End<'_, H, Value<H>, Wakes<H>, LockOf<H>> {
    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<Answer> {
        End::poll(self, lender).map(|()| Answer::Done)
    }
}

/// A value, by which call it was sent, and which threads have yet to read it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Slot {
    number: u64,
    by: CallId,
    unread: Vec<usize>,
}

/// Where a thread's wait is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Nowhere,
    Receives,
    /// Waits for the end. Was it polled?
    Ends(bool),
    /// No receiver was left.
    Ended,
}

/// The values that are yet to be read, and which threads read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ring {
    capacity: usize,
    slots: VecDeque<Slot>,
    /// The index of the first among all that were sent.
    first: u64,
    /// Of each receiver, the index of its next.
    nexts: Vec<Option<u64>>,
    senders: usize,
    places: Vec<Place>,
    sent: Vec<CallId>,
    /// Senders and receivers that are gone.
    gone: [Vec<CallId>; 2],
}

impl Ring {
    fn receivers(&self) -> usize {
        self.nexts.iter().flatten().count()
    }

    fn pop(&mut self) {
        self.slots.pop_front();
        self.first += 1;
    }

    fn next_index(&self) -> u64 {
        self.first + self.slots.len() as u64
    }

    /// Receiver `me` will not read the slots that `is_meant` says. Those that all have read are gone.
    fn has_read(&mut self, me: usize, is_meant: impl Fn(u64) -> bool) {
        let first = self.first;
        let meant = self.slots.iter_mut().enumerate().filter(|(n, _)| is_meant(first + *n as u64));
        meant.for_each(|(_, slot)| slot.unread.retain(|&other| other != me));
        while self.slots.front().is_some_and(|slot| slot.unread.is_empty()) {
            self.pop();
        }
    }

    fn send(&mut self, number: u64, by: CallId, effects: &mut Effects) -> Answer {
        let unread: Vec<usize> = (0..self.nexts.len()).filter(|&i| self.nexts[i].is_some()).collect();
        if unread.is_empty() {
            effects.sees.extend(&self.gone[1]);
            return Answer::Refused(number);
        }
        if self.slots.len() == self.capacity {
            self.pop();
        }
        let receivers = unread.len();
        self.slots.push_back(Slot { number, by, unread });
        self.sent.push(by);
        Answer::Sent(receivers)
    }

    fn receive(&mut self, me: usize, effects: &mut Effects) -> Option<Answer> {
        let next = self.nexts[me].expect("it receives");
        if next < self.first {
            self.nexts[me] = Some(self.first);
            effects.sees.extend(&self.sent);
            return Some(Answer::Lagged(self.first - next));
        }
        let Some(slot) = self.slots.get((next - self.first) as usize) else {
            if self.senders > 0 {
                return None;
            }
            effects.sees.extend(&self.gone[0]);
            return Some(Answer::Closed);
        };
        effects.sees.push(slot.by);
        let answer = Answer::Received(slot.number);
        self.nexts[me] = Some(next + 1);
        self.has_read(me, |n| n == next);
        Some(answer)
    }

    fn drop_receiver(&mut self, me: CallId) {
        self.nexts[me.thread] = None;
        self.has_read(me.thread, |_| true);
        self.gone[1].push(me);
        if self.receivers() == 0 {
            let waits = self.places.iter_mut().filter(|place| **place == Place::Ends(true));
            waits.for_each(|place| *place = Place::Ended);
        }
    }

    fn begin(&mut self, me: CallId, op: Op, number: u64, effects: &mut Effects) -> Option<Answer> {
        match op {
            Op::Send => return Some(self.send(number, me, effects)),
            Op::Ask => return Some(Answer::Has(self.slots.len(), self.senders, self.receivers())),
            Op::Subscribe => self.nexts[me.thread] = Some(self.next_index()),
            Op::DropReceiver => self.drop_receiver(me),
            Op::DropSender => {
                self.senders -= 1;
                self.gone[0].push(me);
            }
            Op::Recv | Op::End => {
                self.places[me.thread] = if op == Op::Recv { Place::Receives } else { Place::Ends(false) };
                return None;
            }
        }
        Some(Answer::Done)
    }

    fn poll(&mut self, me: usize, effects: &mut Effects) -> Option<Answer> {
        let answer = match self.places[me] {
            Place::Nowhere => None,
            Place::Receives => self.receive(me, effects),
            Place::Ends(_) if self.receivers() > 0 => {
                self.places[me] = Place::Ends(true);
                None
            }
            Place::Ends(_) | Place::Ended => {
                effects.sees.extend(&self.gone[1]);
                Some(Answer::Done)
            }
        };
        if answer.is_some() {
            self.places[me] = Place::Nowhere;
        }
        answer
    }
}

impl Spec<Broadcasts> for Ring {
    /// Several receivers have one value: the last of them drops it.
    const COUNTS_DROPS: bool = false;

    fn new(capacity: usize, roles: &[Role]) -> Self {
        let next = |role: &Role| (*role == Role::Receiver).then_some(0);
        Ring {
            capacity,
            slots: VecDeque::new(),
            first: 0,
            nexts: roles.iter().map(next).collect(),
            senders: roles.iter().filter(|role| **role == Role::Sender).count(),
            places: vec![Place::Nowhere; roles.len()],
            sent: Vec::new(),
            gone: [Vec::new(), Vec::new()],
        }
    }

    fn step(&mut self, me: CallId, does: Does<Op>, _: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        match does {
            Does::Begin(op, number) => self.begin(me, op, number, effects),
            Does::Poll => self.poll(me.thread, effects),
            Does::Enable => unreachable!("no wait of a broadcast is enabled"),
            Does::GiveUp => {
                self.places[me.thread] = Place::Nowhere;
                None
            }
        }
    }

    fn held(&self) -> usize {
        self.slots.len()
    }
}
