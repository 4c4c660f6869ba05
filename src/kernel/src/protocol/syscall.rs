//! An M in a system call, and which M has its P meanwhile.
//!
//! Go: `entersyscall`, `entersyscallblock`, `exitsyscall`, `exitsyscallTryGetP`, `exitsyscallNoP`; the taking in
//! `retake`.
//!
//! **A P has one owner at every moment.** While its M is in a system call the P is held in the P's word, with the M's
//! number and a tick. The thread that exchanges that for "owned" owns the P: the M when it returns, the monitor, a stopper, or
//! another M that returns and wants this P. One exchange wins. The tick counts every taking, so that a thread that read the
//! word during one system call cannot take the P out of the next.
//!
//! | an M that enters, in [`entersyscall`]   | a stopper, in `stw::stop`          |
//! |-----------------------------------------|------------------------------------|
//! | 1. puts its P into the word             | 1. sets `Want::Stop` in `wanted`   |
//! | 2. StoreLoad                            | 2. StoreLoad                       |
//! | 3. reads `wanted`: hands the P off      | 3. reads every word: takes the P   |
//!
//! Pair `syscall/stop`. Whichever fence comes second, its reader sees the other's writer: no P sits out a stop in a
//! system call. (Go 1.27 reads before it writes here, and a stop can then wait for a whole system call.)
//!
//! Pair `syscall-word`: the thread that takes a P out of its word sees its queues as the M that put it there left them.
//!
//! The ways out, in order: the P is still there; the old P, out of another M's system call; an idle P; none, then the
//! G is queued behind all others and the M has to rest.
//!
//! Checked by: verification/rooms/src/rooms/syscall.rs, proptests/tests/figures.rs

use crate::atomic::{Atomic, Value, store_load};
use crate::host::Host;
use crate::types::g::G;
use crate::types::m::MId;
use crate::types::p::{OwnedP, PId};
use crate::types::token::Unspent;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// What a P's word holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyscallStatus {
    /// The M that is in a system call and has left the P here; `None`: the P's owner holds the `OwnedP`.
    pub in_syscall: Option<MId>,
    /// How often the P was taken out of its word, modulo 2^32. Go: `syscalltick`.
    pub tick: u32,
}

impl Value for SyscallStatus {
    #[inline(always)]
    fn into_word(self) -> u64 {
        u64::from(self.in_syscall.map_or(0, |m| m.0 + 1)) | u64::from(self.tick) << 32
    }
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        SyscallStatus { in_syscall: (word as u32).checked_sub(1).map(MId), tick: (word >> 32) as u32 }
    }
}

/// The word of one P.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::{protocol::syscall::SyscallWord, types::{m::MId, p::{OwnedP, PId}}};
/// fn in_and_out(word: &SyscallWord<Os>, p: OwnedP) -> Option<OwnedP> {
///     let left = word.put(p, MId(0));
///     assert_eq!(word.peek(), left);
///     word.take(left) // the exchange decides: the M, or the monitor
/// }
/// # let _: fn(&SyscallWord<Os>, OwnedP) -> Option<OwnedP> = in_and_out;
/// let word = SyscallWord::<Os>::starting_at(PId(0), 7);
/// assert!(word.take_any().is_none()); // its M is in no system call
/// assert_eq!((word.peek().tick, SyscallWord::<Os>::new(PId(0)).peek().tick), (7, 0));
/// # }
/// ```
pub struct SyscallWord<H: Host> {
    p: PId,
    pub(crate) word: Atomic<H, SyscallStatus>,
}

impl<H: Host> SyscallWord<H> {
    /// Of `p`, which is owned.
    #[track_caller]
    pub fn new(p: PId) -> Self {
        Self::starting_at(p, 0)
    }

    /// Of `p`, which is owned, and was taken so often: for models that are to meet the wrap soon.
    #[track_caller]
    pub fn starting_at(p: PId, tick: u32) -> Self {
        SyscallWord { p, word: Atomic::new(SyscallStatus { in_syscall: None, tick }) }
    }

    /// Leaves the P here, for M `m`, which enters a system call.
    #[inline]
    pub fn put(&self, p: OwnedP, m: MId) -> SyscallStatus {
        debug_assert!(p.id() == self.p, "syscall: P{} was put into the word of P{}", p.id().0, self.p.0);
        p.relinquish();
        // Relaxed: while the P is owned only its owner writes the word, which is us.
        let status = SyscallStatus { in_syscall: Some(m), ..self.word.load(Relaxed) };
        // Release: `syscall-word`, the half of the M that enters.
        self.word.store(status, Release);
        status
    }

