//! Real threads: the same programs, judged by the same oracle. What ended before is told by one counter of the machine.

use crate::host::{Body, Moment, RoomHost};
use crate::play::Stage;
use crate::program::Program;
use crate::room::{Real, Room};
use crate::rooms::Common;
use crate::wakers::Sleeper;
use kernel::host::{self, Host, Nanos, SpawnError};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Threads and memory of the machine.
pub struct Cores;

/// One word. Each access may be preceded by a pause.
pub struct Word(AtomicU64);

impl host::Word for Word {
    fn new(value: u64) -> Self {
        Word(AtomicU64::new(value))
    }
    fn load(&self, order: Ordering) -> u64 {
        pause();
        self.0.load(order)
    }
    fn store(&self, value: u64, order: Ordering) {
        pause();
        self.0.store(value, order);
    }
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        pause();
        self.0.swap(value, order)
    }
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        pause();
        self.0.fetch_add(value, order)
    }
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        pause();
        self.0.compare_exchange(current, new, success, failure)
    }
}

/// A lock, which counts its holders.
pub struct Lock<T>(Mutex<T>);

impl<T: Send + 'static> host::Lock<T> for Lock<T> {
    fn new(value: T) -> Self {
        Lock(Mutex::new(value))
    }
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        pause();
        let mut value = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        HELD.set(HELD.get() + 1);
        let result = f(&mut value);
        HELD.set(HELD.get() - 1);
        result
    }
}

#[derive(Default)]
struct Parked {
    is_unparked: bool,
    is_asleep: bool,
}

/// Where a thread sleeps.
#[derive(Default)]
pub struct Parker(Mutex<Parked>, Condvar);

impl Parker {
    fn is_asleep(&self) -> bool {
        let parked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        parked.is_asleep && !parked.is_unparked
    }
}

impl host::Parker for Parker {
    fn new() -> Self {
        Parker::default()
    }
    fn park(&self) {
        self.park_timeout(Nanos::MAX);
    }
    fn park_timeout(&self, nanos: Nanos) {
        let mut parked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        parked.is_asleep = true;
        let is_awaited = |parked: &mut Parked| !parked.is_unparked;
        let waited = self.1.wait_timeout_while(parked, Duration::from_nanos(nanos), is_awaited);
        parked = waited.unwrap_or_else(PoisonError::into_inner).0;
        *parked = Parked::default();
    }
    fn unpark(&self) {
        UNPARKS.fetch_add(1, Ordering::SeqCst);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_unparked = true;
        self.1.notify_one();
    }
}

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static ME: Cell<usize> = const { Cell::new(0) };
    static RANDOM: Cell<u64> = const { Cell::new(1) };
}

fn random() -> u64 {
    let next = RANDOM.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    RANDOM.set(next);
    next >> 33
}

/// Now and then another thread comes between.
fn pause() {
    match random() % 16 {
        0 => thread::yield_now(),
        1..4 => (0..random() % 64).for_each(|_| std::hint::spin_loop()),
        _ => (),
    }
}

static CLOCK: AtomicU64 = AtomicU64::new(0);
/// How often a thread was woken, in the whole process.
static UNPARKS: AtomicU64 = AtomicU64::new(0);

impl Host for Cores {
    type Word = Word;
    type Lock<T: Send + 'static> = Lock<T>;
    type Parker = Parker;

    fn fence(order: Ordering) {
        std::sync::atomic::fence(order);
    }
    fn relax() {
        std::hint::spin_loop();
    }
    fn choose(n: usize) -> usize {
        random() as usize % n
    }
    fn now() -> Nanos {
        CLOCK.load(Ordering::SeqCst)
    }
    fn spawn(_: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        Self::start(Box::new(body));
        Ok(())
    }
}

impl RoomHost for Cores {
    fn moment() -> Moment {
        Moment::Count(CLOCK.fetch_add(1, Ordering::SeqCst))
    }
    fn me() -> usize {
        ME.get()
    }
    fn holds_a_lock() -> bool {
        HELD.get() > 0
    }
    fn start(body: Body) {
        thread::spawn(body);
    }
}

/// How long a program may take whose threads neither end nor sleep.
const PATIENCE: Duration = Duration::from_secs(20);

/// Which threads of a program sleep, or are at their end.
struct Rest {
    sleepers: Mutex<Vec<Option<Arc<Sleeper<Cores>>>>>,
    done: AtomicUsize,
    is_over: AtomicBool,
}

/// A thread is at its end, also if it panics.
struct Ends<'a>(&'a Rest);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.done.fetch_add(1, Ordering::SeqCst);
    }
}

