//! The steps of a watched value, the right ones unless a variant says otherwise.

use crate::harness::sleeper::{ParkWaker, Sleeper};
use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::{is_variant, variant};
use spinpark_kernel::host::Lock;
use spinpark_kernel::waits::chan::errors::Closed;
use spinpark_kernel::waits::waker::{Lender, wake};
use spinpark_kernel::waits::watch::{self, Slot, State};

/// A value under a lock of the host's, which one reads at a time.
pub struct Value<H: ModelHost>(pub H::Lock<u64>);

impl<H: ModelHost> Slot for Value<H> {
    type Value = u64;
    type Ref<'a> = u64;

    fn read<R>(&self, f: impl FnOnce() -> R) -> (u64, R) {
        self.0.with(|value| (*value, f()))
    }

    fn write<R>(&self, f: impl FnOnce(&mut u64) -> R) -> R {
        self.0.with(f)
    }
}

/// A watched value whose senders and receivers are threads.
pub type Watch<H> = watch::Watch<H, ParkWaker<H>, Value<H>>;

/// A sender changes the value. See [`watch::Watch::modify`].
pub fn modify<H: ModelHost>(watch: &Watch<H>, change: impl FnOnce(&mut u64)) {
    let change = |value: &mut u64| {
        change(value);
        true
    };
    match variant() {
        Some("counts-before-it-writes") => {
            let woken = watch.with(State::count_version);
            wake(woken);
            watch.slot().write(change);
        }
        Some("wakes-the-first") => {
            let woken = watch.slot().write(|value| {
                change(value);
                watch.with(State::count_version)
            });
            wake(woken.into_iter().take(1));
        }
        _ => {
            watch.modify(change);
        }
    }
}

/// A sender sends this value. See [`watch::Watch::send`].
pub fn send<H: ModelHost>(watch: &Watch<H>, value: u64) {
    match variant() {
        None => _ = watch.send(value).expect("there is a receiver"),
        Some(_) => modify(watch, |old| *old = value),
    }
}

/// A receiver reads the value, and its version. See [`watch::Watch::read`].
pub fn read<H: ModelHost>(watch: &Watch<H>) -> (u64, u64) {
    if is_variant("reads-the-version-after") {
        let (value, ()) = watch.slot().read(|| ());
        return (value, watch.with(|state| state.version()));
    }
    watch.read()
}

/// A receiver waits for another version than the one it has seen. See [`watch::Watch::changed`].
pub fn changed<H: ModelHost>(watch: &Watch<H>, seen: u64, waits: impl Fn()) -> Result<u64, Closed> {
    let sleeper = Sleeper::<H>::new();
    if is_variant("enqueues-after-it-looked") {
        let look = |state: &mut State<H, ParkWaker<H>>| match (state.version(), state.senders()) {
            (now, _) if now != seen => Some(Ok(now)),
            (_, 0) => Some(Err(Closed)),
            _ => None,
        };
        loop {
            if let Some(found) = watch.with(look) {
                return found;
            }
            let waker = sleeper.lender().lend();
            watch.with(|state| state.changes().enqueue(waker));
            sleeper.park();
        }
    }
    let mut change = watch.changed();
    sleeper.wait_for(|lender| {
        let polled = change.poll(seen, lender);
        polled.is_pending().then(&waits);
        polled
    })
}

/// A sender is dropped. See [`watch::Watch::drop_sender`].
pub fn drop_sender<H: ModelHost>(watch: &Watch<H>) {
    if is_variant("ends-silently") {
        watch.with(State::drop_sender);
        return;
    }
    watch.drop_sender();
}

/// A receiver is dropped. See [`watch::Watch::drop_receiver`].
pub fn drop_receiver<H: ModelHost>(watch: &Watch<H>) {
    // Whether it was the last is looked at under another lock, before.
    if is_variant("counts-receivers-apart") {
        let is_last = watch.with(|state| state.receivers() == 1);
        let woken = watch.with(State::drop_receiver);
        return if is_last { wake(woken) } else { drop(woken) };
    }
    watch.drop_receiver();
}
