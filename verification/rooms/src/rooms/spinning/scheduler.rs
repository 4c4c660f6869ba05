//! The rest of the scheduler: queues that only count, idle Ps that are a number, and what an M does around the protocol, as
//! src/kernel/src/sched/{find,spinning}.rs do it.

use super::{From, Hand, Is, OnHost, Role, Was};
use crate::host::RoomHost;
use crate::others::Others;
use kernel::atomic::Atomic;
use kernel::host::Lock as _;
use kernel::protocol::spinning::Neighbours;
use kernel::types::m::SpinningToken;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// A P's queue.
pub(super) struct Ring<H: RoomHost> {
    /// How many were put: by its owner alone, and by a plain store.
    put: Atomic<H, u64>,
    /// How many were taken, by any thread.
    taken: Atomic<H, u64>,
}

impl<H: RoomHost> Ring<H> {
    pub(super) fn new() -> Self {
        Ring { put: Atomic::new(0), taken: Atomic::new(0) }
    }

    fn put(&self, n: u64) {
        // Relaxed: only the owner writes it.
        let before = self.put.load(Relaxed);
        // Release: as the ring's `publish`.
        self.put.store(before + n, Release);
    }

    fn take(&self, of: fn(u64) -> u64) -> u64 {
        loop {
            // Relaxed: the exchange has to find it unchanged.
            let head = self.taken.load(Relaxed);
            // Relaxed: what is taken has no data.
            let n = of(self.put.load(Relaxed).saturating_sub(head));
            // AcqRel: as the ring's `consume`.
            if n == 0 || self.taken.compare_exchange(head, head + n, AcqRel, Relaxed).is_ok() {
                return n;
            }
        }
    }

    fn is_empty(&self) -> bool {
        // Relaxed: the protocol's fences have to do. In this order, so that no more seem taken than were put.
        let head = self.taken.load(Relaxed);
        // Relaxed: as above.
        self.put.load(Relaxed) <= head
    }
}

/// An idle P, taken.
pub struct IdleP;

type Party<'a, H> = Others<'a, OnHost<H>, Was>;

impl<H: RoomHost> Neighbours for Party<'_, H> {
    type IdleP = IdleP;

    fn any_work(&self) -> bool {
        let is_misled = self.on.roles == [Role::Alone(true)];
        let is_any = is_misled || self.on.globals() > 0 || self.on.rings.iter().any(|ring| !ring.is_empty());
        self.says(Was::AnyWork(is_any));
        is_any
    }
    fn is_any_p_idle(&self) -> bool {
        // Relaxed: as the kernel's.
        let is_any = self.on.npidle.load(Relaxed) > 0;
        self.says(Was::AnyIdle(is_any));
        is_any
    }
    fn pidleget(&self, or_else: impl FnOnce()) -> Option<IdleP> {
        self.on.idle.with(|idle| {
            let p = self.takes_p(idle);
            if p.is_none() {
                or_else();
            }
            p
        })
    }
    fn startm(&self, IdleP: IdleP, token: SpinningToken) {
        token.discard();
        // AcqRel: as a `nextp`.
        self.on.started.fetch_add(1, AcqRel);
        self.says(Was::Started);
    }
}

impl<H: RoomHost> OnHost<H> {
    pub(super) fn is_alone(&self) -> bool {
        self.roles[0].is_alone()
    }

    fn globals(&self) -> u64 {
        // Acquire: as the kernel's `global_len`.
        self.global.load(Acquire)
    }

    /// Under the lock.
    fn idle_ps_are(&self, idle: &mut u32, n: u32) {
        *idle = n;
        // Relaxed: as the kernel's.
        self.npidle.store(n, Relaxed);
    }
}