    /// Takes the P, if it is still in the same system call.
    #[inline]
    pub fn take(&self, seen: SyscallStatus) -> Option<OwnedP> {
        seen.in_syscall?;
        let owned = SyscallStatus { in_syscall: None, tick: seen.tick.wrapping_add(1) };
        // Acquire: `syscall-word`, the half of the taker. Nothing to release: what the taker does goes on with the P.
        self.word.compare_exchange(seen, owned, Acquire, Relaxed).ok().map(|_| OwnedP::assume(self.p))
    }

    /// Takes the P, if it is in a system call now. Go: `retake`, for a stopper.
    pub fn take_any(&self) -> Option<OwnedP> {
        self.take(self.peek())
    }

    /// What it holds at this moment; a hint.
    #[inline]
    pub fn peek(&self) -> SyscallStatus {
        // Relaxed: a hint, the exchange decides. For a stopper `syscall/stop` came before.
        self.word.load(Relaxed)
    }
}

/// An M that is away from its P, in a system call, or because its G was preempted. It must come back by `exitsyscall`, and panics when it is
/// dropped.
#[must_use = "an M that entered a system call must exit it"]
#[derive(Debug)]
pub struct Away {
    m: MId,
    p: PId,
    /// What was left in the word. `None`: the P was handed off at once.
    left: Option<SyscallStatus>,
    /// It is in none: its G was preempted.
    was_detached: bool,
    /// Whose M it is. The scheduler signs it; a model of this room has none.
    pub(crate) sched: usize,
    unspent: Unspent<Away>,
}

impl Away {
    fn new(m: MId, p: PId, left: Option<SyscallStatus>, was_detached: bool) -> Away {
        Away { m, p, left, was_detached, sched: 0, unspent: Unspent::new() }
    }

    /// For an M that has released its P otherwise, to stop the world.
    pub(crate) fn without(sched: usize, m: MId, p: PId) -> Away {
        Away::new(m, p, None, false).signed(sched)
    }

    /// Of an M of this scheduler.
    #[inline(always)]
    pub(crate) fn signed(self, sched: usize) -> Away {
        Away { sched, ..self }
    }

    /// Is it that of an M whose G was preempted, by [`interrupt`]?
    pub fn was_detached(&self) -> bool {
        self.was_detached
    }

    /// Which M.
    pub fn m(&self) -> MId {
        self.m
    }

    /// The preempted G enters a system call.
    pub(crate) fn enters_syscall(self) -> Away {
        Away { was_detached: false, ..self }
    }

    /// Gives the evidence up, for an M that gets its P on another way, or ends.
    pub(crate) fn spend(self) -> MId {
        self.unspent.spend();
        self.m
    }
}

/// What this room asks of the rest of the scheduler.
pub trait Neighbours<H: Host> {
    /// The word of `p`.
    fn syscall_word(&self, p: PId) -> &SyscallWord<H>;
    /// Is every P wanted, by a stop or a safepoint? Asked behind a StoreLoad.
    fn is_wanted(&self) -> bool;
    /// Hands `p` off.
    fn handoffp(&self, p: OwnedP);
    /// An idle P; or, under the same hold of the lock, `g` is queued behind all others.
    fn pidleget_or_queue(&self, g: G) -> Option<(OwnedP, G)>;
}

/// The way in which an M that comes back from a system call got a P.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// No thread had taken it.
    Kept,
    /// Its old P, out of another M's system call.
    TookBack,
    /// Another P, which was idle.
    Idle,
    /// None: its G was queued, and a P came to it later.
    Queued,
}

/// M `m` enters a system call that may be short: `p` stays in its word until a thread takes it. Go: `entersyscall`.
///
/// ```
/// use spinpark_kernel::{host::Host, protocol::syscall::{Neighbours, entersyscall, exitsyscall}};
/// use spinpark_kernel::types::{g::G, m::MId, p::OwnedP};
/// // `Sched::entersyscall` and `exitsyscall`, in one:
/// fn read<H: Host>(m: MId, p: OwnedP, g: G, others: &impl Neighbours<H>) -> Option<(OwnedP, G)> {
///     let away = entersyscall(m, p, others);
///     // The system call.
///     exitsyscall(away, g, others).ok().map(|(p, g, _way)| (p, g))
/// }
/// ```
#[inline]
pub fn entersyscall<H: Host>(m: MId, p: OwnedP, others: &impl Neighbours<H>) -> Away {
    let id = p.id();
    let syscall_word = others.syscall_word(id);
    let left = syscall_word.put(p, m);
    // `syscall/stop`, the half of the M that enters. The other half is in `stw::stop`.
    store_load::<H>();
    if others.is_wanted()
        && let Some(p) = syscall_word.take(left)
    {
        others.handoffp(p);
    }
    Away::new(m, id, Some(left), false)
}

