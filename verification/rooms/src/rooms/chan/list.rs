//! A channel as a sequential program: a list of values, and two queues.

use super::{Answer, Chans, Op};
use crate::room::{CallId, Does, Effects, Spec};

/// A value, when it was sent, and by which call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Sent {
    number: u64,
    nth: usize,
    by: CallId,
}

/// Where a thread's wait is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Nowhere,
    /// A send of this value, by this call: not polled yet.
    Sends(u64, CallId),
    /// The same, in the queue.
    SendQueued(u64, CallId),
    /// Its value was taken, by that call.
    Taken(CallId),
    Receives,
    /// In the queue, by this poll.
    ReceiveQueued(CallId),
    Given(Sent),
    /// Closed by that call; here is a send's value.
    Closed(CallId, Option<u64>),
    /// Wants a slot: not polled yet.
    Reserves,
    /// The same, in the queue of those that send.
    ReserveQueued,
    /// It holds the slot, by that call.
    HasSlot(CallId),
    /// Wanted a slot, and was closed by that call.
    NoSlot(CallId),
}

/// A list of values, and two queues.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct List {
    capacity: usize,
    /// The oldest first, those that came back among them.
    values: Vec<Sent>,
    entered: usize,
    senders: Vec<usize>,
    receivers: Vec<usize>,
    /// The calls that took a value out of the list: a send that finds room sees them.
    took: Vec<CallId>,
    places: Vec<Place>,
    closed: Option<CallId>,
    ends: [usize; 2],
    held: usize,
    /// How many slots each thread holds, besides those of its wait.
    slots: Vec<usize>,
    /// How many slots are held.
    reserved: usize,
    /// The call by which it was closed, or after that gave the last slot back.
    over: Option<CallId>,
}

impl List {
    /// A value comes: to the receive that waits first, or into the list. `false`: there is no room.
    fn enter(&mut self, number: u64, by: CallId, effects: &mut Effects) -> bool {
        let sent = Sent { number, nth: self.entered, by };
        if !self.receivers.is_empty() {
            let first = self.receivers.remove(0);
            if let Place::ReceiveQueued(poll) = std::mem::replace(&mut self.places[first], Place::Given(sent)) {
                effects.sees.push(poll);
            }
        } else if self.has_room(1) {
            effects.sees.extend(&self.took);
            self.values.push(sent);
        } else {
            return false;
        }
        self.entered += 1;
        true
    }

    fn send(&mut self, number: u64, by: CallId, effects: &mut Effects) -> Answer {
        if let Some(id) = self.closed {
            effects.sees.push(id);
            return Answer::Refused(number);
        }
        if self.enter(number, by, effects) { Answer::Sent } else { Answer::Full(number) }
    }

    fn has_room(&self, n: usize) -> bool {
        self.values.len() + self.reserved + n <= self.capacity
    }

    /// The value of this send in the queue enters.
    fn let_in(&mut self, nth: usize, by: CallId) -> Sent {
        let first = self.senders.remove(nth);
        let Place::SendQueued(number, sender) = self.places[first] else { unreachable!("it waits with a value") };
        self.places[first] = Place::Taken(by);
        self.entered += 1;
        Sent { number, nth: self.entered - 1, by: sender }
    }

    /// There may be room for the first of those that send.
    fn makes_room(&mut self, by: CallId) {
        self.took.push(by);
        let Some(&first) = self.senders.first().filter(|_| self.has_room(1)) else { return };
        if self.places[first] == Place::ReserveQueued {
            self.senders.remove(0);
            self.reserved += 1;
            self.places[first] = Place::HasSlot(by);
        } else {
            let next = self.let_in(0, by);
            self.values.push(next);
        }
    }

    fn receive(&mut self, by: CallId, effects: &mut Effects) -> Answer {
        let sends = |&i: &usize| matches!(self.places[i], Place::SendQueued(..));
        let sent = if !self.values.is_empty() {
            let sent = self.values.remove(0);
            self.makes_room(by);
            sent
        } else if let Some(nth) = self.senders.iter().position(sends) {
            self.let_in(nth, by)
        } else if self.reserved > 0 {
            return Answer::Empty;
        } else if let Some(id) = self.over {
            effects.sees.push(id);
            return Answer::Over;
        } else {
            return Answer::Empty;
        };
        self.received(sent, effects)
    }

