//! The ring of a P: its owner puts and gets, thieves take the older half into rings of their own.
//!
//! Invariants 1, 2, 7 and 9: each G is taken once, with all that was done before it was put; the ring is first in, first out; a
//! thief takes half of what it saw, rounded up; nothing is found only if nothing was there.

use crate::host::RoomHost;
use crate::room::{Begun, CallId, Does, Effects, Focus, Real, Room, Spec, Waiting};
use crate::values::Maker;
use kernel::queues::runq::{Capacity, Full, RunQueue};
use kernel::types::g::G;
use std::collections::VecDeque;
use std::num::NonZeroU64;

/// The room: three rings.
#[derive(Debug)]
pub struct RunQueues;

/// How large the rings are, and how many Gs the first holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// Of each ring.
    pub capacity: usize,
    /// Gs in the first ring.
    pub held: usize,
}

/// What a thread does with its own ring, or to that of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Appends one.
    Put,
    /// Appends as many of three as fit.
    Batch,
    /// Takes the oldest.
    Get,
    /// Takes the older half, if it is full.
    Spill,
    /// Is there none?
    IsEmpty,
    /// Takes the older half of this ring, all but the first into its own.
    Steal(usize),
}

/// What a call returns. Gs are numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It was put.
    Done,
    /// The ring is full.
    Full,
    /// So many were put.
    Fitted(usize),
    /// It was taken; or there was none.
    Got(Option<u64>),
    /// They were taken; or the ring was not full.
    Spilled(Option<Vec<u64>>),
    /// There is none.
    Empty(bool),
    /// It was taken, and so many in all.
    Stole(Option<u64>, usize),
}

impl Room for RunQueues {
    type Setup = Setup;
    /// Which ring is its own.
    type Role = usize;
    type Op = Op;
    type Answer = Answer;
    type Spec = Lists;
    type Real<H: RoomHost> = Rings<H>;

    const NAME: &'static str = "runq";

    fn setups() -> Vec<Setup> {
        [(2, 0), (2, 2), (4, 4)].map(|(capacity, held)| Setup { capacity, held }).to_vec()
    }
    fn roles() -> Vec<usize> {
        vec![0, 1, 2]
    }
    fn may(role: usize, _: &[Op]) -> Vec<Op> {
        match role {
            0 => vec![Op::Put, Op::Batch, Op::Get, Op::Spill, Op::IsEmpty],
            1 => vec![Op::Steal(0), Op::Get],
            _ => vec![Op::Steal(0), Op::Steal(1)],
        }
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    /// Each ring has one owner. A third without the second would do what the second does.
    fn is_worth_it(roles: &[usize]) -> bool {
        let is_of_another = |(n, role)| !roles[..n].contains(role);
        roles.iter().enumerate().all(is_of_another) && (!roles.contains(&2) || roles.contains(&1))
    }
    /// The owner alone, for longer. And beside a thief, so that the ring turns under it.
    fn focuses() -> Vec<Focus<Self>> {
        vec![Focus::new(&[5], |role, op, _| role == 0 && op != Op::IsEmpty), Focus::new(&[3, 1], |role, _, _| role < 2)]
    }
}

/// Cursors of five bits: they wrap around soon, and no thief sleeps through half a round.
type Ring<H> = RunQueue<H, 5>;

/// The kernel's rings.
pub struct Rings<H: RoomHost>([Ring<H>; 3]);

pub(super) fn g(number: u64) -> G {
    G::from_raw(NonZeroU64::new(number).expect("numbers begin with 1"))
}

pub(super) fn number(g: G) -> u64 {
    g.into_raw().get()
}

/// The Gs of a call's batch.
fn batch(number: u64) -> impl Iterator<Item = u64> {
    (1..=3).map(move |n| 100 * n + number)
}

impl<H: RoomHost> Real<RunQueues, H> for Rings<H> {
    type Hand = usize;
    fn new(Setup { capacity, held }: Setup, _: &[usize]) -> Self {
        let capacity = Capacity::new(capacity).expect("a power of two");
        // The wrap is at 32.
        let rings = [30, 0, 0].map(|at| Ring::starting_at(capacity, at));
        let put = rings[0].put_batch(&mut (1..=held as u64).map(g));
        assert_eq!(put, held, "they fit");
        Rings(rings)
    }
    fn hand(&self, role: usize) -> usize {
        role
    }
    fn begin<'a>(&'a self, hand: &'a mut usize, op: Op, values: &Maker<H>) -> Begun<'a, H, Answer> {
        let mine = &self.0[*hand];
        Begun::Over(match op {
            Op::Put => match mine.put(g(values.number())) {
                Ok(()) => Answer::Done,
                Err(Full(g)) => {
                    assert_eq!(number(g), values.number(), "another G comes back");
                    Answer::Full
                }
            },
            Op::Batch => {
                let mut gs = batch(values.number()).map(g);
                let fitted = mine.put_batch(&mut gs);
                assert!(gs.map(number).eq(batch(values.number()).skip(fitted)), "a G of the batch is lost");
                Answer::Fitted(fitted)
            }
            Op::Get => Answer::Got(mine.get().map(number)),
            Op::Spill => Answer::Spilled(mine.spill_half().map(|half| half.map(number).collect())),
            Op::IsEmpty => Answer::Empty(mine.is_empty()),
            Op::Steal(victim) => {
                let stolen = self.0[victim].steal_some(mine);
                let (first, n) = stolen.map_or((None, 0), |(first, n)| (Some(number(first)), n));
                Answer::Stole(first, n)
            }
        })
    }
}

/// A G, and the calls that had it in their hands: the last put it where it is.
pub(super) type Item = (u64, Vec<CallId>);

/// Which calls has a thief not seen that takes `n` of this list, half of what it saw? `None`: it saw more, or there are no so many.
pub(super) fn unseen(list: &VecDeque<Item>, n: usize) -> Option<Vec<CallId>> {
    let saw = list.len().min(2 * n);
    let missed: Option<Vec<CallId>> = list.iter().skip(saw).map(|(_, by)| by.last().copied()).collect();
    missed.filter(|_| saw.div_ceil(2) == n)
}

/// Three lists.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Lists {
    capacity: usize,
    /// Of each thread, which list is its own.
    mine: Vec<usize>,
    lists: [VecDeque<Item>; 3],
    /// The calls that stole from the first list since its owner took some, and how many each.
    thefts: Vec<(CallId, usize)>,
    /// What each thief has taken, and not put into its own list yet; and what was put into its victim's that it has not seen.
    hands: Vec<(Vec<Item>, Vec<CallId>)>,
}

