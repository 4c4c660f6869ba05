//! Waiting until several have done.
//!
//! Invariant 97: a waiter goes on once the count has been zero after it began to wait, and sees all that was done before.

use crate::host::RoomHost;
use crate::room::{Begun, CallId, Does, Effects, Real, Room, Spec, WAITS, Wait, Waiting};
use crate::values::Maker;
use crate::wakers::{Lends, Wakes};
use kernel::waits::wait_group::{self, WaitGroup};
use std::task::Poll;

/// The room.
#[derive(Debug)]
pub struct WaitGroups;

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// So many more are waited for.
    Add(usize),
    /// One has done.
    Done,
    /// Waits until the count is zero.
    Wait,
}

impl Room for WaitGroups {
    /// How many are waited for.
    type Setup = usize;
    type Role = ();
    type Op = Op;
    /// Was it counted, or is it over?
    type Answer = bool;
    type Spec = Count;
    type Real<H: RoomHost> = WaitGroup<H, Wakes<H>>;

    const NAME: &'static str = "wait_group";

    fn setups() -> Vec<usize> {
        vec![0, 1, 2]
    }
    fn roles() -> Vec<()> {
        vec![()]
    }
    fn may((): (), _: &[Op]) -> Vec<Op> {
        vec![Op::Add(1), Op::Add(2), Op::Add(usize::MAX), Op::Done, Op::Wait]
    }
    fn waits(op: Op) -> &'static [Waiting] {
        if op == Op::Wait { WAITS } else { &[] }
    }
}

impl<H: RoomHost> Real<WaitGroups, H> for WaitGroup<H, Wakes<H>> {
    type Hand = ();
    fn new(count: usize, _: &[()]) -> Self {
        let group = WaitGroup::new();
        assert!(group.add(count), "they are few");
        group
    }
    fn hand(&self, (): ()) {}
    fn begin<'a>(&'a self, (): &'a mut (), op: Op, _: &Maker<H>) -> Begun<'a, H, bool> {
        match op {
            Op::Add(n) => Begun::Over(self.add(n)),
            Op::Done => Begun::Over(self.done()),
            Op::Wait => Begun::Waits(Box::new(self.wait())),
        }
    }
}

impl<H: RoomHost> Wait<H, bool> for wait_group::Wait<'_, H, Wakes<H>> {
    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<bool> {
        wait_group::Wait::poll(self, lender).map(|()| true)
    }
}

/// Where a thread's wait is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Place {
    Nowhere,
    Created,
    Queued,
    /// The count was zero, after these had done.
    Served(Vec<CallId>),
}

/// The count, and the waiters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Count {
    count: usize,
    done: Vec<CallId>,
    places: Vec<Place>,
}

impl Spec<WaitGroups> for Count {
    fn new(count: usize, roles: &[()]) -> Self {
        Count { count, done: Vec::new(), places: vec![Place::Nowhere; roles.len()] }
    }

    fn step(&mut self, me: CallId, does: Does<Op>, _: Option<&bool>, effects: &mut Effects) -> Option<bool> {
        let place = &mut self.places[me.thread];
        match does {
            Does::Begin(Op::Add(n), _) => {
                let sum = self.count.checked_add(n);
                self.count = sum.unwrap_or(self.count);
                Some(sum.is_some())
            }
            Does::Begin(Op::Done, _) => {
                let Some(left) = self.count.checked_sub(1) else { return Some(false) };
                (self.count, self.done) = (left, [self.done.as_slice(), &[me]].concat());
                let queued = self.places.iter_mut().filter(|place| left == 0 && **place == Place::Queued);
                queued.for_each(|place| *place = Place::Served(self.done.clone()));
                Some(true)
            }
            Does::Begin(Op::Wait, _) => {
                *place = Place::Created;
                None
            }
            Does::Poll => {
                match place {
                    Place::Served(done) => effects.sees.append(done),
                    Place::Created | Place::Queued if self.count == 0 => effects.sees.extend(&self.done),
                    Place::Created | Place::Queued => {
                        *place = Place::Queued;
                        return None;
                    }
                    Place::Nowhere => return None,
                }
                *place = Place::Nowhere;
                Some(true)
            }
            Does::Enable => unreachable!("no wait of a group is enabled"),
            Does::GiveUp => {
                *place = Place::Nowhere;
                None
            }
        }
    }
}
