//! The steps of a barrier, the right ones unless a variant says otherwise.

use crate::harness::sleeper::{ParkWaker, Sleeper};
use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::{is_variant, variant};
use spinpark_kernel::waits::barrier::{self, Arrived, State};
use spinpark_kernel::waits::waker::{Lender, wake};

/// A barrier whose parties are threads.
pub type Barrier<H> = barrier::Barrier<H, ParkWaker<H>>;

/// Comes, and waits for the others. Does it lead? See [`barrier::Barrier::wait`].
pub fn wait<H: ModelHost>(barrier: &Barrier<H>, waits: impl Fn()) -> bool {
    let sleeper = Sleeper::<H>::new();
    if variant().is_some() {
        return wait_wrongly(barrier, &sleeper);
    }
    let mut wait = barrier.wait();
    sleeper.wait_for(|lender| {
        let polled = wait.poll(lender);
        polled.is_pending().then(&waits);
        polled
    })
}

fn wait_wrongly<H: ModelHost>(barrier: &Barrier<H>, sleeper: &Sleeper<H>) -> bool {
    let mut round = match barrier.with(State::arrive) {
        Arrived::Waits(round) => round,
        Arrived::Leads(woken) => {
            let most = if is_variant("wakes-the-first") { 1 } else { usize::MAX };
            wake(woken.into_iter().take(most));
            return true;
        }
    };
    if is_variant("reads-the-round-later") {
        round = barrier.with(|state| state.round());
    }
    let looks_apart = is_variant("enqueues-after-it-looked");
    loop {
        if barrier.with(|state| state.round() != round) {
            return false;
        }
        let waker = sleeper.lender().lend();
        let is_over = barrier.with(|state| {
            let is_over = !looks_apart && state.round() != round;
            if !is_over {
                state.list().enqueue(waker);
            }
            is_over
        });
        if is_over {
            return false;
        }
        sleeper.park();
    }
}
