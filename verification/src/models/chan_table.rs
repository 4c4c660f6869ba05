//! A channel whose sends and receives are polled by hand, one step after the other: from some beginnings every two steps, and then
//! the end. A list with waiters says what must be answered, and who must be woken, each time.

use crate::harness::common::any_of;
use crate::harness::told::{Log, Told};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, sc};
use spinpark_kernel::host::Host;
use spinpark_kernel::waits::chan::errors::{SendError, TryRecvError, TrySendError};
use spinpark_kernel::waits::chan::receive::Receive;
use spinpark_kernel::waits::chan::send::Send;
use spinpark_kernel::waits::chan::state::State;
use spinpark_kernel::waits::chan::{Channel, Parts};
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::Arc;
use std::task::Poll;

/// A channel whose wakers say what became of them.
pub(super) struct OnTable<H>(PhantomData<fn() -> H>);

impl<H: ModelHost> Parts for OnTable<H> {
    type Host = H;
    type Value = u64;
    type Waker = Told;
    type Lock = <H as Host>::Lock<State<Self>>;
}

/// A step. Of two receives and two sends, each by one of two wakers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    PollRecv(usize, u64),
    PollSend(usize, u64),
    DropRecv(usize),
    DropSend(usize),
    /// Drops it, and asks for the value.
    TakeBack(usize),
    TrySend,
    TryRecv,
    Close,
}

use Op::{Close, DropRecv, DropSend, PollRecv, PollSend, TakeBack, TryRecv, TrySend};

const OPS: [Op; 17] = [
    PollRecv(0, 0),
    PollRecv(0, 1),
    PollRecv(1, 0),
    PollRecv(1, 1),
    PollSend(0, 0),
    PollSend(0, 1),
    PollSend(1, 0),
    PollSend(1, 1),
    DropRecv(0),
    DropRecv(1),
    DropSend(0),
    DropSend(1),
    TakeBack(0),
    TakeBack(1),
    TrySend,
    TryRecv,
    Close,
];

/// Where it begins: also with values that were given, and of which nobody has come for one.
const BEGINNINGS: [&[Op]; 9] = [
    &[],
    &[PollRecv(0, 0), PollRecv(1, 0)],
    &[PollRecv(0, 0), PollRecv(1, 0), TrySend, TrySend],
    &[PollRecv(0, 0), TrySend, TrySend],
    &[PollRecv(0, 0), PollRecv(1, 0), TrySend, TrySend, DropRecv(1)],
    &[PollRecv(0, 0), TrySend, PollRecv(1, 0)],
    &[TrySend, TrySend, PollSend(0, 0), PollSend(1, 0)],
    &[TrySend, TrySend, PollSend(0, 0), PollSend(1, 0), TryRecv],
    &[PollRecv(0, 0), TrySend, TrySend, TrySend, PollSend(0, 0), PollSend(1, 0)],
];

/// What a step was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Nothing,
    Pending,
    Value(u64),
    Back(Option<u64>),
    Sent,
    Full,
    Empty,
    /// It is closed; here is the value, if it was a send's.
    Closed(Option<u64>),
    WasOpen(bool),
}

/// Where a send or a receive is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Waits by this waker; a send with this value.
    Waits(u64, u64),
    /// A value was given to it, as the how manieth; or taken from it.
    Served(u64, u64),
    TurnedAway(u64),
}

/// The list.
struct List {
    capacity: usize,
    inside: VecDeque<u64>,
    /// Values that came back, by their numbers.
    back: Vec<(u64, u64)>,
    given: u64,
    /// Who waits, the oldest first.
    receivers: VecDeque<usize>,
    senders: VecDeque<usize>,
    recv: [Option<Place>; 2],
    send: [Option<Place>; 2],
    is_closed: bool,
    woken: Vec<u64>,
    next: u64,
}

impl List {
    fn len(&self) -> usize {
        self.inside.len() + self.back.len()
    }

    fn give(&mut self, number: u64, value: u64) -> bool {
        let Some(i) = self.receivers.pop_front() else { return false };
        let Some(Place::Waits(waker, _)) = self.recv[i] else { panic!("it is in the queue") };
        self.woken.push(waker);
        self.recv[i] = Some(Place::Served(number, value));
        true
    }

    fn put(&mut self, value: u64) -> Answer {
        if self.is_closed {
            return Answer::Closed(Some(value));
        }
        if self.give(self.given, value) {
            self.given += 1;
        } else if self.len() < self.capacity {
            self.inside.push_back(value);
        } else {
            return Answer::Full;
        }
        Answer::Sent
    }

    fn take_sent(&mut self) -> Option<u64> {
        let i = self.senders.pop_front()?;
        let Some(Place::Waits(waker, value)) = self.send[i] else { panic!("it is in the queue") };
        self.woken.push(waker);
        self.send[i] = Some(Place::Served(0, value));
        Some(value)
    }

