//! One step of TruSt: what a thread asks for is added to the graph in one way, and every other way is noted.
//! (Kokologiannakis, Marmanis, Gladstein, Vafeiadis: Truly Stateless, Optimal Dynamic Partial Order Reduction, POPL
//! 2022.)
//!
//! The one way is the maximal one, which reads the newest and writes behind all others: it is always consistent, and
//! it only adds events behind those that are there. So a way that was not taken is noted by how many events there
//! were, and the graph need not be copied: what the execution ends with holds all the graphs that it went through.

mod ask;

use self::ask::Other;
pub(super) use self::ask::{Ask, Stop, Way};
use crate::axiom::is_sc_consistent;
use crate::graph::{Event, Graph, INIT, Kind, Loc, MAX_THREADS, New, Order, Thread, Update};
use crate::machine::{NOT_SHOWN, TAKE};

/// Takes ways that were not taken.
type Ways<'a> = &'a mut Vec<Way>;

impl Graph {
    /// Can what `thread` asks for be done now? Joins are not known here.
    pub(super) fn is_enabled(&self, thread: u8, ask: &Ask) -> bool {
        if self.last(thread).is_some_and(|n| self.events[n].waits() || matches!(self.events[n].kind, Kind::Spin)) {
            return false;
        }
        match *ask {
            Ask::Update { loc, init, update, .. } if update.is_await() => {
                update.over(self.value_of(self.newest(loc), init)).is_some()
            }
            _ => true,
        }
    }

    /// Adds what `thread` asks for. Returns what was read or chosen, or which thread was started.
    pub(super) fn step(&mut self, thread: u8, ask: &Ask, ways: Ways<'_>) -> Result<u64, Stop> {
        let before = ways.len();
        let result = match *ask {
            Ask::Load { loc, .. } => self.load(thread, ask, loc, ways),
            Ask::Store { .. } => self.store(thread, ask, ways),
            Ask::Update { loc, init, update, .. } => Ok(self.update(thread, ask, (loc, init, update), ways)),
            Ask::Open { loc } => Ok(self.open(thread, ask, loc)),
            Ask::Choose(n) => Ok(self.choose(thread, ask, u64::from(n), ways)),
            Ask::Spurious => Ok(self.choose(thread, ask, 1 + u64::from(self.may_wake()), ways)),
            Ask::Fork { nth } => self.fork(thread, nth),
            Ask::Join(child) => Ok(self.simply(self.next_join(thread, child))),
            Ask::Fence(order) => Ok(self.simply(self.next_fence(thread, order))),
            Ask::Light => Ok(self.simply(self.next_light(thread))),
            Ask::HeavyCall => Ok(self.simply(self.next_heavy_call(thread))),
            Ask::HeavyReturn => Ok(self.simply(self.next_heavy_return(thread))),
            Ask::Spin => Ok(self.simply(self.next(thread, Loc::NONE, Order::Relaxed, Kind::Spin, 0))),
            Ask::Yield => Ok(self.simply(self.next(thread, Loc::NONE, Order::Relaxed, Kind::Yield, 0))),
            Ask::Alloc { heap } => Ok(self.alloc(thread, ask, heap, ways)),
            Ask::Free { .. } => Ok(self.free(thread, ask, ways)),
        };
        self.share_weight(&mut ways[before..]);
        result
    }

    fn simply(&mut self, new: New) -> u64 {
        self.push(new);
        0
    }

    /// It is not known how much lies below each way: as much as below any other.
    fn share_weight(&mut self, others: &mut [Way]) {
        self.weight /= (others.len() + 1) as f64;
        others.iter_mut().for_each(|other| other.weight = self.weight);
    }

    /// A way not taken, from here.
    fn note(&self, thread: u8, ask: &Ask, other: Other, ways: Ways<'_>) {
        ways.push(Way { len: self.events.len(), thread, ask: *ask, other, weight: 0.0 });
    }

    /// Goes a way that was not taken by the execution that ended with this graph: the graphs that it leads to. None, if
    /// it turns out not to be consistent; several, if a write may stand in several places.
    pub(super) fn go(&self, way: &Way) -> Vec<Graph> {
        let mut out = Vec::new();
        let mut graph = self.first(way.len);
        graph.weight = way.weight;
        let Way { thread, ref ask, .. } = *way;
        match way.other {
            Other::Reads(write) => {
                graph.push(graph.reading(thread, ask, write));
                let read = graph.events.len() - 1;
                graph.has_read(read, &mut out);
            }
            Other::Stands(place) => {
                graph.push_write(graph.writing(thread, ask), place);
                graph.hand_on(&mut out);
            }
            Other::IsReadBy(read) => graph.revisit_by(read, &graph.writing(thread, ask), &mut out),
            Other::IsReadWhenUpdated(read) => graph.revisit_by(read, &graph.next_updated(thread), &mut out),
            Other::Is(value) => {
                graph.push(graph.choosing(thread, ask, value));
                out.push(graph);
            }
        }
        let n = out.len().max(1) as f64;
        out.iter_mut().for_each(|graph| graph.weight = way.weight / n);
        out
    }

