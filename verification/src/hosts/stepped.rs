//! The stepped host: of all threads one moves at a time, and the test says which. What it does not say does not happen:
//! which threads are refused, what is sampled at random, what time it is.
//!
//! There are two ways to play a scheduler on it.
//!
//! * **On the test's own thread**, in the order of its text. A thread that the kernel asks for is suspended until it is
//!   told to [`begin`](Stepped::begin); the test then has the [`Worker`] of its M, to do with it what it likes. Where an M
//!   falls asleep, the play goes on [meanwhile](until_woken), inside of its sleep; so of those that are to wake up again,
//!   the last to fall asleep is the first to be woken, which is the kernel's own order. The others sleep
//!   [for ever](for_ever).
//! * **On [`Threads`]**, if an M is to fall asleep in the middle of [`Sched::next`], others act, and the sleepers go on in
//!   any order. Each is an operating system's thread that moves until it falls asleep, or is done; then the test goes on.
//!
//! ```
//! use spinpark_kernel::sched::config::Config;
//! use spinpark_kernel::sched::Sched;
//! use spinpark_verification::harness::common::g;
//! use spinpark_verification::hosts::stepped::{self, Stepped};
//!
//! let sched = Sched::<Stepped>::new(Config::default(), (), stepped::enter)?;
//! sched.submit(g(1)).expect("it is open");
//! let m1 = Stepped::begin().expect("a thread was asked for");
//! let (m1, g1) = sched.next(m1).expect("there is a G");
//!
//! // G1 is over. M1 finds nothing more, and sleeps; meanwhile G2 comes.
//! let later = sched.clone();
//! let (woken, ()) = stepped::until_woken(|| sched.next(m1), move || later.submit(g(2)).expect("it is open"));
//! let (m1, g2) = woken.expect("it was not closed");
//! assert_eq!((g1.id(), g2.id()), (1, 2));
//! assert!(stepped::close(&sched, vec![m1]).is_empty());
//! # Ok::<(), spinpark_kernel::sched::config::ConfigError>(())
//! ```
//!
//! Time passes when it is [told to](Stepped::pass), and when an M that the test plays itself sleeps for a time.

mod threads;

pub use threads::{Halt, Threads};

