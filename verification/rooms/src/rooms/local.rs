//! The queues of a P as one: `runnext`, and the ring behind it.
//!
//! Invariants 1, 2, 8, 9 and 10: each G is taken once, with all that was done before it was put; `runnext` comes first, but for at most
//! so many times in a row while the ring holds a G; a full ring spills its older half and the G that did not fit; the queues look
//! empty only if there was a moment at which they were.

use super::runq::{Item, g, number, unseen};
use crate::host::RoomHost;
use crate::program::Program;
use crate::room::{Begun, CallId, Does, Effects, Focus, Real, Room, Spec, Waiting};
use crate::values::Maker;
use kernel::queues::local::LocalQueue;
use kernel::queues::runq::Capacity;
use kernel::types::p::Turn;
use std::collections::VecDeque;

/// The room.
#[derive(Debug)]
pub struct Locals;

/// How large the ring is, and how many Gs it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// Of the ring.
    pub capacity: usize,
    /// Gs in it.
    pub held: usize,
    /// Is there one in `runnext`?
    pub has_next: bool,
    /// At most so many in a row come from `runnext` while the ring holds a G.
    pub at_most: u32,
}

/// Is a thread the owner, or a thief?
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It puts and gets.
    Owner,
    /// It steals, and asks.
    Thief,
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Appends one.
    Put,
    /// Makes one the next; the one before is appended.
    PutNext,
    /// Takes the next.
    Get,
    /// Takes half of the ring.
    Steal,
    /// The same, and the next if the ring is empty.
    StealNext,
    /// Is there none?
    IsEmpty,
}

/// What a call returns. Gs are numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It was put, and these were spilled.
    Spilled(Vec<u64>),
    /// It was taken, after so many dispatches; or there was none.
    Got(Option<u64>, u32),
    /// They were taken.
    Stole(Vec<u64>),
    /// There is none.
    Empty(bool),
}

impl Room for Locals {
    type Setup = Setup;
    type Role = Role;
    type Op = Op;
    type Answer = Answer;
    type Spec = SlotAndList;
    type Real<H: RoomHost> = Queues<H>;

    const NAME: &'static str = "local";

    fn setups() -> Vec<Setup> {
        let setups = [(2, 0, true, 1), (2, 1, false, 0), (4, 4, false, 1)];
        setups.map(|(capacity, held, has_next, at_most)| Setup { capacity, held, has_next, at_most }).to_vec()
    }
    fn roles() -> Vec<Role> {
        vec![Role::Owner, Role::Thief]
    }
    fn may(role: Role, _: &[Op]) -> Vec<Op> {
        match role {
            Role::Owner => vec![Op::Put, Op::PutNext, Op::Get],
            Role::Thief => vec![Op::Steal, Op::StealNext, Op::IsEmpty],
        }
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    fn is_worth_it(roles: &[Role]) -> bool {
        roles.iter().filter(|role| **role == Role::Owner).count() < 2
    }
    /// The owner alone, for longer. And beside one thief.
    fn focuses() -> Vec<Focus<Self>> {
        let owner_first = |program: &Program<Self>| program.threads[0].role == Role::Owner;
        vec![
            Focus::new(&[6], |role, _, _| role == Role::Owner),
            Focus { lens: &[3, 1], has: |_, _, _| true, is_played: owner_first },
        ]
    }
}

/// What is in `runnext` at first.
const NEXT: u64 = 9;

/// The kernel's.
pub struct Queues<H: RoomHost> {
    queue: LocalQueue<H, 4>,
    capacity: Capacity,
    at_most: u32,
}

impl<H: RoomHost> Real<Locals, H> for Queues<H> {
    /// The owner's turns.
    type Hand = Turn;
    fn new(Setup { capacity, held, has_next, at_most }: Setup, _: &[Role]) -> Self {
        let capacity = Capacity::new(capacity).expect("a power of two");
        let queue = LocalQueue::new(capacity);
        assert_eq!(queue.put_batch(&mut (1..=held as u64).map(g)), held, "they fit");
        has_next.then(|| queue.put_next(g(NEXT), |_, _| unreachable!("there was none")));
        Queues { queue, capacity, at_most }
    }
    fn hand(&self, _: Role) -> Turn {
        Turn::default()
    }
    fn begin<'a>(&'a self, turn: &'a mut Turn, op: Op, values: &Maker<H>) -> Begun<'a, H, Answer> {
        let steal = |and_next: bool| {
            let mine = LocalQueue::new(self.capacity);
            let (first, n) = self.queue.steal_some(&mine, and_next, || ()).map_or((None, 0), |(g, n)| (Some(g), n));
            let all: Vec<u64> = first.into_iter().chain(mine.drain()).map(number).collect();
            assert_eq!(all.len(), n, "it counts what it stole");
            Answer::Stole(all)
        };
        let mut spilled = Vec::new();
        Begun::Over(match op {
            Op::Put => {
                self.queue.put(g(values.number()), |half, last| spilled.extend(half.chain([last]).map(number)));
                Answer::Spilled(spilled)
            }
            Op::PutNext => {
                self.queue.put_next(g(values.number()), |half, last| spilled.extend(half.chain([last]).map(number)));
                Answer::Spilled(spilled)
            }
            Op::Get => {
                let got = self.queue.get(turn, self.at_most).map(number);
                Answer::Got(got, turn.dispatches())
            }
            Op::Steal => steal(false),
            Op::StealNext => steal(true),
            Op::IsEmpty => Answer::Empty(self.queue.is_empty()),
        })
    }
}

/// A slot, a list, and what the owner has in its hand.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SlotAndList {
    /// How many Gs the list holds at most.
    capacity: usize,
    /// How many in a row come from the slot while the list holds a G.
    at_most: u32,
    next: Option<Item>,
    list: VecDeque<Item>,
    /// What was displaced and is not in the list yet, if the owner has come so far.
    hand: Option<Option<Item>>,
    /// How many were dispatched, and how many in a row from the slot.
    turn: (u32, u32),
    /// The last call of each thread that took something, the latest at the end. Another thread may not know of it yet.
    took: Vec<CallId>,
}

