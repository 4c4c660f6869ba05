//! Slots of a channel that are held by permits: the source of [`chan`], and its specification.
//!
//! Invariant 129: a slot that is held is taken by no send and no other reservation; it is used, or goes to the first that waits;
//! those that send and those that reserve are served in FIFO order; a value is sent by it also after the close, and until then no receive
//! finds that the channel is over.

use crate::host::RoomHost;
use crate::room::{Begun, CallId, Does, Effects, Focus, Real, Room, Spec, WAITS, Wait, Waiting};
use crate::rooms::chan::{self, Answer, List, OnHost, Op};
use crate::values::Maker;
use crate::wakers::Lends;
use kernel::waits::chan::Channel;
use kernel::waits::chan::errors::TrySendError;
use kernel::waits::chan::reserve::Reserve;
use std::task::Poll;

/// The room.
#[derive(Debug)]
pub struct Permits;

/// What a thread has at the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A slot.
    Holder,
    /// None.
    Other,
}

/// How many slots they hold, one by one.
fn slots(roles: &[Role]) -> Vec<usize> {
    roles.iter().map(|&role| usize::from(role == Role::Holder)).collect()
}

impl Room for Permits {
    /// How many slots there are besides those that are held.
    type Setup = usize;
    type Role = Role;
    type Op = Op;
    type Answer = Answer;
    type Spec = Slots;
    type Real<H: RoomHost> = HeldSlots<H>;

    const NAME: &'static str = "permits";
    const SOURCE: &'static str = "chan";

    fn setups() -> Vec<usize> {
        vec![0, 1]
    }
    fn roles() -> Vec<Role> {
        vec![Role::Holder, Role::Other]
    }
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        let is_holder = role == Role::Holder;
        let has_reserved = done.iter().any(|op| matches!(op, Op::Reserve | Op::TryReserve(_)));
        let has_used = done.iter().any(|op| matches!(op, Op::SendReserved | Op::Release));
        let has_one = has_reserved || is_holder && !has_used;
        let of_holders = [Op::SendReserved, Op::Release].into_iter().filter(|_| has_one);
        let of_receivers = [Op::TryRecv, Op::Recv, Op::DropReceiver].into_iter();
        let of_receivers =
            of_receivers.filter(|op| !(done.contains(&Op::DropReceiver) || is_holder && *op == Op::Recv));
        let of_senders = [Op::Reserve, Op::TryReserve(1 + usize::from(is_holder)), Op::Close].into_iter();
        let of_others = [Op::TrySend, Op::Send].into_iter().filter(|_| !is_holder);
        of_senders.chain(of_others).chain(of_holders).chain(of_receivers).collect()
    }
    fn waits(op: Op) -> &'static [Waiting] {
        match op {
            Op::Reserve => WAITS,
            Op::Send | Op::Recv => &[Waiting::ToTheEnd, Waiting::GivenUp],
            _ => &[],
        }
    }
    /// At most one holder: two are alike.
    fn is_worth_it(roles: &[Role]) -> bool {
        roles.iter().filter(|&&role| role == Role::Holder).count() == 1
    }
    /// Each thread has a receiver: that the last goes beside a value that is sent by a slot takes three steps of one.
    fn focuses() -> Vec<Focus<Self>> {
        let has = |_, op, _| matches!(op, Op::DropReceiver | Op::SendReserved | Op::TryReserve(_));
        // A slot that is given back serves the first of two that wait: that takes three threads.
        let of_slots = |_, op, waiting| match op {
            Op::Reserve => matches!(waiting, Some(Waiting::ToTheEnd | Waiting::GivenUp)),
            _ => matches!(op, Op::Release | Op::SendReserved | Op::TryRecv),
        };
        vec![Focus::new(&[3, 1], has), Focus::new(&[2, 1, 1], of_slots)]
    }
}

/// A channel of which the holders hold a slot each.
pub struct HeldSlots<H: RoomHost>(Channel<OnHost<H>>);

impl<H: RoomHost> Real<Permits, H> for HeldSlots<H> {
    type Hand = usize;
    fn new(free: usize, roles: &[Role]) -> Self {
        let held = slots(roles).iter().sum();
        let chan = chan::channel(free + held, roles.len());
        chan.try_reserve(held).expect("there is room");
        HeldSlots(chan)
    }
    fn hand(&self, role: Role) -> usize {
        usize::from(role == Role::Holder)
    }
    fn begin<'a>(&'a self, slots: &'a mut usize, op: Op, values: &Maker<H>) -> Begun<'a, H, Answer> {
        chan::begin(&self.0, slots, op, values)
    }
}

/// Reserves slots, if they are free.
pub(super) fn try_reserve<H: RoomHost>(chan: &Channel<OnHost<H>>, slots: &mut usize, n: usize) -> Answer {
    match chan.try_reserve(n) {
        Ok(()) => {
            *slots += n;
            Answer::Reserved
        }
        Err(TrySendError::Full(())) => Answer::NoSlot,
        Err(TrySendError::Closed(())) => Answer::NotReserved,
    }
}

/// A reservation, and what its thread holds.
pub(super) struct Reserving<'a, H: RoomHost> {
    reserve: Reserve<'a, OnHost<H>>,
    slots: &'a mut usize,
}

impl<'a, H: RoomHost> Reserving<'a, H> {
    pub(super) fn new(chan: &'a Channel<OnHost<H>>, slots: &'a mut usize) -> Self {
        Reserving { reserve: Reserve::new(chan), slots }
    }
}

impl<H: RoomHost> Wait<H, Answer> for Reserving<'_, H> {
    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<Answer> {
        let reserved = self.reserve.poll(lender);
        assert!(self.reserve.is_waiting() == reserved.is_pending(), "it says that it waits");
        *self.slots += usize::from(reserved == Poll::Ready(Ok(())));
        reserved.map(|reserved| reserved.map_or(Answer::NotReserved, |()| Answer::Reserved))
    }
}

/// The list of [`chan`], of a channel some of whose slots are held.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Slots(List);

impl Spec<Permits> for Slots {
    fn new(free: usize, roles: &[Role]) -> Self {
        let slots = slots(roles);
        Slots(List::with(free + slots.iter().sum::<usize>(), slots))
    }
    fn step(&mut self, me: CallId, does: Does<Op>, _: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        self.0.call(me, does, effects)
    }
    fn held(&self) -> usize {
        self.0.values()
    }
}
