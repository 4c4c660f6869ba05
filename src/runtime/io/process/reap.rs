//! Children that no task waits for any more.

use std::process::Child;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// For which no thread could be started. They are looked at whenever another child is started or dropped.
static LEFT: Mutex<Vec<Child>> = Mutex::new(Vec::new());

/// Takes `child`'s status from the system when it has ended: a thread waits for that.
pub(super) fn later(child: Child) {
    sweep();
    let place = Arc::new(Mutex::new(Some(child)));
    let take = {
        let place = Arc::clone(&place);
        move || place.lock().unwrap_or_else(PoisonError::into_inner).take()
    };
    let waits = {
        let take = take.clone();
        move || take().map(|mut child| child.wait())
    };
    if thread::Builder::new().name("spinpark-reaper".into()).stack_size(64 << 10).spawn(waits).is_err() {
        LEFT.lock().unwrap_or_else(PoisonError::into_inner).extend(take());
    }
}

/// Takes the status of those that have ended and were left.
pub(super) fn sweep() {
    let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    // One that other code has waited for is an error, and gone as well.
    left.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::time::{Duration, Instant};

    #[test]
    fn a_child_that_was_left_is_reaped_by_the_next() {
        let child = Command::new("true").spawn().expect("started");
        let stat = format!("/proc/{}/stat", child.id());
        LEFT.lock().unwrap_or_else(PoisonError::into_inner).push(child);
        let from = Instant::now();
        while std::fs::exists(&stat).expect("/proc can be read") {
            sweep();
            assert!(from.elapsed() < Duration::from_secs(20), "it is a zombie");
            thread::sleep(Duration::from_millis(5));
        }
    }
}
