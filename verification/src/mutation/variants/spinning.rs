//! The spinning room and its wrong variants. A variant is the room, but for one function.

use spinpark_kernel::atomic::store_load;
use spinpark_kernel::host::Host;
use spinpark_kernel::protocol::spinning::{Neighbours, Spinning};
use spinpark_kernel::types::m::SpinningToken;

/// The room's functions, the right ones unless a variant says otherwise.
pub trait SpinProtocol: Send + Sync + Sized + 'static {
    /// See [`Spinning::wakep`].
    fn wakep<H: Host>(room: &Spinning<H>, others: &impl Neighbours) {
        room.wakep(others);
    }
    /// See [`Spinning::found_work`].
    fn found_work<H: Host>(room: &Spinning<H>, token: SpinningToken, others: &impl Neighbours) {
        room.found_work(token, others);
    }
    /// See [`Spinning::retire`].
    fn retire<H: Host, N: Neighbours>(
        room: &Spinning<H>,
        token: SpinningToken,
        others: &N,
    ) -> Option<(N::IdleP, SpinningToken)> {
        room.retire(token, others)
    }
    /// See [`Spinning::must_recheck`].
    fn must_recheck<H: Host>(room: &Spinning<H>, is_another_idle: bool) -> Option<SpinningToken> {
        room.must_recheck(is_another_idle)
    }
}

/// The room as it is.
pub struct Right;
impl SpinProtocol for Right {}

/// Looks at the queues, then leaves `nmspinning`: the classic mistake.
pub struct LooksBeforeItLeaves;
impl SpinProtocol for LooksBeforeItLeaves {
    fn retire<H: Host, N: Neighbours>(
        room: &Spinning<H>,
        token: SpinningToken,
        others: &N,
    ) -> Option<(N::IdleP, SpinningToken)> {
        let any_work = others.any_work();
        room.give_up(token);
        store_load::<H>();
        if !any_work {
            return None;
        }
        others.pidleget(|| room.set_needspinning()).map(|p| (p, room.become_spinning()))
    }
}

/// The last spinning M finds work and wakes no M (golang/go: `resetspinning` without `wakep`).
pub struct DropsTheBaton;
impl SpinProtocol for DropsTheBaton {
    fn found_work<H: Host>(room: &Spinning<H>, token: SpinningToken, _others: &impl Neighbours) {
        room.give_up(token);
    }
}

/// A spinning M that sees others counted leaves the second look to them, and they leave it to it.
pub struct OnlyTheLastLooks;
impl SpinProtocol for OnlyTheLastLooks {
    fn retire<H: Host, N: Neighbours>(
        room: &Spinning<H>,
        token: SpinningToken,
        others: &N,
    ) -> Option<(N::IdleP, SpinningToken)> {
        if room.count() > 1 {
            room.give_up(token);
            return None;
        }
        room.retire(token, others)
    }
}

/// Counts itself again before it asks for a P, and gives that up after the lock: meanwhile its count stands for no M.
pub struct CountsItselfEarly;
impl SpinProtocol for CountsItselfEarly {
    fn retire<H: Host, N: Neighbours>(
        room: &Spinning<H>,
        token: SpinningToken,
        others: &N,
    ) -> Option<(N::IdleP, SpinningToken)> {
        counts_itself_early(room, token, others, false)
    }
}

/// The same, and it asks for no P if another asked for a spinning M since: it trusts that request.
pub struct TrustsARequestOfLater;
impl SpinProtocol for TrustsARequestOfLater {
    fn retire<H: Host, N: Neighbours>(
        room: &Spinning<H>,
        token: SpinningToken,
        others: &N,
    ) -> Option<(N::IdleP, SpinningToken)> {
        counts_itself_early(room, token, others, true)
    }
}

fn counts_itself_early<H: Host, N: Neighbours>(
    room: &Spinning<H>,
    token: SpinningToken,
    others: &N,
    trusts: bool,
) -> Option<(N::IdleP, SpinningToken)> {
    room.give_up(token);
    store_load::<H>();
    if !others.any_work() {
        return None;
    }
    let mut token = Some(room.become_spinning());
    let gives_up = |token: &mut Option<SpinningToken>| token.take().into_iter().for_each(|token| room.give_up(token));
    if trusts && room.is_needspinning() {
        gives_up(&mut token);
        return None;
    }
    let p = others.pidleget(|| {
        if trusts {
            gives_up(&mut token);
        }
        room.set_needspinning();
    });
    if p.is_none() {
        gives_up(&mut token);
    }
    p.zip(token)
}

/// A submitter that finds no idle P does not say so (golang/go #45867), and no other M would notice.
pub struct WakepDoesNotAsk;
impl SpinProtocol for WakepDoesNotAsk {
    fn wakep<H: Host>(room: &Spinning<H>, others: &impl Neighbours) {
        store_load::<H>();
        if room.count() > 0 {
            return;
        }
        if let Some(p) = others.pidleget(|| ()) {
            others.startm(p, room.become_spinning());
        }
    }
    /// As Go's: an M that idles its P looks at requests only. (It would see for itself that no M looks.)
    fn must_recheck<H: Host>(room: &Spinning<H>, is_another_idle: bool) -> Option<SpinningToken> {
        LeavesItToNobody::must_recheck(room, is_another_idle)
    }
}

