//! Where a location of the facade is, and whether the one who uses it may.

use crate::graph::{Loc, Order, Update};
use crate::machine::{self, PARKING, PARKING_FOR_A_WHILE, PARKING_TOO_OFTEN};
use crate::model;
use crate::step::Ask;
use std::sync::atomic::{AtomicBool, Ordering};

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

    /// One that every thread knows of: of a `static`. Only for as long as the play lasts.
    pub(crate) fn of_static(n: u32) -> Place {
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

    /// The same for a while; that it is over is tried by the caller, now or never.
    #[track_caller]
    pub(crate) fn sleep_for_a_while(&self, order: Order, is_tried: bool) {
        self.update(order, if is_tried { PARKING_FOR_A_WHILE } else { PARKING_TOO_OFTEN });
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

impl Drop for Place {
    fn drop(&mut self) {
        // Relaxed: a play is one thread of the machine. Atomic, so that it is written though nobody may read it.
        self.is_there.store(false, Ordering::Relaxed);
    }
}
