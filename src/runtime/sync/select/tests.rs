use super::*;
use crate::runtime::sync::select::case::{Case, End, More, One};
use core::cell::RefCell;
use core::task::Waker;

/// A case that is never ready, and tells what it sees.
struct Spy<'a> {
    ticket: Option<Ticket>,
    /// When it was to dequeue its waiter: could that still be served?
    seen: &'a RefCell<Vec<bool>>,
}

impl Case for Spy<'_> {
    type Output = ();

    fn attempt(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        assert!(self.ticket.is_none(), "tried while it has a waiter");
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

/// Whatever comes fits, or nothing does.
type Fits = fn(()) -> Option<()>;
type Spies<'a> = More<Spy<'a>, Fits, More<Spy<'a>, Fits, End>>;

fn waiting(seen: &RefCell<Vec<bool>>) -> Select<Spies<'_>, Never> {
    waiting_for(seen, Some)
}

fn waiting_for(seen: &RefCell<Vec<bool>>, fits: Fits) -> Select<Spies<'_>, Never> {
    let spy = || Spy { ticket: None, seen };
    let mut choice = Choice::new(false, false);
    choice.add(true);
    choice.add(true);
    let mut select = Select::new(More::new(spy(), fits, More::new(spy(), fits, End)), Never, choice);
    assert!(poll(&mut select).is_pending());
    select
}

fn poll<C: Cases + Unpin, O: Otherwise + Unpin>(select: &mut Select<C, O>) -> Poll<Selected<C::Output, O::Output>> {
    Pin::new(select).poll(&mut Context::from_waker(Waker::noop()))
}

mod before_it_dequeues_its_waiters {
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
    fn one_that_was_served_with_what_does_not_fit_waits_for_the_other_case() {
        let seen = RefCell::new(Vec::new());
        let mut select = waiting_for(&seen, |()| None);
        assert!(select.cases.first.ticket.as_ref().is_some_and(Ticket::win));
        assert!(poll(&mut select).is_pending());
        assert!(select.cases.first.ticket.is_none(), "it has no waiter any more");
        assert!(select.cases.rest.first.ticket.as_ref().is_some_and(Ticket::win));
        assert!(matches!(poll(&mut select), Poll::Ready(Selected::Else)), "no case is left");
    }

    #[test]
    fn one_that_was_served_is_not_again() {
        let seen = RefCell::new(Vec::new());
        let mut select = waiting(&seen);
        assert!(select.cases.rest.first.ticket.as_ref().is_some_and(Ticket::win));
        assert!(matches!(poll(&mut select), Poll::Ready(Selected::Case(One::Later(One::First(()))))));
        assert_eq!(*seen.borrow(), [false], "the first dequeues its waiter, the second has given what it got");
    }
}
