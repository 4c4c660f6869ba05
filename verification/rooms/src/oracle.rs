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
use std::collections::HashMap;

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
pub fn explain<R: Room>(spec: R::Spec, history: &History<'_, R>, judged: Judged) -> Result<(), String> {
    let rules = Rules {
        counts_drops: R::Spec::COUNTS_DROPS,
        takes_its_waker: R::Spec::TAKES_ITS_WAKER,
        renews_at_once: R::Spec::RENEWS_AT_ONCE,
        wakes_early: R::Spec::WAKES_EARLY,
    };
    let meaning = &mut States::<R> { history, states: vec![spec] };
    let furthest = (0, String::from("no call may come first"));
    let threads = &history.threads;
    let mut search = Search { threads, meaning, rules, judged, furthest, dead_ends: HashMap::new() };
    search.search().map_err(|why| format!("{why}\n{history}"))
}

/// What the specification says of itself.
struct Rules {
    counts_drops: bool,
    takes_its_waker: bool,
    renews_at_once: bool,
    wakes_early: bool,
}

/// What the search asks of a specification, whichever that is: so it is compiled once. A state of the specification is a number.
trait Meaning {
    /// The call's step; is it answered as it was?
    fn step(&mut self, from: usize, id: CallId) -> (usize, Effects, bool);
    /// What the call does before its step.
    fn before(&mut self, from: usize, id: CallId) -> Option<usize>;
    /// What the call may do before its step, or not.
    fn guesses(&mut self, from: usize, id: CallId) -> Vec<usize>;
    /// What the call does, what it was answered, and what it should have been.
    fn told(&self, from: usize, id: CallId) -> String;
    /// Would the thread's wait be over, or the call return in which it sleeps?
    fn is_over(&self, from: usize, id: CallId) -> bool;
    fn is_same(&self, one: usize, other: usize) -> bool;
    fn at_rest(&self, at: usize) -> Result<(), &'static str>;
    /// How many values are held, and how many wakers.
    fn held(&self, at: usize) -> (usize, usize);
}

/// The states of a room's specification that were reached, by their numbers.
struct States<'a, R: Room> {
    history: &'a History<'a, R>,
    states: Vec<R::Spec>,
}

impl<R: Room> States<'_, R> {
    fn add(&mut self, state: R::Spec) -> usize {
        self.states.push(state);
        self.states.len() - 1
    }

    fn answers(&self, from: usize, id: CallId) -> (R::Spec, Effects, Option<R::Answer>) {
        let (mut next, mut effects) = (self.states[from].clone(), Effects::default());
        let answer = next.step(id, self.history.does(id), self.history.answer(id), &mut effects);
        (next, effects, answer)
    }
}

impl<R: Room> Meaning for States<'_, R> {
    fn step(&mut self, from: usize, id: CallId) -> (usize, Effects, bool) {
        let (next, effects, answer) = self.answers(from, id);
        let is_so = answer.as_ref() == self.history.answer(id);
        (self.add(next), effects, is_so)
    }

    fn before(&mut self, from: usize, id: CallId) -> Option<usize> {
        let before = self.states[from].step_before(id, self.history.does(id), self.history.answer(id))?;
        Some(self.add(before))
    }

    fn guesses(&mut self, from: usize, id: CallId) -> Vec<usize> {
        let guesses = self.states[from].guesses(id, self.history.does(id));
        guesses.into_iter().map(|guess| self.add(guess)).collect()
    }

    fn told(&self, from: usize, id: CallId) -> String {
        let (does, was, answer) = (self.history.does(id), self.history.answer(id), self.answers(from, id).2);
        format!("{does:?}: {was:?}, and not {answer:?}")
    }

    fn is_over(&self, from: usize, id: CallId) -> bool {
        let ends = id.nth == self.history.threads[id.thread].calls.len();
        let does = if ends { self.history.does(id) } else { Does::Poll };
        self.states[from].clone().step(id, does, None, &mut Effects::default()).is_some()
    }

    fn is_same(&self, one: usize, other: usize) -> bool {
        self.states[one] == self.states[other]
    }

    fn at_rest(&self, at: usize) -> Result<(), &'static str> {
        self.states[at].at_rest()
    }

    fn held(&self, at: usize) -> (usize, usize) {
        (self.states[at].held(), self.states[at].wakers())
    }
}

