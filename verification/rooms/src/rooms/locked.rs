//! How Gs that are bound to their Ms wait and are readied, and which of them is told that it waits for ever.
//!
//! Invariants 4, 13, 19, 25 and 30: a G goes on once for each wait, with a P; a wake that comes before its wait is kept, once; of Gs that no
//! thread can ready any more the one that has waited longest is told, at once, and none as long as one can.
//!
//! Beside `Bindings` and `Census` are a few Ps, tickets, a queue and rings: the same, in `central`, beside the specification.

mod central;
mod spec;

use crate::host::RoomHost;
use crate::plain::Plain;
use crate::program::Program;
use crate::room::{Begun, Focus, Real, Room, Waiting, is_each_once};
use crate::values::Maker;
use central::{At, Beside, Central, Waits};
use kernel::host::Lock as _;
use kernel::protocol::deadlock::Census;
use kernel::protocol::locked::{Bindings, Wake, Woken};
use kernel::types::m::{M, MId, NextP};
use kernel::types::p::{OwnedP, PId};
use spec::Known;
use std::cell::Cell;

/// The room.
#[derive(Debug)]
pub struct BoundGs;

/// How it begins. M0 has P0; M1 is in a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Setup {
    ps: u32,
    /// A source expects work.
    expects: bool,
    /// One more M could be started; it is not played.
    may_start: bool,
}

/// What a thread is. Of each there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// An M with a bound G.
    M(u32),
    /// An M for other Gs.
    Worker,
    /// No M.
    Outside,
}

/// What a thread does. An M that has no P comes back from its system call first, or begins anew, and waits for a P.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Its G waits for one of the same scheduler.
    Wait,
    /// Its G waits for a thread outside.
    WaitOutside,
    /// Readies the G that is bound to this M.
    Ready(u32),
    /// Puts a G that will ready M0's into the ring of its P.
    Go,
    /// Enters a system call: releases its P.
    Entersyscall,
    /// Its G ends, and so does the M.
    End,
    /// The worker sleeps until there is a G for it, and runs that.
    Work,
    /// Puts a G that will ready M0's into the global queue.
    Submit,
    /// Stops the world.
    Stop,
    /// Starts it.
    Start,
    /// Ends every wait, as `close` does.
    Close,
    /// Looks at which Gs wait.
    Look,
}

impl Op {
    /// Does an M do it, with a P?
    fn needs_p(self) -> bool {
        matches!(self, Op::Wait | Op::WaitOutside | Op::Ready(_) | Op::Go)
    }
}

/// What happened under the lock.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Was {
    /// This M is given this P.
    Gave(u32, u32),
    /// The ticket of this M is queued.
    Ticket(u32),
    /// The G waits. Or was it readied already?
    Waits(bool),
    /// The M rests. Or was it readied meanwhile?
    Rests(bool),
    /// A source was asked whether it expects work.
    Asked,
    /// The wait ended, for this reason.
    Woken(Woken),
    /// These Gs wait.
    Is(Looked),
}

/// Which Gs wait.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Looked {
    total: usize,
    inside: usize,
    oldest: Option<u32>,
    waiting: Vec<u32>,
    woken: [Woken; 2],
}

/// The worker's number. Of Ms with bound Gs there are as many.
const WORKER: u32 = 2;

/// Its number, if it is an M.
fn m_of(role: Role) -> Option<u32> {
    match role {
        Role::M(m) => Some(m),
        Role::Worker => Some(WORKER),
        Role::Outside => None,
    }
}

impl Room for BoundGs {
    type Setup = Setup;
    type Role = Role;
    type Op = Op;
    /// What happened, in order.
    type Answer = Vec<Was>;
    type Spec = Known;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "locked";
    const SOURCE: &'static str = "locked deadlock";

    fn setups() -> Vec<Setup> {
        let setup = |(ps, expects, may_start)| Setup { ps, expects, may_start };
        [(1, false, false), (1, true, false), (2, false, true)].map(setup).to_vec()
    }
    fn roles() -> Vec<Role> {
        vec![Role::M(0), Role::M(1), Role::Worker, Role::Outside]
    }
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        let is_stopped = done.iter().rfind(|op| matches!(op, Op::Stop | Op::Start)) == Some(&Op::Stop);
        let has_left = matches!(done.last(), Some(Op::Entersyscall | Op::End));
        let (is_m, is_first) = (matches!(role, Role::M(_)), done.is_empty());
        let has_p = is_m && if is_first { role == Role::M(0) } else { !has_left };
        let ops: &[Op] = match role {
            Role::M(0) => &[Op::Wait, Op::Ready(0), Op::Ready(1), Op::Go],
            Role::M(_) => &[Op::Wait, Op::Ready(0), Op::Go],
            Role::Worker => &[Op::Work],
            Role::Outside if is_stopped => &[Op::Start, Op::Submit, Op::Ready(0)],
            Role::Outside => &[Op::Ready(0), Op::Ready(1), Op::Submit, Op::Stop, Op::Close, Op::Look],
        };
        let outside = (role == Role::M(0) && is_first).then_some(Op::WaitOutside);
        let enters = has_p.then_some(Op::Entersyscall);
        let ends = (is_m && done.last() != Some(&Op::End)).then_some(Op::End);
        ops.iter().copied().chain(outside).chain(enters).chain(ends).collect()
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    fn sleeps(op: Op) -> bool {
        op.needs_p() || op == Op::Work
    }
    /// Of three, the one that does more than the others is M0 or the worker.
    fn is_worth_it(roles: &[Role]) -> bool {
        roles.contains(&Role::M(0))
            && is_each_once(roles)
            && (roles.len() < 3 || !matches!(roles[0], Role::M(1) | Role::Outside))
    }
    fn focuses() -> Vec<Focus<Self>> {
        // A wake that came too late is not kept for the next G of that M.
        let ends = |_, op, _| matches!(op, Op::Ready(0) | Op::End | Op::Wait);
        // The world is stopped and started while both wait.
        let waits = |role, op, _| match role {
            Role::Outside => matches!(op, Op::Stop | Op::Start),
            _ => matches!(op, Op::Wait | Op::End),
        };
        let stops = |program: &Program<Self>| program.roles() == [Role::M(0), Role::Outside, Role::M(1)];
        vec![Focus::new(&[4], ends), Focus { lens: &[2, 2, 1], has: waits, is_played: stops }]
    }
}

