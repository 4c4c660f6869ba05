//! Which Ms look for work while Gs are queued, Ps are idled, and Ms come back from system calls.
//!
//! Invariants 11, 14, 30 and 31: when all have come to rest, and a G waits and a P is idle, an M looks, or was started to look; and each M
//! that looks is counted.
//!
//! Beside the protocol are queues that only count, idle Ps that are a number, and Ms that are started by a count. No M really sleeps: one
//! that does is at rest, and looks in a later call if one was started by then.
//!
//! All programs of 2, 1 and 1 operations take some minutes: a focus has those that matter.

mod spec;

use crate::host::RoomHost;
use crate::others::Others;
use crate::program::Program;
use crate::room::{Begun, Focus, Real, Room, Waiting};
use crate::values::Maker;
use kernel::atomic::Atomic;
use kernel::host::Lock as _;
use kernel::protocol::spinning::{Neighbours, Spinning};
use kernel::types::m::SpinningToken;
use spec::Known;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

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
        let place = |role| roles.iter().position(|other| *other == role);
        let comes_after =
            |kind: fn(usize) -> Role| place(kind(1)).is_none_or(|at| place(kind(0)).is_some_and(|first| first < at));
        let is_once = |role: &Role| roles.iter().filter(|other| *other == role).count() == 1;
        let is_alone = roles.iter().any(|role| role.is_alone()) == (roles.len() == 1);
        let has = |role| roles.contains(&role);
        let are_few = roles.len() < 3 || has(Role::Spinning(0)) && has(Role::Running(0));
        [Role::Spinning, Role::Running].into_iter().all(comes_after) && roles.iter().all(is_once) && is_alone && are_few
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

/// A P's queue.
struct Ring<H: RoomHost> {
    /// How many were put: by its owner alone, and by a plain store.
    put: Atomic<H, u64>,
    /// How many were taken, by any thread.
    taken: Atomic<H, u64>,
}

impl<H: RoomHost> Ring<H> {
    fn put(&self, n: u64) {
        // Relaxed: only the owner writes it.
        let before = self.put.load(Relaxed);
        // Release: as the ring's `publish`.
        self.put.store(before + n, Release);
    }

    fn take(&self, of: fn(u64) -> u64) -> u64 {
        loop {
            // Relaxed: the exchange has to find it unchanged.
            let head = self.taken.load(Relaxed);
            // Relaxed: what is taken has no data.
            let n = of(self.put.load(Relaxed).saturating_sub(head));
            // AcqRel: as the ring's `consume`.
            if n == 0 || self.taken.compare_exchange(head, head + n, AcqRel, Relaxed).is_ok() {
                return n;
            }
        }
    }

    fn is_empty(&self) -> bool {
        // Relaxed: the protocol's fences have to do. In this order, so that no more seem taken than were put.
        let head = self.taken.load(Relaxed);
        // Relaxed: as above.
        self.put.load(Relaxed) <= head
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

/// An idle P, taken.
pub struct IdleP;

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

type Party<'a, H> = Others<'a, OnHost<H>, Was>;

impl<H: RoomHost> Neighbours for Party<'_, H> {
    type IdleP = IdleP;

    fn any_work(&self) -> bool {
        let is_misled = self.on.roles == [Role::Alone(true)];
        let is_any = is_misled || self.on.globals() > 0 || self.on.rings.iter().any(|ring| !ring.is_empty());
        self.says(Was::AnyWork(is_any));
        is_any
    }
    fn is_any_p_idle(&self) -> bool {
        // Relaxed: as the kernel's.
        let is_any = self.on.npidle.load(Relaxed) > 0;
        self.says(Was::AnyIdle(is_any));
        is_any
    }
    fn pidleget(&self, or_else: impl FnOnce()) -> Option<IdleP> {
        self.on.idle.with(|idle| {
            let p = self.takes_p(idle);
            if p.is_none() {
                or_else();
            }
            p
        })
    }
    fn startm(&self, IdleP: IdleP, token: SpinningToken) {
        token.discard();
        // AcqRel: as a `nextp`.
        self.on.started.fetch_add(1, AcqRel);
        self.says(Was::Started);
    }
}

impl<H: RoomHost> OnHost<H> {
    fn is_alone(&self) -> bool {
        self.roles[0].is_alone()
    }

    fn globals(&self) -> u64 {
        // Acquire: as the kernel's `global_len`.
        self.global.load(Acquire)
    }

    /// Under the lock.
    fn idle_ps_are(&self, idle: &mut u32, n: u32) {
        *idle = n;
        // Relaxed: as the kernel's.
        self.npidle.store(n, Relaxed);
    }
}

impl<H: RoomHost> Party<'_, H> {
    fn takes_p(&self, idle: &mut u32) -> Option<IdleP> {
        if self.on.is_alone() {
            self.says(Was::Counted(self.on.room.count()));
        }
        let left = idle.checked_sub(1);
        left.into_iter().for_each(|left| self.on.idle_ps_are(idle, left));
        self.says(Was::Got(left.is_some()));
        left.map(|_| IdleP)
    }

