//! Which Ms look for work while Gs are queued, Ps are idled, and Ms come back from system calls.
//!
//! Invariants 11, 14, 30 and 31: when all have come to rest, and a G waits and a P is idle, an M looks, or was started to look; no second M
//! is started before the first has begun. That those that look are counted is asked of one thread alone, after each of its calls.
//!
//! Beside the protocol are queues that only count, idle Ps that are a number, and Ms that are started by a count. No M really sleeps: one
//! that does is at rest, and looks in a later call if one was started by then.
//!
//! All programs of 2, 1 and 1 operations take some minutes: a focus has those that matter.

mod scheduler;
mod spec;

use crate::host::RoomHost;
use crate::others::Others;
use crate::program::Program;
use crate::room::{Begun, Focus, Real, Room, Waiting, is_each_once, is_in_order};
use crate::values::Maker;
use kernel::atomic::Atomic;
use kernel::host::Lock as _;
use kernel::protocol::spinning::Spinning;
use scheduler::Ring;
use spec::Known;

/// The room.
#[derive(Debug)]
pub struct Conserved;

/// What a thread is. Of each kind there is one of each number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// An M that has a P and is counted: it looks for work.
    Spinning(usize),
    /// An M that has a P, and runs a G.
    Running(usize),
    /// The same, with no thread beside it: it is asked everything. Is there a source that says it has work, and has none?
    Alone(bool),
    /// No M, or one in a system call: it has no P.
    Outside,
}

/// What a thread does. An M that sleeps does it once one was started, if ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Its G readies another, into its ring.
    Ready,
    /// A G comes into the global queue from outside.
    Submit,
    /// It calls `wakep` for nothing.
    Wakep,
    /// Looks for a G: in its ring, in the global queue, and in the others' rings if it may spin. If there is none it idles its P, looks
    /// again if it is counted, and sleeps.
    Find,
    /// The same, and an M that came back takes the P as soon as it is idle.
    FindAndLose,
    /// It looks, and finds so many Gs elsewhere: one to run, the rest for its ring.
    Finds(u32),
    /// Comes back from a system call: takes an idle P, or is queued, which wakes no M.
    Exitsyscall,
    /// Two others do.
    TwoComeBack,
    /// Asks whether one more may spin.
    MaySpin,
}

/// Where a G was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum From {
    /// In its own ring.
    Own,
    /// In the global queue, of which it takes all.
    Global,
    /// In another ring, of which it takes half.
    Stolen,
    /// In none of them.
    Elsewhere,
}

/// What came of a call, and what the protocol asked of the rest of the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Was {
    /// The M slept, one was started, and it looks.
    Began,
    /// A G was queued.
    Put,
    /// The protocol asked whether a G is queued.
    AnyWork(bool),
    /// It asked, without the lock, whether a P is idle.
    AnyIdle(bool),
    /// It asked for an idle P. Was there one?
    Got(bool),
    /// So many were counted when it asked.
    Counted(usize),
    /// It started an M with that.
    Started,
    /// The M starts to look.
    Spins,
    /// It found a G, and runs it.
    Found(From),
    /// It is to look instead of idling its P.
    Called,
    /// It idled its P.
    Idled,
    /// Another M took that.
    Taken,
    /// It has a P again, and looks.
    Again,
    /// It sleeps.
    Asleep,
    /// It came back. Was a P idle?
    CameBack(bool),
    /// So many are counted; is one more asked for?
    Is(usize, bool),
    /// May one more spin, beside how many? A bit for each size.
    May(u128),
}

/// How it begins.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    /// How many Ps are idle, if an M looks.
    idle: u32,
    /// How many Gs are in the global queue.
    global: u64,
    /// A spinning M is asked for.
    asked: bool,
}

/// Whether an M may spin, of so many Ps, of which so many are idle, and with these bounds: a bit each.
fn table(may: impl Fn(usize, usize, usize) -> bool) -> u128 {
    let sizes = (1..=8).flat_map(|busy| [0, 1].map(|idle| (busy + idle, idle)));
    let all = sizes.flat_map(|(procs, idle)| [0, 1, 2, 3, usize::MAX].map(|at_most| may(procs, idle, at_most)));
    all.fold(0, |bits, may| bits << 1 | u128::from(may))
}

