//! An execution as a graph: events in the order in which they were added, where each read takes its value from, in
//! which order the writes of a location stand, and the clocks that say what happens before what.
//!
//! `hb` and `(sb ∪ rf)+` never change for an event that stays: they depend only on what is before it. So each is a
//! clock, computed once, when the event is added. (RC11: Lahav, Vafeiadis, Kang, Hur, Dreyer, PLDI 2017.)

mod clock;
mod event;
mod index;
mod loc;
mod revisit;

pub use self::clock::{Clock, Clocks};
pub use self::event::{Compute, Event, Kind, Op, Order, Update};
use self::index::Index;
pub use self::loc::Loc;
use serde::{Deserialize, Serialize};

/// At most so many threads in an execution, those that have ended included.
pub const MAX_THREADS: usize = 16;

/// `rf` of a read that found what the location was made with.
pub const INIT: u16 = u16::MAX;

/// One thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// Where it stands in the tree of forks, so that the order of threads does not depend on which forked first.
    pub path: u64,
    /// How many events it has.
    pub len: u16,
    /// The number of its last event, or of the one that forked it.
    pub(super) last: u16,
    /// Has it been forked in this graph?
    pub is_there: bool,
    /// Which one of a group of symmetric threads it is, from 1; 0: of none.
    #[serde(default)]
    pub nth: u8,
    /// The first thread of its group.
    #[serde(default)]
    pub(super) first: u8,
}

/// The graph.
///
/// ```
/// use rc11::engine::{Config, Word, explore};
/// use std::sync::atomic::Ordering::Relaxed;
/// let body = || -> String { Word::new(1).store(2, Relaxed); panic!("stop here") };
/// let graph = explore(&Config::default(), body, |_| ()).failure.expect("it fails").graph;
/// assert_eq!((graph.events.len(), graph.last(0)), (1, Some(0))); // the store, of the main thread
/// assert_eq!((graph.rank(0), graph.newest(graph.events[0].loc), graph.value_of(0, 1)), (1, 0, 2));
/// assert!(graph.state(0).hb.has(0, 0) && !graph.happens_before(0, 0) && graph.race().is_none());
/// graph.check().expect("it is consistent");
/// assert!(rc11::graph::Graph::new(0).events.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Graph {
    /// In the order in which they were added.
    pub events: Vec<Event>,
    /// Of each event.
    pub clocks: Vec<Clocks>,
    /// The threads; the main one is the first.
    pub threads: Vec<Thread>,
    /// Which part of all executions lies below this graph, as far as can be guessed.
    pub weight: f64,
    /// How many times `park` may wake spuriously.
    pub spurious: u16,
    /// So many times a block may lie where one that was freed lay.
    #[serde(default)]
    pub(super) reuse: u16,
    /// Were symmetric threads started?
    #[serde(default)]
    pub(super) is_symmetric: bool,
    /// Of each event, the past that symmetric threads give it; of none, if there are none. See `symmetry.rs`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) past: Vec<Clock>,
    #[serde(skip)]
    index: Index,
}

/// An event that is about to be added, with its clocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct New {
    pub event: Event,
    pub clocks: Clocks,
    /// What stays when it revisits a read: what it depends on. Without symmetric threads this is `porf`.
    pub past: Clock,
}

impl Graph {
    /// A graph of the main thread, which has done nothing yet.
    pub fn new(spurious: u16) -> Graph {
        let main = Thread { path: 0, len: 0, last: INIT, is_there: true, nth: 0, first: 0 };
        Graph { threads: vec![main], weight: 1.0, spurious, ..Graph::default() }
    }

    /// The same; blocks of memory may lie so many times where one that was freed lay.
    pub(super) fn reusing(self, reuse: u16) -> Graph {
        Graph { reuse, ..self }
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        let of_each = size_of::<Event>() + size_of::<Clocks>();
        let past = self.past.capacity() * size_of::<Clock>();
        let threads = self.threads.capacity() * size_of::<Thread>();
        (size_of::<Graph>() + self.events.capacity() * of_each + past + threads) as u64
    }

