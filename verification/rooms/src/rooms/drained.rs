//! A stream that is not tried where it is known that there is no more.
//!
//! Invariant 78, of streams: a task that waits without a try waits for a report that is yet to come, and misses neither bytes nor the
//! end. A direction is drained at the tick at which a try has found so, unless the end was reported, or the runtime has ended.
//!
//! What may be relied on of the system: the stream is under a lock. What changes is reported once, after the change, as it is when the M
//! looks. A read takes what is there, up to what it asks for; the end, or that it would block, it finds only where nothing is.

use crate::host::RoomHost;
use crate::room::{Begun, CallId, Does, Effects, Real, Room, Spec, Waiting};
use crate::rooms::sockets::system::{BOTH, interest};
use crate::values::Maker;
use kernel::host::Lock;
use kernel::waits::bell::Bell;
use kernel::waits::drained::LAST;
use kernel::waits::readiness::{Direction, Entry, Interest, Refused, Source, Waits as Listed};
use std::convert::Infallible;
use std::sync::Arc;

/// The room.
#[derive(Debug)]
pub struct Streams;

/// What a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// It reads.
    Reader,
    /// It is the other end, and polls; or ends the runtime.
    M,
    /// It moves another socket by hand. Is that armed for each report?
    Alone(bool),
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Reads so many bytes at most, and sleeps until there are some, or the end.
    Read(u64),
    /// Sends so many bytes.
    Send(u64),
    /// Sends no more.
    End,
    /// Looks what has changed, and wakes.
    Poll,
    /// Ends the runtime.
    Close,
    /// That direction is reported. Is it the end?
    Report(usize, bool),
    /// A try in that direction has found that there is no more. Was the tick read a report ago?
    Found(usize, bool),
}

/// What a call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// So many bytes; 0 at the end.
    Read(u64),
    /// Nothing is there, and the runtime has ended.
    Closed,
    /// It is done.
    Done,
    /// Of each direction the tick, and whether it is drained.
    Known([(u64, bool); 2]),
}

/// How many bytes are sent before the first call, and reported.
type Setup = u64;

impl Room for Streams {
    type Setup = Setup;
    type Role = Role;
    type Op = Op;
    type Answer = Answer;
    type Spec = Known;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "drained";
    const SOURCE: &'static str = "drained readiness";

    fn setups() -> Vec<Setup> {
        vec![0, 1]
    }
    fn roles() -> Vec<Role> {
        vec![Role::Reader, Role::M, Role::Alone(false), Role::Alone(true)]
    }
    fn may(role: Role, _: &[Op]) -> Vec<Op> {
        match role {
            Role::Reader => vec![Op::Read(1), Op::Read(2)],
            Role::M => vec![Op::Send(1), Op::Send(2), Op::End, Op::Poll, Op::Close],
            Role::Alone(_) => {
                let both =
                    |at| [Op::Report(at, false), Op::Report(at, true), Op::Found(at, false), Op::Found(at, true)];
                [0, 1].into_iter().flat_map(both).chain([Op::Close]).collect()
            }
        }
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    fn sleeps(op: Op) -> bool {
        matches!(op, Op::Read(_))
    }
    fn is_worth_it(roles: &[Role]) -> bool {
        let is_alone = roles.iter().any(|role| matches!(role, Role::Alone(_)));
        let ms = roles.iter().filter(|&&role| role == Role::M).count();
        roles.len() == 1 || !is_alone && ms == 1
    }
}

/// A socket that is armed already, or never has to be.
struct Armed;

impl Source for Armed {
    type Error = Infallible;
    fn arm(&self, _: Interest) -> Result<(), Infallible> {
        Ok(())
    }
}

/// The stream, as the system has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct System {
    /// Bytes that were not read yet.
    bytes: u64,
    has_ended: bool,
    /// Something has changed since the M looked.
    has_changed: bool,
}

impl System {
    fn new(bytes: u64) -> Self {
        System { bytes, has_ended: false, has_changed: bytes > 0 }
    }

    /// So many bytes at most; 0 at the end. `None`: it would block.
    fn read(&mut self, wanted: u64) -> Option<u64> {
        let bytes = self.bytes.min(wanted);
        self.bytes -= bytes;
        (bytes > 0 || self.has_ended).then_some(bytes)
    }

    /// What the other end does.
    fn changes(&mut self, op: Op) {
        self.bytes += if let Op::Send(bytes) = op { bytes } else { 0 };
        self.has_ended |= op == Op::End;
        self.has_changed = true;
    }

    /// What is reported: is it the end?
    fn report(&mut self) -> Option<bool> {
        let is_ready = self.bytes > 0 || self.has_ended;
        (std::mem::take(&mut self.has_changed) && is_ready).then_some(self.has_ended)
    }
}

type Waits<H> = Entry<H, Armed, Arc<Bell<H>>>;

/// A stream and its poller on a host; and a socket of either kind.
pub struct OnHost<H: RoomHost> {
    system: H::Lock<System>,
    entry: Waits<H>,
    others: [Waits<H>; 2],
}

impl<H: RoomHost> OnHost<H> {
    /// As a task does: reads up to `wanted` bytes, and waits until it can.
    fn read(&self, wanted: u64) -> Answer {
        let (id, bell) = (Some(self.entry.next_id()), Arc::new(Bell::new()));
        loop {
            let seen = self.entry.ticks(Direction::Read);
            if !self.entry.is_drained(Direction::Read, seen) {
                let found = self.system.with(|system| system.read(wanted));
                if found.is_none_or(|bytes| bytes > 0 && bytes < wanted) {
                    self.entry.set_drained(Direction::Read, seen);
                }
                if let Some(bytes) = found {
                    return Answer::Read(bytes);
                }
            }
            match self.entry.wait(Direction::Read, id, Arc::clone(&bell), seen, Arc::ptr_eq, || ()) {
                Ok(Listed::Added | Listed::Replaced(_)) => {
                    assert!(bell.wait(|| Ok::<(), ()>(())).is_ok(), "a task that never gives up");
                }
                Ok(Listed::Changed(_)) => (),
                Err(Refused::Closed(_)) => return Answer::Closed,
            }
        }
    }

