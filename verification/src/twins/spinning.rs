//! The spinning room and its wrong twins. A twin is the room, but for one function.

use spinpark::atomic::store_load;
use spinpark::host::Host;
use spinpark::kernel::protocol::spinning::{Neighbours, Spinning};
use spinpark::kernel::types::m::Seeking;

/// The room's functions, the right ones unless a twin says otherwise.
pub trait Dance: Send + Sync + Sized + 'static {
    /// See [`Spinning::wakep`].
    fn wakep<H: Host>(room: &Spinning<H>, others: &impl Neighbours) {
        room.wakep(others);
    }
    /// See [`Spinning::found_work`].
    fn found_work<H: Host>(room: &Spinning<H>, seeking: Seeking, others: &impl Neighbours) {
        room.found_work(seeking, others);
    }
    /// See [`Spinning::retire`].
    fn retire<H: Host, N: Neighbours>(room: &Spinning<H>, seeking: Seeking, others: &N) -> Option<(N::IdleP, Seeking)> {
        room.retire(seeking, others)
    }
    /// See [`Spinning::turns_back`].
    fn turns_back<H: Host>(room: &Spinning<H>, is_another_idle: bool) -> Option<Seeking> {
        room.turns_back(is_another_idle)
    }
}

/// The room as it is.
pub struct Right;
impl Dance for Right {}

/// Looks at the queues, then leaves `nmspinning`: the classic mistake.
pub struct LooksBeforeItLeaves;
impl Dance for LooksBeforeItLeaves {
    fn retire<H: Host, N: Neighbours>(room: &Spinning<H>, seeking: Seeking, others: &N) -> Option<(N::IdleP, Seeking)> {
        let any_work = others.any_work();
        room.give_up(seeking);
        store_load::<H>();
        if !any_work {
            return None;
        }
        others.pidleget(|| room.ask_for_seeker()).map(|p| (p, room.become_spinning()))
    }
}

/// The last seeker finds work and wakes nobody (golang/go: `resetspinning` without `wakep`).
pub struct DropsTheBaton;
impl Dance for DropsTheBaton {
    fn found_work<H: Host>(room: &Spinning<H>, seeking: Seeking, _others: &impl Neighbours) {
        room.give_up(seeking);
    }
}

/// A seeker that sees others counted leaves the second look to them, and they leave it to it.
pub struct OnlyTheLastLooks;
impl Dance for OnlyTheLastLooks {
    fn retire<H: Host, N: Neighbours>(room: &Spinning<H>, seeking: Seeking, others: &N) -> Option<(N::IdleP, Seeking)> {
        if room.count() > 1 {
            room.give_up(seeking);
            return None;
        }
        room.retire(seeking, others)
    }
}

/// A submitter that finds no idle P does not say so (golang/go #45867), and nobody else would notice.
pub struct WakepDoesNotAsk;
impl Dance for WakepDoesNotAsk {
    fn wakep<H: Host>(room: &Spinning<H>, others: &impl Neighbours) {
        store_load::<H>();
        if room.count() > 0 {
            return;
        }
        if let Some(p) = others.pidleget(|| ()) {
            others.startm(p, room.become_spinning());
        }
    }
    /// As Go's: an M that idles its P looks at requests only. (It would see for itself that nobody looks.)
    fn turns_back<H: Host>(room: &Spinning<H>, is_another_idle: bool) -> Option<Seeking> {
        LeavesItToNobody::turns_back(room, is_another_idle)
    }
}

/// A seeker that sees work but finds no idle P does not say so (golang/go #45867), and nobody else would notice.
pub struct RetireDoesNotAsk;
impl Dance for RetireDoesNotAsk {
    fn retire<H: Host, N: Neighbours>(room: &Spinning<H>, seeking: Seeking, others: &N) -> Option<(N::IdleP, Seeking)> {
        room.retire(seeking, &Mute(others))
    }
    /// As Go's: an M that idles its P looks at requests only. (It would see for itself that nobody looks.)
    fn turns_back<H: Host>(room: &Spinning<H>, is_another_idle: bool) -> Option<Seeking> {
        LeavesItToNobody::turns_back(room, is_another_idle)
    }
}

