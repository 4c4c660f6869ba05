//! The tasks of a runtime that have waited once, and its shutdown.
//!
//! Invariants 53, 54, 56, 57 and 123: of a runtime that is shut down each task that has waited ends once, before that returns, and runs no
//! more; one that never ran is given back once; no wake is lost meanwhile, and none drops a task.
//!
//! A list alone is played beside it, with entries that no thread runs: what is listed, on which row, and what a shutdown ends.

mod runtime;
pub mod spec;

use crate::host::RoomHost;
use crate::plain::of;
use crate::program::Program;
use crate::room::{Begun, Focus, Real, Room, Waiting};
use crate::values::{Maker, Value};
use kernel::waits::owned_tasks::{Key, Owned, OwnedTasks as Owning};
use runtime::{Queued, Task, Tiny};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// The room.
#[derive(Debug)]
pub struct OwnedTasks;

/// What a task did before the first call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Was {
    /// It was spawned.
    Spawned,
    /// It was polled, and waits.
    Polled,
}

/// What a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It runs the tasks, until the runtime is shut down.
    M,
    /// It shuts the runtime down.
    Closer,
    /// It has a waker of each task.
    Waker,
    /// It spawns tasks.
    Spawner,
    /// It has entries on the other list.
    Lister,
    /// The same, with no thread beside it: it may end them.
    Alone,
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Runs what is queued, until the runtime is shut down.
    RunM,
    /// Shuts the runtime down.
    Close,
    /// Wakes that task, by a waker that is gone then.
    Wake(usize),
    /// Aborts it, and drops the waker.
    Abort(usize),
    /// Drops its waker.
    Drop(usize),
    /// Spawns a task that is ready when it is polled.
    Spawn,
    /// Lists an entry, on this row.
    Insert(usize),
    /// Takes its oldest entry off the list.
    RemoveOldest,
    /// Takes its newest entry off the list.
    RemoveNewest,
    /// How many are listed?
    Len,
    /// Is none listed?
    IsEmpty,
    /// Looks at each that is listed.
    Each,
    /// How many are on this row?
    Row(usize),
    /// Of all that it ever listed, ends what is listed still.
    EndStarted,
    /// Ends all that are listed.
    CloseAll,
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum How {
    /// By itself.
    Output,
    /// Its future was dropped.
    Dropped,
}

/// What is done with a task in a call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Did {
    /// It was polled; these wakes had been before.
    Polled(u64, Vec<u64>),
    /// It ended.
    Ended(u64, How),
    /// It never ran, and is given back.
    GivenBack(u64),
}

/// What a call returns.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Answer {
    /// What was done with tasks, in order; but by the closer, in no order.
    Did(Vec<Did>),
    /// So many.
    Has(usize),
    /// Yes or no.
    Is(bool),
    /// These entries, sorted.
    Are(Vec<u64>),
    /// This entry was taken off the list, or the shutdown has it; so many are left on its row.
    Removed(Option<u64>, usize),
    /// These entries were ended; so often one of them was to be asked again.
    Ended(Vec<u64>, usize),
    /// There is no such task or entry.
    Nothing,
}

