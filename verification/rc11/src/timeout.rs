//! Waits that may time out: whenever they like, since no model has a clock for them.
//!
//! A loop that waits again after each time-out has an execution for each number of them, without end. So a thread that has
//! timed out twice at one line, and has learnt and changed nothing since, times out again without an event. If it comes back
//! in a state that it was in before, it is shown that the loop waits for ever: the wait is played as one without a time-out. If
//! it does something else (it counts its attempts), that execution is played, but not each that others could have come
//! between: *bounded*. That is so too if it comes back to such a state, but not at once: it might have been woken before.

use crate::graph::Loc;
use crate::machine::{self, ComesBack, Frame};
use crate::state::{self, At};
use crate::step::Ask;
use std::collections::BTreeSet;
use std::panic::Location;

/// How a wait goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timeout {
    /// It times out.
    Now,
    /// It times out, and nothing else has happened: no event.
    Again,
    /// It does not, though it might.
    NotNow,
    /// It would for ever: the loop does nothing else.
    ForEver,
}

/// So many time-outs in a row are played, with all that others can do between.
const PLAYED: u16 = 2;

/// At most so many time-outs of one thread at one line that bring news.
const MOST: u16 = 8;

/// The time-outs of one thread at one line.
#[derive(Debug, Clone, Default)]
pub(crate) struct TimedOut {
    /// In all.
    times: u16,
    /// In a row, without news.
    in_a_row: u16,
    /// The states in which the thread has been since, when it came back without an event.
    states: BTreeSet<u64>,
    /// How many events the thread had had the answers to.
    told: u16,
    /// How often what the lock guards was changed.
    version: u64,
}

impl TimedOut {
    fn key(at: At) -> (u8, usize) {
        (machine::current(), std::ptr::from_ref(at).addr())
    }

    /// Those at that line until now; those in a row begin anew if there is news.
    fn until_now(at: At, version: u64, own: &[Loc]) -> TimedOut {
        let Some(mut found) = state::with(|state| state.timeouts.get(&TimedOut::key(at)).cloned()) else {
            return TimedOut::default();
        };
        if found.version != version || machine::has_news(found.told, own) {
            found.in_a_row = 0;
            found.states.clear();
        }
        found
    }

    fn note(mut self, at: At, version: u64) {
        (self.told, self.version) = (machine::told(), version);
        state::with(|state| state.timeouts.insert(TimedOut::key(at), self));
    }
}

/// How the wait goes, if it only does again what it did before: no event. What it does itself at its `own` places is no news;
/// `version` counts the changes of what it waits for, as far as the thread can know.
#[track_caller]
#[inline(never)]
pub(crate) fn again(version: u64, own: &[Loc]) -> Option<Timeout> {
    // Its own frame is a part of the state, so that all else is done by a function of its own.
    machine::wipe();
    let timeout = again_from(machine::Frame::here(), Location::caller(), version, own);
    machine::wipe();
    timeout
}

#[inline(never)]
fn again_from(frame: Option<Frame>, at: At, version: u64, own: &[Loc]) -> Option<Timeout> {
    machine::aside(|| {
        let mut now = TimedOut::until_now(at, version, own);
        if now.in_a_row < PLAYED {
            return None;
        }
        // Until it is shown that the loop goes on so, this is an execution that stands for others.
        let timeout = match machine::comes_back(frame, &mut now.states) {
            ComesBack::AsItWas => {
                // From the others, on the way to this one, it might have been woken too.
                if now.states.len() == 1 {
                    machine::is_cut(at, None);
                }
                Timeout::ForEver
            }
            ComesBack::TooOften => Timeout::NotNow,
            ComesBack::Otherwise => {
                let and_then = "and the thread was in another state each time: what others can do between these is not played each time";
                machine::is_cut(
                    at,
                    Some(format!("the wait at {at} has timed out more than twice in a row, {and_then}")),
                );
                Timeout::Again
            }
        };
        now.note(at, version);
        Some(timeout)
    })
}

/// How the wait goes.
#[track_caller]
pub(crate) fn choose(version: u64, own: &[Loc]) -> Timeout {
    let at = Location::caller();
    let mut now = TimedOut::until_now(at, version, own);
    if now.times >= MOST {
        let why = format!("the wait at {at} has timed out {MOST} times, each time with news: more is not played");
        machine::is_cut(at, Some(why));
        return Timeout::NotNow;
    }
    if machine::ask(Ask::Choose(2)) == 0 {
        return Timeout::NotNow;
    }
    (now.times, now.in_a_row) = (now.times + 1, now.in_a_row + 1);
    now.note(at, version);
    Timeout::Now
}

/// Is the calling thread's wait at that line one that has timed out before, without news since? Then it does so again, and that
/// is no event. Being woken is news.
#[track_caller]
pub(crate) fn brings_nothing() -> bool {
    let brings_nothing = TimedOut::until_now(Location::caller(), 0, &[]).in_a_row > 0;
    if brings_nothing {
        machine::times_out_silently(Location::caller());
    }
    brings_nothing
}

/// It times out.
#[track_caller]
pub(crate) fn note() {
    TimedOut { in_a_row: 1, ..TimedOut::default() }.note(Location::caller(), 0);
}
