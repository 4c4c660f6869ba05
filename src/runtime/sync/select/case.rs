//! The cases of a select: sends, receives, and any other future.

use crate::runtime::sync::select::ticket::Ticket;
use core::convert::Infallible;
use core::future::{Future, IntoFuture};
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use pin_project_lite::pin_project;

/// One thing of several to wait for.
pub trait Case {
    /// What comes of it.
    type Output;

    /// Tries it, without a waiter.
    fn attempt(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output>;

    /// Enqueues a waiter. `false`: no need to, it is worth another try.
    fn enlist(self: Pin<&mut Self>, ticket: Ticket, waker: Waker) -> bool;

    /// What came of it: its waiter was served, and the claim won.
    fn collect(self: Pin<&mut Self>) -> Self::Output;

    /// Dequeues its waiter, if there is one.
    fn withdraw(self: Pin<&mut Self>);
}

/// One that goes on living after the select.
impl<C: Case + Unpin> Case for &mut C {
    type Output = C::Output;

    fn attempt(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<C::Output> {
        Pin::new(&mut **self).attempt(cx)
    }
    fn enlist(mut self: Pin<&mut Self>, ticket: Ticket, waker: Waker) -> bool {
        Pin::new(&mut **self).enlist(ticket, waker)
    }
    fn collect(mut self: Pin<&mut Self>) -> C::Output {
        Pin::new(&mut **self).collect()
    }
    fn withdraw(mut self: Pin<&mut Self>) {
        Pin::new(&mut **self).withdraw();
    }
}

/// `None` is never ready. Go: a nil channel.
impl<C: Case + Unpin> Case for Option<C> {
    type Output = C::Output;

    fn attempt(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<C::Output> {
        self.as_mut().get_mut().as_mut().map_or(Poll::Pending, |case| Pin::new(case).attempt(cx))
    }
    fn enlist(mut self: Pin<&mut Self>, ticket: Ticket, waker: Waker) -> bool {
        self.as_mut().get_mut().as_mut().is_none_or(|case| Pin::new(case).enlist(ticket, waker))
    }
    fn collect(mut self: Pin<&mut Self>) -> C::Output {
        let case = self.as_mut().get_mut().as_mut().expect("select: a case was chosen that is none");
        Pin::new(case).collect()
    }
    fn withdraw(mut self: Pin<&mut Self>) {
        if let Some(case) = self.as_mut().get_mut() {
            Pin::new(case).withdraw();
        }
    }
}

pin_project! {
    /// Any future as a case. It has no waiter: its own waker brings the select back.
    pub struct Other<F> {
        #[pin]
        future: F,
    }
}

impl<F: Future> Case for Other<F> {
    type Output = F::Output;

    fn attempt(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.project().future.poll(cx)
    }
    fn enlist(self: Pin<&mut Self>, _: Ticket, _: Waker) -> bool {
        true
    }
    fn collect(self: Pin<&mut Self>) -> F::Output {
        unreachable!("select: a future was served by another party")
    }
    fn withdraw(self: Pin<&mut Self>) {}
}

/// Asks the compiler what a case is: `(&Probe::new(&case)).kind()`. It finds the method of sends and receives first, then
/// that of futures, then the one for all the rest, which says what is wrong.
pub struct Probe<'a, C>(core::marker::PhantomData<&'a C>);

impl<'a, C> Probe<'a, C> {
    /// About this one.
    pub fn new(_: &'a C) -> Self {
        Probe(core::marker::PhantomData)
    }
}

impl<C: Case> Probe<'_, C> {
    /// A send or a receive.
    pub fn kind(&self) -> ChannelKind {
        ChannelKind
    }
}

/// A case that is any other future.
pub trait OfFuture {
    /// What makes a case of it.
    fn kind(&self) -> FutureKind {
        FutureKind
    }
}

impl<F: IntoFuture> OfFuture for Probe<'_, F> {}

/// A case that is nothing to wait for.
pub trait OfNeither {
    /// What refuses it.
    fn kind(&self) -> NeitherKind {
        NeitherKind
    }
}

impl<T> OfNeither for &Probe<'_, T> {}

/// Makes cases of sends and receives.
pub struct ChannelKind;

impl ChannelKind {
    /// It is one.
    pub fn case<C: Case>(self, case: C) -> C {
        case
    }
}

/// Makes cases of futures.
pub struct FutureKind;

impl FutureKind {
    /// Of this one.
    pub fn case<F: IntoFuture>(self, future: F) -> Other<F::IntoFuture> {
        Other { future: future.into_future() }
    }
}

/// What can be waited for: by `M` it is known why.
#[diagnostic::on_unimplemented(
    message = "select!: `{Self}` is no send, no receive and no future, so nothing can be waited for",
    label = "this case is no future",
    note = "a case is `pattern = future => body`; the future is `receiver.recv()`, `sender.send(value)`, a task's handle, …, \
            without `.await`"
)]
pub trait Awaitable<M> {}

