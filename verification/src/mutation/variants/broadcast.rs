//! The steps of a broadcast, the right ones unless a variant says otherwise.

use crate::harness::sleeper::{ParkWaker, Sleeper};
use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::{is_variant, variant};
use spinpark_kernel::host::Host;
use spinpark_kernel::waits::broadcast::{self, Missing, Put, State, own};
use spinpark_kernel::waits::chan::errors::SendError;
use spinpark_kernel::waits::waker::{Lender, wake};
use std::sync::Arc;

/// A broadcast whose ends are threads.
pub type Broadcast<H, T> = broadcast::Broadcast<H, T, ParkWaker<H>, <H as Host>::Lock<State<H, T, ParkWaker<H>>>>;

/// A sender sends. See [`broadcast::Broadcast::send`].
pub fn send<H: ModelHost, T: Send + Sync + 'static>(
    broadcast: &Broadcast<H, T>,
    value: T,
) -> Result<usize, SendError<T>> {
    if is_variant("wakes-the-first") {
        let put = broadcast.with(|state| state.put(Arc::new(value)));
        let Ok(Put { woken, receivers, .. }) = put else { panic!("broadcast: there is no receiver") };
        wake(woken.into_iter().take(1));
        return Ok(receivers);
    }
    broadcast.send(value)
}

/// A receiver receives the value of number `next`; waits if it has to. See [`broadcast::Broadcast::recv`].
pub fn receive<H: ModelHost, T: Clone + Send + Sync + 'static>(
    broadcast: &Broadcast<H, T>,
    next: &mut u64,
    waits: impl Fn(),
) -> Result<T, Missing> {
    let sleeper = Sleeper::<H>::new();
    if is_variant("looks-and-waits-apart") {
        loop {
            if let Some(found) = broadcast.with(|state| state.take(next)) {
                return found.map(own);
            }
            let waker = sleeper.lender().lend();
            broadcast.with(|state| state.values().enqueue(waker));
            sleeper.park();
        }
    }
    // It has no number of its own: it counts from the oldest that is there.
    if is_variant("passes-over-what-it-missed") {
        let oldest = broadcast.with(|state| state.next_number() - state.len() as u64);
        *next = oldest.max(*next);
    }
    let mut recv = broadcast.recv();
    let received = sleeper.wait_for(|lender| {
        let polled = recv.poll(next, lender);
        polled.is_pending().then(&waits);
        polled
    });
    received.map(own)
}

/// One more receiver. See [`State::add_receiver`].
pub fn subscribe<H: ModelHost, T: Send + Sync + 'static>(broadcast: &Broadcast<H, T>) -> u64 {
    if is_variant("subscribes-apart") {
        let next = broadcast.with(|state| state.next_number());
        broadcast.with(State::add_receiver);
        return next;
    }
    broadcast.with(State::add_receiver)
}

/// A sender is dropped. See [`broadcast::Broadcast::drop_sender`].
pub fn drop_sender<H: ModelHost, T: Send + Sync + 'static>(broadcast: &Broadcast<H, T>) {
    if is_variant("ends-silently") {
        drop(broadcast.with(State::drop_sender));
        return;
    }
    broadcast.drop_sender();
}

/// A receiver is dropped, that would have read number `next`. See [`broadcast::Broadcast::drop_receiver`].
pub fn drop_receiver<H: ModelHost, T: Send + Sync + 'static>(broadcast: &Broadcast<H, T>, next: u64) {
    match variant() {
        // As if it had read everything.
        Some("leaves-its-share") => {
            let last = broadcast.with(|state| state.next_number());
            broadcast.drop_receiver(last);
        }
        _ => broadcast.drop_receiver(next),
    }
}
