//! Which Ms are spinning, and when one more must be woken to spin.
//!
//! Go: "Worker thread parking/unparking", `wakep`, `resetspinning`, `becomeSpinning`, and the delicate dance at the end
//! of `findRunnable`.
//!
//! **Work conservation.** While a G waits in a queue and a P is idle, some M is spinning, or has yet to scan that
//! queue.
//!
//! | a submitter, in [`wakep`](Spinning::wakep) | a spinning M, in [`retire`](Spinning::retire) |
//! |--------------------------------------------|-------------------------------------------|
//! | 1. puts its G in a queue                   | 1. leaves `nmspinning`                    |
//! | 2. StoreLoad                               | 2. StoreLoad                              |
//! | 3. reads `nmspinning`                      | 3. reads every queue                      |
//!
//! Pair `work/spinning`. Whichever fence comes second, its reader sees the other's writer. One of them acts.
//!
//! The one that acts may find no idle P. Then it sets `needspinning`, under the lock: an M that still holds a P sees the flag
//! under the same lock before it idles that P; an M that has idled its P already would have made it the idle P to be found.
//! An M that starts to spin clears the flag, outside the lock. It may so wipe out a request that it has not seen; but it scans
//! every queue again when it retires, behind its own fence, and the request came with a fence of its own: if that came second,
//! the spinning M had idled its P before, and the request had found it.
//!
//! Unless the spinning M finds a G and does not retire. Then it wakes another, if it was the last that was counted; and the
//! M that asks for a spinning M was counted too. Pair `request`: that M lowers its count first and sets the flag then, so an M
//! that took it for a spinning one has cleared the flag before, and sees it again when it idles its P. (Go sets it first.)
//!
//! A submitter that finds a spinning M requested, and no P idle, leaves it at that, and needs no lock. An M that clears the
//! request looks behind its own fence: if that comes second, it sees what was queued here; if it came first, the request that is
//! seen here is a newer one. And a P that is idle though a spinning M is asked for (its M did not look at the flag, because it was
//! counted itself) shows here in the same way.
//!
//! An M that does not spin, because enough others do, leaves other Ps' rings to them. Before it idles its P it asks,
//! under the lock, whether there is still a spinning M to leave them to: [`must_recheck`](Spinning::must_recheck).
//!
//! Pair `baton`: a spinning M that found more than it runs (a stolen half, a share) puts the rest into its ring and leaves
//! `nmspinning`; if it is not the last, it wakes no M and trusts those that are still counted. They see the rest because they
//! leave later, on the same word, and then scan behind their fence. (On x86 and in Go's memory model that is so without more;
//! in C11 it takes a Release.)
//!
//! Checked by: verification/rooms/src/rooms/spinning.rs, verification/src/models/spinning.rs

use crate::atomic::{Atomic, store_load};
use crate::host::Host;
use crate::types::m::SpinningToken;
use core::sync::atomic::Ordering::{AcqRel, Relaxed};

/// The count of spinning Ms, and the request for one more.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::{protocol::spinning::{Neighbours, Spinning}, types::m::SpinningToken};
/// #[derive(Default)]
/// struct Others { queued: AtomicU64, started: Mutex<Option<SpinningToken>> } // the rest of the scheduler: two Ps, one idle
/// impl Neighbours for Others {
///     type IdleP = ();
///     fn any_work(&self) -> bool { self.queued.load(Ordering::SeqCst) > 0 }
///     fn is_any_p_idle(&self) -> bool { true }
///     fn pidleget(&self, _: impl FnOnce()) -> Option<()> { Some(()) }
///     fn startm(&self, (): (), token: SpinningToken) { *self.started.lock().unwrap() = Some(token); }
/// }
/// let (spinning, others) = (Spinning::<Os>::new(), Others::default());
/// spinning.wakep(&others); // a submitter
/// spinning.wakep(&others); // another: one M spins, that will do
/// assert!(spinning.count() == 1 && !spinning.may_spin(2, 1, 1));
/// let token = others.started.lock().unwrap().take().expect("it was started");
/// assert!(spinning.retire(token, &others).is_none()); // found nothing, scans again, sleeps
///
/// spinning.set_needspinning(); // work waits, and no M is there to look
/// assert!(spinning.is_needspinning());
/// let token = spinning.take_needspinning().expect("it is asked for");
/// spinning.found_work(token, &others);
/// let token = spinning.must_recheck(false).expect("no M spins, and no P is idle");
/// spinning.give_up(token);
/// let token = spinning.elect().expect("there is none");
/// assert!(spinning.elect().is_none());
/// assert!(spinning.wakep_under(|| Some(())).is_none());
/// spinning.give_up(token);
/// let ((), token) = spinning.wakep_under(|| Some(())).expect("none spins, and a P is idle");
/// spinning.give_up(token);
/// spinning.give_up(spinning.become_spinning());
/// assert_eq!(spinning.count(), 0);
/// # }
/// ```
pub struct Spinning<H: Host> {
    /// How many Ms are counted as spinning.
    nmspinning: Atomic<H, u64>,
    /// Work was seen with no P, or no M, to run it: the next M about to idle its P, or to sleep, must search again.
    needspinning: Atomic<H, bool>,
}