    fn reserve(&mut self, n: usize, effects: &mut Effects) -> Answer {
        if let Some(id) = self.closed {
            effects.sees.push(id);
            return Answer::NotReserved;
        }
        if !self.has_room(n) {
            return Answer::NoSlot;
        }
        effects.sees.extend(&self.took);
        self.reserved += n;
        Answer::Reserved
    }

    /// `n` slots are held no more.
    fn release(&mut self, n: usize, by: CallId) {
        self.reserved -= n;
        (0..n).for_each(|_| self.makes_room(by));
        if self.closed.is_some() && self.reserved == 0 {
            self.over = Some(by);
            self.receivers.drain(..).for_each(|i| self.places[i] = Place::Closed(by, None));
        }
    }

    /// A value is sent by a slot that is held.
    fn send_reserved(&mut self, number: u64, by: CallId, effects: &mut Effects) -> Answer {
        self.slots[by.thread] -= 1;
        self.held += 1;
        let sent = Sent { number, nth: self.entered, by };
        if self.ends[1] == 0 {
            effects.drops = 1;
            self.held -= 1;
        } else if self.receivers.is_empty() {
            self.values.push(sent);
            self.entered += 1;
        } else {
            let first = self.receivers.remove(0);
            if let Place::ReceiveQueued(poll) = std::mem::replace(&mut self.places[first], Place::Given(sent)) {
                effects.sees.push(poll);
            }
            self.entered += 1;
        }
        self.release(1, by);
        Answer::Sent
    }

    fn received(&mut self, sent: Sent, effects: &mut Effects) -> Answer {
        self.held -= 1;
        effects.sees.push(sent.by);
        Answer::Received(sent.number)
    }

    fn close(&mut self, by: CallId) -> bool {
        let is_first = self.closed.is_none();
        self.closed.get_or_insert(by);
        self.over.get_or_insert(by);
        // While a slot is held, a value may come.
        let receivers = if self.reserved == 0 { std::mem::take(&mut self.receivers) } else { Vec::new() };
        for i in self.senders.drain(..).chain(receivers) {
            self.places[i] = match self.places[i] {
                Place::SendQueued(number, _) => Place::Closed(by, Some(number)),
                Place::ReserveQueued => Place::NoSlot(by),
                _ => Place::Closed(by, None),
            };
        }
        is_first
    }

    fn drop_end(&mut self, side: usize, by: CallId, effects: &mut Effects) -> Answer {
        self.ends[side] -= 1;
        if self.ends[side] == 0 {
            self.close(by);
            if side == 1 {
                effects.drops = self.values.len();
                self.held -= self.values.drain(..).count();
            }
        }
        Answer::Gone
    }

    /// A value comes back: to the receive that waits first, or to its place among the oldest.
    fn come_back(&mut self, sent: Sent) {
        if self.receivers.is_empty() {
            let place = self.values.partition_point(|other| other.nth < sent.nth);
            return self.values.insert(place, sent);
        }
        let first = self.receivers.remove(0);
        self.places[first] = Place::Given(sent);
    }

    /// The value comes back to its sender, unless it is in the room.
    fn sent(&mut self, answer: Answer) -> Answer {
        if matches!(answer, Answer::Full(_) | Answer::Refused(_) | Answer::Back(Some(_))) {
            self.held -= 1;
        }
        answer
    }

    fn begin(&mut self, me: CallId, op: Op, number: u64, effects: &mut Effects) -> Option<Answer> {
        self.held += usize::from(matches!(op, Op::Send | Op::TrySend));
        Some(match op {
            Op::TrySend => {
                let answer = self.send(number, me, effects);
                self.sent(answer)
            }
            Op::TryRecv => self.receive(me, effects),
            Op::Close => Answer::Closed(self.close(me)),
            Op::DropSender => self.drop_end(0, me, effects),
            Op::DropReceiver => self.drop_end(1, me, effects),
            Op::Look => Answer::Looks(self.capacity, self.values.len(), self.values.is_empty(), self.closed.is_some()),
            Op::Send | Op::Recv | Op::Reserve => {
                self.places[me.thread] = match op {
                    Op::Send => Place::Sends(number, me),
                    Op::Recv => Place::Receives,
                    _ => Place::Reserves,
                };
                return None;
            }
            Op::TryReserve(n) => {
                let answer = self.reserve(n, effects);
                self.slots[me.thread] += if answer == Answer::Reserved { n } else { 0 };
                answer
            }
            Op::SendReserved | Op::Release if self.slots[me.thread] == 0 => Answer::HoldsNone,
            Op::SendReserved => self.send_reserved(number, me, effects),
            Op::Release => {
                let n = std::mem::take(&mut self.slots[me.thread]);
                self.release(n, me);
                Answer::Gone
            }
        })
    }

