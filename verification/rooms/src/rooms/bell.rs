//! What wakes a thread that waits for a future.
//!
//! Invariants 73, 74: a ring that comes after the bell was taken last ends the wait, which sees what was done before it; once a ring has
//! returned its thread does not count as waiting; a thread that waits in a runtime that is shut down goes on.

use crate::host::RoomHost;
use crate::plain::of;
use crate::room::{Begun, CallId, Does, Effects, Real, Room, Spec, Waiting};
use crate::values::{Maker, Value};
use kernel::atomic::Atomic;
use kernel::waits::bell::{Bell, Bells, Counts};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

/// The room.
#[derive(Debug)]
pub struct RungBells;

/// What a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The bell is its own.
    Waiter,
    /// It rings.
    Ringer,
    /// It shuts the runtime down.
    Closer,
    /// It lists another bell.
    Other,
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Sleeps until it rings.
    Wait,
    /// The same in a task: until it rings, or its runtime is shut down.
    WaitInTask,
    /// Waits, and finds before the first sleep that there is another end.
    GiveUp,
    /// The same before the second sleep; the first ends spuriously.
    GiveUpLater,
    /// Rings.
    Ring,
    /// Asks whether the thread counts as waiting.
    IsCounted,
    /// Has the thread look again.
    LookAgain,
    /// Shuts the runtime down.
    Close,
    /// Has all that are listed look again.
    AllLookAgain,
    /// Lists another bell, and strikes it off.
    ComeAndGo,
}

/// What a call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It has rung.
    Rang,
    /// It has not: there was another end.
    GaveUp,
    /// Does the thread count?
    Counted(bool),
    /// It is done.
    Done,
}

impl Room for RungBells {
    type Setup = ();
    type Role = Role;
    type Op = Op;
    type Answer = Answer;
    type Spec = Known;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "bell";
    const SOURCE: &'static str = "bell at_rest";

    fn setups() -> Vec<()> {
        vec![()]
    }
    fn roles() -> Vec<Role> {
        vec![Role::Waiter, Role::Ringer, Role::Closer, Role::Other]
    }
    fn may(role: Role, _: &[Op]) -> Vec<Op> {
        match role {
            Role::Waiter => vec![Op::Wait, Op::WaitInTask, Op::GiveUp, Op::GiveUpLater, Op::Ring, Op::IsCounted],
            Role::Ringer => vec![Op::Ring, Op::IsCounted, Op::LookAgain],
            Role::Closer => vec![Op::Close, Op::AllLookAgain],
            Role::Other => vec![Op::ComeAndGo],
        }
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    fn sleeps(op: Op) -> bool {
        matches!(op, Op::Wait | Op::WaitInTask)
    }
    fn is_worth_it(roles: &[Role]) -> bool {
        let count = |role| roles.iter().filter(|&&other| other == role).count();
        let is_alone = roles.len() == 1 && count(Role::Other) == 0;
        count(Role::Waiter) <= 1
            && count(Role::Closer) <= 1
            && count(Role::Other) <= 1
            && (is_alone || count(Role::Waiter) == 1)
    }
}

/// What counts the thread. That as many come as go is known at the end: for each that has come, and not gone, there is a value.
pub struct Counted<H: RoomHost> {
    count: Atomic<H, u64>,
    coins: Mutex<Coins<H>>,
}

struct Coins<H: RoomHost> {
    mint: Option<Maker<H>>,
    values: Vec<Value<H>>,
    /// How many have gone before they came.
    debt: usize,
}

impl<H: RoomHost> Counted<H> {
    fn new() -> Arc<Self> {
        let coins = Mutex::new(Coins { mint: None, values: Vec::new(), debt: 0 });
        Arc::new(Counted { count: Atomic::new(0), coins })
    }

    fn coins<R>(&self, f: impl FnOnce(&mut Coins<H>) -> R) -> R {
        f(&mut of(&self.coins))
    }
}

/// The thread's, as its bell has it.
pub struct Counter<H: RoomHost>(Arc<Counted<H>>);

impl<H: RoomHost> Counts for Counter<H> {
    fn enter(&self) {
        // Relaxed: the least that an embedder may do.
        self.0.count.fetch_add(1, Relaxed);
        self.0.coins(|coins| match coins.debt.checked_sub(1) {
            Some(debt) => coins.debt = debt,
            None => coins.values.extend(coins.mint.as_ref().map(Maker::value)),
        });
    }
    fn leave(&self) {
        // Relaxed: as above.
        self.0.count.fetch_sub(1, Relaxed);
        self.0.coins(|coins| match coins.values.pop() {
            Some(value) => _ = value.take(),
            None => coins.debt += 1,
        });
    }
}

/// What lives as long as a sleep.
struct Sleep<H: RoomHost>(Option<Value<H>>);

impl<H: RoomHost> Drop for Sleep<H> {
    fn drop(&mut self) {
        // At the end of an execution a thread that sleeps is unwound.
        self.0.take().filter(|_| !std::thread::panicking()).map(Value::take);
    }
}

type Rung<H> = Bell<H, Counter<H>>;

/// A bell and its runtime on a host.
pub struct OnHost<H: RoomHost> {
    counted: Arc<Counted<H>>,
    bell: Arc<Rung<H>>,
    bells: Bells<H, Rung<H>>,
    /// There is another that lists a bell.
    has_other: bool,
}

impl<H: RoomHost> OnHost<H> {
    fn wait_in_task(&self, values: &Maker<H>) -> Result<(), ()> {
        self.bells.enter(Arc::clone(&self.bell));
        assert!(self.bells.is_any(), "one is listed, and none is counted");
        let waited = self.bell.wait(|| match self.bells.is_closing() {
            true => Err(()),
            false => Ok(Sleep(Some(values.value()))),
        });
        self.bells.leave(&self.bell);
        assert!(self.has_other || !self.bells.is_any(), "none is listed, and one is counted");
        waited
    }

