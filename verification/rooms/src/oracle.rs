//! One oracle for all rooms: is a history explained by the specification?
//!
//! It is if there is an order of all calls, or of the steps of those that take several, in which
//! 1. each call comes after the calls that happen before it, and the specification answers what was answered;
//! 2. what an answer says has happened is seen by the caller, and what it says has not had not ended before;
//! 3. as many values are dropped in each call as the specification says, and as many are left;
//! 4. a wait is woken once if it went on and is over, and not at all if it did not, or is not;
//! 5. each waker of a wait that is over or given up was woken or forgotten, but for those that the specification has;
//! 6. no thread sleeps whose wait is over, and none is stuck inside of a call, but for one that sleeps: that has done all of its steps
//!    but the last, which the specification refuses;
//! 7. the specification allows the room to stay as it is.

use crate::history::{Fate, History, Thread};
use crate::room::{CallId, Does, Effects, Room, Spec};
use std::collections::HashSet;

/// What is looked at besides the history.
#[derive(Debug, Clone, Copy)]
pub struct Judged {
    /// How many values are left in the room and its waits. `None`: that is not known.
    pub live: Option<usize>,
    /// Is a wait that goes on woken exactly once? If not, at least once.
    pub wakes_once: bool,
}

/// Explains a history by `spec`, or says why that cannot be.
///
/// # Errors
/// In a sentence, and the history.
pub fn explain<R: Room>(spec: &R::Spec, history: &History<R>, judged: Judged) -> Result<(), String> {
    let furthest = (0, String::from("no call may come first"));
    let mut search = Search::<R> { history, judged, furthest, dead_ends: HashSet::new() };
    let explained = search.threads_are_at_rest().and_then(|()| {
        let is_explained = search.go_on(spec, &mut vec![0; history.0.len()]);
        if is_explained { Ok(()) } else { Err(std::mem::take(&mut search.furthest.1)) }
    });
    explained.map_err(|why| format!("{why}\n{history}"))
}

struct Search<'a, R: Room> {
    history: &'a History<R>,
    judged: Judged,
    /// How many calls the longest order that was found has, and why it does not go on.
    furthest: (usize, String),
    /// From where no order goes on: after so many calls of each thread, and with what the specification then says. Other orders of the same
    /// calls come there too.
    dead_ends: HashSet<(Vec<usize>, R::Spec)>,
}