/// The G on M `m` is CPU-bound and ignores preemption: it is treated as one in a system call, and `p` stays in its word until
/// a thread takes it. For a signal handler: two accesses, no lock, no wake. So a stopper may miss it at this moment, as it
/// misses a P that runs; the monitor, which sent the signal, sees it at its next tick. Go, which stops the G: `asyncPreempt`.
///
/// ```
/// use spinpark_kernel::{host::Host, protocol::syscall::{Neighbours, exitsyscall, interrupt}};
/// use spinpark_kernel::types::{g::G, m::MId, p::OwnedP};
/// fn preempt<H: Host>(m: MId, p: OwnedP, g: G, others: &impl Neighbours<H>) -> bool {
///     let away = interrupt(m, p, others); // in the signal handler
///     assert!(away.was_detached());
///     exitsyscall(away, g, others).is_ok() // when the G wants something of the scheduler
/// }
/// ```
#[inline]
pub fn interrupt<H: Host>(m: MId, p: OwnedP, others: &impl Neighbours<H>) -> Away {
    let id = p.id();
    let left = others.syscall_word(id).put(p, m);
    Away::new(m, id, Some(left), true)
}

/// The P that the M of `away` has left, if it still is in its word.
pub(crate) fn take_left<H: Host>(away: &Away, others: &impl Neighbours<H>) -> Option<OwnedP> {
    away.left.and_then(|left| others.syscall_word(away.p).take(left))
}

/// Is the P that the M of `away` has left still in its word? A hint, unless it is not: then it stays so.
pub(crate) fn is_left<H: Host>(away: &Away, others: &impl Neighbours<H>) -> bool {
    away.left == Some(others.syscall_word(away.p).peek())
}

/// M `m` enters a system call that is known to block: `p` is handed off at once. Go: `entersyscallblock`.
///
/// ```
/// use spinpark_kernel::{host::Host, protocol::syscall::{Away, Neighbours, entersyscallblock}};
/// use spinpark_kernel::types::{m::MId, p::OwnedP};
/// fn sleep<H: Host>(m: MId, p: OwnedP, others: &impl Neighbours<H>) -> Away {
///     let away = entersyscallblock(m, p, others); // the P is another M's now
///     assert_eq!(away.m(), m);
///     away
/// }
/// ```
pub fn entersyscallblock<H: Host>(m: MId, p: OwnedP, others: &impl Neighbours<H>) -> Away {
    let id = p.id();
    others.handoffp(p);
    Away::new(m, id, None, false)
}

/// The system call is over; `g` is what ran before it. `Err`: there is no P, `g` is queued, and the M has to rest.
/// Go: `exitsyscall`.
///
/// # Errors
/// The M, if it has to rest.
///
/// ```
/// use spinpark_kernel::{host::Host, protocol::syscall::{Away, Neighbours, Way, exitsyscall}};
/// use spinpark_kernel::types::g::G;
/// fn was_quick<H: Host>(away: Away, g: G, others: &impl Neighbours<H>) -> bool {
///     matches!(exitsyscall(away, g, others), Ok((_p, _g, Way::Kept))) // no thread had taken the P
/// }
/// ```
#[inline]
pub fn exitsyscall<H: Host>(away: Away, g: G, others: &impl Neighbours<H>) -> Result<(OwnedP, G, Way), MId> {
    let p = away.p;
    let kept = take_left(&away, others);
    let m = away.spend();
    let syscall_word = others.syscall_word(p);
    if let Some(p) = kept {
        return Ok((p, g, Way::Kept));
    }
    // Not while a stop wants it too.
    if !others.is_wanted()
        && let Some(p) = syscall_word.take_any()
    {
        return Ok((p, g, Way::TookBack));
    }
    others.pidleget_or_queue(g).map(|(p, g)| (p, g, Way::Idle)).ok_or(m)
}

static_assertions::assert_not_impl_any!(Away: Copy, Clone);
