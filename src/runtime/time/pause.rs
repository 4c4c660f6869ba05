//! Time that stands still, and jumps.

use crate::host::NEVER;
use crate::runtime::exec::context::Context;
use crate::runtime::exec::not_in_runtime::NotInRuntime;
use crate::runtime::exec::time_here;
use crate::runtime::exec::yielding::yield_now;
use crate::runtime::host::{clock, duration};
use crate::runtime::shared::Shared;
use core::time::Duration;

/// Runs `f` with the runtime around, whose timers are looked at after that.
fn change(what: &'static str, f: impl FnOnce(&Shared) -> bool, refused: &str) {
    let done = Context::with_runtime(|shared, _| {
        let is_simulated = shared.machine.is_any();
        assert!(!is_simulated, "{what} in a deterministic runtime, whose time jumps by itself");
        let done = f(shared);
        // The M that waits in the poller does so by what was true before.
        shared.timers.announce(0);
        done
    });
    assert!(done.unwrap_or_else(|| panic!("{}", NotInRuntime::new(what))), "{what}, and {refused}");
}

/// Lets the time of this runtime stand still, for tests: from now on it jumps to the next timer when all that the runtime does waits,
/// as from the beginning with [`Builder::start_paused`], which says more.
///
/// # Panics
/// If it stands still already; outside of a runtime, and in a [deterministic](crate::deterministic) one.
///
/// ```
/// use spinpark::{deterministic::now, time};
/// use std::time::{Duration, Instant};
///
/// let hour = Duration::from_secs(3600);
/// spinpark::run(async {
///     time::pause();
///     let (from, really) = (now(), Instant::now());
///     time::sleep(hour).await;
///     assert_eq!(now() - from, hour);
///     time::advance(hour).await;
///     assert_eq!(now() - from, 2 * hour);
///     assert!(really.elapsed() < hour / 60);
///     time::resume();
/// });
/// ```
///
/// [`Builder::start_paused`]: crate::Builder::start_paused
pub fn pause() {
    let host = clock::unpaused();
    change("time::pause was called", |shared| time_here::pause(shared, host), "time stands still already");
}

/// Lets the time of this runtime go on, from where it stands.
///
/// # Panics
/// If it does not stand still; outside of a runtime, and in a [deterministic](crate::deterministic) one. An example is at [`pause`].
pub fn resume() {
    let host = clock::unpaused();
    change("time::resume was called", |shared| shared.timers.clock.resume(host), "time does not stand still");
}

/// Lets the time of this runtime jump by so much, at once, though tasks run; then yields. All timers until then are due, and no task
/// has seen a moment between: for that, [`sleep`](crate::time::sleep()).
///
/// # Panics
/// When awaited: if time does not stand still; outside of a runtime, and in a [deterministic](crate::deterministic) one. An example is
/// at [`pause`].
///
/// # Cancel safety
/// A future that was dropped before it was polled has done nothing; after that, time has jumped.
pub async fn advance(by: Duration) {
    let by = duration::nanos(by).min(NEVER / 4);
    change("time::advance was called", |shared| shared.timers.clock.advance(by), "time does not stand still");
    yield_now().await;
}
