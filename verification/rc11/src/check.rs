//! Is what a file holds a graph at all? The machine looks up events and threads by the numbers that stand in it.

use crate::graph::{Event, Graph, INIT, Kind, Loc, MAX_THREADS};
use std::collections::BTreeSet;

/// As many locations as a thread may make in an execution that comes from a file.
const MAX_LOCATIONS: usize = 1 << 16;

impl Graph {
    /// Is each event its thread's next, each read of a write that is there, each write at a rank of its own, each
    /// update whole, and each thread started once?
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), String> {
        let Graph { events, clocks, threads, past, is_symmetric, .. } = self;
        let pasts = if *is_symmetric { events.len() } else { 0 };
        if events.len() >= usize::from(INIT) || clocks.len() != events.len() || past.len() != pasts {
            return Err(format!("the graph has {} events and {} clocks", events.len(), clocks.len()));
        }
        if threads.is_empty() || threads.len() > MAX_THREADS {
            return Err(format!("the graph has {} threads", threads.len()));
        }
        let mut books = Books { last: vec![None; threads.len()], ..Books::default() };
        books.last[0] = Some((INIT, 0));
        for (n, event) in events.iter().enumerate() {
            self.check_event(n, event, &mut books).map_err(|what| format!("event {n} of the graph {what}"))?;
        }
        if !self.has_its_groups() {
            return Err("the symmetric threads of the graph are no groups".to_owned());
        }
        if !has_each_rank(books.ranks) {
            return Err("the writes of the graph have no order".to_owned());
        }
        for (n, thread) in threads.iter().enumerate() {
            let is_as_told = match books.last[n] {
                Some((last, len)) => thread.is_there && (thread.last, thread.len) == (last, len),
                None => !thread.is_there,
            };
            if !is_as_told {
                return Err(format!("thread {n} of the graph has other events"));
            }
        }
        Ok(())
    }

    /// Were the threads of each group started one after the other?
    fn has_its_groups(&self) -> bool {
        let member = |child: u8| self.threads.get(usize::from(child)).map(|thread| (thread.nth, thread.first));
        let is_next = |event: &Event| {
            let Kind::Fork(child) = event.kind else { return true };
            let before = event.idx.checked_sub(1);
            let before = self.events.iter().find(|e| e.thread == event.thread && Some(e.idx) == before);
            match (event.value, before.map(|before| (before.kind, before.value))) {
                (0, _) => member(child).is_some_and(|(nth, _)| nth == 0),
                (1, _) => self.is_symmetric && member(child) == Some((1, child)),
                (nth, Some((Kind::Fork(other), value))) if value + 1 == nth => {
                    let first = member(other).map(|(_, first)| first);
                    member(child).is_some_and(|(is, of)| u64::from(is) == nth && Some(of) == first)
                }
                _ => false,
            }
        };
        self.threads.first().is_some_and(|main| main.nth == 0) && self.events.iter().all(is_next)
    }

    fn check_event(&self, n: usize, event: &Event, books: &mut Books) -> Result<(), &'static str> {
        let thread = usize::from(event.thread);
        let Some(Some((last, len))) = books.last.get_mut(thread) else {
            return Err("is of a thread that was not started");
        };
        if event.idx != *len {
            return Err("is not the next of its thread");
        }
        let before = (*len > 0).then(|| self.events[usize::from(*last)]);
        (*last, *len) = (n as u16, *len + 1);
        let has_place = !matches!(
            event.kind,
            Kind::Fence
                | Kind::Light
                | Kind::HeavyCall
                | Kind::HeavyReturn
                | Kind::Fork(_)
                | Kind::Join(_)
                | Kind::Choice(_)
                | Kind::Spurious
                | Kind::Spin
                | Kind::Yield
        );
        if has_place != event.loc.is_one(MAX_THREADS, MAX_LOCATIONS) {
            return Err("has no location");
        }
        let updates = before.and_then(|before| before.will_write());
        if updates.is_some() != (event.kind == Kind::Updated) {
            return Err("is half an update");
        }
        match event.kind {
            Kind::Fork(child) => match books.last.get_mut(usize::from(child)) {
                Some(place @ None) => *place = Some((n as u16, 0)),
                _ => return Err("starts a thread that is there"),
            },
            Kind::Join(child) if books.last.get(usize::from(child)).is_none_or(Option::is_none) => {
                return Err("joins no thread");
            }
            Kind::Choice(of) if event.value >= u64::from(of) => return Err("chooses what there is not"),
            Kind::Spurious if event.value > 1 => return Err("is no answer"),
            Kind::Updated if updates != Some(event.value) || before.is_some_and(|before| before.loc != event.loc) => {
                return Err("is not what its update writes");
            }
            _ => (),
        }
        if event.handed && !matches!(event.kind, Kind::Updating(update) if update.is_await()) {
            return Err("has waited for nothing");
        }
        let rank = (event.loc, event.mo);
        if event.is_write() && !books.ranks.insert(rank) || !event.is_write() && event.mo != 0 {
            return Err("stands where another does");
        }
        match (event.is_read(), self.events.get(usize::from(event.rf))) {
            _ if event.rf == INIT => Ok(()),
            (true, Some(write)) if write.is_write() && (write.loc, write.value) == (event.loc, event.value) => Ok(()),
            (_, Some(freed)) if (event.kind, freed.kind) == (Kind::Alloc, Kind::Free) && freed.loc == event.loc => {
                Ok(())
            }
            _ => Err("reads what is not there"),
        }
    }
}

/// What was seen so far.
#[derive(Default)]
struct Books {
    /// Of each thread that was started: its last event, or the one that started it, and how many it has.
    last: Vec<Option<(u16, u16)>>,
    /// Which place in which order is taken.
    ranks: BTreeSet<(Loc, u16)>,
}

/// Are the ranks of each location 1, 2, 3…?
fn has_each_rank(ranks: BTreeSet<(Loc, u16)>) -> bool {
    let mut before = (Loc::NONE, 0);
    for (loc, rank) in ranks {
        let next = if before.0 == loc { before.1 + 1 } else { 1 };
        if rank != next {
            return false;
        }
        before = (loc, rank);
    }
    true
}
