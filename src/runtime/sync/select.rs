//! Waiting for several things, and taking one. Go: `selectgo`.
//!
//! ```text
//!   what the claim says      who changes it
//!   OPEN ──► the case        whoever serves one of its seats, under that channel's lock
//!     ▲ └──► WITHDRAWN       the select, when it is polled or dropped
//!     └──────────┘           the select, when no seat of it is left
//! ```
//!
//! A select first tries each case, in random order. If none can go on, it takes a seat at each channel, one after the
//! other; never does it hold two locks. All its seats share one word, the claim, and who serves a seat must win that. A
//! case that could go on when its seat was to be taken (somebody came in between) makes it withdraw and begin anew.
//!
//! **One case takes effect**, because the claim leaves OPEN by one exchange. **No wake-up is lost**, because each seat is
//! taken under the lock under which its case was seen not to be ready. Futures are polled only while there is no seat, so
//! nothing that a future gave is ever dropped in favour of a channel.
//!
//! Two selects that meet from two sides may withdraw from each other once, and again; each time the random order lets one
//! come first in every second case or more.
//!
//! Public for the macro [`select!`](crate::select); not for others.

use crate::runtime::exec::yielding::yield_p;
use crate::runtime::host::clock;
use crate::runtime::observe::watch;
use crate::runtime::time::Sleep;
use core::convert::Infallible;
use core::future::{Future, IntoFuture};
use core::pin::Pin;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use core::task::{Context, Poll, Waker};
use pin_project_lite::pin_project;
use std::sync::Arc;

/// Nobody has served it.
const OPEN: usize = usize::MAX;
/// It is not to be served.
const WITHDRAWN: usize = OPEN - 1;

/// Which case of a select was served. Go: `selectDone`.
struct Claim(AtomicUsize);

impl Claim {
    /// This case is served, unless another is, or none is to be.
    fn win(&self, case: usize) -> bool {
        // Relaxed: one exchange wins, in whatever order the rest is seen; what is handed over lies under the lock that the
        // caller holds.
        self.0.compare_exchange(OPEN, case, Relaxed, Relaxed).is_ok()
    }

    /// No case is to be served; `Some`: this one was.
    fn withdraw(&self) -> Option<usize> {
        // Relaxed: as in `win`. Who was served finds the value under the lock of the case's channel.
        self.0.compare_exchange(OPEN, WITHDRAWN, Relaxed, Relaxed).err().filter(|&now| now != WITHDRAWN)
    }

    /// It can be served again. No seat has it.
    fn reopen(&self) {
        // Relaxed: others see it when they find a seat that has it, under a lock that was taken after this.
        self.0.store(OPEN, Relaxed);
    }

    fn is_open(&self) -> bool {
        // Relaxed: who reads an older value tries once too often; `win` decides.
        self.0.load(Relaxed) == OPEN
    }
}

/// What stands at a select's seat: which select, and which of its cases.
pub struct Ticket {
    claim: Arc<Claim>,
    case: usize,
}

impl Ticket {
    /// The seat is served, if its select goes on by no other.
    pub(in crate::runtime) fn win(&self) -> bool {
        self.claim.win(self.case)
    }

    /// Can it be won?
    pub(in crate::runtime) fn is_open(&self) -> bool {
        self.claim.is_open()
    }

    pub(in crate::runtime) fn is_same_select(&self, other: &Ticket) -> bool {
        Arc::ptr_eq(&self.claim, &other.claim)
    }
}

/// One thing of several to wait for.
pub trait Case {
    /// What comes of it.
    type Output;

    /// Tries it, without a seat.
    fn attempt(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output>;

    /// Takes a seat. `false`: no need to, it is worth another try.
    fn enlist(self: Pin<&mut Self>, ticket: Ticket, waker: Waker) -> bool;

    /// What came of it: its seat was served, and the claim won.
    fn collect(self: Pin<&mut Self>) -> Self::Output;

    /// Gives the seat back, if there is one.
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
    /// Any future as a case. It has no seat: its own waker brings the select back.
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
        unreachable!("select: a future was served by somebody else")
    }
    fn withdraw(self: Pin<&mut Self>) {}
}

/// A case that is a send or a receive. The compiler finds this method first.
pub trait OfChannel {
    /// What makes a case of it.
    fn kind(&self) -> ChannelKind {
        ChannelKind
    }
}

impl<C: Case> OfChannel for C {}

/// A case that is any other future. The compiler finds this method only if there is not the other.
pub trait OfFuture {
    /// What makes a case of it.
    fn kind(&self) -> FutureKind {
        FutureKind
    }
}

impl<F: IntoFuture> OfFuture for &F {}

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

/// Several cases, by number.
pub trait Cases {
    /// What comes of the one that was chosen.
    type Output;
    /// How many.
    const LEN: usize;