    /// Under the lock.
    fn puts_global(&self) {
        // Release: as the kernel's.
        self.on.global.store(self.on.globals() + 1, Release);
    }

    fn puts(&self, me: usize, n: u64) {
        self.on.rings[me].put(n);
        (0..n).for_each(|_| self.says(Was::Put));
    }

    /// As `Sched::queue_and_wakep`.
    fn submits(&self) {
        let (has_asked, started) = self.on.idle.with(|idle| {
            self.puts_global();
            self.says(Was::Put);
            let is_any = *idle > 0;
            (is_any, is_any.then(|| self.on.room.wakep_under(|| self.takes_p(idle))).flatten())
        });
        match started {
            Some((p, token)) => self.startm(p, token),
            None if has_asked => {}
            None => self.on.room.wakep(self),
        }
    }

    /// Under the lock: takes all of the global queue, one to run, the rest for its ring.
    fn takes_share(&self, me: usize) -> bool {
        let Some(rest) = self.on.globals().checked_sub(1) else { return false };
        if rest > 0 {
            self.on.rings[me].put(rest);
        }
        // Release: as the kernel's.
        self.on.global.store(0, Release);
        true
    }

    /// An M that was started begins to look. Is there one?
    fn begins(&self) -> bool {
        // Relaxed: the exchange acquires.
        let mut n = self.on.started.load(Relaxed);
        while n > 0 {
            // AcqRel: as a `nextp`.
            match self.on.started.compare_exchange(n, n - 1, AcqRel, Relaxed) {
                Ok(_) => return true,
                Err(found) => n = found,
            }
        }
        false
    }

    fn found(&self, hand: &mut Hand, from: From) {
        self.says(Was::Found(from));
        if hand.is == Is::Looks {
            self.on.room.found_work(SpinningToken::forge(), self);
        }
        hand.is = Is::Runs;
    }

    /// As the first part of `find_runnable`.
    fn searches(&self, hand: &mut Hand) -> Option<From> {
        let on = self.on;
        if on.rings[hand.me].take(|waiting| waiting.min(1)) > 0 {
            return Some(From::Own);
        }
        if on.globals() > 0 && on.idle.with(|_| self.takes_share(hand.me)) {
            return Some(From::Global);
        }
        // Relaxed: a hint.
        let npidle = on.npidle.load(Relaxed) as usize;
        if hand.is == Is::Runs && on.room.may_spin(on.procs, npidle, on.at_most) {
            on.room.become_spinning().discard();
            hand.is = Is::Looks;
            self.says(Was::Spins);
        }
        if hand.is != Is::Looks {
            return None;
        }
        let others = (0..on.rings.len()).filter(|victim| *victim != hand.me);
        let stolen = others.map(|victim| on.rings[victim].take(|waiting| waiting.div_ceil(2))).find(|n| *n > 0)?;
        if stolen > 1 {
            on.rings[hand.me].put(stolen - 1);
        }
        Some(From::Stolen)
    }

    /// As `find_runnable`, once.
    fn finds_runnable(&self, hand: &mut Hand, loses: bool) {
        if let Some(from) = self.searches(hand) {
            return self.found(hand, from);
        }
        let on = self.on;
        let kept = on.idle.with(|idle| {
            if self.takes_share(hand.me) {
                return Some(Was::Found(From::Global));
            }
            if hand.is == Is::Runs
                && let Some(token) = on.room.must_recheck(*idle > 0)
            {
                token.discard();
                return Some(Was::Called);
            }
            on.idle_ps_are(idle, *idle + u32::from(!loses));
            None
        });
        match kept {
            Some(Was::Found(from)) => return self.found(hand, from),
            Some(called) => {
                self.says(called);
                hand.is = Is::Looks;
                return;
            }
            None => self.says(Was::Idled),
        }
        if loses {
            self.says(Was::Taken);
        }
        let token = (hand.is == Is::Looks).then(SpinningToken::forge);
        let again = token.and_then(|token| on.room.retire(token, self)).map(|(IdleP, token)| token.discard());
        hand.is = if again.is_some() { Is::Looks } else { Is::Sleeps };
        self.says(if again.is_some() { Was::Again } else { Was::Asleep });
    }

    /// Is there an idle P for a G that comes back?
    fn comes_back(&self) -> bool {
        let has_p = self.on.idle.with(|idle| {
            let left = idle.checked_sub(1);
            match left {
                Some(left) => self.on.idle_ps_are(idle, left),
                None => self.puts_global(),
            }
            left.is_some()
        });
        self.says(Was::CameBack(has_p));
        has_p
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
            rings: roles.iter().map(|_| Ring { put: Atomic::new(0), taken: Atomic::new(0) }).collect(),
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
