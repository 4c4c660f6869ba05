//! The handoff room and its wrong variants. A variant is the room, but for one function; or what it asks its neighbours for
//! under the lock, but for one line.

use spinpark_kernel::host::Host;
use spinpark_kernel::protocol::handoff::{self, Neighbours};
use spinpark_kernel::protocol::sources::Source;
use spinpark_kernel::protocol::spinning::Spinning;
use spinpark_kernel::types::m::SpinningToken;
use spinpark_kernel::types::p::OwnedP;

/// What becomes of a P that is handed on, decided under the lock.
#[derive(Debug)]
pub enum Fate {
    /// It is held, for a stop.
    Held,
    /// An M runs it.
    Run(Option<SpinningToken>),
    /// It is idle.
    Idle,
}

/// What a P's fate depends on, under the lock.
pub struct Ask<'a, H: Host, W> {
    /// The real room.
    pub room: &'a Spinning<H>,
    /// Is the world being stopped?
    pub is_stopping: bool,
    /// Is another P idle?
    pub is_another_idle: bool,
    /// Is there work in the queues after all?
    pub has_work: W,
}

/// The room's functions, the right ones unless a variant says otherwise.
pub trait Handing: Send + Sync + Sized + 'static {
    /// See [`handoffp`](handoff::handoffp). The right one elects under the lock only, never by `elect`.
    fn handoffp(
        p: OwnedP,
        sources: &[Source],
        others: &impl Neighbours,
        _elect: impl FnOnce() -> Option<SpinningToken>,
    ) {
        handoff::handoffp(p, sources, others);
    }
    /// See [`settle`](Neighbours::settle), in src/kernel/src/sched/handoff.rs.
    fn settle<H: Host, W: FnOnce() -> bool>(ask: Ask<'_, H, W>) -> Fate {
        if ask.is_stopping {
            return Fate::Held;
        }
        if (ask.has_work)() {
            return Fate::Run(None);
        }
        ask.room.must_recheck(ask.is_another_idle).map_or(Fate::Idle, |token| Fate::Run(Some(token)))
    }
}

/// The room as it is.
pub struct Right;
impl Handing for Right {}

/// Go's `handoffp`: whether an M looks is asked before the lock, and under it not whether a spinning M was asked for.
pub struct IgnoresTheCall;
impl Handing for IgnoresTheCall {
    fn handoffp(
        p: OwnedP,
        sources: &[Source],
        others: &impl Neighbours,
        elect: impl FnOnce() -> Option<SpinningToken>,
    ) {
        ElectsOutsideTheLock::handoffp(p, sources, others, elect);
    }
    fn settle<H: Host, W: FnOnce() -> bool>(ask: Ask<'_, H, W>) -> Fate {
        match ask.is_stopping {
            true => Fate::Held,
            false if (ask.has_work)() => Fate::Run(None),
            false => Fate::Idle,
        }
    }
}

/// Nothing is looked at again under the lock.
pub struct IdlesAtOnce;
impl Handing for IdlesAtOnce {
    fn settle<H: Host, W: FnOnce() -> bool>(ask: Ask<'_, H, W>) -> Fate {
        if ask.is_stopping { Fate::Held } else { Fate::Idle }
    }
}

/// No M looks and no P is idle, and still this P is not sent to look.
pub struct NoSpinningM;
impl Handing for NoSpinningM {
    fn settle<H: Host, W: FnOnce() -> bool>(ask: Ask<'_, H, W>) -> Fate {
        Right::settle(Ask { is_another_idle: true, ..ask })
    }
}

/// Go's order: whether an M looks, or another P is idle, is asked before the lock is taken, and not again. An M that
/// comes back from a system call takes that P, and looks for nothing.
pub struct ElectsOutsideTheLock;
impl Handing for ElectsOutsideTheLock {
    fn handoffp(
        p: OwnedP,
        sources: &[Source],
        others: &impl Neighbours,
        elect: impl FnOnce() -> Option<SpinningToken>,
    ) {
        if sources.iter().any(|&source| others.has_work(&p, source)) {
            return others.startm(p, None);
        }
        if let Some(token) = elect() {
            return others.startm(p, Some(token));
        }
        handoff::handoffp(p, &[], others);
    }
    fn settle<H: Host, W: FnOnce() -> bool>(ask: Ask<'_, H, W>) -> Fate {
        NoSpinningM::settle(ask)
    }
}

/// The P is idled although the world is being stopped.
pub struct ForgetsTheStop;
impl Handing for ForgetsTheStop {
    fn settle<H: Host, W: FnOnce() -> bool>(ask: Ask<'_, H, W>) -> Fate {
        if ask.is_stopping { Fate::Idle } else { Right::settle(ask) }
    }
}

super::variants! {
    "handoff", Handing, right: Right,
    "ignores-the-call" => IgnoresTheCall,
    "idles-at-once" => IdlesAtOnce,
    "no-spinning-m" => NoSpinningM,
    "elects-outside-the-lock" => ElectsOutsideTheLock,
    "forgets-the-stop" => ForgetsTheStop,
}
