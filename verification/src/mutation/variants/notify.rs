//! The steps of a `Notify`, the right ones unless a variant says otherwise.

use crate::harness::sleeper::{ParkWaker, Sleeper};
use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::{is_variant, variant};
use spinpark_kernel::waits::notify::{self, State};
use spinpark_kernel::waits::wait_list::Served;
use spinpark_kernel::waits::waker::{Lender, Waker, wake};

/// A `Notify` whose waiters are threads.
pub type Notify<H> = notify::Notify<H, ParkWaker<H>>;
/// A wait.
pub type Notified<'a, H> = notify::Notified<'a, H, ParkWaker<H>>;

/// Waits from now on. See [`notify::Notified::enable`].
pub fn enable<H: ModelHost>(notified: &mut Notified<'_, H>) -> bool {
    !is_variant("waits-from-its-first-poll") && notified.enable()
}

/// Waits to the end.
pub fn wait<'a, H: ModelHost>(notify: &'a Notify<H>, mut notified: Notified<'a, H>, waits: impl Fn()) {
    let sleeper = Sleeper::<H>::new();
    match variant() {
        // As if it were created now.
        Some("remembers-the-round-late") => notified = notify.notified(),
        Some("enqueues-after-it-looked") => {
            let round = notify.with(|state| state.rounds());
            if notify.with(|state| state.is_over(round, Served::No)) {
                return;
            }
            let waker = sleeper.lender().lend();
            notify.with(|state: &mut State<H, ParkWaker<H>>| state.list().enqueue(waker));
            return sleeper.park();
        }
        _ => (),
    }
    sleeper.wait_for(|lender| {
        let polled = notified.poll(lender);
        polled.is_pending().then(&waits);
        polled
    });
}

/// Notifies one. See [`notify::Notify::notify_one`].
pub fn notify_one<H: ModelHost>(notify: &Notify<H>) {
    if is_variant("keeps-no-permit") {
        let woken = notify.with(|state| state.list().serve_one());
        return wake(woken.flatten());
    }
    notify.notify_one();
}

/// Notifies all. See [`notify::Notify::notify_waiters`].
pub fn notify_waiters<H: ModelHost>(notify: &Notify<H>) {
    match variant() {
        Some("counts-after-it-served") => {
            let woken = notify.with(|state| state.list().serve_all());
            wake(woken);
            notify.notify_waiters();
        }
        Some("counts-before-it-serves") => {
            // Who waits is served here already, for want of a step that only counts; who comes in between is served below.
            let counted = notify.with(State::notify_waiters);
            wake(counted);
            let woken = notify.with(|state| state.list().serve_all());
            wake(woken);
        }
        Some("notifies-one-of-all") => {
            let woken = notify.with(State::notify_waiters);
            woken.into_iter().take(1).for_each(Waker::wake);
        }
        _ => notify.notify_waiters(),
    }
}

/// A wait is dropped. See [`notify::Notified`].
pub fn give_up<H: ModelHost>(notified: Notified<'_, H>) {
    if is_variant("keeps-the-notification") { std::mem::forget(notified) } else { drop(notified) }
}