/// What this room asks of the rest of the scheduler.
pub trait Neighbours {
    /// An idle P, taken off the list.
    type IdleP;
    /// Is a G queued, anywhere?
    fn any_work(&self) -> bool;
    /// Is there work for one more spinning M: is a G queued, or does no M wait for a deadline?
    fn needs_spinning_m(&self) -> bool {
        self.any_work()
    }
    /// Is a P idle? Asked without the lock.
    fn is_any_p_idle(&self) -> bool;
    /// Takes an idle P; if there is none, runs `or_else` before the idle list can change.
    fn pidleget(&self, or_else: impl FnOnce()) -> Option<Self::IdleP>;
    /// The same for [`startm`](Neighbours::startm): takes what that needs under the same hold of the lock.
    fn pidleget_to_start(&self, or_else: impl FnOnce()) -> Option<Self::IdleP> {
        self.pidleget(or_else)
    }
    /// Runs `p` on some M, which starts out spinning.
    fn startm(&self, p: Self::IdleP, token: SpinningToken);
}

impl<H: Host> Spinning<H> {
    /// No M is spinning.
    #[track_caller]
    pub fn new() -> Self {
        Spinning { nmspinning: Atomic::new(0), needspinning: Atomic::new(false) }
    }

    /// Work was just queued: makes sure that an M will look for it. Go: `wakep`.
    pub fn wakep(&self, others: &impl Neighbours) {
        // `work/spinning`, submitter's half. The other half is in `retire`.
        store_load::<H>();
        self.start_spinning_m(others);
    }

    /// The same under the scheduler's lock, while a P is idle: `take` takes that. What it returns is to be started when the lock is free.
    pub fn wakep_under<P>(&self, take: impl FnOnce() -> Option<P>) -> Option<(P, SpinningToken)> {
        // `work/spinning`, submitter's half, as in `wakep`.
        store_load::<H>();
        let token = self.elect()?;
        let Some(p) = take() else {
            self.give_up(token);
            return None;
        };
        Some((p, token))
    }

    /// Called behind a StoreLoad, by a thread that knows of work.
    fn start_spinning_m(&self, others: &impl Neighbours) {
        let is_one_coming = || self.is_needspinning() && !others.is_any_p_idle();
        let mut elected = self.elect_unless(is_one_coming);
        if elected.is_none() {
            return;
        }
        let p = others.pidleget_to_start(|| {
            // Lowered before the idle list can change: an M that idles its P after this, and retires, shows to every
            // later submitter a count that stands for an M.
            elected.take().into_iter().for_each(|token| self.give_up(token));
            // After that: an M that is counted beside us, and clears the flag as it begins, may take us for a spinning M.
            self.set_needspinning();
        });
        if let (Some(p), Some(token)) = (p, elected) {
            others.startm(p, token);
        }
    }

    /// The caller, a spinning M, has found work. If it was the last, the next G needs a spinning M of its own. Go:
    /// `resetspinning`, which wakes one without a scan: so each wake-up of one M wakes a second, for nothing.
    pub fn found_work(&self, token: SpinningToken, others: &impl Neighbours) {
        if !self.leave(token).was_last {
            return;
        }
        // `work/spinning`, spinning M's half, as in `retire`: a submitter that trusted our count queued its G before our scan.
        store_load::<H>();
        if others.needs_spinning_m() {
            self.start_spinning_m(others);
        }
    }

    /// The caller, a spinning M, has found no work, and has idled its P. `Some`: there was work after all; search again, with
    /// this P.
    ///
    /// Every spinning M does this, not only the last: others that are counted may be leaving too, or be a `wakep` that
    /// finds no P and never scans. An M that was not spinning must not: it would burn the core (golang/go #43997).
    #[must_use]
    pub fn retire<N: Neighbours>(&self, token: SpinningToken, others: &N) -> Option<(N::IdleP, SpinningToken)> {
        self.leave(token);
        // `work/spinning`, spinning M's half. The other half is in `wakep`.
        store_load::<H>();
        if !others.any_work() {
            return None;
        }
        others.pidleget(|| self.set_needspinning()).map(|p| (p, self.become_spinning()))
    }

