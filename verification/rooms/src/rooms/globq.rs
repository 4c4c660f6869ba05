//! The global queue: a list under the scheduler's lock, and its length, which is read without it.
//!
//! Invariants 1, 2, 26 and 30: each G is taken once; first in, first out, but for those that are put in front, and the oldest ticket when
//! it is asked for; a share is fair; a thread that reads a length sees what was done before it was set.

use super::runq::{g, number};
use crate::host::RoomHost;
use crate::room::{Begun, CallId, Does, Effects, Focus, Real, Room, Spec, Waiting};
use crate::values::Maker;
use kernel::host::Lock as _;
use kernel::queues::globq::{GlobQueue, Len};
use kernel::types::g::G;
use kernel::types::m::MId;
use std::collections::VecDeque;

/// The room.
#[derive(Debug)]
pub struct GlobQueues;

/// How many Gs wait, and what a share is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// Gs that wait.
    pub held: u64,
    /// A share is one of so many.
    pub procs: usize,
    /// And of so many Gs at most.
    pub room: usize,
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Appends one.
    Put,
    /// Appends a ticket, and one more.
    Batch,
    /// Puts one, and a ticket, before all others.
    Front,
    /// Takes the oldest.
    Get,
    /// Takes the oldest ticket.
    GetBound,
    /// Takes a share.
    Share,
    /// Reads the length, without the lock.
    Peek,
}

/// What a call returns.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It is done; so many wait.
    Done(usize),
    /// They were taken.
    Took(Vec<Item>),
    /// So many wait.
    Peeked(usize),
}

/// What stands in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Item {
    /// A G.
    G(u64),
    /// The ticket of an M.
    Ticket(u32),
}

impl Item {
    fn of(g: G) -> Item {
        match g.bound() {
            Some(m) => {
                let _ = g.into_raw();
                Item::Ticket(m.0)
            }
            None => Item::G(number(g)),
        }
    }

    fn make(self) -> G {
        match self {
            Item::G(n) => g(n),
            Item::Ticket(m) => G::forge_ticket(MId(m)),
        }
    }
}

/// What a call puts there.
fn put(op: Op, number: u64) -> Vec<Item> {
    let ticket = Item::Ticket(number as u32);
    match op {
        Op::Put => vec![Item::G(number)],
        Op::Batch => vec![ticket, Item::G(number)],
        Op::Front => vec![Item::G(number), ticket],
        _ => Vec::new(),
    }
}

impl Room for GlobQueues {
    type Setup = Setup;
    type Role = ();
    type Op = Op;
    type Answer = Answer;
    type Spec = List;
    type Real<H: RoomHost> = Global<H>;

    const NAME: &'static str = "globq";

    fn setups() -> Vec<Setup> {
        [(0, 1, 2), (3, 2, 4)].map(|(held, procs, room)| Setup { held, procs, room }).to_vec()
    }
    fn roles() -> Vec<()> {
        vec![()]
    }
    fn may((): (), _: &[Op]) -> Vec<Op> {
        vec![Op::Put, Op::Batch, Op::Front, Op::Get, Op::GetBound, Op::Share, Op::Peek]
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    fn focuses() -> Vec<Focus<Self>> {
        vec![Focus::new(&[4], |(), _, _| true)]
    }
}

/// The kernel's.
pub struct Global<H: RoomHost> {
    queue: H::Lock<GlobQueue>,
    len: Len<H>,
    setup: Setup,
}

impl<H: RoomHost> Real<GlobQueues, H> for Global<H> {
    type Hand = ();
    fn new(setup: Setup, _: &[()]) -> Self {
        let (mut queue, len) = (GlobQueue::default(), Len::new());
        if setup.held > 0 {
            queue.put_batch((1..=setup.held).map(g), &len);
        }
        Global { queue: H::Lock::new(queue), len, setup }
    }
    fn hand(&self, (): ()) {}
    fn begin<'a>(&'a self, (): &'a mut (), op: Op, values: &Maker<H>) -> Begun<'a, H, Answer> {
        let news = || put(op, values.number()).into_iter().map(Item::make);
        let Global { queue, len, setup: Setup { procs, room, .. } } = self;
        if op == Op::Peek {
            return Begun::Over(Answer::Peeked(len.peek()));
        }
        Begun::Over(queue.with(|queue| {
            let mut took = Vec::new();
            match op {
                Op::Put => news().for_each(|g| queue.put(g, len)),
                Op::Batch => queue.put_batch(news(), len),
                Op::Front => queue.put_front(news(), len),
                Op::Get => took.extend(queue.get(len).map(Item::of)),
                Op::GetBound => took.extend(queue.get_bound(len).map(|m| Item::Ticket(m.0))),
                _ => {
                    let first = queue.get_batch(*procs, *room, len, |gs| took.extend(gs.map(Item::of)));
                    took.splice(0..0, first.map(Item::of));
                }
            }
            assert!(
                len.peek() == queue.len() && queue.is_empty() == matches!(queue.len(), 0),
                "list and length differ"
            );
            if matches!(op, Op::Put | Op::Batch | Op::Front) { Answer::Done(queue.len()) } else { Answer::Took(took) }
        }))
    }
}

/// A list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct List {
    procs: usize,
    room: usize,
    /// What waits, and who put it.
    list: VecDeque<(Item, Option<CallId>)>,
    /// The call that set the length.
    last: Option<CallId>,
}

impl List {
    fn take(&mut self, at: usize, n: usize, effects: &mut Effects) -> Answer {
        let taken: Vec<_> = self.list.drain(at..at + n).collect();
        effects.sees.extend(taken.iter().filter_map(|(_, by)| *by));
        Answer::Took(taken.into_iter().map(|(item, _)| item).collect())
    }

    /// So many that there would be enough if each took one less.
    fn share(&self) -> usize {
        (1..=self.room).take_while(|n| (n - 1) * self.procs <= self.list.len()).count().min(self.list.len())
    }
}

impl Spec<GlobQueues> for List {
    fn new(Setup { held, procs, room }: Setup, _: &[()]) -> Self {
        List { procs, room, list: (1..=held).map(|n| (Item::G(n), None)).collect(), last: None }
    }

    fn step(&mut self, me: CallId, does: Does<Op>, _: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        let Does::Begin(op, number) = does else { unreachable!("nothing waits") };
        let news = put(op, number).into_iter().map(|item| (item, Some(me)));
        let before = self.list.len();
        let answer = match op {
            Op::Put | Op::Batch => {
                self.list.extend(news);
                Answer::Done(self.list.len())
            }
            Op::Front => {
                news.rev().for_each(|item| self.list.push_front(item));
                Answer::Done(self.list.len())
            }
            Op::Get => self.take(0, self.list.len().min(1), effects),
            Op::GetBound => match self.list.iter().position(|(item, _)| matches!(item, Item::Ticket(_))) {
                Some(at) => self.take(at, 1, effects),
                None => Answer::Took(Vec::new()),
            },
            Op::Share => self.take(0, self.share(), effects),
            Op::Peek => {
                effects.sees.extend(self.last);
                Answer::Peeked(self.list.len())
            }
        };
        if self.list.len() != before {
            self.last = Some(me);
        }
        Some(answer)
    }
}
