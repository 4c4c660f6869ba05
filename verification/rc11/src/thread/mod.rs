//! Like `std::thread`.

mod handle;
mod local;
mod scope;

pub(crate) use self::handle::About;
pub use self::handle::{Thread, ThreadId, current};
use self::handle::{about_me, register};
pub(crate) use self::local::drop_locals;
pub use self::local::{AccessError, LocalKey};
pub use self::scope::{Scope, ScopedJoinHandle, scope};

use crate::graph::Order;
use crate::machine;
use crate::model;
use crate::place::Place;
use crate::quarantine::checker;
use crate::state::At;
use crate::step::Ask;
use crate::symmetry::Group;
use crate::timeout;
use std::fmt;
use std::io;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

#[doc(no_inline)]
pub use std::thread::{available_parallelism, panicking};

/// Sleeps until a thread calls [`Thread::unpark`], and acquires what that released. It may wake spuriously, as often in
/// an execution as the model allows: see [`Builder::spurious`](crate::model::Builder::spurious).
///
/// ```
/// rc11::model(|| {
///     let other = rc11::thread::spawn(rc11::thread::park); // may wake spuriously
///     other.thread().unpark();
///     other.join().unwrap();
/// });
/// ```
#[track_caller]
pub fn park() {
    let parker = about_me().parker;
    if machine::may_wake_spuriously() && machine::ask(Ask::Spurious) == 1 {
        return;
    }
    parker.sleep(Order::Acquire);
}

/// The same, or it times out, whenever it likes: it then ends a round of the loop that calls it, as [`yield_now`] does.
#[track_caller]
// Its frame must not be a part of the caller's state.
/// ```
/// use std::time::Duration;
/// rc11::model::Builder::new().bounded_ok().check(|| {
///     let other = rc11::thread::spawn(|| rc11::thread::park_timeout(Duration::from_secs(1))); // may end at any time
///     other.join().unwrap();
/// });
/// ```
#[inline(always)]
pub fn park_timeout(_duration: Duration) {
    if times_out_in_park() {
        yield_now();
    }
}

#[track_caller]
#[inline(never)]
fn times_out_in_park() -> bool {
    let parker = about_me().parker;
    // An unpark that is there already is left for the next one: to find it is the other choice.
    let times_out = timeout::brings_nothing() || machine::ask(Ask::Choose(2)) == 1;
    if times_out {
        timeout::note();
    } else {
        parker.sleep_for_a_while(Order::Acquire);
    }
    times_out
}

/// No time passes in a model: it is as [`yield_now`], so that a loop that looks again after a while is one that waits.
///
/// ```
/// use std::time::Duration;
/// rc11::model::Builder::new().bounded_ok().check(|| {
///     let other = rc11::thread::spawn(|| rc11::thread::sleep(Duration::from_secs(1))); // takes no time
///     other.join().unwrap();
/// });
/// ```
#[track_caller]
pub fn sleep(_duration: Duration) {
    yield_now();
}

/// The loop that calls it will look again.
///
/// A round of such a loop, from one call to the next, in which the thread finds what it had found before and writes
/// nothing, is no execution: the thread waits, until something is written that the round has read. **That this is right is
/// shown**: the thread is answered the same again, until it is in a state in which it was before, with the same registers,
/// stack and memory, so that the loop has no end. If it leaves the loop instead, because it counts its rounds, each of its
/// rounds is played. If neither is seen in as many rounds as an execution may have events, or a loop writes in each of its
/// rounds and learns nothing, the verdict is *bounded*, and says which loop it is.
///
/// Not seen is a count in a `static` or in std's `thread_local!`: like all that is outside of the model, it must not change
/// what a thread does.
///
/// ```
/// use rc11::sync::{Arc, atomic::{AtomicBool, Ordering::Relaxed}};
/// rc11::model(|| {
///     let flag = Arc::new(AtomicBool::new(false));
///     let theirs = flag.clone();
///     let other = rc11::thread::spawn(move || theirs.store(true, Relaxed));
///     while !flag.load(Relaxed) {
///         rc11::thread::yield_now();
///     }
///     other.join().unwrap();
/// });
/// ```
#[track_caller]
pub fn yield_now() {
    machine::ask_to_yield();
}

/// What a thread returns, when it does.
struct Packet<T>(Mutex<Option<T>>);

