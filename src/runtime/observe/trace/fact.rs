//! An event as it is kept: with a G's number instead of the G, the moment, and whose thread it was.

use crate::host::Nanos;
use crate::kernel::protocol::locked::Woken;
use crate::kernel::protocol::sources::Source;
use crate::kernel::protocol::syscall::Way;
use crate::kernel::sched::observer;
use crate::kernel::types::g::G;
use crate::kernel::types::m::MId;
use crate::kernel::types::p::PId;
use crate::runtime::observe::event::Event;
use crate::runtime::observe::watch;
use core::panic::Location;

/// Something that happened, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Raw {
    /// Since the process's clock began.
    pub(super) at: Nanos,
    /// The M of the same runtime that did it, if it was one.
    pub(super) by: Option<MId>,
    pub(super) fact: Fact,
}

/// What stands in a queue.
#[derive(Debug, Clone, Copy)]
pub(super) enum Item {
    /// A G, by its address.
    G(u64),
    /// The ticket of an M.
    Ticket(MId),
}

impl Item {
    fn of(g: &G) -> Item {
        g.bound().map_or(Item::G(g.address()), Item::Ticket)
    }
}

/// What happened. As [`Event`].
#[derive(Debug, Clone, Copy)]
pub(super) enum Fact {
    Created { g: u64, at: &'static Location<'static> },
    Queued { p: Option<PId>, item: Item, next: bool },
    Found { m: MId, p: PId, item: Item, from: Source, next: bool },
    Waiting { m: MId, g: u64, why: &'static str },
    Dead { m: MId, g: u64 },
    Stole { m: MId, victim: PId, gs: usize },
    Got { m: MId, p: PId },
    Left { m: MId, p: PId, waits: Option<&'static str> },
    Spinning { m: MId },
    Sought { m: MId },
    Listed { p: PId },
    Slept { m: MId },
    Polling { m: MId },
    Polled { m: MId },
    Woken { m: MId },
    Starting { m: MId },
    Refused,
    Entered { m: MId, p: PId, blocks: bool },
    Preempt { p: PId },
    Over { m: MId },
    Returned { m: MId, p: PId, way: Way },
    Retaken { p: PId },
    Held { p: PId },
    Stopped,
    Started { procs: usize },
    Deadlock { m: MId, why: Woken },
    Exited { m: MId },
}

impl Fact {
    /// `None`: it is of no interest.
    pub(super) fn of(event: &Event<'_>) -> Option<Fact> {
        Some(match *event {
            Event::Sched(ref event) => return Fact::of_the_scheduler(event),
            Event::Created { g, at } => Fact::Created { g, at },
            Event::Waiting { m, g, why, .. } => Fact::Waiting { m, g, why },
            Event::Dead { m, g, .. } => Fact::Dead { m, g },
            Event::SyscallOver { m } => Fact::Over { m },
        })
    }

    fn of_the_scheduler(event: &observer::Event<'_>) -> Option<Fact> {
        use observer::Event;
        Some(match *event {
            Event::Queued { p, g, next } => Fact::Queued { p, item: Item::of(g), next },
            Event::Found { m, p, g, from, next } => Fact::Found { m, p, item: Item::of(g), from, next },
            Event::Stole { m, victim, gs, .. } => Fact::Stole { m, victim, gs },
            Event::Got { m, p } => Fact::Got { m, p },
            Event::Left { m, p, waits } => Fact::Left { m, p, waits: waits.then(watch::why) },
            Event::Spinning { m } | Event::Called { m } => Fact::Spinning { m },
            Event::Sought { m } => Fact::Sought { m },
            Event::Listed { p } => Fact::Listed { p },
            Event::Slept { m, .. } => Fact::Slept { m },
            Event::Polling { m, .. } => Fact::Polling { m },
            Event::Polled { m } => Fact::Polled { m },
            Event::Woken { m } => Fact::Woken { m },
            Event::Starting { m } => Fact::Starting { m },
            Event::Refused => Fact::Refused,
            Event::Entered { m, p, blocks } => Fact::Entered { m, p, blocks },
            Event::Preempt { p, first: true } => Fact::Preempt { p },
            Event::Returned { m, p, way } => Fact::Returned { m, p, way },
            Event::Retaken { p } => Fact::Retaken { p },
            Event::Held { p } => Fact::Held { p },
            Event::Stopped => Fact::Stopped,
            Event::Started { procs } => Fact::Started { procs },
            Event::Deadlock { m, why } => Fact::Deadlock { m, why },
            Event::Exited { m } => Fact::Exited { m },
            // `Idled`, `Gone`, a preemption that was requested before, `Undetachable`.
            _ => return None,
        })
    }
}
