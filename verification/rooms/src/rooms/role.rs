//! What a thread is to the scheduler, and the handler of a signal that comes between any two of its steps.
//!
//! Invariant 52: how a thread may wait stays true when a signal comes; the P of a preempted G is taken once, and comes back once; what a
//! thread does inside the scheduler is one step to the handler.
//!
//! Ps are numbers here, and each function that is handed one writes its own digit behind it: what became of a P can be read off.
//! The thread's word is this room's own, for a signal may come before each of its accesses. Of threads there is one.

mod signals;

use crate::host::RoomHost;
use crate::room::{Begun, CallId, Does, Effects, Real, Room, Spec, Waiting};
use crate::values::Maker;
use kernel::host::Word as _;
use kernel::protocol::role::{Role, RoleCell, Waits};
use signals::{Heard, Word, comes, heard};
use std::cell::RefCell;
use std::rc::Rc;

/// The room.
#[derive(Debug)]
pub struct SignalledThreads;

/// What a thread is at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Begins {
    /// It runs no G.
    Outside,
    /// It runs a G, under P 1.
    Running,
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// It runs a G under this P.
    Run,
    /// It does what is the embedder's.
    Other,
    /// Takes its P.
    Take,
    /// Enters a system call.
    EnterSyscall,
    /// Comes back.
    ExitSyscall,
    /// Asks how its G may wait, if that can be resumed elsewhere, and if not.
    Waits,
    /// Reads the role, twice, and in between once more.
    With,
    /// Works with the role, and tries to once more meanwhile.
    Mut,
}

/// Each function's digit: a handler, `reattach`, `leave`, `stay`, `come_back`, and one that works with the role.
const DETACH: u64 = 1;
const REATTACH: u64 = 2;
const LEAVE: u64 = 3;
const STAY: u64 = 4;
const COME_BACK: u64 = 5;
const WORK: u64 = 6;

/// The P, behind this function.
fn behind(p: u64, function: u64) -> u64 {
    p * 10 + function
}

/// What happened in a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Was {
    /// A signal came while the thread was outside the scheduler for certain.
    Signal,
    /// The handler found this P, and took it.
    Detached(u64),
    /// The handler found this P, and preemption was not requested.
    NotAsked(u64),
    /// The operation gave this.
    Gave(String),
    /// This is the role at the end.
    Now(Is),
}

/// A role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Is {
    /// See [`Role`].
    Outside,
    /// See [`Role`].
    Running(u64),
    /// See [`Role`].
    Detached(u64),
    /// See [`Role`].
    InSyscall(u64),
    /// See [`Role`].
    Other(u64),
}

type AnyRole = Role<u64, u64, u64>;

fn is(role: &AnyRole) -> Is {
    match *role {
        Role::Outside => Is::Outside,
        Role::Running(p) => Is::Running(p),
        Role::Detached(p) => Is::Detached(p),
        Role::InSyscall(p) => Is::InSyscall(p),
        Role::Other(other) => Is::Other(other),
    }
}

/// How many signals may come, and is preemption requested?
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    signals: usize,
    is_asked: bool,
}

impl Room for SignalledThreads {
    type Setup = Setup;
    type Role = Begins;
    type Op = Op;
    type Answer = Vec<Was>;
    type Spec = Known;
    type Real<H: RoomHost> = OnHost;

    const NAME: &'static str = "role";

