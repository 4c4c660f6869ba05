//! Threads of a closure under test.

use crate::graph::{Loc, Order, Update};
use crate::machine::{self, ask};
use crate::step::Ask;
use crate::symmetry::Group;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A thread, and what it will have returned. One that is dropped goes on by itself, and must come to its end.
///
/// ```
/// use rc11::engine::{Config, explore, fork};
/// explore(&Config::default(), || fork("other", || 7).join().to_string(), |_| ());
/// ```
pub struct Thread<T> {
    number: u8,
    result: Arc<Mutex<Option<T>>>,
}

impl<T> Thread<T> {
    /// Waits for it. All that it did happens before what comes next.
    #[track_caller]
    pub fn join(self) -> T {
        ask(Ask::Join(self.number));
        let result = self.result.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Without a result the execution is over.
        result.unwrap_or_else(|| machine::rest_in_peace())
    }
}

/// Starts a thread, which knows all that its parent knows. `name` is what pictures call it.
///
/// ```
/// use rc11::engine::{Config, explore, fork};
/// let report = explore(&Config::default(), || fork("other", || 7).join().to_string(), |_| ());
/// assert!(report.tally.outcomes.keys().eq(["7"]));
/// ```
#[track_caller]
pub fn fork<T: Send + 'static>(name: &str, body: impl FnOnce() -> T + Send + 'static) -> Thread<T> {
    let result = Arc::new(Mutex::new(None));
    let place = Arc::clone(&result);
    let body = move || {
        let result = body();
        *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    };
    Thread { number: machine::fork(name, 0, Box::new(body)), result }
}

/// Starts a thread that is not joined, unless that is to be refused: see [`refuse_spawns`].
///
/// # Errors
/// It was refused.
///
/// ```
/// use rc11::engine::{Config, explore, refuse_spawns, spawn};
/// let report = explore(&Config::default(), || {
///     refuse_spawns(1);
///     assert!(spawn("none", || ()).is_err());
///     spawn("one", || ()).expect("one was refused");
///     String::new()
/// }, |_| ());
/// assert!(report.is_proof());
/// ```
#[track_caller]
pub fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), Refused> {
    if machine::refusals() > 0 {
        let (init, order) = (machine::refusals(), Order::Relaxed);
        if ask(Ask::Update { loc: Loc::REFUSALS, init, order, update: Update::Take }) > 0 {
            return Err(Refused);
        }
    }
    drop(fork(name, body));
    Ok(())
}

/// The next `n` calls of [`spawn`] in this execution are refused, by whatever threads. To be said before a thread
/// starts.
///
/// ```
/// use rc11::engine::{Config, explore, refuse_spawns, spawn};
/// explore(&Config::default(), || {
///     refuse_spawns(1);
///     spawn("none", || ()).expect_err("it is refused").to_string()
/// }, |_| ());
/// ```
pub fn refuse_spawns(n: u64) {
    machine::refuse_spawns(n);
}

/// When the closure has returned and no thread can go on, this execution is over: threads that wait then, to be woken, for a
/// lock or for another thread, are left as they are, and that is no failure.
///
/// For a model whose threads sleep when there is nothing to do, and which has seen what it wanted to see: ending each of
/// them is a program of its own, whose executions would multiply with those of the model.
///
/// ```
/// use rc11::engine::{Config, Parker, explore, fork, leave_waiting};
///
/// let sleeps = |leaves: bool| {
///     move || {
///         drop(fork("sleeper", || Parker::new().park()));
///         if leaves {
///             leave_waiting();
///         }
///         String::new()
///     }
/// };
/// assert!(explore(&Config::default(), sleeps(true), |_| ()).is_proof());
/// assert!(explore(&Config::default(), sleeps(false), |_| ()).failure.is_some());
/// ```
pub fn leave_waiting() {
    machine::leave_waiting();
}

/// A thread was not to be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("thread creation failed, as the model asked for")
    }
}

impl Error for Refused {}

/// The calling thread's number: 0 for the closure's own, and then in the order in which they were started in this play.
/// A symmetric thread may not ask.
///
/// ```
/// use rc11::engine::{Config, explore, fork, me};
/// explore(&Config::default(), || { assert_eq!((me(), fork("other", me).join()), (0, 1)); String::new() }, |_| ());
/// ```
pub fn me() -> usize {
    if machine::is_one_of_many(machine::current()) {
        machine::fail(
            "a symmetric thread asks which one it is: what it does must not depend on that; else start each thread by \
             `fork`",
        );
    }
    machine::me()
}

/// Threads that do the same: see [`fork_symmetric`].
///
/// ```
/// use rc11::engine::{Config, Word, explore, fork_symmetric};
/// use std::sync::{Arc, atomic::Ordering::Relaxed};
/// let report = explore(&Config::default(), || {
///     let word = Arc::new(Word::new(0));
///     let three = fork_symmetric("three", 3, move || word.fetch_add(1, Relaxed)); // explored as one order of them
///     format!("{:?}", three.join())
/// }, |_| ());
/// assert!(report.tally.outcomes.keys().eq(["[0, 1, 2]"]));
/// ```
#[derive(Debug)]
pub struct SymmetricThreads<T>(Group<T>);

impl<T: Ord + 'static> SymmetricThreads<T> {
    /// Waits for all of them. What they returned, sorted: which one returned what is not known.
    #[track_caller]
    pub fn join(self) -> Vec<T> {
        self.0.join()
    }
}

/// Starts `n` threads that do the same: each runs a copy of `body`. Of the executions that differ only by which of these
/// threads did what, one is explored: of three such threads, about a sixth of all executions.
///
/// This is right if they really are the same. What `body` does must not depend on which copy it is, nor on anything but
/// what it was given and what it reads; that it asks for something else than another one that has read the same is a
/// failure. There is no handle of one of them.
///
/// ```
/// use rc11::engine::{Config, Word, explore, fork_symmetric};
/// use std::sync::{Arc, atomic::Ordering::Relaxed};
///
/// let count = || {
///     let word = Arc::new(Word::new(0));
///     let theirs = Arc::clone(&word);
///     let found = fork_symmetric("adder", 3, move || theirs.fetch_add(1, Relaxed)).join();
///     format!("{found:?}")
/// };
/// let executions = |symmetry: bool| {
///     let report = explore(&Config { symmetry, ..Config::default() }, count, |_| ());
///     assert!(report.is_proof() && report.tally.outcomes.keys().eq(["[0, 1, 2]"]));
///     report.tally.executions
/// };
/// assert_eq!((executions(false), executions(true)), (6, 1));
/// ```
#[track_caller]
pub fn fork_symmetric<T: Ord + Send + 'static>(
    name: &str,
    n: usize,
    body: impl FnOnce() -> T + Clone + Send + 'static,
) -> SymmetricThreads<T> {
    SymmetricThreads(Group::start(name, n, body, || ()))
}

/// What pictures call the calling thread from now on. The closure's own is `main` until it says so.
///
/// ```
/// use rc11::engine::{Config, explore, name_thread};
/// explore(&Config::default(), || { name_thread("the only one"); String::new() }, |_| ()); // as pictures call it
/// ```
pub fn name_thread(name: &str) {
    machine::name_thread(name);
}