    /// The event that reads `write`, as was asked.
    fn reading(&self, thread: u8, ask: &Ask, write: u16) -> New {
        match *ask {
            Ask::Load { loc, init, order } => self.next_read(thread, loc, init, order, Kind::Load, write),
            Ask::Update { loc, init, order, update } => {
                self.next_read(thread, loc, init, order, Kind::Updating(update), write)
            }
            // The allocator hands a block on: what was done before it was freed is known to its next owner.
            Ask::Alloc { heap } => self.next_read(thread, heap, 0, Order::Acquire, Kind::Alloc, write),
            _ => unreachable!("only these read"),
        }
    }

    /// The event that writes what was asked.
    fn writing(&self, thread: u8, ask: &Ask) -> New {
        match *ask {
            Ask::Store { loc, value, order } => self.next_write(thread, loc, order, Kind::Store, value),
            Ask::Open { loc } => self.next_write(thread, loc, Order::Release, Kind::Open, 0),
            Ask::Free { heap, address } => self.next_write(thread, heap, Order::Release, Kind::Free, address),
            _ => unreachable!("only these write"),
        }
    }

    fn choosing(&self, thread: u8, ask: &Ask, value: u64) -> New {
        let kind = match *ask {
            Ask::Choose(n) => Kind::Choice(n),
            _ => Kind::Spurious,
        };
        self.next(thread, Loc::NONE, Order::Relaxed, kind, value)
    }

    fn hand_on(self, out: &mut Vec<Graph>) {
        if is_sc_consistent(&self) {
            out.push(self);
        }
    }

    fn load(&mut self, thread: u8, ask: &Ask, loc: Loc, ways: Ways<'_>) -> Result<u64, Stop> {
        let new = self.reading(thread, ask, self.newest(loc));
        if new.event.order == Order::Plain {
            return self.plain(new);
        }
        let writes = self.readable(thread, loc);
        self.note_older(thread, ask, loc, &writes, ways);
        self.push(new);
        Ok(new.event.value)
    }

    /// Notes that it may read what is older than the first of `writes`, where symmetric threads do not forbid it.
    fn note_older(&self, thread: u8, ask: &Ask, loc: Loc, writes: &[u16], ways: Ways<'_>) {
        if writes.len() > 1 {
            let twins = self.twins(thread, self.threads[usize::from(thread)].len);
            let may = writes[1..].iter().filter(|&&write| self.may_read(&twins, loc, write));
            may.for_each(|&write| self.note(thread, ask, Other::Reads(write), ways));
        }
    }

    /// An access that is not atomic: of what it may read there is one at most, and it comes behind all others.
    fn plain(&mut self, new: New) -> Result<u64, Stop> {
        let racing = self.racing(&new);
        let value = new.event.value;
        match new.event.is_write() {
            true => self.push_write(new, self.rank(self.newest(new.event.loc)) + 1),
            false => self.push(new),
        }
        racing.map_or(Ok(value), |n| Err(Stop::Race(n)))
    }

    fn store(&mut self, thread: u8, ask: &Ask, ways: Ways<'_>) -> Result<u64, Stop> {
        let new = self.writing(thread, ask);
        if new.event.order == Order::Plain {
            return self.plain(new);
        }
        for read in self.revisitable(&new).filter(|&read| self.may_revisit(read, &new)) {
            self.note(thread, ask, Other::IsReadBy(read), ways);
        }
        let places = self.places(&new, self.behind(&self.twins(thread, new.event.idx), new.event.loc));
        places[1..].iter().for_each(|&place| self.note(thread, ask, Other::Stands(place), ways));
        self.push_write(new, places[0]);
        Ok(0)
    }

    /// Hands on the graphs in which `read` reads `new`, in each place that `new` may have.
    fn revisit_by(&self, read: usize, new: &New, out: &mut Vec<Graph>) {
        let mut graph = self.revisit(read, new);
        if new.event.kind == Kind::Free {
            graph.push(*new);
            return if graph.reused() <= usize::from(graph.reuse) {
                graph.hand_on(out)
            };
        }
        let behind = graph.oldest_for(read);
        let places = match new.event.kind {
            Kind::Updated => graph.place_updated(new, behind).into_iter().collect(),
            _ => graph
                .places(new, behind.max(graph.behind(&graph.twins(new.event.thread, new.event.idx), new.event.loc))),
        };
        let last = places.len();
        for (n, place) in places.into_iter().enumerate() {
            let mut other = if n + 1 == last { std::mem::take(&mut graph) } else { graph.clone() };
            other.push_write(*new, place);
            if other.is_in_order(read) {
                other.has_read(read, out);
            }
        }
    }