/// A future, as sends and receives are.
pub struct ByFuture;

/// A send or a receive, or none.
pub struct ByOption;

impl<F: IntoFuture> Awaitable<ByFuture> for F {}

impl<C: Case + Unpin> Awaitable<ByOption> for Option<C> {}

/// Says where it stands that a case cannot be waited for.
pub fn awaitable<M, T: Awaitable<M>>(case: T) -> T {
    case
}

/// Makes no case: an error was reported before.
pub struct NeitherKind;

impl NeitherKind {
    /// What would come of it is left open, so that there is only one error.
    pub fn case<T, O>(self, _: T) -> Other<core::future::Pending<O>> {
        Other { future: core::future::pending() }
    }
}

/// Several cases, by number.
pub trait Cases {
    /// What comes of the one that was chosen.
    type Output;
    /// How many.
    const LEN: usize;

    /// Tries the `n`th. `None`: its pattern does not fit what came.
    fn attempt(self: Pin<&mut Self>, n: usize, cx: &mut Context<'_>) -> Poll<Option<Self::Output>>;
    /// Enqueues a waiter for the `n`th. `false`: no need to.
    fn enlist(self: Pin<&mut Self>, n: usize, ticket: Ticket, waker: Waker) -> bool;
    /// What came of the `n`th. `None`: its pattern does not fit that.
    fn collect(self: Pin<&mut Self>, n: usize) -> Option<Self::Output>;
    /// Dequeues all waiters.
    fn withdraw(self: Pin<&mut Self>);
}

/// No case.
pub struct End;

impl Cases for End {
    type Output = Infallible;
    const LEN: usize = 0;

    fn attempt(self: Pin<&mut Self>, _: usize, _: &mut Context<'_>) -> Poll<Option<Infallible>> {
        Poll::Pending
    }
    fn enlist(self: Pin<&mut Self>, _: usize, _: Ticket, _: Waker) -> bool {
        true
    }
    fn collect(self: Pin<&mut Self>, n: usize) -> Option<Infallible> {
        unreachable!("select: a case was chosen that is not there ({n} more than there are)")
    }
    fn withdraw(self: Pin<&mut Self>) {}
}

pin_project! {
    /// A case, whether what comes fits its pattern, and those behind it.
    pub struct More<C, F, R> {
        #[pin]
        pub(super) first: C,
        fits: F,
        #[pin]
        pub(super) rest: R,
    }
}

impl<C: Case, F: FnMut(C::Output) -> Option<C::Output>, R: Cases> More<C, F, R> {
    /// This case, and those. `fits` gives what came back if the case takes it.
    pub fn new(first: C, fits: F, rest: R) -> Self {
        More { first, fits, rest }
    }
}

/// What came of one of several.
pub enum One<A, B> {
    /// Of the first.
    First(A),
    /// Of one behind it.
    Later(B),
}

impl<C: Case, F: FnMut(C::Output) -> Option<C::Output>, R: Cases> Cases for More<C, F, R> {
    type Output = One<C::Output, R::Output>;
    const LEN: usize = 1 + R::LEN;

    #[inline]
    fn attempt(self: Pin<&mut Self>, n: usize, cx: &mut Context<'_>) -> Poll<Option<Self::Output>> {
        let this = self.project();
        match n.checked_sub(1) {
            None => this.first.attempt(cx).map(|came| (this.fits)(came).map(One::First)),
            Some(n) => this.rest.attempt(n, cx).map(|came| came.map(One::Later)),
        }
    }

    #[inline]
    fn enlist(self: Pin<&mut Self>, n: usize, ticket: Ticket, waker: Waker) -> bool {
        let this = self.project();
        match n.checked_sub(1) {
            None => this.first.enlist(ticket, waker),
            Some(n) => this.rest.enlist(n, ticket, waker),
        }
    }

    #[inline]
    fn collect(self: Pin<&mut Self>, n: usize) -> Option<Self::Output> {
        let this = self.project();
        match n.checked_sub(1) {
            None => (this.fits)(this.first.collect()).map(One::First),
            Some(n) => this.rest.collect(n).map(One::Later),
        }
    }

    fn withdraw(self: Pin<&mut Self>) {
        let this = self.project();
        this.first.withdraw();
        this.rest.withdraw();
    }
}
