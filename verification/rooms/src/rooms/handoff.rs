//! How a P that its M cannot use is handed to another M, idled, or held for a stop, while other Ms queue Gs with a wake or without.
//!
//! Invariants 4, 11, 14, 16, 30 and 31: each P goes to one place, and with the count that is its M's; while the world is to stop none is
//! idled; and when all have come to rest, no G waits beside an idle P, unless an M was started.
//!
//! Beside `handoffp` are the kernel's own `Spinning`, `Wanted`, `WorldState`, idle list and global queue; a P's ring is a number.

mod spec;

use crate::host::RoomHost;
use crate::others::Others;
use crate::room::{Begun, Focus, Real, Room, Waiting, is_each_once, is_in_order};
use crate::values::Maker;
use kernel::atomic::Atomic;
use kernel::host::Lock as _;
use kernel::protocol::handoff::{self, handoffp};
use kernel::protocol::sources::{SearchOrder, Source};
use kernel::protocol::spinning::{self, Spinning};
use kernel::protocol::stw::WorldState;
use kernel::protocol::stw::wanted::{Want, Wanted};
use kernel::queues::globq::{GlobQueue, Len};
use kernel::queues::idle::{IdleMask, IdlePs};
use kernel::types::m::SpinningToken;
use kernel::types::p::{OwnedP, PId};
use spec::Known;
use std::sync::atomic::Ordering::{Relaxed, Release};

/// The room.
#[derive(Debug)]
pub struct HandedOff;

/// How it begins. P0 and P1 are in use.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    /// So many other Ps are idle.
    idle: u32,
    /// So many Gs are in the global queue: of Ms that came back from system calls, and woke no M.
    queued: u64,
    /// Each M is asked to attend to a safepoint.
    safepoint: bool,
}

/// What a thread is. Of each there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// An M that has P0, whose ring is empty.
    First,
    /// An M that has P1, and Gs in its ring.
    Owner,
    /// The same, with no thread beside it: it may look.
    Alone,
    /// Ms without a P, one after the other.
    Others(usize),
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Its G is about to block: it hands its P off.
    Handoffp,
    /// An M comes back from a system call: takes an idle P, or queues its G, which wakes no M.
    Exitsyscall,
    /// Puts a G into its own ring, and wakes an M.
    Ready,
    /// Has nothing in its ring: takes what is in the global queue, one to run, the rest into the ring, which wakes no M.
    TakeBatch,
    /// Puts a G into the global queue, and wakes an M.
    Submit,
    /// Wakes an M for nothing.
    Wakep,
    /// Begins to stop the world.
    Stop,
    /// Looks at everything.
    Look,
}

/// What was asked of the rest of the scheduler, and what it answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Was {
    /// Is there a G in this source?
    Asked(Source, bool),
    /// The P is held for a stop.
    Held,
    /// It is idle.
    Idled,
    /// It comes back. Is its M counted as spinning?
    Back(bool),
    /// An M runs this P. Is it counted as spinning?
    Started(u32, bool),
    /// This P was idle.
    Took(u32),
    /// No P is idle.
    NoP,
    /// So many Gs.
    Gs(usize),
}

/// What a call returns.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Answer {
    /// What came of it, in order.
    Gave(Vec<Was>),
    /// What there is.
    Is(Table),
}

/// What there is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Table {
    queued: usize,
    idle: usize,
    held: usize,
    is_stopping: bool,
    /// A spinning M is asked for.
    asked: bool,
    /// So many Ms are counted as spinning.
    spinning: usize,
}

/// Where an M that hands its P off looks for a G.
const SOURCES: &[Source] = SearchOrder::GlobalFirst.sources();

/// Which P a thread has at first.
fn p_of(role: Role) -> Option<u32> {
    match role {
        Role::First => Some(0),
        Role::Owner | Role::Alone => Some(1),
        Role::Others(_) => None,
    }
}

impl Room for HandedOff {
    type Setup = Setup;
    type Role = Role;
    type Op = Op;
    type Answer = Answer;
    type Spec = Known;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "handoff";