    /// What happens before whatever `thread` does next: of what it [knows](Graph::state), that alone, and not copied.
    pub(super) fn known(&self, thread: u8) -> &Clock {
        let last = self.threads[usize::from(thread)].last;
        self.clocks.get(usize::from(last)).map_or(&Clock::NONE, |clocks| &clocks.hb)
    }

    /// What `thread` knows now.
    pub fn state(&self, thread: u8) -> Clocks {
        let Thread { last, len, .. } = self.threads[usize::from(thread)];
        match (last, len) {
            (INIT, _) => Clocks::default(),
            (last, 0) => Self::inherited(&self.clocks[usize::from(last)]),
            (last, _) => self.clocks[usize::from(last)],
        }
    }

    /// What a new thread knows.
    fn inherited(fork: &Clocks) -> Clocks {
        Clocks { hb: fork.hb, porf: fork.porf, ..Clocks::default() }
    }

    /// The number of the last event of `thread`.
    pub fn last(&self, thread: u8) -> Option<usize> {
        let Thread { last, len, .. } = self.threads[usize::from(thread)];
        (len > 0).then_some(usize::from(last))
    }

    /// Its rank in its location's order; of what the location was made with, 0.
    #[inline]
    pub fn rank(&self, write: u16) -> u16 {
        if write == INIT { 0 } else { self.events[usize::from(write)].mo }
    }