impl Role {
    fn has_p(self) -> bool {
        self != Role::Outside
    }

    fn is_alone(self) -> bool {
        matches!(self, Role::Alone(_))
    }
}

impl Setup {
    fn is_plain(self) -> bool {
        self.idle == 0 && self.global == 0 && !self.asked
    }

    /// How many may spin at once, of those that choose to.
    fn at_most(self) -> usize {
        if self.idle > 0 { 2 } else { 1 }
    }

    /// How many Ps are idle before the first call. Where none looks, no G waits beside one.
    fn idle(self, roles: &[Role]) -> u32 {
        let looks = roles.iter().any(|role| matches!(role, Role::Spinning(_)));
        if looks || self.global == 0 { self.idle } else { 0 }
    }
}

impl Room for Conserved {
    type Setup = Setup;
    type Role = Role;
    type Op = Op;
    type Answer = Vec<Was>;
    type Spec = Known;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "spinning";

    fn setups() -> Vec<Setup> {
        let setup = |(idle, global, asked)| Setup { idle, global, asked };
        [(0, 0, false), (2, 0, false), (0, 2, false), (0, 0, true), (1, 0, true)].map(setup).to_vec()
    }
    fn roles() -> Vec<Role> {
        use Role::{Alone, Outside, Running, Spinning};
        vec![Spinning(0), Spinning(1), Running(0), Running(1), Alone(false), Alone(true), Outside]
    }
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        use Op::{Exitsyscall, Find, FindAndLose, Finds, MaySpin, Ready, Submit, TwoComeBack, Wakep};
        match (role, done.last()) {
            (Role::Alone(_), _) => vec![Ready, Submit, Wakep, Find, FindAndLose, Finds(1), Finds(2), MaySpin],
            (Role::Outside, None) => vec![Submit, Exitsyscall],
            (Role::Spinning(n), None) => vec![Find, Finds(n as u32 + 1)],
            (Role::Running(0), None) => vec![Ready, Wakep, Find, TwoComeBack],
            (Role::Running(_), None) => vec![Ready, Wakep, Find],
            (Role::Running(_), Some(Ready)) => vec![Ready, Find],
            (_, Some(Find | Finds(_) | TwoComeBack)) => vec![Find],
            _ => Vec::new(),
        }
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    /// Threads of a kind come in order.
    fn is_worth_it(roles: &[Role]) -> bool {
        let is_alone = roles.iter().any(|role| role.is_alone()) == (roles.len() == 1);
        let has = |role| roles.contains(&role);
        let are_few = roles.len() < 3 || has(Role::Spinning(0)) && has(Role::Running(0));
        is_in_order(roles, Role::Spinning)
            && is_in_order(roles, Role::Running)
            && is_each_once(roles)
            && is_alone
            && are_few
    }
    fn focuses() -> Vec<Focus<Self>> {
        use Op::{Exitsyscall, Find, Finds, Ready, TwoComeBack};
        use Role::{Outside, Running, Spinning};
        // One that looks finds a G, and runs out, beside one that idles its P or readies more.
        let runs_out = |role, op, _| match role {
            Spinning(0) => matches!(op, Find | Finds(1)),
            _ => role == Running(0) && matches!(op, Find | Ready),
        };
        // A P that is idled is taken, while a G is readied and another P is idled.
        let four = |role, op, _| match role {
            Spinning(n) => n == 0 && op == Find,
            Running(n) => op == if n == 0 { Ready } else { Find },
            _ => role == Outside && op == Exitsyscall,
        };
        // Gs come that no M is woken for, as an M that looked finds one elsewhere, and another idles its P.
        let come_back = |role, op, _| match role {
            Spinning(n) => n == 0 && matches!(op, Find | Finds(1)),
            Running(0) => matches!(op, Find | TwoComeBack),
            _ => role == Running(1) && op == Find,
        };
        let is_played = |program: &Program<Self>| program.setup.is_plain();
        let focus = |lens, has| Focus { is_played, ..Focus::new(lens, has) };
        vec![focus(&[3, 2], runs_out), focus(&[1, 1, 1, 1], four), focus(&[2, 1, 1], come_back)]
    }
}

