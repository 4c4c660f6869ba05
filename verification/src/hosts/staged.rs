//! A host on which a whole scheduler is played by hand: what its Ms do, the test does, in the order of its text.
//!
//! There is one thread. A thread that the kernel asks for is suspended until it is told to
//! [`begin`](Staged::begin); its M then steps onto the stage with the P it was started for, and the test has the
//! [`Worker`], to do with it what it likes. Where an M falls asleep, the play goes on [meanwhile](until_woken), inside
//! of its sleep; so of those that are to wake up again, the last to fall asleep is the first to be woken, which is the
//! kernel's own order. The others sleep [for ever](for_ever).
//!
//! ```
//! use spinpark::kernel::sched::config::Config;
//! use spinpark::kernel::sched::Sched;
//! use spinpark_verification::models::common::g;
//! use spinpark_verification::hosts::staged::{self, Staged};
//!
//! let sched = Sched::<Staged>::new(Config::default(), (), staged::enter)?;
//! sched.submit(g(1)).expect("it is open");
//! let m1 = Staged::begin().expect("a thread was asked for");
//! let (m1, g1) = sched.next(m1).expect("there is a G");
//!
//! // G1 is over. M1 finds nothing more, and sleeps; meanwhile G2 comes.
//! let later = sched.clone();
//! let (woken, ()) = staged::until_woken(|| sched.next(m1), move || later.submit(g(2)).expect("it is open"));
//! let (m1, g2) = woken.expect("it was not closed");
//! assert_eq!((g1.id(), g2.id()), (1, 2));
//! assert!(staged::close(&sched, vec![m1]).is_empty());
//! # Ok::<(), spinpark::kernel::sched::config::ConfigError>(())
//! ```
//!
//! Time passes when it is [told to](crate::hosts::solo::Solo::pass), and when somebody sleeps for a time.

use crate::hosts::solo::{self, Solo};
use spinpark::host::{self, Host, Nanos, SpawnError};
use spinpark::kernel::protocol::find::Worker;
use spinpark::kernel::protocol::syscall::Away;
use spinpark::kernel::sched::Sched;
use spinpark::kernel::sched::observer::Observer;
use spinpark::kernel::types::g::G;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{self, Relaxed};

/// One thread, which plays them all.
#[derive(Debug)]
pub struct Staged;

/// A bed whose sleeper is looked away from.
#[derive(Debug)]
pub struct Parker(AtomicBool);

type Body = Box<dyn FnOnce()>;

/// What happens while somebody sleeps.
enum Scenario {
    /// This, once.
    Meanwhile(Body),
    /// This, each time. The sleeper wants to sleep for so long; `None`: until it is woken.
    Each(Box<dyn FnMut(Option<Nanos>) -> ControlFlow<()>>),
    /// Nothing that has to do with the sleeper.
    ForEver,
}

/// Somebody sleeps for ever: the way out of its sleep, for the test.
struct Gone;

thread_local! {
    /// The threads that were asked for and have yet to begin.
    static SUSPENDED: RefCell<VecDeque<Body>> = const { RefCell::new(VecDeque::new()) };
    /// The M that has just begun.
    static STAGE: RefCell<Option<Worker>> = const { RefCell::new(None) };
    /// For the next that falls asleep.
    static SCENE: RefCell<Option<Scenario>> = const { RefCell::new(None) };
    static REFUSALS: Cell<usize> = const { Cell::new(0) };
}

impl Staged {
    /// An empty stage, at moment 0: what another play has left behind on this thread, one that failed perhaps, is gone.
    pub fn reset() {
        Solo::reset();
        SCENE.take();
        REFUSALS.set(0);
        // It has a P, and is no more.
        std::mem::forget(STAGE.take());
        drop(SUSPENDED.take());
    }

    /// How many threads were asked for and have yet to begin.
    pub fn suspended() -> usize {
        SUSPENDED.with_borrow(VecDeque::len)
    }

    /// The thread that was asked for first begins. `None`: there was none, or it is no M, or its M was started in vain.
    pub fn begin() -> Option<Worker> {
        SUSPENDED.with_borrow_mut(VecDeque::pop_front)?();
        STAGE.take()
    }

    /// So many threads are refused from now on.
    pub fn refuse(threads: usize) {
        REFUSALS.set(threads);
    }
}

/// An M's life, to be given to the scheduler: it steps onto the stage.
pub fn enter<H: Host, O: Observer>(_: &Arc<Sched<H, O>>, worker: Worker) {
    STAGE.set(Some(worker));
}

