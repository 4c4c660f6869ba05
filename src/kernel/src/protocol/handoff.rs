//! Handing off a P that its M cannot use: to another M, or to the idle list.
//!
//! Go: `handoffp`.
//!
//! **A P is idled only if an M with that P would find no G.** [`find`](crate::protocol::find) searches the sources, this
//! room asks the same list of them.
//!
//! | a submitter that finds no idle P         | an M that hands its P off, in [`handoffp`]            |
//! |------------------------------------------|-------------------------------------------------------|
//! | 1. queues its G                          | 1. scans the sources                                  |
//! | 2. no P is idle: asks for a spinning M   | 2. scans again: work? is a spinning M asked for? is   |
//! |    (under the lock)                      |    no M spinning? Else idles the P (under the lock)   |
//!
//! The one that comes second under the lock sees the other: the P on the list, or the G or the request for a spinning M. Go
//! does not check the request here: a count that stood for no M (a `wakep` that is about to find no P) then makes it
//! idle a P while a G waits in another P's ring.
//!
//! Whether an M is spinning is asked under the lock, too. Gs may come into another P's ring without a wake: those that
//! came back from system calls when no P was idle, as a share of the global queue. Asked before the lock, as Go does, an
//! idle P that was there a moment ago, and is used by now, would have answered for them.
//!
//! Checked by: verification/rooms/src/rooms/handoff.rs

use crate::protocol::sources::Source;
use crate::types::m::SpinningToken;
use crate::types::p::OwnedP;

/// What this room asks of the rest of the scheduler.
pub trait Neighbours {
    /// Would an M that runs `p` find a G in `source` now? A hint. Other Ps' rings count as empty: they have spinning Ms.
    fn has_work(&self, p: &OwnedP, source: Source) -> bool;
    /// Under the lock: gives `p` to a stop, or idles it; unless there is work after all, or a spinning M is asked for, or
    /// no M is spinning and no P is idle: then it comes back.
    fn settle(&self, p: OwnedP) -> Option<(OwnedP, Option<SpinningToken>)>;
    /// Runs `p` on some M.
    fn startm(&self, p: OwnedP, token: Option<SpinningToken>);
}

/// Hands `p` off. The caller's M has no P after that.
///
/// ```
/// use spinpark_kernel::protocol::{handoff::{Neighbours, handoffp}, sources::SearchOrder};
/// use spinpark_kernel::types::p::OwnedP;
/// // As an M does that enters a system call which is known to block:
/// fn hand_off(p: OwnedP, others: &impl Neighbours) {
///     handoffp(p, SearchOrder::GlobalFirst.sources(), others);
/// }
/// ```
pub fn handoffp(p: OwnedP, sources: &[Source], others: &impl Neighbours) {
    if sources.iter().any(|&source| others.has_work(&p, source)) {
        return others.startm(p, None);
    }
    if let Some((p, token)) = others.settle(p) {
        others.startm(p, token);
    }
}