/// The protocol, and the rest of the scheduler.
pub struct OnHost<H: RoomHost> {
    roles: Vec<Role>,
    room: Spinning<H>,
    /// Of each thread.
    rings: Box<[Ring<H>]>,
    /// Written under the lock.
    global: Atomic<H, u64>,
    /// Written under the lock.
    npidle: Atomic<H, u32>,
    /// How many Ps are idle.
    idle: H::Lock<u32>,
    /// How many Ms were started to look for work and have yet to do so.
    started: Atomic<H, u64>,
    procs: usize,
    at_most: usize,
}

/// A thread.
pub struct Hand {
    me: usize,
    is: Is,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Is {
    /// It has a P, and looks.
    Looks,
    /// It has a P, and runs a G.
    Runs,
    /// It is an M that sleeps.
    Sleeps,
    /// It has no P, and is not asleep.
    Outside,
}

impl Is {
    /// Before the first call.
    fn of(role: Role) -> Is {
        match role {
            Role::Spinning(_) => Is::Looks,
            Role::Running(_) | Role::Alone(_) => Is::Runs,
            Role::Outside => Is::Outside,
        }
    }
}

impl<H: RoomHost> Real<Conserved, H> for OnHost<H> {
    type Hand = Hand;
    fn new(setup: Setup, roles: &[Role]) -> Self {
        let idle = setup.idle(roles);
        let room = Spinning::new();
        let looks = roles.iter().filter(|role| matches!(role, Role::Spinning(_)));
        looks.for_each(|_| room.become_spinning().discard());
        if setup.asked {
            room.set_needspinning();
        }
        OnHost {
            roles: roles.to_vec(),
            room,
            rings: roles.iter().map(|_| Ring::new()).collect(),
            global: Atomic::new(setup.global),
            npidle: Atomic::new(idle),
            idle: H::Lock::new(idle),
            started: Atomic::new(0),
            at_most: setup.at_most(),
            procs: idle as usize + roles.iter().filter(|role| role.has_p()).count(),
        }
    }
    fn hand(&self, role: Role) -> Hand {
        let me = self.roles.iter().position(|other| *other == role).expect("it is one of them");
        Hand { me, is: Is::of(role) }
    }
    fn begin<'a>(&'a self, hand: &'a mut Hand, op: Op, _: &Maker<H>) -> Begun<'a, H, Vec<Was>> {
        let others = Others::new(self);
        if hand.is == Is::Sleeps && others.begins() {
            others.says(Was::Began);
            hand.is = Is::Looks;
        }
        match (hand.is, op) {
            (Is::Runs, Op::Ready) => {
                others.puts(hand.me, 1);
                self.room.wakep(&others);
            }
            (Is::Runs | Is::Outside, Op::Submit) => others.submits(),
            (Is::Runs, Op::Wakep) => self.room.wakep(&others),
            (Is::Runs | Is::Looks, Op::Find | Op::FindAndLose) => others.finds_runnable(hand, op == Op::FindAndLose),
            (Is::Looks, Op::Finds(n)) => {
                if n > 1 {
                    others.puts(hand.me, u64::from(n - 1));
                }
                others.found(hand, From::Elsewhere);
            }
            (Is::Outside, Op::Exitsyscall) => hand.is = if others.comes_back() { Is::Runs } else { hand.is },
            (_, Op::MaySpin) => {
                others.says(Was::May(table(|procs, npidle, at_most| self.room.may_spin(procs, npidle, at_most))));
            }
            (_, Op::TwoComeBack) => (0..2).for_each(|_| _ = others.comes_back()),
            _ => {}
        }
        if self.is_alone() {
            others.says(Was::Is(self.room.count(), self.room.is_needspinning()));
        }
        Begun::Over(others.into_was())
    }
}
