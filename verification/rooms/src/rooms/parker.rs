//! How a thread sleeps on one word of the system's.
//!
//! Invariants 70, 71, 72: a park sees what was written before the unparks that it uses up; one unpark is remembered, and not two; a park
//! that is over, for whatever reason, leaves no thread asleep.
//!
//! What may be relied on of the system is one lock: a thread about to sleep compares the word under it, and a waker takes a sleeper
//! under it. A wait may end spuriously, or because its time is over; then it has ordered nothing.

use crate::host::RoomHost;
use crate::room::{Begun, CallId, Does, Effects, Real, Room, Spec, Waiting};
use crate::values::Maker;
use kernel::host::{Host, Lock, Nanos, Parker, Word};
use kernel::waits::parker::{FutexParker, FutexWord, PARKED};
use std::sync::Arc;
use std::sync::atomic::Ordering::{self, Relaxed};

/// The room.
#[derive(Debug)]
pub struct Parkers;

/// What a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// It parks.
    Sleeper,
    /// It unparks.
    Waker,
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Sleeps until an unpark.
    Park,
    /// The same, until a time is over, which is so at once.
    ParkTimeout,
    /// The same, and the wait ends spuriously.
    ParkForNothing,
    /// The same, and an unpark comes as the thread is about to wait.
    ParkUnparked,
    /// Ends the park of now, or the next.
    Unpark,
}

/// What a call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It is done.
    Done,
    /// Did the thread go on to the wait?
    Waited(bool),
}

impl Room for Parkers {
    type Setup = ();
    type Role = Role;
    type Op = Op;
    type Answer = Answer;
    type Spec = Token;
    type Real<H: RoomHost> = FutexParker<Futex<H>>;

    const NAME: &'static str = "parker";

    fn setups() -> Vec<()> {
        vec![()]
    }
    fn roles() -> Vec<Role> {
        vec![Role::Sleeper, Role::Waker]
    }
    fn may(role: Role, _: &[Op]) -> Vec<Op> {
        match role {
            Role::Sleeper => vec![Op::Park, Op::ParkTimeout, Op::ParkForNothing, Op::ParkUnparked, Op::Unpark],
            Role::Waker => vec![Op::Unpark],
        }
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    fn sleeps(op: Op) -> bool {
        op == Op::Park
    }
    fn is_worth_it(roles: &[Role]) -> bool {
        roles.iter().filter(|&&role| role == Role::Sleeper).count() == 1
    }
}

/// A word that threads wait on.
pub struct Futex<H: Host> {
    word: H::Word,
    waiters: H::Lock<Vec<Arc<H::Parker>>>,
}

impl<H: Host> Futex<H> {
    /// Begins to wait, if `expected` is there.
    fn enter(&self, expected: u32) -> Option<Arc<H::Parker>> {
        self.waiters.with(|waiters| {
            // Relaxed: a futex orders nothing.
            let waits = self.word.load(Relaxed) as u32 == expected;
            waits.then(|| {
                let me = Arc::new(H::Parker::new());
                waiters.push(Arc::clone(&me));
                me
            })
        })
    }
}

impl<H: Host> FutexWord for Futex<H> {
    #[track_caller]
    fn new(value: u32) -> Self {
        Futex { word: H::Word::new(u64::from(value)), waiters: H::Lock::new(Vec::new()) }
    }
    #[track_caller]
    fn swap(&self, value: u32, order: Ordering) -> u32 {
        self.word.swap(u64::from(value), order) as u32
    }
    #[track_caller]
    fn fetch_sub(&self, value: u32, order: Ordering) -> u32 {
        self.word.fetch_add(u64::from(value).wrapping_neg(), order) as u32
    }
    fn wait(&self, expected: u32) {
        if let Some(me) = self.enter(expected) {
            me.park();
        }
    }
    /// The time is over at once. The thread may be woken until then.
    fn wait_timeout(&self, expected: u32, _: Nanos) {
        if let Some(me) = self.enter(expected) {
            self.waiters.with(|waiters| waiters.retain(|other| !Arc::ptr_eq(other, &me)));
        }
    }
    fn wake_one(&self) {
        let first = self.waiters.with(|waiters| (!waiters.is_empty()).then(|| waiters.remove(0)));
        if let Some(first) = first {
            first.unpark();
        }
    }
}

impl<H: RoomHost> Real<Parkers, H> for FutexParker<Futex<H>> {
    type Hand = ();
    fn new((): (), _: &[Role]) -> Self {
        FutexParker::new()
    }
    fn hand(&self, _: Role) {}
    fn begin<'a>(&'a self, (): &'a mut (), op: Op, _: &Maker<H>) -> Begun<'a, H, Answer> {
        let mut has_waited = false;
        match op {
            Op::Park => self.park(),
            Op::ParkTimeout => self.park_timeout(1),
            Op::ParkForNothing => self.park_by(|_| has_waited = true),
            Op::ParkUnparked => self.park_by(|token| {
                has_waited = true;
                self.unpark();
                token.wait(PARKED);
            }),
            Op::Unpark => self.unpark(),
        }
        let says = matches!(op, Op::ParkForNothing | Op::ParkUnparked);
        Begun::Over(if says { Answer::Waited(has_waited) } else { Answer::Done })
    }
}

/// The unparks that the next park uses up: as one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Token {
    by: Vec<CallId>,
    /// Of those that were used up, each that may have found the thread parked: it goes on to wake it, in the next park perhaps.
    late: Vec<CallId>,
    /// The sleeper has found none, and goes on to the wait.
    is_parked: bool,
}

impl Spec<Parkers> for Token {
    fn new((): (), _: &[Role]) -> Self {
        Token { by: Vec::new(), late: Vec::new(), is_parked: false }
    }

    fn step_before(&self, _: CallId, _: Does<Op>, answer: Option<&Answer>) -> Option<Self> {
        let goes_on = !self.is_parked && self.by.is_empty() && answer == Some(&Answer::Waited(true));
        goes_on.then(|| Token { is_parked: true, ..self.clone() })
    }

    fn step(&mut self, me: CallId, does: Does<Op>, answer: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        let Does::Begin(op, _) = does else { return None };
        if op == Op::Unpark {
            self.by.push(me);
            return Some(Answer::Done);
        }
        let is_over = match op {
            Op::Park => !self.by.is_empty(),
            // It has waited, or there was one.
            Op::ParkForNothing | Op::ParkUnparked => self.is_parked || !self.by.is_empty(),
            _ => true,
        };
        if !is_over && answer.is_some() {
            // For nothing.
            effects.misses.push(self.late.pop()?);
            return Some(Answer::Done);
        }
        let has_waited = std::mem::take(&mut self.is_parked);
        let says = matches!(op, Op::ParkForNothing | Op::ParkUnparked);
        // One that has come meanwhile is used up, too.
        if is_over {
            self.late.extend(self.by.first());
            effects.sees.append(&mut self.by);
        }
        is_over.then_some(if says { Answer::Waited(has_waited) } else { Answer::Done })
    }
}
