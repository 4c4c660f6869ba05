//! A select's cases, as a user has them.

use super::{Answer, How, Kind, Way, What};
use crate::host::RoomHost;
use crate::room::Wait;
use crate::rooms::chan::OnHost;
use crate::values::{Maker, Value};
use crate::wakers::Lends;
use kernel::waits::chan::Channel;
use kernel::waits::chan::errors::SendError;
use kernel::waits::chan::receive::{Receive, Received};
use kernel::waits::chan::send::{Send, Sent};
use kernel::waits::claim::Ticket;
use kernel::waits::select::{Cases, Selection};
use kernel::waits::waker::Lender as _;
use std::task::Poll;

type Both<H> = [Channel<OnHost<H>>; 2];

/// What came of a case, with a value that was not sent.
type Came = (What, Option<u64>);

enum Case<'a, H: RoomHost> {
    Sends(Send<'a, OnHost<H>>),
    Receives(Receive<'a, OnHost<H>>),
}

fn of_send<H: RoomHost>(sent: Sent<OnHost<H>>) -> Came {
    match sent {
        Ok(()) => (What::Sent, None),
        Err(SendError(back)) => (What::Refused, Some(back.take())),
    }
}

fn of_receive<H: RoomHost>(received: Received<OnHost<H>>) -> Came {
    (received.map_or(What::Over, |value| What::Received(value.take())), None)
}

impl<'a, H: RoomHost> Case<'a, H> {
    fn new(both: &'a Both<H>, (way, n): (Way, usize), value: impl FnOnce() -> Value<H>) -> Self {
        match way {
            Way::Sends => Case::Sends(Send::new(&both[n], value())),
            Way::Receives => Case::Receives(Receive::new(&both[n])),
        }
    }

    fn attempt(&mut self) -> Poll<Came> {
        let came = match self {
            Case::Sends(send) => send.attempt().map(of_send::<H>),
            Case::Receives(receive) => receive.attempt().map(of_receive::<H>),
        };
        came.map_or(Poll::Pending, Poll::Ready)
    }

    fn is_waiting(&self) -> bool {
        match self {
            Case::Sends(send) => send.is_waiting(),
            Case::Receives(receive) => receive.is_waiting(),
        }
    }

    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<Came> {
        let polled = match self {
            Case::Sends(send) => send.poll(lender).map(of_send::<H>),
            Case::Receives(receive) => receive.poll(lender).map(of_receive::<H>),
        };
        assert!(self.is_waiting() == polled.is_pending(), "it says that it waits: {}", self.is_waiting());
        polled
    }

    fn withdraw(&mut self) {
        match self {
            Case::Sends(send) => send.withdraw(),
            Case::Receives(receive) => receive.withdraw(),
        }
        assert!(!self.is_waiting(), "it was withdrawn, and says that it waits");
    }

    fn into_inner(self) -> Option<u64> {
        match self {
            Case::Sends(send) => send.into_inner().map(Value::take),
            Case::Receives(_) => None,
        }
    }
}

/// The cases while they are polled.
struct Polled<'p, 'a, H: RoomHost> {
    cases: &'p mut Vec<Case<'a, H>>,
    /// `None`: there is a default.
    lender: Option<&'p mut Lends<H>>,
    /// How often they were tried. The first time in any order; after that in their own, or two selects that meet from two sides might
    /// withdraw from each other for ever.
    rounds: usize,
}

impl<H: RoomHost> Cases<H> for Polled<'_, '_, H> {
    /// Which case; `None`: the default.
    type Output = Option<(usize, Came)>;
    const LEN: usize = 2;

    fn choose(&mut self, n: usize) -> usize {
        assert!(n == 2, "of two cases there are as many to choose from");
        self.rounds += 1;
        if self.rounds == 1 { H::choose(n) } else { n - 1 }
    }
    fn attempt(&mut self, case: usize) -> Poll<Self::Output> {
        self.cases[case].attempt().map(|came| Some((case, came)))
    }
    fn otherwise(&mut self) -> Poll<Self::Output> {
        if self.lender.is_none() { Poll::Ready(None) } else { Poll::Pending }
    }
    fn enlist(&mut self, case: usize, ticket: Ticket<H>) -> bool {
        let lender = self.lender.as_mut().expect("there is a default, and it waits");
        lender.prepare();
        let waker = lender.lend().expect("it was prepared");
        let case = &mut self.cases[case];
        let is_enlisted = match case {
            Case::Sends(send) => send.enlist(ticket, waker),
            Case::Receives(receive) => receive.enlist(ticket, waker),
        };
        let is_waiting = case.is_waiting();
        assert!(is_enlisted == is_waiting, "it was enqueued: {is_enlisted}, and waits: {is_waiting}");
        is_enlisted
    }
    fn collect(&mut self, case: usize) -> Self::Output {
        let came = match &mut self.cases[case] {
            Case::Sends(send) => of_send::<H>(send.collect()),
            Case::Receives(receive) => of_receive::<H>(receive.collect()),
        };
        Some((case, came))
    }
    fn withdraw(&mut self) {
        self.cases.iter_mut().for_each(Case::withdraw);
    }
}

/// What it was, with what comes back of all cases.
fn answer<H: RoomHost>(cases: &mut Vec<Case<'_, H>>, chosen: Option<(usize, Came)>) -> Answer {
    let of_case = |case: usize| chosen.filter(|(by, _)| *by == case).and_then(|(_, (_, back))| back);
    let back = cases.drain(..).enumerate().filter_map(|(n, case)| of_case(n).or(case.into_inner())).collect();
    match chosen {
        Some((case, (what, _))) => Answer::Case(case, what, back),
        None => Answer::Default(back),
    }
}

fn both_cases<'a, H: RoomHost>(both: &'a Both<H>, kind: Kind, value: impl Fn() -> Value<H>) -> Vec<Case<'a, H>> {
    kind.cases().map(|case| Case::new(both, case, &value)).into()
}

