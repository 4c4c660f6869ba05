//! The scheduler's side of handing a P off: whether an M that runs it would find a G, and idling it under the lock.
//!
//! Go: `handoffp`.
//!
//! **The P is idled under the same hold of the lock as the last look at what it would find.**
//!
//! Checked by: verification/src/models/{lists,sched,whole}.rs, verification/rooms/src/rooms/sched.rs, verification/tests/stress.rs

use crate::host::Host;
use crate::protocol::handoff;
use crate::protocol::sources::Source;
use crate::protocol::threads;
use crate::sched::Sched;
use crate::sched::observer::Observer;
use crate::types::m::{NextP, SpinningToken};
use crate::types::p::OwnedP;
use alloc::sync::Arc;

impl<H: Host, O: Observer> Sched<H, O> {
    /// Hands `p` off to another M, or idles it.
    pub(crate) fn handoffp(self: &Arc<Self>, p: OwnedP) {
        self.attend(&p);
        handoff::handoffp(p, self.config.order.sources(), self);
    }
}

impl<H: Host, O: Observer> handoff::Neighbours for Arc<Sched<H, O>> {
    fn has_work(&self, p: &OwnedP, source: Source) -> bool {
        !self.wanted.any() && self.has_any(source, Some(p.id()))
    }

    fn settle(&self, p: OwnedP) -> Option<(OwnedP, Option<SpinningToken>)> {
        self.central(|c| {
            let queue = &self.proc(p.id()).queue;
            if c.closed {
                c.global.put_batch(queue.drain(), &self.global_len);
            } else if !c.world.is_stopping() {
                let has_any = |&source: &Source| self.has_any(source, Some(p.id()));
                if self.config.order.sources().iter().any(has_any) {
                    return Some((p, None));
                }
                if let Some(token) = self.spinning.must_recheck(!c.idle_ps.is_empty()) {
                    return Some((p, Some(token)));
                }
                // The caller's M does not sleep: another M has to wait in the poller.
                if self.netpoll.is_missing(self) {
                    return Some((p, None));
                }
            }
            self.releasep(c, p, false);
            None
        })
    }

    fn startm(&self, p: OwnedP, token: Option<SpinningToken>) {
        threads::startm(NextP::Run { p, token }, &self.ms, self);
    }
}
