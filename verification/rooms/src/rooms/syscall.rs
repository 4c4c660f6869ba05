//! The owner of a P whose M is in a system call: that M when it comes back, another that had it before, the monitor, or a stopper.
//!
//! Invariants 4, 16, 20, 21 and 41: each P has one owner, which sees what the last one did; no thread takes a P out of a system call that is
//! over, also as the number of takings wraps around; while the world is to stop, no P is left in the word of an M that has entered.
//!
//! Beside the words are the kernel's own `Wanted`, `WorldState` and `stw::stop`: the pair `syscall/stop` has its halves in two files.

mod spec;

use crate::host::RoomHost;
use crate::others::Others;
use crate::plain::{Plain, of};
use crate::program::Program;
use crate::room::{Begun, Focus, Real, Room, Waiting, is_each_once};
use crate::rooms::runq::{g, number};
use crate::values::Maker;
use kernel::host::{Lock as _, Parker as _};
use kernel::protocol::stw::wanted::{Want, Wanted};
use kernel::protocol::stw::{self, WorldState};
use kernel::protocol::syscall::{self, Away, Neighbours, SyscallStatus, SyscallWord, Way};
use kernel::types::g::G;
use kernel::types::m::MId;
use kernel::types::p::{OwnedP, PId};
use spec::Known;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex};

/// The room.
#[derive(Debug)]
pub struct Syscalls;

/// What a thread is. Of each there is one; an M has the number of its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// An M that has P0.
    Runs,
    /// An M in a system call, with P0 in its word.
    Away,
    /// An M in a system call, from which P0 was taken.
    Robbed,
    /// An M that has P1.
    Other,
    /// Looks at P0's word.
    Monitor,
    /// Stops the world.
    Stopper,
    /// An M that has P0, monitor and stopper in one, with no thread beside it.
    Alone,
}

/// What a thread does. An M that has no P enters no system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Enters a system call that may be short.
    Entersyscall,
    /// Enters one that is known to block.
    Entersyscallblock,
    /// Its G ignores preemption, and is interrupted.
    Interrupt,
    /// Comes back.
    Exitsyscall,
    /// Looks at the word.
    See,
    /// Takes the P if it is still in the system call that was seen, and hands it on.
    Retake,
    /// Stops the world, with its own P.
    Stop,
    /// Starts it.
    Start,
}

/// What happened in a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Was {
    /// It was asked whether every P is wanted.
    Wanted(bool),
    /// This P is held for the stopper.
    Held(u32),
    /// These Ps are idle, and these Gs were run.
    Idled(Vec<u32>, Vec<u64>),
    /// This P was idle.
    Idle(u32),
    /// No P was, and this G is queued.
    Queued(u64),
    /// This M is away. Was it interrupted?
    Left(u32, bool),
    /// It has this P, for this G.
    Back(u32, u64, Way),
    /// This M has no P.
    Rests(u32),
    /// The word holds this M, and this number.
    Saw(Option<u32>, u32),
    /// The stopper took this P out of its word.
    Took(u32),
}

impl Role {
    /// The P that it has, and the one that it has left.
    fn ps(self) -> (Option<u32>, Option<u32>) {
        match self {
            Role::Runs | Role::Alone => (Some(0), None),
            Role::Other => (Some(1), None),
            Role::Away | Role::Robbed => (None, Some(0)),
            Role::Monitor | Role::Stopper => (None, None),
        }
    }
}

/// How many Ps there are.
fn procs(roles: &[Role]) -> usize {
    1 + usize::from(roles.contains(&Role::Other))
}

/// The Ms that have left P0 before the first call, first the one from which it was taken.
fn away(roles: &[Role]) -> impl Iterator<Item = (u32, Role)> + '_ {
    let of = |role| roles.iter().position(|other| *other == role).map(|m| (m as u32, role));
    [Role::Robbed, Role::Away].into_iter().filter_map(of)
}

impl Room for Syscalls {
    /// How often each P was taken out of its word.
    type Setup = u32;
    type Role = Role;
    type Op = Op;
    type Answer = Vec<Was>;
    type Spec = Known;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "syscall";

