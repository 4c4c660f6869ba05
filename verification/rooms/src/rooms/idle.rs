//! The idle Ps, of which a word tells how many there are, and bits which; and the sleeping Ms.
//!
//! Invariants 4, 33 and 34: a P is taken once, the last listed first; bits and count say what is listed, whenever the lock is free; the M that
//! fell asleep last is woken first, and the one that slept longest is ended first, but never the last.

use crate::host::RoomHost;
use crate::room::{Begun, CallId, Does, Effects, Focus, Real, Room, Spec, Waiting, is_each_once};
use crate::values::Maker;
use kernel::host::{Lock as _, Nanos};
use kernel::queues::idle::{IdleMask, IdlePs, SleepingMs};
use kernel::types::m::MId;
use kernel::types::p::{OwnedP, PId};

/// The room.
#[derive(Debug)]
pub struct IdleLists;

/// The part of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// An M, with Ps of its own.
    M(usize),
    /// It has another list with the same bits, which is forbidden: so that list and bits can differ.
    Other,
    /// It holds the list of sleeping Ms.
    Waker,
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Lists the P that the thread took last.
    Put,
    /// Takes one.
    Get,
    /// Reads how many there are, without the lock.
    Count,
    /// Reads whether this one is idle, without the lock.
    IsIdle(u32),
    /// An M falls asleep then.
    Sleep(Nanos),
    /// Wakes an M.
    Wake,
    /// Ends an M that has slept since then, or for longer.
    End(Nanos),
}

/// What a call returns.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Of the Ps, under the lock.
    Ps(Ps),
    /// The M that was taken; how many sleep, and is that none? Since when sleeps the M that is ended next?
    Ms(Option<u32>, usize, bool, Option<Nanos>),
    /// So many.
    Count(usize),
    /// It is.
    Idle(bool),
}

/// What is seen of the Ps.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ps {
    /// The P that was put or taken.
    moved: Option<u32>,
    /// How many are listed, and is that none?
    listed: (usize, bool),
    count: usize,
    agrees: bool,
    /// Whose bits are set.
    bits: Vec<u32>,
}

/// Those that may be idle at first; those of each M, and of the other; all of them, and of how many.
const IDLE: [u32; 2] = [3, 64];
const OF_MS: [&[u32]; 2] = [&[0, 63], &[1, 62]];
const OF_OTHER: &[u32] = &[2];
const ALL: [u32; 7] = [0, 1, 2, 3, 62, 63, 64];
const PROCS: usize = 65;

/// The Ps that a thread has at first.
fn ps_of(role: Role) -> Vec<u32> {
    match role {
        Role::M(m) => OF_MS[m].to_vec(),
        Role::Other => OF_OTHER.to_vec(),
        Role::Waker => Vec::new(),
    }
}

impl Room for IdleLists {
    /// How many Ps are idle at first.
    type Setup = usize;
    type Role = Role;
    type Op = Op;
    type Answer = Answer;
    type Spec = Lists;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "idle";

    fn setups() -> Vec<usize> {
        vec![IDLE.len(), 0]
    }
    fn roles() -> Vec<Role> {
        vec![Role::M(0), Role::M(1), Role::Other, Role::Waker]
    }
    fn may(role: Role, _: &[Op]) -> Vec<Op> {
        match role {
            Role::Waker => vec![Op::Sleep(1), Op::Sleep(2), Op::Wake, Op::End(1), Op::End(2)],
            _ => vec![Op::Put, Op::Get, Op::Count, Op::IsIdle(63), Op::IsIdle(64)],
        }
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    /// Each at most once; and the list of the Ms is under a lock, and alone.
    fn is_worth_it(roles: &[Role]) -> bool {
        is_each_once(roles) && (roles.len() == 1 || !roles.contains(&Role::Waker))
    }
    fn focuses() -> Vec<Focus<Self>> {
        vec![
            Focus::new(&[5], |role, _, _| role == Role::Waker),
            Focus::new(&[4, 2], |_, op, _| matches!(op, Op::Put | Op::Get)),
        ]
    }
}

/// The kernel's.
pub struct OnHost<H: RoomHost> {
    /// That of the Ms, and the forbidden one; and the sleeping Ms.
    lists: H::Lock<([IdlePs; 2], SleepingMs)>,
    mask: IdleMask<H>,
}

/// A thread's Ps, the last one first.
pub struct Hand {
    list: usize,
    ps: Vec<OwnedP>,
}

impl Drop for Hand {
    fn drop(&mut self) {
        self.ps.drain(..).for_each(|p| _ = p.discard());
    }
}

impl<H: RoomHost> OnHost<H> {
    fn of_ps(&self, hand: &mut Hand, op: Op) -> Answer {
        let of = |p: &OwnedP| p.id().0;
        self.lists.with(|(lists, _)| {
            let list = &mut lists[hand.list];
            let moved = if op == Op::Put {
                hand.ps.pop().map(|p| {
                    let id = of(&p);
                    list.put(p, &self.mask);
                    id
                })
            } else {
                list.get(&self.mask).map(|p| {
                    let id = of(&p);
                    hand.ps.push(p);
                    id
                })
            };
            Answer::Ps(Ps {
                moved,
                listed: (list.len(), list.is_empty()),
                count: self.mask.npidle(),
                agrees: list.agrees_with(&self.mask),
                bits: ALL.into_iter().filter(|p| self.mask.is_idle(PId(*p))).collect(),
            })
        })
    }

