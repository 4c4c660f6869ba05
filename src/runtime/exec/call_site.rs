//! Which calls block, by where they are made: what [`syscall`](crate::syscall) and [`blocking`](crate::blocking) learn.
//!
//! A call whose P was retaken blocked for as long as the monitor takes to notice: the next one from the same place hands its P
//! on at once. One that does so, and is over sooner than that was worth, is taken to be short again; where calls are said to
//! block, it takes [`MANY`] in a row until one leaves its P as a `syscall` does. A wrong guess costs some microseconds,
//! and nothing else: both ways to leave a P are right for every call, and the monitor looks after each.
//!
//! | at this place     | `syscall`: the next call | `blocking`: the next call |
//! |-------------------|--------------------------|---------------------------|
//! | nothing known     | leaves its P             | hands it on               |
//! | a P was retaken   | hands it on              | hands it on               |
//! | a short call      | leaves its P             | hands it on               |
//! | `MANY` in a row   | leaves its P             | leaves its P              |
//!
//! Learned for the whole process, on real cores only: in deterministic runs a call does the same each time.

use crate::kernel::protocol::syscall::Way;
use core::panic::Location;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU8};
use std::time::{Duration, Instant};

/// A call that is over within this time was not worth the hand-over.
const SHORT: Duration = Duration::from_micros(30);

/// Does what is called there block? Places that share an entry share what was learned.
static BLOCKS: [AtomicBool; 256] = [const { AtomicBool::new(false) }; 256];

/// So many calls in a row, which are said to block, were over within [`SHORT`].
static SHORT_ONES: [AtomicU8; 256] = [const { AtomicU8::new(0) }; 256];

/// A place that is said to block, and does not: after so many calls.
const MANY: u8 = 8;

/// A call that leaves its P.
#[derive(Clone, Copy)]
pub(in crate::runtime) enum Call {
    /// It is known to block.
    Blocks,
    /// It is made here, and is said to block; it began then. No moment: as many as this one takes did not.
    SaidToBlock(CallSite, Option<Instant>),
    /// It is made here, and may block.
    MayBlock(CallSite),
    /// It is made here, where the last one blocked; it began then.
    Blocked(CallSite, Instant),
}

/// Where a call is made.
#[derive(Clone, Copy)]
pub(in crate::runtime) struct CallSite(u8);

impl Call {
    /// A call that is made at `place`, and may block.
    #[inline]
    pub(in crate::runtime) fn at(place: &'static Location<'static>) -> Call {
        let site = CallSite::of(place);
        if site.blocks() { Call::Blocked(site, Instant::now()) } else { Call::MayBlock(site) }
    }

    /// A call that is made at `place`, and is said to block.
    #[inline]
    pub(in crate::runtime) fn said_to_block_at(place: &'static Location<'static>) -> Call {
        let site = CallSite::of(place);
        Call::SaidToBlock(site, (!site.is_short()).then(Instant::now))
    }

    /// Is the P handed on at once? On a host that is simulated, what was learned does not count.
    #[inline]
    pub(in crate::runtime) fn hands_off(&self, is_simulated: bool) -> bool {
        match self {
            Call::Blocks => true,
            Call::MayBlock(_) => false,
            Call::Blocked(..) => !is_simulated,
            Call::SaidToBlock(_, since) => is_simulated || since.is_some(),
        }
    }

    /// `f` is over: how long it took, if that is to be known. Before the way back, which may be long.
    #[inline]
    pub(in crate::runtime) fn is_over(&self) -> Option<Duration> {
        match self {
            Call::Blocked(_, since) => Some(since.elapsed()),
            Call::SaidToBlock(_, since) => since.map(|since| since.elapsed()),
            Call::Blocks | Call::MayBlock(_) => None,
        }
    }

    /// It took so long, and its M got a P in this `way`.
    #[inline]
    pub(in crate::runtime) fn learn(&self, took: Option<Duration>, way: Way) {
        match *self {
            Call::MayBlock(site) if way != Way::Kept => site.learn(true),
            Call::Blocked(site, _) if took.is_some_and(|took| took < SHORT) => site.learn(false),
            Call::SaidToBlock(site, _) => match took {
                Some(took) => site.counts(took < SHORT),
                None if way != Way::Kept => site.counts(false),
                None => (),
            },
            _ => (),
        }
    }
}

