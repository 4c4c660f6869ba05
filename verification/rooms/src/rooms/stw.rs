//! Threads that stop the world, one after the other, or run a function under each P, while Ms run, idle their Ps and make system calls.
//!
//! Invariants 4, 16, 17, 18, 26, 41 and 45: while the world is stopped the stopper has every P, each once; the M that holds the last wakes
//! it; stoppers are served in the order in which they came; a function runs once under each P, by its owner, and no M refers to it when
//! the caller comes back; no P is left in the word of an M that has entered a system call; those that are left after a resize are the first.
//!
//! Beside the protocol are the kernel's own `SyscallWord`s. The idle Ps are a stack.

mod real;
mod spec;

use crate::host::RoomHost;
use crate::room::{Focus, Room, Waiting, is_each_once};
use kernel::protocol::stw::wanted::Want;
use kernel::protocol::syscall::Way;
use real::OnHost;
use spec::Known;

/// The room.
#[derive(Debug)]
pub struct StoppedWorlds;

/// What a thread is. Of each there is one; an M has the number of its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// An M that has a P.
    Runs,
    /// Another.
    Other,
    /// A thread that stops the world, and is no M.
    Stopper,
    /// Another.
    Second,
    /// An M that has a P, and whose G stops the world.
    Owner,
    /// The same, with no thread beside it: it does everything.
    Alone,
    /// A thread that asks for something, as bits, with no thread beside it.
    Bits,
    /// A thread that counts under which of three Ps a function has run, with no thread beside it.
    Counts,
}

impl Role {
    fn has_p(&self) -> bool {
        matches!(self, Role::Runs | Role::Other | Role::Owner | Role::Alone)
    }
    fn is_alone(&self) -> bool {
        matches!(self, Role::Alone | Role::Bits | Role::Counts)
    }
}

/// What a thread does. An M that has no P takes an idle one before it runs a G; if there is none, it does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Comes to a scheduling point, and runs a G.
    Run,
    /// Releases its P.
    Idle,
    /// Enters a system call.
    Entersyscall,
    /// Comes back.
    Exitsyscall,
    /// Stops the world, with its own P, if it has one.
    Stop,
    /// From now on there are so many Ps.
    Resize(u32),
    /// Starts the world.
    Start,
    /// Runs a function under each P, its own among them, if it has one.
    ForEachP,
    /// This is wanted.
    Ask(usize),
    /// It is wanted no longer.
    Done(usize),
    /// The owner of this P comes to a scheduling point.
    Comes(u32),
    /// A function that was begun has run.
    Ran,
}

/// What happened in a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Was {
    /// It was asked whether every P is wanted.
    Wanted(bool),
    /// It queued up. Is it the first?
    First(bool),
    /// It has left the queue, and this thread is the next.
    Next(Option<usize>),
    /// This P is held.
    Held(u32),
    /// It was the last, or the function has run under the last: this thread is woken.
    Wakes(usize),
    /// This P is idle.
    Idled(u32),
    /// The function begins under this P.
    Begins(u32),
    /// It was in a system call.
    Took(u32),
    /// It was idle.
    Got(u32),
    /// A G is run under it.
    Used(u32),
    /// It is the one of an M that has come back.
    Back(u32, Way),
    /// Held, spare, and those that were emptied.
    Resized([Vec<u32>; 3]),
    /// Is anything wanted? Is it the end? Which?
    Is(bool, bool, [bool; 3]),
    /// Was the function to run under this P, and does it begin?
    Came(bool, bool),
    /// Has it run for all, so that the caller is woken? And is the barrier passed?
    Ended(bool, bool),
}

/// How many Ps can be added.
const SPARE: usize = 2;
const WANTS: [Want; 3] = [Want::Stop, Want::Safepoint, Want::Close];

/// The P of this thread, if it has one.
fn p_of(roles: &[Role], thread: usize) -> Option<u32> {
    roles[thread].has_p().then(|| roles[..thread].iter().filter(|role| role.has_p()).count() as u32)
}

