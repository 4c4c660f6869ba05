//! Which calls block, by where they are made: what [`syscall`](crate::syscall) learns.
//!
//! A call whose P was retaken blocked for as long as the monitor takes to notice: the next one from the same place hands its P
//! on at once. One that does so, and is over sooner than that was worth, is taken to be short again. Whoever guesses wrong loses
//! some microseconds, and nothing else: both ways to leave a P are right for every call.
//!
//! Learned for the whole process, on real cores only: in deterministic runs a call does the same each time.

use crate::kernel::protocol::syscall::Way;
use core::panic::Location;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// A call that is over within this time was not worth the hand-over.
const SHORT: Duration = Duration::from_micros(30);

/// Does what is called there block? Places that share an entry share what was learned.
static BLOCKS: [AtomicBool; 256] = [const { AtomicBool::new(false) }; 256];

/// A call that leaves its P.
#[derive(Clone, Copy)]
pub(in crate::runtime) enum Call {
    /// It is known to block.
    Blocks,
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
        // A location has 16 bytes or more; the compiler puts many beside one another.
        let address = core::ptr::from_ref(place).addr() / 8;
        let site = CallSite((address ^ address >> 8) as u8);
        if site.blocks() { Call::Blocked(site, Instant::now()) } else { Call::MayBlock(site) }
    }

    /// Is the P handed on at once? On a host that is simulated, what was learned does not count.
    #[inline]
    pub(in crate::runtime) fn hands_off(&self, is_simulated: bool) -> bool {
        match self {
            Call::Blocks => true,
            Call::MayBlock(_) => false,
            Call::Blocked(..) => !is_simulated,
        }
    }

    /// `f` is over: how long it took, if that is to be known. Before the way back, which may be long.
    #[inline]
    pub(in crate::runtime) fn is_over(&self) -> Option<Duration> {
        match self {
            Call::Blocked(_, since) => Some(since.elapsed()),
            _ => None,
        }
    }

    /// It took so long, and its M got a P in this `way`.
    #[inline]
    pub(in crate::runtime) fn learn(&self, took: Option<Duration>, way: Way) {
        match *self {
            Call::MayBlock(site) if way != Way::Kept => site.learn(true),
            Call::Blocked(site, _) if took.is_some_and(|took| took < SHORT) => site.learn(false),
            _ => (),
        }
    }
}

impl CallSite {
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

    #[test]
    fn one_that_is_known_to_block_learns_nothing() {
        Call::Blocks.learn(Some(Duration::ZERO), Way::Kept);
        assert!(Call::Blocks.hands_off(false) && Call::Blocks.hands_off(true));
        assert_eq!(Call::Blocks.is_over(), None, "the clock is not asked");
    }
}
