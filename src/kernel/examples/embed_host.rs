//! A host of one's own, without `std`: `cargo run --release --package spinpark-kernel --example embed_host`.
//!
//! `bare` is written as for a machine without an operating system: it uses `core` and `alloc` only. A lock spins, a
//! parker waits on its word, and a thread that the kernel asks for is a core that has nothing to do yet. Here threads
//! stand in for cores; on a machine, `run_core` is where each core goes after it has booted.

mod bare {
    extern crate alloc;

    use alloc::boxed::Box;
    use alloc::collections::VecDeque;
    use core::cell::UnsafeCell;
    use core::hint::spin_loop;
    use core::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release};
    use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, fence};
    use spinpark_kernel::host::{self, Host, Nanos, SpawnError};

    /// The machine.
    pub(crate) struct Bare;

    /// One word. Each method is one of the processor's.
    pub(crate) struct Word(AtomicU64);

    impl host::Word for Word {
        fn new(value: u64) -> Self {
            Word(AtomicU64::new(value))
        }
        fn load(&self, order: Ordering) -> u64 {
            self.0.load(order)
        }
        fn store(&self, value: u64, order: Ordering) {
            self.0.store(value, order);
        }
        fn swap(&self, value: u64, order: Ordering) -> u64 {
            self.0.swap(value, order)
        }
        fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
            self.0.fetch_add(value, order)
        }
        fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
            self.0.compare_exchange(current, new, success, failure)
        }
    }

    /// A lock that spins. The kernel holds it for a few hundred instructions, and never while it waits.
    pub(crate) struct Lock<T> {
        is_taken: AtomicBool,
        value: UnsafeCell<T>,
    }

    // SAFETY: only the thread that has taken the lock touches the value, and it is taken by one at a time.
    unsafe impl<T: Send> Sync for Lock<T> {}

    impl<T> Lock<T> {
        pub(crate) const fn of(value: T) -> Self {
            Lock { is_taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
        }

        pub(crate) fn enter<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
            // Acquire: what the last one did is seen.
            while self.is_taken.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
                spin_loop();
            }
            /// Opened on every way out, by a panic too.
            struct Opens<'a>(&'a AtomicBool);
            impl Drop for Opens<'_> {
                fn drop(&mut self) {
                    // Release: for the next.
                    self.0.store(false, Release);
                }
            }
            let _opens = Opens(&self.is_taken);
            // SAFETY: it is taken, by us; and `f` cannot keep the reference.
            f(unsafe { &mut *self.value.get() })
        }
    }

    impl<T: Send + 'static> host::Lock<T> for Lock<T> {
        fn new(value: T) -> Self {
            Lock::of(value)
        }
        fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
            self.enter(f)
        }
    }

    /// A core that has nothing to do. A real one would sleep until an interrupt (`hlt`, `wfi`), and the others send it one.
    pub(crate) struct Parker(AtomicBool);

    impl host::Parker for Parker {
        fn new() -> Self {
            Parker(AtomicBool::new(false))
        }
        fn park(&self) {
            // Acquire: what was done before the unpark that is consumed.
            while !self.0.swap(false, Acquire) {
                spin_loop();
            }
        }
        fn park_timeout(&self, nanos: Nanos) {
            let until = Bare::now().saturating_add(nanos);
            // Acquire: as in `park`.
            while !self.0.swap(false, Acquire) && Bare::now() < until {
                spin_loop();
            }
        }
        fn unpark(&self) {
            // AcqRel: an unpark that finds another brings what that one brought.
            self.0.swap(true, AcqRel);
        }
    }

    type Body = Box<dyn FnOnce() + Send>;

    /// What the next free core is to do.
    static BODIES: Lock<VecDeque<Body>> = Lock::of(VecDeque::new());
    /// How many cores have nothing to do.
    static FREE: AtomicUsize = AtomicUsize::new(0);
    static IS_OFF: AtomicBool = AtomicBool::new(false);

    impl Host for Bare {
        type Word = Word;
        type Lock<T: Send + 'static> = Lock<T>;
        type Parker = Parker;

        fn fence(order: Ordering) {
            fence(order);
        }
        fn relax() {
            (0..32).for_each(|_| spin_loop());
        }
        fn choose(n: usize) -> usize {
            // Any number will do; the kernel is correct for all of them.
            static STATE: AtomicU64 = AtomicU64::new(1);
            let drawn = STATE.fetch_add(0x9e37_79b9_7f4a_7c15, Relaxed);
            ((drawn ^ (drawn >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33) as usize % n
        }
        fn now() -> Nanos {
            // A real one reads its timer.
            static TICKS: AtomicU64 = AtomicU64::new(0);
            TICKS.fetch_add(100, Relaxed)
        }
        /// A core for each thread, and no more: the kernel keeps the work if there is none.
        fn spawn(_name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
            FREE.fetch_update(AcqRel, Relaxed, |free| free.checked_sub(1))
                .map_err(|_| SpawnError { os_error: None })?;
            BODIES.enter(|bodies| bodies.push_back(Box::new(body)));
            Ok(())
        }
    }

    /// The life of a core.
    pub(crate) fn run_core() {
        while !IS_OFF.load(Acquire) {
            FREE.fetch_add(1, AcqRel);
            loop {
                if let Some(body) = BODIES.enter(VecDeque::pop_front) {
                    body();
                    break;
                }
                // Acquire: with the Release of `power_off`.
                if IS_OFF.load(Acquire) {
                    return;
                }
                spin_loop();
            }
        }
    }

    /// Every core comes out of `run_core` when it has nothing to do.
    pub(crate) fn power_off() {
        IS_OFF.store(true, Release);
    }

    /// Has some core nothing to do?
    pub(crate) fn is_ready() -> bool {
        FREE.load(Acquire) > 0
    }
}

use bare::Bare;
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::types::g::G;
use std::error::Error;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const GS: u64 = 1000;
static SUM: AtomicU64 = AtomicU64::new(0);
static RAN: AtomicU64 = AtomicU64::new(0);

/// G `n` adds its number, and readies the one after the next thousand, up to two thousand.
fn live(sched: &Arc<Sched<Bare>>, mut worker: Worker) {
    while let Some((mine, g)) = sched.next(worker) {
        worker = mine;
        let n = g.into_raw().get();
        if n <= GS {
            sched.ready(&mut worker, numbered(n + GS));
        }
        // Relaxed, both: they only count. `close` waits for this M, and orders them before they are read at the end.
        SUM.fetch_add(n, Relaxed);
        RAN.fetch_add(1, Relaxed);
    }
}

fn numbered(n: u64) -> G {
    G::from_raw(NonZeroU64::new(n).expect("numbers begin at 1"))
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let config = Config { procs: 2, max_ms: 2, keep_alive: u64::MAX, ..Config::default() };
    let sched = Sched::<Bare>::new(config, (), live)?;
    std::thread::scope(|machine| {
        (0..2).for_each(|_| drop(machine.spawn(bare::run_core)));
        while !bare::is_ready() {
            std::hint::spin_loop();
        }
        for n in 1..=GS {
            sched.submit(numbered(n)).expect("it is open");
        }
        // Relaxed: only how many; `close` orders the rest.
        while RAN.load(Relaxed) < 2 * GS {
            std::thread::yield_now();
        }
        assert!(sched.close().is_empty(), "all have run");
        bare::power_off();
    });
    println!("two cores without an operating system: {GS} Gs were submitted from outside, and each readied one more");
    // Relaxed, here and below: the Ms have ended.
    println!("{} ran, each once: their numbers add up to {}", RAN.load(Relaxed), SUM.load(Relaxed));
    assert_eq!(SUM.load(Relaxed), (1..=2 * GS).sum());
    Ok(())
}
