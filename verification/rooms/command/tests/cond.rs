//! What a user of `Cond` has to do: a task that waits is enqueued while it holds the lock under which it has looked.

use kernel::host::Lock as _;
use kernel::waits::cond::Cond;
use kernel::waits::waker::{Lender as _, forget};
use rc11::engine::{Config, Report, explore};
use spinpark_rooms::host::{Lock, Rc11, RoomHost as _};
use spinpark_rooms::wakers::{Sleeper, Wakes};
use std::sync::Arc;

/// A task waits for a change; another makes it under the lock, and notifies one.
fn a_wait_beside_a_change(is_enqueued_under_the_lock: bool) -> Report {
    let body = move || {
        let shared = Arc::new((Lock::new(false), Cond::<Rc11, Wakes<Rc11>>::new()));
        let other = Arc::clone(&shared);
        Rc11::start(Box::new(move || {
            other.0.with(|has_changed| *has_changed = true);
            other.1.notify_one();
        }));
        let (lock, cond) = &*shared;
        let (sleeper, mut place) = (Sleeper::<Rc11>::new(), cond.place());
        let mut lender = sleeper.lends(true);
        let mut waker = lender.lend();
        let has_changed = lock.with(|has_changed| {
            if !*has_changed && is_enqueued_under_the_lock {
                place.enqueue(waker.take().expect("it is trusted"));
            }
            *has_changed
        });
        if !has_changed {
            waker.take().into_iter().for_each(|waker| place.enqueue(waker));
            while place.poll(&mut lender).is_pending() {
                sleeper.park();
            }
            place.goes_on();
        }
        forget(waker);
        String::from(if has_changed { "had changed" } else { "waited" })
    };
    explore(&Config::default(), body, |_| ())
}

mod a_task_that_waits {
    use super::*;

    #[test]
    fn misses_no_change_if_it_is_enqueued_under_the_lock() {
        let report = a_wait_beside_a_change(true);
        assert!(report.is_proof() && report.tally.outcomes.keys().eq(["had changed", "waited"]));
    }

    #[test]
    fn sleeps_for_ever_if_it_is_enqueued_after_it_has_unlocked() {
        assert!(a_wait_beside_a_change(false).failure.is_some());
    }
}
