//! What a task's operations mean.

use super::{ABORTED, Did, NO_OUTPUT, OUTPUT, Op, Polled, Role, Tasks, WOKEN, YIELDS};
use crate::room::{CallId, Does, Effects, Spec};

/// The owner of the right to the future.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Right {
    /// It waits.
    Free,
    /// The thread that is to run it.
    Is(usize),
    /// The thread that has polled it.
    HasPolled(usize),
    /// The thread that has woken it, and looks where it may be run.
    Submits(usize),
    /// The thread that closes it.
    Closes(usize),
    /// There is no future.
    Gone,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Life {
    polls: &'static [Polled],
    right: Right,
    is_notified: bool,
    is_closed: bool,
    is_aborted: bool,
    /// `None`: its handle is gone. Else the thread whose waker it has, and whether that wait was given up.
    handle: Option<Option<(usize, bool)>>,
    wakers: usize,
    wakes: Vec<u64>,
    /// Did it come to its end with an output, and is that there?
    output: Option<bool>,
    completed_by: Option<CallId>,
    is_taken: bool,
    may_end: bool,
    has_ended: bool,
    /// The closer has dropped its waker.
    is_over: bool,
}

impl Life {
    fn has_no_reference(&self) -> bool {
        self.wakers == 0 && self.handle.is_none()
    }

    fn completes(&mut self, me: CallId, has_output: bool, did: &mut Vec<Did>) {
        if !has_output {
            did.push(Did::FutureDropped);
        } else if self.handle.is_none() {
            did.push(Did::OutputDropped);
        }
        self.output = has_output.then_some(self.handle.is_some());
        self.handle = self.handle.map(|_| None);
        (self.right, self.completed_by) = (Right::Gone, Some(me));
    }

    fn is_woken(&mut self, me: CallId, mode: &'static str, did: &mut Vec<Did>) {
        (self.right, self.is_notified) = (Right::Free, self.is_notified && !self.has_ended);
        if !self.has_ended {
            self.right = Right::Is(me.thread);
            did.push(Did::Runnable(mode));
        }
    }

    /// Something that referred to it does so no more.
    fn is_left(&mut self, me: CallId, did: &mut Vec<Did>) {
        if self.has_no_reference() && self.right == Right::Free {
            self.is_closed = true;
            match self.has_ended {
                true => self.completes(me, false, did),
                false => self.is_woken(me, WOKEN, did),
            }
        }
    }

    /// It was polled by `me`.
    fn goes_on(&mut self, me: CallId, is_last: bool, did: &mut Vec<Did>) {
        let (polled, rest) = self.polls.split_first().expect("it is not ready yet");
        self.polls = rest;
        let is_woken = match polled {
            Polled::Ready => return self.completes(me, true, did),
            Polled::Yields => true,
            Polled::Waits if self.is_closed || !self.is_notified && self.has_no_reference() => {
                return self.completes(me, false, did);
            }
            Polled::Waits => self.is_notified,
        };
        if is_last || is_woken && self.has_ended {
            self.completes(me, false, did);
        } else if is_woken {
            self.right = Right::Is(me.thread);
            did.push(Did::Runnable(YIELDS));
        } else {
            self.right = Right::Free;
        }
    }

    fn runs(&mut self, me: CallId, is_last: bool, answer: Option<&Vec<Did>>) -> Option<Vec<Did>> {
        let mut did = Vec::new();
        match self.right {
            Right::Is(it) if it == me.thread && self.is_closed => self.completes(me, false, &mut did),
            Right::HasPolled(it) if it == me.thread => {
                did.extend(answer?.first().cloned());
                self.goes_on(me, is_last, &mut did);
            }
            Right::Is(it) if it == me.thread => return None,
            _ => (),
        }
        Some(did)
    }

    /// What a call does before it knows whether the runtime has ended, if it gets the right.
    fn gets_the_right(&mut self, me: CallId, op: Op, number: u64) -> bool {
        if self.right != Right::Free {
            return false;
        }
        match op {
            Op::Wake | Op::WakeByRef => {
                self.wakers -= usize::from(op == Op::Wake);
                self.wakes.push(number);
            }
            Op::Abort if !self.is_closed => (self.is_closed, self.is_aborted) = (true, true),
            _ => return false,
        }
        self.right = Right::Submits(me.thread);
        true
    }

