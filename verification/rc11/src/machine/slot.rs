//! A thread of the execution.

use super::{Thread, frame, yields};
use crate::graph::{Clock, Loc};
use crate::step::Ask;
use corosensei::Yielder;
use std::panic::Location;

/// A thread of the execution, as far as it has come.
pub(super) struct Slot {
    pub(super) thread: Option<Thread>,
    pub(super) yielder: *const Yielder<(), ()>,
    /// What it waits to be answered. `None`: it has yet to come so far.
    pub(super) asks: Option<Ask>,
    /// Its events, by number.
    pub(super) events: Vec<u16>,
    /// How many of them it has had the answers to.
    pub(super) told: u16,
    /// What it has for reading, and since which of its events.
    pub(super) reads: Vec<(Loc, u16)>,
    /// How many locks it holds.
    pub(super) holds: u16,
    /// How many locations it has made.
    pub(super) locs: u32,
    pub(super) is_done: bool,
    /// Is it in the middle of a panic?
    pub(super) is_unwinding: bool,
    /// Was another thread, when this one last went on? Then it cannot be known whether this one is: the machine's
    /// thread counts for all.
    pub(super) others_unwind: bool,
    pub(super) asked_in_vain: u32,
    /// How often it has yielded in a row, and asked for nothing else.
    pub(super) yields: u32,
    /// The states at the ends of the rounds of its loop, since it had news last; without those that are left for good.
    pub(super) spun: Vec<u64>,
    /// It is tried whether its loop goes on as it does.
    pub(super) dry: Option<yields::Dry>,
    /// Which thread made the location that it asks for, if another did, and after how many of its events.
    pub(super) must_know: Option<(u8, u16)>,
    /// It runs a destructor, and counts as knowing this.
    pub(super) knows: Option<Clock>,
    /// Where its stack begins and ends.
    pub(super) stack_begins: usize,
    pub(super) stack_ends: usize,
    /// A wait of its loop that has timed out without an event, since it had news last.
    pub(super) silent: Option<&'static Location<'static>>,
    /// Where it stood when it yielded last, and the line of the source.
    pub(super) frame: Option<frame::Frame>,
    pub(super) at: Option<&'static Location<'static>>,
    /// Which one it is, in the order in which threads were started in this play.
    pub(super) number: usize,
    /// What it is called; only when it is played again.
    pub(super) name: String,
}

impl Slot {
    pub(super) fn new() -> Slot {
        Slot {
            thread: None,
            yielder: std::ptr::null(),
            asks: None,
            events: Vec::new(),
            told: 0,
            reads: Vec::new(),
            holds: 0,
            locs: 0,
            is_done: false,
            is_unwinding: false,
            others_unwind: false,
            asked_in_vain: 0,
            yields: 0,
            spun: Vec::new(),
            dry: None,
            must_know: None,
            stack_begins: 0,
            knows: None,
            stack_ends: 0,
            silent: None,
            frame: None,
            at: None,
            number: 0,
            name: String::new(),
        }
    }

    /// As new, for another thread. Its memory is used again.
    pub(super) fn reset(&mut self) {
        let mut events = std::mem::take(&mut self.events);
        events.clear();
        *self = Slot { events, ..Slot::new() };
    }
}
