//! A select of sends and receives, polled by a thread.

use crate::harness::chan::{OnModel, Tiny};
use crate::harness::sleeper::{ParkWaker, Sleeper};
use crate::hosts::model_host::ModelHost;
use crate::mutation::variants::select::Steps;
use spinpark_kernel::waits::chan::receive::Receive;
use spinpark_kernel::waits::chan::send::Send;
use spinpark_kernel::waits::claim::Ticket;
use spinpark_kernel::waits::select::Cases;
use spinpark_kernel::waits::waker::Lender;
use std::task::Poll;

/// A case.
pub enum Case<'a, H: ModelHost> {
    /// A receive.
    Receive(Receive<'a, OnModel<H>>),
    /// A send.
    Send(Send<'a, OnModel<H>>),
}

/// What came of a select.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Got {
    /// Received by this case; `None`: its channel is closed.
    Received(usize, Option<u64>),
    /// Sent by this case, or not, as its channel is closed.
    Sent(usize, bool),
    /// No case was ready, and there is a default.
    Default,
}

/// The cases of a select, and who waits.
struct Polled<'a, H: ModelHost> {
    cases: [Case<'a, H>; 2],
    sleeper: Sleeper<H>,
    has_default: bool,
    /// How often an order was chosen. The first time it may be any: after that the first case is tried first. So two
    /// selects that meet from two sides do not go on withdrawing from each other for ever.
    rounds: usize,
}

/// A select with two cases.
pub struct Select<'a, H: ModelHost> {
    polled: Polled<'a, H>,
    steps: Steps<H>,
}

impl<'a, H: ModelHost> Select<'a, H> {
    /// Of these.
    pub fn new(first: Case<'a, H>, second: Case<'a, H>) -> Self {
        let polled = Polled { cases: [first, second], sleeper: Sleeper::new(), has_default: false, rounds: 0 };
        Select { polled, steps: Steps::new() }
    }

    /// And with a default.
    pub fn or_default(mut self) -> Self {
        self.polled.has_default = true;
        self
    }

    /// Polls it, once.
    pub fn poll(&mut self) -> Poll<Got> {
        self.steps.poll(&mut self.polled)
    }

    /// Waits until a case takes effect.
    pub fn wait(&mut self) -> Got {
        let Select { polled, steps } = self;
        loop {
            match steps.poll(polled) {
                Poll::Ready(got) => return got,
                Poll::Pending => polled.sleeper.park(),
            }
        }
    }

    /// It is dropped. What was not sent comes back.
    pub fn give_up(mut self) -> Vec<u64> {
        let polled = &mut self.polled;
        self.steps.withdraw(|| polled.withdraw());
        let back = |case| match case {
            Case::Send(send) => send.into_inner(),
            Case::Receive(_) => None,
        };
        self.polled.cases.into_iter().filter_map(back).collect()
    }
}

/// A receive from there.
pub fn recv<H: ModelHost>(tiny: &Tiny<H>) -> Case<'_, H> {
    Case::Receive(Receive::new(&tiny.chan))
}

/// A send of `n`, to there.
pub fn send<H: ModelHost>(tiny: &Tiny<H>, n: u64) -> Case<'_, H> {
    tiny.write(n);
    Case::Send(Send::new(&tiny.chan, n))
}

impl<H: ModelHost> Polled<'_, H> {
    fn waker(&self) -> ParkWaker<H> {
        self.sleeper.lender().lend().expect("it is trusted")
    }
}

impl<H: ModelHost> Cases<H> for Polled<'_, H> {
    type Output = Got;
    const LEN: usize = 2;

    fn choose(&mut self, n: usize) -> usize {
        self.rounds += 1;
        if self.rounds == 1 { H::choose(n) } else { n - 1 }
    }

    fn attempt(&mut self, case: usize) -> Poll<Got> {
        let got = match &mut self.cases[case] {
            Case::Receive(receive) => receive.attempt().map(|received| Got::Received(case, received.ok())),
            Case::Send(send) => send.attempt().map(|sent| Got::Sent(case, sent.is_ok())),
        };
        got.map_or(Poll::Pending, Poll::Ready)
    }

    fn otherwise(&mut self) -> Poll<Got> {
        if self.has_default { Poll::Ready(Got::Default) } else { Poll::Pending }
    }

    fn enlist(&mut self, case: usize, ticket: Ticket<H>) -> bool {
        let waker = self.waker();
        match &mut self.cases[case] {
            Case::Receive(receive) => receive.enlist(ticket, waker),
            Case::Send(send) => send.enlist(ticket, waker),
        }
    }

    fn collect(&mut self, case: usize) -> Got {
        match &mut self.cases[case] {
            Case::Receive(receive) => Got::Received(case, receive.collect().ok()),
            Case::Send(send) => Got::Sent(case, send.collect().is_ok()),
        }
    }

    fn withdraw(&mut self) {
        for case in &mut self.cases {
            match case {
                Case::Receive(receive) => receive.withdraw(),
                Case::Send(send) => send.withdraw(),
            }
        }
    }
}
