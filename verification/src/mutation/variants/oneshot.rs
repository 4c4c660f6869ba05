//! The steps of a oneshot, the right ones unless a variant says otherwise.

use crate::harness::sleeper::{ParkWaker, Sleeper};
use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::{is_variant, variant};
use spinpark_kernel::host::Host;
use spinpark_kernel::waits::chan::errors::{Closed, TryRecvError};
use spinpark_kernel::waits::oneshot::{self, State, Waits};

/// A oneshot whose ends are threads.
pub type Oneshot<H, T> = oneshot::Oneshot<T, ParkWaker<H>, <H as Host>::Lock<State<T, ParkWaker<H>>>>;

/// The sender sends. See [`oneshot::Oneshot::send`].
pub fn send<H: ModelHost, T: Send + 'static>(oneshot: &Oneshot<H, T>, value: T) -> Result<(), T> {
    match variant() {
        // Whether anybody receives is looked at under another lock.
        Some("looks-and-puts-apart") => {
            if oneshot.with(|state| state.is_closed()) {
                oneshot.drop_sender();
                return Err(value);
            }
            let (sent, left) = oneshot.with(|state| (state.put(value), state.sender_gone()));
            left.settle();
            // It was there.
            sent.map_err(drop).unwrap_or_default();
            Ok(())
        }
        _ => oneshot.send(value),
    }
}

/// The sender is dropped. See [`oneshot::Oneshot::drop_sender`].
pub fn drop_sender<H: ModelHost, T: Send + 'static>(oneshot: &Oneshot<H, T>) {
    if is_variant("drops-silently") {
        drop(oneshot.with(State::sender_gone));
        return;
    }
    oneshot.drop_sender();
}

/// The receiver receives; waits if it has to. See [`oneshot::Oneshot::poll_recv`].
pub fn receive<H: ModelHost, T: Send + 'static>(oneshot: &Oneshot<H, T>, waits: impl Fn()) -> Result<T, Closed> {
    let sleeper = Sleeper::<H>::new();
    sleeper.wait_for(|lender| {
        let polled = if is_variant("looks-and-waits-apart") {
            match oneshot.try_recv() {
                Ok(value) => Ok(value).into(),
                Err(TryRecvError::Closed) => Err(Closed).into(),
                Err(TryRecvError::Empty) => {
                    let waiting = oneshot.with(|state| state.receiver_waits(lender));
                    assert!(matches!(waiting, Waits::Yes(_)), "its copy is trusted");
                    std::task::Poll::Pending
                }
            }
        } else {
            oneshot.poll_recv(lender)
        };
        polled.is_pending().then(&waits);
        polled
    })
}

/// The receiver closes. See [`oneshot::Oneshot::close`].
pub fn close<H: ModelHost, T: Send + 'static>(oneshot: &Oneshot<H, T>) {
    if is_variant("closes-silently") {
        drop(oneshot.with(State::receiver_gone));
        return;
    }
    oneshot.close();
}

/// The receiver is dropped. See [`oneshot::Oneshot::drop_receiver`].
pub fn drop_receiver<H: ModelHost, T: Send + 'static>(oneshot: &Oneshot<H, T>) {
    match variant() {
        Some("leaves-the-value") => oneshot.close(),
        // What was sent by then; what comes in between is not seen.
        Some("takes-before-it-closes") => {
            let value = oneshot.with(|state| state.take());
            drop(value);
            oneshot.close();
        }
        _ => oneshot.drop_receiver(),
    }
}