use crate::hosts::solo::{self, Solo};
use spinpark_kernel::host::{self, Host, Nanos, SpawnError};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::syscall::Away;
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::observer::Observer;
use spinpark_kernel::types::g::G;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{self, Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// The host.
#[derive(Debug)]
pub struct Stepped;

/// A word: a thread can be interrupted before it touches it.
#[derive(Debug)]
pub struct Word(solo::Word);

/// A lock: a thread can be interrupted before it enters it, and not inside.
#[derive(Debug)]
pub struct Lock<T>(solo::Lock<T>);

/// Its sleeper wakes when the test says so.
#[derive(Debug)]
pub struct Parker(Arc<AtomicBool>);

type Body = Box<dyn FnOnce() + Send>;

/// What happens while an M that the test plays itself sleeps.
enum Scenario {
    /// This, once.
    Meanwhile(Box<dyn FnOnce()>),
    /// This, each time. The sleeper wants to sleep for so long; `None`: until it is woken.
    Each(Box<dyn FnMut(Option<Nanos>) -> ControlFlow<()>>),
    /// Nothing that has to do with the sleeper.
    ForEver,
}

/// A sleeper never wakes up: the way out of its sleep.
struct Gone;

/// What all threads of one play share. Uncontended: one moves at a time.
#[derive(Default)]
struct Shared {
    now: Nanos,
    refusals: usize,
    /// The threads that were asked for and have yet to begin.
    suspended: VecDeque<(String, Body)>,
    /// What is drawn next, see [`draw`]: by which number, and for which time. `None`: as [`Solo`] draws.
    drawn: Option<(u64, u64)>,
}

thread_local! {
    static SHARED: RefCell<Arc<Mutex<Shared>>> = RefCell::default();
    /// The M that has just begun.
    static BEGUN: RefCell<Option<Worker>> = const { RefCell::new(None) };
    /// For the next that falls asleep.
    static SCENARIO: RefCell<Option<Scenario>> = const { RefCell::new(None) };
}

fn with_shared<R>(f: impl FnOnce(&mut Shared) -> R) -> R {
    SHARED.with_borrow(|shared| f(&mut shared.lock().unwrap_or_else(PoisonError::into_inner)))
}

/// What is drawn out of `0..n` for the `nth` time by `seed`. Seed 0 draws nothing but 0.
pub fn draw(seed: u64, nth: u64, n: usize) -> usize {
    if seed == 0 {
        return 0;
    }
    let z = (seed << 32 | nth).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((z >> 33) % n as u64) as usize
}

impl Stepped {
    /// A new play, at moment 0: what another has left behind on this thread, one that failed perhaps, is gone.
    pub fn reset() {
        Solo::reset();
        SCENARIO.take();
        // It has a P, and is no more.
        std::mem::forget(BEGUN.take());
        let old = SHARED.replace(Arc::default());
        let suspended = std::mem::take(&mut old.lock().unwrap_or_else(PoisonError::into_inner).suspended);
        drop(suspended);
    }

    /// How many threads were asked for and have yet to begin.
    pub fn suspended() -> usize {
        with_shared(|shared| shared.suspended.len())
    }

    /// The thread that was asked for first begins. `None`: there was none, or it is no M, or its M was started for
    /// nothing.
    pub fn begin() -> Option<Worker> {
        let (_, body) = with_shared(|shared| shared.suspended.pop_front())?;
        body();
        BEGUN.take()
    }

    /// So many threads are refused from now on.
    pub fn refuse(threads: usize) {
        with_shared(|shared| shared.refusals = threads);
    }

    /// So much time passes.
    pub fn pass(nanos: Nanos) {
        with_shared(|shared| shared.now = shared.now.saturating_add(nanos));
    }

    /// From now on is drawn by this seed, from its first time on: see [`draw`].
    pub fn draw_by(seed: u64) {
        with_shared(|shared| shared.drawn = Some((seed, 0)));
    }
}

/// An M's life, to be given to the scheduler: the test has its [`Worker`] from [`Stepped::begin`].
pub fn enter<H: Host, O: Observer>(_: &Arc<Sched<H, O>>, worker: Worker) {
    BEGUN.set(Some(worker));
}

/// Does `sleeps`, in which one falls asleep once, and `meanwhile`, which has to wake it.
///
/// # Panics
/// If no thread fell asleep.
#[track_caller]
pub fn until_woken<R, T: 'static>(sleeps: impl FnOnce() -> R, meanwhile: impl FnOnce() -> T + 'static) -> (R, T) {
    let result = Rc::new(Cell::new(None));
    let into = Rc::clone(&result);
    SCENARIO.set(Some(Scenario::Meanwhile(Box::new(move || into.set(Some(meanwhile()))))));
    let slept = sleeps();
    (slept, result.take().expect("stepped: a thread falls asleep"))
}

/// Does `sleeps`, in which one falls asleep, and never wakes up in this play.
///
/// # Panics
/// If no thread fell asleep.
#[track_caller]
pub fn for_ever<R>(sleeps: impl FnOnce() -> R) {
    SCENARIO.set(Some(Scenario::ForEver));
    assert!(unless_gone(sleeps).is_none(), "stepped: no thread fell asleep");
}

/// In a scenario, instead of going on: a thread that sleeps there never wakes up in this play. Caught by [`for_ever`],
/// [`in_each_sleep`] and [`unless_gone`].
pub fn vanish() -> ! {
    panic::resume_unwind(Box::new(Gone))
}

/// Does `sleeps`, in which a thread sleeps again and again, a monitor for instance, and `scenario` each time: it is told
/// for how long, `None` being until it is woken. When it breaks off, the sleeper is left to sleep for ever.
pub fn in_each_sleep<R>(
    sleeps: impl FnOnce() -> R,
    scenario: impl FnMut(Option<Nanos>) -> ControlFlow<()> + 'static,
) -> Option<R> {
    SCENARIO.set(Some(Scenario::Each(Box::new(scenario))));
    let slept = unless_gone(sleeps);
    SCENARIO.take();
    slept
}

/// Does `sleeps`. `None`: in it a thread fell asleep for ever.
pub fn unless_gone<R>(sleeps: impl FnOnce() -> R) -> Option<R> {
    match panic::catch_unwind(AssertUnwindSafe(sleeps)) {
        Ok(slept) => Some(slept),
        Err(gone) if gone.is::<Gone>() => None,
        Err(failure) => panic::resume_unwind(failure),
    }
}