    fn setups() -> Vec<Setup> {
        let setup = |(idle, queued, safepoint)| Setup { idle, queued, safepoint };
        [(0, 0, false), (1, 0, false), (0, 1, false), (0, 1, true)].map(setup).to_vec()
    }
    fn roles() -> Vec<Role> {
        vec![Role::First, Role::Owner, Role::Alone, Role::Others(0), Role::Others(1)]
    }
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        let has_p = |has: bool, op: &Op| *op == Op::Exitsyscall || has && *op != Op::Handoffp;
        let is_first_p = !done.contains(&Op::Handoffp);
        let ops: &[Op] = match role {
            Role::First if is_first_p => &[Op::Submit],
            Role::Owner if is_first_p => &[Op::Ready, Op::TakeBatch],
            Role::Alone if is_first_p => &[Op::Ready, Op::TakeBatch, Op::Submit, Op::Wakep, Op::Stop, Op::Look],
            Role::Alone => &[Op::Exitsyscall, Op::Submit, Op::Wakep, Op::Stop, Op::Look],
            _ => &[Op::Exitsyscall, Op::Submit, Op::Wakep, Op::Stop],
        };
        let hands_off = done.iter().fold(p_of(role).is_some(), has_p).then_some(Op::Handoffp);
        ops.iter().copied().chain(hands_off).collect()
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    /// Others come in order, and beside an M that has a P: of three, P0.
    fn is_worth_it(roles: &[Role]) -> bool {
        let has = |role| roles.contains(&role);
        let are_in_order = is_in_order(roles, Role::Others);
        let is_any = has(Role::First) || roles.len() < 3 && (has(Role::Owner) || has(Role::Alone));
        is_each_once(roles) && are_in_order && is_any && (roles.len() == 1 || !has(Role::Alone))
    }
    fn focuses() -> Vec<Focus<Self>> {
        // Several Ms come back, and their Gs go into another P's ring.
        let has = |role, op, _| match role {
            Role::First => op == Op::Handoffp,
            Role::Owner => op == Op::TakeBatch,
            _ => op == Op::Exitsyscall,
        };
        vec![Focus::new(&[3, 1, 1], has)]
    }
}

/// What is under the lock.
pub struct Central<H: RoomHost> {
    global: GlobQueue,
    idle: IdlePs,
    world: WorldState<H>,
}

/// The rest of the scheduler.
pub struct OnHost<H: RoomHost> {
    spinning: Spinning<H>,
    wanted: Wanted<H>,
    mask: IdleMask<H>,
    queued: Len<H>,
    /// How many Gs are in the ring of P1. Only its owner adds to it.
    ring: Atomic<H, u64>,
    central: H::Lock<Central<H>>,
}

/// An M, or what the last of several has.
pub struct Hand {
    p: Option<u32>,
    /// How many Gs are in its ring.
    in_ring: u64,
}

impl<H: RoomHost> Others<'_, OnHost<H>, Was> {
    fn starts(&self, p: OwnedP, token: Option<SpinningToken>) {
        self.says(Was::Started(p.discard().0, token.map(SpinningToken::discard).is_some()));
    }
}

impl<H: RoomHost> handoff::Neighbours for Others<'_, OnHost<H>, Was> {
    fn has_work(&self, p: &OwnedP, source: Source) -> bool {
        let has_work = !self.on.wanted.any() && self.on.has_any(p, source);
        self.says(Was::Asked(source, has_work));
        has_work
    }
    fn settle(&self, p: OwnedP) -> Option<(OwnedP, Option<SpinningToken>)> {
        let on = self.on;
        let (was, back) = on.central.with(|c| {
            if c.world.is_stopping() {
                drop(c.world.hold(p));
                return (Was::Held, None);
            }
            if SOURCES.iter().any(|&source| on.has_any(&p, source)) {
                return (Was::Back(false), Some((p, None)));
            }
            match on.spinning.must_recheck(!c.idle.is_empty()) {
                Some(token) => (Was::Back(true), Some((p, Some(token)))),
                None => {
                    c.idle.put(p, &on.mask);
                    (Was::Idled, None)
                }
            }
        });
        self.says(was);
        back
    }
    fn startm(&self, p: OwnedP, token: Option<SpinningToken>) {
        self.starts(p, token);
    }
}

impl<H: RoomHost> spinning::Neighbours for Others<'_, OnHost<H>, Was> {
    type IdleP = OwnedP;

    fn any_work(&self) -> bool {
        unreachable!("an M that was started is not played")
    }
    fn is_any_p_idle(&self) -> bool {
        self.on.mask.npidle() > 0
    }
    fn pidleget(&self, or_else: impl FnOnce()) -> Option<OwnedP> {
        let p = self.on.central.with(|c| {
            let p = c.idle.get(&self.on.mask);
            if p.is_none() {
                or_else();
            }
            p
        });
        self.says(p.as_ref().map_or(Was::NoP, |p| Was::Took(p.id().0)));
        p
    }
    fn startm(&self, p: OwnedP, token: SpinningToken) {
        self.starts(p, Some(token));
    }
}

