//! How the wait of an M in the system's poller is ended from elsewhere.
//!
//! Invariants 79 and 80: what was written before an interrupt is seen after a wait that ends, by this interrupt or by one that was on its
//! way; no M stays in the poller when no task waits for it.
//!
//! What may be relied on of the system: it remembers one notice. If there is one already, an interrupter only reads that.

use crate::host::RoomHost;
use crate::room::{Begun, CallId, Does, Effects, Real, Room, Spec, Waiting};
use crate::values::Maker;
use kernel::atomic::Atomic;
use kernel::host::{NEVER, Nanos, Parker};
use kernel::protocol::netpoll::{Neighbours, Netpoll};
use kernel::waits::interrupt::{interrupt, wait};
use kernel::waits::readiness;
use std::sync::atomic::Ordering::Relaxed;

/// The room.
#[derive(Debug)]
pub struct Interrupts;

/// What a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It waits in the poller.
    M,
    /// It has something for the M to see.
    Interrupter(usize),
    /// It waits for a socket, by which the M waits.
    Task,
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Waits until it has seen what that one has written.
    Await(usize),
    /// Waits until it has seen what both have.
    AwaitBoth,
    /// Waits as long as a task does.
    Idle,
    /// Writes it, and interrupts.
    Interrupt,
    /// Gives up.
    GiveUp,
}

impl Room for Interrupts {
    type Setup = ();
    type Role = Role;
    type Op = Op;
    type Answer = ();
    type Spec = Written;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "interrupt";
    const SOURCE: &'static str = "interrupt readiness";

    fn setups() -> Vec<()> {
        vec![()]
    }
    fn roles() -> Vec<Role> {
        vec![Role::M, Role::Interrupter(0), Role::Interrupter(1), Role::Task]
    }
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        match role {
            Role::M => vec![Op::Await(0), Op::Await(1), Op::AwaitBoth, Op::Idle],
            Role::Interrupter(_) => vec![Op::Interrupt],
            Role::Task if done.is_empty() => vec![Op::GiveUp],
            Role::Task => Vec::new(),
        }
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    fn sleeps(op: Op) -> bool {
        matches!(op, Op::Await(_) | Op::AwaitBoth | Op::Idle)
    }
    fn is_worth_it(roles: &[Role]) -> bool {
        let of = |role| roles.iter().filter(|&&other| other == role).count();
        of(Role::M) == 1 && of(Role::Interrupter(0)) <= 1 && of(Role::Interrupter(1)) <= 1
    }
}

/// The poller of the system, and the scheduler's, on a host.
pub struct OnHost<H: RoomHost> {
    news: [Atomic<H, bool>; 2],
    /// Is there a notice, that ends the next wait?
    notice: Atomic<H, bool>,
    noticed: H::Parker,
    netpoll: Netpoll<H>,
    waiting: readiness::Waiting<H>,
    idle: H::Parker,
}

impl<H: RoomHost> Neighbours for OnHost<H> {
    fn deadline(&self) -> Nanos {
        NEVER
    }
    fn is_awaited(&self) -> bool {
        self.waiting.is_any()
    }
    fn interrupt(&self) {
        self.idle.unpark();
    }
    fn wakep(&self) {}
}

impl<H: RoomHost> OnHost<H> {
    /// The M waits until it has seen them.
    fn sees(&self, news: &[Atomic<H, bool>]) {
        // Relaxed: that it is seen is what an interrupt is for; and a notice orders nothing.
        while news.iter().any(|news| !news.load(Relaxed)) {
            wait::<H, _>(|| {
                self.noticed.park();
                self.notice.swap(false, Relaxed)
            });
        }
    }

    /// As `Sched::sleep`.
    fn idles(&self) {
        while let Some(poll) = self.netpoll.claim(self) {
            let until = self.netpoll.prepare(&poll, self);
            assert!(until == NEVER, "there is no timer");
            if self.is_awaited() {
                self.idle.park();
            }
            self.netpoll.leave(poll, 0);
        }
    }
}

impl<H: RoomHost> Real<Interrupts, H> for OnHost<H> {
    type Hand = Role;
    fn new((): (), roles: &[Role]) -> Self {
        let new = OnHost {
            news: [Atomic::new(false), Atomic::new(false)],
            notice: Atomic::new(false),
            noticed: H::Parker::new(),
            netpoll: Netpoll::new(),
            waiting: readiness::Waiting::new(),
            idle: H::Parker::new(),
        };
        roles.iter().filter(|role| **role == Role::Task).for_each(|_| _ = new.waiting.add());
        new
    }
    fn hand(&self, role: Role) -> Role {
        role
    }
    fn begin<'a>(&'a self, role: &'a mut Role, op: Op, _: &Maker<H>) -> Begun<'a, H, ()> {
        match (op, role) {
            (Op::Await(of), _) => self.sees(&self.news[of..=of]),
            (Op::AwaitBoth, _) => self.sees(&self.news),
            (Op::Idle, _) => self.idles(),
            (_, Role::Interrupter(of)) => {
                // Relaxed: as in `sees`.
                self.news[*of].store(true, Relaxed);
                interrupt::<H, _>(|| {
                    // Relaxed: as above.
                    if self.notice.compare_exchange(false, true, Relaxed, Relaxed).is_ok() {
                        self.noticed.unpark();
                    }
                });
            }
            // As `Sched::break_idle_poll`.
            _ if self.waiting.gave_up(1) && self.netpoll.is_blocked() => self.interrupt(),
            _ => (),
        }
        Begun::Over(())
    }
}

/// What was written, and how many tasks wait.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Written {
    interrupters: Vec<Option<usize>>,
    news: [bool; 2],
    waiting: usize,
}

impl Spec<Interrupts> for Written {
    fn new((): (), roles: &[Role]) -> Self {
        let of = |role: &Role| if let Role::Interrupter(of) = role { Some(*of) } else { None };
        let waiting = roles.iter().filter(|role| **role == Role::Task).count();
        Written { interrupters: roles.iter().map(of).collect(), news: [false; 2], waiting }
    }

    fn step(&mut self, me: CallId, does: Does<Op>, _: Option<&()>, _: &mut Effects) -> Option<()> {
        let Does::Begin(op, _) = does else { return None };
        let is_over = match op {
            Op::Await(of) => self.news[of],
            Op::AwaitBoth => self.news == [true; 2],
            Op::Idle => self.waiting == 0,
            Op::Interrupt => {
                self.news[self.interrupters[me.thread]?] = true;
                true
            }
            Op::GiveUp => {
                self.waiting -= 1;
                true
            }
        };
        is_over.then_some(())
    }
}