    fn take(&mut self) -> Answer {
        let oldest = if self.back.is_empty() { self.inside.pop_front() } else { Some(self.back.remove(0).1) };
        match oldest {
            Some(value) => {
                let next = if self.len() < self.capacity { self.take_sent() } else { None };
                self.inside.extend(next);
                Answer::Value(value)
            }
            None => match self.take_sent() {
                Some(value) => Answer::Value(value),
                None if self.is_closed => Answer::Closed(None),
                None => Answer::Empty,
            },
        }
    }

    fn poll_recv(&mut self, i: usize, waker: u64) -> Answer {
        match self.recv[i].take() {
            Some(Place::Served(_, value)) => Answer::Value(value),
            Some(Place::TurnedAway(_)) => Answer::Closed(None),
            Some(Place::Waits(..)) => {
                self.recv[i] = Some(Place::Waits(waker, 0));
                Answer::Pending
            }
            None => match self.take() {
                Answer::Empty => {
                    self.recv[i] = Some(Place::Waits(waker, 0));
                    self.receivers.push_back(i);
                    Answer::Pending
                }
                answer => answer,
            },
        }
    }

    fn poll_send(&mut self, i: usize, waker: u64) -> Answer {
        match self.send[i].take() {
            Some(Place::Served(..)) => Answer::Sent,
            Some(Place::TurnedAway(value)) => Answer::Closed(Some(value)),
            Some(Place::Waits(_, value)) => {
                self.send[i] = Some(Place::Waits(waker, value));
                Answer::Pending
            }
            None => {
                let value = self.next;
                self.next += 1;
                match self.put(value) {
                    Answer::Full => {
                        self.send[i] = Some(Place::Waits(waker, value));
                        self.senders.push_back(i);
                        Answer::Pending
                    }
                    answer => answer,
                }
            }
        }
    }

    fn drop_recv(&mut self, i: usize) {
        self.receivers.retain(|&other| other != i);
        if let Some(Place::Served(number, value)) = self.recv[i].take()
            && !self.give(number, value)
        {
            self.back.push((number, value));
            self.back.sort_unstable();
        }
    }

    fn drop_send(&mut self, i: usize) -> Option<u64> {
        self.senders.retain(|&other| other != i);
        match self.send[i].take() {
            Some(Place::Waits(_, value) | Place::TurnedAway(value)) => Some(value),
            Some(Place::Served(..)) | None => None,
        }
    }

    fn close(&mut self) -> Answer {
        let turn_away = |place: &mut Option<Place>, woken: &mut Vec<u64>| {
            if let Some(Place::Waits(waker, value)) = *place {
                woken.push(waker);
                *place = Some(Place::TurnedAway(value));
            }
        };
        let was_open = !std::mem::replace(&mut self.is_closed, true);
        self.recv.iter_mut().chain(&mut self.send).for_each(|place| turn_away(place, &mut self.woken));
        self.receivers.clear();
        self.senders.clear();
        Answer::WasOpen(was_open)
    }

    fn does(&mut self, op: Op) -> Answer {
        match op {
            PollRecv(i, waker) => self.poll_recv(i, recv_waker(i, waker)),
            PollSend(i, waker) => self.poll_send(i, send_waker(i, waker)),
            DropRecv(i) => {
                self.drop_recv(i);
                Answer::Nothing
            }
            DropSend(i) => {
                self.drop_send(i);
                Answer::Nothing
            }
            TakeBack(i) => Answer::Back(self.drop_send(i)),
            TrySend => {
                self.next += 1;
                self.put(self.next - 1)
            }
            TryRecv => self.take(),
            Close => self.close(),
        }
    }
}

const fn recv_waker(i: usize, waker: u64) -> u64 {
    10 * i as u64 + waker
}

const fn send_waker(i: usize, waker: u64) -> u64 {
    100 + recv_waker(i, waker)
}