    /// Tries the `n`th.
    fn attempt(self: Pin<&mut Self>, n: usize, cx: &mut Context<'_>) -> Poll<Self::Output>;
    /// Takes a seat for the `n`th. `false`: no need to.
    fn enlist(self: Pin<&mut Self>, n: usize, ticket: Ticket, waker: Waker) -> bool;
    /// What came of the `n`th.
    fn collect(self: Pin<&mut Self>, n: usize) -> Self::Output;
    /// Gives all seats back.
    fn withdraw(self: Pin<&mut Self>);
}

/// No case.
pub struct End;

impl Cases for End {
    type Output = Infallible;
    const LEN: usize = 0;

    fn attempt(self: Pin<&mut Self>, _: usize, _: &mut Context<'_>) -> Poll<Infallible> {
        Poll::Pending
    }
    fn enlist(self: Pin<&mut Self>, _: usize, _: Ticket, _: Waker) -> bool {
        true
    }
    fn collect(self: Pin<&mut Self>, n: usize) -> Infallible {
        unreachable!("select: a case was chosen that is not there ({n} more than there are)")
    }
    fn withdraw(self: Pin<&mut Self>) {}
}

pin_project! {
    /// A case, and those behind it.
    pub struct More<C, R> {
        #[pin]
        first: C,
        #[pin]
        rest: R,
    }
}

impl<C: Case, R: Cases> More<C, R> {
    /// This case, and those.
    pub fn new(first: C, rest: R) -> Self {
        More { first, rest }
    }
}

/// What came of one of several.
pub enum One<A, B> {
    /// Of the first.
    First(A),
    /// Of one behind it.
    Later(B),
}

impl<C: Case, R: Cases> Cases for More<C, R> {
    type Output = One<C::Output, R::Output>;
    const LEN: usize = 1 + R::LEN;

    #[inline]
    fn attempt(self: Pin<&mut Self>, n: usize, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        match n.checked_sub(1) {
            None => this.first.attempt(cx).map(One::First),
            Some(n) => this.rest.attempt(n, cx).map(One::Later),
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
    fn collect(self: Pin<&mut Self>, n: usize) -> Self::Output {
        let this = self.project();
        match n.checked_sub(1) {
            None => One::First(this.first.collect()),
            Some(n) => One::Later(this.rest.collect(n)),
        }
    }

    fn withdraw(self: Pin<&mut Self>) {
        let this = self.project();
        this.first.withdraw();
        this.rest.withdraw();
    }
}

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
        const { assert!(C::LEN <= Order::MOST, "more cases than a select can have") };
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

    /// Takes a seat for each. `false`: no need to.
    fn enlist(self: Pin<&mut Self>, order: &[u8], waker: &Waker) -> bool {
        let mut this = self.project();
        let claim = this.claim.get_or_insert_with(|| Arc::new(Claim(AtomicUsize::new(OPEN))));
        claim.reopen();
        *this.is_waiting = true;
        order.iter().map(|&n| usize::from(n)).all(|case| {
            let ticket = Ticket { claim: Arc::clone(claim), case };
            this.cases.as_mut().enlist(case, ticket, waker.clone())
        })
    }
}

impl<C: Cases, O> Select<C, O> {
    /// Gives all seats back; but the case that was served, if one was, is returned, and keeps its own.
    fn settle(self: Pin<&mut Self>) -> Option<C::Output> {
        let mut this = self.project();
        *this.is_waiting = false;
        let served = this.claim.as_ref().and_then(|claim| claim.withdraw());
        let output = served.map(|case| this.cases.as_mut().collect(case));
        this.cases.withdraw();
        output
    }

