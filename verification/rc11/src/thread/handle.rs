//! Which thread it is, and how it is woken.

use crate::graph::{Loc, Order};
use crate::machine;
use crate::place::Place;
use crate::quarantine::checker;
use crate::state;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Which thread of an execution it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ThreadId(pub(super) u8);

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match machine::is_one_of_many(self.0) {
            // Which one is not known.
            true => f.write_str("ThreadId(symmetric)"),
            false => write!(f, "ThreadId({})", self.0),
        }
    }
}

impl Hash for ThreadId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        if machine::is_one_of_many(self.0) {
            machine::fail(
                "the id of a symmetric thread is hashed: what a program does must not depend on which one it is; else start \
                 each thread by `spawn`",
            );
        }
        self.0.hash(state);
    }
}

/// A handle of a thread.
///
/// ```
/// rc11::model(|| {
///     let me = rc11::thread::current();
///     let other = rc11::thread::spawn(move || me.unpark());
///     rc11::thread::park();
///     other.join().unwrap();
/// });
/// ```
pub struct Thread {
    about: About,
    life: Life,
}

/// What its handles say of a thread.
#[derive(Clone)]
pub(crate) struct About {
    pub(super) id: ThreadId,
    pub(super) name: Option<Arc<str>>,
    pub(super) parker: Arc<Place>,
}

/// A handle is memory, which may be given back while another thread still uses it.
struct Life {
    is: AtomicU32,
    /// Events of threads that have used it: whose, and which.
    uses: Mutex<Vec<(u8, u16)>>,
}

/// What a handle's life is, until it is dropped. Anything else may lie there afterwards.
const THERE: u32 = 0x7ead_11fe;

impl About {
    pub(super) fn handle(self) -> Thread {
        Thread { about: self, life: Life { is: AtomicU32::new(THERE), uses: Mutex::default() } }
    }
}

impl Thread {
    /// Which thread it is.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        self.must_be_there();
        self.about.id
    }

    /// What it is called, if its builder was told.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.must_be_there();
        self.about.name.as_deref()
    }

    /// Wakes it in [`park`](super::park), or lets its next one return at once. Releases.
    #[track_caller]
    pub fn unpark(&self) {
        self.must_be_there();
        let used = (machine::current(), machine::told());
        self.about.parker.wake(Order::Release);
        // While it was woken, the handle may have been dropped.
        self.must_be_there();
        checker(|| self.life.uses.lock().unwrap_or_else(PoisonError::into_inner).push(used));
    }

    fn must_be_there(&self) {
        // Relaxed, here and below: a play is one thread of the machine.
        if self.life.is.load(Ordering::Relaxed) != THERE {
            machine::is_gone(Loc::NONE, false);
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.life.is.store(0, Ordering::Relaxed);
        let uses = checker(|| std::mem::take(self.life.uses.get_mut().unwrap_or_else(PoisonError::into_inner)));
        machine::must_know_events(&uses);
    }
}

impl Clone for Thread {
    fn clone(&self) -> Thread {
        self.must_be_there();
        self.about.clone().handle()
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("id", &self.id()).field("name", &self.name()).finish_non_exhaustive()
    }
}

/// The calling thread.
///
/// # Panics
/// Outside of a model.
///
/// ```
/// rc11::model::Builder::new().bounded_ok().check(|| {
///     let main = rc11::thread::current().id();
///     let other = rc11::thread::spawn(|| rc11::thread::current().id());
///     assert_ne!(other.join().unwrap(), main);
/// });
/// ```
#[must_use]
#[track_caller]
pub fn current() -> Thread {
    about_me().handle()
}

/// What is known of the calling thread.
#[track_caller]
pub(super) fn about_me() -> About {
    let number = machine::current();
    let known = state::with(|state| state.threads.get(&number).cloned());
    known.unwrap_or_else(|| {
        let me = About { id: ThreadId(number), name: None, parker: Arc::new(Place::internal(0)) };
        register(me.clone());
        me
    })
}

pub(super) fn register(thread: About) {
    state::with(|state| state.threads.insert(thread.id.0, thread));
}
