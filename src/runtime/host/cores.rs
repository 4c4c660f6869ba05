//! The host that is real: the processor's atomics, the system's threads.
//!
//! The words and the lock vanish into the instructions that they stand for, which tests/codegen.rs shows of the machine
//! code; and nothing here knows that there is a host that is simulated.

use crate::host::{Host, Lock, Nanos, SpawnError};
use crate::runtime::host::cheaprand::random_below;
use crate::runtime::host::duration;
use crate::runtime::host::foreign_threads::Known;
use crate::runtime::host::futex::FutexParker;
use crate::runtime::host::template::Template;
use crate::runtime::host::thread_config::Wanted;
use core::sync::atomic::{AtomicU64, Ordering};
use std::io;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

/// Real cores.
#[derive(Debug)]
pub struct Cores;

/// When the clock was first asked.
#[inline]
fn start() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    *START.get_or_init(Instant::now)
}

/// What threads are started from, when a task is bound to the thread that needs one. `None` in it: it could not be started.
static TEMPLATE: OnceLock<Option<Template<Cores>>> = OnceLock::new();

/// How many hints to the processor take about a microsecond: one is 20 to 140 cycles long on x86 (`pause`), and about as long on 64-bit Arm,
/// where it is `isb`. Elsewhere it is an instruction that does nothing, of one cycle, and beside it stands the loop.
const HINTS: u32 =
    if cfg!(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")) { 32 } else { 1024 };

impl Cores {
    /// A task is about to be bound to this thread for the first time: there has to be a thread that stays clean. If the system gives
    /// none, threads are started from wherever one is wanted. `is_bound`: is a task bound to the thread that calls it?
    pub(in crate::runtime) fn prepare_template(is_bound: fn() -> bool) {
        TEMPLATE.get_or_init(|| Template::start(is_bound));
    }

    /// What the clock shows at that moment, or as much as it can. This does not ask for the time.
    pub(in crate::runtime) fn nanos_of(moment: Instant) -> Nanos {
        duration::nanos_of(moment, start())
    }

    /// The moment at which this host's clock shows that time.
    pub(in crate::runtime) fn instant_of(time: Nanos) -> Instant {
        duration::instant_of(time, start()).unwrap_or_else(Instant::now)
    }
}

/// Starts a thread: from here, or, if a task is bound to this thread, from a clean one.
#[inline(never)] // std looks at thread locals
fn start_thread(wanted: Wanted, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    match TEMPLATE.get().and_then(Option::as_ref).filter(|template| template.is_bound()) {
        Some(template) => template.spawn(wanted.builder(), body),
        None => wanted.builder().spawn(body),
    }
}

impl Host for Cores {
    type Word = AtomicU64;
    type Lock<T: Send + 'static> = CoresLock<T>;
    type Parker = FutexParker;

    #[inline(always)]
    fn fence(order: Ordering) {
        core::sync::atomic::fence(order);
    }

    /// About a microsecond in all.
    #[inline]
    fn relax() {
        for _ in 0..HINTS {
            core::hint::spin_loop();
        }
    }

    #[inline]
    fn choose(n: usize) -> usize {
        random_below(n)
    }

    /// 64 bits last for 547 years from when it was first asked.
    #[inline]
    fn now() -> Nanos {
        duration::START + start().elapsed().as_nanos() as Nanos
    }

    fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        let wanted = Wanted::take(name);
        let body = move || {
            let _known = Known::new();
            body();
        };
        let started = match wanted.expect() {
            Some(expected) => {
                let body = expected.body(body);
                start_thread(wanted, body).map(|handle| expected.started(handle))
            }
            None => start_thread(wanted, body).map(drop),
        };
        started.map_err(|error| SpawnError { os_error: error.raw_os_error() })
    }
}

/// The system's lock. A panic of its holder is not passed on: it has been reported where it happened.
#[derive(Debug, Default)]
pub struct CoresLock<T>(Mutex<T>);

impl<T> CoresLock<T> {
    /// An open lock around `value`.
    pub const fn new(value: T) -> Self {
        CoresLock(Mutex::new(value))
    }
}

impl<T> Lock<T> for CoresLock<T> {
    #[inline]
    fn new(value: T) -> Self {
        CoresLock(Mutex::new(value))
    }
    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

static_assertions::assert_impl_all!(crate::kernel::sched::Sched<Cores>: Send, Sync);

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    mod the_time {
        use super::*;
        use core::sync::atomic::Ordering::Acquire;
        use std::sync::Arc;

        #[test]
        fn never_goes_back() {
            let last = Arc::new(AtomicU64::new(0));
            let watch = |last: Arc<AtomicU64>| {
                move || {
                    for _ in 0..10_000 {
                        // Acquire: the thread that was here last asked for the time before.
                        let before = last.load(Acquire);
                        let now = Cores::now();
                        assert!(now >= before, "it was {before} and is {now}");
                        last.fetch_max(now, Ordering::AcqRel);
                    }
                }
            };
            let watchers: Vec<_> = (0..4).map(|_| thread::spawn(watch(Arc::clone(&last)))).collect();
            watchers.into_iter().for_each(|watcher| watcher.join().expect("time went back"));
            assert!(last.load(Acquire) > 0, "time stands still");
        }
    }

    mod a_choice {
        use super::*;

        #[test]
        fn is_below_n_and_reaches_every_number() {
            for n in 1..20 {
                let mut seen = vec![false; n];
                for _ in 0..n * 1000 {
                    seen[Cores::choose(n)] = true;
                }
                assert!(seen.into_iter().all(|seen| seen), "some number below {n} never came");
            }
        }
    }
}
