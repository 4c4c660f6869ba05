//! A library with a runtime of its own in it, for tests/signals: loaded while the program runs, its thread locals are made
//! at their first touch.

use spinpark::Runtime;
use std::cell::Cell;
use std::hint;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

static RUNTIME: OnceLock<Runtime> = OnceLock::new();

/// Starts the runtime.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_start() {
    RUNTIME.get_or_init(|| Runtime::builder().procs(1).build().expect("a runtime"));
}

/// Does a task run beside one that computes, on the only P? It needs the signal.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_preempts() -> bool {
    static END: AtomicBool = AtomicBool::new(false);
    let runtime = RUNTIME.get().expect("it was started");
    drop(runtime.go(|| {
        while !END.load(SeqCst) {
            hint::spin_loop();
        }
    }));
    let other = runtime.spawn(async { END.store(true, SeqCst) });
    let from = Instant::now();
    while !other.is_finished() {
        if from.elapsed() > Duration::from_secs(10) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

/// What a handler must not do.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_touches_a_thread_local() {
    thread_local!(static LOCAL: Cell<[u8; 64]> = const { Cell::new([0; 64]) });
    LOCAL.with(|local| local.set(hint::black_box([1; 64])));
}
