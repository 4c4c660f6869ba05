//! The steps of a semaphore, the right ones unless a variant says otherwise.

use crate::harness::sleeper::{ParkWaker, Sleeper};
use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::{is_variant, variant};
use spinpark_kernel::waits::semaphore::{self, Refused, State};
use spinpark_kernel::waits::waker::{Lender, wake};

/// A semaphore whose waiters are threads.
pub type Semaphore<H> = semaphore::Semaphore<H, ParkWaker<H>>;
/// One that wants some.
pub type Acquire<'a, H> = semaphore::Acquire<'a, H, ParkWaker<H>>;

/// Waits to the end. See [`semaphore::Acquire::poll`].
pub fn acquire<H: ModelHost>(semaphore: &Semaphore<H>, n: usize, waits: impl Fn()) -> Result<(), Refused> {
    let sleeper = Sleeper::<H>::new();
    if is_variant("semaphore-enqueues-after-it-looked") {
        if semaphore.try_acquire(n).is_ok() {
            return Ok(());
        }
        waits();
        let waker = sleeper.lender().lend();
        let key = semaphore.with(|state| state.enqueue(n, waker));
        sleeper.park();
        semaphore.with(|state| state.leave(key));
        return Ok(());
    }
    let mut acquire = semaphore.acquire(n);
    sleeper.wait_for(|lender| {
        let polled = acquire.poll(lender);
        polled.is_pending().then(&waits);
        polled
    })
}

/// Takes some, if they are free. See [`semaphore::Semaphore::try_acquire`].
pub fn try_acquire<H: ModelHost>(semaphore: &Semaphore<H>, n: usize) -> Result<(), Refused> {
    if is_variant("semaphore-lets-a-newcomer-overtake") {
        let takes = |state: &mut State<H, ParkWaker<H>>| state.free() >= n && state.forget(n) == n;
        return if semaphore.with(takes) { Ok(()) } else { Err(Refused::NoPermits) };
    }
    semaphore.try_acquire(n)
}

/// Gives some back. See [`semaphore::Semaphore::release`].
pub fn release<H: ModelHost>(semaphore: &Semaphore<H>, n: usize) {
    match variant() {
        Some("semaphore-serves-one-of-two") => {
            let woken = semaphore.with(|state| {
                let _ = state.put(n);
                state.serve_one()
            });
            wake(woken.flatten());
        }
        Some("semaphore-counts-after-it-served") => {
            let woken = semaphore.with(State::serve);
            wake(woken);
            let _ = semaphore.with(|state| state.put(n));
        }
        _ => assert!(semaphore.release(n).is_ok(), "there are few"),
    }
}

/// From now on no waiter gets any. See [`semaphore::Semaphore::close`].
pub fn close<H: ModelHost>(semaphore: &Semaphore<H>) {
    if is_variant("semaphore-is-closed-to-newcomers-alone") {
        let woken = semaphore.with(State::close);
        return drop(woken);
    }
    semaphore.close();
}

/// One that wants some is dropped. See [`semaphore::Acquire`].
pub fn give_up<H: ModelHost>(acquire: Acquire<'_, H>) {
    if is_variant("semaphore-keeps-what-a-dropped-one-has") { std::mem::forget(acquire) } else { drop(acquire) }
}