impl SlotAndList {
    fn take(&mut self, n: usize, effects: &mut Effects) -> Vec<u64> {
        let taken: Vec<Item> = self.list.drain(..n).collect();
        effects.sees.extend(taken.iter().flat_map(|(_, by)| by));
        taken.into_iter().map(|(g, _)| g).collect()
    }

    fn take_next(&mut self, effects: &mut Effects) -> Option<u64> {
        let (g, by) = self.next.take()?;
        effects.sees.extend(by);
        Some(g)
    }

    fn append(&mut self, item: Item, effects: &mut Effects) -> Answer {
        if self.list.len() < self.capacity {
            self.list.push_back(item);
            return Answer::Spilled(Vec::new());
        }
        let half = self.take(self.capacity / 2, effects);
        Answer::Spilled([half, vec![item.0]].concat())
    }

    fn get(&mut self, effects: &mut Effects) -> Option<u64> {
        let (dispatches, in_a_row) = self.turn;
        if (in_a_row < self.at_most || self.list.is_empty())
            && let Some(next) = self.take_next(effects)
        {
            self.turn = (dispatches + 1, in_a_row + 1);
            return Some(next);
        }
        let first = *self.take(self.list.len().min(1), effects).first()?;
        self.turn = (dispatches + 1, 0);
        Some(first)
    }

    /// Half of what it saw of the ring; if it saw none there, the next.
    fn steal(&mut self, and_next: bool, answer: &Answer, effects: &mut Effects) -> Option<Answer> {
        let Answer::Stole(stolen) = answer else { return None };
        let is_next = and_next && stolen.first().is_some_and(|g| self.next.as_ref().is_some_and(|(next, _)| next == g));
        effects.misses.extend(unseen(&self.list, if is_next { 0 } else { stolen.len() })?);
        if is_next {
            return Some(Answer::Stole(self.take_next(effects).into_iter().collect()));
        }
        if let Some((_, by)) = self.next.as_ref().filter(|_| and_next && stolen.is_empty()) {
            effects.misses.push(*by.last()?);
        }
        Some(Answer::Stole(self.take(stolen.len(), effects)))
    }
}

impl Spec<Locals> for SlotAndList {
    fn new(Setup { capacity, held, has_next, at_most }: Setup, _: &[Role]) -> Self {
        let list = (1..=held as u64).map(|g| (g, Vec::new())).collect();
        let next = has_next.then_some((NEXT, Vec::new()));
        SlotAndList { capacity, at_most, next, list, hand: None, turn: (0, 0), took: Vec::new() }
    }

    /// The owner has what it displaced in its hand before it appends that.
    fn step_before(&self, me: CallId, does: Does<Op>, _: Option<&Answer>) -> Option<Self> {
        let Does::Begin(Op::PutNext, number) = does else { return None };
        let mut next = self.clone();
        self.hand.is_none().then(|| {
            let displaced = next.next.replace((number, vec![me]));
            next.hand = Some(displaced.map(|(g, by)| (g, [by, vec![me]].concat())));
            next
        })
    }

    fn step(&mut self, me: CallId, does: Does<Op>, answer: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        let Does::Begin(op, number) = does else { unreachable!("nothing waits") };
        let held = self.held();
        let said = self.does(me, op, number, answer, effects);
        if op != Op::IsEmpty && self.held() < held {
            self.took.retain(|took| took.thread != me.thread);
            self.took.push(me);
        }
        said
    }
}

impl SlotAndList {
    fn held(&self) -> usize {
        self.list.len() + usize::from(self.next.is_some())
    }

    fn does(
        &mut self,
        me: CallId,
        op: Op,
        number: u64,
        answer: Option<&Answer>,
        effects: &mut Effects,
    ) -> Option<Answer> {
        Some(match op {
            Op::Put => self.append((number, vec![me]), effects),
            Op::PutNext => match self.hand.take()? {
                None => Answer::Spilled(Vec::new()),
                Some(displaced) => self.append(displaced, effects),
            },
            Op::Get => {
                let got = self.get(effects);
                Answer::Got(got, self.turn.0)
            }
            Op::Steal | Op::StealNext => return self.steal(op == Op::StealNext, answer?, effects),
            // A guess: a thread that does not know of the last theft still finds something.
            Op::IsEmpty if self.held() == 0 && answer == Some(&Answer::Empty(false)) => {
                effects.misses.push(*self.took.iter().rfind(|took| took.thread != me.thread)?);
                Answer::Empty(false)
            }
            Op::IsEmpty => Answer::Empty(self.held() == 0),
        })
    }
}
