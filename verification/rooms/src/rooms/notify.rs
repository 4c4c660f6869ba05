//! `Notify`: telling one task, or all that wait.
//!
//! Invariants 111 and 112: a notification for one ends one wait, of now or of later; one for all ends each wait that was created before
//! it, and no other. A wait that was served alone and is dropped passes its notification on.

use crate::host::RoomHost;
use crate::room::{Begun, CallId, Does, Effects, Real, Room, Spec, Wait, Waiting};
use crate::values::Maker;
use crate::wakers::{Lends, Wakes};
use kernel::waits::notify::{Notified, Notify, PutAway};
use std::task::Poll;

/// The room.
#[derive(Debug)]
pub struct Notifies;

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Notifies one.
    One,
    /// Notifies all.
    All,
    /// Waits.
    Notified,
}

impl Room for Notifies {
    type Setup = ();
    type Role = ();
    type Op = Op;
    type Answer = ();
    type Spec = List;
    type Real<H: RoomHost> = Notify<H, Wakes<H>>;

    const NAME: &'static str = "notify";

    fn setups() -> Vec<()> {
        vec![()]
    }
    fn roles() -> Vec<()> {
        vec![()]
    }
    fn may((): (), _: &[Op]) -> Vec<Op> {
        vec![Op::One, Op::All, Op::Notified]
    }
    fn waits(op: Op) -> &'static [Waiting] {
        use Waiting::{Enabled, EnabledAndGivenUp, GivenUp, NeverPolled, Renewed, ToTheEnd};
        if op == Op::Notified { &[ToTheEnd, GivenUp, Renewed, Enabled, EnabledAndGivenUp, NeverPolled] } else { &[] }
    }
}

impl<H: RoomHost> Real<Notifies, H> for Notify<H, Wakes<H>> {
    type Hand = ();
    fn new((): (), _: &[()]) -> Self {
        Notify::new()
    }
    fn hand(&self, (): ()) {}
    fn begin<'a>(&'a self, (): &'a mut (), op: Op, _: &Maker<H>) -> Begun<'a, H, ()> {
        match op {
            Op::One => Begun::Over(self.notify_one()),
            Op::All => Begun::Over(self.notify_waiters()),
            Op::Notified => Begun::Waits(Box::new(Waits { notify: self, put_away: Some(self.notified().put_away()) })),
        }
    }
}

/// A wait that is put away between its polls, as one that owns its `Notify`.
struct Waits<'a, H: RoomHost> {
    notify: &'a Notify<H, Wakes<H>>,
    put_away: Option<PutAway>,
}

impl<'a, H: RoomHost> Waits<'a, H> {
    fn with<R>(&mut self, f: impl FnOnce(&mut Notified<'a, H, Wakes<H>>) -> R) -> R {
        let mut notified = self.notify.resumed(self.put_away.take().expect("it is there between polls"));
        let result = f(&mut notified);
        self.put_away = Some(notified.put_away());
        result
    }
}

impl<H: RoomHost> Wait<H, ()> for Waits<'_, H> {
    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<()> {
        self.with(|notified| notified.poll(lender))
    }
    fn enable(&mut self) -> Option<()> {
        self.with(Notified::enable).then_some(())
    }
    fn stays_over(&mut self, lender: &mut Lends<H>) -> bool {
        self.with(|notified| notified.enable() && notified.poll(lender).is_ready())
    }
}

impl<H: RoomHost> Drop for Waits<'_, H> {
    fn drop(&mut self) {
        drop(self.put_away.take().map(|put_away| self.notify.resumed(put_away)));
    }
}

/// Where a thread's wait is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    /// Created in this round.
    Created(usize),
    /// In the queue.
    Queued,
    /// Served by that call: alone?
    Served(CallId, bool),
    Over,
}

/// One permit, the rounds in which all were notified, and the waits in FIFO order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct List {
    permit: Vec<CallId>,
    rounds: Vec<CallId>,
    queue: Vec<usize>,
    places: Vec<Place>,
}

impl List {
    fn notify_one(&mut self, by: CallId) {
        if self.queue.is_empty() {
            // Two permits are one; the wait that takes it sees what was done before either.
            self.permit.push(by);
        } else {
            let first = self.queue.remove(0);
            self.places[first] = Place::Served(by, true);
        }
    }

    fn poll(&mut self, me: usize, effects: &mut Effects) -> Option<()> {
        match self.places[me] {
            Place::Over => (),
            Place::Served(by, _) => effects.sees.push(by),
            Place::Created(round) if round != self.rounds.len() => effects.sees.extend(self.rounds.last()),
            Place::Created(_) if !self.permit.is_empty() => effects.sees.append(&mut self.permit),
            Place::Created(_) => {
                self.queue.push(me);
                self.places[me] = Place::Queued;
                return None;
            }
            Place::Queued => return None,
        }
        self.places[me] = Place::Over;
        Some(())
    }
}

impl Spec<Notifies> for List {
    fn new((): (), roles: &[()]) -> Self {
        let places = vec![Place::Over; roles.len()];
        List { permit: Vec::new(), rounds: Vec::new(), queue: Vec::new(), places }
    }

    fn step(&mut self, me: CallId, does: Does<Op>, _: Option<&()>, effects: &mut Effects) -> Option<()> {
        match does {
            Does::Begin(Op::One, _) => Some(self.notify_one(me)),
            Does::Begin(Op::All, _) => {
                self.rounds.push(me);
                self.queue.drain(..).for_each(|i| self.places[i] = Place::Served(me, false));
                Some(())
            }
            Does::Begin(Op::Notified, _) => {
                self.places[me.thread] = Place::Created(self.rounds.len());
                None
            }
            Does::Poll | Does::Enable => self.poll(me.thread, effects),
            Does::GiveUp => {
                self.queue.retain(|&other| other != me.thread);
                if let Place::Served(by, true) = std::mem::replace(&mut self.places[me.thread], Place::Over) {
                    self.notify_one(by);
                }
                None
            }
        }
    }
}