/// Selects, with a default.
pub(super) fn or_default<H: RoomHost>(both: &Both<H>, kind: Kind, values: &Maker<H>) -> Answer {
    let (mut cases, mut selection) = (both_cases(both, kind, || values.value()), Selection::new());
    let polled = selection.poll(&mut Polled { cases: &mut cases, lender: None, rounds: 0 });
    let Poll::Ready(chosen) = polled else { panic!("there is a default, and it waits") };
    assert!(!selection.is_waiting(), "it has taken the default, and says that it waits");
    answer(&mut cases, chosen)
}

/// A select.
pub(super) struct Selecting<'a, H: RoomHost> {
    cases: Vec<Case<'a, H>>,
    selection: Selection<H>,
    rounds: usize,
    how: How,
    /// What came back when its first case was gone on with.
    back: Option<Option<u64>>,
}

impl<'a, H: RoomHost> Selecting<'a, H> {
    pub(super) fn new(both: &'a Both<H>, kind: Kind, how: How, values: &Maker<H>) -> Self {
        // One that is dropped drops its cases one by one: what the second was given wakes another after the first has dropped a value.
        let value = || if how == How::Dropped { values.value().lent() } else { values.value() };
        Selecting { cases: both_cases(both, kind, value), selection: Selection::new(), rounds: 0, how, back: None }
    }

    fn select(&mut self, lender: &mut Lends<H>) -> Poll<Answer> {
        let Selecting { cases, selection, rounds, .. } = self;
        let mut polled = Polled { cases, lender: Some(lender), rounds: *rounds };
        let came = selection.poll(&mut polled);
        *rounds = polled.rounds;
        assert!(selection.is_waiting() == came.is_pending(), "it says that it waits: {}", selection.is_waiting());
        came.map(|chosen| answer(cases, chosen))
    }

