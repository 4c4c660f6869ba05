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
        } else if self.values.len() < self.capacity {
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

    /// The value of the send that waits first enters.
    fn let_in(&mut self, by: CallId) -> Sent {
        let first = self.senders.remove(0);
        let Place::SendQueued(number, sender) = self.places[first] else { unreachable!("it is in the queue") };
        self.places[first] = Place::Taken(by);
        self.entered += 1;
        Sent { number, nth: self.entered - 1, by: sender }
    }

    fn receive(&mut self, by: CallId, effects: &mut Effects) -> Answer {
        let sent = if !self.values.is_empty() {
            let sent = self.values.remove(0);
            self.took.push(by);
            if !self.senders.is_empty() && self.values.len() < self.capacity {
                let next = self.let_in(by);
                self.values.push(next);
            }
            sent
        } else if !self.senders.is_empty() {
            self.let_in(by)
        } else if let Some(id) = self.closed {
            effects.sees.push(id);
            return Answer::Over;
        } else {
            return Answer::Empty;
        };
        self.received(sent, effects)
    }

    fn received(&mut self, sent: Sent, effects: &mut Effects) -> Answer {
        self.held -= 1;
        effects.sees.push(sent.by);
        Answer::Received(sent.number)
    }

    fn close(&mut self, by: CallId) -> bool {
        let is_first = self.closed.is_none();
        self.closed.get_or_insert(by);
        for i in self.senders.drain(..).chain(self.receivers.drain(..)) {
            let value = if let Place::SendQueued(number, _) = self.places[i] { Some(number) } else { None };
            self.places[i] = Place::Closed(by, value);
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
            Op::Send | Op::Recv => {
                self.places[me.thread] = if op == Op::Send { Place::Sends(number, me) } else { Place::Receives };
                return None;
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
            Place::SendQueued(..) | Place::ReceiveQueued(_) | Place::Nowhere => return None,
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
        self.places[me.thread] = Place::Nowhere;
        Some(answer)
    }

    fn give_up(&mut self, me: usize) -> Option<Answer> {
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
            Place::Receives | Place::ReceiveQueued(_) | Place::Closed(_, None) | Place::Nowhere => None,
        }
    }
}

impl Spec<Chans> for List {
    fn new(capacity: usize, roles: &[()]) -> Self {
        let (places, ends) = (vec![Place::Nowhere; roles.len()], [roles.len(); 2]);
        let (values, senders, receivers, took) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        List { capacity, values, entered: 0, senders, receivers, took, places, closed: None, ends, held: 0 }
    }

    fn step(&mut self, me: CallId, does: Does<Op>, effects: &mut Effects) -> Option<Answer> {
        match does {
            Does::Begin(op, number) => self.begin(me, op, number, effects),
            Does::Poll => self.poll(me, effects),
            Does::Enable => unreachable!("no wait of a channel is enabled"),
            Does::GiveUp => self.give_up(me.thread),
        }
    }

    fn held(&self) -> usize {
        self.held
    }
}
