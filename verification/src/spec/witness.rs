//! What is seen of the kernel while it moves, and what its Ms have in hand when they do not.

use crate::harness::common::g;
use crate::hosts::stepped::Stepped;
use crate::spec::moves::{Ev, Item, Who};
use spinpark_kernel::host::NEVER;
use spinpark_kernel::host::{Host, Nanos, Parker};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::stw::safepoint::SafepointFn;
use spinpark_kernel::protocol::syscall::Away;
use spinpark_kernel::protocol::work_source::{Poller, Waker, WorkSource};
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::observer::{Event, Observer};
use spinpark_kernel::sched::stw::StoppedWorld;
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::p::PId;
use std::collections::{BTreeMap, VecDeque};
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// What a party that does not move has in hand.
pub(super) enum Role {
    Runs(Worker, G),
    Away(Away, G),
    HasStopped(StoppedWorld, Option<G>),
}

/// What happens, and what each party has in hand. Uncontended: one moves at a time.
#[derive(Default)]
pub(super) struct Book {
    pub(super) events: Vec<Ev>,
    /// Never dropped with what it holds: a P must not be, and when a comparison fails no M takes it back.
    pub(super) roles: ManuallyDrop<BTreeMap<Who, Role>>,
    pub(super) arrived: VecDeque<Vec<u64>>,
    pub(super) expects: bool,
    pub(super) timers: Vec<(Nanos, u64)>,
    pub(super) is_awaited: bool,
    pub(super) reports: Vec<u64>,
    /// Until when the M in the poller waits.
    pub(super) until: Option<Nanos>,
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
        self.book().roles.remove(&who).expect("the lists know who has something in hand")
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
            Event::Polling { m, until } => Ev::Polling(m.index(), until),
            Event::Polled { m } => Ev::Polled(m.index()),
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
        let book = self.0.book();
        !book.arrived.is_empty() || book.timers.iter().any(|(when, _)| *when <= Stepped::now())
    }
    fn take(&self, p: Option<PId>, put: &mut dyn FnMut(G)) {
        self.0.note(Ev::Gives(p.map(PId::index)));
        let arrived = self.0.book().arrived.pop_front();
        let gs = arrived.unwrap_or_else(|| {
            let due = |&mut (when, _): &mut (Nanos, u64)| when <= Stepped::now();
            self.0.book().timers.extract_if(.., due).map(|(_, g)| g).collect()
        });
        gs.into_iter().map(g).for_each(put);
    }
    fn is_expecting(&self) -> bool {
        self.0.book().expects || !self.0.book().timers.is_empty()
    }
    fn deadline(&self) -> Nanos {
        self.0.book().timers.iter().map(|(when, _)| *when).min().unwrap_or(NEVER)
    }
    fn tick(&self, _: Nanos) {}
}

/// A poller that the test fills. An M in it looks what others see of that.
pub(super) struct Sockets {
    pub(super) witness: Witness,
    pub(super) parker: Arc<<Stepped as Host>::Parker>,
    pub(super) sched: Arc<OnceLock<Weak<Sched<Stepped, Witness>>>>,
}

impl Sockets {
    fn look(&self, waits: bool) {
        let sched = self.sched.get().and_then(Weak::upgrade);
        self.witness.note(Ev::Looks { waits, polling: sched.map_or(0, |sched| sched.snapshot().polling) });
    }
    fn report(&self, put: &mut dyn FnMut(G)) {
        let reports = std::mem::take(&mut self.witness.book().reports);
        reports.into_iter().map(g).for_each(put);
    }
}

impl Poller for Sockets {
    fn is_awaited(&self) -> bool {
        self.witness.book().is_awaited
    }
    fn poll(&self, until: Nanos, put: &mut dyn FnMut(G)) {
        self.look(true);
        self.witness.book().until = Some(until);
        let is_over = !self.witness.book().reports.is_empty() || until <= Stepped::now();
        if !is_over {
            self.parker.park();
        }
        self.report(put);
    }
    fn peek(&self, put: &mut dyn FnMut(G)) {
        self.look(false);
        self.report(put);
    }
    fn interrupt(&self) {
        self.witness.note(Ev::Interrupted);
        self.parker.unpark();
    }
}

/// A safepoint's function, which says that it ran.
pub(super) fn ran(witness: &Witness) -> Arc<SafepointFn> {
    let witness = witness.clone();
    Arc::new(move |p| witness.note(Ev::Ran(p.index())))
}