/// A spinning M that sees work but finds no idle P does not say so (golang/go #45867), and no other M would notice.
pub struct RetireDoesNotAsk;
impl SpinProtocol for RetireDoesNotAsk {
    fn retire<H: Host, N: Neighbours>(
        room: &Spinning<H>,
        token: SpinningToken,
        others: &N,
    ) -> Option<(N::IdleP, SpinningToken)> {
        room.retire(token, &Mute(others))
    }
    /// As Go's: an M that idles its P looks at requests only. (It would see for itself that no M looks.)
    fn must_recheck<H: Host>(room: &Spinning<H>, is_another_idle: bool) -> Option<SpinningToken> {
        LeavesItToNobody::must_recheck(room, is_another_idle)
    }
}

/// A submitter that finds no idle P asks for a spinning M, and then lowers its count (as Go does): an M that is counted
/// beside it clears the request as it begins, and takes the count for an M that looks.
pub struct AsksBeforeItLowers;
impl SpinProtocol for AsksBeforeItLowers {
    fn wakep<H: Host>(room: &Spinning<H>, others: &impl Neighbours) {
        store_load::<H>();
        let mut elected = room.elect();
        if elected.is_none() {
            return;
        }
        let p = others.pidleget(|| {
            room.set_needspinning();
            elected.take().into_iter().for_each(|token| room.give_up(token));
        });
        if let (Some(p), Some(token)) = (p, elected) {
            others.startm(p, token);
        }
    }
    /// As Go's: an M that idles its P looks at requests only. (It would see for itself that no M looks.)
    fn must_recheck<H: Host>(room: &Spinning<H>, is_another_idle: bool) -> Option<SpinningToken> {
        LeavesItToNobody::must_recheck(room, is_another_idle)
    }
}

/// An M about to idle its P asks nothing: neither whether a spinning M is asked for, nor whether an M looks.
pub struct IgnoresTheCall;
impl SpinProtocol for IgnoresTheCall {
    fn must_recheck<H: Host>(_room: &Spinning<H>, _is_another_idle: bool) -> Option<SpinningToken> {
        None
    }
}

/// An M that has left the other Ps' rings to those that looked idles its P without asking whether one still does.
/// (Go's `findRunnable`.)
pub struct LeavesItToNobody;
impl SpinProtocol for LeavesItToNobody {
    fn must_recheck<H: Host>(room: &Spinning<H>, _is_another_idle: bool) -> Option<SpinningToken> {
        room.take_needspinning()
    }
}

/// A submitter that finds no idle P lowers its count only after the lock is released: a spinning M that idles its P in
/// between, and one more submitter that trusts the count, both sleep.
pub struct LowersItsCountLate;
impl SpinProtocol for LowersItsCountLate {
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
    fn is_any_p_idle(&self) -> bool {
        self.0.is_any_p_idle()
    }
    fn pidleget(&self, or_else: impl FnOnce()) -> Option<N::IdleP> {
        let p = self.0.pidleget(|| ());
        if p.is_none() {
            or_else();
        }
        p
    }
    fn startm(&self, p: N::IdleP, token: SpinningToken) {
        self.0.startm(p, token);
    }
}

/// Neighbours that leave out what to do when no P is idle.
struct Mute<'a, N>(&'a N);

impl<N: Neighbours> Neighbours for Mute<'_, N> {
    type IdleP = N::IdleP;

    fn any_work(&self) -> bool {
        self.0.any_work()
    }
    fn is_any_p_idle(&self) -> bool {
        self.0.is_any_p_idle()
    }
    fn pidleget(&self, _or_else: impl FnOnce()) -> Option<N::IdleP> {
        self.0.pidleget(|| ())
    }
    fn startm(&self, p: N::IdleP, token: SpinningToken) {
        self.0.startm(p, token);
    }
}

/// A submitter that finds a spinning M asked for trusts that one will come, though a P is idle: its M did not look at the request.
pub struct TrustsAnyRequest;
impl SpinProtocol for TrustsAnyRequest {
    fn wakep<H: Host>(room: &Spinning<H>, others: &impl Neighbours) {
        room.wakep(&NoneIdle(others));
    }
}

/// Neighbours that see no idle P without the lock.
struct NoneIdle<'a, N>(&'a N);

impl<N: Neighbours> Neighbours for NoneIdle<'_, N> {
    type IdleP = N::IdleP;

    fn any_work(&self) -> bool {
        self.0.any_work()
    }
    fn is_any_p_idle(&self) -> bool {
        false
    }
    fn pidleget(&self, or_else: impl FnOnce()) -> Option<N::IdleP> {
        self.0.pidleget(or_else)
    }
    fn startm(&self, p: N::IdleP, token: SpinningToken) {
        self.0.startm(p, token);
    }
}

super::variants! {
    "spinning", SpinProtocol, right: Right,
    "looks-before-it-leaves" => LooksBeforeItLeaves,
    "drops-the-baton" => DropsTheBaton,
    "only-the-last-looks" => OnlyTheLastLooks,
    "counts-itself-early" => CountsItselfEarly,
    "trusts-a-request-of-later" => TrustsARequestOfLater,
    "wakep-does-not-ask" => WakepDoesNotAsk,
    "retire-does-not-ask" => RetireDoesNotAsk,
    "lowers-its-count-late" => LowersItsCountLate,
    "asks-before-it-lowers" => AsksBeforeItLowers,
    "ignores-the-call" => IgnoresTheCall,
    "leaves-it-to-nobody" => LeavesItToNobody,
    "trusts-any-request" => TrustsAnyRequest,
}
