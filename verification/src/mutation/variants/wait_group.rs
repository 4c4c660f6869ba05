//! The steps of a `WaitGroup` and of a `Cond`, the right ones unless a variant says otherwise.

use crate::harness::sleeper::{ParkWaker, Sleeper};
use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::{is_variant, variant};
use spinpark_kernel::host::Lock;
use spinpark_kernel::waits::cond::{Cond, Place};
use spinpark_kernel::waits::wait_group::{State, WaitGroup};
use spinpark_kernel::waits::waker::{Lender, Waker, wake};

/// A group whose waiters are threads.
pub type Group<H> = WaitGroup<H, ParkWaker<H>>;
/// A condition variable whose waiters are threads.
pub type Condition<H> = Cond<H, ParkWaker<H>>;

/// One has done. See [`WaitGroup::done`].
pub fn done<H: ModelHost>(group: &Group<H>) -> bool {
    match variant() {
        Some("wakes-at-one") => {
            let woken = group.with(|state| if state.count() == 2 { state.list().serve_all() } else { Vec::new() });
            wake(woken);
        }
        // It wakes the first, as if there were one.
        Some("wakes-the-first") => {
            let woken = group.with(|state| if state.count() == 1 { state.list().serve_all() } else { Vec::new() });
            woken.into_iter().take(1).for_each(Waker::wake);
        }
        _ => (),
    }
    group.done()
}

/// Waits. See [`WaitGroup::wait`].
pub fn wait<H: ModelHost>(group: &Group<H>, waits: impl Fn()) {
    let sleeper = Sleeper::<H>::new();
    if is_variant("enqueues-after-it-looked") {
        if group.with(|state| state.count()) == 0 {
            return;
        }
        let waker = sleeper.lender().lend();
        group.with(|state: &mut State<H, ParkWaker<H>>| state.list().enqueue(waker));
        return sleeper.park();
    }
    let mut wait = group.wait();
    sleeper.wait_for(|lender| {
        let polled = wait.poll(lender);
        polled.is_pending().then(&waits);
        polled
    });
}

/// Under the user's lock, asks `is_over`, and if it is not waits from there on. `true`: it was over. What std's and Go's
/// condition variables do in `wait`, and the runtime's at its first poll.
pub fn ask_or_enqueue<H: ModelHost, T: Send + 'static>(
    lock: &H::Lock<T>,
    place: &mut Place<'_, H, ParkWaker<H>>,
    sleeper: &Sleeper<H>,
    is_over: impl FnOnce(&mut T) -> bool,
) -> bool {
    let waker = sleeper.lender().lend().expect("it is trusted");
    if is_variant("enqueues-after-unlocking") {
        let is_over = lock.with(is_over);
        if !is_over {
            place.enqueue(waker);
        }
        return is_over;
    }
    lock.with(|value| {
        let is_over = is_over(value);
        if !is_over {
            place.enqueue(waker);
        }
        is_over
    })
}

/// Wakes all that wait. See [`Cond::notify_all`].
pub fn notify_all<H: ModelHost>(cond: &Condition<H>) {
    if is_variant("notifies-one-of-all") { cond.notify_one() } else { cond.notify_all() }
}

/// One that waited is dropped. See [`Place`].
pub fn give_up<H: ModelHost>(place: Place<'_, H, ParkWaker<H>>) {
    if is_variant("keeps-the-notification") { std::mem::forget(place) } else { drop(place) }
}
