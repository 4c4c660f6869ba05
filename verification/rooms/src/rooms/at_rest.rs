//! Which threads can do nothing by themselves.
//!
//! Invariants 127, 128: a deadlock is told only if all threads wait that there are, and none of them was rung; of threads that all wait, and
//! each of which asks before it sleeps, the last is told.

use crate::host::RoomHost;
use crate::program::Program;
use crate::room::{Begun, CallId, Does, Effects, Focus, Real, Room, Spec, Waiting};
use crate::values::Maker;
use kernel::atomic::Atomic;
use kernel::host::Parker;
use kernel::waits::at_rest::AtRest;
use kernel::waits::bell::{Bell, Counts};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The room.
#[derive(Debug)]
pub struct AllAtRest;

/// What a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// It waits by the bell of that number.
    Waiter(usize),
    /// An M, whose task waits by `MS_BELL`. It is none of the threads that are counted.
    M,
    /// It waits for nothing.
    Ringer,
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Sleeps until its bell rings. The first sleep is over at once, as when a time is.
    Wait,
    /// The same, and before each sleep it asks whether all are at rest. If so, it gives up.
    Ask,
    /// Rings that bell.
    Ring(usize),
    /// The thread ends, for the system.
    End,
}

/// What a call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Its bell has rung.
    Rang,
    /// All are at rest.
    Deadlock,
    /// It is done.
    Done,
}

/// The bell of the M's task.
const MS_BELL: usize = 2;
const BELLS: usize = 3;

/// The bell of a thread.
fn bell_of(role: Role) -> Option<usize> {
    match role {
        Role::Waiter(bell) => Some(bell),
        Role::M => Some(MS_BELL),
        Role::Ringer => None,
    }
}

impl Room for AllAtRest {
    type Setup = ();
    type Role = Role;
    type Op = Op;
    type Answer = Answer;
    type Spec = Rest;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "at_rest";
    const SOURCE: &'static str = "bell at_rest";

    fn setups() -> Vec<()> {
        vec![()]
    }
    fn roles() -> Vec<Role> {
        vec![Role::Waiter(0), Role::Waiter(1), Role::M, Role::Ringer]
    }
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        let rings = (0..BELLS).filter(|&bell| bell_of(role) != Some(bell)).map(Op::Ring);
        let (waits, ends): (&[Op], &[Op]) = match role {
            Role::Waiter(_) => (&[Op::Ask, Op::Wait], &[Op::End]),
            Role::M => (&[Op::Wait], &[]),
            Role::Ringer => (&[], &[Op::End]),
        };
        let all = waits.iter().copied().chain(rings).chain(ends.iter().copied());
        all.filter(|_| !done.contains(&Op::End)).collect()
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    fn sleeps(op: Op) -> bool {
        matches!(op, Op::Wait | Op::Ask)
    }
    fn is_worth_it(roles: &[Role]) -> bool {
        let count = |role| roles.iter().filter(|&&other| other == role).count();
        let is_any = count(Role::Waiter(0)) == 1 && count(Role::Waiter(1)) <= 1;
        is_any && count(Role::M) <= 1 && count(Role::Ringer) <= 1
    }
    fn focuses() -> Vec<Focus<Self>> {
        fn has(role: Role, op: Op, _: Option<Waiting>) -> bool {
            match role {
                Role::Waiter(0) => op == Op::Ask,
                Role::Waiter(_) => matches!(op, Op::Wait | Op::Ring(0 | MS_BELL) | Op::End),
                Role::M | Role::Ringer => true,
            }
        }
        let asks_once = |program: &Program<Self>| {
            program.threads.iter().all(|thread| thread.role != Role::Waiter(0) || thread.steps.len() == 1)
        };
        let task_and_thread = |program: &Program<Self>| {
            program.roles() == [Role::Waiter(1), Role::M, Role::Waiter(0)]
                && program.threads[0].steps.iter().all(|step| step.op != Op::End)
        };
        // A thread is woken by one that ends, wakes a task, and waits again, or wakes the other.
        let again = |program: &Program<Self>| {
            program.roles() == [Role::Waiter(1), Role::Ringer, Role::Waiter(0), Role::M]
                && program.threads[0].steps.iter().take(2).map(|step| step.op).eq([Op::Wait, Op::Ring(MS_BELL)])
                && program.threads[1].steps.iter().map(|step| step.op).eq([Op::Ring(1), Op::End])
        };
        // A thread goes on while its waker is about to take it out of the count; so did one before.
        let thrice = |program: &Program<Self>| program.roles() == [Role::Waiter(0), Role::Ringer, Role::Waiter(1)];
        let waits = |role, op, _| match role {
            Role::Waiter(0) => matches!(op, Op::Wait | Op::Ask),
            _ => matches!(op, Op::Ring(0) | Op::End),
        };
        vec![
            Focus { lens: &[2, 2, 1], has, is_played: asks_once },
            Focus { lens: &[3, 2, 1], has, is_played: task_and_thread },
            Focus { lens: &[3, 2, 1, 1], has, is_played: again },
            Focus { lens: &[3, 2, 1], has: waits, is_played: thrice },
        ]
    }
}

/// What counts a thread, or an M's task.
pub enum Counted<H: RoomHost> {
    /// A thread.
    Thread(Arc<AtRest<H>>),
    /// An M's task.
    M(Arc<Atomic<H, u64>>),
}

impl<H: RoomHost> Counts for Counted<H> {
    fn enter(&self) {
        match self {
            Counted::Thread(at_rest) => at_rest.enter(),
            // Release: as the scheduler, whose lock an M takes before it waits: a detector that finds it at rest sees what it did.
            Counted::M(ms) => _ = ms.fetch_add(1, Release),
        }
    }
    fn leave(&self) {
        match self {
            Counted::Thread(at_rest) => at_rest.leave(),
            // Relaxed: as the runtime's count.
            Counted::M(ms) => _ = ms.fetch_sub(1, Relaxed),
        }
    }
}