    /// What does not wait.
    fn calls(&self, op: Op) -> Answer {
        match op {
            Op::Ring => self.bell.ring(),
            Op::LookAgain => self.bell.look_again(),
            Op::Close => self.bells.close(),
            Op::AllLookAgain => self.bells.all_look_again(),
            Op::ComeAndGo => {
                let bell = Arc::new(Bell::counted_by(Counter(Counted::new())));
                self.bells.enter(Arc::clone(&bell));
                self.bells.leave(&bell);
                assert!(Arc::strong_count(&bell) == 1, "a bell was struck off, and is listed still");
            }
            // Relaxed: what a ring does is done when it returns. One may go before it comes.
            Op::IsCounted => return Answer::Counted(self.counted.count.load(Relaxed) as i64 > 0),
            Op::Wait | Op::WaitInTask | Op::GiveUp | Op::GiveUpLater => unreachable!("it waits"),
        }
        Answer::Done
    }
}

impl<H: RoomHost> Real<RungBells, H> for OnHost<H> {
    type Hand = ();
    fn new((): (), roles: &[Role]) -> Self {
        let counted = Counted::new();
        let bell = Arc::new(Bell::counted_by(Counter(Arc::clone(&counted))));
        OnHost { counted, bell, bells: Bells::new(), has_other: roles.contains(&Role::Other) }
    }
    fn given(&mut self, values: &Maker<H>) {
        self.counted.coins(|coins| coins.mint = Some(values.another()));
    }
    fn hand(&self, _: Role) {}
    fn begin<'a>(&'a self, (): &'a mut (), op: Op, values: &Maker<H>) -> Begun<'a, H, Answer> {
        let mut sleeps = usize::from(op == Op::GiveUpLater);
        let in_vain = || match sleeps.checked_sub(1) {
            Some(left) => Ok(sleeps = left),
            None => Err(()),
        };
        let waited = match op {
            Op::Wait => self.bell.wait(|| Ok::<_, ()>(Sleep(Some(values.value())))),
            Op::WaitInTask => self.wait_in_task(values),
            Op::GiveUp | Op::GiveUpLater => self.bell.wait_by(in_vain, |_, ()| ()),
            _ => return Begun::Over(self.calls(op)),
        };
        Begun::Over(if waited.is_ok() { Answer::Rang } else { Answer::GaveUp })
    }
}

/// What is known of the bell.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Known {
    /// Which thread waits.
    waiter: Option<usize>,
    /// The rings since it was taken last.
    rings: Vec<CallId>,
    /// Its thread counts as waiting.
    is_waiting: bool,
    /// What has taken the thread out of the count.
    takers: Vec<Taker>,
    is_closing: bool,
}

/// What has taken the thread out of the count: when one of these calls has returned it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Taker {
    /// A ring.
    Ring(CallId),
    /// The thread gave up; and the rings that came after that.
    Itself(Vec<CallId>),
}

impl Spec<RungBells> for Known {
    fn new((): (), roles: &[Role]) -> Self {
        let waiter = roles.iter().position(|&role| role == Role::Waiter);
        Known { waiter, rings: Vec::new(), is_waiting: false, takers: Vec::new(), is_closing: false }
    }

    /// A thread whose bell has not rung waits from then on.
    fn step_before(&self, _: CallId, does: Does<Op>, _: Option<&Answer>) -> Option<Self> {
        let waits = matches!(does, Does::Begin(Op::Wait | Op::WaitInTask | Op::GiveUp | Op::GiveUpLater, _));
        let begins = waits && self.rings.is_empty() && !self.is_waiting;
        begins.then(|| Known { is_waiting: true, ..self.clone() })
    }

    fn step(&mut self, me: CallId, does: Does<Op>, answer: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        let Does::Begin(op, _) = does else { return None };
        match op {
            Op::Wait | Op::WaitInTask | Op::GiveUp | Op::GiveUpLater => {
                if !self.rings.is_empty() {
                    effects.sees.append(&mut self.rings);
                    return Some(Answer::Rang);
                }
                let gives_up = matches!(op, Op::GiveUp | Op::GiveUpLater) || op == Op::WaitInTask && self.is_closing;
                if gives_up {
                    self.is_waiting = false;
                    self.takers.push(Taker::Itself(vec![me]));
                }
                return gives_up.then_some(Answer::GaveUp);
            }
            Op::Ring => {
                self.rings.push(me);
                if std::mem::take(&mut self.is_waiting) {
                    self.takers.push(Taker::Ring(me));
                } else if let Some(Taker::Itself(calls)) = self.takers.last_mut() {
                    calls.push(me);
                }
            }
            // A thread that is woken counts until the ring has returned, but not to itself; one that gives up until its wait has, or a
            // ring that came after; one that begins to wait not yet.
            Op::IsCounted => {
                let is_left = self.waiter != Some(me.thread) && !self.takers.is_empty();
                let is_counted = answer == Some(&Answer::Counted(true)) && (self.is_waiting || is_left);
                if let (true, false, [taker]) = (is_counted, self.is_waiting, &self.takers[..]) {
                    match taker {
                        Taker::Ring(ring) => effects.misses.push(*ring),
                        Taker::Itself(calls) => effects.misses.extend(calls),
                    }
                }
                return Some(Answer::Counted(is_counted));
            }
            Op::Close => self.is_closing = true,
            Op::LookAgain | Op::AllLookAgain | Op::ComeAndGo => (),
        }
        Some(Answer::Done)
    }

    /// A thread that sleeps is counted, and has what lives as long as its sleep.
    fn held(&self) -> usize {
        2 * usize::from(self.is_waiting)
    }
}
