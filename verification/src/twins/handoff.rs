//! The handoff room and its wrong twins. A twin is the room, but for one function; or what it asks its neighbours for
//! under the lock, but for one line.

use spinpark::host::Host;
use spinpark::kernel::handoff::{self, Neighbours};
use spinpark::kernel::m::Seeking;
use spinpark::kernel::p::OwnedP;
use spinpark::kernel::sources::Source;
use spinpark::kernel::spinning::Spinning;
use std::marker::PhantomData;

/// What becomes of a P that is handed on, decided under the lock.
#[derive(Debug)]
pub enum Fate {
    /// It is held, for a stop.
    Held,
    /// An M runs it.
    Run(Option<Seeking>),
    /// It is idle.
    Idle,
}

/// The room's functions, the right ones unless a twin says otherwise.
pub trait Handing: Send + Sync + Sized + 'static {
    /// See [`handoffp`](handoff::handoffp).
    fn handoffp(p: OwnedP, sources: &[Source], others: &impl Neighbours) {
        handoff::handoffp(p, sources, others);
    }
    /// See [`settle`](Neighbours::settle), in src/kernel/neighbours.rs.
    fn settle<H: Host>(room: &Spinning<H>, is_stopping: bool, has_work: impl FnOnce() -> bool) -> Fate {
        if is_stopping {
            return Fate::Held;
        }
        if has_work() {
            return Fate::Run(None);
        }
        room.called_upon().map_or(Fate::Idle, |seeking| Fate::Run(Some(seeking)))
    }
}

/// The room as it is.
pub struct Right;
impl Handing for Right {}

/// Go's `handoffp`: the P is idled without a look whether a seeker was asked for.
pub struct IgnoresTheCall;
impl Handing for IgnoresTheCall {
    fn settle<H: Host>(_room: &Spinning<H>, is_stopping: bool, has_work: impl FnOnce() -> bool) -> Fate {
        match is_stopping {
            true => Fate::Held,
            false if has_work() => Fate::Run(None),
            false => Fate::Idle,
        }
    }
}

/// The queues are not looked at again under the lock.
pub struct SkipsTheGlobalQueue;
impl Handing for SkipsTheGlobalQueue {
    fn settle<H: Host>(room: &Spinning<H>, is_stopping: bool, _has_work: impl FnOnce() -> bool) -> Fate {
        Right::settle(room, is_stopping, || false)
    }
}

/// Nothing is looked at again under the lock.
pub struct IdlesAtOnce;
impl Handing for IdlesAtOnce {
    fn settle<H: Host>(_room: &Spinning<H>, is_stopping: bool, _has_work: impl FnOnce() -> bool) -> Fate {
        if is_stopping { Fate::Held } else { Fate::Idle }
    }
}

/// Nobody looks and no P is idle, and still this P is not sent to look.
pub struct NoSeeker;
impl Handing for NoSeeker {
    fn handoffp(p: OwnedP, sources: &[Source], others: &impl Neighbours) {
        handoff::handoffp(p, sources, &ElectsNobody(others));
    }
}

/// The P is idled although somebody stops the world.
pub struct ForgetsTheStop;
impl Handing for ForgetsTheStop {
    fn settle<H: Host>(room: &Spinning<H>, _is_stopping: bool, has_work: impl FnOnce() -> bool) -> Fate {
        Right::settle(room, false, has_work)
    }
}

/// Neighbours that give nobody the right to look for work.
struct ElectsNobody<'a, N>(&'a N);

impl<N: Neighbours> Neighbours for ElectsNobody<'_, N> {
    fn has_work(&self, p: &OwnedP, source: Source) -> bool {
        self.0.has_work(p, source)
    }
    fn elect(&self) -> Option<Seeking> {
        None
    }
    fn settle(&self, p: OwnedP) -> Option<(OwnedP, Option<Seeking>)> {
        self.0.settle(p)
    }
    fn startm(&self, p: OwnedP, seeking: Option<Seeking>) {
        self.0.startm(p, seeking);
    }
}

/// A scene, to be played with the right room or with a twin.
pub trait Scene<H> {
    /// Plays it once; returns how it ended.
    fn play<D: Handing>() -> String;
}

/// Plays `S` with the twin that is asked for on this thread, or with the room as it is.
pub fn play<H, S: Scene<H>>(_: PhantomData<(H, S)>) -> String {
    match crate::mutant::twin() {
        None => S::play::<Right>(),
        Some("ignores-the-call") => S::play::<IgnoresTheCall>(),
        Some("skips-the-global-queue") => S::play::<SkipsTheGlobalQueue>(),
        Some("idles-at-once") => S::play::<IdlesAtOnce>(),
        Some("no-seeker") => S::play::<NoSeeker>(),
        Some("forgets-the-stop") => S::play::<ForgetsTheStop>(),
        Some(other) => panic!("handoff has no twin `{other}`"),
    }
}
