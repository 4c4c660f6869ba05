//! What a closure under test shares, and how it starts threads. Every operation asks the machine, which asks the graph.
//!
//! They have no backing memory that a thread could see ahead of time, and are only there inside of a closure that is
//! explored or watched. Each is `#[track_caller]`: an event stands where the caller's line is.

mod fences;
mod threads;
mod waits;

pub use self::fences::{fence, heavy_fence, light_fence};
pub use self::threads::{
    Refused, SymmetricThreads, Thread, fork, fork_symmetric, leave_waiting, me, name_thread, refuse_spawns, spawn,
};
pub use self::waits::{Lock, Parker};
use crate::graph::{Loc, Order, Update};
use crate::machine::{self, ask};
use crate::step::Ask;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// Where a location is, what it was made with, and how far its maker had come.
struct Place {
    loc: Loc,
    init: u64,
    maker: u8,
    told: u16,
}

impl Place {
    #[track_caller]
    fn new(init: u64) -> Place {
        let (loc, maker, told) = machine::make_location();
        Place { loc, init, maker, told }
    }

    /// It must be known to the thread that accesses it next.
    #[inline]
    fn known(&self) -> Loc {
        machine::must_know(self.maker, self.told);
        self.loc
    }

    #[track_caller]
    fn update(&self, order: Order, update: Update) -> u64 {
        ask(Ask::Update { loc: self.known(), init: self.init, order, update })
    }
}

/// An atomic word of 64 bits. Its orderings mean what they mean in C++20 and Rust, but for load buffering.
///
/// ```
/// use rc11::engine::{Config, Word, explore};
/// use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
/// explore(&Config::default(), || {
///     let word = Word::new(1);
///     word.store(2, Release);
///     assert_eq!((word.swap(3, AcqRel), word.fetch_add(1, Relaxed), word.load(Acquire)), (2, 3, 4));
///     assert_eq!(word.compare_exchange(1, 2, AcqRel, Acquire), Err(4));
///     word.plain_store(5); // not atomically
///     word.plain_load().to_string()
/// }, |_| ());
/// ```
pub struct Word(Place, Option<Place>);

impl Word {
    /// A word that holds `value`. A thread may only use it if its making happens before that use.
    ///
    /// # Panics
    /// Outside of a closure that is explored, as all that is here.
    #[track_caller]
    pub fn new(value: u64) -> Word {
        Word(Place::new(value), None)
    }

    /// The same word, any two stores to which must be ordered by what happens before what, as those of an owner or under a lock are:
    /// two that are not race. Loads may still come at any time, and updates are not looked at.
    ///
    /// ```
    /// # use rc11::engine::{Config, Word, explore, fork};
    /// # use std::sync::{Arc, atomic::Ordering::Relaxed};
    /// let body = || {
    ///     let tail = Arc::new(Word::new(0).with_ordered_writes());
    ///     let other = Arc::clone(&tail);
    ///     fork("other", move || other.store(1, Relaxed));
    ///     tail.store(2, Relaxed); // a second owner
    ///     String::new()
    /// };
    /// let two = explore(&Config::default(), body, |_| ()).failure.expect("it fails");
    /// assert!(two.picture("two owners", body).sentence().contains("data race"));
    /// ```
    #[must_use]
    #[track_caller]
    pub fn with_ordered_writes(self) -> Word {
        // Memory that is not atomic, written to with each store, and never read: two writes of it race where two stores do.
        Word(self.0, Some(Place::new(0)))
    }

    /// Reads. Every value that the memory model lets this thread see is tried.
    #[track_caller]
    pub fn load(&self, order: Ordering) -> u64 {
        ask(Ask::Load { loc: self.0.known(), init: self.0.init, order: order.into() })
    }

    /// Writes.
    #[track_caller]
    pub fn store(&self, value: u64, order: Ordering) {
        if let Some(writes) = &self.1 {
            ask(Ask::Store { loc: writes.known(), value: 0, order: Order::Plain });
        }
        ask(Ask::Store { loc: self.0.known(), value, order: order.into() });
    }

    /// Writes, and returns what was there.
    #[track_caller]
    pub fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.0.update(order.into(), Update::Swap(value))
    }

    /// Adds, wrapping around, and returns what was there.
    #[track_caller]
    pub fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.0.update(order.into(), Update::Add(value))
    }

    /// Writes `new` if `current` is there. It never fails spuriously.
    ///
    /// # Errors
    /// What was there, if it was not `current`.
    #[track_caller]
    pub fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        let update = Update::Exchange { current, new, failure: failure.into() };
        let found = self.0.update(success.into(), update);
        if found == current || machine::is_over() { Ok(found) } else { Err(found) }
    }

    /// Reads, not atomically: a race with every write that it is not ordered with, as C's mixed accesses are.
    #[track_caller]
    pub fn plain_load(&self) -> u64 {
        machine::mixes();
        ask(Ask::Load { loc: self.0.known(), init: self.0.init, order: Order::Plain })
    }

    /// Writes, not atomically: a race with every access that it is not ordered with.
    #[track_caller]
    pub fn plain_store(&self, value: u64) {
        machine::mixes();
        ask(Ask::Store { loc: self.0.known(), value, order: Order::Plain });
    }
}