impl CallSite {
    #[inline]
    fn of(place: &'static Location<'static>) -> CallSite {
        // A location has 16 bytes or more; the compiler puts many beside one another.
        let address = core::ptr::from_ref(place).addr() / 8;
        CallSite((address ^ address >> 8) as u8)
    }

    #[inline]
    fn is_short(self) -> bool {
        // Relaxed: a guess.
        SHORT_ONES[usize::from(self.0)].load(Relaxed) >= MANY
    }

    #[cold]
    fn counts(self, is_short: bool) {
        let ones = &SHORT_ONES[usize::from(self.0)];
        // Relaxed: a guess; of two that count at once one may be lost.
        let before = ones.load(Relaxed);
        // Relaxed: as above.
        ones.store(if is_short { before.saturating_add(1) } else { 0 }, Relaxed);
    }

    #[inline]
    fn blocks(self) -> bool {
        // Relaxed: a guess.
        BLOCKS[usize::from(self.0)].load(Relaxed)
    }

    #[cold]
    fn learn(self, blocks: bool) {
        // Relaxed: a guess.
        BLOCKS[usize::from(self.0)].store(blocks, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn here() -> Call {
        Call::at(Location::caller())
    }

    #[test]
    fn a_call_that_was_retaken_hands_off_the_next_from_there() {
        let mut hand_offs = Vec::new();
        for way in [Way::Kept, Way::Queued, Way::Idle, Way::Kept] {
            let call = here();
            hand_offs.push(call.hands_off(false));
            call.learn(Some(SHORT), way);
            assert!(!call.hands_off(true), "what was learned on cores counts on a simulated host");
        }
        assert_eq!(hand_offs, [false, false, true, true]);
    }

    #[test]
    fn one_that_is_short_after_all_is_short_from_then_on() {
        let mut hand_offs = Vec::new();
        for (way, took) in [(Way::Queued, SHORT), (Way::Idle, SHORT / 2), (Way::Kept, SHORT)] {
            let call = here();
            hand_offs.push(call.hands_off(false));
            call.learn(Some(took), way);
        }
        assert_eq!(hand_offs, [false, true, false]);
    }

    #[track_caller]
    fn said(calls: &[(Way, Duration)]) -> Vec<bool> {
        let place = Location::caller();
        let plays = |&(way, took): &(Way, Duration)| {
            let call = Call::said_to_block_at(place);
            assert!(call.hands_off(true), "what was learned on cores counts on a simulated host");
            let hands_off = call.hands_off(false);
            call.learn(call.is_over().map(|_| took), way);
            hands_off
        };
        calls.iter().map(plays).collect()
    }

    #[test]
    fn one_that_is_said_to_block_hands_off_until_many_in_a_row_were_short() {
        let many = usize::from(MANY);
        let short = (Way::Idle, SHORT / 2);
        let mut calls = vec![short; many - 1];
        calls.push((Way::Idle, SHORT));
        calls.extend(vec![short; many]);
        calls.push((Way::Kept, Duration::ZERO));
        let hand_offs = said(&calls);
        assert_eq!(hand_offs.iter().position(|hands_off| !hands_off), Some(2 * many), "{hand_offs:?}");
    }

    #[test]
    fn one_that_is_said_to_block_and_was_retaken_hands_off_again() {
        let mut calls = vec![(Way::Idle, SHORT / 2); usize::from(MANY)];
        calls.extend([(Way::Kept, SHORT), (Way::Queued, SHORT), (Way::Kept, SHORT)]);
        assert_eq!(said(&calls)[usize::from(MANY)..], [false, false, true]);
    }

    #[test]
    fn one_that_is_known_to_block_learns_nothing() {
        Call::Blocks.learn(Some(Duration::ZERO), Way::Kept);
        assert!(Call::Blocks.hands_off(false) && Call::Blocks.hands_off(true));
        assert_eq!(Call::Blocks.is_over(), None, "the clock is not asked");
    }
}
