//! Which M waits in the poller, and until when, while timers are added and Ps are idled, handed on or taken.
//!
//! Invariants 28, 29, 35 and 44: at most one thread is in the poller, and sees what the one before did there; when all have come to rest, and
//! there is a timer or a socket to wait for and a P is idle, an M looks, or one waits in the poller and no longer than until the earliest timer.
//!
//! Beside the protocol are timers that are words, a socket that is a flag, and idle Ps that are a number. No M really waits: one that has said
//! until when is at rest, and comes back in a later call. An interrupt is a notice that stays until it is read.

mod spec;

use crate::host::RoomHost;
use crate::others::Others;
use crate::plain::{Plain, of};
use crate::room::{Begun, Real, Room, Waiting, is_each_once};
use crate::values::Maker;
use kernel::atomic::Atomic;
use kernel::host::{Lock as _, NEVER, Nanos};
use kernel::protocol::netpoll::{Neighbours, Netpoll, Poll};
use spec::{Known, Setup, beginning, now};
use std::sync::Mutex;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};

/// The room.
#[derive(Debug)]
pub struct Polled;

/// What a thread is. Of each there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// An M that has a P, whose G has the timer.
    Owner,
    /// The same, with no thread beside it: it is asked everything.
    Alone,
    /// Another M that has a P.
    Other,
    /// An M that waits in the poller if there is anything to wait for. Is its P idle? If not, the owner has it.
    InPoller(bool),
    /// A thread that never has a P.
    Outsider,
}

/// What an M that gives its P up does to its timer before: it does not announce that.
type Change = Option<Nanos>;

/// What a thread does. An M without a P takes an idle one first; if there is none, it does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Has nothing to do: idles its P, and sleeps or waits in the poller.
    Sleep(Change),
    /// Hands its P on, and is away.
    HandOn(Change),
    /// Looks into the poller.
    Peek(Beside),
    /// Comes back from the poller, if it waits there: because a timer is due, or because it was interrupted.
    Return(bool),
    /// Another M is about to sleep, while this one waits in the poller.
    Another,
    /// A timer is there from now on, and is announced.
    Add(Nanos),
    /// Waits for a socket from now on, and announces that.
    Await,
}

impl Op {
    /// Is it one of an M that has a P?
    fn needs_p(self) -> bool {
        matches!(self, Op::Sleep(_) | Op::HandOn(_) | Op::Peek(_))
    }
}

/// What happens while one looks into the poller, besides what other threads do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Beside {
    /// Nothing.
    Nothing,
    /// So many Ms would wait there.
    Sleepers(usize),
    /// A timer is announced.
    Adder,
    /// Another thread would look.
    Peeker,
}

/// What came of a call, and what the protocol asked of the rest of the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Was {
    /// The M took an idle P.
    Took,
    /// It idled its P.
    Idled,
    /// A spinning M was asked for: it keeps its P, and looks.
    Kept,
    /// It was about to sleep, or to wait, and looks instead, with an idle P.
    Called,
    /// It sleeps.
    Asleep,
    /// It waits in the poller, until then.
    Waits(Nanos),
    /// It has handed its P on. Does an M run that?
    HandedOn(bool),
    /// The poller was interrupted. Was there a notice already?
    Interrupted(bool),
    /// A spinning M was asked for. Was a P idle?
    Woke(bool),
    /// A thread in the poller has read whether there is a notice.
    Read(bool),
    /// Did it look into the poller?
    Peeked(bool),
    /// Would an M wait, while another thread waits or looks?
    Claimed(bool),
    /// Since when the poller was not polled; does an M wait there? And is one missing?
    Is(Option<Nanos>, bool, bool),
}

const SOON: Nanos = 5;
const SOON_AFTER: Nanos = 7;
const LATE: Nanos = 100;

impl Room for Polled {
    type Setup = Setup;
    type Role = Role;
    type Op = Op;
    type Answer = Vec<Was>;
    type Spec = Known;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "netpoll";