/// A submitter that finds no idle P asks for a seeker, and then lowers its count (as Go does): who is counted beside it
/// clears the request as it begins, and takes the count for somebody that looks.
pub struct AsksBeforeItLowers;
impl Dance for AsksBeforeItLowers {
    fn wakep<H: Host>(room: &Spinning<H>, others: &impl Neighbours) {
        store_load::<H>();
        let mut elected = room.elect();
        if elected.is_none() {
            return;
        }
        let p = others.pidleget(|| {
            room.ask_for_seeker();
            elected.take().into_iter().for_each(|seeking| room.give_up(seeking));
        });
        if let (Some(p), Some(seeking)) = (p, elected) {
            others.startm(p, seeking);
        }
    }
    /// As Go's: an M that idles its P looks at requests only. (It would see for itself that nobody looks.)
    fn turns_back<H: Host>(room: &Spinning<H>, is_another_idle: bool) -> Option<Seeking> {
        LeavesItToNobody::turns_back(room, is_another_idle)
    }
}

/// An M about to idle its P asks nothing: neither whether a seeker is asked for, nor whether anybody looks.
pub struct IgnoresTheCall;
impl Dance for IgnoresTheCall {
    fn turns_back<H: Host>(_room: &Spinning<H>, _is_another_idle: bool) -> Option<Seeking> {
        None
    }
}

/// An M that has left the other Ps' rings to those that looked idles its P without asking whether anybody still does.
/// (Go's `findRunnable`.)
pub struct LeavesItToNobody;
impl Dance for LeavesItToNobody {
    fn turns_back<H: Host>(room: &Spinning<H>, _is_another_idle: bool) -> Option<Seeking> {
        room.called_upon()
    }
}

/// A submitter that finds no idle P lowers its count only after the lock is released: a seeker that idles its P in
/// between, and one more submitter that trusts the count, both sleep.
pub struct LowersItsCountLate;
impl Dance for LowersItsCountLate {
    fn wakep<H: Host>(room: &Spinning<H>, others: &impl Neighbours) {
        room.wakep(&Late(others));
    }
}

/// Neighbours that do what is to be done when no P is idle only after the lock is released.
struct Late<'a, N>(&'a N);

impl<N: Neighbours> Neighbours for Late<'_, N> {
    type IdleP = N::IdleP;

    fn any_work(&self) -> bool {
        self.0.any_work()
    }
    fn pidleget(&self, or_else: impl FnOnce()) -> Option<N::IdleP> {
        let p = self.0.pidleget(|| ());
        if p.is_none() {
            or_else();
        }
        p
    }
    fn startm(&self, p: N::IdleP, seeking: Seeking) {
        self.0.startm(p, seeking);
    }
}

/// Neighbours that leave out what to do when no P is idle.
struct Mute<'a, N>(&'a N);

impl<N: Neighbours> Neighbours for Mute<'_, N> {
    type IdleP = N::IdleP;

    fn any_work(&self) -> bool {
        self.0.any_work()
    }
    fn pidleget(&self, _or_else: impl FnOnce()) -> Option<N::IdleP> {
        self.0.pidleget(|| ())
    }
    fn startm(&self, p: N::IdleP, seeking: Seeking) {
        self.0.startm(p, seeking);
    }
}

/// A scene, to be played with the right room or with a twin.
pub trait Scene<H> {
    /// Plays it once; returns how it ended.
    fn play<D: Dance>(self) -> String;
}

/// Plays `scene` with the twin that is asked for on this thread, or with the room as it is.
pub fn play<H, S: Scene<H>>(scene: S) -> String {
    match crate::mutant::twin() {
        None => scene.play::<Right>(),
        Some("looks-before-it-leaves") => scene.play::<LooksBeforeItLeaves>(),
        Some("drops-the-baton") => scene.play::<DropsTheBaton>(),
        Some("only-the-last-looks") => scene.play::<OnlyTheLastLooks>(),
        Some("wakep-does-not-ask") => scene.play::<WakepDoesNotAsk>(),
        Some("retire-does-not-ask") => scene.play::<RetireDoesNotAsk>(),
        Some("lowers-its-count-late") => scene.play::<LowersItsCountLate>(),
        Some("asks-before-it-lowers") => scene.play::<AsksBeforeItLowers>(),
        Some("ignores-the-call") => scene.play::<IgnoresTheCall>(),
        Some("leaves-it-to-nobody") => scene.play::<LeavesItToNobody>(),
        Some(other) => panic!("spinning has no twin `{other}`"),
    }
}
