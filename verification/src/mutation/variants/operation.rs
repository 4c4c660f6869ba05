//! The steps of an operation, the right ones unless a variant says otherwise.

use crate::harness::sleeper::{ParkWaker, Sleeper};
use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::{is_variant, variant};
use spinpark_kernel::host::Host;
use spinpark_kernel::waits::operation::{self, Left, State};
use spinpark_kernel::waits::waker::{Waits, forget, wake};
use std::task::Poll;

/// An operation that a thread waits for.
pub type Operation<H, B> = operation::Operation<B, u64, ParkWaker<H>, <H as Host>::Lock<State<B, u64, ParkWaker<H>>>>;

/// The system has done with it. See [`operation::Operation::complete`].
pub fn complete<H: ModelHost, B: Send + 'static>(operation: &Operation<H, B>, result: u64) {
    match variant() {
        Some("completes-silently") => {
            let Left { wakes, frees, .. } = operation.complete(result);
            forget(wakes);
            drop(frees);
        }
        // Whether the task has given up is looked at under another lock.
        Some("looks-and-completes-apart") => {
            let has_given_up = operation.with(|state| state.has_given_up());
            let Left { wakes, frees, .. } = operation.complete(result);
            wake(wakes);
            match has_given_up {
                true => drop(frees),
                // It believes that the task takes it.
                false => std::mem::forget(frees),
            }
        }
        _ => {
            operation.complete(result).settle();
        }
    }
}

/// The task waits. See [`operation::Operation::poll`].
pub fn wait<H: ModelHost, B: Send + 'static>(operation: &Operation<H, B>, waits: impl Fn()) -> (B, u64) {
    let sleeper = Sleeper::<H>::new();
    sleeper.wait_for(|lender| {
        let polled = if is_variant("looks-and-waits-apart") {
            match operation.with(State::take) {
                Some(taken) => Poll::Ready(taken),
                None => {
                    let waiting = operation.with(|state| state.waits(lender));
                    assert!(matches!(waiting, Waits::Yes(_)), "its copy is trusted");
                    Poll::Pending
                }
            }
        } else {
            operation.poll(lender)
        };
        polled.is_pending().then(&waits);
        polled
    })
}

/// The task gives up. See [`operation::Operation::give_up`].
pub fn give_up<H: ModelHost, B: Send + 'static>(operation: &Operation<H, B>) -> bool {
    match variant() {
        // It frees what the system may still use.
        Some("frees-what-is-used") => {
            let left = operation.with(|state| {
                let is_under_way = !state.is_complete();
                let freed = state.completes(0);
                (freed, state.gives_up(), is_under_way)
            });
            left.0.settle();
            left.1.settle();
            left.2
        }
        // Whether it is complete is looked at under another lock.
        Some("looks-and-gives-up-apart") => {
            let is_complete = operation.with(|state| state.is_complete());
            let left = operation.with(State::gives_up);
            if is_complete {
                return left.settle();
            }
            // It believes that the other side frees it.
            std::mem::forget(left);
            true
        }
        _ => operation.give_up(),
    }
}