struct Search<'a> {
    threads: &'a [Thread],
    meaning: &'a mut dyn Meaning,
    rules: Rules,
    judged: Judged,
    /// How many calls the longest order that was found has, and why it does not go on.
    furthest: (usize, String),
    /// From where no order goes on: after so many calls of each thread, and with what the specification then says. Other orders of the same
    /// calls come there too.
    dead_ends: HashMap<Vec<usize>, Vec<usize>>,
}

impl Search<'_> {
    fn search(&mut self) -> Result<(), String> {
        self.threads_are_at_rest()?;
        let is_explained = self.go_on(0, &mut vec![0; self.threads.len()]);
        if is_explained { Ok(()) } else { Err(std::mem::take(&mut self.furthest.1)) }
    }

    /// What does not depend on the order.
    fn threads_are_at_rest(&self) -> Result<(), String> {
        for (n, thread) in self.threads.iter().enumerate() {
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
                let woken = call.is_answered.then(|| thread.wakes[wait - 1].woken);
                if let Some(woken) = woken.filter(|woken| *woken > 0 || self.rules.renews_at_once) {
                    self.is_woken(woken, went_on).map_err(|why| format!("wait {wait} of thread {n} {why}"))?;
                }
                went_on |= !call.is_answered;
            }
            if thread.fate == Fate::Sleeps && self.judged.wakes_once && thread.wakes[wait - 1].woken > 0 {
                return Err(format!("wait {wait} of thread {n} was woken for nothing"));
            }
            let unsettled = thread.of_waits_that_are_over().position(|wakers| wakers.unsettled > 0);
            if let Some(wait) = unsettled.filter(|_| self.rules.takes_its_waker) {
                return Err(format!("a waker of wait {} of thread {n} was neither woken nor forgotten", wait + 1));
            }
        }
        Ok(())
    }

    fn is_woken(&self, woken: u64, must_be: bool) -> Result<(), &'static str> {
        match (woken, must_be) {
            (0, true) => Err("is over, and was not woken"),
            (1, false) if self.rules.wakes_early => Ok(()),
            (1.., false) if self.judged.wakes_once => Err("was woken for nothing"),
            (2.., _) if self.judged.wakes_once => Err("was woken twice"),
            _ => Ok(()),
        }
    }

    /// Is there an order of the other calls, from this state on and after so many calls of each thread?
    fn go_on(&mut self, at: usize, done: &mut Vec<usize>) -> bool {
        let dead = self.dead_ends.get(done);
        if dead.is_some_and(|dead| dead.iter().any(|&dead| self.meaning.is_same(dead, at))) {
            return false;
        }
        let goes_on = self.explains_the_rest(at, done);
        if !goes_on {
            self.dead_ends.entry(done.clone()).or_default().push(at);
        }
        goes_on
    }

    fn explains_the_rest(&mut self, at: usize, done: &mut Vec<usize>) -> bool {
        let mut is_over = true;
        // First the call that has seen the least when it ended: most often that is the order in which they were.
        let seen = |&thread: &usize| {
            self.threads[thread].calls.get(done[thread]).map_or(usize::MAX, |call| call.seen.iter().sum())
        };
        let mut order: Vec<usize> = (0..self.threads.len()).collect();
        order.sort_by_key(seen);
        for thread in order {
            let of = &self.threads[thread];
            let id = CallId { thread, nth: done[thread] };
            let Some(after) = of.after(id.nth) else { continue };
            let before = self.meaning.before(at, id);
            let has_ended = id.nth < of.calls.len();
            is_over &= !has_ended && before.is_none();
            let is_next = after.iter().enumerate().all(|(n, &count)| n == thread || done[n] >= count);
            if !is_next {
                continue;
            }
            if let Some(next) = before {
                if self.go_on(next, done) {
                    return true;
                }
                continue;
            }
            if !has_ended {
                continue;
            }
            if let Some(next) = self.step(at, id, done) {
                done[thread] += 1;
                if self.go_on(next, done) {
                    return true;
                }
                done[thread] -= 1;
            }
            if self.meaning.guesses(at, id).into_iter().any(|next| self.go_on(next, done)) {
                return true;
            }
        }
        is_over && self.ends(at, done)
    }

    /// The specification after this call, if it may come next.
    fn step(&mut self, at: usize, id: CallId, done: &[usize]) -> Option<usize> {
        let thread = &self.threads[id.thread];
        let call = &thread.calls[id.nth];
        let name = format_args!("{}.{}", id.thread, id.nth);
        if call.does == Does::GiveUp {
            let calls = thread.calls[..id.nth].iter().filter(|other| other.wait == call.wait);
            let went_on = calls.filter(|other| other.does == Does::Poll).any(|other| !other.is_answered);
            let woken = thread.wakes[call.wait - 1].woken;
            let may_be_later = went_on && woken == 1 && !self.rules.takes_its_waker;
            if let Err(why) = self.is_woken(woken, may_be_later || went_on && self.meaning.is_over(at, id)) {
                return self.stops(done, |_| format!("the wait that {name} gives up {why}"));
            }
        }
        let (next, effects, is_so) = self.meaning.step(at, id);
        if !is_so {
            return self.stops(done, |meaning| format!("{name} {}", meaning.told(at, id)));
        }
        if self.rules.counts_drops && effects.drops != call.drops {
            let drops = effects.drops;
            return self.stops(done, |_| format!("{name} drops {} values, and not {drops}", call.drops));
        }
        if let Some(missed) = effects.misses.iter().find(|missed| call.after[missed.thread] > missed.nth) {
            let CallId { thread, nth } = *missed;
            return self.stops(done, |_| format!("{name} answers as if {thread}.{nth} had not been"));
        }
        let unseen = effects.sees.iter().find(|seen| seen.thread != id.thread && call.seen[seen.thread] <= seen.nth);
        match unseen {
            Some(CallId { thread, nth }) => self.stops(done, |_| {
                format!("{name} follows from {thread}.{nth}, and does not see what was done before it")
            }),
            None => Some(next),
        }
    }

    fn ends(&mut self, at: usize, done: &[usize]) -> bool {
        let is_over = |(thread, of): (usize, &Thread)| {
            of.is_asleep() && self.meaning.is_over(at, CallId { thread, nth: of.calls.len() })
        };
        if let Some(thread) = self.threads.iter().enumerate().position(is_over) {
            return self.does_not_end(done, |_| format!("thread {thread} sleeps for ever, and its wait is over"));
        }
        if let Err(why) = self.meaning.at_rest(at) {
            return self.does_not_end(done, |_| why.to_owned());
        }
        let ((held, kept), live) = (self.meaning.held(at), self.judged.live);
        if live.is_some_and(|live| live != held) {
            return self.does_not_end(done, |_| format!("{live:?} values are left, and not {held}"));
        }
        let of = |thread: &Thread| thread.of_waits_that_are_over().map(|wakers| wakers.unsettled).sum::<u64>();
        let wakers = self.threads.iter().map(of).sum::<u64>();
        if wakers != kept as u64 {
            return self
                .does_not_end(done, |_| format!("{wakers} wakers of waits that are over are left, and not {kept}"));
        }
        true
    }

    fn does_not_end(&mut self, done: &[usize], why: impl FnOnce(&dyn Meaning) -> String) -> bool {
        self.stops::<()>(done, why).is_some()
    }

    fn stops<T>(&mut self, done: &[usize], why: impl FnOnce(&dyn Meaning) -> String) -> Option<T> {
        let depth = done.iter().sum::<usize>() + 1;
        if depth > self.furthest.0 {
            self.furthest = (depth, why(self.meaning));
        }
        None
    }
}