/// The threads of a process on a host.
pub struct OnHost<H: RoomHost> {
    at_rest: Arc<AtRest<H>>,
    bells: [Bell<H, Counted<H>>; BELLS],
    /// How many threads there are: the system's number.
    threads: Atomic<H, u64>,
    ms: Arc<Atomic<H, u64>>,
    has_m: bool,
}

impl<H: RoomHost> OnHost<H> {
    fn are_all(&self) -> bool {
        assert!(
            !self.at_rest.are_all(|| None, || true),
            "it is not known how many threads there are, and all of them rest"
        );
        // Acquire: a thread that sees that another has ended sees what that did.
        let threads = || Some(self.threads.load(Acquire) as usize);
        // Acquire: as the detector, which takes that lock.
        self.at_rest.are_all(threads, || !self.has_m || self.ms.load(Acquire) == 1)
    }
}

impl<H: RoomHost> Real<AllAtRest, H> for OnHost<H> {
    /// The thread's bell.
    type Hand = Option<usize>;
    fn new((): (), roles: &[Role]) -> Self {
        let (at_rest, ms) = (Arc::new(AtRest::new()), Arc::new(Atomic::new(0)));
        let counted = |bell| match bell {
            MS_BELL => Counted::M(Arc::clone(&ms)),
            _ => Counted::Thread(Arc::clone(&at_rest)),
        };
        let bells = std::array::from_fn(|bell| Bell::counted_by(counted(bell)));
        let threads = roles.iter().filter(|&&role| role != Role::M).count() as u64;
        OnHost { bells, threads: Atomic::new(threads), has_m: roles.contains(&Role::M), at_rest, ms }
    }
    fn hand(&self, role: Role) -> Option<usize> {
        bell_of(role)
    }
    fn begin<'a>(&'a self, hand: &'a mut Option<usize>, op: Op, _: &Maker<H>) -> Begun<'a, H, Answer> {
        let mine = || &self.bells[hand.expect("it has a bell")];
        let mut sleeps = 0..;
        let wakes_once = || Ok::<_, ()>(sleeps.next().unwrap_or_default());
        let waited = match op {
            Op::Wait => mine().wait_by(wakes_once, |parker, sleeps: usize| {
                if sleeps > 0 {
                    parker.park()
                }
            }),
            Op::Ask => mine().wait(|| if self.are_all() { Err(()) } else { Ok(()) }),
            Op::Ring(bell) => {
                self.bells[bell].ring();
                return Begun::Over(Answer::Done);
            }
            Op::End => {
                // Release: as the system, whose lock both sides take.
                self.threads.fetch_sub(1, Release);
                return Begun::Over(Answer::Done);
            }
        };
        Begun::Over(if waited.is_ok() { Answer::Rang } else { Answer::Deadlock })
    }
}

/// Where a bell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum At {
    Idle,
    Rung,
    /// Its thread waits. Does it ask?
    Waits(bool),
    /// It has found all at rest, and gives up unless it is rung.
    Told,
}

/// Where each thread is, and has it ended?
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rest {
    roles: Vec<Role>,
    bells: [At; BELLS],
    rings: [Vec<CallId>; BELLS],
    has_ended: Vec<bool>,
}

impl Rest {
    fn are_all(&self, is_so: impl Fn(At) -> bool) -> bool {
        let waits = |(role, has_ended): (&Role, &bool)| {
            *has_ended || bell_of(*role).is_some_and(|bell| is_so(self.bells[bell]))
        };
        self.roles.iter().zip(&self.has_ended).all(waits)
    }
}

impl Spec<AllAtRest> for Rest {
    fn new((): (), roles: &[Role]) -> Self {
        let has_ended = vec![false; roles.len()];
        Rest { roles: roles.to_vec(), bells: [At::Idle; BELLS], rings: Default::default(), has_ended }
    }

    /// A thread whose bell has not rung waits from then on. One that asks gives up after it was told.
    fn step_before(&self, me: CallId, does: Does<Op>, answer: Option<&Answer>) -> Option<Self> {
        let Does::Begin(op @ (Op::Wait | Op::Ask), _) = does else { return None };
        let bell = bell_of(self.roles[me.thread])?;
        let is_told = answer == Some(&Answer::Deadlock) && self.are_all(|at| matches!(at, At::Waits(_) | At::Told));
        let mut next = self.clone();
        next.bells[bell] = match self.bells[bell] {
            At::Idle => At::Waits(op == Op::Ask),
            At::Waits(true) if is_told => At::Told,
            _ => return None,
        };
        Some(next)
    }

    fn step(&mut self, me: CallId, does: Does<Op>, answer: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        let Does::Begin(op, _) = does else { return None };
        match op {
            Op::Wait | Op::Ask => {
                let bell = bell_of(self.roles[me.thread])?;
                // The last that came asked when all were there: unless another has ended since, or it does not ask.
                let must_be_told = || self.are_all(|at| at == At::Waits(true)) && !self.has_ended.contains(&true);
                let found = match self.bells[bell] {
                    At::Rung => Answer::Rang,
                    At::Told => Answer::Deadlock,
                    _ if answer.is_none() && must_be_told() => Answer::Deadlock,
                    _ => return None,
                };
                self.bells[bell] = At::Idle;
                effects.sees.append(&mut self.rings[bell]);
                return Some(found);
            }
            Op::Ring(bell) => {
                self.bells[bell] = At::Rung;
                self.rings[bell].push(me);
            }
            Op::End => self.has_ended[me.thread] = true,
        }
        Some(Answer::Done)
    }
}
