//! A watched value.
//!
//! Invariant 115: a receiver that waits goes on once there is a version that it has not seen, and reads a value at least as late
//! as the version that it takes for seen. Invariant 116: when the last sender is gone the receivers that wait go on, and when the
//! last receiver is gone the senders that wait for that.

use crate::host::RoomHost;
use crate::room::{Begun, CallId, Does, Effects, Real, Room, Spec, WAITS, Waiting};
use crate::values::Maker;
use crate::wakers::Wakes;
use kernel::host::Lock;
use kernel::waits::watch::{Slot, Watch};

/// The room.
#[derive(Debug)]
pub struct Watches;

/// What a thread holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// It sends.
    Sender,
    /// It receives.
    Receiver,
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Sends, if there is a receiver.
    Send,
    /// Puts another value in the place of the last.
    Replace,
    /// Changes the value.
    Modify,
    /// Looks at the value to change it, and does not.
    Leave,
    /// Waits until no receiver is left.
    Closed,
    /// One more receives.
    AddReceiver,
    /// One more sends.
    AddSender,
    /// Its sender is gone.
    DropSender,
    /// Reads the value.
    Read,
    /// Waits for another version than the one it has read.
    Changed,
    /// Its receiver is gone; of a sender, the one that it has added.
    DropReceiver,
}

/// What a call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It is done.
    Done,
    /// There was this value, and it is back.
    Was(u64),
    /// No receiver: here is the value.
    Refused(u64),
    /// This value, of this version.
    Reads(u64, u64),
    /// This version.
    Version(u64),
    /// There is no sender.
    Closed,
}

/// A value under a lock of the host's.
pub struct Place<H: RoomHost>(H::Lock<u64>);

impl<H: RoomHost> Slot for Place<H> {
    type Value = u64;
    type Ref<'a> = u64;
    fn read<T>(&self, f: impl FnOnce() -> T) -> (u64, T) {
        self.0.with(|value| (*value, f()))
    }
    fn write<T>(&self, f: impl FnOnce(&mut u64) -> T) -> T {
        self.0.with(f)
    }
}

impl Room for Watches {
    type Setup = ();
    type Role = End;
    type Op = Op;
    type Answer = Answer;
    type Spec = Counts;
    type Real<H: RoomHost> = Watch<H, Wakes<H>, Place<H>>;

    const NAME: &'static str = "watch";

    fn setups() -> Vec<()> {
        vec![()]
    }
    fn roles() -> Vec<End> {
        vec![End::Sender, End::Receiver]
    }
    fn may(role: End, done: &[Op]) -> Vec<Op> {
        use Op::{
            AddReceiver, AddSender, Changed, Closed, DropReceiver, DropSender, Leave, Modify, Read, Replace, Send,
        };
        match (done.last(), role) {
            (Some(DropSender), _) | (Some(DropReceiver), End::Receiver) => vec![],
            (_, End::Sender) => {
                let all = [Send, Replace, Modify, Leave, Closed, AddReceiver, AddSender, DropSender];
                let count = |op| done.iter().filter(|&&other| other == op).count();
                let adds = count(AddReceiver) > count(DropReceiver);
                all.into_iter().chain(adds.then_some(DropReceiver)).collect()
            }
            (_, End::Receiver) => vec![Read, Changed, DropReceiver],
        }
    }
    fn waits(op: Op) -> &'static [Waiting] {
        if matches!(op, Op::Closed | Op::Changed) { WAITS } else { &[] }
    }
}

fn count(roles: &[End], end: End) -> usize {
    roles.iter().filter(|&&role| role == end).count()
}

impl<H: RoomHost> Real<Watches, H> for Watch<H, Wakes<H>, Place<H>> {
    /// Which version was read.
    type Hand = u64;
    fn new((): (), roles: &[End]) -> Self {
        let watch = Watch::new(Place(H::Lock::new(0)), count(roles, End::Receiver));
        match count(roles, End::Sender) {
            0 => watch.drop_sender(),
            senders => (1..senders).for_each(|_| watch.add_sender()),
        }
        watch
    }
    fn hand(&self, _: End) -> u64 {
        0
    }
    fn begin<'a>(&'a self, seen: &'a mut u64, op: Op, values: &Maker<H>) -> Begun<'a, H, Answer> {
        let n = values.number();
        let done = |()| Answer::Done;
        Begun::Over(match op {
            Op::Send => self.send(n).map_or_else(Answer::Refused, Answer::Was),
            Op::Replace => Answer::Was(self.replace(n)),
            Op::Modify => done(assert!(self.modify(|value| {
                *value = n;
                true
            }))),
            Op::Leave => done(assert!(!self.modify(|_| false))),
            Op::AddReceiver => Answer::Version(self.add_receiver()),
            Op::AddSender => done(self.add_sender()),
            Op::DropSender => done(self.drop_sender()),
            Op::DropReceiver => done(self.drop_receiver()),
            Op::Read => {
                let (value, version) = self.read();
                *seen = version;
                Answer::Reads(value, version)
            }
            Op::Closed => {
                let mut end = self.closed();
                return Begun::Waits(Box::new(move |lender: &mut _| end.poll(lender).map(done)));
            }
            Op::Changed => {
                let mut change = self.changed();
                return Begun::Waits(Box::new(move |lender: &mut _| {
                    let changed = change.poll(*seen, lender);
                    changed.map(|changed| {
                        changed.map_or(Answer::Closed, |version| {
                            *seen = version;
                            Answer::Version(version)
                        })
                    })
                }));
            }
        })
    }
}