/// Does `sleeps`, in which one falls asleep once, and `meanwhile`, which has to wake it.
///
/// # Panics
/// If nobody fell asleep.
#[track_caller]
pub fn until_woken<R, T: 'static>(sleeps: impl FnOnce() -> R, meanwhile: impl FnOnce() -> T + 'static) -> (R, T) {
    let result = Rc::new(Cell::new(None));
    let into = Rc::clone(&result);
    SCENE.set(Some(Scenario::Meanwhile(Box::new(move || into.set(Some(meanwhile()))))));
    let slept = sleeps();
    (slept, result.take().expect("staged: somebody falls asleep"))
}

/// Does `sleeps`, in which one falls asleep, and never wakes up in this play.
///
/// # Panics
/// If nobody fell asleep.
#[track_caller]
pub fn for_ever<R>(sleeps: impl FnOnce() -> R) {
    SCENE.set(Some(Scenario::ForEver));
    assert!(unless_gone(sleeps).is_none(), "staged: nobody fell asleep");
}

/// In a scenario, instead of going on: whoever sleeps there never wakes up in this play. Caught by [`for_ever`],
/// [`in_each_sleep`] and [`unless_gone`].
pub fn vanish() -> ! {
    panic::resume_unwind(Box::new(Gone))
}

/// Does `sleeps`, in which somebody sleeps again and again, a monitor for instance, and `scenario` each time: it is told
/// for how long, `None` being until it is woken. When it breaks off, the sleeper is left to sleep for ever.
pub fn in_each_sleep<R>(
    sleeps: impl FnOnce() -> R,
    scenario: impl FnMut(Option<Nanos>) -> ControlFlow<()> + 'static,
) -> Option<R> {
    SCENE.set(Some(Scenario::Each(Box::new(scenario))));
    let slept = unless_gone(sleeps);
    SCENE.take();
    slept
}

/// Does `sleeps`. `None`: in it somebody fell asleep for ever.
pub fn unless_gone<R>(sleeps: impl FnOnce() -> R) -> Option<R> {
    match panic::catch_unwind(AssertUnwindSafe(sleeps)) {
        Ok(slept) => Some(slept),
        Err(gone) if gone.is::<Gone>() => None,
        Err(failure) => panic::resume_unwind(failure),
    }
}

/// Closes `sched`. Its Ms are `workers`, and each of them comes for another G meanwhile. Gives the numbers of the Gs
/// that nobody had begun, or had yet to go on with.
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

impl Host for Staged {
    type Word = solo::Word;
    type Lock<T: Send + 'static> = solo::Lock<T>;
    type Parker = Parker;

    fn fence(order: Ordering) {
        Solo::fence(order);
    }
    fn relax() {
        Solo::relax();
    }
    fn choose(n: usize) -> usize {
        Solo::choose(n)
    }
    fn now() -> Nanos {
        Solo::now()
    }
    fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        match REFUSALS.get().checked_sub(1) {
            Some(left) => {
                REFUSALS.set(left);
                Solo::spawn(name, body)
            }
            None => {
                SUSPENDED.with_borrow_mut(|suspended| suspended.push_back(Box::new(body)));
                Ok(())
            }
        }
    }
}

impl Parker {
    fn has_token(&self) -> bool {
        self.0.swap(false, Relaxed)
    }
}

/// Plays what is to happen in a sleep of so long. Was there anything?
fn play(nanos: Option<Nanos>) -> bool {
    match SCENE.take() {
        None => return false,
        Some(Scenario::Meanwhile(scenario)) => scenario(),
        Some(Scenario::ForEver) => vanish(),
        Some(Scenario::Each(mut scenario)) => {
            if scenario(nanos).is_break() {
                vanish();
            }
            SCENE.set(Some(Scenario::Each(scenario)));
        }
    }
    true
}

impl host::Parker for Parker {
    fn new() -> Self {
        Parker(AtomicBool::new(false))
    }
    #[track_caller]
    fn park(&self) {
        if !self.has_token() {
            assert!(play(None), "staged: fell asleep, and nothing was to happen meanwhile");
            assert!(self.has_token(), "staged: what happened meanwhile did not wake the sleeper");
        }
    }
    /// Time passes, unless it is woken.
    fn park_timeout(&self, nanos: Nanos) {
        if !self.has_token() {
            play(Some(nanos));
            if !self.has_token() {
                Solo::pass(nanos);
            }
        }
    }
    fn unpark(&self) {
        self.0.store(true, Relaxed);
    }
}
