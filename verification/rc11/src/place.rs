//! Where a location of the facade is, and whether the thread that uses it may.

use crate::graph::{Loc, Order, Update};
use crate::heap;
use crate::machine::{self, PARKING, PARKING_FOR_A_WHILE};
use crate::model;
use crate::quarantine;
use crate::step::Ask;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

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
    /// Threads have it by a count of std's: the end of its life is theirs, and no event's.
    is_counted: bool,
    lies: Lies,
}

/// Where an object lay when it was accessed last, and by which number the heap knows it, from 1.
#[derive(Debug, Default)]
struct Lies {
    at: AtomicUsize,
    number: AtomicU32,
}

impl Place {
    #[track_caller]
    pub(crate) fn new(init: u64) -> Place {
        heap::observe(init);
        let init = heap::to_graph(init);
        let (loc, maker, told) = machine::make_location();
        let play = machine::play().unwrap_or_default();
        let is_there = AtomicBool::new(true);
        Place {
            loc,
            init,
            maker,
            told,
            play,
            is_there,
            are_pointers: false,
            is_known: false,
            is_counted: false,
            lies: Lies::default(),
        }
    }

    /// One of an object's own, which it hands to others past the model.
    #[track_caller]
    pub(crate) fn internal(init: u64) -> Place {
        let mut place = Place::counted(init);
        place.is_known = true;
        place
    }

    /// One of an object that several threads have by a count of std's, which the model does not see.
    #[track_caller]
    pub(crate) fn counted(init: u64) -> Place {
        let mut place = Place::new(init);
        place.is_counted = true;
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
        Place {
            loc,
            init: 0,
            maker,
            told: 0,
            play,
            is_there,
            are_pointers: false,
            is_known: true,
            is_counted: true,
            lies: Lies::default(),
        }
    }

    /// Where it is, for its users.
    #[track_caller]
    fn known(&self) -> Loc {
        // What std counts is freed as std says.
        self.known_at((!self.is_counted).then(|| std::ptr::from_ref(self).addr()))
    }

    /// The same of an object that lies there.
    #[track_caller]
    fn known_at(&self, address: Option<usize>) -> Loc {
        model::question();
        match machine::play() {
            Some(play) if play == self.play && self.is_there.load(Ordering::Relaxed) => {
                // Of itself, if of no other: what every thread knows needs no telling.
                let maker = if self.is_known { machine::current() } else { self.maker };
                let is_there = address.is_none_or(|address| self.lies_at(address));
                machine::must_know(maker, self.told);
                if !is_there || machine::has_ended(self.loc, address) {
                    machine::is_gone(self.loc, false);
                }
            }
            Some(play) if play == self.play => machine::is_gone(self.loc, false),
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

    /// The object is accessed where it lies. Not if that has been freed.
    fn lies_at(&self, address: usize) -> bool {
        // Relaxed, here and below: a play is one thread of the machine.
        if self.lies.at.swap(address, Ordering::Relaxed) == address {
            return true;
        }
        let number = self.lies.number.load(Ordering::Relaxed).checked_sub(1);
        let number = heap::place_object(number, address, self.loc);
        self.lies.number.store(number + 1, Ordering::Relaxed);
        !quarantine::is_freed(address)
    }

    #[track_caller]
    fn ask(&self, ask: Ask) -> u64 {
        let answer = self.answer(ask);
        // While it waited for the answer, another thread may have freed it.
        let at = self.lies.at.load(Ordering::Relaxed);
        if machine::has_ended(self.loc, (at != 0).then_some(at)) {
            machine::is_gone(self.loc, false);
        }
        answer
    }

    #[track_caller]
    fn answer(&self, ask: Ask) -> u64 {
        if self.are_pointers {
            if machine::reuses() {
                match ask {
                    Ask::Store { value, .. } => heap::observe(value),
                    Ask::Update { update, .. } => update.values().into_iter().for_each(heap::observe),
                    _ => (),
                }
            }
            return machine::ask_of_pointers(ask);
        }
        heap::from_graph(machine::ask(match ask {
            Ask::Store { loc, value, order } => {
                heap::observe(value);
                Ask::Store { loc, value: heap::to_graph(value), order }
            }
            Ask::Update { loc, init, order, update } => {
                update.values().into_iter().for_each(heap::observe);
                Ask::Update { loc, init, order, update: update.map(heap::to_graph) }
            }
            other => other,
        }))
    }

    /// A plain access of an object that lies there.
    #[track_caller]
    pub(crate) fn access_at(&self, address: usize, is_write: bool) {
        let (loc, order) = (self.known_at(Some(address)), Order::Plain);
        self.ask(match is_write {
            true => Ask::Store { loc, value: 0, order },
            false => Ask::Load { loc, init: 0, order },
        });
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

    /// Waits until a thread has [`woken`](Place::wake) the waiters here, and takes that.
    #[track_caller]
    pub(crate) fn sleep(&self, order: Order) {
        self.update(order, PARKING);
    }

    /// The same; the thread does not sleep for ever, and that it wakes of itself is played elsewhere.
    #[track_caller]
    pub(crate) fn sleep_for_a_while(&self, order: Order) {
        self.update(order, PARKING_FOR_A_WHILE);
    }

    /// Wakes the threads that sleep here, or will.
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

    /// The calling thread has it for itself alone: every access before must be known to it, and every later one must know
    /// of this.
    #[track_caller]
    pub(crate) fn lend(&mut self) {
        if machine::play() == Some(self.play) {
            machine::must_know_all_of(self.loc, (self.maker, self.told), false);
            (self.maker, self.told) = (machine::current(), machine::told());
        }
    }

    /// Its life ends: every access of it must be known to the calling thread.
    pub(crate) fn end(&self) {
        // Relaxed: a play is one thread of the machine. Atomic, so that it is written though it may not be read.
        let was_there = self.is_there.swap(false, Ordering::Relaxed);
        if machine::play() != Some(self.play) || machine::is_over() {
            return;
        }
        if was_there {
            machine::must_know_all_of(self.loc, (self.maker, self.told), true);
        } else {
            machine::is_gone(self.loc, true);
        }
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
            machine::is_gone(Loc::NONE, false);
        }
        let number = machine::bind(std::ptr::from_ref(self).addr(), || self.number());
        let play = machine::play().unwrap_or_default();
        self.bound.store(u64::from(play) << 32 | u64::from(number + 1), Ordering::Relaxed);
        Place::of_late(number)
    }
}

impl Drop for LatePlace {
    fn drop(&mut self) {
        if let Some(number) = self.number() {
            machine::must_know_all_of(Loc::of_static(number), (machine::current(), 0), true);
        }
        self.bound.store(GONE, Ordering::Relaxed);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_counted {
            self.is_there.store(false, Ordering::Relaxed);
        } else {
            self.end();
        }
    }
}