    fn setups() -> Vec<Setup> {
        let setup = |(timer, awaited, waited)| Setup { timer, awaited, waited };
        [(NEVER, false, None), (NEVER, true, None), (SOON, false, None), (LATE, false, Some(SOON))].map(setup).to_vec()
    }
    fn roles() -> Vec<Role> {
        use Role::{Alone, InPoller, Other, Outsider, Owner};
        vec![Owner, Alone, Other, InPoller(false), InPoller(true), Outsider]
    }
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        use Op::{Add, Await, HandOn, Peek, Return, Sleep};
        let peek = Peek(Beside::Nothing);
        let changes = [None, Some(SOON_AFTER), Some(NEVER)];
        let own = [changes.map(Sleep), changes.map(HandOn)].concat();
        let news = [Add(SOON), Add(SOON_AFTER), Await];
        let beside = [Beside::Sleepers(1), Beside::Sleepers(2), Beside::Adder, Beside::Peeker].map(Peek);
        let returns = [Return(true), Return(false)];
        match (role, done.last()) {
            (Role::Alone, _) => [&own[..], &[peek, Op::Another], &beside, &returns, &news, &[Add(NEVER)]].concat(),
            (Role::Outsider, None) => vec![Add(SOON_AFTER), Await],
            (Role::InPoller(_), None) => returns.to_vec(),
            (Role::Other, None) => vec![Sleep(None), Sleep(Some(SOON_AFTER)), HandOn(Some(SOON_AFTER)), peek],
            (_, None) => [&own[..5], &[peek]].concat(),
            (Role::Outsider | Role::Other, _) | (_, Some(HandOn(_))) => Vec::new(),
            (_, Some(Peek(_))) => vec![Sleep(None), HandOn(Some(SOON_AFTER))],
            _ => [&returns[..], &[Sleep(None)]].concat(),
        }
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    fn is_worth_it(roles: &[Role]) -> bool {
        let in_poller = roles.iter().filter(|role| matches!(role, Role::InPoller(_))).count();
        let is_alone = roles.contains(&Role::Alone) == (roles.len() == 1);
        let has = |role| roles.contains(&role);
        let are_three = has(Role::Owner) && has(Role::Outsider) && !has(Role::InPoller(true));
        is_each_once(roles) && in_poller <= 1 && is_alone && (roles.len() < 3 || are_three)
    }
}

/// What is under the lock.
pub struct Central {
    /// How many Ps are idle.
    idle: usize,
    /// Is a spinning M asked for?
    asked: bool,
}

/// The protocol, and the rest of the scheduler.
pub struct OnHost<H: RoomHost> {
    roles: Vec<Role>,
    netpoll: Netpoll<H>,
    /// When each thread's timer is due, and the one that was there before.
    timers: Box<[Atomic<H, u64>]>,
    awaited: Atomic<H, bool>,
    /// Was the poller interrupted, and has not read that yet?
    notice: Atomic<H, bool>,
    /// What the poller uses: its buffer of events.
    buffer: Plain<H, ()>,
    central: H::Lock<Central>,
    /// Of an M that waits before its first call.
    waits: Mutex<Option<Poll>>,
}

/// A thread.
pub struct Hand {
    me: usize,
    is_alone: bool,
    has_p: bool,
    poll: Option<Poll>,
    calls: usize,
}

impl<H: RoomHost> Neighbours for Others<'_, OnHost<H>, Was> {
    fn deadline(&self) -> Nanos {
        // Relaxed: as the kernel's.
        self.on.timers.iter().map(|when| when.load(Relaxed)).min().unwrap_or(NEVER)
    }
    fn is_awaited(&self) -> bool {
        // Relaxed: the protocol's fences have to do.
        self.on.awaited.load(Relaxed)
    }
    fn interrupt(&self) {
        self.says(Was::Interrupted(self.on.notice.swap(true, AcqRel)));
    }
    fn wakep(&self) {
        let is_any = self.on.central.with(|c| {
            let left = c.idle.checked_sub(1);
            (c.idle, c.asked) = (left.unwrap_or(0), c.asked || left.is_none());
            left.is_some()
        });
        self.says(Was::Woke(is_any));
    }
}