    /// Gives all seats back.
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
            // The `n`th comes to one of the places up to its own; who was there comes to its own.
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

/// Waits for several things, and takes one of them. Go: `select`.
///
/// ```
/// use core::time::Duration;
/// use spinpark::{chan, select, spawn};
///
/// # let runtime = spinpark::Runtime::builder().procs(2).build()?;
/// runtime.block_on(async {
///     let (give, get) = chan::rendezvous();
///     let (stop, stopped) = chan::rendezvous::<()>();
///     let numbers = spawn(async move {
///         let (mut a, mut b) = (0, 1);
///         loop {
///             select! {
///                 sent = give.send(a) => {
///                     sent.expect("it is open");
///                     (a, b) = (b, a + b);
///                 }
///                 _ = stopped.recv() => return a, // a body may leave the function, or the loop
///                 timeout(Duration::from_secs(5)) => panic!("nobody wants numbers"),
///             }
///         }
///     });
///     for expected in [0, 1, 1, 2, 3, 5, 8] {
///         assert_eq!(get.recv().await, Ok(expected));
///     }
///     drop(stop);
///     assert_eq!(numbers.await.expect("no panic"), 13);
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// | a case | ready when |
/// |--------|------------|
/// | `value = receiver.recv() => body` | something is received, or the channel is closed |
/// | `result = sender.send(value) => body` | it is sent, or the channel is closed |
/// | `output = future => body` | the future is ready: a task's handle, a lock, a socket, what you like |
/// | `timeout(duration) => body` | no other is, after this time. The time counts from the first poll |
/// | `default => body` | no other is, now: the select does not wait |
///
/// The pattern must fit everything that can come. Bodies run after the choice, outside of the future, where `break`,
/// `return`, `?` and `.await` mean what they mean there; what was not chosen has been dropped by then. One `default` or one
/// `timeout` at most; 32 other cases. Without any it waits for ever, as in Go.
///
/// `select! { … }` and `select!(await { … })` are awaited: they stand in async code. `select!(wait { … })` calls `.wait()`
/// instead, for code that waits without being async.
///
/// **Exactly one case takes effect.** If several are ready, each is as likely as any other. A send that was not chosen has
/// not sent, and its value is dropped with it; to keep the value, make the future before, and give the select a reference:
///
/// ```
/// # use spinpark::{chan, select};
/// # let runtime = spinpark::Runtime::builder().procs(1).build()?;
/// # runtime.block_on(async {
/// let (sender, _receiver) = chan::rendezvous();
/// let mut sending = sender.send("precious");
/// select! {
///     _ = &mut sending => unreachable!("nobody receives"),
///     default => assert_eq!(sending.into_inner(), Some("precious")),
/// }
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A case may be an `Option` of a send or a receive; `None` is never ready (Go: a nil channel). A future that was not
/// chosen is dropped; so use references to those that must go on, too.
///
/// A channel's case whose partner came takes effect even if a future is ready by the time the task runs: futures are not
/// polled then. While it waits, a select has its place in the lines of all its channels; polled for another reason than
/// one of them, it goes to their ends.
///
/// The future that it makes can be dropped at any time, as those of the cases can.
///
/// # Panics
/// When polled, if a case is a reference to a send or a receive that has ended; or, with `timeout`, outside of a runtime.
#[macro_export]
macro_rules! select {
    (await { $($cases:tt)* }) => { $crate::__select!(@parse [await] [] [] $($cases)*) };
    (wait { $($cases:tt)* }) => { $crate::__select!(@parse [wait()] [] [] $($cases)*) };
    ($($cases:tt)*) => { $crate::__select!(@parse [await] [] [] $($cases)*) };
}

/// The inside of [`select!`]: first the list of cases is made, one after the other; then the future, and the `match`.
#[doc(hidden)]
#[macro_export]
macro_rules! __select {
    // The head of a case. What there is besides the cases is not one of the list.
    (@parse $how:tt $cases:tt [] default => $($rest:tt)+) => {
        $crate::__select!(@body $how $cases [] {besides $crate::runtime::sync::select::AtOnce} $($rest)+)
    };
    (@parse $how:tt $cases:tt [] timeout($time:expr) => $($rest:tt)+) => {
        $crate::__select!(@body $how $cases [] {besides $crate::time::sleep($time)} $($rest)+)
    };
    (@parse $how:tt $cases:tt $besides:tt default => $($rest:tt)+) => {
        compile_error!("select!: one `default` or one `timeout`, not both, nor two")
    };
    (@parse $how:tt $cases:tt $besides:tt timeout($time:expr) => $($rest:tt)+) => {
        compile_error!("select!: one `default` or one `timeout`, not both, nor two")
    };
    (@parse $how:tt $cases:tt $besides:tt $value:pat = $case:expr => $($rest:tt)+) => {
        $crate::__select!(@body $how $cases $besides {case $value, $case} $($rest)+)
    };

    // Its body: as in a match, a block needs no comma.
    (@body $how:tt $cases:tt $besides:tt $head:tt $body:block , $($rest:tt)*) => {
        $crate::__select!(@add $how $cases $besides $head {$body} $($rest)*)
    };
    (@body $how:tt $cases:tt $besides:tt $head:tt $body:block $($rest:tt)*) => {
        $crate::__select!(@add $how $cases $besides $head {$body} $($rest)*)
    };
    (@body $how:tt $cases:tt $besides:tt $head:tt $body:expr , $($rest:tt)*) => {
        $crate::__select!(@add $how $cases $besides $head {$body} $($rest)*)
    };
    (@body $how:tt $cases:tt $besides:tt $head:tt $body:expr) => {
        $crate::__select!(@add $how $cases $besides $head {$body})
    };
    (@add $how:tt [$($cases:tt)*] $besides:tt {case $value:pat, $case:expr} $body:tt $($rest:tt)*) => {
        $crate::__select!(@parse $how [$($cases)* {$value, $case, $body}] $besides $($rest)*)
    };
    (@add $how:tt $cases:tt [] {besides $besides:expr} $body:tt $($rest:tt)*) => {
        $crate::__select!(@parse $how $cases [$besides, $body] $($rest)*)
    };

    // All are known. What was chosen is kept first: so what was not is gone when the body runs.
    (@parse [$($how:tt)+] [$($cases:tt)*] []) => {{
        let selected = $crate::runtime::sync::select::Select::new(
            $crate::__select!(@cases $($cases)*),
            $crate::runtime::sync::select::Never,
        )
        .$($how)+;
        match selected {
            $crate::runtime::sync::select::Selected::Case(one) => $crate::__select!(@match one $($cases)*),
        }
    }};
    (@parse [$($how:tt)+] [$($cases:tt)*] [$besides:expr, $body:tt]) => {{
        let selected =
            $crate::runtime::sync::select::Select::new($crate::__select!(@cases $($cases)*), $besides).$($how)+;
        match selected {
            $crate::runtime::sync::select::Selected::Case(one) => $crate::__select!(@match one $($cases)*),
            $crate::runtime::sync::select::Selected::Otherwise(()) => $body,
        }
    }};

    (@cases) => { $crate::runtime::sync::select::End };
    (@cases {$value:pat, $case:expr, $body:tt} $($rest:tt)*) => {
        $crate::runtime::sync::select::More::new(
            match $case {
                case => {
                    #[allow(unused_imports)]
                    use $crate::runtime::sync::select::{OfChannel as _, OfFuture as _};
                    let kind = (&case).kind();
                    kind.case(case)
                }
            },
            $crate::__select!(@cases $($rest)*),
        )
    };

    (@match $one:ident) => { match $one {} };
    (@match $one:ident {$value:pat, $case:expr, $body:tt}) => {
        match $one {
            $crate::runtime::sync::select::One::First($value) => $body,
        }
    };
    (@match $one:ident {$value:pat, $case:expr, $body:tt} $($rest:tt)+) => {
        match $one {
            $crate::runtime::sync::select::One::First($value) => $body,
            $crate::runtime::sync::select::One::Later(later) => $crate::__select!(@match later $($rest)+),
        }
    };
}

static_assertions::assert_impl_all!(Ticket: Send, Sync);

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::RefCell;

