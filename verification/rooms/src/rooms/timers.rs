//! Timers: shards of what is due some time, each under a lock, with a word that says when the first is; and sleepers, each with one.
//!
//! Invariants 35, 44, 75, 76 and 77: a timer is taken once, when it is due, or cancelled; a shard's word is its earliest moment; one that sleeps
//! by another waker is woken by that; one that is added as the runtime is shut down sees that, or is counted.

pub mod lists;

use crate::host::RoomHost;
use crate::plain::of;
use crate::program::Program;
use crate::room::{Begun, Focus, Real, Room, Waiting};
use crate::values::{Maker, Value};
use kernel::host::{NEVER, Nanos};
use kernel::queues::timers::Key;
use kernel::waits::timer_queue::{Added, Registers, Timer, TimerQueue};
use std::sync::{Arc, Mutex};

/// The room.
#[derive(Debug)]
pub struct TimerQueues;

/// The part of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It sleeps, in that shard.
    Sleeper(usize),
    /// It takes what is due, of shard 1 first.
    M,
    /// It ends the runtime.
    Closer,
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Is polled, by one of two wakers: to sleep until then.
    Sleep(u8, Nanos),
    /// Sleeps until then, without a poll.
    Reset(Nanos),
    /// Sleeps no more.
    Forget,
    /// Takes what is due then.
    Take(Nanos),
    /// When is the first due?
    Deadline,
    /// Counts them.
    Len,
    /// Is there none that will become due?
    IsEmpty,
    /// Ends the runtime.
    Close,
}

/// What is done in a call. Wakers are numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Did {
    /// A timer was added: as the first of its shard; as a later one; after the end.
    Added(&'static str),
    /// It wakes another from now on, and not this one.
    Replaced(u64),
    /// It was over, and this one is not in it.
    CameLate(u64),
    /// It was cancelled; or was over.
    Cancelled(Option<u64>),
    /// They were due.
    Took(Vec<u64>),
    /// So many, or that moment.
    Is(u64),
}

const FIRST: &str = "as the first";
const BEHIND: &str = "behind others";
const CLOSED: &str = "after the end";
const SOON: Nanos = 5;
const LATER: Nanos = 7;

impl Room for TimerQueues {
    /// How many shards.
    type Setup = usize;
    type Role = Role;
    type Op = Op;
    type Answer = Vec<Did>;
    type Spec = lists::Lists;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "timers";
    const SOURCE: &'static str = "timers timer_queue";

    fn setups() -> Vec<usize> {
        vec![1, 3]
    }
    fn roles() -> Vec<Role> {
        vec![Role::Sleeper(0), Role::Sleeper(2), Role::M, Role::Closer]
    }
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        use Op::{Close, Deadline, Forget, IsEmpty, Len, Reset, Sleep, Take};
        let sleeps = [Sleep(0, SOON), Sleep(1, SOON), Sleep(0, LATER)];
        match role {
            Role::Sleeper(_) if done.is_empty() => [&sleeps[..], &[Sleep(0, NEVER)]].concat(),
            Role::Sleeper(_) => [&sleeps[..], &[Reset(SOON), Reset(LATER), Forget]].concat(),
            Role::M => vec![Take(SOON), Take(LATER), Deadline, Len, IsEmpty],
            Role::Closer if done.contains(&Close) => vec![Deadline],
            Role::Closer => vec![Close],
        }
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    fn is_worth_it(roles: &[Role]) -> bool {
        roles.iter().filter(|role| **role == Role::Closer).count() <= 1
    }
    fn focuses() -> Vec<Focus<Self>> {
        let has = |role, op, _| matches!(role, Role::Sleeper(2)) || matches!((role, op), (Role::M, Op::Take(_)));
        let has_an_m = |program: &Program<Self>| program.roles().contains(&Role::M);
        vec![Focus { is_played: has_an_m, ..Focus::new(&[3, 2], has) }]
    }
}

/// The kernel's.
pub struct OnHost<H: RoomHost>(Arc<TimerQueue<H, Value<H>>>);

/// The timers, as a sleeper registers with them: what is done is noted.
pub struct Noting<H: RoomHost> {
    queue: Arc<TimerQueue<H, Value<H>>>,
    did: Mutex<Vec<Did>>,
}

impl<H: RoomHost> Noting<H> {
    fn note(&self, did: Did) {
        of(&self.did).push(did);
    }

    fn add(&self, shard: usize, when: Nanos, waker: Value<H>) -> Key {
        let (key, added) = self.queue.add(shard, when, waker);
        assert_eq!(key.when(), when, "a timer is due at another moment");
        self.note(Did::Added(match added {
            Added::First => FIRST,
            Added::Later => BEHIND,
            Added::Closed => CLOSED,
        }));
        key
    }
}

impl<H: RoomHost> Registers for Noting<H> {
    type Waker = Value<H>;
    fn remove(&self, key: Key) {
        self.note(Did::Cancelled(self.queue.remove(key).map(Value::take)));
    }
    fn take(&self, key: Key) -> Option<Value<H>> {
        let waker = self.queue.remove(key);
        self.note(Did::Cancelled(waker.as_ref().map(Value::number)));
        waker
    }
    fn replace(&self, key: Key, waker: Value<H>) -> Result<(), Value<H>> {
        self.queue.replace(key, waker).map(|old| self.note(Did::Replaced(old.take()))).inspect_err(|waker| {
            self.note(Did::CameLate(waker.number()));
        })
    }
}

impl<H: RoomHost> Real<TimerQueues, H> for OnHost<H> {
    /// Its shard, its timer, and what it registers with.
    type Hand = (usize, Option<Timer<Arc<Noting<H>>, u8>>, Arc<Noting<H>>);
    fn new(shards: usize, _: &[Role]) -> Self {
        OnHost(Arc::new(TimerQueue::new(shards)))
    }
    fn hand(&self, role: Role) -> Self::Hand {
        let shard = if let Role::Sleeper(shard) = role { shard } else { 1 };
        (shard, None, Arc::new(Noting { queue: Arc::clone(&self.0), did: Mutex::default() }))
    }
    fn begin<'a>(&'a self, hand: &'a mut Self::Hand, op: Op, values: &Maker<H>) -> Begun<'a, H, Vec<Did>> {
        let (shard, place, queue) = hand;
        match op {
            Op::Sleep(who, when) => {
                Timer::poll(place, who, || values.value(), |waker| (Arc::clone(queue), queue.add(*shard, when, waker)))
            }
            Op::Reset(when) => Timer::reset(place, |queue, waker| queue.add(*shard, when, waker)),
            Op::Forget => Timer::forget(place),
            Op::Take(now) => {
                queue.note(Did::Took(queue.queue.take_due(*shard, now).into_iter().map(Value::take).collect()));
            }
            Op::Deadline => queue.note(Did::Is(queue.queue.deadline())),
            Op::Len => queue.note(Did::Is(queue.queue.len() as u64)),
            Op::IsEmpty => queue.note(Did::Is(u64::from(queue.queue.is_empty()))),
            Op::Close => queue.note(Did::Is(u64::from(queue.queue.close()))),
        }
        Begun::Over(std::mem::take(&mut *of(&queue.did)))
    }
}