/// The channel.
struct Real<'a, H: ModelHost> {
    chan: &'a Channel<OnTable<H>>,
    recv: [Option<Receive<'a, OnTable<H>>>; 2],
    send: [Option<Send<'a, OnTable<H>>>; 2],
    log: Arc<Log>,
    is_trusted: bool,
    next: u64,
}

impl<H: ModelHost> Real<'_, H> {
    fn poll_recv(&mut self, i: usize, waker: u64) -> Answer {
        let recv = self.recv[i].get_or_insert_with(|| Receive::new(self.chan));
        let polled = recv.poll(&mut self.log.lender(recv_waker(i, waker), self.is_trusted));
        assert!(recv.is_waiting() == polled.is_pending(), "it came to {polled:?}, and waits: {}", recv.is_waiting());
        match polled {
            Poll::Pending => Answer::Pending,
            Poll::Ready(received) => {
                self.recv[i] = None;
                received.map_or(Answer::Closed(None), Answer::Value)
            }
        }
    }

    fn poll_send(&mut self, i: usize, waker: u64) -> Answer {
        let send = self.send[i].get_or_insert_with(|| {
            self.next += 1;
            Send::new(self.chan, self.next - 1)
        });
        let polled = send.poll(&mut self.log.lender(send_waker(i, waker), self.is_trusted));
        assert!(send.is_waiting() == polled.is_pending(), "it is over: {}, and waits", polled.is_ready());
        match polled {
            Poll::Pending => Answer::Pending,
            Poll::Ready(sent) => {
                self.send[i] = None;
                sent.map_or_else(|SendError(value)| Answer::Closed(Some(value)), |()| Answer::Sent)
            }
        }
    }

    fn does(&mut self, op: Op) -> Answer {
        match op {
            PollRecv(i, waker) => self.poll_recv(i, waker),
            PollSend(i, waker) => self.poll_send(i, waker),
            DropRecv(i) => {
                self.recv[i] = None;
                Answer::Nothing
            }
            DropSend(i) => {
                self.send[i] = None;
                Answer::Nothing
            }
            TakeBack(i) => Answer::Back(self.send[i].take().and_then(Send::into_inner)),
            TrySend => {
                self.next += 1;
                let tried = self.chan.try_put(self.next - 1);
                let (is_full, is_closed) = tried.map_or_else(|e| (e.is_full(), e.is_closed()), |()| (false, false));
                match tried {
                    Ok(()) => Answer::Sent,
                    Err(TrySendError::Full(_)) if is_full && !is_closed => Answer::Full,
                    Err(TrySendError::Closed(value)) if is_closed && !is_full => Answer::Closed(Some(value)),
                    Err(_) => panic!("full: {is_full}, and closed: {is_closed}"),
                }
            }
            TryRecv => match self.chan.try_take() {
                Ok(value) => Answer::Value(value),
                Err(TryRecvError::Empty) => Answer::Empty,
                Err(TryRecvError::Closed) => Answer::Closed(None),
            },
            Close => Answer::WasOpen(self.chan.close()),
        }
    }
}

/// Both do the same, and answer the same.
fn both<H: ModelHost>(real: &mut Real<'_, H>, list: &mut List, op: Op) {
    let (answer, expected) = (real.does(op), list.does(op));
    assert!(answer == expected, "{op:?} was answered {answer:?}, and not {expected:?}");
    let (mut woken, mut expected) = (real.log.take_woken(), std::mem::take(&mut list.woken));
    woken.sort_unstable();
    expected.sort_unstable();
    assert!(woken == expected, "{op:?} has woken {woken:?}, and not {expected:?}");
    let seen = real.chan.with(|state| (state.len(), state.is_empty(), state.is_closed(), state.capacity()));
    let expected = (list.len(), list.len() == 0, list.is_closed, list.capacity);
    assert!(seen == expected, "after {op:?} it is {seen:?}, and not {expected:?}");
}

fn two_steps<H: ModelHost>() -> String {
    let capacity = H::choose(3);
    let is_trusted = H::choose(2) == 1;
    let beginning = any_of::<H, _>(&BEGINNINGS);
    let chan = Channel::<OnTable<H>>::new(capacity);
    let (log, none) = (Arc::new(Log::default()), || [None, None]);
    let mut real = Real { chan: &chan, recv: [None, None], send: [None, None], log, is_trusted, next: 0 };
    let mut list = List {
        capacity,
        inside: VecDeque::new(),
        back: Vec::new(),
        given: 0,
        receivers: VecDeque::new(),
        senders: VecDeque::new(),
        recv: none(),
        send: none(),
        is_closed: false,
        woken: Vec::new(),
        next: 0,
    };
    beginning.iter().for_each(|&op| both(&mut real, &mut list, op));
    for _ in 0..2 {
        both(&mut real, &mut list, any_of::<H, _>(&OPS));
    }
    // What is left comes out, and then everything ends.
    let last = [
        DropRecv(1),
        DropRecv(0),
        TryRecv,
        TryRecv,
        PollSend(0, 0),
        TryRecv,
        Close,
        TryRecv,
        PollSend(1, 0),
        TakeBack(0),
    ];
    last.into_iter().for_each(|op| both(&mut real, &mut list, op));
    drop(real);
    format!("room for {capacity}, {} values", list.next)
}

/// The models.
pub const MODELS: &[Model] = &[crate::model!("chan::it_is_a_list::two_steps_from_some_beginnings", two_steps,
    claim: "sends and receives that are polled, polled again, dropped and asked for their values answer what a list with waiters \
        would, in the order of coming; and each waker is woken once, or forgotten",
    size: "1 thread; 9 beginnings, 2 steps of 17 kinds, and the end; room for none, one or two",
    invariants: [90, 91, 92, 94],
    must_reach: ["room for 0", "room for 1", "room for 2"],
    runs: [sc()])];