/// Memory that is not atomic: two accesses that are not ordered, one of them a write, are a race.
///
/// ```
/// use rc11::engine::{Config, PlainCell, explore};
/// let report = explore(&Config::default(), || {
///     let cell = PlainCell::new(1);
///     cell.set(2); // a race with any access that does not happen before or after it
///     cell.get().to_string()
/// }, |_| ());
/// assert!(report.is_proof());
/// ```
pub struct PlainCell<T> {
    place: Place,
    value: Mutex<T>,
}

impl<T: Copy> PlainCell<T> {
    /// A cell that holds `value`.
    #[track_caller]
    pub fn new(value: T) -> PlainCell<T> {
        PlainCell { place: Place::new(0), value: Mutex::new(value) }
    }

    /// Reads.
    #[track_caller]
    pub fn get(&self) -> T {
        ask(Ask::Load { loc: self.place.known(), init: 0, order: Order::Plain });
        *self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes.
    #[track_caller]
    pub fn set(&self, value: T) {
        ask(Ask::Store { loc: self.place.known(), value: 0, order: Order::Plain });
        *self.value.lock().unwrap_or_else(PoisonError::into_inner) = value;
    }
}

/// Any number below `n`: every one of them is tried. 0 if there is no choice.
///
/// # Panics
/// If there are more choices than a `u32` can count.
///
/// ```
/// use rc11::engine::{Config, choose, explore};
/// let report = explore(&Config::default(), || choose(3).to_string(), |_| ());
/// assert!(report.tally.outcomes.keys().eq(["0", "1", "2"])); // each is explored
/// ```
#[track_caller]
pub fn choose(n: usize) -> usize {
    if n <= 1 {
        return 0;
    }
    ask(Ask::Choose(u32::try_from(n).expect("a number of choices that can be tried"))) as usize
}

/// What time it is, in nanoseconds, from 0. It passes by [`advance`] and [`Parker::park_timeout`] alone.
///
/// Time is a word that every thread reads `Relaxed`: it never runs backwards for a thread that knows of a later time,
/// and gives no other order.
///
/// ```
/// use rc11::engine::{Config, advance, explore, now};
/// let report = explore(&Config::default(), || {
///     let before = now();
///     advance(5); // time passes only so, and while a thread waits for it
///     (now() - before).to_string()
/// }, |_| ());
/// assert!(report.tally.outcomes.keys().eq(["5"]));
/// ```
#[track_caller]
pub fn now() -> u64 {
    ask(Ask::Load { loc: Loc::CLOCK, init: 0, order: Order::Relaxed })
}

/// So much time passes, for all threads.
///
/// ```
/// use rc11::engine::{Config, advance, explore, now};
/// explore(&Config::default(), || { advance(5); assert!(now() >= 5); String::new() }, |_| ());
/// ```
#[track_caller]
pub fn advance(nanos: u64) {
    ask(Ask::Update { loc: Loc::CLOCK, init: 0, order: Order::Relaxed, update: Update::Add(nanos) });
}

/// The calling thread's loop will look again, and nothing comes of it until something is written that it has read since
/// it last said so.
///
/// A spin lock's loop says this in its body. It is not spun: the graph in which the loop goes round without news is no
/// execution. If nothing newer can come, the thread waits for ever, which is a deadlock.
///
/// ```
/// use rc11::engine::{Config, Word, explore, fork, spin};
/// use std::sync::{Arc, atomic::Ordering::Relaxed};
/// let report = explore(&Config::default(), || {
///     let word = Arc::new(Word::new(0));
///     let theirs = Arc::clone(&word);
///     let other = fork("other", move || theirs.store(1, Relaxed));
///     while word.load(Relaxed) == 0 {
///         spin();
///     }
///     other.join();
///     String::new()
/// }, |_| ());
/// assert!(report.is_proof());
/// ```
#[track_caller]
pub fn spin() {
    ask(Ask::Spin);
}

/// Where the calling thread stands, and what it knows there. No event.
pub fn moment() -> machine::Moment {
    machine::moment()
}

/// `moment` of the calling thread, with what the thread knows at its first event after it. No event.
pub fn at_the_latest(moment: machine::Moment) -> machine::Moment {
    machine::at_the_latest(moment)
}

/// Does the calling thread hold a [`Lock`]? No event.
pub fn holds_a_lock() -> bool {
    machine::holds_a_lock()
}