impl<H: RoomHost> OnHost<H> {
    /// Other Ps' rings are left to spinning Ms.
    fn has_any(&self, p: &OwnedP, source: Source) -> bool {
        match source {
            Source::GlobalTurn | Source::Global => self.queued.peek() > 0,
            // Relaxed: asked by the ring's owner.
            Source::Local => p.id() == PId(1) && self.ring.load(Relaxed) > 0,
            Source::Extra | Source::Steal => false,
        }
    }

    /// Under the lock, and no M is woken.
    fn changes(&self, c: &mut Central<H>, hand: &mut Hand, op: Op) -> Option<Was> {
        match op {
            Op::Exitsyscall => {
                let p = c.idle.get(&self.mask).map(OwnedP::discard);
                match p {
                    Some(p) => hand.p = Some(p.0),
                    None => c.global.put(super::runq::g(1), &self.queued),
                }
                Some(p.map_or(Was::NoP, |p| Was::Took(p.0)))
            }
            Op::TakeBatch if hand.in_ring == 0 => {
                let rest = |gs: &mut dyn Iterator<Item = _>| {
                    hand.in_ring = gs.count() as u64;
                    // Release: as the ring's `publish`.
                    self.ring.store(hand.in_ring, Release);
                };
                let first = c.global.get_batch(1, usize::MAX, &self.queued, rest);
                Some(Was::Gs(hand.in_ring as usize + usize::from(first.is_some())))
            }
            Op::Submit => {
                c.global.put(super::runq::g(1), &self.queued);
                None
            }
            Op::Stop if !c.world.is_stopping() => {
                c.world.begin_stop();
                self.wanted.ask(Want::Stop);
                std::iter::from_fn(|| c.idle.get(&self.mask)).for_each(|p| drop(c.world.hold(p)));
                None
            }
            _ => None,
        }
    }

    fn looks(&self) -> Table {
        self.central.with(|c| Table {
            queued: c.global.len(),
            idle: c.idle.len(),
            held: c.world.held(),
            is_stopping: c.world.is_stopping(),
            asked: self.spinning.is_needspinning(),
            spinning: self.spinning.count(),
        })
    }
}

impl<H: RoomHost> Real<HandedOff, H> for OnHost<H> {
    type Hand = Hand;
    fn new(Setup { idle, queued, safepoint }: Setup, _: &[Role]) -> Self {
        let procs = 2 + idle as usize;
        let (wanted, mask, len) = (Wanted::new(), IdleMask::new(procs), Len::new());
        let mut c =
            Central { global: GlobQueue::default(), idle: IdlePs::default(), world: WorldState::<H>::new(procs) };
        (2..2 + idle).for_each(|p| c.idle.put(OwnedP::forge(PId(p)), &mask));
        (0..queued).for_each(|_| c.global.put(super::runq::g(1), &len));
        if safepoint {
            wanted.ask(Want::Safepoint);
        }
        let (spinning, ring, central) = (Spinning::new(), Atomic::new(0), H::Lock::new(c));
        OnHost { spinning, wanted, mask, queued: len, ring, central }
    }
    fn hand(&self, role: Role) -> Hand {
        Hand { p: p_of(role), in_ring: 0 }
    }
    fn begin<'a>(&'a self, hand: &'a mut Hand, op: Op, _: &Maker<H>) -> Begun<'a, H, Answer> {
        let others = Others::new(self);
        match op {
            Op::Look => return Begun::Over(Answer::Is(self.looks())),
            Op::Handoffp => {
                let p = hand.p.take().map(|p| OwnedP::forge(PId(p)));
                p.into_iter().for_each(|p| handoffp(p, SOURCES, &others));
            }
            Op::Ready => {
                hand.in_ring += 1;
                // Release: as the ring's `publish`.
                self.ring.store(hand.in_ring, Release);
            }
            Op::Wakep => {}
            _ => self.central.with(|c| self.changes(c, hand, op)).into_iter().for_each(|was| others.says(was)),
        }
        if matches!(op, Op::Ready | Op::Submit | Op::Wakep) {
            self.spinning.wakep(&others);
        }
        Begun::Over(Answer::Gave(others.into_was()))
    }
}