impl<R: Room> Search<'_, R> {
    /// What does not depend on the order.
    fn threads_are_at_rest(&self) -> Result<(), String> {
        for (n, thread) in self.history.0.iter().enumerate() {
            if thread.fate == Fate::Calls && thread.sleeping.is_none() {
                return Err(format!("thread {n} is stuck inside of a call"));
            }
            let (mut went_on, mut wait) = (false, 0);
            for call in &thread.calls {
                went_on &= call.wait == wait;
                wait = call.wait;
                if call.does != Does::Poll {
                    continue;
                }
                let woken = call.answer.is_some().then(|| thread.wakes[wait - 1].woken);
                if let Some(woken) = woken.filter(|woken| *woken > 0 || R::Spec::RENEWS_AT_ONCE) {
                    self.is_woken(woken, went_on).map_err(|why| format!("wait {wait} of thread {n} {why}"))?;
                }
                went_on |= call.answer.is_none();
            }
            if thread.fate == Fate::Sleeps && self.judged.wakes_once && thread.wakes[wait - 1].woken > 0 {
                return Err(format!("wait {wait} of thread {n} was woken for nothing"));
            }
            let unsettled = thread.of_waits_that_are_over().position(|wakers| wakers.unsettled > 0);
            if let Some(wait) = unsettled.filter(|_| R::Spec::TAKES_ITS_WAKER) {
                return Err(format!("a waker of wait {} of thread {n} was neither woken nor forgotten", wait + 1));
            }
        }
        Ok(())
    }

    fn is_woken(&self, woken: u64, must_be: bool) -> Result<(), &'static str> {
        match (woken, must_be) {
            (0, true) => Err("is over, and was not woken"),
            (1, false) if R::Spec::WAKES_EARLY => Ok(()),
            (1.., false) if self.judged.wakes_once => Err("was woken for nothing"),
            (2.., _) if self.judged.wakes_once => Err("was woken twice"),
            _ => Ok(()),
        }
    }

    fn go_on(&mut self, spec: &R::Spec, done: &mut Vec<usize>) -> bool {
        let here = |done: &Vec<usize>| (done.clone(), spec.clone());
        if !self.dead_ends.is_empty() && self.dead_ends.contains(&here(done)) {
            return false;
        }
        let goes_on = self.explains_the_rest(spec, done);
        if !goes_on {
            self.dead_ends.insert(here(done));
        }
        goes_on
    }

    fn explains_the_rest(&mut self, spec: &R::Spec, done: &mut Vec<usize>) -> bool {
        let history = self.history;
        let mut is_over = true;
        // First the call that has seen the least when it ended: most often that is the order in which they were.
        let seen = |&thread: &usize| {
            history.0[thread].calls.get(done[thread]).map_or(usize::MAX, |call| call.seen.iter().sum())
        };
        let mut order: Vec<usize> = (0..history.0.len()).collect();
        order.sort_by_key(seen);
        for thread in order {
            let of = &history.0[thread];
            let id = CallId { thread, nth: done[thread] };
            let call = of.calls.get(id.nth);
            let sleeping = of.sleeping.as_ref().filter(|_| call.is_none());
            let known = call.map(|call| (call.does, call.answer.as_ref(), &call.after));
            let known = known.or(sleeping.map(|sleeping| (sleeping.does, None, &sleeping.after)));
            let Some((does, answer, after)) = known else { continue };
            let before = spec.step_before(id, does, answer);
            is_over &= call.is_none() && before.is_none();
            let is_next = after.iter().enumerate().all(|(n, &count)| n == thread || done[n] >= count);
            if !is_next {
                continue;
            }
            if let Some(next) = before {
                if self.go_on(&next, done) {
                    return true;
                }
                continue;
            }
            if call.is_none() {
                continue;
            }
            if let Some(next) = self.step(spec, id, done) {
                done[thread] += 1;
                if self.go_on(&next, done) {
                    return true;
                }
                done[thread] -= 1;
            }
            if spec.guesses(id, does).iter().any(|next| self.go_on(next, done)) {
                return true;
            }
        }
        is_over && self.ends(spec, done)
    }

    /// The specification after this call, if it may come next.
    fn step(&mut self, spec: &R::Spec, id: CallId, done: &[usize]) -> Option<R::Spec> {
        let thread = &self.history.0[id.thread];
        let call = &thread.calls[id.nth];
        let name = || format!("{}.{}", id.thread, id.nth);
        if call.does == Does::GiveUp {
            let went_on = |other: &&crate::history::Call<R>| other.wait == call.wait && other.does == Does::Poll;
            let went_on = thread.calls[..id.nth].iter().filter(went_on).any(|other| other.answer.is_none());
            let is_over = || spec.clone().step(id, Does::Poll, None, &mut Effects::default()).is_some();
            let woken = thread.wakes[call.wait - 1].woken;
            let may_be_later = went_on && woken == 1 && !R::Spec::TAKES_ITS_WAKER;
            if let Err(why) = self.is_woken(woken, may_be_later || went_on && is_over()) {
                return self.stops(done, || format!("the wait that {} gives up {why}", name()));
            }
        }
        let (mut next, mut effects) = (spec.clone(), Effects::default());
        let answer = next.step(id, call.does, call.answer.as_ref(), &mut effects);
        if answer != call.answer {
            return self.stops(done, || format!("{} {:?}: {:?}, and not {answer:?}", name(), call.does, call.answer));
        }
        if R::Spec::COUNTS_DROPS && effects.drops != call.drops {
            let drops = effects.drops;
            return self.stops(done, || format!("{} drops {} values, and not {drops}", name(), call.drops));
        }
        if let Some(missed) = effects.misses.iter().find(|missed| call.after[missed.thread] > missed.nth) {
            let CallId { thread, nth } = *missed;
            return self.stops(done, || format!("{} answers as if {thread}.{nth} had not been", name()));
        }
        let unseen = effects.sees.iter().find(|seen| seen.thread != id.thread && call.seen[seen.thread] <= seen.nth);
        match unseen {
            Some(CallId { thread, nth }) => self.stops(done, || {
                format!("{} follows from {thread}.{nth}, and does not see what was done before it", name())
            }),
            None => Some(next),
        }
    }

    fn ends(&mut self, spec: &R::Spec, done: &[usize]) -> bool {
        for (thread, of) in self.history.0.iter().enumerate().filter(|(_, of)| of.is_asleep()) {
            let id = CallId { thread, nth: of.calls.len() };
            let does = of.sleeping.as_ref().map_or(Does::Poll, |sleeping| sleeping.does);
            if spec.clone().step(id, does, None, &mut Effects::default()).is_some() {
                self.stops::<()>(done, || format!("thread {thread} sleeps for ever, and its wait is over"));
                return false;
            }
        }
        if let Err(why) = spec.at_rest() {
            self.stops::<()>(done, || why.to_owned());
            return false;
        }
        let (held, live) = (spec.held(), self.judged.live);
        if live.is_some_and(|live| live != held) {
            self.stops::<()>(done, || format!("{live:?} values are left, and not {held}"));
            return false;
        }
        let of = |thread: &Thread<R>| thread.of_waits_that_are_over().map(|wakers| wakers.unsettled).sum::<u64>();
        let (wakers, kept) = (self.history.0.iter().map(of).sum::<u64>(), spec.wakers());
        if wakers != kept as u64 {
            self.stops::<()>(done, || format!("{wakers} wakers of waits that are over are left, and not {kept}"));
            return false;
        }
        true
    }

    fn stops<T>(&mut self, done: &[usize], why: impl FnOnce() -> String) -> Option<T> {
        let depth = done.iter().sum::<usize>() + 1;
        if depth > self.furthest.0 {
            self.furthest = (depth, why());
        }
        None
    }
}