impl Waits for Bindings {
    fn wait(&mut self, m: u32, wake: Wake) -> bool {
        self.wait(MId(m), wake)
    }
    fn rest(&mut self, m: u32) -> bool {
        self.rest(MId(m))
    }
    fn ready(&mut self, m: u32, why: Woken) -> bool {
        self.ready(MId(m), why)
    }
    fn forget(&mut self, m: u32) {
        self.forget(MId(m));
    }
    fn looks(&self) -> Looked {
        Looked {
            total: self.total(),
            inside: self.inside(),
            oldest: self.oldest_inside().map(|m| m.0),
            waiting: self.waiting().map(|m| m.0).collect(),
            woken: [0, 1].map(|m| self.woken(MId(m))),
        }
    }
    fn is_told(&self, beside: &Beside) -> (bool, Option<(u32, Woken)>) {
        let census = Census {
            alive: beside.alive.len(),
            sleeping: beside.sleeping.len(),
            waiting: self.inside(),
            busy_ps: beside.setup.ps as usize - beside.idle.len(),
            may_start: beside.setup.may_start,
            queued: beside.tickets.len() + beside.queued,
        };
        let asks = Cell::new(false);
        let why = census.verdict(|| {
            asks.set(true);
            beside.setup.expects
        });
        let oldest = self.oldest_inside();
        assert!(why.is_none() || oldest.is_some(), "{why:?}, and no G waits");
        (asks.get(), oldest.map(|m| m.0).zip(why))
    }
}

/// The Ms and Ps.
pub struct OnHost<H: RoomHost> {
    central: H::Lock<Central<Bindings>>,
    ms: [M<H>; 3],
    /// Of each P, what only its owner uses.
    ps: [Plain<H, u32>; 2],
}

/// A thread, and the P that it has.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Hand {
    m: Option<u32>,
    p: Option<u32>,
}

impl Hand {
    fn new(role: Role) -> Self {
        Hand { m: m_of(role), p: (role == Role::M(0)).then_some(0) }
    }
    fn needs_p(&self, op: Op) -> bool {
        op.needs_p() && self.m.is_some() && self.p.is_none()
    }
    fn me(&self) -> u32 {
        self.m.expect("an M does that")
    }
    fn its_p(&self) -> usize {
        self.p.expect("it has a P") as usize
    }
}

impl<H: RoomHost> Real<BoundGs, H> for OnHost<H> {
    type Hand = Hand;
    fn new(setup: Setup, roles: &[Role]) -> Self {
        OnHost {
            central: H::Lock::new(Central::new(setup, roles, Bindings::new(WORKER as usize))),
            ms: std::array::from_fn(|_| M::new()),
            ps: std::array::from_fn(|_| Plain::new(0)),
        }
    }
    fn hand(&self, role: Role) -> Hand {
        Hand::new(role)
    }
    fn begin<'a>(&'a self, hand: &'a mut Hand, op: Op, _: &Maker<H>) -> Begun<'a, H, Vec<Was>> {
        let (mut at, mut was) = (At::Start, Vec::new());
        while at != At::Over {
            if at.is_asleep() {
                let NextP::Run { p, .. } = self.ms[hand.me() as usize].wait_nextp() else {
                    unreachable!("none is told to end")
                };
                hand.p = Some(p.discard().0);
            }
            // The P's owner uses it.
            hand.p.into_iter().for_each(|p| self.ps[p as usize].write(|user| *user = hand.me()));
            let said = self.central.with(|c| {
                at = c.holds(hand, op, at);
                std::mem::take(&mut c.said)
            });
            for said in &said {
                if let &Was::Gave(m, p) = said {
                    self.ms[m as usize].wake_with(NextP::Run { p: OwnedP::forge(PId(p)), token: None });
                }
            }
            was.extend(said);
        }
        Begun::Over(was)
    }
}
