//! How a P is handed to an M that sleeps or is new, and how an M falls asleep.
//!
//! Invariants 4, 12, 13, 24 and 30: each P is in one place; an M that sleeps has none; an M is woken once for each sleep, finds its `nextp`,
//! and sees what the P's last owner did; a P for which no M is available is idle, and an M that is about to sleep then gets it.
//!
//! The Ms are the threads of a program, also those that are new: such a thread begins when an M of its number is started.

mod spec;

use crate::host::RoomHost;
use crate::others::Others;
use crate::plain::Plain;
use crate::room::{Begun, Focus, Real, Room, Waiting, is_each_once, is_in_order};
use crate::values::Maker;
use kernel::host::{Lock as _, Parker as _, SpawnError};
use kernel::protocol::threads::{Available, Neighbours, give_back, startm, stopm};
use kernel::types::m::{M, MId, NextP, SpinningToken};
use kernel::types::p::{OwnedP, PId};
use spec::Known;

/// The room.
#[derive(Debug)]
pub struct HandedPs;

/// What a thread is. Of each kind there is one of each number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// An M that has a P at first.
    Worker(usize),
    /// The same, with no thread beside it: it may look.
    Alone,
    /// An M without one.
    Free(usize),
    /// An M that is yet to be started.
    New(usize),
    /// No M.
    Other,
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// The M hands its P to another M.
    Startm,
    /// It gives its P back, as if no M were available.
    GiveBack,
    /// It takes an idle P, and hands it to another M.
    Wakep,
    /// It idles its P if it has one, and sleeps until there is a `nextp`.
    Stopm,
    /// The same, and its first park ends spuriously.
    StopmForNothing,
    /// A new M begins when its thread is started.
    Begin,
    /// Has an M that sleeps end.
    End,
    /// Looks at what is under the lock.
    Look,
}

impl Op {
    /// Is it over only when there is a `nextp`?
    fn gets(self) -> bool {
        matches!(self, Op::Stopm | Op::StopmForNothing | Op::Begin)
    }
}

/// What the rest of the scheduler answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Was {
    /// This M slept, and is off the list.
    Sleeping(u32),
    /// This number is a new M's.
    New(u32),
    /// There is no M.
    None,
    /// It has a thread.
    Started,
    /// There is no thread for it.
    NoThread,
    /// The P is idle, and a spinning M is asked for.
    Idled,
    /// This M fell asleep meanwhile.
    Late(u32),
    /// The M is listed as sleeping.
    Listed,
    /// It is not: it has this to do.
    Instead,
}

/// What an M is woken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum For {
    /// This P. Is the M counted as spinning?
    P(u32, bool),
    /// Its end.
    Exit,
}

/// What a call returns.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Answer {
    /// The rest of the scheduler was asked, and answered this.
    Gave(Vec<Was>),
    /// The same, and what the M found; did it find that before it slept?
    Got(Vec<Was>, For, bool),
    /// What is under the lock.
    Is(Table),
    /// The M has ended, or has no P.
    Nothing,
}

/// What is under the lock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Table {
    sleeping: Vec<u32>,
    idle: Vec<u32>,
    /// A spinning M is asked for.
    asked: bool,
    /// Numbers for new Ms.
    unused: Vec<u32>,
    /// So many threads can be started.
    threads: usize,
}

/// Which P a thread has at first.
fn p_of(role: Role) -> Option<u32> {
    match role {
        Role::Worker(n) => Some(n as u32),
        Role::Alone => Some(0),
        _ => None,
    }
}

impl Table {
    /// Before the first call, and how many Ps there are.
    fn new((idle, threads): (usize, usize), roles: &[Role]) -> (Self, usize) {
        let held = roles.iter().filter(|role| p_of(**role).is_some()).count();
        let new = roles.iter().enumerate().filter(|(_, role)| matches!(role, Role::New(_)));
        let unused = new.map(|(m, _)| m as u32).collect();
        let idle = (held..held + idle).map(|p| p as u32).collect::<Vec<_>>();
        let ps = held + idle.len();
        (Table { idle, unused, threads, ..Table::default() }, ps)
    }
}

impl Room for HandedPs {
    /// How many Ps are idle at first, and how many threads can be started.
    type Setup = (usize, usize);
    type Role = Role;
    type Op = Op;
    type Answer = Answer;
    type Spec = Known;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "threads";
    const SOURCE: &'static str = "threads m";

