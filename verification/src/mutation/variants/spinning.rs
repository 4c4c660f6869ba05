//! The spinning room, and three of its wrong variants: Go's, or what Go's comment warns of. The rest are patches of the source, in
//! verification/rooms/variants/spinning.toml.

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

/// A spinning M that sees work but finds no idle P does not say so (golang/go #45867), and no other M would notice.
pub struct RetireDoesNotAsk;
impl SpinProtocol for RetireDoesNotAsk {
    fn retire<H: Host, N: Neighbours>(
        room: &Spinning<H>,
        token: SpinningToken,
        others: &N,
    ) -> Option<(N::IdleP, SpinningToken)> {
        room.give_up(token);
        store_load::<H>();
        others.any_work().then(|| others.pidleget(|| ())).flatten().map(|p| (p, room.become_spinning()))
    }
    /// As Go's: an M that idles its P looks at requests only. (It would see for itself that no M looks.)
    fn must_recheck<H: Host>(room: &Spinning<H>, _is_another_idle: bool) -> Option<SpinningToken> {
        room.take_needspinning()
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
        RetireDoesNotAsk::must_recheck(room, is_another_idle)
    }
}

super::variants! {
    "spinning", SpinProtocol, right: Right,
    "looks-before-it-leaves" => LooksBeforeItLeaves,
    "retire-does-not-ask" => RetireDoesNotAsk,
    "asks-before-it-lowers" => AsksBeforeItLowers,
}
