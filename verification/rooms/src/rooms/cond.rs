//! Waiting for a change of what a lock guards.
//!
//! Invariant 98: a notification for one serves the waiter that was enqueued first, one for all serves each that is enqueued. A waiter
//! that was served alone and does not go on passes the notification on.
//!
//! The user's lock is no part of the room: a task that looks, and is enqueued while it holds that lock, misses no change that is made
//! under it (command/tests/cond.rs).

use crate::host::RoomHost;
use crate::room::{Begun, CallId, Does, Effects, Focus, Real, Room, Spec, WAITS, Wait, Waiting};
use crate::values::Maker;
use crate::wakers::{Lends, Wakes};
use kernel::waits::cond::{self, Cond};
use kernel::waits::waker::Lender;
use std::task::Poll;

/// The room.
#[derive(Debug)]
pub struct Conds;

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Notifies one.
    One,
    /// Notifies all.
    All,
    /// Is enqueued at its first poll, waits, and goes on.
    Wait,
    /// The same, and is dropped when it has been notified: it does not go on.
    WaitInVain,
}

impl Room for Conds {
    type Setup = ();
    type Role = ();
    type Op = Op;
    type Answer = ();
    type Spec = List;
    type Real<H: RoomHost> = Cond<H, Wakes<H>>;

    const NAME: &'static str = "cond";

    fn setups() -> Vec<()> {
        vec![()]
    }
    fn roles() -> Vec<()> {
        vec![()]
    }
    fn may((): (), _: &[Op]) -> Vec<Op> {
        vec![Op::One, Op::All, Op::Wait, Op::WaitInVain]
    }
    fn waits(op: Op) -> &'static [Waiting] {
        if matches!(op, Op::Wait | Op::WaitInVain) { WAITS } else { &[] }
    }
    /// Three wait, one of them without effect, beside a notification.
    fn focuses() -> Vec<Focus<Self>> {
        let has = |(), op, waiting: Option<Waiting>| match op {
            Op::One | Op::All => true,
            Op::Wait | Op::WaitInVain => waiting == Some(Waiting::ToTheEnd),
        };
        vec![Focus::new(&[1, 1, 1, 1], has)]
    }
}

impl<H: RoomHost> Real<Conds, H> for Cond<H, Wakes<H>> {
    type Hand = ();
    fn new((): (), _: &[()]) -> Self {
        Cond::new()
    }
    fn hand(&self, (): ()) {}
    fn begin<'a>(&'a self, (): &'a mut (), op: Op, _: &Maker<H>) -> Begun<'a, H, ()> {
        match op {
            Op::One => Begun::Over(self.notify_one()),
            Op::All => Begun::Over(self.notify_all()),
            Op::Wait | Op::WaitInVain => {
                let place = Some(self.place());
                Begun::Waits(Box::new(Waiter { place, is_enqueued: false, goes_on: op == Op::Wait }))
            }
        }
    }
}

/// A task that waits. `place`: `None` once it was dropped.
struct Waiter<'a, H: RoomHost> {
    place: Option<cond::Place<'a, H, Wakes<H>>>,
    is_enqueued: bool,
    goes_on: bool,
}

impl<H: RoomHost> Wait<H, ()> for Waiter<'_, H> {
    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<()> {
        let Some(place) = &mut self.place else { return Poll::Ready(()) };
        if !self.is_enqueued {
            self.is_enqueued = true;
            let waker = lender.lend().or_else(|| {
                lender.prepare();
                lender.lend()
            });
            place.enqueue(waker.expect("it is prepared"));
            return Poll::Pending;
        }
        let polled = place.poll(lender);
        if polled.is_ready() {
            if self.goes_on { place.goes_on() } else { self.place = None }
        }
        polled
    }
    fn stays_over(&mut self, lender: &mut Lends<H>) -> bool {
        self.poll(lender).is_ready()
    }
}

/// Where a thread's wait is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Nowhere,
    /// Not enqueued yet.
    Created,
    Queued,
    /// Served by that call: alone?
    Served(CallId, bool),
}

/// The waits in FIFO order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct List {
    queue: Vec<usize>,
    places: Vec<Place>,
    goes_on: Vec<bool>,
}

impl List {
    fn notify_one(&mut self, by: CallId) {
        if !self.queue.is_empty() {
            let first = self.queue.remove(0);
            self.places[first] = Place::Served(by, true);
        }
    }
}

impl Spec<Conds> for List {
    fn new((): (), roles: &[()]) -> Self {
        List { queue: Vec::new(), places: vec![Place::Nowhere; roles.len()], goes_on: vec![true; roles.len()] }
    }

    fn step(&mut self, me: CallId, does: Does<Op>, _: Option<&()>, effects: &mut Effects) -> Option<()> {
        let place = self.places[me.thread];
        match does {
            Does::Begin(Op::One, _) => Some(self.notify_one(me)),
            Does::Begin(Op::All, _) => {
                self.queue.drain(..).for_each(|i| self.places[i] = Place::Served(me, false));
                Some(())
            }
            Does::Begin(op, _) => {
                (self.places[me.thread], self.goes_on[me.thread]) = (Place::Created, op == Op::Wait);
                None
            }
            Does::Poll => match place {
                Place::Created => {
                    self.queue.push(me.thread);
                    self.places[me.thread] = Place::Queued;
                    None
                }
                Place::Served(by, alone) => {
                    effects.sees.push(by);
                    self.places[me.thread] = Place::Nowhere;
                    if alone && !self.goes_on[me.thread] {
                        self.notify_one(me);
                    }
                    Some(())
                }
                Place::Queued | Place::Nowhere => None,
            },
            Does::GiveUp => {
                self.queue.retain(|&other| other != me.thread);
                self.places[me.thread] = Place::Nowhere;
                if let Place::Served(_, true) = place {
                    self.notify_one(me);
                }
                None
            }
            Does::Enable => unreachable!("no wait of a condition variable is enabled"),
        }
    }
}