/// How large it is: rows that are asked for, and tasks.
pub type Setup = (usize, &'static [Was]);

/// The other list is asked for so many rows.
fn rows_of((rows, tasks): Setup) -> usize {
    rows + usize::from(tasks.is_empty())
}

/// The number of the `nth` entry or task of before the first call: no call has it.
fn number_of(nth: usize) -> u64 {
    nth as u64
}

/// How often an entry is to be asked before it ends: a thread is about to wake it.
fn busy(number: u64) -> usize {
    number as usize % 3
}

impl Room for OwnedTasks {
    type Setup = Setup;
    type Role = Role;
    type Op = Op;
    type Answer = Answer;
    type Spec = spec::List;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "owned_tasks";

    fn setups() -> Vec<Setup> {
        use Was::{Polled, Spawned};
        vec![(0, &[Spawned]), (1, &[Polled, Spawned]), (2, &[Polled, Polled]), (2, &[])]
    }
    fn roles() -> Vec<Role> {
        vec![Role::M, Role::Closer, Role::Waker, Role::Spawner, Role::Lister, Role::Alone]
    }
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        use Op::{Abort, Close, CloseAll, Drop, Each, EndStarted, Insert, IsEmpty, Len, RemoveNewest, RemoveOldest};
        let first = [Op::Wake(0), Abort(0), Drop(0)];
        let (has_used, is_new) = (first.iter().any(|op| done.contains(op)), |op: &Op| !done.contains(op));
        match role {
            Role::M if done.is_empty() => vec![Op::RunM],
            Role::Closer if done.is_empty() => vec![Close],
            Role::M | Role::Closer => Vec::new(),
            Role::Waker if has_used => [Op::Wake(1)].into_iter().filter(is_new).collect(),
            Role::Waker => first.into_iter().chain([Op::Wake(1)]).filter(is_new).collect(),
            Role::Spawner => vec![Op::Spawn],
            Role::Lister => vec![Insert(0), Insert(1), RemoveOldest, Len, EndStarted],
            Role::Alone if done.contains(&CloseAll) => vec![RemoveOldest, RemoveNewest, IsEmpty, Each, CloseAll],
            Role::Alone => {
                let list = [Insert(0), Insert(1), Insert(2), RemoveOldest, RemoveNewest, Len, IsEmpty, Each];
                list.into_iter().chain([Op::Row(0), Op::Row(1), EndStarted, CloseAll]).collect()
            }
        }
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    fn sleeps(op: Op) -> bool {
        matches!(op, Op::RunM | Op::Close)
    }
    fn is_worth_it(roles: &[Role]) -> bool {
        let of = |role| roles.iter().filter(|&&other| other == role).count();
        match of(Role::Lister) + of(Role::Alone) {
            // What else is done with a task is the room `task`'s.
            0 => Self::roles().into_iter().all(|role| of(role) <= 1) && of(Role::M) + of(Role::Closer) > 0,
            1 => roles.len() == 1,
            _ => of(Role::Lister) == 2 && roles.len() == 2,
        }
    }
    /// A shutdown beside two; four in a row.
    fn focuses() -> Vec<Focus<Self>> {
        let beside = |role, op, _| match role {
            Role::M | Role::Closer => true,
            Role::Waker => op == Op::Wake(0),
            _ => role == Role::Spawner,
        };
        let is_shut_down = |program: &Program<Self>| {
            program.setup.1.len() == 2 && [Role::M, Role::Closer].iter().all(|role| program.roles().contains(role))
        };
        vec![
            Focus { lens: &[1, 1, 1, 1], has: beside, is_played: is_shut_down },
            Focus::new(&[4], |role, op, _| role == Role::Alone && !matches!(op, Op::Len | Op::IsEmpty)),
        ]
    }
}

/// An entry of the other list.
struct Entry<H: RoomHost> {
    value: Value<H>,
    busy: AtomicUsize,
    ended: Arc<Mutex<Vec<u64>>>,
}

impl<H: RoomHost> Owned for Entry<H> {
    fn address(&self) -> usize {
        self.value.number() as usize
    }
    fn close(&self) -> bool {
        assert!(!H::holds_a_lock(), "user code runs while a lock is held");
        // SeqCst: no memory of the room's.
        let is_busy = self.busy.fetch_update(SeqCst, SeqCst, |busy| busy.checked_sub(1)).is_ok();
        if !is_busy {
            of(&self.ended).push(self.value.number());
        }
        !is_busy
    }
}

/// A runtime and a list on a host.
pub struct OnHost<H: RoomHost> {
    tiny: Arc<Tiny<H>>,
    given: Vec<Task<H>>,
    /// That what is given back is not dropped in the call.
    spawned: Mutex<Vec<Task<H>>>,
    entries: Owning<H, Entry<H>>,
    ended: Arc<Mutex<Vec<u64>>>,
    setup: Setup,
    roles: Vec<Role>,
}

/// The entries of a thread that are listed, or were ended; and the numbers of all that it ever listed.
#[derive(Default)]
pub struct Hand {
    keys: Vec<Key>,
    all: Vec<u64>,
}

impl<H: RoomHost> OnHost<H> {
    fn of_task(&self, op: Op, values: &Maker<H>) -> Answer {
        let number = values.number();
        match op {
            Op::RunM => self.tiny.run_m(),
            Op::Close => {
                let given_back = self.tiny.close().into_iter().map(Queued::keep).map(Did::GivenBack);
                let mut did: Vec<Did> = given_back.collect();
                did.extend(self.tiny.take_did());
                did.sort_unstable();
                return Answer::Did(did);
            }
            Op::Spawn => {
                let (queued, task) = Task::new(&self.tiny, number, 0, values);
                of(&self.spawned).push(task);
                // Refused, it is its spawner's to drop.
                drop(self.tiny.submit(queued));
            }
            Op::Wake(nth) | Op::Abort(nth) | Op::Drop(nth) => {
                let Some(task) = self.given.get(nth) else { return Answer::Nothing };
                match op {
                    Op::Wake(_) => task.wake(number),
                    Op::Abort(_) => task.abort(),
                    _ => task.drop_waker(),
                }
                self.tiny.is_done();
            }
            _ => unreachable!("it is of a list"),
        }
        Answer::Did(self.tiny.take_did())
    }

    fn insert(&self, hand: &mut Hand, row: usize, values: &Maker<H>) -> Answer {
        let (value, number) = (values.value(), values.number());
        hand.all.push(number);
        let entry = Entry { value, busy: AtomicUsize::new(busy(number)), ended: Arc::clone(&self.ended) };
        hand.keys.push(self.entries.insert(row, entry));
        Answer::Are(vec![number])
    }

    fn remove(&self, key: Key) -> Answer {
        let mut left = usize::MAX;
        let removed = self.entries.remove(key, |row| left = row.len());
        Answer::Removed(removed.map(|entry| entry.value.take()), left)
    }

    fn of_list(&self, hand: &mut Hand, op: Op, values: &Maker<H>) -> Answer {
        let list = &self.entries;
        match op {
            Op::Insert(row) => self.insert(hand, row, values),
            Op::RemoveOldest if hand.keys.is_empty() => Answer::Nothing,
            Op::RemoveOldest => self.remove(hand.keys.remove(0)),
            Op::RemoveNewest => hand.keys.pop().map_or(Answer::Nothing, |key| self.remove(key)),
            Op::Len => Answer::Has(list.len()),
            Op::IsEmpty => Answer::Is(list.is_empty()),
            Op::Each => {
                let mut all = Vec::new();
                list.for_each(|entry| all.push(entry.value.number()));
                all.sort_unstable();
                Answer::Are(all)
            }
            Op::Row(row) => Answer::Has(list.with(row, |row| row.len())),
            Op::EndStarted => Answer::Are(list.end_started(hand.all.iter().copied(), |queued| *queued as usize)),
            Op::CloseAll => {
                let mut pauses = 0;
                list.close_all(|| pauses += 1);
                let mut ended = std::mem::take(&mut *of(&self.ended));
                ended.sort_unstable();
                Answer::Ended(ended, pauses)
            }
            _ => unreachable!("it is of a task"),
        }
    }
}

impl<H: RoomHost> Real<OwnedTasks, H> for OnHost<H> {
    type Hand = Hand;

    fn new(setup: Setup, roles: &[Role]) -> Self {
        OnHost {
            tiny: Tiny::new(setup.0, roles.contains(&Role::M)),
            given: Vec::new(),
            spawned: Mutex::default(),
            entries: Owning::new(rows_of(setup)),
            ended: Arc::default(),
            setup,
            roles: roles.to_vec(),
        }
    }
    fn given(&mut self, values: &Maker<H>) {
        for (nth, was) in self.setup.1.iter().enumerate() {
            let (queued, task) = Task::new(&self.tiny, number_of(nth), 1, values);
            self.roles.iter().filter(|role| **role == Role::Waker).for_each(|_| task.clone_waker());
            match was {
                Was::Spawned => assert!(self.tiny.submit(queued).is_ok(), "the scheduler is open"),
                Was::Polled => queued.run(),
            }
            self.given.push(task);
        }
        self.tiny.take_did();
    }
    fn hand(&self, _: Role) -> Hand {
        Hand::default()
    }
    fn begin<'a>(&'a self, hand: &'a mut Hand, op: Op, values: &Maker<H>) -> Begun<'a, H, Answer> {
        let is_of_task = matches!(op, Op::RunM | Op::Close | Op::Wake(_) | Op::Abort(_) | Op::Drop(_) | Op::Spawn);
        Begun::Over(if is_of_task { self.of_task(op, values) } else { self.of_list(hand, op, values) })
    }
}
