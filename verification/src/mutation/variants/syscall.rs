//! The syscall room and its wrong variants. A variant is the room, but for one function.

use spinpark_kernel::host::Host;
use spinpark_kernel::protocol::syscall::{self, Away, Neighbours, SyscallStatus, SyscallWord, Way};
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::m::MId;
use spinpark_kernel::types::p::{OwnedP, PId};

/// The room's functions, the right ones unless a variant says otherwise.
pub trait Crossing: Send + Sync + Sized + 'static {
    /// See [`entersyscall`](syscall::entersyscall).
    fn entersyscall<H: Host>(m: MId, p: OwnedP, others: &impl Neighbours<H>) -> Away {
        syscall::entersyscall(m, p, others)
    }
    /// See [`exitsyscall`](syscall::exitsyscall). `old` is the P that the M entered with.
    ///
    /// # Errors
    /// The M, if it has to rest.
    fn exitsyscall<H: Host>(away: Away, _old: PId, g: G, others: &impl Neighbours<H>) -> Result<(OwnedP, G, Way), MId> {
        syscall::exitsyscall(away, g, others)
    }
    /// Takes `p`, which was `seen` in a system call. See [`SyscallWord::take`].
    fn retake<H: Host>(syscall_word: &SyscallWord<H>, _p: PId, seen: SyscallStatus) -> Option<OwnedP> {
        syscall_word.take(seen)
    }
}

/// The room as it is.
pub struct Right;
impl Crossing for Right {}

/// Go 1.27's order: an M that enters reads whether a stop wants its P, then puts it into its word; a stopper looks at
/// the words once.
pub struct ReadsBeforeItWrites;
impl Crossing for ReadsBeforeItWrites {
    fn entersyscall<H: Host>(m: MId, p: OwnedP, others: &impl Neighbours<H>) -> Away {
        let is_wanted = others.is_wanted();
        syscall::entersyscall(m, p, &HasRead { is_wanted, others })
    }
}

/// A retaker that compares the M, but not the tick: it takes the P out of the next system call as well.
pub struct TakeWithoutTick;
impl Crossing for TakeWithoutTick {
    fn retake<H: Host>(syscall_word: &SyscallWord<H>, _p: PId, seen: SyscallStatus) -> Option<OwnedP> {
        let now = syscall_word.peek();
        if now.in_syscall == seen.in_syscall { syscall_word.take(now) } else { None }
    }
}

/// A retaker that asks which tick is the larger, as if ticks did not wrap around: it takes the P unless its call is a later one.
pub struct TakeUnlessLater;
impl Crossing for TakeUnlessLater {
    fn retake<H: Host>(syscall_word: &SyscallWord<H>, _p: PId, seen: SyscallStatus) -> Option<OwnedP> {
        let now = syscall_word.peek();
        if now.in_syscall == seen.in_syscall && now.tick <= seen.tick { syscall_word.take(now) } else { None }
    }
}

/// A retaker that loads the word, and then writes "owned" into it, whatever came between.
pub struct RetakeByStore;
impl Crossing for RetakeByStore {
    fn retake<H: Host>(syscall_word: &SyscallWord<H>, p: PId, seen: SyscallStatus) -> Option<OwnedP> {
        seen.in_syscall?;
        if syscall_word.peek() != seen {
            return None;
        }
        syscall_word.take_any().map(OwnedP::discard);
        Some(OwnedP::forge(p))
    }
}

/// An M that returns keeps its P if a load says that it is still there.
pub struct ExitWithoutItsExchange;
impl Crossing for ExitWithoutItsExchange {
    fn exitsyscall<H: Host>(away: Away, old: PId, g: G, others: &impl Neighbours<H>) -> Result<(OwnedP, G, Way), MId> {
        let is_there = others.syscall_word(old).peek().in_syscall == Some(away.m());
        if is_there {
            syscall::exitsyscall(away, g, &HasSeen { old, others })
        } else {
            syscall::exitsyscall(away, g, others)
        }
    }
}

/// Neighbours of an M that has asked already whether its P is wanted.
struct HasRead<'a, N> {
    is_wanted: bool,
    others: &'a N,
}

impl<H: Host, N: Neighbours<H>> Neighbours<H> for HasRead<'_, N> {
    fn syscall_word(&self, p: PId) -> &SyscallWord<H> {
        self.others.syscall_word(p)
    }
    fn is_wanted(&self) -> bool {
        self.is_wanted
    }
    fn handoffp(&self, p: OwnedP) {
        self.others.handoffp(p);
    }
    fn pidleget_or_queue(&self, g: G) -> Option<(OwnedP, G)> {
        self.others.pidleget_or_queue(g)
    }
}

/// Neighbours of an M that has seen its old P in its word: if the exchange then fails, it has the P all the same.
struct HasSeen<'a, N> {
    old: PId,
    others: &'a N,
}

impl<H: Host, N: Neighbours<H>> Neighbours<H> for HasSeen<'_, N> {
    fn syscall_word(&self, p: PId) -> &SyscallWord<H> {
        self.others.syscall_word(p)
    }
    fn is_wanted(&self) -> bool {
        true
    }
    fn handoffp(&self, p: OwnedP) {
        self.others.handoffp(p);
    }
    fn pidleget_or_queue(&self, g: G) -> Option<(OwnedP, G)> {
        Some((OwnedP::forge(self.old), g))
    }
}

super::variants! {
    "syscall", Crossing, right: Right,
    // A variant of what the room asks its neighbours for; it stands in the model.
    "queues-outside-the-lock" => Right,
    "reads-before-it-writes" => ReadsBeforeItWrites,
    "take-without-tick" => TakeWithoutTick,
    "take-unless-later" => TakeUnlessLater,
    "retake-by-store" => RetakeByStore,
    "exit-without-its-exchange" => ExitWithoutItsExchange,
}