impl<T> Drop for Packet<T> {
    fn drop(&mut self) {
        // Its thread and the handle have it by a count of std's.
        let result = self.0.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        machine::as_if_it_knew_all(|| drop(result));
    }
}

// SAFETY: a play, with all of its threads, is one thread of the machine, so that nothing is really sent. std's handle is
// `Send` and `Sync` for any `T` too, by the same type of reasoning.
unsafe impl<T> Send for Packet<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Packet<T> {}

/// The right to join a thread. One that is dropped lets it go on, and it must come to its end.
///
/// ```
/// rc11::model(|| {
///     let other = rc11::thread::spawn(|| 7);
///     let _ = other.is_finished(); // perhaps
///     assert_eq!(other.join().unwrap(), 7);
/// });
/// ```
pub struct JoinHandle<T> {
    packet: Arc<Packet<T>>,
    thread: Thread,
    /// Is it at its end? If anything asks.
    is_finished: Option<Arc<Place>>,
    at: At,
}

impl<T> JoinHandle<T> {
    /// Waits for its end. All that it did happens before what comes next.
    ///
    /// # Errors
    /// None: a panic ends the execution.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        machine::ask(Ask::Join(self.thread.id().0));
        let result = self.packet.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Without a result the execution is over.
        Ok(result.unwrap_or_else(|| machine::rest_in_peace()))
    }

    /// A handle of the thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Has the thread's closure returned? Both answers are tried as long as [`join`](JoinHandle::join) was not called. It
    /// gives no order, as in std.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        if self.is_finished.is_none() {
            model::observe(self.at);
        }
        let place = self.is_finished.as_ref().expect("the exploration begins anew, and this thread goes no further");
        place.load(Order::Relaxed) == 1
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// Starts a thread, which knows all that its parent knows. At most
/// [`MAX_THREADS`](crate::MAX_THREADS) are in an execution, with the first one.
///
/// ```
/// use rc11::sync::{Arc, atomic::{AtomicU32, Ordering::Relaxed}};
/// rc11::model(|| {
///     let n = Arc::new(AtomicU32::new(7));
///     let theirs = n.clone();
///     let other = rc11::thread::spawn(move || theirs.load(Relaxed));
///     assert_eq!(other.join().unwrap(), 7);
/// });
/// ```
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T,
    F: 'static,
    T: 'static,
{
    start(None, f)
}

/// Threads that do the same: see [`spawn_symmetric`].
///
/// ```
/// use rc11::sync::{Arc, atomic::{AtomicU32, Ordering::Relaxed}};
/// rc11::model(|| {
///     let n = Arc::new(AtomicU32::new(0));
///     let theirs = n.clone();
///     let three = rc11::thread::spawn_symmetric(3, move || theirs.fetch_add(1, Relaxed)); // explored as one order of them
///     assert_eq!(three.join().unwrap(), [0, 1, 2]);
/// });
/// ```
#[derive(Debug)]
pub struct SymmetricThreads<T>(Group<T>);

impl<T: Ord + 'static> SymmetricThreads<T> {
    /// Waits for all of them. What they returned, sorted: which one returned what is not known.
    ///
    /// # Errors
    /// None: a thread that panics is a failure of the execution. It is std's shape, as of [`JoinHandle::join`].
    #[track_caller]
    pub fn join(self) -> std::thread::Result<Vec<T>> {
        Ok(self.0.join())
    }
}

/// Starts `n` threads that do the same: each runs a copy of `f`. Of the executions that differ only by which of these
/// threads did what, one is explored: of three such threads, about a sixth of all executions. **Not in loom**, nor in std.
///
/// This is right if they really are the same: what `f` does must not depend on which copy it is, nor on anything but what it
/// was given and what it reads. There is no handle of one of them, and what they return is sorted. That one asks for
/// something else than another that has read the same, or which one it is, is a failure that says so.
///
/// ```
/// use rc11::model::{Builder, Verdict};
/// use rc11::sync::{Arc, atomic::{AtomicU32, Ordering::Relaxed}};
/// use rc11::thread;
///
/// let outcome = Builder::new().outcome_of(|| {
///     let count = Arc::new(AtomicU32::new(0));
///     let theirs = count.clone();
///     let found = thread::spawn_symmetric(3, move || theirs.fetch_add(1, Relaxed)).join().unwrap();
///     assert_eq!((found, count.load(Relaxed)), (vec![0, 1, 2], 3));
/// });
/// assert_eq!(outcome.verdict, Verdict::Proved);
/// assert_eq!(outcome.executions, 1); // and 6 if each is started by `spawn`
/// ```
#[track_caller]
pub fn spawn_symmetric<F, T>(n: usize, f: F) -> SymmetricThreads<T>
where
    F: FnOnce() -> T + Clone + 'static,
    T: Ord + 'static,
{
    SymmetricThreads(Group::start("", n, f, drop_locals))
}