    fn setups() -> Vec<Setup> {
        [(2, true), (1, false)].map(|(signals, is_asked)| Setup { signals, is_asked }).to_vec()
    }
    fn roles() -> Vec<Begins> {
        vec![Begins::Outside, Begins::Running]
    }
    fn may(_: Begins, _: &[Op]) -> Vec<Op> {
        vec![Op::Run, Op::Other, Op::Take, Op::EnterSyscall, Op::ExitSyscall, Op::Waits, Op::With, Op::Mut]
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    fn is_worth_it(roles: &[Begins]) -> bool {
        roles.len() == 1
    }
}

/// All that there is is the thread's.
pub struct OnHost {
    setup: Setup,
}

/// A thread.
pub struct Hand {
    role: AnyRole,
    setup: Setup,
}

type Cell<H> = RoleCell<Heard<H>, u64, u64, u64>;

/// What the operation gives.
fn does<H: RoomHost>(cell: &Cell<H>, op: Op, number: u64) -> String {
    let then = |p: u64, function: u64| {
        comes::<H>(|| ());
        behind(p, function)
    };
    match op {
        Op::Run => format!("{:?}", is(&cell.replace(Role::Running(number)))),
        Op::Other => format!("{:?}", is(&cell.replace(Role::Other(number)))),
        Op::Take => format!("{:?}", cell.take(|away| then(away, REATTACH))),
        Op::EnterSyscall => format!("{}", cell.enter_syscall(|p| then(p, LEAVE), |away| then(away, STAY))),
        Op::ExitSyscall => format!("{:?}", cell.exit_syscall(|away| then(away, COME_BACK))),
        Op::Waits => format!("{:?}", (cell.waits(true), cell.waits(false))),
        Op::With => cell.with(|role| {
            let before = is(role);
            comes::<H>(|| ());
            let between = cell.with(is);
            comes::<H>(|| ());
            format!("{:?}", [before, between, is(role)])
        }),
        Op::Mut => {
            let worked = cell.try_with_mut(|role| {
                comes::<H>(|| ());
                if let Role::Running(p) = role {
                    *p = behind(*p, WORK);
                }
                let again = cell.try_with_mut(|role| is(role));
                comes::<H>(|| ());
                again.is_none()
            });
            format!("{worked:?}")
        }
    }
}

impl<H: RoomHost> Real<SignalledThreads, H> for OnHost {
    type Hand = Hand;
    fn new(setup: Setup, _: &[Begins]) -> Self {
        OnHost { setup }
    }
    fn hand(&self, begins: Begins) -> Hand {
        let role = if begins == Begins::Running { Role::Running(1) } else { Role::Outside };
        Hand { role, setup: self.setup }
    }
    fn begin<'a>(&'a self, hand: &'a mut Hand, op: Op, values: &Maker<H>) -> Begun<'a, H, Vec<Was>> {
        let (cell, was) = (Rc::new(Cell::<H>::new(Word::new(0))), Rc::new(RefCell::new(Vec::new())));
        let _outside = cell.replace(std::mem::replace(&mut hand.role, Role::Outside));
        let says = {
            let was = Rc::clone(&was);
            move |said: Was| was.borrow_mut().push(said)
        };
        let (handled, said, is_asked) = (Rc::clone(&cell), says.clone(), hand.setup.is_asked);
        let handler = move || {
            handled.interrupt(|p| {
                said(if is_asked { Was::Detached(p) } else { Was::NotAsked(p) });
                if is_asked { Ok(behind(p, DETACH)) } else { Err(p) }
            });
        };
        hand.setup.signals = heard(hand.setup.signals, handler, || {
            comes::<H>(|| says(Was::Signal));
            let gave = does::<H>(&cell, op, values.number());
            says(Was::Gave(gave));
            comes::<H>(|| says(Was::Signal));
        });
        hand.role = cell.replace(Role::Outside);
        says(Was::Now(is(&hand.role)));
        Begun::Over(was.take())
    }
}

/// The role.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Known {
    is_asked: bool,
    is: Is,
}

impl Known {
    /// A signal that is heard.
    fn hears(&mut self) -> Option<Was> {
        let Is::Running(p) = self.is else { return None };
        if !self.is_asked {
            return Some(Was::NotAsked(p));
        }
        self.is = Is::Detached(behind(p, DETACH));
        Some(Was::Detached(p))
    }

    fn does(&mut self, op: Op, number: u64) -> String {
        let before = self.is;
        match (op, before) {
            (Op::Run | Op::Other, _) => {
                self.is = if op == Op::Run { Is::Running(number) } else { Is::Other(number) };
                format!("{before:?}")
            }
            (Op::Take, Is::Running(_) | Is::Detached(_)) | (Op::ExitSyscall, Is::InSyscall(_)) => {
                self.is = Is::Outside;
                format!(
                    "{:?}",
                    Some(match before {
                        Is::Detached(away) => behind(away, REATTACH),
                        Is::InSyscall(away) => behind(away, COME_BACK),
                        Is::Running(p) | Is::Other(p) => p,
                        Is::Outside => unreachable!("it has a P, or had"),
                    })
                )
            }
            (Op::Take | Op::ExitSyscall, _) => format!("{:?}", None::<u64>),
            (Op::EnterSyscall, _) => {
                let left = match before {
                    Is::Running(p) => Some(behind(p, LEAVE)),
                    Is::Detached(away) => Some(behind(away, STAY)),
                    _ => None,
                };
                self.is = left.map_or(before, Is::InSyscall);
                format!("{}", left.is_some())
            }
            (Op::Waits, Is::Running(_) | Is::Detached(_)) => format!("{:?}", (Waits::Suspend, Waits::Block)),
            (Op::Waits, _) => format!("{:?}", (Waits::WithoutP, Waits::WithoutP)),
            (Op::With, _) => format!("{:?}", [before; 3]),
            (Op::Mut, _) => {
                if let Is::Running(p) = before {
                    self.is = Is::Running(behind(p, WORK));
                }
                format!("{:?}", Some(true))
            }
        }
    }
}

impl Spec<SignalledThreads> for Known {
    fn new(setup: Setup, roles: &[Begins]) -> Self {
        Known { is_asked: setup.is_asked, is: if roles[0] == Begins::Running { Is::Running(1) } else { Is::Outside } }
    }

    /// A signal is heard before the operation or after it, and if it comes outside the scheduler, it is heard.
    fn step(&mut self, _: CallId, does: Does<Op>, answer: Option<&Vec<Was>>, _: &mut Effects) -> Option<Vec<Was>> {
        let Does::Begin(op, number) = does else { return None };
        let mut all = Vec::new();
        for (n, was) in answer?.iter().enumerate() {
            match was {
                _ if all.len() > n => {}
                Was::Signal => all.extend([Some(Was::Signal), self.hears()].into_iter().flatten()),
                Was::Detached(_) | Was::NotAsked(_) => all.extend(self.hears()),
                Was::Gave(_) => all.push(Was::Gave(self.does(op, number))),
                Was::Now(_) => all.push(Was::Now(self.is)),
            }
        }
        Some(all)
    }
}