impl<H: RoomHost> Party<'_, H> {
    fn takes_p(&self, idle: &mut u32) -> Option<IdleP> {
        if self.on.is_alone() {
            self.says(Was::Counted(self.on.room.count()));
        }
        let left = idle.checked_sub(1);
        left.into_iter().for_each(|left| self.on.idle_ps_are(idle, left));
        self.says(Was::Got(left.is_some()));
        left.map(|_| IdleP)
    }

    /// Under the lock.
    fn puts_global(&self) {
        // Release: as the kernel's.
        self.on.global.store(self.on.globals() + 1, Release);
    }

    pub(super) fn puts(&self, me: usize, n: u64) {
        self.on.rings[me].put(n);
        (0..n).for_each(|_| self.says(Was::Put));
    }

    /// As `Sched::queue_and_wakep`.
    pub(super) fn submits(&self) {
        let (has_asked, started) = self.on.idle.with(|idle| {
            self.puts_global();
            self.says(Was::Put);
            let is_any = *idle > 0;
            (is_any, is_any.then(|| self.on.room.wakep_under(|| self.takes_p(idle))).flatten())
        });
        match started {
            Some((p, token)) => self.startm(p, token),
            None if has_asked => {}
            None => self.on.room.wakep(self),
        }
    }

    /// Under the lock: takes all of the global queue, one to run, the rest for its ring.
    fn takes_share(&self, me: usize) -> bool {
        let Some(rest) = self.on.globals().checked_sub(1) else { return false };
        if rest > 0 {
            self.on.rings[me].put(rest);
        }
        // Release: as the kernel's.
        self.on.global.store(0, Release);
        true
    }

    /// An M that was started begins to look. Is there one?
    pub(super) fn begins(&self) -> bool {
        // Relaxed: the exchange acquires.
        let mut n = self.on.started.load(Relaxed);
        while n > 0 {
            // AcqRel: as a `nextp`.
            match self.on.started.compare_exchange(n, n - 1, AcqRel, Relaxed) {
                Ok(_) => return true,
                Err(found) => n = found,
            }
        }
        false
    }

    pub(super) fn found(&self, hand: &mut Hand, from: From) {
        self.says(Was::Found(from));
        if hand.is == Is::Looks {
            self.on.room.found_work(SpinningToken::forge(), self);
        }
        hand.is = Is::Runs;
    }

    /// As the first part of `find_runnable`.
    fn searches(&self, hand: &mut Hand) -> Option<From> {
        let on = self.on;
        if on.rings[hand.me].take(|waiting| waiting.min(1)) > 0 {
            return Some(From::Own);
        }
        if on.globals() > 0 && on.idle.with(|_| self.takes_share(hand.me)) {
            return Some(From::Global);
        }
        // Relaxed: a hint.
        let npidle = on.npidle.load(Relaxed) as usize;
        if hand.is == Is::Runs && on.room.may_spin(on.procs, npidle, on.at_most) {
            on.room.become_spinning().discard();
            hand.is = Is::Looks;
            self.says(Was::Spins);
        }
        if hand.is != Is::Looks {
            return None;
        }
        let others = (0..on.rings.len()).filter(|victim| *victim != hand.me);
        let stolen = others.map(|victim| on.rings[victim].take(|waiting| waiting.div_ceil(2))).find(|n| *n > 0)?;
        if stolen > 1 {
            on.rings[hand.me].put(stolen - 1);
        }
        Some(From::Stolen)
    }

    /// As `find_runnable`, once.
    pub(super) fn finds_runnable(&self, hand: &mut Hand, loses: bool) {
        if let Some(from) = self.searches(hand) {
            return self.found(hand, from);
        }
        let on = self.on;
        let kept = on.idle.with(|idle| {
            if self.takes_share(hand.me) {
                return Some(Was::Found(From::Global));
            }
            if hand.is == Is::Runs
                && let Some(token) = on.room.must_recheck(*idle > 0)
            {
                token.discard();
                return Some(Was::Called);
            }
            on.idle_ps_are(idle, *idle + u32::from(!loses));
            None
        });
        match kept {
            Some(Was::Found(from)) => return self.found(hand, from),
            Some(called) => {
                self.says(called);
                hand.is = Is::Looks;
                return;
            }
            None => self.says(Was::Idled),
        }
        if loses {
            self.says(Was::Taken);
        }
        let token = (hand.is == Is::Looks).then(SpinningToken::forge);
        let again = token.and_then(|token| on.room.retire(token, self)).map(|(IdleP, token)| token.discard());
        hand.is = if again.is_some() { Is::Looks } else { Is::Sleeps };
        self.says(if again.is_some() { Was::Again } else { Was::Asleep });
    }

    /// Is there an idle P for a G that comes back?
    pub(super) fn comes_back(&self) -> bool {
        let has_p = self.on.idle.with(|idle| {
            let left = idle.checked_sub(1);
            match left {
                Some(left) => self.on.idle_ps_are(idle, left),
                None => self.puts_global(),
            }
            left.is_some()
        });
        self.says(Was::CameBack(has_p));
        has_p
    }
}