    fn setups() -> Vec<u32> {
        vec![0, u32::MAX]
    }
    fn roles() -> Vec<Role> {
        use Role::{Alone, Away, Monitor, Other, Robbed, Runs, Stopper};
        vec![Runs, Away, Robbed, Other, Monitor, Stopper, Alone]
    }
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        let last = |ops: &[Op]| done.iter().rfind(|op| ops.contains(op)).copied();
        let entries = [Op::Entersyscall, Op::Entersyscallblock, Op::Interrupt];
        let is_away = last(&[&entries[..], &[Op::Exitsyscall]].concat())
            .map_or(role.ps().1.is_some(), |op| op != Op::Exitsyscall);
        let m: &[Op] = if is_away { &[Op::Exitsyscall] } else { &entries };
        let monitor: &[Op] = if done.contains(&Op::See) { &[Op::See, Op::Retake] } else { &[Op::See] };
        let stopper = [if last(&[Op::Stop, Op::Start]) == Some(Op::Stop) { Op::Start } else { Op::Stop }];
        match role {
            Role::Monitor => monitor.to_vec(),
            Role::Stopper => stopper.to_vec(),
            Role::Alone => [m, monitor, &stopper].concat(),
            _ => m.to_vec(),
        }
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    fn sleeps(op: Op) -> bool {
        op == Op::Stop
    }
    fn is_worth_it(roles: &[Role]) -> bool {
        let is_p0s = |role: &&Role| matches!(role, Role::Runs | Role::Away | Role::Alone);
        let is_alone = roles.contains(&Role::Alone) == (roles.len() == 1);
        is_each_once(roles) && roles.iter().filter(is_p0s).count() == 1 && is_alone
    }
    fn focuses() -> Vec<Focus<Self>> {
        let short = |_, op, _| matches!(op, Op::Entersyscall | Op::Exitsyscall | Op::Stop);
        let of_two = |program: &Program<Self>| program.roles() == [Role::Runs, Role::Other, Role::Stopper];
        // Each call is seen, and taken in the next, while the world is stopped and started.
        let seen = |_, op, _| !matches!(op, Op::Entersyscallblock | Op::Interrupt);
        let of_one = |program: &Program<Self>| program.roles() == [Role::Away, Role::Monitor, Role::Stopper];
        vec![
            Focus { lens: &[3, 3, 1], has: short, is_played: of_two },
            Focus { lens: &[3, 2, 2], has: seen, is_played: of_one },
        ]
    }
}

/// What is under the lock.
pub struct Central<H: RoomHost> {
    world: WorldState<H>,
    idle: Vec<u32>,
    queued: Vec<u64>,
}

/// The words of the Ps, and the rest of the scheduler.
pub struct OnHost<H: RoomHost> {
    roles: Vec<Role>,
    words: Vec<SyscallWord<H>>,
    /// Of each P, what only its owner uses.
    ps: Vec<Plain<H, u32>>,
    wanted: Wanted<H>,
    central: H::Lock<Central<H>>,
    /// Where the stopper sleeps.
    parker: Arc<H::Parker>,
    /// Of Ms that are away before their first call.
    away: Mutex<Vec<ManuallyDrop<Away>>>,
}

/// A thread.
pub struct Hand {
    me: MId,
    p: Option<u32>,
    away: Option<ManuallyDrop<Away>>,
    seen: Option<SyscallStatus>,
}

impl<H: RoomHost> OnHost<H> {
    /// The owner of `p` does something under it.
    fn uses(&self, p: &OwnedP) {
        self.ps[p.id().index()].write(|uses| *uses += 1);
    }
}

impl<H: RoomHost> Others<'_, OnHost<H>, Was> {
    /// `p` is held, or idle; some M runs what is queued before.
    fn releasep(&self, p: OwnedP) {
        let (was, stopper) = self.on.central.with(|c| match c.world.is_stopping() {
            true => (Was::Held(p.id().0), c.world.hold(p)),
            false => {
                let p = p.discard().0;
                c.idle.push(p);
                (Was::Idled(vec![p], std::mem::take(&mut c.queued)), None)
            }
        });
        self.says(was);
        stopper.into_iter().for_each(|stopper| stopper.unpark());
    }

    fn enters(&self, hand: &mut Hand, op: Op) {
        let Some(p) = hand.p.take().map(|p| OwnedP::forge(PId(p))) else { return };
        self.on.uses(&p);
        let away = match op {
            Op::Entersyscall => syscall::entersyscall(hand.me, p, self),
            Op::Entersyscallblock => syscall::entersyscallblock(hand.me, p, self),
            _ => syscall::interrupt(hand.me, p, self),
        };
        self.says(Was::Left(away.m().0, away.was_detached()));
        hand.away = Some(ManuallyDrop::new(away));
    }

    fn comes_back(&self, hand: &mut Hand) {
        let Some(away) = hand.away.take().map(ManuallyDrop::into_inner) else { return };
        match syscall::exitsyscall(away, g(u64::from(hand.me.0) + 1), self) {
            Ok((p, g, way)) => {
                self.on.uses(&p);
                hand.p = Some(p.discard().0);
                self.says(Was::Back(hand.p.unwrap_or_default(), number(g), way));
            }
            Err(m) => self.says(Was::Rests(m.0)),
        }
    }

    fn starts(&self) {
        let was = self.on.central.with(|c| {
            let ps: Vec<u32> = c.world.resume().into_iter().map(|p| p.discard().0).collect();
            self.on.wanted.done(Want::Stop);
            let _nobody_else = c.world.leave_line();
            c.idle.extend(&ps);
            Was::Idled(ps, std::mem::take(&mut c.queued))
        });
        self.says(was);
    }
}

