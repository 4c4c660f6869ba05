//! The smallest scheduler around `spinning`: queues that only count (see `queues`), idle Ps that are a number under a
//! lock, and Ms that are started by being counted.

use crate::harness::queues::{OneWord, Queues, Rings};
use crate::hosts::model_host::ModelHost;
use crate::mutation::variants::spinning::SpinProtocol;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::Lock;
use spinpark_kernel::protocol::spinning::{Neighbours, Spinning};
use spinpark_kernel::types::m::SpinningToken;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};

/// The smallest scheduler around the room.
pub struct Tiny<H: ModelHost, D, Q = OneWord<H>> {
    /// The room.
    pub room: Spinning<H>,
    /// Where Gs wait.
    pub queues: Q,
    /// How many Ps are idle.
    idle_ps: H::Lock<u32>,
    /// How many Ms were started to look for work and have yet to do so.
    started: Atomic<H, u64>,
    protocol: PhantomData<fn() -> D>,
}

/// An idle P, off the list.
pub struct IdleP;

/// How an M ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It sleeps.
    Asleep,
    /// It holds a P and is about to look at every queue.
    Looking,
    /// It holds a P and runs a G.
    Busy,
}

/// What a thread did so that an M looks for work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Did {
    /// Nothing: there was none, or an M is counted that will look.
    Nothing,
    /// Took an idle P: started an M to look, or looks with it.
    TookP,
    /// Found no idle P, and asked for a spinning M.
    Asked,
}

/// The tiny scheduler as the room sees it from one party, and what it asked of it.
struct PartyView<'a, H: ModelHost, D, Q> {
    tiny: &'a Tiny<H, D, Q>,
    did: Cell<Did>,
}

impl<H: ModelHost, D: SpinProtocol, Q: Queues> Neighbours for PartyView<'_, H, D, Q> {
    type IdleP = IdleP;

    fn any_work(&self) -> bool {
        self.tiny.queues.queued() > 0
    }
    fn is_any_p_idle(&self) -> bool {
        self.tiny.queues.npidle() > 0
    }
    fn pidleget(&self, or_else: impl FnOnce()) -> Option<IdleP> {
        let p = self.tiny.pidleget(or_else);
        self.did.set(if p.is_some() { Did::TookP } else { Did::Asked });
        p
    }
    fn startm(&self, IdleP: IdleP, token: SpinningToken) {
        token.discard();
        self.tiny.started.fetch_add(1, AcqRel);
    }
}

impl<H: ModelHost, D: SpinProtocol, Q: Queues> Tiny<H, D, Q> {
    /// With so many idle Ps; the parties hold the others.
    pub fn new(idle_ps: u32, queues: Q) -> Arc<Self> {
        queues.idle_ps_are(idle_ps);
        Arc::new(Tiny {
            room: Spinning::new(),
            queues,
            idle_ps: H::Lock::new(idle_ps),
            started: Atomic::new(0),
            protocol: PhantomData,
        })
    }

