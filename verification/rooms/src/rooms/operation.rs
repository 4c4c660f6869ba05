//! Operations that the system completes, and what it uses meanwhile.
//!
//! Invariant 120: what an operation uses is freed once, and not before completion; a task that waits for it is woken, and sees what the
//! system wrote.

use crate::host::RoomHost;
use crate::plain::Plain;
use crate::room::{Begun, CallId, Does, Effects, Focus, Real, Room, Spec, WAITS, Wait, Waiting};
use crate::values::{Maker, Value};
use crate::wakers::{Lends, Wakes};
use kernel::host::Host;
use kernel::waits::operation::{Operation, State};
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::task::Poll;

/// The room.
#[derive(Debug)]
pub struct Operations;

/// What a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// It waits for each operation once.
    Task,
    /// It completes each once.
    System,
    /// It does both.
    Both,
}

/// What a thread does, with the operation of that number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Waits for it.
    Wait(usize),
    /// Writes what the task is to have, and completes it.
    Complete(usize),
}

/// What a call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It is complete.
    Done,
    /// Here is what it used.
    Has,
    /// It was given up: is the system to be asked to cancel it?
    GivenUp(bool),
}

/// How many operations there are.
const ALL: usize = 3;

impl Room for Operations {
    type Setup = ();
    type Role = Role;
    type Op = Op;
    type Answer = Answer;
    type Spec = List;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "operation";

    fn setups() -> Vec<()> {
        vec![()]
    }
    fn roles() -> Vec<Role> {
        vec![Role::Task, Role::System, Role::Both]
    }
    /// Those of each kind in the order of their numbers.
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        let next = |is: fn(&Op) -> bool, op: fn(usize) -> Op| {
            let nth = done.iter().filter(|op| is(op)).count();
            (nth < ALL).then(|| op(nth))
        };
        let wait = next(|op| matches!(op, Op::Wait(_)), Op::Wait).filter(|_| role != Role::System);
        let complete = next(|op| matches!(op, Op::Complete(_)), Op::Complete).filter(|_| role != Role::Task);
        wait.into_iter().chain(complete).collect()
    }
    fn waits(op: Op) -> &'static [Waiting] {
        if matches!(op, Op::Wait(_)) { WAITS } else { &[] }
    }
    /// Each operation has one task, and is completed once.
    fn is_worth_it(roles: &[Role]) -> bool {
        let count = |role| roles.iter().filter(|&&other| other == role || other == Role::Both).count();
        count(Role::Task) <= 1 && count(Role::System) <= 1
    }
    fn focuses() -> Vec<Focus<Self>> {
        vec![Focus::new(&[3, 2], |_, _, _| true)]
    }
}

/// What the system writes to until the operation is complete. Freed, it is written to again: without an order between the two that is a
/// race.
pub struct Buffer<H: RoomHost> {
    value: Value<H>,
    bytes: Bytes<H>,
}

struct Bytes<H: RoomHost>(Arc<Plain<H, u64>>);

/// What the system leaves in a buffer.
const DATA: u64 = 7;
/// What is in it once it is freed.
const GARBAGE: u64 = 0;

impl<H: RoomHost> Drop for Bytes<H> {
    fn drop(&mut self) {
        self.0.write(|bytes| *bytes = GARBAGE);
    }
}

type Of<H> = Operation<Buffer<H>, u64, Wakes<H>, <H as Host>::Lock<State<Buffer<H>, u64, Wakes<H>>>>;

/// An operation, and its buffer as the system has it.
type WithBytes<H> = (Of<H>, Arc<Plain<H, u64>>);

/// The operations on a host. What is left at the end is not freed: that is no call.
pub struct OnHost<H: RoomHost>(ManuallyDrop<Vec<WithBytes<H>>>);

impl<H: RoomHost> Real<Operations, H> for OnHost<H> {
    type Hand = ();

    fn new((): (), _: &[Role]) -> Self {
        OnHost(ManuallyDrop::default())
    }
    fn given(&mut self, values: &Maker<H>) {
        for _ in 0..ALL {
            let bytes = Arc::new(Plain::new(1));
            let buffer = Buffer { value: values.value(), bytes: Bytes(Arc::clone(&bytes)) };
            self.0.push((Operation::new(buffer), bytes));
        }
    }
    fn hand(&self, _: Role) {}
    fn begin<'a>(&'a self, (): &'a mut (), op: Op, _: &Maker<H>) -> Begun<'a, H, Answer> {
        match op {
            Op::Wait(nth) => Begun::Waits(Box::new(Waits(&self.0[nth].0))),
            Op::Complete(nth) => {
                let (operation, bytes) = &self.0[nth];
                let was = bytes.write(|bytes| std::mem::replace(bytes, DATA));
                assert!(was != GARBAGE, "the system fills a buffer that was freed");
                assert!(!operation.complete(1).settle(), "it is complete, and under way still");
                Begun::Over(Answer::Done)
            }
        }
    }
}

/// The task waits for it.
struct Waits<'a, H: RoomHost>(&'a Of<H>);

impl<H: RoomHost> Wait<H, Answer> for Waits<'_, H> {
    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<Answer> {
        self.0.poll(lender).map(|(buffer, result)| {
            let bytes = buffer.bytes.0.read(|bytes| *bytes);
            assert!((bytes, result) == (DATA, 1), "it is complete, and what the system wrote is not seen");
            buffer.value.take();
            Answer::Has
        })
    }
    fn give_up(self: Box<Self>) -> Option<Answer> {
        Some(Answer::GivenUp(self.0.give_up()))
    }
}

/// How far an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Known {
    /// By that call.
    complete: Option<CallId>,
    has_given_up: bool,
    /// What it used was taken, or freed.
    is_gone: bool,
}

/// The operations, and which of them each thread waits for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct List {
    all: [Known; ALL],
    waits: Vec<Option<usize>>,
}

impl Spec<Operations> for List {
    fn new((): (), roles: &[Role]) -> Self {
        List { all: [Known::default(); ALL], waits: vec![None; roles.len()] }
    }

    fn step(&mut self, me: CallId, does: Does<Op>, _: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        if let Does::Begin(Op::Wait(nth), _) = does {
            self.waits[me.thread] = Some(nth);
            return None;
        }
        if let Does::Begin(Op::Complete(nth), _) = does {
            let known = &mut self.all[nth];
            known.complete = Some(me);
            known.is_gone = known.has_given_up;
            effects.drops = usize::from(known.has_given_up);
            return Some(Answer::Done);
        }
        let nth = self.waits[me.thread]?;
        let known = &mut self.all[nth];
        let answer = match does {
            Does::Poll => known.complete.map(|_| Answer::Has),
            _ => Some(Answer::GivenUp(known.complete.is_none())),
        };
        if answer.is_some() {
            self.waits[me.thread] = None;
            effects.sees.extend(known.complete);
            known.is_gone = known.complete.is_some();
            known.has_given_up = does == Does::GiveUp;
            effects.drops = usize::from(known.is_gone && known.has_given_up);
        }
        answer
    }

    fn held(&self) -> usize {
        self.all.iter().filter(|known| !known.is_gone).count()
    }
}