/// The program is over: the threads that sleep go on, and give up.
struct Over<'a>(&'a Rest);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::SeqCst);
        self.0.sleepers().iter().flatten().for_each(|sleeper| host::Parker::unpark(sleeper.parker()));
    }
}

impl Rest {
    fn sleepers(&self) -> std::sync::MutexGuard<'_, Vec<Option<Arc<Sleeper<Cores>>>>> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps. `false`: the program is over.
    fn sleep(&self, me: usize, sleeper: &Arc<Sleeper<Cores>>) -> bool {
        self.sleepers()[me] = Some(Arc::clone(sleeper));
        sleeper.park();
        self.sleepers()[me] = None;
        !self.is_over.load(Ordering::SeqCst)
    }

    /// Does nothing go on, and will nothing? If no thread was woken meanwhile, a thread that was seen asleep still is.
    fn is_quiet(&self, threads: usize) -> bool {
        let before = UNPARKS.load(Ordering::SeqCst);
        let asleep = self.sleepers().iter().flatten().filter(|sleeper| sleeper.parker().is_asleep()).count();
        let is_quiet = asleep + self.done.load(Ordering::SeqCst) == threads;
        is_quiet && UNPARKS.load(Ordering::SeqCst) == before
    }
}

/// Runs a program once on threads of the machine, against `I`. Its digest, and how many threads sleep at the end.
///
/// # Errors
/// Why the specification does not explain it.
pub fn run<R: Room, I: Real<R, Cores>>(program: &Arc<Program<R>>, seed: u64) -> Result<(u64, usize), String> {
    let stage = Stage::<R, Cores, I>::new(program);
    let act = |me: usize, rest: &Rest| stage.act(program, me, &|sleeper| rest.sleep(me, sleeper));
    let ran = run_threads(program.threads.len(), seed, &act, &|| stage.judge(program));
    ran.map_err(|(why, is_panic)| if is_panic { format!("{why}\n{program}") } else { why })
}

/// Runs so many threads until none goes on, and judges then. The error says whether one has panicked.
fn run_threads(
    n: usize,
    seed: u64,
    act: &(dyn Fn(usize, &Rest) + Sync),
    judge: &dyn Fn() -> Result<(u64, usize), String>,
) -> Result<(u64, usize), (String, bool)> {
    let (sleepers, done) = (Mutex::new((0..n).map(|_| None).collect()), AtomicUsize::new(0));
    let rest = Rest { sleepers, done, is_over: AtomicBool::new(false) };
    thread::scope(|scope| {
        let body = |me: usize| {
            let rest = &rest;
            move || {
                let _ends = Ends(rest);
                ME.set(me + 1);
                RANDOM.set(seed.wrapping_mul(31).wrapping_add(me as u64));
                act(me, rest);
            }
        };
        let threads: Vec<_> = (0..n).map(|me| scope.spawn(body(me))).collect();
        // Also if the oracle panics: the threads that sleep would be waited for.
        let wakes_them = Over(&rest);
        let begun = Instant::now();
        while !rest.is_quiet(n) && begun.elapsed() < PATIENCE {
            thread::yield_now();
        }
        let judged = judge().map_err(|why| (why, false));
        drop(wakes_them);
        let panics = threads.into_iter().filter_map(|thread| thread.join().err());
        panics.fold(judged, |_, panic| Err((rc11::engine::panic_text(&*panic), true)))
    })
}

/// Runs `programs` programs of each of some shapes against `I`, spread over all that are tried. How many that were.
///
/// # Errors
/// Why the specification does not explain one; or that no thread ever slept, though the room has waits.
pub fn run_some<R: Room, I: Real<R, Cores>>(
    programs: usize,
    is_tried: impl Fn(&Program<R>) -> bool,
) -> Result<usize, String> {
    let (mut slept, mut ran) = (0, 0);
    // Of one, of two and of three threads.
    for shape in [2, 3, 5, 6] {
        let all = Common::<R>::of().programs(shape);
        // A thread that sleeps inside of a call could not be ended.
        let tried: Vec<_> = all.iter().filter(|program| !program.sleeps() && is_tried(program)).collect();
        for (n, program) in tried.iter().step_by((tried.len() / programs).max(1)).enumerate() {
            slept += run::<R, I>(program, n as u64)?.1;
            ran += 1;
        }
    }
    let has_waits = |role| R::may(role, &[]).into_iter().any(|op| !R::waits(op).is_empty());
    if slept == 0 && R::roles().into_iter().any(has_waits) {
        return Err(String::from("no thread ever slept: the programs are too small"));
    }
    Ok(ran)
}