    fn seen(&self) -> PartyView<'_, H, D, Q> {
        PartyView { tiny: self, did: Cell::new(Did::Nothing) }
    }

    /// Takes an idle P. If there is none, does `or_else` before the list can change.
    pub fn pidleget(&self, or_else: impl FnOnce()) -> Option<IdleP> {
        self.idle_ps.with(|idle| match idle.checked_sub(1) {
            Some(left) => {
                *idle = left;
                self.queues.idle_ps_are(left);
                Some(IdleP)
            }
            None => {
                or_else();
                None
            }
        })
    }

    fn pidleput(&self, idle: &mut u32) {
        *idle += 1;
        self.queues.idle_ps_are(*idle);
    }

    /// A G was queued.
    pub fn wakep(&self) -> Did {
        let seen = self.seen();
        D::wakep(&self.room, &seen);
        seen.did.get()
    }

    /// A spinning M found a G, and runs it.
    pub fn found_work(&self, token: SpinningToken) -> Did {
        let seen = self.seen();
        D::found_work(&self.room, token, &seen);
        seen.did.get()
    }

    /// A spinning M has looked everywhere and found nothing: idles its P and looks again.
    pub fn retire(&self, token: SpinningToken) -> (End, Did) {
        self.idle_ps.with(|idle| self.pidleput(idle));
        self.look_again(token)
    }

    /// The same, once its P is idle.
    pub fn look_again(&self, token: SpinningToken) -> (End, Did) {
        let seen = self.seen();
        let end = match D::retire(&self.room, token, &seen) {
            Some((IdleP, token)) => {
                token.discard();
                End::Looking
            }
            None => End::Asleep,
        };
        (end, seen.did.get())
    }

    /// An M with a P that was never spinning and has nothing to do: idles its P unless a spinning M is asked for.
    pub fn idle_unless_called(&self) -> End {
        let called = self.idle_ps.with(|idle| {
            let called = D::must_recheck(&self.room, *idle > 0);
            if called.is_none() {
                self.pidleput(idle);
            }
            called
        });
        match called {
            Some(token) => {
                token.discard();
                End::Looking
            }
            None => End::Asleep,
        }
    }

    /// An M that was started begins to look. Is there one?
    pub fn begin(&self) -> bool {
        let mut n = self.started.load(Relaxed);
        while n > 0 {
            // AcqRel: as a `nextp`.
            match self.started.compare_exchange(n, n - 1, AcqRel, Relaxed) {
                Ok(_) => return true,
                Err(found) => n = found,
            }
        }
        false
    }

    /// All parties have come to rest.
    ///
    /// # Panics
    /// If a G waits and a P is idle, and no M looks; or if the count is not that of the Ms that look.
    pub fn check_at_rest(&self, ends: &[End]) -> String {
        let started = self.started.load(Relaxed);
        let queued = self.queues.queued();
        let idle = self.idle_ps.with(|idle| *idle);
        let looking = ends.iter().filter(|end| **end == End::Looking).count() as u64;
        assert!(
            queued == 0 || idle == 0 || looking + started > 0,
            "a G is queued and a P is idle, but every M sleeps and none was started"
        );
        let spinning = self.room.count() as u64;
        assert!(
            spinning == looking + started,
            "{spinning} Ms are counted as spinning, but {looking} look and {started} were started"
        );
        format!("looking={looking} started={started} queued={queued} idle={idle}")
    }
}

/// How idling a P ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idled {
    /// Not: there was a G in the global queue.
    Work,
    /// Not: a spinning M was asked for, and this is it.
    NeedSpinning,
    /// Its M sleeps, or looks again; what it did.
    Idle(End, Did),
}

impl<H: ModelHost, D: SpinProtocol> Tiny<H, D, Rings<H>> {
    /// Queues a G in the global queue.
    pub fn submit(&self) -> Did {
        self.idle_ps.with(|_| self.queues.put_global());
        self.wakep()
    }

    /// The owner of this ring queues a G there.
    pub fn ready(&self, owner: usize) -> Did {
        self.queues.put(owner, 1);
        self.wakep()
    }

    /// A G comes back from a system call: an idle P is taken for it, or it is queued, and no M is woken. Was there a P?
    pub fn exitsyscall(&self) -> bool {
        self.idle_ps.with(|idle| {
            match idle.checked_sub(1) {
                Some(left) => {
                    *idle = left;
                    self.queues.idle_ps_are(left);
                    return true;
                }
                None => self.queues.put_global(),
            }
            false
        })
    }

    /// An owner that does not spin takes all of the global queue: one to run, the rest into its ring. It wakes no M.
    pub fn take_batch(&self, owner: usize) -> bool {
        self.idle_ps.with(|_| self.queues.take_batch(owner))
    }

    /// Takes a G out of the global queue, if there seems to be one.
    pub fn take_global(&self) -> bool {
        self.queues.globals() > 0 && self.idle_ps.with(|_| self.queues.take_global())
    }

    /// An M with a P, `token` or not, has found nothing: idles the P, unless there is a reason not to, and looks again
    /// if it was spinning. As `idle` and `stop` in src/kernel/src/sched/find.rs.
    pub fn idle(&self, token: Option<SpinningToken>) -> Idled {
        let kept = self.idle_ps.with(|idle| {
            if self.queues.take_global() {
                return Some(Idled::Work);
            }
            if token.is_none()
                && let Some(token) = D::must_recheck(&self.room, *idle > 0)
            {
                token.discard();
                return Some(Idled::NeedSpinning);
            }
            self.pidleput(idle);
            None
        });
        match (kept, token) {
            (Some(kept), token) => {
                token.into_iter().for_each(SpinningToken::discard);
                kept
            }
            (None, None) => Idled::Idle(End::Asleep, Did::Nothing),
            (None, Some(token)) => {
                let (end, did) = self.look_again(token);
                Idled::Idle(end, did)
            }
        }
    }
}
