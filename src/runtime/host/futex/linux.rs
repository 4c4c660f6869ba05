//! Linux: a futex that the thread leaves by itself when the time is over.

use core::num::NonZeroU64;
use core::sync::atomic::AtomicU32;
use rustix::thread::futex::{Flags, Timespec, wait};
use rustix::thread::{current_timer_slack, set_current_timer_slack};
use std::time::Duration;

/// Waits while `expected` is in the word, for `time` at the most.
pub(super) fn wait_timeout(word: &AtomicU32, expected: u32, time: Duration) {
    // 64 bits of nanoseconds always fit.
    let time = Timespec::try_from(time).ok();
    // Private, as atomic_wait's are: else its `wake_one` would not find us. Another value, time over, a signal:
    // the sleeper goes on in the same way, so which of them it was is not looked at.
    let wait = || _ = wait(word, Flags::PRIVATE, expected, time.as_ref());
    if time.is_some_and(|time| time.tv_sec == 0 && time.tv_nsec < 1_000_000) { punctually(wait) } else { wait() }
}

/// The system wakes a thread up to 50 us late, to wake several at once: not this one, which sleeps for less than a
/// millisecond. Put back at once, since threads inherit it.
fn punctually(wait: impl FnOnce()) {
    let usual = current_timer_slack().ok().and_then(NonZeroU64::new);
    // Where it is forbidden, the thread is late.
    let is_set = usual.is_some() && set_current_timer_slack(Some(NonZeroU64::MIN)).is_ok();
    wait();
    if is_set {
        _ = set_current_timer_slack(usual);
    }
}
