//! What is seen of the kernel while it moves, and what its Ms have in hand when they do not.

use crate::harness::common::g;
use crate::spec::moves::{Ev, Item, Who};
use spinpark::host::Nanos;
use spinpark::kernel::protocol::find::Worker;
use spinpark::kernel::protocol::stw::safepoint::SafepointFn;
use spinpark::kernel::protocol::syscall::Away;
use spinpark::kernel::protocol::work_source::{Waker, WorkSource};
use spinpark::kernel::sched::observer::{Event, Observer};
use spinpark::kernel::sched::stw::StoppedWorld;
use spinpark::kernel::types::g::G;
use spinpark::kernel::types::p::PId;
use std::collections::{BTreeMap, VecDeque};
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What somebody who does not move has in hand.
pub(super) enum Role {
    Runs(Worker, G),
    Away(Away, G),
    HasStopped(StoppedWorld, Option<G>),
}

/// What happens, and who has what in hand. Uncontended: one moves at a time.
#[derive(Default)]
pub(super) struct Book {
    pub(super) events: Vec<Ev>,
    /// Never dropped with what it holds: a P must not be, and when a comparison fails nobody takes it back.
    pub(super) roles: ManuallyDrop<BTreeMap<Who, Role>>,
    pub(super) arrived: VecDeque<Vec<u64>>,
    pub(super) expects: bool,
}

#[derive(Clone, Default)]
pub(super) struct Witness(Arc<Mutex<Book>>);

impl Witness {
    pub(super) fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    pub(super) fn note(&self, event: Ev) {
        self.book().events.push(event);
    }
    pub(super) fn take(&self, who: Who) -> Role {
        self.book().roles.remove(&who).expect("the model knows who has something in hand")
    }
    pub(super) fn put(&self, who: Who, role: Role) {
        self.book().roles.insert(who, role);
    }
}

/// The same, as the lists know it.
pub(super) fn item(g: &G) -> Item {
    g.bound().map_or(Item::G(g.id()), |m| Item::Ticket(m.index()))
}

impl Observer for Witness {
    fn event(&self, event: Event<'_>) {
        let p = |p: PId| p.index();
        self.note(match event {
            Event::Queued { p: None, g, next: true } => panic!("{g:?} is to run next under no P"),
            Event::Queued { p: Some(to), g, next: true } => Ev::QueuedNext(p(to), item(g)),
            Event::Queued { p: to, g, .. } => Ev::Queued(to.map(p), item(g)),
            Event::Found { m, p, g, from, next } => Ev::Found { m: m.index(), p: p.index(), item: item(g), from, next },
            Event::Stole { m, p, victim, gs } => Ev::Stole { m: m.index(), p: p.index(), victim: victim.index(), gs },
            Event::Spinning { m } => Ev::Spinning(m.index()),
            Event::Idled { m, p } => Ev::Idled { m: m.index(), p: p.index() },
            Event::Slept { m, sleeping, alive } => Ev::Slept { m: m.index(), sleeping, alive },
            Event::Woken { m } => Ev::Woken(m.index()),
            Event::Starting { m } => Ev::Starting(m.index()),
            Event::Refused => Ev::Refused,
            Event::Returned { m, p, way } => Ev::Returned { m: m.index(), p: p.index(), way },
            Event::Retaken { p } => Ev::Retaken(p.index()),
            Event::Preempt { p, first } => Ev::Preempt(p.index(), first),
            Event::Undetachable { p } => Ev::Undetachable(p.index()),
            Event::Listed { p } => Ev::Listed(p.index()),
            Event::Held { p } => Ev::Held(p.index()),
            Event::Stopped => Ev::Stopped,
            Event::Started { procs } => Ev::Started(procs),
            Event::Deadlock { m, why } => Ev::Deadlock(m.index(), why),
            Event::Exited { m } => Ev::Exited(m.index()),
            Event::Gone { sleeping, alive } => Ev::Gone { sleeping, alive },
            Event::Called { m } => Ev::Called(m.index()),
            Event::Sought { m } => Ev::Sought(m.index()),
            Event::Got { m, p } => Ev::Got { m: m.index(), p: p.index() },
            Event::Entered { m, p, blocks } => Ev::Entered { m: m.index(), p: p.index(), blocks },
            Event::Left { m, p, waits } => Ev::Left { m: m.index(), p: p.index(), waits },
            other => panic!("{other:?} is not known here"),
        });
    }
}

/// A source that the test fills.
pub(super) struct Source(pub(super) Witness, pub(super) Waker);

impl WorkSource for Source {
    fn waker(&self) -> &Waker {
        &self.1
    }
    fn has_work(&self) -> bool {
        !self.0.book().arrived.is_empty()
    }
    fn take(&self, p: Option<PId>, put: &mut dyn FnMut(G)) {
        self.0.note(Ev::Gives(p.map(PId::index)));
        let gs = self.0.book().arrived.pop_front();
        gs.into_iter().flatten().map(g).for_each(put);
    }
    fn is_expecting(&self) -> bool {
        self.0.book().expects
    }
    fn tick(&self, _: Nanos) {}
}

/// A safepoint's function, which says that it ran.
pub(super) fn ran(witness: &Witness) -> Arc<SafepointFn> {
    let witness = witness.clone();
    Arc::new(move |p| witness.note(Ev::Ran(p.index())))
}