    /// Event `read` has just been given its value: if it is half of an update, the other half comes at once.
    fn has_read(mut self, read: usize, out: &mut Vec<Graph>) {
        let event = self.events[read];
        if event.will_write().is_none() || self.complete(event.thread, out) {
            self.hand_on(out);
        }
    }

    /// Adds the writing half of an update; `false` if another update has read the same, so that there is no place.
    fn complete(&mut self, thread: u8, out: &mut Vec<Graph>) -> bool {
        let new = self.next_updated(thread);
        for read in self.revisitable_by_update(&new) {
            self.revisit_by(read, &new, out);
        }
        let place = self.place_updated(&new, 0);
        place.map(|place| self.push_write(new, place)).is_some()
    }

    /// The reads that may read the writing half of an update instead. One that waits may only if it does not have to,
    /// or if the update has taken what it read.
    fn revisitable_by_update(&self, new: &New) -> Vec<usize> {
        let half = self.events[self.last(new.event.thread).expect("its reading half")];
        let may = |&read: &usize| {
            let event = &self.events[read];
            let goes_on = match event.kind {
                Kind::Updating(update) if update.is_await() => update.over(new.event.value).is_some(),
                _ => true,
            };
            (goes_on || event.rf == half.rf) && self.may_revisit(read, new)
        };
        self.revisitable(new).filter(may).collect()
    }

    fn update(&mut self, thread: u8, ask: &Ask, what: (Loc, u64, Update), ways: Ways<'_>) -> u64 {
        let (loc, init, update) = what;
        let mut writes = self.readable(thread, loc);
        if update.is_await() {
            writes.retain(|write| update.over(self.value_of(*write, init)).is_some());
        }
        self.note_older(thread, ask, loc, &writes, ways);
        let half = self.reading(thread, ask, writes[0]);
        self.push(half);
        if half.event.will_write().is_some() {
            let new = self.next_updated(thread);
            let taker = self.next_taker(&half, &new);
            self.note_updated(&new, ask, taker, ways);
            if let Some(read) = taker {
                self.hand(read, &new);
            }
            // No thread has read the newest.
            let rank = self.rank(writes[0]) + 1;
            self.push_write(new, rank);
            if let Some(Event { thread, order, .. }) = taker.map(|read| self.events[read]) {
                let new = self.next_updated(thread);
                self.note_updated(&new, &Ask::Update { loc, init, order, update: TAKE }, None, ways);
                self.push_write(new, rank + 1);
            }
        }
        half.event.value
    }

    /// Notes which reads may read `new`, the writing half of an update, instead: all but one.
    fn note_updated(&self, new: &New, ask: &Ask, but: Option<usize>, ways: Ways<'_>) {
        for read in self.revisitable_by_update(new).into_iter().filter(|read| Some(*read) != but) {
            self.note(new.event.thread, ask, Other::IsReadWhenUpdated(read), ways);
        }
    }

    /// An update, whose halves these are, opens a lock that may be tried. A thread that was displaced by the holder has the
    /// lock now, as in [`open`](Graph::open), if all that was done since leads to the update: a try that found the lock taken meanwhile
    /// may find it open instead. So no graph is left in which the thread waits for a holder that has gone.
    ///
    /// Not where threads are symmetric, whose order may forbid it; and not of a lock for many readers, where the next update of
    /// what the thread waits for may be another reader's.
    fn next_taker(&self, half: &New, new: &New) -> Option<usize> {
        let waits = |e: &Event| e.kind == Kind::Updating(TAKE) && e.rf == half.event.rf && e.waits();
        let (read, _) = self.of(new.event.loc).find(|(_, e)| waits(e))?;
        let leads = self.events[read + 1..].iter().all(|e| new.past.has_event(e));
        (leads && !self.is_symmetric && TAKE.over(new.event.value).is_some()).then_some(read)
    }

    /// Opens a lock. A thread that was displaced by this holder, and waits, has it now: nothing depended on its
    /// waiting, so that nothing has to be undone.
    fn open(&mut self, thread: u8, ask: &Ask, loc: Loc) -> u64 {
        let new = self.writing(thread, ask);
        let newest = self.newest(loc);
        let waits = self.of(loc).find(|(_, e)| e.rf == newest && e.waits()).map(|(n, _)| n);
        let rank = self.rank(newest) + 1;
        if let Some(read) = waits {
            self.hand(read, &new);
        }
        self.push_write(new, rank);
        if let Some(read) = waits {
            self.push_write(self.next_updated(self.events[read].thread), rank + 1);
        }
        0
    }