    fn asks(&mut self, me: CallId, effects: &mut Effects) -> Option<Vec<Did>> {
        if self.right != Right::Gone {
            self.handle = Some(Some((me.thread, false)));
            return None;
        }
        effects.sees.extend(self.completed_by);
        self.is_taken = true;
        Some(vec![Did::Got(match self.output.replace(false) {
            Some(_) => OUTPUT,
            None if self.is_aborted => ABORTED,
            None => NO_OUTPUT,
        })])
    }
}

impl Spec<Tasks> for Life {
    const RENEWS_AT_ONCE: bool = false;
    const TAKES_ITS_WAKER: bool = false;

    fn new(polls: &'static [Polled], roles: &[Role]) -> Self {
        let runner = roles.iter().position(|role| *role == Role::Runner);
        Life {
            polls,
            right: runner.map_or(Right::Free, Right::Is),
            is_notified: false,
            is_closed: false,
            is_aborted: false,
            handle: roles.contains(&Role::Joiner).then_some(None),
            wakers: roles.iter().filter(|role| role.has_a_waker()).count(),
            wakes: Vec::new(),
            output: None,
            completed_by: None,
            is_taken: false,
            may_end: roles.iter().any(|role| role.may_end()),
            has_ended: false,
            is_over: false,
        }
    }

    fn step_before(&self, me: CallId, does: Does<Op>, answer: Option<&Vec<Did>>) -> Option<Self> {
        let (Does::Begin(op, number), mut next) = (does, self.clone()) else { return None };
        match (op, answer.map(Vec::as_slice)) {
            (Op::Run | Op::RunLast, Some([Did::Polled(seen), ..])) => {
                let is_it = self.right == Right::Is(me.thread) && !self.is_closed;
                (next.right, next.is_notified) = (Right::HasPolled(me.thread), false);
                (is_it && self.wakes.iter().all(|wake| seen.contains(wake))).then_some(next)
            }
            (Op::Close, _) if self.right == Right::Free => {
                (next.right, next.is_closed) = (Right::Closes(me.thread), true);
                Some(next)
            }
            _ => (self.may_end && next.gets_the_right(me, op, number)).then_some(next),
        }
    }

    fn step(
        &mut self,
        me: CallId,
        does: Does<Op>,
        answer: Option<&Vec<Did>>,
        effects: &mut Effects,
    ) -> Option<Vec<Did>> {
        let Does::Begin(op, number) = does else {
            if does == Does::Poll {
                return self.asks(me, effects);
            }
            let given_up = |waker: Option<(usize, bool)>| waker.map(|(thread, _)| (thread, true));
            self.handle = self.handle.map(given_up);
            return None;
        };
        let mut did = Vec::new();
        self.gets_the_right(me, op, number);
        match op {
            Op::Run | Op::RunLast => return self.runs(me, op == Op::RunLast, answer),
            _ if self.right == Right::Submits(me.thread) => {
                let mode = if op == Op::Wake { YIELDS } else { WOKEN };
                self.is_woken(me, mode, &mut did);
            }
            Op::Wake | Op::WakeByRef => {
                self.wakers -= usize::from(op == Op::Wake);
                self.is_notified |= self.right != Right::Gone;
                self.wakes.push(number);
            }
            Op::Abort if self.right != Right::Gone && !self.is_closed => {
                (self.is_closed, self.is_aborted) = (true, true);
            }
            Op::Clone => self.wakers += 1,
            Op::Drop => self.wakers -= 1,
            Op::Detach => {
                if self.handle.take().is_some() && self.output.replace(false) == Some(true) {
                    did.push(Did::OutputDropped);
                }
            }
            Op::Join if !self.is_taken => return None,
            Op::End => self.has_ended = true,
            Op::Close if !self.is_over => {
                if self.right == Right::Closes(me.thread) {
                    self.completes(me, false, &mut did);
                }
                self.is_over = self.right == Right::Gone;
                self.wakers -= usize::from(self.is_over);
                did.push(Did::Closed(self.is_over));
            }
            Op::Abort | Op::Join | Op::Close => (),
        }
        self.is_left(me, &mut did);
        Some(did)
    }

    fn held(&self) -> usize {
        let is_complete = self.right == Right::Gone;
        usize::from(!is_complete || !self.has_no_reference()) + usize::from(!is_complete || self.output == Some(true))
    }

    fn wakers(&self) -> usize {
        usize::from(matches!(self.handle, Some(Some((_, true)))))
    }
}