/// Closes `sched`. Its Ms are `workers`, and each of them comes for another G meanwhile. Gives the numbers of the Gs
/// that no thread had begun, or had yet to go on with.
///
/// # Panics
/// If one of them is given a G.
pub fn close<H: Host, O: Observer>(sched: &Arc<Sched<H, O>>, workers: Vec<Worker>) -> Vec<u64> {
    close_with(sched, workers, Vec::new())
}

/// The same, with Ms that are in a system call with a G: they come back before the others come for more.
///
/// # Panics
/// If one of them is given another G.
pub fn close_with<H: Host, O: Observer>(
    sched: &Arc<Sched<H, O>>,
    mut workers: Vec<Worker>,
    calls: Vec<(Away, G)>,
) -> Vec<u64> {
    if workers.is_empty() && calls.is_empty() {
        return sched.close().iter().map(G::id).collect();
    }
    let their = Arc::clone(sched);
    let end = move || {
        for (away, g) in calls {
            match their.exitsyscall(away, g) {
                Ok((worker, _, _)) => workers.push(worker), // its G is over
                Err(m) => assert!(their.rest(m).is_none()),
            }
        }
        workers.into_iter().for_each(|worker| assert!(their.next(worker).is_none()));
    };
    until_woken(|| sched.close(), end).0.iter().map(G::id).collect()
}

impl Host for Stepped {
    type Word = Word;
    type Lock<T: Send + 'static> = Lock<T>;
    type Parker = Parker;
    const UNWINDS_TO_END: bool = true;

    fn fence(_: Ordering) {
        threads::step();
    }
    fn relax() {}
    fn choose(n: usize) -> usize {
        let drawn = with_shared(|shared| {
            let (seed, times) = shared.drawn.as_mut()?;
            *times += 1;
            Some(draw(*seed, *times, n))
        });
        drawn.unwrap_or_else(|| Solo::choose(n))
    }
    fn now() -> Nanos {
        with_shared(|shared| shared.now)
    }
    fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        with_shared(|shared| match shared.refusals.checked_sub(1) {
            Some(left) => {
                shared.refusals = left;
                Err(SpawnError { os_error: None })
            }
            None => {
                shared.suspended.push_back((name.to_owned(), Box::new(body)));
                Ok(())
            }
        })
    }
}

impl Parker {
    fn has_token(&self) -> bool {
        self.0.swap(false, Relaxed)
    }
}

/// Plays what is to happen in a sleep of so long. Was there anything?
fn play(nanos: Option<Nanos>) -> bool {
    match SCENARIO.take() {
        None => return false,
        Some(Scenario::Meanwhile(scenario)) => scenario(),
        Some(Scenario::ForEver) => vanish(),
        Some(Scenario::Each(mut scenario)) => {
            if scenario(nanos).is_break() {
                vanish();
            }
            SCENARIO.set(Some(Scenario::Each(scenario)));
        }
    }
    true
}

impl host::Word for Word {
    fn new(value: u64) -> Self {
        Word(solo::Word::new(value))
    }
    fn load(&self, order: Ordering) -> u64 {
        threads::step();
        self.0.load(order)
    }
    fn store(&self, value: u64, order: Ordering) {
        threads::step();
        self.0.store(value, order);
    }
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        threads::step();
        self.0.swap(value, order)
    }
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        threads::step();
        self.0.fetch_add(value, order)
    }
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        threads::step();
        self.0.compare_exchange(current, new, success, failure)
    }
}

impl<T: Send + 'static> host::Lock<T> for Lock<T> {
    fn new(value: T) -> Self {
        Lock(solo::Lock::new(value))
    }
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        threads::step();
        self.0.with(|inside| threads::uninterrupted(|| f(inside)))
    }
}

impl host::Parker for Parker {
    fn new() -> Self {
        Parker(Arc::new(AtomicBool::new(false)))
    }
    #[track_caller]
    fn park(&self) {
        if !self.has_token() && !threads::sleep(&self.0) {
            assert!(play(None), "stepped: fell asleep, and nothing was to happen meanwhile");
            assert!(self.has_token(), "stepped: what happened meanwhile did not wake the sleeper");
        }
    }
    /// Time passes, unless it is woken; on [`Threads`] it passes as the test says.
    fn park_timeout(&self, nanos: Nanos) {
        if !self.has_token() && !threads::sleep(&self.0) {
            play(Some(nanos));
            if !self.has_token() {
                Stepped::pass(nanos);
            }
        }
    }
    fn unpark(&self) {
        self.0.store(true, Relaxed);
    }
}
