//! The room of the poller's waiter, and its wrong variants. A variant is the room, but for one function.

use spinpark_kernel::host::{Host, NEVER, Nanos};
use spinpark_kernel::protocol::netpoll::{Neighbours, Netpoll, Poll};
use std::cell::Cell;

/// The room's functions, the right ones unless a variant says otherwise.
pub trait Polling: Send + Sync + Sized + 'static {
    /// See [`Netpoll::claim`].
    fn claim<H: Host>(room: &Netpoll<H>, others: &impl Neighbours) -> Option<Poll> {
        room.claim(others)
    }
    /// See [`Netpoll::prepare`].
    fn prepare<H: Host>(room: &Netpoll<H>, poll: &Poll, others: &impl Neighbours) -> Nanos {
        room.prepare(poll, others)
    }
    /// See [`Netpoll::leave`]; what is due next, as it is seen after that.
    fn comes_back<H: Host>(room: &Netpoll<H>, poll: Poll, others: &impl Neighbours) -> Nanos {
        room.leave(poll, 1);
        others.deadline()
    }
    /// See [`Netpoll::peek`].
    fn peek<H: Host>(room: &Netpoll<H>, others: &impl Neighbours, look: impl FnOnce()) -> bool {
        room.peek(others, || 1, look)
    }
    /// See [`Netpoll::announce`].
    fn announce<H: Host>(room: &Netpoll<H>, when: Nanos, others: &impl Neighbours) {
        room.announce(when, others);
    }
    /// See [`Netpoll::is_missing`].
    fn is_missing<H: Host>(room: &Netpoll<H>, others: &impl Neighbours) -> bool {
        room.is_missing(others)
    }
}

/// The room as it is.
pub struct Right;
impl Polling for Right {}

/// The waiter does not read the deadline again once it has published until when it waits.
pub struct ReadsItOnce;
impl Polling for ReadsItOnce {
    fn prepare<H: Host>(room: &Netpoll<H>, poll: &Poll, others: &impl Neighbours) -> Nanos {
        room.prepare(poll, &But { deadline: Cell::new(Some(others.deadline())), ..But::all(others) })
    }
}

/// An M that would wait and finds another there does not look until when that one waits.
pub struct TrustsWhoWaits;
impl Polling for TrustsWhoWaits {
    fn claim<H: Host>(room: &Netpoll<H>, others: &impl Neighbours) -> Option<Poll> {
        room.claim(&But { interrupts: false, ..But::all(others) })
    }
}

/// An M that goes to sleep looks at the waiter before its StoreLoad: the waiter has left meanwhile, without a look at
/// the timer.
pub struct LooksBeforeItsFence;
impl Polling for LooksBeforeItsFence {
    fn claim<H: Host>(room: &Netpoll<H>, others: &impl Neighbours) -> Option<Poll> {
        if !room.is_blocked() {
            return room.claim(others);
        }
        if room.is_missing(others) {
            others.interrupt();
        }
        None
    }
}

/// After a peek, the M does not wake the M whose wait was refused because of it.
pub struct PeeksAndGoes;
impl Polling for PeeksAndGoes {
    fn peek<H: Host>(room: &Netpoll<H>, others: &impl Neighbours, look: impl FnOnce()) -> bool {
        room.peek(&But { wakes: false, ..But::all(others) }, || 1, look)
    }
}

/// A peek does not exclude a wait: it eats the interrupt that was meant for the waiter (golang/go #42515).
pub struct PeeksBesideWhoWaits;
impl Polling for PeeksBesideWhoWaits {
    fn peek<H: Host>(_room: &Netpoll<H>, _others: &impl Neighbours, look: impl FnOnce()) -> bool {
        look();
        true
    }
}

/// A thread that adds a timer wakes an M if none waits, but does not interrupt one that waits for a later one (golang/go #38860).
pub struct NeverInterrupts;
impl Polling for NeverInterrupts {
    fn announce<H: Host>(room: &Netpoll<H>, when: Nanos, others: &impl Neighbours) {
        room.announce(when, &But { interrupts: false, ..But::all(others) });
    }
}

/// A thread that adds a timer interrupts an M that waits, but wakes none if none does (golang/go #44868).
pub struct WakesNobody;
impl Polling for WakesNobody {
    fn announce<H: Host>(room: &Netpoll<H>, when: Nanos, others: &impl Neighbours) {
        room.announce(when, &But { wakes: false, ..But::all(others) });
    }
}

/// An M that hands a P on takes any waiter for one that waits short enough.
pub struct IgnoresUntil;
impl Polling for IgnoresUntil {
    fn is_missing<H: Host>(room: &Netpoll<H>, others: &impl Neighbours) -> bool {
        let is_something = others.deadline() != NEVER || others.is_awaited();
        is_something && room.is_missing(others) && !room.is_blocked()
    }
}

/// An M that hands a P on does not look at timers at all (Go's `handoffp`, but for `sysmon`).
pub struct NeverMissing;
impl Polling for NeverMissing {
    fn is_missing<H: Host>(_room: &Netpoll<H>, _others: &impl Neighbours) -> bool {
        false
    }
}

/// Neighbours that leave something out.
struct But<'a, N> {
    others: &'a N,
    deadline: Cell<Option<Nanos>>,
    interrupts: bool,
    wakes: bool,
}

impl<'a, N> But<'a, N> {
    fn all(others: &'a N) -> Self {
        But { others, deadline: Cell::new(None), interrupts: true, wakes: true }
    }
}

impl<N: Neighbours> Neighbours for But<'_, N> {
    fn deadline(&self) -> Nanos {
        self.deadline.get().unwrap_or_else(|| self.others.deadline())
    }
    fn is_awaited(&self) -> bool {
        self.others.is_awaited()
    }
    fn interrupt(&self) {
        if self.interrupts {
            self.others.interrupt();
        }
    }
    fn wakep(&self) {
        if self.wakes {
            self.others.wakep();
        }
    }
}

super::variants! {
    "netpoll", Polling, right: Right,
    "reads-it-once" => ReadsItOnce,
    "trusts-who-waits" => TrustsWhoWaits,
    "looks-before-its-fence" => LooksBeforeItsFence,
    "peeks-and-goes" => PeeksAndGoes,
    "peeks-beside-who-waits" => PeeksBesideWhoWaits,
    "never-interrupts" => NeverInterrupts,
    "wakes-nobody" => WakesNobody,
    "ignores-until" => IgnoresUntil,
    "never-missing" => NeverMissing,
}