    /// Asked under the scheduler's lock, by an M that is about to idle its P or to sleep. `Some`: search again instead.
    #[must_use]
    pub fn take_needspinning(&self) -> Option<SpinningToken> {
        // Relaxed: written under the same lock, in `set_needspinning`.
        self.needspinning.load(Relaxed).then(|| self.become_spinning())
    }

    /// Asked under the scheduler's lock, by an M that is about to idle a P and has not scanned every queue. `Some`: search
    /// first: a spinning M is asked for; or no M is spinning and no P is idle, so no M would notice Gs that came into another
    /// P's ring without a wake: those that came back from system calls when no P was idle, as a share of the global queue. The
    /// spinning M to which it left the other rings may have found work since, or retired.
    #[must_use]
    pub fn must_recheck(&self, is_another_idle: bool) -> Option<SpinningToken> {
        let called = self.take_needspinning();
        if called.is_some() || is_another_idle {
            return called;
        }
        // `work/spinning`, as a submitter: what came into a ring came before us, by the lock.
        store_load::<H>();
        self.elect()
    }

    /// Counts one M. It must scan every queue after this, not before.
    pub fn become_spinning(&self) -> SpinningToken {
        // Relaxed: a count. What it is compared with is ordered by `work/spinning`.
        self.nmspinning.fetch_add(1, Relaxed);
        // Relaxed: a request that it wipes out is served by the scan, or made again: `request`, and the paragraph before it at the top.
        self.needspinning.store(false, Relaxed);
        SpinningToken::assume()
    }

    /// Is it worth while to start spinning? Not when there is a spinning M for half of the busy Ps already, or when there are
    /// `at_most`; beside none it always is.
    pub fn may_spin(&self, procs: usize, npidle: usize, at_most: usize) -> bool {
        let spinning = self.count();
        spinning < at_most.max(1) && 2 * spinning < procs.saturating_sub(npidle)
    }

    /// How many Ms are spinning now; a hint.
    pub fn count(&self) -> usize {
        // Relaxed: a hint.
        self.nmspinning.load(Relaxed) as usize
    }

    /// Is one more asked for? Exact only under the scheduler's lock.
    pub fn is_needspinning(&self) -> bool {
        // Relaxed: written under the same lock, in `set_needspinning`; where it is read without, `work/spinning` came just before.
        self.needspinning.load(Relaxed)
    }

    /// Work waits and no M can search for it now. Called under the scheduler's lock.
    pub fn set_needspinning(&self) {
        // Relaxed: read under the same lock, in `take_needspinning`.
        self.needspinning.store(true, Relaxed);
    }

    /// Stops spinning without a second scan, where `set_needspinning` or a stop has taken care of what may be queued.
    pub fn give_up(&self, token: SpinningToken) {
        self.leave(token);
    }

    /// The token of the first spinning M, if there is none: at most one winner. A submitter calls
    /// [`wakep`](Spinning::wakep), an M that is about to idle a P [`must_recheck`](Spinning::must_recheck).
    pub fn elect(&self) -> Option<SpinningToken> {
        self.elect_unless(|| false)
    }

    /// The same, unless `is_one_coming`, which is asked only if there is none.
    fn elect_unless(&self, is_one_coming: impl FnOnce() -> bool) -> Option<SpinningToken> {
        // Relaxed: `work/spinning` came just before, in `wakep`, in `wakep_under`, in `found_work` and in `must_recheck`.
        if self.nmspinning.load(Relaxed) != 0 || is_one_coming() {
            return None;
        }
        // Relaxed: elects. The P that goes with it travels under the lock.
        self.nmspinning.compare_exchange(0, 1, Relaxed, Relaxed).ok().map(|_| SpinningToken::assume())
    }

    fn leave(&self, token: SpinningToken) -> Departure {
        token.relinquish();
        // AcqRel: `baton`, and `request`. An M that leaves later, and then scans, sees the Gs that we found and did not run;
        // and a request that it makes comes after those that we have cleared.
        let before = self.nmspinning.fetch_sub(1, AcqRel);
        debug_assert!(before > 0, "spinning: an M leaves that was not counted");
        Departure { was_last: before == 1 }
    }
}

/// An M is no longer counted.
struct Departure {
    was_last: bool,
}
