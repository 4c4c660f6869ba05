//! The steps of a select, the right ones unless a variant says otherwise.

use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::variant;
use spinpark_kernel::waits::claim::{Claim, Ticket};
use spinpark_kernel::waits::select::{Cases, Selection};
use std::sync::Arc;
use std::task::Poll;

/// What a wrong select does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrong {
    /// Its cases do not know of each other.
    EachCaseHasAClaim,
    /// A select that was withdrawn, and waits again, cannot be served.
    NeverReopens,
    /// It dequeues its waiters when it is polled, and asks the claim after that.
    AsksAfterDequeuing,
    /// It dequeues its waiters when it is polled, and asks no claim.
    AsksNoClaim,
}

/// What a select is besides its cases.
pub struct Steps<H: ModelHost> {
    right: Selection<H>,
    claim: Arc<Claim<H>>,
    is_waiting: bool,
    wrong: Option<Wrong>,
}

impl<H: ModelHost> Steps<H> {
    /// Waits for nothing yet.
    pub fn new() -> Self {
        let wrong = match variant() {
            Some("each-case-has-a-claim") => Some(Wrong::EachCaseHasAClaim),
            Some("never-reopens") => Some(Wrong::NeverReopens),
            Some("asks-after-dequeuing") => Some(Wrong::AsksAfterDequeuing),
            Some("asks-no-claim") => Some(Wrong::AsksNoClaim),
            _ => None,
        };
        Steps { right: Selection::new(), claim: Arc::new(Claim::new()), is_waiting: false, wrong }
    }

    /// See [`Selection::poll`].
    pub fn poll<C: Cases<H>>(&mut self, cases: &mut C) -> Poll<C::Output> {
        let Some(wrong) = self.wrong else { return self.right.poll(cases) };
        loop {
            if std::mem::take(&mut self.is_waiting)
                && let Some(output) = self.settle(cases, wrong)
            {
                return Poll::Ready(output);
            }
            for case in 0..C::LEN {
                if let Poll::Ready(output) = cases.attempt(case) {
                    return Poll::Ready(output);
                }
            }
            if let Poll::Ready(output) = cases.otherwise() {
                return Poll::Ready(output);
            }
            if self.enlist(cases, wrong) {
                return Poll::Pending;
            }
        }
    }

    fn settle<C: Cases<H>>(&self, cases: &mut C, wrong: Wrong) -> Option<C::Output> {
        if wrong == Wrong::AsksAfterDequeuing {
            cases.withdraw();
        }
        let served = if wrong == Wrong::AsksNoClaim { None } else { self.claim.withdraw() };
        let output = served.map(|case| cases.collect(case));
        cases.withdraw();
        output
    }

    fn enlist<C: Cases<H>>(&mut self, cases: &mut C, wrong: Wrong) -> bool {
        if wrong != Wrong::NeverReopens {
            self.claim.reopen();
        }
        self.is_waiting = true;
        let ticket = |case| match wrong {
            Wrong::EachCaseHasAClaim => Ticket::new(&Arc::new(Claim::new()), case),
            _ => Ticket::new(&self.claim, case),
        };
        (0..C::LEN).all(|case| cases.enlist(case, ticket(case)))
    }

    /// See [`Selection::withdraw`].
    pub fn withdraw(&mut self, dequeue: impl FnOnce()) {
        match self.wrong {
            None => self.right.withdraw(dequeue),
            Some(_) => dequeue(),
        }
    }
}

impl<H: ModelHost> Default for Steps<H> {
    fn default() -> Self {
        Self::new()
    }
}
