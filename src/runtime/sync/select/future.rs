//! The future behind `select!`.

use crate::runtime::exec::yielding::{Leaf, yields_so_far};
use crate::runtime::host::clock;
use crate::runtime::host::cores::Cores;
use crate::runtime::sync::select::case::Cases;
use crate::runtime::sync::select::ticket::Ticket;
use crate::runtime::time::Sleep;
use crate::waits::select::{self, Selection};
use core::convert::Infallible;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use pin_project_lite::pin_project;

/// What there is besides the cases.
pub trait Otherwise {
    /// `()`, or nothing that there could be.
    type Output;

    /// It takes place at once: only if no case was kept from being ready.
    const IS_AT_ONCE: bool = false;

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
    const IS_AT_ONCE: bool = true;

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
        selection: Selection<Cores>,
        leaf: Leaf,
    }

    impl<C: Cases, O> PinnedDrop for Select<C, O> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            // What a case was given goes back.
            if this.selection.is_waiting() {
                this.selection.withdraw(|| this.cases.withdraw());
            }
        }
    }
}

impl<C: Cases, O: Otherwise> Select<C, O> {
    /// These cases, and what there is besides.
    pub fn new(cases: C, otherwise: O) -> Self {
        const { assert!(C::LEN <= select::MOST, "select!: more than 32 cases") };
        Select { cases, otherwise, selection: Selection::new(), leaf: Leaf::new() }
    }
}

/// The cases while they are polled.
struct Polled<'a, 'c, C, O> {
    cases: Pin<&'a mut C>,
    otherwise: &'a mut O,
    cx: &'a mut Context<'c>,
    /// How often leaves had let others run before.
    yields: u32,
}

impl<C: Cases, O: Otherwise> select::Cases<Cores> for Polled<'_, '_, C, O> {
    type Output = Selected<C::Output, O::Output>;
    const LEN: usize = C::LEN;

    #[inline]
    fn choose(&mut self, n: usize) -> usize {
        clock::choose(n)
    }

    #[inline]
    fn attempt(&mut self, case: usize) -> Poll<Self::Output> {
        self.cases.as_mut().attempt(case, self.cx).map(Selected::Case)
    }

    #[inline]
    fn otherwise(&mut self) -> Poll<Self::Output> {
        // A case that has let others run may be ready: it is tried again first.
        if O::IS_AT_ONCE && yields_so_far() != self.yields {
            return Poll::Pending;
        }
        self.otherwise.poll(self.cx).map(Selected::Otherwise)
    }

    #[inline]
    fn enlist(&mut self, case: usize, ticket: Ticket) -> bool {
        self.cases.as_mut().enlist(case, ticket, self.cx.waker().clone())
    }

    #[inline]
    fn collect(&mut self, case: usize) -> Self::Output {
        Selected::Case(self.cases.as_mut().collect(case))
    }

    #[inline]
    fn withdraw(&mut self) {
        self.cases.as_mut().withdraw();
    }
}

impl<C: Cases, O: Otherwise> Future for Select<C, O> {
    type Output = Selected<C::Output, O::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        this.leaf.poll(cx, "select", |cx| {
            let yields = if O::IS_AT_ONCE { yields_so_far() } else { 0 };
            this.selection.poll(&mut Polled { cases: this.cases, otherwise: this.otherwise, cx, yields })
        })
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
