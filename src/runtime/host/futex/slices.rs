//! Elsewhere, where no futex has a timeout that is known here: short sleeps. In tests everywhere.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// Waits while `expected` is in the word, for `time` at the most.
pub(super) fn wait_timeout(word: &AtomicU32, expected: u32, time: Duration) {
    const SLICE: Duration = Duration::from_millis(1);
    let start = Instant::now();
    // Relaxed: the sleeper acquires when it takes the token.
    while word.load(Relaxed) == expected {
        let left = time.saturating_sub(start.elapsed());
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(SLICE));
    }
}
