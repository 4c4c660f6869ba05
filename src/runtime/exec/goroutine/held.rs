//! How many goroutines wait with their threads. A program that comes from Go may have thousands, and learns here that each costs a thread.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicUsize};
use std::io::{self, Write};

/// More than so many are worth a line.
const MANY: usize = 64;

static WAITING: AtomicUsize = AtomicUsize::new(0);
static IS_SAID: AtomicBool = AtomicBool::new(false);

/// A goroutine, or a future that calls `wait`, holds its thread while it waits.
pub(super) struct Held(());

impl Held {
    pub(super) fn new() -> Held {
        // Relaxed: a count, of which nothing but the line depends.
        let waiting = WAITING.fetch_add(1, Relaxed) + 1;
        // Relaxed: one exchange finds `false`.
        if waiting > MANY && !IS_SAID.swap(true, Relaxed) {
            say();
        }
        Held(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Relaxed: as in `new`.
        WAITING.fetch_sub(1, Relaxed);
    }
}

#[cold]
fn say() {
    // Without a place to write there is no reader of it.
    let _ = writeln!(
        io::stderr(),
        "spinpark: more than {MANY} tasks wait with a thread each, as goroutines without a stack of their own do. Use futures (`spawn`), or \
         stacks (`unsafe Builder::stackful_goroutines`, `#[spinpark::main(unsafe(stackful))]`). This is said once."
    );
}