    fn of_ms(&self, op: Op, number: u64) -> Answer {
        self.lists.with(|(_, sleeping)| {
            let taken = match op {
                Op::Sleep(now) => {
                    sleeping.put(MId(number as u32), now);
                    None
                }
                Op::End(before) => sleeping.get_older(before),
                _ => sleeping.get(),
            };
            Answer::Ms(taken.map(|m| m.0), sleeping.len(), sleeping.is_empty(), sleeping.next_to_end())
        })
    }
}

impl<H: RoomHost> Real<IdleLists, H> for OnHost<H> {
    type Hand = Hand;
    fn new(idle: usize, _: &[Role]) -> Self {
        let (mut lists, mask) = (<[IdlePs; 2]>::default(), IdleMask::new(PROCS));
        IDLE.into_iter().take(idle).for_each(|p| lists[0].put(OwnedP::forge(PId(p)), &mask));
        OnHost { lists: H::Lock::new((lists, SleepingMs::default())), mask }
    }
    fn hand(&self, role: Role) -> Hand {
        let ps = ps_of(role).into_iter().map(|p| OwnedP::forge(PId(p))).collect();
        Hand { list: usize::from(role == Role::Other), ps }
    }
    fn begin<'a>(&'a self, hand: &'a mut Hand, op: Op, values: &Maker<H>) -> Begun<'a, H, Answer> {
        Begun::Over(match op {
            Op::Put | Op::Get => self.of_ps(hand, op),
            Op::Count => Answer::Count(self.mask.npidle()),
            Op::IsIdle(p) => Answer::Idle(self.mask.is_idle(PId(p))),
            Op::Sleep(_) | Op::Wake | Op::End(_) => self.of_ms(op, values.number()),
        })
    }
}

/// What was written to a word, and by which call.
type Written<T> = Vec<(T, Option<CallId>)>;

/// Stacks.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Lists {
    /// Of each thread, its Ps, and which list it has.
    hands: Vec<(Vec<u32>, usize)>,
    /// And which call listed each.
    lists: [Vec<(u32, Option<CallId>)>; 2],
    counts: Written<usize>,
    bits: Vec<Written<bool>>,
    sleeping: Vec<(u32, Nanos)>,
}

/// A word that is read without the lock may be one of before: the calls that have written since are missed.
fn reads<T: PartialEq>(word: &Written<T>, said: &T, effects: &mut Effects) -> bool {
    let found = word.iter().rposition(|(value, _)| value == said);
    effects.misses.extend(found.into_iter().flat_map(|at| &word[at + 1..]).filter_map(|(_, by)| *by));
    found.is_some()
}

fn last<T: Copy>(word: &Written<T>) -> T {
    word.last().expect("it was written at first").0
}

impl Lists {
    fn writes(&mut self, by: Option<CallId>, list: usize, p: u32, is_idle: bool) {
        self.bits[p as usize].push((is_idle, by));
        self.counts.push((self.lists[list].len(), by));
    }

    /// Moves a P, and looks.
    fn of_ps(&mut self, me: CallId, op: Op, effects: &mut Effects) -> Answer {
        let (ps, list) = &mut self.hands[me.thread];
        let list = *list;
        let moved = if op == Op::Put {
            let p = ps.pop();
            self.lists[list].extend(p.map(|p| (p, Some(me))));
            p
        } else {
            let taken = self.lists[list].pop();
            effects.sees.extend(taken.and_then(|(_, by)| by));
            ps.extend(taken.map(|(p, _)| p));
            taken.map(|(p, _)| p)
        };
        if let Some(p) = moved {
            self.writes(Some(me), list, p, op == Op::Put);
        }
        let listed = &self.lists[list];
        let is_idle = |p: &u32| last(&self.bits[*p as usize]);
        let bits: Vec<u32> = ALL.into_iter().filter(is_idle).collect();
        let count = last(&self.counts);
        let agrees = listed.iter().all(|(p, _)| is_idle(p)) && bits.len() == listed.len() && count == listed.len();
        Answer::Ps(Ps { moved, listed: (listed.len(), listed.is_empty()), count, agrees, bits })
    }

    fn of_ms(&mut self, op: Op, number: u64) -> Answer {
        let ends_next = |sleeping: &[(u32, Nanos)]| (sleeping.len() > 1).then(|| sleeping[0].1);
        let taken = match op {
            Op::Sleep(now) => {
                self.sleeping.push((number as u32, now));
                None
            }
            Op::End(before) => {
                ends_next(&self.sleeping).filter(|since| *since <= before).map(|_| self.sleeping.remove(0))
            }
            _ => self.sleeping.pop(),
        };
        let sleep = self.sleeping.len();
        Answer::Ms(taken.map(|(m, _)| m), sleep, sleep == 0, ends_next(&self.sleeping))
    }
}

impl Spec<IdleLists> for Lists {
    fn new(idle: usize, roles: &[Role]) -> Self {
        let mut new = Lists {
            hands: roles.iter().map(|role| (ps_of(*role), usize::from(*role == Role::Other))).collect(),
            lists: Default::default(),
            counts: vec![(0, None)],
            bits: vec![vec![(false, None)]; PROCS],
            sleeping: Vec::new(),
        };
        for p in IDLE.into_iter().take(idle) {
            new.lists[0].push((p, None));
            new.writes(None, 0, p, true);
        }
        new
    }

    fn step(&mut self, me: CallId, does: Does<Op>, answer: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        let Does::Begin(op, number) = does else { unreachable!("nothing waits") };
        let is_read = match (op, answer?) {
            (Op::Put | Op::Get, _) => return Some(self.of_ps(me, op, effects)),
            (Op::Count, Answer::Count(said)) => reads(&self.counts, said, effects),
            (Op::IsIdle(p), Answer::Idle(said)) => reads(&self.bits[p as usize], said, effects),
            _ => return Some(self.of_ms(op, number)),
        };
        is_read.then(|| answer.cloned())?
    }
}