    /// A block that lies where none has been, or where one lay that was freed and is given out to no other.
    fn alloc(&mut self, thread: u8, ask: &Ask, heap: Loc, ways: Ways<'_>) -> u64 {
        if self.reused() < usize::from(self.reuse) {
            let is_given_out = |n: usize| self.of(heap).any(|(_, e)| usize::from(e.rf) == n);
            let freed = self.of(heap).filter(|&(n, e)| e.kind == Kind::Free && !is_given_out(n));
            freed.for_each(|(n, _)| self.note(thread, ask, Other::Reads(n as u16), ways));
        }
        self.push(self.reading(thread, ask, INIT));
        0
    }

    /// A block is freed: one that was given out already, and does not depend on that, may lie there.
    fn free(&mut self, thread: u8, ask: &Ask, ways: Ways<'_>) -> u64 {
        let new = self.writing(thread, ask);
        if self.reuse > 0 {
            let may = |&(n, e): &(usize, &Event)| {
                e.kind == Kind::Alloc && !new.past.has(e.thread, e.idx) && self.may_revisit(n, &new)
            };
            self.of(new.event.loc).filter(may).for_each(|(n, _)| self.note(thread, ask, Other::IsReadBy(n), ways));
        }
        self.push(new);
        0
    }

    /// How many blocks lie where one that was freed lay.
    fn reused(&self) -> usize {
        self.events.iter().filter(|e| e.kind == Kind::Alloc && e.rf != INIT).count()
    }

    /// May one more `park` wake spuriously?
    fn may_wake(&self) -> bool {
        let did = self.events.iter().filter(|e| e.kind == Kind::Spurious && e.value == 1).count();
        did < usize::from(self.spurious)
    }

    fn choose(&mut self, thread: u8, ask: &Ask, n: u64, ways: Ways<'_>) -> u64 {
        let most = self.most(&self.twins(thread, self.threads[usize::from(thread)].len));
        (1..n).filter(|&value| value <= most).for_each(|value| self.note(thread, ask, Other::Is(value), ways));
        self.push(self.choosing(thread, ask, 0));
        0
    }

    /// Starts a thread; its number.
    fn fork(&mut self, thread: u8, nth: u8) -> Result<u64, Stop> {
        let (free, path) = self.next_child(thread).ok_or(Stop::Threads)?;
        let first = match self.last(thread).map(|n| self.events[n].kind) {
            Some(Kind::Fork(previous)) if nth > 1 => self.threads[usize::from(previous)].first,
            _ => free as u8,
        };
        if nth > 0 {
            self.begin_symmetry();
        }
        let fork = self.next(thread, Loc::NONE, Order::Relaxed, Kind::Fork(free as u8), u64::from(nth));
        self.push(fork);
        let child = Thread { path, len: 0, last: self.events.len() as u16 - 1, is_there: true, nth, first };
        if free == self.threads.len() {
            self.threads.push(child);
        } else {
            self.threads[free] = child;
        }
        Ok(free as u64)
    }

    /// May `thread` start one more?
    pub(super) fn may_fork(&self, thread: u8) -> bool {
        self.next_child(thread).is_some()
    }

    /// The number and the path of the next thread that `parent` starts.
    fn next_child(&self, parent: u8) -> Option<(usize, u64)> {
        let free = self.threads.iter().position(|thread| !thread.is_there).unwrap_or(self.threads.len());
        let path = self.path_of_next_child(parent)?;
        (free < MAX_THREADS).then_some((free, path))
    }

    /// The digits of a path, in base 16 from the left: which child of which child.
    fn path_of_next_child(&self, parent: u8) -> Option<u64> {
        let path = self.threads[usize::from(parent)].path;
        let depth = 16 - path.trailing_zeros() / 4;
        let is_child = |e: &&Event| e.thread == parent && matches!(e.kind, Kind::Fork(_));
        let children = self.events.iter().filter(is_child).count() as u64;
        (depth < 15 && children < 15).then(|| path | (children + 1) << (60 - 4 * depth))
    }

    /// Does a thread that spins have nothing newer to read, in none of the rounds that it goes round in? Then it waits for ever.
    /// How many these are is the value of its last event; where it is 0, one.
    pub(super) fn spins_for_ever(&self, thread: u8) -> bool {
        let mut events = self.events.iter().rev().filter(|e| e.thread == thread);
        let mut left = events.next().map_or(1, |spin| spin.value.max(1));
        if left == NOT_SHOWN {
            return false;
        }
        let mut rounds = events.take_while(|e| {
            left -= u64::from(matches!(e.kind, Kind::Spin | Kind::Yield));
            left > 0
        });
        let known = self.state(thread).porf;
        rounds.all(|e| match e.is_read() {
            true if e.will_write().is_none() => e.rf == self.newest(e.loc),
            // It has written there itself: there is news if another has after that.
            true => self.events.get(usize::from(self.newest(e.loc))).is_none_or(|w| known.has(w.thread, w.idx)),
            false => true,
        })
    }
}