/// Where a thread's wait is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Wait {
    Nowhere,
    Changes,
    /// For the end: not polled yet, or not over.
    Ends(bool),
    /// It has waited for the end, which that call was.
    Ended(CallId),
}

/// The value, its version, and how many ends there are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Counts {
    value: u64,
    /// The calls that changed it: as many as its version.
    changes: Vec<CallId>,
    gone: Vec<CallId>,
    senders: usize,
    receivers: usize,
    seen: Vec<u64>,
    waits: Vec<Wait>,
}

impl Counts {
    fn version(&self) -> u64 {
        self.changes.len() as u64
    }

    fn change(&mut self, n: u64, by: CallId, effects: &mut Effects) -> u64 {
        effects.sees.extend(self.changes.last());
        self.changes.push(by);
        std::mem::replace(&mut self.value, n)
    }

    fn begin(&mut self, me: CallId, op: Op, n: u64, effects: &mut Effects) -> Option<Answer> {
        Some(match op {
            Op::Send if self.receivers == 0 => {
                effects.sees.extend(&self.gone);
                Answer::Refused(n)
            }
            Op::Send | Op::Replace => Answer::Was(self.change(n, me, effects)),
            Op::Modify => {
                self.change(n, me, effects);
                Answer::Done
            }
            Op::Leave => Answer::Done,
            Op::AddReceiver => {
                self.receivers += 1;
                Answer::Version(self.version())
            }
            Op::AddSender => {
                self.senders += 1;
                Answer::Done
            }
            Op::DropSender => {
                self.senders -= 1;
                self.gone.push(me);
                Answer::Done
            }
            Op::DropReceiver => {
                self.receivers -= 1;
                self.gone.push(me);
                let ends = self.waits.iter_mut().filter(|wait| self.receivers == 0 && **wait == Wait::Ends(true));
                ends.for_each(|wait| *wait = Wait::Ended(me));
                Answer::Done
            }
            Op::Read => {
                effects.sees.extend(self.changes.last());
                self.seen[me.thread] = self.version();
                Answer::Reads(self.value, self.version())
            }
            Op::Closed | Op::Changed => {
                self.waits[me.thread] = if op == Op::Changed { Wait::Changes } else { Wait::Ends(false) };
                return None;
            }
        })
    }

    fn poll(&mut self, me: usize, effects: &mut Effects) -> Option<Answer> {
        let answer = match self.waits[me] {
            Wait::Changes if self.seen[me] != self.version() => {
                effects.sees.extend(self.changes.last());
                self.seen[me] = self.version();
                Answer::Version(self.version())
            }
            Wait::Changes if self.senders == 0 => {
                effects.sees.extend(&self.gone);
                Answer::Closed
            }
            Wait::Ended(by) => {
                effects.sees.push(by);
                Answer::Done
            }
            Wait::Ends(_) if self.receivers == 0 => {
                effects.sees.extend(&self.gone);
                Answer::Done
            }
            Wait::Ends(_) => {
                self.waits[me] = Wait::Ends(true);
                return None;
            }
            Wait::Changes | Wait::Nowhere => return None,
        };
        self.waits[me] = Wait::Nowhere;
        Some(answer)
    }
}

impl Spec<Watches> for Counts {
    fn new((): (), roles: &[End]) -> Self {
        let (senders, receivers) = (count(roles, End::Sender), count(roles, End::Receiver));
        let (seen, waits) = (vec![0; roles.len()], vec![Wait::Nowhere; roles.len()]);
        Counts { value: 0, changes: Vec::new(), gone: Vec::new(), senders, receivers, seen, waits }
    }

    fn step(&mut self, me: CallId, does: Does<Op>, _: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        match does {
            Does::Begin(op, n) => self.begin(me, op, n, effects),
            Does::Poll => self.poll(me.thread, effects),
            Does::Enable => unreachable!("no wait of a watch is enabled"),
            Does::GiveUp => {
                self.waits[me.thread] = Wait::Nowhere;
                None
            }
        }
    }
}