#[track_caller]
fn start<'a, T: 'a>(name: Option<String>, f: impl FnOnce() -> T + 'a) -> JoinHandle<T> {
    let packet = checker(|| Arc::new(Packet(Mutex::new(None))));
    let place = Arc::clone(&packet);
    let body = move || {
        let result = f();
        *place.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    };
    let (thread, is_finished) = start_any(name, Box::new(body));
    JoinHandle { packet, thread, is_finished, at: Location::caller() }
}

/// The same, whatever it does: else it would be compiled for each.
#[track_caller]
fn start_any<'a>(name: Option<String>, f: Box<dyn FnOnce() + 'a>) -> (Thread, Option<Arc<Place>>) {
    let parker = Place::internal(0);
    let is_finished = model::is_observed(Location::caller()).then(|| Place::internal(0));
    let (parker, is_finished) = checker(|| (Arc::new(parker), is_finished.map(Arc::new)));
    let name: Option<Arc<str>> = name.map(Arc::from);
    let (theirs, their_name, finishes) = (Arc::clone(&parker), name.clone(), is_finished.clone());
    let body = move || {
        let id = ThreadId(machine::current());
        register(About { id, name: their_name, parker: theirs });
        f();
        if let Some(finishes) = finishes {
            finishes.store(1, Order::Release);
        }
        drop_locals();
    };
    let body: Box<dyn FnOnce() + 'a> = Box::new(body);
    // SAFETY: a thread that borrows is a `Scope`'s, which does not end before the thread has; if the execution is over
    // before, its frame stays.
    let body: Box<dyn FnOnce()> = unsafe { std::mem::transmute(body) };
    let number = machine::fork(name.as_deref().unwrap_or_default(), 0, body);
    (About { id: ThreadId(number), name, parker }.handle(), is_finished)
}

/// How a thread is to be started.
///
/// ```
/// use rc11::thread::Builder;
/// rc11::model::Builder::new().bounded_ok().check(|| {
///     let builder = Builder::new().name("other".into()).stack_size(1 << 16);
///     let other = builder.spawn(|| rc11::thread::current().name().map(str::to_owned)).unwrap();
///     assert_eq!(other.join().unwrap().as_deref(), Some("other"));
///     rc11::thread::scope(|scope| {
///         Builder::new().spawn_scoped(scope, || ()).unwrap();
///     });
///     let other = unsafe { Builder::new().spawn_unchecked(|| 7) }.unwrap();
///     assert_eq!(other.join().unwrap(), 7);
/// });
/// ```
#[derive(Debug)]
pub struct Builder {
    name: Option<String>,
}

impl Builder {
    /// Without a name.
    #[expect(clippy::new_without_default, reason = "std's has none")]
    #[must_use]
    pub fn new() -> Builder {
        Builder { name: None }
    }

    /// What it is called, also in pictures.
    #[must_use]
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// Nothing: all stacks have the same size.
    #[must_use]
    pub fn stack_size(self, _size: usize) -> Builder {
        self
    }

    /// Starts it.
    ///
    /// # Errors
    /// None.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T,
        F: Send + 'static,
        T: Send + 'static,
    {
        Ok(start(self.name, f))
    }

    /// Starts a thread that borrows.
    ///
    /// # Errors
    /// None.
    ///
    /// # Safety
    /// The thread is joined before what it borrows is gone.
    #[track_caller]
    pub unsafe fn spawn_unchecked<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        Ok(start(self.name, f))
    }

    /// Starts a thread that borrows: see [`scope`].
    ///
    /// # Errors
    /// None.
    #[track_caller]
    pub fn spawn_scoped<'scope, F, T>(
        self,
        scope: &'scope Scope<'scope, '_>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        Ok(scope.start(self.name, f))
    }
}
