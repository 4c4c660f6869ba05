//! What each M does, and which M has which P.

use super::Scribe;
use crate::kernel::protocol::syscall::Way;
use crate::kernel::types::m::MId;
use crate::kernel::types::p::PId;
use crate::runtime::observe::trace::frame::MState;
use crate::runtime::observe::trace::record::{From, Queue, State, What};

impl Scribe {
    /// `m` has `p` from now on, and no other thread has.
    pub(super) fn has(&mut self, m: MId, p: PId) {
        if self.m(m).p != Some(p) {
            if let Some(old) = self.m(m).p {
                self.parts(m, old);
            }
            if let Some(other) = self.p(p).m {
                self.parts(other, p);
            }
            self.m(m).p = Some(p);
        }
        let place = self.p(p);
        (place.m, place.is_idle, place.handed_on) = (Some(m), false, None);
    }

    /// `m` does not have `p` any more.
    pub(super) fn parts(&mut self, m: MId, p: PId) {
        if self.m(m).p == Some(p) {
            self.m(m).p = None;
        }
        if self.p(p).m == Some(m) {
            self.p(p).m = None;
        }
    }

    pub(super) fn got(&mut self, m: MId, p: PId) {
        let from = self.p(p).handed_on.or(self.p(p).m).filter(|&other| other != m).map(|m| m.0);
        self.has(m, p);
        self.m(m).state = MState::Awake;
        let g = self.m(m).g;
        self.put(Some(m), Some(p), g, What::Got { from });
        // One that waited on its thread for this; not one that comes back from a system call, which says so itself.
        if let Some(g) = g
            && matches!(self.g(g).state, State::Waiting(_) | State::Runnable)
        {
            self.g(g).state = State::Executing;
            self.of_m(m, What::Executing { from: From::Thread });
        }
    }

    pub(super) fn left(&mut self, m: MId, p: PId, waits: Option<&'static str>) {
        if let Some(g) = self.m(m).g {
            let what = match waits {
                Some(why) => What::Waiting { why },
                None => What::Runnable { queue: Queue::Global, yields: true },
            };
            self.g(g).state = waits.map_or(State::Runnable, State::Waiting);
            self.put(Some(m), Some(p), Some(g), what);
        }
        self.of_m(m, What::Left);
        self.hands_on(m, p);
    }

    pub(super) fn hands_on(&mut self, m: MId, p: PId) {
        self.parts(m, p);
        self.p(p).handed_on = Some(m);
    }

    pub(super) fn entered(&mut self, m: MId, p: PId, blocks: bool) {
        if let Some(g) = self.m(m).g {
            self.g(g).state = State::Syscall;
        }
        self.of_m(m, What::Syscall { blocks });
        if blocks {
            self.of_m(m, What::Left);
            self.hands_on(m, p);
        }
    }

    /// Its system call is over. If its P is another's, and none is idle, its G stands in the global queue until one is free.
    pub(super) fn over(&mut self, m: MId) {
        if self.m(m).p.is_none() && self.busy() == self.procs {
            self.ticketed(None, m, false);
        }
    }

    pub(super) fn returned(&mut self, m: MId, p: PId, way: Way) {
        self.has(m, p);
        if let Some(g) = self.m(m).g {
            self.unqueue(g);
            self.g(g).state = State::Executing;
        }
        self.of_m(m, What::Returned { way });
    }

    pub(super) fn listed(&mut self, p: PId) {
        let m = self.p(p).m;
        if let Some(m) = m {
            self.parts(m, p);
        }
        let place = self.p(p);
        (place.is_idle, place.handed_on) = (true, None);
        self.put(m, Some(p), None, What::Idle);
    }

    /// Taken from its owner.
    pub(super) fn retaken(&mut self, p: PId, what: What) {
        let m = self.p(p).m;
        let g = m.and_then(|m| self.m(m).g);
        self.put(m, Some(p), g, what);
        self.p(p).is_idle = false;
        if let Some(m) = m {
            self.hands_on(m, p);
        }
    }

    pub(super) fn preempted(&mut self, p: PId) {
        let m = self.p(p).m;
        let g = m.and_then(|m| self.m(m).g);
        self.put(m, Some(p), g, What::Preempted);
    }

    pub(super) fn started(&mut self, procs: usize) {
        self.procs = procs;
        let mut left = Vec::new();
        for p in self.ps.iter_mut().skip(procs) {
            left.extend(p.next.take().into_iter().chain(p.ring.drain(..)));
        }
        for g in left.into_iter().rev() {
            self.global.push_front(g);
            self.g(g).queue = Some(Queue::Global);
        }
        self.put(None, None, None, What::Started { procs: procs as u32 });
    }

    pub(super) fn turns(&mut self, m: MId, state: MState, what: What) {
        self.m(m).state = state;
        self.of_m(m, what);
    }

    /// It has no P any more.
    pub(super) fn rests(&mut self, m: MId, state: MState, what: What) {
        if let Some(p) = self.m(m).p {
            self.parts(m, p);
        }
        self.m(m).g = None;
        self.turns(m, state, what);
    }

    pub(super) fn wakes(&mut self, m: MId, what: What) {
        self.m(m).state = MState::Waking;
        self.put_by(Some(m), None, None, what);
    }
}