impl<H: RoomHost> Neighbours<H> for Others<'_, OnHost<H>, Was> {
    fn syscall_word(&self, p: PId) -> &SyscallWord<H> {
        &self.on.words[p.index()]
    }
    fn is_wanted(&self) -> bool {
        let is_wanted = self.on.wanted.any();
        self.says(Was::Wanted(is_wanted));
        is_wanted
    }
    fn handoffp(&self, p: OwnedP) {
        self.releasep(p);
    }
    fn pidleget_or_queue(&self, waits: G) -> Option<(OwnedP, G)> {
        let n = number(waits);
        let p = self.on.central.with(|c| {
            let p = c.idle.pop();
            c.queued.extend(p.is_none().then_some(n));
            p
        });
        self.says(p.map_or(Was::Queued(n), Was::Idle));
        p.map(|p| (OwnedP::forge(PId(p)), g(n)))
    }
}

impl<H: RoomHost> stw::Neighbours for Others<'_, OnHost<H>, Was> {
    fn begin(&self, own: Option<OwnedP>) {
        self.on.central.with(|c| {
            let _is_first = c.world.queue_up(&self.on.parker);
            c.world.begin_stop();
            self.on.wanted.ask(Want::Stop);
            let idle = c.idle.drain(..).map(|p| OwnedP::forge(PId(p)));
            own.into_iter().chain(idle).for_each(|p| drop(c.world.hold(p)));
        });
    }
    fn take_from_syscalls(&self) {
        for p in self.on.words.iter().filter_map(SyscallWord::take_any) {
            self.on.uses(&p);
            self.says(Was::Took(p.id().0));
            self.releasep(p);
        }
    }
    fn is_stopped(&self) -> bool {
        self.on.central.with(|c| c.world.is_stopped())
    }
    fn sleep(&self) {
        self.on.parker.park();
    }
}

impl<H: RoomHost> Real<Syscalls, H> for OnHost<H> {
    type Hand = Hand;
    fn new(takings: u32, roles: &[Role]) -> Self {
        let (procs, idle, queued) = (procs(roles), Vec::new(), Vec::new());
        let on = OnHost {
            roles: roles.to_vec(),
            words: (0..procs).map(|p| SyscallWord::starting_at(PId(p as u32), takings)).collect(),
            ps: (0..procs).map(|_| Plain::new(0)).collect(),
            wanted: Wanted::new(),
            central: H::Lock::new(Central { world: WorldState::new(procs), idle, queued }),
            parker: Arc::new(H::Parker::new()),
            away: Mutex::default(),
        };
        for (m, role) in away(roles) {
            let left = syscall::entersyscall(MId(m), OwnedP::forge(PId(0)), &Others::new(&on));
            of(&on.away).push(ManuallyDrop::new(left));
            if role == Role::Robbed {
                on.words[0].take_any().map(OwnedP::discard);
            }
        }
        on
    }
    fn hand(&self, role: Role) -> Hand {
        let me = self.roles.iter().position(|other| *other == role).expect("it is one of them");
        let (mut away, me) = (of(&self.away), MId(me as u32));
        let left = away.iter().position(|away| away.m() == me);
        Hand { me, p: role.ps().0, away: left.map(|left| away.swap_remove(left)), seen: None }
    }
    fn begin<'a>(&'a self, hand: &'a mut Hand, op: Op, _: &Maker<H>) -> Begun<'a, H, Vec<Was>> {
        let (others, word) = (Others::new(self), &self.words[0]);
        match op {
            Op::Entersyscall | Op::Entersyscallblock | Op::Interrupt => others.enters(hand, op),
            Op::Exitsyscall => others.comes_back(hand),
            Op::See => {
                let seen = word.peek();
                hand.seen = Some(seen);
                others.says(Was::Saw(seen.in_syscall.map(|m| m.0), seen.tick));
            }
            Op::Retake => {
                if let Some(p) = hand.seen.and_then(|seen| word.take(seen)) {
                    self.uses(&p);
                    others.releasep(p);
                }
            }
            Op::Stop => stw::stop::<H>(hand.p.take().map(|p| OwnedP::forge(PId(p))), &others),
            Op::Start => others.starts(),
        }
        Begun::Over(others.into_was())
    }
}