impl Lists {
    /// The owner takes the oldest `n`. It then knows of all that were taken before.
    fn take(&mut self, mine: usize, n: usize, effects: &mut Effects) -> Vec<u64> {
        if mine == 0 {
            self.thefts.clear();
        }
        let taken: Vec<Item> = self.lists[mine].drain(..n).collect();
        effects.sees.extend(taken.iter().flat_map(|(_, by)| by));
        taken.into_iter().map(|(g, _)| g).collect()
    }

    /// How many Gs the owner takes the first list to hold, given what it answers: of the last thefts it may not know yet.
    fn seems(&self, op: Op, answer: Option<&Answer>, effects: &mut Effects) -> usize {
        let is_it = |n: usize| match (op, answer) {
            (Op::Put, Some(Answer::Full)) => n == self.capacity,
            (Op::Batch, Some(Answer::Fitted(fitted))) => *fitted == 3.min(self.capacity - n),
            (Op::IsEmpty, Some(Answer::Empty(false))) => n > 0,
            _ => true,
        };
        let now = self.lists[0].len();
        if is_it(now) {
            return now;
        }
        let mut n = now;
        for (missed, (_, stolen)) in self.thefts.iter().enumerate().rev() {
            n += stolen;
            // More than there may be it never seems to hold: its owner did not put those.
            if n <= self.capacity && is_it(n) {
                effects.misses.extend(self.thefts[missed..].iter().map(|(by, _)| *by));
                return n;
            }
        }
        now
    }
}

impl Spec<RunQueues> for Lists {
    fn new(Setup { capacity, held }: Setup, roles: &[usize]) -> Self {
        let first = (1..=held as u64).map(|g| (g, Vec::new())).collect();
        let lists = [first, VecDeque::new(), VecDeque::new()];
        let hands = vec![Default::default(); roles.len()];
        Lists { capacity, mine: roles.to_vec(), lists, thefts: Vec::new(), hands }
    }

    /// A thief takes half of what it saw, and then puts that into its own list.
    fn step_before(&self, me: CallId, does: Does<Op>, answer: Option<&Answer>) -> Option<Self> {
        let (Does::Begin(Op::Steal(list), _), Some(&Answer::Stole(Some(_), n))) = (does, answer) else { return None };
        let missed = unseen(&self.lists[list], n)?;
        let mut next = self.clone();
        next.hands[me.thread].0.is_empty().then(|| {
            next.hands[me.thread] = (next.lists[list].drain(..n).collect(), missed);
            next.thefts.extend((list == 0).then_some((me, n)));
            next
        })
    }

    fn step(&mut self, me: CallId, does: Does<Op>, answer: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        let Does::Begin(op, number) = does else { unreachable!("nothing waits") };
        let mine = self.mine[me.thread];
        let n = if mine == 0 { self.seems(op, answer, effects) } else { self.lists[mine].len() };
        let is_full = n == self.capacity;
        Some(match op {
            Op::Put if is_full => Answer::Full,
            Op::Put => {
                self.lists[mine].push_back((number, vec![me]));
                Answer::Done
            }
            Op::Batch => {
                let fits = batch(number).take(self.capacity - n);
                self.lists[mine].extend(fits.map(|g| (g, vec![me])));
                Answer::Fitted(3.min(self.capacity - n))
            }
            Op::Get if n == 0 => Answer::Got(None),
            Op::Get => Answer::Got(self.take(mine, 1, effects).pop()),
            Op::Spill if is_full => Answer::Spilled(Some(self.take(mine, self.capacity / 2, effects))),
            Op::Spill => Answer::Spilled(None),
            Op::IsEmpty => Answer::Empty(n == 0),
            Op::Steal(victim) => {
                let (stolen, missed) = match answer {
                    Some(Answer::Stole(Some(_), _)) => std::mem::take(&mut self.hands[me.thread]),
                    _ => (Vec::new(), unseen(&self.lists[victim], 0)?),
                };
                effects.misses.extend(missed);
                effects.sees.extend(stolen.iter().flat_map(|(_, by)| by));
                let answer = Answer::Stole(stolen.first().map(|(g, _)| *g), stolen.len());
                let kept = stolen.into_iter().skip(1).map(|(g, by)| (g, [by, vec![me]].concat()));
                self.lists[mine].extend(kept);
                answer
            }
        })
    }
}