    fn withdraw(&mut self) {
        let Selecting { cases, selection, .. } = self;
        selection.withdraw(|| cases.iter_mut().for_each(Case::withdraw));
        let waits = selection.is_waiting() || cases.iter().any(Case::is_waiting);
        assert!(!waits, "it was withdrawn, and it or a case says that it waits");
    }

    /// The select ends, in one of three ways, and the first case is gone on with. What has come of it by then.
    fn ends(&mut self) -> Poll<Came> {
        let way = H::choose(3);
        if way > 0 {
            self.withdraw();
        }
        self.back = Some(self.cases.pop().expect("the second").into_inner());
        if way < 2 { self.cases[0].attempt() } else { Poll::Pending }
    }

    fn alone(&mut self, came: Poll<Came>, lender: &mut Lends<H>) -> Poll<Answer> {
        let came = if came.is_ready() { came } else { self.cases[0].poll(lender) };
        let back = self.back.flatten();
        came.map(|(what, mine)| Answer::Case(0, what, mine.into_iter().chain(back).collect()))
    }
}

impl<H: RoomHost> Wait<H, Answer> for Selecting<'_, H> {
    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<Answer> {
        if self.how != How::ThenAlone {
            return self.select(lender);
        }
        if self.back.is_some() {
            return self.alone(Poll::Pending, lender);
        }
        // Not the thread's own wakers: these have nothing to do with the wait that follows.
        if let Poll::Ready(answer) = self.select(&mut lender.aside()) {
            return Poll::Ready(answer);
        }
        let came = self.ends();
        self.alone(came, lender)
    }

    fn give_up(mut self: Box<Self>) -> Option<Answer> {
        if self.how == How::Dropped {
            self.cases.clear();
            return Some(Answer::Back(vec![]));
        }
        if self.back.is_none() {
            self.withdraw();
        }
        let mine = self.cases.drain(..).filter_map(Case::into_inner);
        Some(Answer::Back(mine.chain(self.back.take().flatten()).collect()))
    }
}

/// A send or a receive that is no case.
pub(super) struct One<'a, H: RoomHost>(Case<'a, H>);

impl<'a, H: RoomHost> One<'a, H> {
    pub(super) fn new(both: &'a Both<H>, case: (Way, usize), values: &Maker<H>) -> Self {
        One(Case::new(both, case, || values.value()))
    }
}

impl<H: RoomHost> Wait<H, Answer> for One<'_, H> {
    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<Answer> {
        self.0.poll(lender).map(|(what, back)| Answer::Case(0, what, back.into_iter().collect()))
    }
    fn give_up(self: Box<Self>) -> Option<Answer> {
        Some(Answer::Back(self.0.into_inner().into_iter().collect()))
    }
}

/// Three cases that are never ready, and in which order they were tried; a default is the fourth.
struct Asked {
    chance: [usize; 2],
    order: Vec<usize>,
}

impl<H: RoomHost> Cases<H> for Asked {
    type Output = ();
    const LEN: usize = 3;

    fn choose(&mut self, n: usize) -> usize {
        self.chance[n - 2]
    }
    fn attempt(&mut self, case: usize) -> Poll<()> {
        self.order.push(case);
        Poll::Pending
    }
    fn otherwise(&mut self) -> Poll<()> {
        self.order.push(3);
        Poll::Ready(())
    }
    fn enlist(&mut self, case: usize, _: Ticket<H>) -> bool {
        panic!("case {case} is to wait, and there is a default")
    }
    fn collect(&mut self, case: usize) {
        panic!("case {case} was not served")
    }
    fn withdraw(&mut self) {
        panic!("none of them has waited")
    }
}

/// In which order are three cases tried, if chance is this?
pub(super) fn order_of<H: RoomHost>(chance: [usize; 2]) -> Vec<usize> {
    let mut asked = Asked { chance, order: Vec::new() };
    assert!(Selection::<H>::new().poll(&mut asked).is_ready(), "there is a default, and it waits");
    asked.order
}
