//! The steps of a `JoinSet`, the right ones unless a variant says otherwise.

use crate::harness::sleeper::{ParkWaker, Sleeper};
use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::{is_variant, variant};
use spinpark_kernel::waits::join_set::{Ended, JoinSet, State};
use spinpark_kernel::waits::waker::{Lender, wake};
use std::task::Poll;

/// A set whose joiner is a thread. A task is its number in the model.
pub type Set<H> = JoinSet<H, ParkWaker<H>, usize>;
/// Its list of those that have ended.
pub type List<H> = Ended<H, ParkWaker<H>>;

/// A task has ended. See [`Ended::put`].
pub fn put<H: ModelHost>(list: &List<H>, number: usize) {
    if is_variant("wakes-before-it-puts") {
        wake(list.with(State::take_joiner));
        return list.with(|state| state.put(number));
    }
    list.put(number);
}

/// One try of the joiner. See [`JoinSet::poll_next`].
pub fn poll<H: ModelHost>(set: &mut Set<H>, lender: &mut impl Lender<Waker = ParkWaker<H>>) -> Poll<Option<usize>> {
    match variant() {
        Some("looks-then-leaves-its-waker") => {
            if let Some(task) = set.try_next() {
                return Poll::Ready(Some(task));
            }
            let waker = lender.lend().expect("it is trusted");
            drop(set.ended().with(|state| state.leave_waker(waker)));
            Poll::Pending
        }
        Some("keeps-the-first-waker") => {
            if let Some(task) = set.try_next() {
                return Poll::Ready(Some(task));
            }
            let waker = lender.lend().expect("it is trusted");
            set.ended().with(|state| {
                let first = state.take_joiner().unwrap_or(waker);
                state.leave_waker(first);
            });
            Poll::Pending
        }
        _ => set.poll_next(lender),
    }
}

/// The joiner waits for the next. See [`JoinSet::poll_next`].
pub fn next<H: ModelHost>(set: &mut Set<H>, mut waits: impl FnMut()) -> Option<usize> {
    Sleeper::<H>::new().wait_for(|lender| {
        let polled = poll(set, lender);
        polled.is_pending().then(&mut waits);
        polled
    })
}

/// The tasks go on by themselves. See [`JoinSet::let_all_go`].
pub fn let_all_go<H: ModelHost>(set: &mut Set<H>) -> usize {
    if is_variant("lets-go-and-keeps-the-list") { set.take_tasks().count() } else { set.let_all_go().count() }
}
