//! Waiting for each other.
//!
//! Invariant 117: no task leaves before all of its round have come, in the order of the lock; the last of a round leads it, and each
//! sees what all of its round did before they came. A task that has come stays counted, also if it is dropped.

use crate::host::RoomHost;
use crate::room::{Begun, CallId, Does, Effects, Focus, Real, Room, Spec, WAITS, Wait, Waiting};
use crate::values::Maker;
use crate::wakers::{Lends, Wakes};
use kernel::waits::barrier::{self, Barrier};
use std::task::Poll;

/// The room.
#[derive(Debug)]
pub struct Barriers;

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Comes, and waits for the others.
    Wait,
}

impl Room for Barriers {
    /// How many wait for each other.
    type Setup = usize;
    type Role = ();
    type Op = Op;
    /// Does it lead?
    type Answer = bool;
    type Spec = Rounds;
    type Real<H: RoomHost> = Barrier<H, Wakes<H>>;

    const NAME: &'static str = "barrier";

    fn setups() -> Vec<usize> {
        vec![0, 1, 2, 3]
    }
    fn roles() -> Vec<()> {
        vec![()]
    }
    fn may((): (), _: &[Op]) -> Vec<Op> {
        vec![Op::Wait]
    }
    fn waits(_: Op) -> &'static [Waiting] {
        WAITS
    }
    /// Of three that wait two are woken, each by its last waker.
    fn focuses() -> Vec<Focus<Self>> {
        let has = |(), _, waiting| matches!(waiting, Some(Waiting::ToTheEnd | Waiting::Renewed));
        vec![Focus::new(&[1, 1, 1], has)]
    }
}

impl<H: RoomHost> Real<Barriers, H> for Barrier<H, Wakes<H>> {
    type Hand = ();
    fn new(parties: usize, _: &[()]) -> Self {
        Barrier::new(parties)
    }
    fn hand(&self, (): ()) {}
    fn begin<'a>(&'a self, (): &'a mut (), Op::Wait: Op, _: &Maker<H>) -> Begun<'a, H, bool> {
        Begun::Waits(Box::new(Comes { wait: self.wait(), leads: None }))
    }
}

/// A task that comes. Once its wait is over: does it lead?
struct Comes<'a, H: RoomHost> {
    wait: barrier::Wait<'a, H, Wakes<H>>,
    leads: Option<bool>,
}

impl<H: RoomHost> Wait<H, bool> for Comes<'_, H> {
    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<bool> {
        self.wait.poll(lender).map(|leads| *self.leads.insert(leads))
    }
    fn stays_over(&mut self, lender: &mut Lends<H>) -> bool {
        self.leads.map(Poll::Ready) == Some(self.wait.poll(lender))
    }
}

/// Where a thread's wait is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Nowhere,
    Created,
    /// It has come in this round. Was it the last?
    Came(usize, bool),
}

/// The rounds so far, each with those that came; the last is the one that goes on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rounds {
    parties: usize,
    came: Vec<Vec<CallId>>,
    places: Vec<Place>,
}

impl Spec<Barriers> for Rounds {
    fn new(parties: usize, roles: &[()]) -> Self {
        Rounds { parties, came: vec![Vec::new()], places: vec![Place::Nowhere; roles.len()] }
    }

    /// A task comes under one lock, and looks under the next: its round may end in between.
    fn step_before(&self, me: CallId, does: Does<Op>, _: Option<&bool>) -> Option<Self> {
        if does != Does::Poll || self.places[me.thread] != Place::Created {
            return None;
        }
        let mut next = self.clone();
        let round = next.came.len() - 1;
        next.came[round].push(me);
        let leads = next.came[round].len() >= next.parties;
        if leads {
            next.came.push(Vec::new());
        }
        next.places[me.thread] = Place::Came(round, leads);
        Some(next)
    }

    fn step(&mut self, me: CallId, does: Does<Op>, _: Option<&bool>, effects: &mut Effects) -> Option<bool> {
        let place = &mut self.places[me.thread];
        match (does, *place) {
            (Does::Begin(Op::Wait, _), _) => *place = Place::Created,
            (Does::GiveUp, _) => *place = Place::Nowhere,
            (Does::Poll, Place::Came(round, leads)) if round + 1 < self.came.len() => {
                *place = Place::Nowhere;
                effects.sees.extend(&self.came[round]);
                return Some(leads);
            }
            (Does::Poll, _) => (),
            (Does::Enable, _) => unreachable!("no wait of a barrier is enabled"),
        }
        None
    }
}
