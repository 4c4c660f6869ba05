//! The time on this thread, whichever host it is on: for what is asked for the time without knowing for which runtime.

use crate::host::{Host, Nanos};
use crate::runtime::host::cores::Cores;
use crate::runtime::host::sim;
use std::sync::OnceLock;
use std::time::Instant;

/// What a runtime shows instead of its host's time, once one was paused.
static SHOWN: OnceLock<fn(Nanos) -> Nanos> = OnceLock::new();

/// From now on the real time is shown as `shown` says.
pub(in crate::runtime) fn shown_by(shown: fn(Nanos) -> Nanos) {
    SHOWN.get_or_init(|| shown);
}

fn shown(host: Nanos) -> Nanos {
    SHOWN.get().map_or(host, |shown| shown(host))
}

/// What time it is, whether a runtime was paused or not.
pub(in crate::runtime) fn unpaused() -> Nanos {
    sim::now().unwrap_or_else(Cores::now)
}

/// What time it is: on the thread's machine, if it has one; else really, as its runtime shows it.
pub(in crate::runtime) fn now() -> Nanos {
    sim::now().unwrap_or_else(|| shown(Cores::now()))
}

/// The same, as the standard library's moment.
pub(in crate::runtime) fn instant() -> Instant {
    sim::instant().unwrap_or_else(|| match SHOWN.get() {
        None => Instant::now(),
        Some(_) => Cores::instant_of(now()),
    })
}

/// What the clock of [`now`] shows at that moment.
pub(in crate::runtime) fn nanos_of(moment: Instant) -> Nanos {
    sim::nanos_of(moment).unwrap_or_else(|| Cores::nanos_of(moment))
}

/// The moment at which the clock of [`now`] shows that. One that no `Instant` can show is as late as the clock may be now.
pub(in crate::runtime) fn instant_of(time: Nanos) -> Instant {
    sim::instant_of(time).unwrap_or_else(|| Cores::instant_of(time))
}

/// Any number below `n`: by the thread's machine, if it has one; else at random.
pub(in crate::runtime) fn choose(n: usize) -> usize {
    match sim::is_here() {
        true => sim::choose(n),
        false => Cores::choose(n),
    }
}