    /// The M looks what has changed, and wakes.
    fn poll(&self) {
        let Some(has_ended) = self.system.with(System::report) else { return };
        let [read, end] = [true, has_ended].map(|read| interest([read, false]));
        self.wake(|bells| {
            let Ok(()) = self.entry.take_ready(read, end, bells);
        });
    }

    fn wake(&self, take: impl FnOnce(&mut Vec<Arc<Bell<H>>>)) {
        let mut bells = Vec::new();
        take(&mut bells);
        bells.iter().for_each(|bell| bell.ring());
    }

    /// Of the other socket.
    fn by_hand(&self, entry: &Waits<H>, op: Op) -> Answer {
        let only = |at: usize, is_so: bool| interest([0, 1].map(|n| is_so && n == at));
        let mut woken = Vec::new();
        match op {
            Op::Report(at, is_last) => {
                let Ok(()) = entry.take_ready(only(at, true), only(at, is_last), &mut woken);
            }
            Op::Found(at, was_before) => {
                entry.set_drained(BOTH[at], entry.ticks(BOTH[at]).wrapping_sub(u64::from(was_before)));
            }
            _ => entry.close(&mut woken),
        }
        assert!(woken.is_empty(), "no task waits");
        Answer::Known(BOTH.map(|direction| {
            let tick = entry.ticks(direction);
            (tick, entry.is_drained(direction, tick))
        }))
    }
}

impl<H: RoomHost> Real<Streams, H> for OnHost<H> {
    type Hand = Role;
    fn new(sent: Setup, _: &[Role]) -> Self {
        let entry = |is_armed_each_time| {
            let entry = Entry::new(is_armed_each_time);
            entry.open(Armed);
            entry
        };
        let system = H::Lock::new(System::new(sent));
        let new = OnHost { system, entry: entry(false), others: [entry(false), entry(true)] };
        new.poll();
        new
    }
    fn hand(&self, role: Role) -> Role {
        role
    }
    fn begin<'a>(&'a self, role: &'a mut Role, op: Op, _: &Maker<H>) -> Begun<'a, H, Answer> {
        if let Role::Alone(is_armed_each_time) = *role {
            return Begun::Over(self.by_hand(&self.others[usize::from(is_armed_each_time)], op));
        }
        match op {
            Op::Read(wanted) => return Begun::Over(self.read(wanted)),
            Op::Poll => self.poll(),
            Op::Close => self.wake(|bells| self.entry.close(bells)),
            _ => self.system.with(|system| system.changes(op)),
        }
        Begun::Over(Answer::Done)
    }
}

/// What is known of one direction of the other socket.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
struct Direct {
    reports: u64,
    is_last: bool,
    drained_at: Option<u64>,
}

impl Direct {
    fn tick(self) -> u64 {
        self.reports | if self.is_last { LAST } else { 0 }
    }
}

/// The stream; what the M has looked at, and not reported yet; and of the other socket both directions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Known {
    system: System,
    in_hand: Option<Option<bool>>,
    is_closed: bool,
    roles: Vec<Role>,
    other: [Direct; 2],
}

impl Known {
    fn by_hand(&mut self, is_armed_each_time: bool, op: Op) -> Answer {
        match op {
            Op::Report(at, is_last) => {
                self.other[at].reports += 1;
                self.other[at].is_last |= is_last;
            }
            Op::Found(at, was_before) => {
                let tick = self.other[at].tick().wrapping_sub(u64::from(was_before));
                if !is_armed_each_time && tick & LAST == 0 {
                    self.other[at].drained_at = Some(tick);
                }
            }
            _ => self.other.iter_mut().for_each(|of| of.is_last = true),
        }
        Answer::Known(self.other.map(|of| (of.tick(), !of.is_last && of.drained_at == Some(of.tick()))))
    }
}

impl Spec<Streams> for Known {
    fn new(sent: Setup, roles: &[Role]) -> Self {
        let mut system = System::new(sent);
        system.report();
        Known { system, in_hand: None, is_closed: false, roles: roles.to_vec(), other: Default::default() }
    }

    /// An M looks, and then wakes.
    fn step_before(&self, _: CallId, does: Does<Op>, _: Option<&Answer>) -> Option<Self> {
        let looks = matches!(does, Does::Begin(Op::Poll, _)) && self.in_hand.is_none();
        looks.then(|| {
            let mut next = self.clone();
            next.in_hand = Some(next.system.report());
            next
        })
    }

    fn step(&mut self, me: CallId, does: Does<Op>, answer: Option<&Answer>, _: &mut Effects) -> Option<Answer> {
        let Does::Begin(op, _) = does else { return None };
        if let Role::Alone(is_armed_each_time) = self.roles[me.thread] {
            return Some(self.by_hand(is_armed_each_time, op));
        }
        match op {
            Op::Read(wanted) => {
                // What is reported yet wakes it then.
                let may_sleep = !self.is_closed && (self.system.has_changed || self.in_hand.flatten().is_some());
                if answer.is_none() && may_sleep {
                    return None;
                }
                let read = self.system.read(wanted).map(Answer::Read);
                return read.or(self.is_closed.then_some(Answer::Closed));
            }
            Op::Poll => self.in_hand = None,
            Op::Close => self.is_closed = true,
            _ => self.system.changes(op),
        }
        Some(Answer::Done)
    }
}