    /// The events of `loc`, the last one first, with their numbers.
    pub(super) fn of(&self, loc: Loc) -> impl Iterator<Item = (usize, &Event)> + '_ {
        let mut next = if loc == Loc::NONE { INIT } else { self.index.last_of(loc) };
        std::iter::from_fn(move || {
            let n = usize::from(next);
            let event = self.events.get(n)?;
            next = self.index.before(n);
            Some((n, event))
        })
    }

    /// The locations that were accessed.
    pub(super) fn locations(&self) -> impl Iterator<Item = Loc> + '_ {
        self.index.ends().map(|last| self.events[usize::from(last)].loc)
    }

    /// Finds the events of each location: after the events have changed otherwise than by `push`.
    pub(crate) fn reindex(mut self) -> Graph {
        self.index = Index::default();
        self.events.iter().for_each(|event| self.index.push(event, &self.events));
        self
    }

    /// The writes of `loc`, the first value among them, with their ranks.
    fn writes(&self, loc: Loc) -> impl Iterator<Item = (u16, u16)> + '_ {
        let made = self.of(loc).filter(|(_, e)| e.is_write());
        made.map(|(n, e)| (e.mo, n as u16)).chain([(0, INIT)])
    }

    /// The last write of `loc`.
    #[inline]
    pub fn newest(&self, loc: Loc) -> u16 {
        self.index.newest_of(loc)
    }

    /// The last value of `loc`, which was written.
    pub(super) fn newest_value(&self, loc: Loc) -> u64 {
        self.value_of(self.newest(loc), 0)
    }

    /// What a write wrote, of a location made with `init`.
    pub fn value_of(&self, write: u16, init: u64) -> u64 {
        if write == INIT { init } else { self.events[usize::from(write)].value }
    }

    /// The oldest write of `loc` that a thread that knows `hb` may still see, as a rank: it knows of no newer one.
    fn oldest(&self, hb: &Clock, loc: Loc) -> u16 {
        if let Some(newest) = self.events.get(usize::from(self.newest(loc))).filter(|newest| hb.has_event(newest)) {
            return newest.mo;
        }
        let known = self.of(loc).filter(|(_, e)| hb.has_event(e));
        known.map(|(_, e)| if e.is_write() { e.mo } else { self.rank(e.rf) }).max().unwrap_or(0)
    }

    /// The writes that `thread` may read, the newest first.
    pub(super) fn readable(&self, thread: u8, loc: Loc) -> Vec<u16> {
        let oldest = self.oldest(self.known(thread), loc);
        self.newest_first(loc, oldest).into_iter().map(|(_, write)| write).collect()
    }

    /// The writes of `loc` from that rank on, the newest first, with their ranks.
    fn newest_first(&self, loc: Loc, oldest: u16) -> Vec<(u16, u16)> {
        let newest = self.newest(loc);
        if self.rank(newest) <= oldest {
            return vec![(self.rank(newest), newest)];
        }
        let mut writes: Vec<(u16, u16)> = self.writes(loc).filter(|(rank, _)| *rank >= oldest).collect();
        writes.sort_unstable_by(|a, b| b.cmp(a));
        writes
    }

    /// Another update than `but` that has read `write`, and writes.
    fn updater(&self, loc: Loc, write: u16, but: usize) -> Option<usize> {
        let reads = |e: &Event| e.rf == write && e.will_write().is_some();
        self.of(loc).find(|(n, e)| *n != but && reads(e)).map(|(n, _)| n)
    }

    /// The next event of `thread`.
    pub(super) fn next(&self, thread: u8, loc: Loc, order: Order, kind: Kind, value: u64) -> New {
        let idx = self.threads[usize::from(thread)].len;
        let event = Event { thread, idx, rf: INIT, mo: 0, loc, order, kind, value, handed: false };
        let mut clocks = self.state(thread);
        clocks.hb.count(thread, idx + 1);
        clocks.porf.count(thread, idx + 1);
        let past = self.past_of_next(thread, idx, &clocks.porf);
        New { event, clocks, past }
    }

    /// The same for a read, which takes its value from `write`.
    pub(super) fn next_read(&self, thread: u8, loc: Loc, init: u64, order: Order, kind: Kind, write: u16) -> New {
        let mut new = self.next(thread, loc, order, kind, self.value_of(write, init));
        new.event.rf = write;
        if write != INIT {
            let read = self.clocks[usize::from(write)];
            new.clocks.reads(&read, new.event.strength());
            new.past.join(self.past_at(usize::from(write)));
        }
        new
    }

    /// The same for a write; its rank is still to be found.
    pub(super) fn next_write(&self, thread: u8, loc: Loc, order: Order, kind: Kind, value: u64) -> New {
        let mut new = self.next(thread, loc, order, kind, value);
        let Clocks { hb, fenced, .. } = new.clocks;
        new.clocks.released = match order {
            Order::Plain => Clock::default(),
            order if order.releases() => hb,
            _ => fenced,
        };
        new
    }

    /// The writing half of the update whose reading half is the last event of `thread`.
    pub(super) fn next_updated(&self, thread: u8) -> New {
        let read = self.events[self.last(thread).expect("its reading half")];
        let value = read.will_write().expect("only of an update that writes");
        let mut new = self.next_write(thread, read.loc, read.order, Kind::Updated, value);
        if read.rf != INIT {
            // C++20: a release sequence goes on through updates.
            new.clocks.released.join(&self.clocks[usize::from(read.rf)].released);
        }
        new
    }

    pub(super) fn next_fence(&self, thread: u8, order: Order) -> New {
        let mut new = self.next(thread, Loc::NONE, order, Kind::Fence, 0);
        let clocks = &mut new.clocks;
        if order.acquires() {
            clocks.hb.join(&clocks.pending.clone());
        }
        if order.releases() {
            clocks.fenced = clocks.hb;
        }
        new
    }

    /// `child` has come to its end.
    pub(super) fn next_join(&self, thread: u8, child: u8) -> New {
        let mut new = self.next(thread, Loc::NONE, Order::Relaxed, Kind::Join(child), 0);
        let known = self.state(child);
        new.clocks.hb.join(&known.hb);
        new.clocks.porf.join(&known.porf);
        let last = usize::from(self.threads[usize::from(child)].last);
        new.past.join(self.past_at(last));
        // Its end is no event, but counts as one: what it made after its last event is known too.
        new.clocks.hb.count(child, self.threads[usize::from(child)].len + 1);
        new
    }

    /// Adds it.
    pub(super) fn push(&mut self, new: New) {
        let thread = &mut self.threads[usize::from(new.event.thread)];
        thread.len += 1;
        thread.last = self.events.len() as u16;
        self.events.push(new.event);
        self.clocks.push(new.clocks);
        if self.is_symmetric {
            self.past.push(new.past);
        }
        self.index.push(&new.event, &self.events);
    }

    /// Adds a write, with `rank`; those behind it move back.
    pub(super) fn push_write(&mut self, mut new: New, rank: u16) {
        let mut next = self.index.last_of(new.event.loc);
        while let Some(event) = self.events.get_mut(usize::from(next)) {
            event.mo += u16::from(event.is_write() && event.mo >= rank);
            next = self.index.before(usize::from(next));
        }
        new.event.mo = rank;
        self.push(new);
    }

    /// Where a store may stand in its location's order, the last place first: behind all it knows of, not between the
    /// halves of an update.
    pub(super) fn places(&self, new: &New, also_behind: u16) -> Vec<u16> {
        let loc = new.event.loc;
        let behind = self.oldest(&new.clocks.hb, loc).max(also_behind);
        let mut after = self.newest_first(loc, behind);
        after.retain(|(_, write)| self.updater(loc, *write, usize::MAX).is_none());
        after.into_iter().map(|(rank, _)| rank + 1).collect()
    }

    /// Where the writing half of an update must stand, if it may: right behind what it read, which no other update has.
    pub(super) fn place_updated(&self, new: &New, also_behind: u16) -> Option<u16> {
        let read = self.last(new.event.thread).expect("its reading half");
        let from = self.events[read].rf;
        let rank = self.rank(from);
        let alone = self.updater(new.event.loc, from, read).is_none();
        (alone && rank >= also_behind).then_some(rank + 1)
    }

    /// The event of its thread that comes before event `n`, or the one that started the thread.
    pub(super) fn previous(&self, n: usize) -> Option<usize> {
        let Event { thread, idx, .. } = self.events[n];
        let previous = |e: &Event| match idx {
            0 => e.kind == Kind::Fork(thread),
            _ => e.thread == thread && e.idx + 1 == idx,
        };
        self.events[..n].iter().rposition(previous)
    }

    /// The rank that whatever event `read` reads must at least have.
    pub(super) fn oldest_for(&self, read: usize) -> u16 {
        self.oldest(&self.before(read).hb, self.events[read].loc)
    }

    /// Two accesses that race: the first that does, and the first with which it does.
    pub fn race(&self) -> Option<(usize, usize)> {
        let races = |a: &usize, b: usize| {
            let (first, second) = (&self.events[*a], &self.events[b]);
            let is_plain = first.order == Order::Plain || second.order == Order::Plain;
            let conflict = first.thread != second.thread && (first.is_write() || second.is_write());
            is_plain && conflict && !self.are_hb_ordered(*a, b)
        };
        let earlier = |b| {
            let before = |n: &usize| Some(usize::from(self.index.before(*n))).filter(|n| *n < self.events.len());
            std::iter::successors(before(&b), before)
        };
        let accesses = (0..self.events.len()).filter(|b| self.events[*b].loc != Loc::NONE);
        accesses.into_iter().find_map(|b| earlier(b).filter(|a| races(a, b)).last().map(|a| (a, b)))
    }

    fn are_hb_ordered(&self, a: usize, b: usize) -> bool {
        self.happens_before(a, b) || self.happens_before(b, a)
    }

    /// Another thread's access that is not ordered with `new`, and races with it.
    pub(super) fn racing(&self, new: &New) -> Option<usize> {
        let races = |e: &Event| (e.is_write() || new.event.is_write()) && !new.clocks.hb.has_event(e);
        self.of(new.event.loc).find(|(_, e)| races(e)).map(|(n, _)| n)
    }
}
