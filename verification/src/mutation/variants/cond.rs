//! The steps of a `Cond`, the right ones unless a variant says otherwise.

use crate::harness::sleeper::{ParkWaker, Sleeper};
use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::is_variant;
use spinpark_kernel::host::Lock;
use spinpark_kernel::waits::cond::{Cond, Place};
use spinpark_kernel::waits::waker::Lender;

/// A condition variable whose waiters are threads.
pub type Condition<H> = Cond<H, ParkWaker<H>>;

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