/// How many Ps there are, and which of them are idle: one, if there are few threads.
fn procs(roles: &[Role]) -> (u32, Vec<u32>) {
    let owned = roles.iter().filter(|role| role.has_p()).count() as u32;
    let procs = owned + u32::from(roles.len() < 3);
    (procs, (owned..procs).collect())
}

impl Room for StoppedWorlds {
    type Setup = ();
    type Role = Role;
    type Op = Op;
    type Answer = Vec<Was>;
    type Spec = Known;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "stw";

    fn setups() -> Vec<()> {
        vec![()]
    }
    fn roles() -> Vec<Role> {
        use Role::{Alone, Bits, Counts, Other, Owner, Runs, Second, Stopper};
        vec![Runs, Other, Stopper, Second, Owner, Alone, Bits, Counts]
    }
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        let last = |ops: &[Op]| done.iter().rfind(|op| ops.contains(op)).copied();
        let asks: &[Op] = &[Op::Stop, Op::ForEachP];
        let m = [Op::Run, Op::Idle, Op::Entersyscall];
        let is_away = last(&[Op::Entersyscall, Op::Exitsyscall]) == Some(Op::Entersyscall);
        let is_stopped = last(&[Op::Stop, Op::Start]) == Some(Op::Stop);
        match role {
            Role::Bits => (0..3).flat_map(|want| [Op::Ask(want), Op::Done(want)]).collect(),
            Role::Counts => (0..4).map(Op::Comes).chain([Op::Ran]).collect(),
            Role::Alone if is_stopped => (1..=4).map(Op::Resize).chain([Op::Start]).collect(),
            _ if is_stopped => vec![Op::Start],
            Role::Stopper | Role::Second | Role::Owner if done.last() == Some(&Op::ForEachP) => Vec::new(),
            Role::Alone if is_away => [&[Op::Exitsyscall], asks].concat(),
            _ if is_away => vec![Op::Exitsyscall],
            Role::Runs => m.to_vec(),
            Role::Other => vec![Op::Idle],
            Role::Stopper | Role::Second => asks.to_vec(),
            Role::Owner => [&m[..2], asks].concat(),
            Role::Alone => [&m, asks].concat(),
        }
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    fn sleeps(op: Op) -> bool {
        matches!(op, Op::Stop | Op::ForEachP)
    }
    fn is_worth_it(roles: &[Role]) -> bool {
        let has = |role| roles.contains(&role);
        let is_alone = roles.iter().any(Role::is_alone);
        let are_first = (has(Role::Runs) || !has(Role::Other)) && (has(Role::Stopper) || !has(Role::Second));
        let is_asked = is_alone || has(Role::Stopper) || has(Role::Owner);
        let are_few = roles.len() < 3 || !has(Role::Owner);
        is_each_once(roles) && is_alone == (roles.len() == 1) && are_first && is_asked && are_few
    }
    fn focuses() -> Vec<Focus<Self>> {
        let is_table = |role, op, _| match role {
            Role::Alone => matches!(op, Op::Stop | Op::Resize(_)),
            _ => true,
        };
        let calls = |role, op, _| role != Role::Owner && !matches!(op, Op::Run | Op::Idle);
        let stops = |role, op, _| matches!(role, Role::Stopper | Role::Second) && op != Op::ForEachP;
        let line = |role, op, _| {
            role != Role::Owner && matches!(op, Op::Entersyscall | Op::Exitsyscall | Op::Stop | Op::Start)
        };
        vec![
            Focus::new(&[4], is_table),
            Focus::new(&[5], |role, _, _| role == Role::Counts),
            Focus::new(&[2, 1], |_, _, _| true),
            Focus::new(&[4, 1], calls),
            Focus::new(&[4, 2], stops),
            Focus::new(&[2, 2, 2], line),
        ]
    }
}