impl<H: RoomHost> Others<'_, OnHost<H>, Was> {
    /// A thread in the poller does what it does there.
    fn polls(&self) {
        self.on.buffer.write(|()| ());
        self.says(Was::Read(self.on.notice.swap(false, AcqRel)));
    }

    /// The M takes an idle P; if a spinning M is asked for, or in any case.
    fn takes_p(&self, hand: &mut Hand, if_asked: bool, was: Was) -> bool {
        hand.has_p = self.on.central.with(|c| {
            let takes = c.idle > 0 && (c.asked || !if_asked);
            (c.idle, c.asked) = (c.idle - usize::from(takes), c.asked && !(takes && if_asked));
            takes
        });
        if hand.has_p {
            self.says(was);
        }
        hand.has_p
    }

    /// As `Sched::sleep`.
    fn sleeps(&self, hand: &mut Hand) {
        let Some(poll) = self.on.netpoll.claim(self) else {
            if !self.takes_p(hand, true, Was::Called) {
                self.says(Was::Asleep);
            }
            return;
        };
        let until = self.on.netpoll.prepare(&poll, self);
        if self.takes_p(hand, true, Was::Called) {
            return self.on.netpoll.leave(poll, now(hand.calls - 1));
        }
        self.on.buffer.write(|()| ());
        self.says(Was::Waits(until));
        hand.poll = Some(poll);
    }

    fn returns(&self, hand: &mut Hand, is_due: bool) {
        let Some(poll) = hand.poll.take() else { return };
        self.polls();
        self.on.netpoll.leave(poll, now(hand.calls - 1));
        if !is_due {
            return self.sleeps(hand);
        }
        // Without a P it sleeps, and does not claim the poller again.
        if !self.takes_p(hand, false, Was::Took) && !self.takes_p(hand, true, Was::Called) {
            self.says(Was::Asleep);
        }
    }

    /// As `Sched::settle`.
    fn hands_on(&self, hand: &mut Hand) {
        hand.has_p = false;
        let is_run = self.on.central.with(|c| {
            let is_run = std::mem::take(&mut c.asked) || self.on.netpoll.is_missing(self);
            c.idle += usize::from(!is_run);
            is_run
        });
        self.says(Was::HandedOn(is_run));
    }

    fn idles(&self, hand: &mut Hand) {
        hand.has_p = self.on.central.with(|c| {
            let is_asked = std::mem::take(&mut c.asked);
            c.idle += usize::from(!is_asked);
            is_asked
        });
        self.says(if hand.has_p { Was::Kept } else { Was::Idled });
        if !hand.has_p {
            self.sleeps(hand);
        }
    }

    fn peeks(&self, hand: &Hand, beside: Beside) {
        let now = || now(hand.calls - 1);
        let looks = || {
            self.polls();
            match beside {
                Beside::Nothing => {}
                Beside::Sleepers(n) => {
                    (0..n).for_each(|_| self.says(Was::Claimed(self.on.netpoll.claim(self).is_some())));
                }
                Beside::Adder => self.on.netpoll.announce(SOON, self),
                Beside::Peeker => self.says(Was::Peeked(self.on.netpoll.peek(self, now, || self.polls()))),
            }
            self.is_asked(hand);
        };
        let has_looked = self.on.netpoll.peek(self, now, looks);
        self.says(Was::Peeked(has_looked));
    }

    /// What there is, if no other thread changes it.
    fn is_asked(&self, hand: &Hand) {
        let netpoll = &self.on.netpoll;
        if hand.is_alone {
            self.says(Was::Is(netpoll.neglected_since(), netpoll.is_blocked(), netpoll.is_missing(self)));
        }
    }

    /// The timer that was there is gone, if it is the thread's, and another is there.
    fn changes(&self, hand: &Hand, change: Change) {
        if change.is_some() && matches!(self.on.roles[hand.me], Role::Owner | Role::Alone) {
            self.sets(self.on.roles.len(), NEVER);
        }
        change.into_iter().for_each(|when| self.sets(hand.me, when));
    }

    fn sets(&self, timer: usize, when: Nanos) {
        // Relaxed: as the kernel's.
        self.on.timers[timer].store(when, Relaxed);
    }
}

impl<H: RoomHost> Real<Polled, H> for OnHost<H> {
    type Hand = Hand;
    fn new(setup: Setup, roles: &[Role]) -> Self {
        let (idle, timers, in_poller) = beginning(setup, roles);
        let on = OnHost {
            roles: roles.to_vec(),
            netpoll: Netpoll::new(),
            timers: timers.iter().map(|_| Atomic::new(setup.waited.unwrap_or(NEVER))).collect(),
            awaited: Atomic::new(setup.awaited),
            notice: Atomic::new(false),
            buffer: Plain::new(()),
            central: H::Lock::new(Central { idle, asked: false }),
            waits: Mutex::default(),
        };
        let others = Others::new(&on);
        let claim = || on.netpoll.claim(&others).inspect(|poll| _ = on.netpoll.prepare(poll, &others));
        if setup.waited.is_some() {
            claim().into_iter().for_each(|poll| on.netpoll.leave(poll, 0));
        }
        // Relaxed: there is one thread yet.
        timers.iter().zip(&on.timers).for_each(|(when, timer)| timer.store(*when, Relaxed));
        *of(&on.waits) = in_poller.and_then(|_| claim());
        drop(others);
        on
    }
    fn hand(&self, role: Role) -> Hand {
        let me = self.roles.iter().position(|other| *other == role).expect("it is one of them");
        let has_p = matches!(role, Role::Owner | Role::Alone | Role::Other);
        let poll = if matches!(role, Role::InPoller(_)) { of(&self.waits).take() } else { None };
        Hand { me, is_alone: role == Role::Alone, has_p, poll, calls: 0 }
    }
    fn begin<'a>(&'a self, hand: &'a mut Hand, op: Op, _: &Maker<H>) -> Begun<'a, H, Vec<Was>> {
        let others = Others::new(self);
        hand.calls += 1;
        if op.needs_p() && !hand.has_p && (hand.poll.is_some() || !others.takes_p(hand, false, Was::Took)) {
            return Begun::Over(Vec::new());
        }
        match op {
            Op::Sleep(change) => {
                others.changes(hand, change);
                others.idles(hand);
            }
            Op::HandOn(change) => {
                others.changes(hand, change);
                others.hands_on(hand);
            }
            Op::Peek(beside) => others.peeks(hand, beside),
            Op::Return(is_due) => others.returns(hand, is_due),
            Op::Another if hand.poll.is_some() => others.says(Was::Claimed(self.netpoll.claim(&others).is_some())),
            Op::Another => {}
            Op::Add(when) => {
                others.sets(hand.me, when);
                self.netpoll.announce(when, &others);
            }
            Op::Await => {
                // Relaxed: the protocol's fences have to do.
                self.awaited.store(true, Relaxed);
                self.netpoll.announce(NEVER, &others);
            }
        }
        others.is_asked(hand);
        Begun::Over(others.into_was())
    }
}