    fn setups() -> Vec<(usize, usize)> {
        vec![(0, 0), (0, 1), (1, 0), (1, 1)]
    }
    fn roles() -> Vec<Role> {
        let (free, new) = ([0, 1].map(Role::Free), [0, 1].map(Role::New));
        [Role::Worker(0), Role::Worker(1), Role::Alone]
            .into_iter()
            .chain(free)
            .chain(new)
            .chain([Role::Other])
            .collect()
    }
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        let moves = |has_p: bool, op: &Op| op.gets() || has_p && !matches!(op, Op::Startm | Op::GiveBack);
        let has_p = done.iter().fold(p_of(role).is_some(), moves);
        let ops: &[Op] = match role {
            Role::New(_) if done.is_empty() => &[Op::Begin],
            Role::Other => &[Op::End, Op::Look],
            _ if has_p => &[Op::Startm, Op::GiveBack, Op::Wakep, Op::Stopm],
            _ => &[Op::Wakep, Op::Stopm, Op::StopmForNothing],
        };
        let looks = (role == Role::Alone).then_some(Op::Look);
        ops.iter().copied().chain(looks).collect()
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    fn sleeps(op: Op) -> bool {
        op.gets()
    }
    /// Ms of a kind come in order.
    fn is_worth_it(roles: &[Role]) -> bool {
        let is_alone = roles.len() == 1 || !roles.contains(&Role::Alone);
        let is_any = roles.iter().any(|role| !matches!(role, Role::New(_) | Role::Other));
        let kinds: [fn(usize) -> Role; 3] = [Role::Worker, Role::Free, Role::New];
        kinds.into_iter().all(|kind| is_in_order(roles, kind)) && is_each_once(roles) && is_alone && is_any
    }
    fn focuses() -> Vec<Focus<Self>> {
        // An M that sleeps twice, or hands on what it gets.
        let has = |role, op, _| match role {
            Role::Worker(_) => matches!(op, Op::Startm | Op::GiveBack),
            Role::Free(_) => matches!(op, Op::Stopm | Op::StopmForNothing),
            Role::New(_) => matches!(op, Op::Begin | Op::Startm),
            Role::Other | Role::Alone => op == Op::End,
        };
        vec![Focus::new(&[2, 1, 1], has)]
    }
}

/// The Ms, and what they ask.
pub struct OnHost<H: RoomHost> {
    roles: Vec<Role>,
    ms: Box<[M<H>]>,
    table: H::Lock<Table>,
    /// Of each P, what only its owner uses.
    ps: Box<[Plain<H, u32>]>,
    /// Where the thread of a new M waits until it is started.
    begins: Box<[H::Parker]>,
}

/// An M.
pub struct Hand {
    me: MId,
    p: Option<u32>,
    has_ended: bool,
}

fn nextp(p: u32, is_counted: bool) -> NextP {
    NextP::Run { p: OwnedP::forge(PId(p)), token: is_counted.then(SpinningToken::forge) }
}

fn open(nextp: NextP) -> For {
    match nextp {
        NextP::Run { p, token } => For::P(p.discard().0, token.map(SpinningToken::discard).is_some()),
        NextP::Exit => For::Exit,
    }
}

impl<H: RoomHost> Neighbours<H> for Others<'_, OnHost<H>, Was> {
    fn mget(&self) -> Available {
        let (was, m) = self.on.table.with(|table| match (table.sleeping.pop(), table.unused.last()) {
            (Some(m), _) => (Was::Sleeping(m), Available::Sleeping(MId(m))),
            (None, Some(&m)) => {
                table.unused.pop();
                (Was::New(m), Available::New(MId(m)))
            }
            (None, None) => (Was::None, Available::None),
        });
        self.says(was);
        m
    }
    fn mput(&self, m: MId) -> Option<NextP> {
        let instead = self.on.table.with(|table| {
            let p = if table.asked { table.idle.pop() } else { None };
            match p {
                Some(_) => table.asked = false,
                None => table.sleeping.push(m.0),
            }
            p
        });
        self.says(if instead.is_some() { Was::Instead } else { Was::Listed });
        instead.map(|p| nextp(p, true))
    }
    fn newm(&self, m: MId) -> Result<(), SpawnError> {
        let has_thread = self.on.table.with(|table| {
            let left = table.threads.checked_sub(1);
            table.threads = left.unwrap_or(0);
            left.is_some()
        });
        self.says(if has_thread { Was::Started } else { Was::NoThread });
        if !has_thread {
            return Err(SpawnError { os_error: None });
        }
        self.on.begins[m.index()].unpark();
        Ok(())
    }
    fn refused(&self, nextp: NextP, m: Option<MId>) -> Option<(MId, NextP)> {
        let kept = self.on.table.with(|table| {
            table.unused.extend(m.map(|m| m.0));
            if let Some(late) = table.sleeping.pop() {
                return Some((MId(late), nextp));
            }
            match open(nextp) {
                For::P(p, _) => table.idle.push(p),
                For::Exit => unreachable!("an end is sent to an M that sleeps"),
            }
            table.asked = true;
            None
        });
        self.says(kept.as_ref().map_or(Was::Idled, |(late, _)| Was::Late(late.0)));
        kept
    }
}

