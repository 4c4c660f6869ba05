//! What a thread is answered: out of the graph, or by a new event.

use super::{ASYMMETRIC, LOCKING, Machine, Over};
use crate::graph::{Event, INIT, Kind, MAX_THREADS};
use crate::step::{Ask, Stop};
use crate::verdict::Why;

impl Machine {
    /// Plays again what `thread` did.
    pub(super) fn again(&mut self, thread: u8, ask: &Ask) -> Option<Result<u64, Over>> {
        if !self.can_be_told(thread) {
            return None;
        }
        let slot = &self.slots[usize::from(thread)];
        let event = self.graph.events[usize::from(slot.events[usize::from(slot.told)])];
        if !is_answer_to(&event, ask) {
            self.fails(Why::NotDeterministic);
            return Some(Err(Over));
        }
        if event.waits() || matches!(event.kind, Kind::Spin) {
            // It stays where it is.
            self.told(thread, 1);
            self.slots[usize::from(thread)].asks = Some(*ask);
            return None;
        }
        self.told(thread, 1 + u16::from(event.will_write().is_some()));
        self.note_lock(thread, ask);
        Some(Ok(match event.kind {
            Kind::Fork(child) => u64::from(child),
            _ => event.value,
        }))
    }

    pub(super) fn told(&mut self, thread: u8, events: u16) {
        let slot = &mut self.slots[usize::from(thread)];
        slot.told += events;
        (slot.asks, slot.must_know) = (None, None);
        self.left -= usize::from(events);
    }

    /// Has what its next event depends on been played?
    pub(super) fn can_be_told(&self, thread: u8) -> bool {
        let slot = self.slot(thread);
        let Some(&number) = slot.events.get(usize::from(slot.told)) else { return false };
        let event = &self.graph.events[usize::from(number)];
        match event.kind {
            Kind::Join(child) => self.slot(child).is_done,
            _ if event.rf != INIT => {
                let Event { thread: writer, idx, .. } = self.graph.events[usize::from(event.rf)];
                self.slot(writer).told > idx
            }
            _ => true,
        }
    }

    /// A new event of `thread`.
    pub(super) fn goes_on(&mut self, thread: u8, ask: &Ask) -> Result<u64, Over> {
        if self.graph.events.len() >= self.limits.max_events {
            self.fails(Why::TooManyEvents(self.limits.max_events));
            return Err(Over);
        }
        let most = self.limits.max_threads;
        if matches!(ask, Ask::Fork { .. }) && self.order.len() >= most && most < MAX_THREADS {
            self.fails(Why::Panic(format!("more than {most} threads in one execution: see `Builder::max_threads`")));
            return Err(Over);
        }
        if !self.knows_what_it_must(thread) {
            self.fails(Why::Uninitialised);
            return Err(Over);
        }
        if self.graph.is_no_twin(thread, ask) {
            self.fails(Why::Panic(ASYMMETRIC.to_owned()));
            return Err(Over);
        }
        let before = self.graph.events.len();
        let noted = self.ways.len();
        let answer = self.graph.step(thread, ask, &mut self.ways);
        if self.is_stopped || self.is_ending || self.drain.is_some() {
            self.skipped += (self.ways.len() - noted) as u64;
            self.ways.truncate(noted);
        }
        self.note_events(thread, before);
        let slot = &mut self.slots[usize::from(thread)];
        slot.told = slot.events.len() as u16;
        slot.asks = (matches!(ask, Ask::Spin)).then_some(Ask::Spin);
        match answer {
            Ok(value) => {
                self.note_lock(thread, ask);
                if matches!(ask, Ask::Fork { .. }) {
                    self.sort_threads();
                    self.slots[value as usize].reset();
                    self.used = self.used.max(value as usize + 1);
                }
                Ok(value)
            }
            Err(stop) => {
                match stop {
                    Stop::Race(other) => self.fails(Why::Race(other)),
                    Stop::Threads => self.fails(Why::TooManyThreads),
                }
                Err(Over)
            }
        }
    }

    /// Does `thread` know of an event, or of the end, of the location's maker that comes after its making?
    pub(super) fn knows_what_it_must(&mut self, thread: u8) -> bool {
        let must_know = self.slots[usize::from(thread)].must_know.take();
        must_know.is_none_or(|(maker, told)| self.graph.known(thread).of(maker) > told)
    }

    /// Events from number `first` on are new. Another's than `thread`'s are those of one that waited for a lock: it is
    /// answered the reading half, which it was stuck at, and the writing half.
    pub(super) fn note_events(&mut self, thread: u8, first: usize) {
        for n in first..self.graph.events.len() {
            let owner = self.graph.events[n].thread;
            let slot = &mut self.slots[usize::from(owner)];
            slot.events.push(n as u16);
            if owner != thread {
                slot.told -= 1;
                self.left += 2;
            }
        }
    }

    pub(super) fn note_lock(&mut self, thread: u8, ask: &Ask) {
        let holds = &mut self.slots[usize::from(thread)].holds;
        match ask {
            Ask::Update { update: LOCKING, .. } => *holds += 1,
            Ask::Open { .. } => *holds -= 1,
            _ => (),
        }
    }
}

/// Is `event` what `ask` asks for?
fn is_answer_to(event: &Event, ask: &Ask) -> bool {
    match (*ask, event.kind) {
        (Ask::Load { loc, order, .. }, Kind::Load) => event.loc == loc && event.order == order,
        (Ask::Store { loc, value, order }, Kind::Store) => {
            event.loc == loc && event.value == value && event.order == order
        }
        (Ask::Update { loc, order, update, .. }, Kind::Updating(was)) => {
            event.loc == loc && update == was && event.order == order
        }
        (Ask::Open { loc }, Kind::Open) => event.loc == loc,
        (Ask::Fence(order), Kind::Fence) => event.order == order,
        (Ask::Light, Kind::Light) => true,
        (Ask::HeavyCall, Kind::HeavyCall) | (Ask::HeavyReturn, Kind::HeavyReturn) => true,
        (Ask::Fork { nth }, Kind::Fork(_)) => event.value == u64::from(nth),
        (Ask::Spin, Kind::Spin) | (Ask::Yield, Kind::Yield | Kind::Spin) => true,
        (Ask::Join(child), Kind::Join(was)) => child == was,
        (Ask::Choose(n), Kind::Choice(was)) => n == was,
        (Ask::Spurious, Kind::Spurious) => true,
        (Ask::Alloc { heap }, Kind::Alloc) => event.loc == heap,
        (Ask::Free { heap, address }, Kind::Free) => event.loc == heap && event.value == address,
        _ => false,
    }
}