    fn poll(&mut self, me: CallId, effects: &mut Effects) -> Option<Answer> {
        let answer = match self.places[me.thread] {
            Place::Sends(number, by) => match self.send(number, by, effects) {
                Answer::Full(_) => {
                    self.senders.push(me.thread);
                    self.places[me.thread] = Place::SendQueued(number, by);
                    return None;
                }
                answer => self.sent(answer),
            },
            Place::Receives => match self.receive(me, effects) {
                Answer::Empty => {
                    self.receivers.push(me.thread);
                    self.places[me.thread] = Place::ReceiveQueued(me);
                    return None;
                }
                answer => answer,
            },
            Place::Reserves => match self.reserve(1, effects) {
                Answer::NoSlot => {
                    self.senders.push(me.thread);
                    self.places[me.thread] = Place::ReserveQueued;
                    return None;
                }
                answer => answer,
            },
            Place::SendQueued(..) | Place::ReceiveQueued(_) | Place::ReserveQueued | Place::Nowhere => return None,
            Place::HasSlot(by) => {
                effects.sees.push(by);
                Answer::Reserved
            }
            Place::NoSlot(by) => {
                effects.sees.push(by);
                Answer::NotReserved
            }
            Place::Taken(by) => {
                effects.sees.push(by);
                Answer::Sent
            }
            Place::Given(sent) => self.received(sent, effects),
            Place::Closed(by, value) => {
                effects.sees.push(by);
                value.map_or(Answer::Over, |number| self.sent(Answer::Refused(number)))
            }
        };
        self.slots[me.thread] += usize::from(answer == Answer::Reserved);
        self.places[me.thread] = Place::Nowhere;
        Some(answer)
    }

    fn give_up(&mut self, by: CallId) -> Option<Answer> {
        let me = by.thread;
        self.senders.retain(|&other| other != me);
        self.receivers.retain(|&other| other != me);
        match std::mem::replace(&mut self.places[me], Place::Nowhere) {
            Place::Sends(number, _) | Place::SendQueued(number, _) | Place::Closed(_, Some(number)) => {
                Some(self.sent(Answer::Back(Some(number))))
            }
            Place::Taken(_) => Some(Answer::Back(None)),
            Place::Given(sent) => {
                self.come_back(sent);
                None
            }
            Place::HasSlot(_) => {
                self.release(1, by);
                None
            }
            Place::Receives | Place::ReceiveQueued(_) | Place::Closed(_, None) | Place::Nowhere => None,
            Place::Reserves | Place::ReserveQueued | Place::NoSlot(_) => None,
        }
    }
}

impl List {
    /// For threads of which each holds so many slots.
    pub(in crate::rooms) fn with(capacity: usize, slots: Vec<usize>) -> Self {
        let (places, ends, reserved) = (vec![Place::Nowhere; slots.len()], [slots.len(); 2], slots.iter().sum());
        let (values, senders, receivers, took) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (closed, over, held) = (None, None, 0);
        List {
            capacity,
            values,
            entered: 0,
            senders,
            receivers,
            took,
            places,
            closed,
            ends,
            held,
            slots,
            reserved,
            over,
        }
    }

    pub(in crate::rooms) fn call(&mut self, me: CallId, does: Does<Op>, effects: &mut Effects) -> Option<Answer> {
        match does {
            Does::Begin(op, number) => self.begin(me, op, number, effects),
            Does::Poll => self.poll(me, effects),
            Does::Enable => unreachable!("no wait of a channel is enabled"),
            Does::GiveUp => self.give_up(me),
        }
    }

    pub(in crate::rooms) fn values(&self) -> usize {
        self.held
    }
}

impl Spec<Chans> for List {
    fn new(capacity: usize, roles: &[()]) -> Self {
        List::with(capacity, vec![0; roles.len()])
    }

    fn step(&mut self, me: CallId, does: Does<Op>, _: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        self.call(me, does, effects)
    }

    fn held(&self) -> usize {
        self.held
    }
}