impl<H: RoomHost> OnHost<H> {
    /// This M alone uses the P.
    fn uses(&self, hand: &Hand, p: u32) {
        self.ps[p as usize].write(|user| *user = hand.me.0);
    }

    /// Sleeps as the call does; what it finds, and whether that was there before it slept.
    fn sleeps(&self, hand: &mut Hand, op: Op, others: &Others<'_, OnHost<H>, Was>) -> (NextP, bool) {
        let (me, m) = (hand.me, &self.ms[hand.me.index()]);
        if op == Op::Begin {
            self.begins[me.index()].park();
            return (m.take_nextp().expect("a new M finds its `nextp`"), false);
        }
        if let Some(p) = hand.p.take() {
            self.table.with(|table| table.idle.push(p));
        }
        if op == Op::Stopm {
            return (stopm(me, &self.ms, others), false);
        }
        if let Some(instead) = others.mput(me) {
            return (instead, false);
        }
        // Nothing but the `nextp` itself orders what this one sees.
        let at_once = m.take_nextp();
        let is_early = at_once.is_some();
        (at_once.unwrap_or_else(|| m.wait_nextp()), is_early)
    }

    /// Hands a P to another M.
    fn gives(&self, hand: &mut Hand, op: Op, others: &Others<'_, OnHost<H>, Was>) {
        if op == Op::Wakep {
            if let Some(p) = self.table.with(|table| table.idle.pop()) {
                self.uses(hand, p);
                startm(nextp(p, true), &self.ms, others);
            }
            return;
        }
        let nextp = nextp(hand.p.take().expect("it has a P"), false);
        match op {
            Op::Startm => startm(nextp, &self.ms, others),
            _ => give_back(nextp, None, &self.ms, others),
        }
    }
}

impl<H: RoomHost> Real<HandedPs, H> for OnHost<H> {
    type Hand = Hand;
    fn new(setup: (usize, usize), roles: &[Role]) -> Self {
        let (table, ps) = Table::new(setup, roles);
        OnHost {
            roles: roles.to_vec(),
            ms: roles.iter().map(|_| M::new()).collect(),
            table: H::Lock::new(table),
            ps: (0..ps).map(|_| Plain::new(0)).collect(),
            begins: roles.iter().map(|_| H::Parker::new()).collect(),
        }
    }
    fn hand(&self, role: Role) -> Hand {
        let me = self.roles.iter().position(|other| *other == role).expect("it is one of them");
        Hand { me: MId(me as u32), p: p_of(role), has_ended: false }
    }
    fn begin<'a>(&'a self, hand: &'a mut Hand, op: Op, _: &Maker<H>) -> Begun<'a, H, Answer> {
        let others = Others::new(self);
        hand.p.into_iter().for_each(|p| self.uses(hand, p));
        Begun::Over(match op {
            Op::Look => Answer::Is(self.table.with(|table| table.clone())),
            Op::End => {
                let m = self.table.with(|table| table.sleeping.pop());
                m.into_iter().for_each(|m| self.ms[m as usize].wake_with(NextP::Exit));
                Answer::Gave(vec![m.map_or(Was::None, Was::Sleeping)])
            }
            _ if hand.has_ended => Answer::Nothing,
            _ if op.gets() => {
                let (nextp, is_early) = self.sleeps(hand, op, &others);
                let found = open(nextp);
                match found {
                    For::P(p, _) => {
                        hand.p = Some(p);
                        self.uses(hand, p);
                    }
                    For::Exit => hand.has_ended = true,
                }
                Answer::Got(others.into_was(), found, is_early)
            }
            _ => {
                self.gives(hand, op, &others);
                Answer::Gave(others.into_was())
            }
        })
    }
}
