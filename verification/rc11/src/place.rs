//! Where a location of the facade is, and whether the one who uses it may.

use crate::graph::{Loc, Order, Update};
use crate::machine::{self, PARKING, PARKING_FOR_A_WHILE};
use crate::model;
use crate::step::Ask;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A location, what it was made with, in which play, and how far its maker had come. It knows when it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    loc: Loc,
    init: u64,
    maker: u8,
    told: u16,
    play: u32,
    is_there: AtomicBool,
    are_pointers: bool,
    /// Every thread knows of it, without having been told.
    is_known: bool,
}

const DROPPED: &str = "use after free: an object of the model's is used after it was dropped";

impl Place {
    #[track_caller]
    pub(crate) fn new(init: u64) -> Place {
        let (loc, maker, told) = machine::make_location();
        let play = machine::play().unwrap_or_default();
        let is_there = AtomicBool::new(true);
        Place { loc, init, maker, told, play, is_there, are_pointers: false, is_known: false }
    }

    /// One of an object's own, which it hands to others past the model.
    #[track_caller]
    pub(crate) fn internal(init: u64) -> Place {
        let mut place = Place::new(init);
        place.is_known = true;
        place
    }

    /// One that holds addresses.
    #[track_caller]
    pub(crate) fn of_pointer(address: u64) -> Place {
        let mut place = Place::new(0);
        place.are_pointers = true;
        // The name of an address is an event's; null needs none.
        if address != 0 {
            place.store(address, Order::Relaxed);
        }
        place
    }

    /// That of a [`LatePlace`], which every thread knows of. Only for as long as the play lasts.
    fn of_late(n: u32) -> Place {
        let (maker, play) = (machine::current(), machine::play().unwrap_or_default());
        let (loc, is_there) = (Loc::of_static(n), AtomicBool::new(true));
        Place { loc, init: 0, maker, told: 0, play, is_there, are_pointers: false, is_known: true }
    }

    /// Where it is, for who may use it.
    #[track_caller]
    fn known(&self) -> Loc {
        model::question();
        match machine::play() {
            Some(play) if play == self.play && self.is_there.load(Ordering::Relaxed) => {
                // Of itself, if of nobody else: what every thread knows needs no telling.
                machine::must_know(if self.is_known { machine::current() } else { self.maker }, self.told);
            }
            Some(play) if play == self.play => machine::fail(DROPPED),
            Some(_) => machine::fail(
                "an object of another execution is used: what the model shares must be made inside of its closure, anew \
                 in each execution, not in a `static` of std's or before the model",
            ),
            None => (),
        }
        self.loc
    }

    /// Which location it is.
    pub(crate) fn loc(&self) -> Loc {
        self.loc
    }

    #[track_caller]
    fn ask(&self, ask: Ask) -> u64 {
        if self.are_pointers { machine::ask_of_pointers(ask) } else { machine::ask(ask) }
    }

    #[track_caller]
    pub(crate) fn load(&self, order: Order) -> u64 {
        self.ask(Ask::Load { loc: self.known(), init: self.init, order })
    }

    #[track_caller]
    pub(crate) fn store(&self, value: u64, order: Order) {
        self.ask(Ask::Store { loc: self.known(), value, order });
    }

    #[track_caller]
    pub(crate) fn update(&self, order: Order, update: Update) -> u64 {
        self.ask(Ask::Update { loc: self.known(), init: self.init, order, update })
    }

    #[track_caller]
    pub(crate) fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        let update = Update::Exchange { current, new, failure: failure.into() };
        let found = self.update(success.into(), update);
        if found == current { Ok(found) } else { Err(found) }
    }

    /// Opens a lock.
    #[track_caller]
    pub(crate) fn open(&self) {
        self.ask(Ask::Open { loc: self.known() });
    }

    /// Waits until somebody has [`woken`](Place::wake) who waits here, and takes that.
    #[track_caller]
    pub(crate) fn sleep(&self, order: Order) {
        self.update(order, PARKING);
    }

    /// The same; the thread does not sleep for ever, and that it wakes of itself is played elsewhere.
    #[track_caller]
    pub(crate) fn sleep_for_a_while(&self, order: Order) {
        self.update(order, PARKING_FOR_A_WHILE);
    }

    /// Wakes who sleeps here, or will.
    #[track_caller]
    pub(crate) fn wake(&self, order: Order) {
        self.update(order, Update::Swap(1));
    }

    /// A plain access, which races with every other that it is not ordered with.
    #[track_caller]
    pub(crate) fn load_plain(&self) -> u64 {
        machine::mixes();
        self.load(Order::Plain)
    }

    #[track_caller]
    pub(crate) fn store_plain(&self, value: u64) {
        machine::mixes();
        self.store(value, Order::Plain);
    }
}

/// The place of an object that a `const fn` makes, so that it may be in a `static`: its first use in an execution makes it.
/// It begins with 0 in each.
#[derive(Debug)]
pub(crate) struct LatePlace {
    /// The last play that has used it, and the number of its place in that play, from 1. 0: none has.
    bound: AtomicU64,
}

/// What a dropped one is bound to.
const GONE: u64 = u64::MAX;

impl LatePlace {
    pub(crate) const fn new() -> LatePlace {
        LatePlace { bound: AtomicU64::new(0) }
    }

    /// Its number in this execution, if it has one. A `static` may be used by two models at once, on two threads of the
    /// machine: then the play knows its number by its address. Any other object is used by one play, and may move.
    pub(crate) fn number(&self) -> Option<u32> {
        // Relaxed, here and below: no memory is published by it.
        let bound = self.bound.load(Ordering::Relaxed);
        match machine::play() {
            Some(play) if bound != 0 && bound >> 32 == u64::from(play) => Some(bound as u32 - 1),
            Some(_) if bound != 0 && bound != GONE => machine::late_number(std::ptr::from_ref(self).addr()),
            _ => None,
        }
    }

    /// The place in this execution.
    ///
    /// # Panics
    /// Outside of a model.
    #[track_caller]
    pub(crate) fn place(&self) -> Place {
        if self.bound.load(Ordering::Relaxed) == GONE {
            machine::fail(DROPPED);
        }
        let number = machine::bind(std::ptr::from_ref(self).addr(), || self.number());
        let play = machine::play().unwrap_or_default();
        self.bound.store(u64::from(play) << 32 | u64::from(number + 1), Ordering::Relaxed);
        Place::of_late(number)
    }
}

impl Drop for LatePlace {
    fn drop(&mut self) {
        self.bound.store(GONE, Ordering::Relaxed);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Relaxed: a play is one thread of the machine. Atomic, so that it is written though nobody may read it.
        self.is_there.store(false, Ordering::Relaxed);
    }
}
