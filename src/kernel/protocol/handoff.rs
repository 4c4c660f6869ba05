//! Finding somebody else for a P that its M cannot use.
//!
//! Go: `handoffp`.
//!
//! **A P is idled only if nothing that it would find is left to find.** What [`find`](crate::kernel::protocol::find) searches, this asks
//! about, from the same list of sources.
//!
//! | who queues work and finds no idle P  | who hands a P on, in [`handoffp`]                    |
//! |--------------------------------------|------------------------------------------------------|
//! | 1. queues its G                      | 1. looks at the sources                              |
//! | 2. no P is idle: asks for a spinning M   | 2. looks again: work? was a spinning M asked for? does   |
//! |    (under the lock)                  |    nobody look? Else idles the P (under the lock)    |
//!
//! Whichever comes second under the lock sees the other: the P on the list, or the work or the request for a spinning M. Go
//! does not look at the request here: a count that stood for nobody (a `wakep` that is about to find no P) then makes it
//! idle a P while a G waits in another P's ring.
//!
//! Whether somebody looks is asked under the lock, too. Gs may come into another P's ring without a wake: those that
//! came back from system calls when no P was idle, as a share of the global queue. Asked before the lock, as Go does, an
//! idle P that was there a moment ago, and is used by now, would have answered for them.
//!
//! Checked by: verification/src/models/handoff.rs

use crate::kernel::protocol::sources::Source;
use crate::kernel::types::m::SpinningToken;
use crate::kernel::types::p::OwnedP;

/// What this room asks of the rest of the scheduler.
pub trait Neighbours {
    /// Would an M that runs `p` find a G in `source` now? A hint. Other Ps' rings count as empty: they have spinning Ms.
    fn has_work(&self, p: &OwnedP, source: Source) -> bool;
    /// Under the lock: gives `p` to a stop, or idles it; unless there is work after all, or a spinning M is asked for, or
    /// nobody looks for work and no P is idle: then it comes back.
    fn settle(&self, p: OwnedP) -> Option<(OwnedP, Option<SpinningToken>)>;
    /// Runs `p` on some M.
    fn startm(&self, p: OwnedP, token: Option<SpinningToken>);
}

/// Finds somebody else for `p`. The caller's M has no P after that.
pub fn handoffp(p: OwnedP, sources: &[Source], others: &impl Neighbours) {
    if sources.iter().any(|&source| others.has_work(&p, source)) {
        return others.startm(p, None);
    }
    if let Some((p, token)) = others.settle(p) {
        others.startm(p, token);
    }
}
