//! The steps of a cancellation, the right ones unless a variant says otherwise.

use crate::harness::sleeper::{ParkWaker, Sleeper};
use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::{is_variant, variant};
use spinpark_kernel::waits::cancellation::Token;
use spinpark_kernel::waits::waker::{Lender, Waker, wake};

/// A token whose waiters are threads.
pub type ThreadToken<H> = Token<H, ParkWaker<H>>;

/// Cancels. See [`Token::cancel`].
pub fn cancel<H: ModelHost>(token: &ThreadToken<H>) {
    let (mut woken, mut most) = (Vec::new(), usize::MAX);
    match variant() {
        Some("marks-from-above") => token.with(|state, node| {
            for node in state.branch(node) {
                state.mark(node);
                state.serve_all(node, &mut woken);
            }
        }),
        Some("cancels-the-next-only") => token.with(|state, node| {
            for node in state.branch(node).into_iter().take(2).rev() {
                state.mark(node);
                state.serve_all(node, &mut woken);
            }
        }),
        Some("wakes-one") => {
            token.with(|state, node| {
                for node in state.branch(node).into_iter().rev() {
                    state.mark(node);
                    state.serve_all(node, &mut woken);
                }
            });
            most = 1;
        }
        _ => return token.cancel(),
    }
    for (n, waker) in woken.into_iter().enumerate() {
        if n < most { wake(Some(waker)) } else { waker.forget() }
    }
}

/// Makes a child. See [`Token::child`].
pub fn child<H: ModelHost>(token: &ThreadToken<H>) -> ThreadToken<H> {
    if is_variant("child-is-listed-later") {
        let is_cancelled = token.with(|state, node| state.is_cancelled(node));
        let (node, mark) = token.with(|state, node| state.insert_child(node, is_cancelled));
        return token.of(node, mark);
    }
    token.child()
}

/// Waits. See [`Token::poll`].
pub fn wait<H: ModelHost>(token: &ThreadToken<H>, mut waits: impl FnMut()) {
    let sleeper = Sleeper::<H>::new();
    if is_variant("looks-then-enqueues") {
        if token.with(|state, node| state.is_cancelled(node)) {
            return;
        }
        let waker = sleeper.lender().lend().expect("it is trusted");
        token.with(|state, node| state.enqueue(node, waker));
        return sleeper.park();
    }
    let mut waiter = None;
    sleeper.wait_for(|lender| {
        let polled = token.poll(&mut waiter, lender);
        polled.is_pending().then(&mut waits);
        polled
    });
}
