//! The future behind `select!`.

use crate::runtime::exec::yielding::yield_p;
use crate::runtime::host::clock;
use crate::runtime::observe::watch;
use crate::runtime::sync::select::case::Cases;
use crate::runtime::sync::select::ticket::{Claim, Ticket};
use crate::runtime::time::Sleep;
use core::convert::Infallible;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use pin_project_lite::pin_project;
use std::sync::Arc;

/// What there is besides the cases.
pub trait Otherwise {
    /// `()`, or nothing that there could be.
    type Output;

    /// No case is ready.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Self::Output>;
}

/// Nothing besides.
pub struct Never;

impl Otherwise for Never {
    type Output = Infallible;
    fn poll(&mut self, _: &mut Context<'_>) -> Poll<Infallible> {
        Poll::Pending
    }
}

/// A `default`.
pub struct AtOnce;

impl Otherwise for AtOnce {
    type Output = ();
    fn poll(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}

/// A `timeout`.
impl Otherwise for Sleep {
    type Output = ();
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        Future::poll(Pin::new(self), cx)
    }
}

/// What was chosen.
pub enum Selected<C, O> {
    /// A case.
    Case(C),
    /// What there is besides.
    Otherwise(O),
}

pin_project! {
    /// The future behind [`select!`](crate::select).
    #[must_use = "a future does nothing until it is awaited"]
    pub struct Select<C: Cases, O> {
        #[pin]
        cases: C,
        otherwise: O,
        // Made at the first wait, and used again.
        claim: Option<Arc<Claim>>,
        is_waiting: bool,
    }

    impl<C: Cases, O> PinnedDrop for Select<C, O> {
        fn drop(this: Pin<&mut Self>) {
            // What a case was given goes back.
            if this.is_waiting {
                this.withdraw();
            }
        }
    }
}

impl<C: Cases, O: Otherwise> Select<C, O> {
    /// These cases, and what there is besides.
    pub fn new(cases: C, otherwise: O) -> Self {
        const { assert!(C::LEN <= Order::MOST, "select!: more than 32 cases") };
        Select { cases, otherwise, claim: None, is_waiting: false }
    }

    /// Tries all.
    #[inline]
    fn attempt(self: Pin<&mut Self>, order: &[u8], cx: &mut Context<'_>) -> Poll<Selected<C::Output, O::Output>> {
        let mut this = self.project();
        for &n in order {
            if let Poll::Ready(output) = this.cases.as_mut().attempt(usize::from(n), cx) {
                return Poll::Ready(Selected::Case(output));
            }
        }
        this.otherwise.poll(cx).map(Selected::Otherwise)
    }

    /// Enqueues a waiter for each. `false`: no need to.
    fn enlist(self: Pin<&mut Self>, order: &[u8], waker: &Waker) -> bool {
        let mut this = self.project();
        let claim = this.claim.get_or_insert_with(|| Arc::new(Claim::new()));
        claim.reopen();
        *this.is_waiting = true;
        order
            .iter()
            .map(|&n| usize::from(n))
            .all(|case| this.cases.as_mut().enlist(case, Ticket::new(claim, case), waker.clone()))
    }
}

impl<C: Cases, O> Select<C, O> {
    /// Dequeues all waiters; but the case that was served, if one was, is returned, and keeps its own.
    fn settle(self: Pin<&mut Self>) -> Option<C::Output> {
        let mut this = self.project();
        *this.is_waiting = false;
        let served = this.claim.as_ref().and_then(|claim| claim.withdraw());
        let output = served.map(|case| this.cases.as_mut().collect(case));
        this.cases.withdraw();
        output
    }

    /// Dequeues all waiters.
    fn withdraw(self: Pin<&mut Self>) {
        let this = self.project();
        *this.is_waiting = false;
        if let Some(claim) = this.claim {
            // Served meanwhile: its case gives back what it can.
            let _ = claim.withdraw();
        }
        this.cases.withdraw();
    }
}

impl<C: Cases, O: Otherwise> Future for Select<C, O> {
    type Output = Selected<C::Output, O::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        core::task::ready!(yield_p(cx));
        loop {
            if self.is_waiting
                && let Some(output) = self.as_mut().settle()
            {
                return Poll::Ready(Selected::Case(output));
            }
            let order = Order::of::<C>();
            let order = order.as_slice();
            if let Poll::Ready(selected) = self.as_mut().attempt(order, cx) {
                return Poll::Ready(selected);
            }
            if self.as_mut().enlist(order, cx.waker()) {
                watch::waits_for("select");
                return Poll::Pending;
            }
        }
    }
}

/// The cases in random order: each order is as likely as any other.
struct Order {
    cases: [u8; Order::MOST],
    len: usize,
}

impl Order {
    /// How many cases a select can have.
    const MOST: usize = 32;

    #[inline]
    fn of<C: Cases>() -> Order {
        let mut cases = [0; Order::MOST];
        for n in 0..C::LEN {
            // The `n`th comes to one of the places up to its own; what was there comes to its own.
            let at = if n == 0 { 0 } else { clock::choose(n + 1) };
            cases[n] = cases[at];
            cases[at] = n as u8;
        }
        Order { cases, len: C::LEN }
    }

    fn as_slice(&self) -> &[u8] {
        &self.cases[..self.len]
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
