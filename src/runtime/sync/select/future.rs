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
    /// There is nothing besides.
    const IS_NEVER: bool = false;

    /// No case is ready.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Self::Output>;
}

/// Nothing besides.
pub struct Never;

impl Otherwise for Never {
    type Output = Infallible;
    const IS_NEVER: bool = true;

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
    /// No case is left that could be chosen: the `else`.
    Else,
}

/// The cases that may be chosen, and in which order they are tried.
#[derive(Clone, Copy)]
pub struct Choice {
    /// A bit a case: its `if` holds, and nothing came that its pattern does not fit.
    enabled: u64,
    len: u32,
    is_biased: bool,
    has_else: bool,
}

impl Choice {
    /// Of no case yet.
    #[must_use]
    pub const fn new(is_biased: bool, has_else: bool) -> Self {
        Choice { enabled: 0, len: 0, is_biased, has_else }
    }

    /// One case more, with what its `if` says.
    pub const fn add(&mut self, is_enabled: bool) {
        // More than there may be are refused where the future is made.
        self.enabled |= (is_enabled as u64).wrapping_shl(self.len);
        self.len += 1;
    }

    const fn has(self, case: usize) -> bool {
        self.enabled >> case & 1 == 1
    }
}

/// No case is left, and nothing that says what to do then.
#[cold]
#[track_caller]
pub fn nothing_left() -> ! {
    panic!("select!: no case is left, because of its `if` or its pattern, and there is no `else`")
}

pin_project! {
    /// The future behind [`select!`](crate::select).
    #[must_use = "a future does nothing until it is awaited"]
    pub struct Select<C: Cases, O> {
        #[pin]
        cases: C,
        otherwise: O,
        choice: Choice,
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
    /// These cases, what there is besides, and which may be chosen.
    pub fn new(cases: C, otherwise: O, choice: Choice) -> Self {
        const { assert!(C::LEN <= select::MOST && select::MOST <= 64, "select!: more than 64 cases") };
        Select { cases, otherwise, choice, selection: Selection::new(), leaf: Leaf::new() }
    }
}

/// The cases while they are polled.
struct Polled<'a, 'c, C, O> {
    cases: Pin<&'a mut C>,
    otherwise: &'a mut O,
    choice: &'a mut Choice,
    cx: &'a mut Context<'c>,
    /// How often leaves had let others run before.
    yields: u32,
}

impl<C: Cases, O: Otherwise> Polled<'_, '_, C, O> {
    /// The pattern of this case did not fit what came: it is not tried again.
    fn disable(&mut self, case: usize) {
        self.choice.enabled &= !(1 << case);
    }

    /// May no case be chosen any more, and is that to be reported?
    fn is_exhausted(&self) -> bool {
        let Choice { enabled, has_else, .. } = *self.choice;
        // A select without a case waits for ever, as in Go.
        enabled == 0 && (has_else || O::IS_NEVER && C::LEN > 0)
    }
}

impl<C: Cases, O: Otherwise> select::Cases<Cores> for Polled<'_, '_, C, O> {
    /// `None`: what came did not fit; try the others.
    type Output = Option<Selected<C::Output, O::Output>>;
    const LEN: usize = C::LEN;

    #[inline]
    fn choose(&mut self, n: usize) -> usize {
        // The last of `n` stays where it is: the order is that in which they are written.
        if self.choice.is_biased { n - 1 } else { clock::choose(n) }
    }

    #[inline]
    fn attempt(&mut self, case: usize) -> Poll<Self::Output> {
        if !self.choice.has(case) {
            return Poll::Pending;
        }
        match self.cases.as_mut().attempt(case, self.cx) {
            Poll::Ready(Some(came)) => Poll::Ready(Some(Selected::Case(came))),
            Poll::Ready(None) => {
                self.disable(case);
                Poll::Pending
            }
            Poll::Pending => Poll::Pending,
        }
    }

    #[inline]
    fn otherwise(&mut self) -> Poll<Self::Output> {
        if self.is_exhausted() {
            return Poll::Ready(Some(Selected::Else));
        }
        // A case that has let others run may be ready: it is tried again first.
        if O::IS_AT_ONCE && yields_so_far() != self.yields {
            return Poll::Pending;
        }
        self.otherwise.poll(self.cx).map(|output| Some(Selected::Otherwise(output)))
    }

    #[inline]
    fn enlist(&mut self, case: usize, ticket: Ticket) -> bool {
        !self.choice.has(case) || self.cases.as_mut().enlist(case, ticket, self.cx.waker().clone())
    }

    #[inline]
    fn collect(&mut self, case: usize) -> Self::Output {
        let came = self.cases.as_mut().collect(case).map(Selected::Case);
        if came.is_none() {
            self.disable(case);
        }
        came
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
            let mut polled = Polled { cases: this.cases, otherwise: this.otherwise, choice: this.choice, cx, yields };
            loop {
                match this.selection.poll(&mut polled) {
                    Poll::Ready(Some(selected)) => return Poll::Ready(selected),
                    // A waiter was served with what does not fit: one case less is left.
                    Poll::Ready(None) => (),
                    Poll::Pending => return Poll::Pending,
                }
            }
        })
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