    /// A case that is never ready, and tells what it sees.
    struct Spy<'a> {
        ticket: Option<Ticket>,
        /// When it was to give its seat back: could that still be served?
        seen: &'a RefCell<Vec<bool>>,
    }

    impl Case for Spy<'_> {
        type Output = ();

        fn attempt(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            assert!(self.ticket.is_none(), "tried while it has a seat");
            Poll::Pending
        }
        fn enlist(mut self: Pin<&mut Self>, ticket: Ticket, _: Waker) -> bool {
            self.ticket = Some(ticket);
            true
        }
        fn collect(mut self: Pin<&mut Self>) {
            self.ticket = None;
        }
        fn withdraw(mut self: Pin<&mut Self>) {
            if let Some(ticket) = self.ticket.take() {
                self.seen.borrow_mut().push(ticket.win());
            }
        }
    }

    fn waiting(seen: &RefCell<Vec<bool>>) -> Select<More<Spy<'_>, More<Spy<'_>, End>>, Never> {
        let spy = || Spy { ticket: None, seen };
        let mut select = Select::new(More::new(spy(), More::new(spy(), End)), Never);
        assert!(poll(&mut select).is_pending());
        select
    }

    fn poll<C: Cases + Unpin, O: Otherwise + Unpin>(select: &mut Select<C, O>) -> Poll<Selected<C::Output, O::Output>> {
        Pin::new(select).poll(&mut Context::from_waker(Waker::noop()))
    }

    mod before_it_gives_its_seats_back {
        use super::*;

        #[test]
        fn a_select_that_is_polled_again_cannot_be_served() {
            let seen = RefCell::new(Vec::new());
            let mut select = waiting(&seen);
            assert!(poll(&mut select).is_pending());
            assert_eq!(*seen.borrow(), [false, false]);
            let other = select.cases.rest.first.ticket.as_ref();
            assert!(other.is_some_and(Ticket::win), "waiting again, it can be served again");
        }

        #[test]
        fn a_select_that_is_dropped_cannot_be_served() {
            let seen = RefCell::new(Vec::new());
            drop(waiting(&seen));
            assert_eq!(*seen.borrow(), [false, false]);
        }

        #[test]
        fn one_that_was_served_is_not_again() {
            let seen = RefCell::new(Vec::new());
            let mut select = waiting(&seen);
            assert!(select.cases.rest.first.ticket.as_ref().is_some_and(Ticket::win));
            assert!(matches!(poll(&mut select), Poll::Ready(Selected::Case(One::Later(One::First(()))))));
            assert_eq!(*seen.borrow(), [false], "the first gives its seat back, the second has given what it got");
        }
    }
}
