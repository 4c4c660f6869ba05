//! An execution as a graph: events in the order in which they were added, where each read takes its value from, in
//! which order the writes of a location stand, and the clocks that say what happens before what.
//!
//! `hb` and `(sb ∪ rf)+` never change for an event that stays: they depend only on what is before it. So each is a
//! clock, computed once, when the event is added. (RC11: Lahav, Vafeiadis, Kang, Hur, Dreyer, PLDI 2017.)

mod index;

use self::index::Index;
use serde::{Deserialize, Serialize};
use std::sync::atomic::Ordering;

/// At most so many threads in an execution, those that have ended included.
pub const MAX_THREADS: usize = 16;

/// `rf` of a read that found what the location was made with.
pub const INIT: u16 = u16::MAX;

/// Of each thread, how many of its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Clock([u16; MAX_THREADS]);

impl Clock {
    /// All events, of all threads.
    pub(super) const ALL: Clock = Clock([u16::MAX; MAX_THREADS]);

    #[inline]
    pub(super) fn join(&mut self, other: &Clock) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Is event number `idx` of `thread` among them?
    #[inline]
    pub fn has(&self, thread: u8, idx: u16) -> bool {
        self.0[usize::from(thread)] > idx
    }

    #[inline]
    fn has_event(&self, event: &Event) -> bool {
        self.has(event.thread, event.idx)
    }

    /// Of `thread`, how many.
    #[inline]
    pub fn of(&self, thread: u8) -> u16 {
        self.0[usize::from(thread)]
    }

    /// The clock of a thread of which `len` events, the last one and all that is before it, and no other are known.
    #[inline]
    pub(super) fn count(&mut self, thread: u8, len: u16) {
        self.0[usize::from(thread)] = len;
    }
}

/// A place in memory: the thread that made it, and how many it had made before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Loc(u32);

impl Loc {
    pub(super) const NONE: Loc = Loc(u32::MAX);
    /// The virtual clock.
    pub const CLOCK: Loc = Loc(u32::MAX - 1);
    /// How many starts of threads are still refused.
    pub const REFUSALS: Loc = Loc(u32::MAX - 2);
    /// The first of the places of objects that a `const fn` makes: `OnceLock`s, `lazy_static!`s.
    const STATICS: u32 = u32::MAX - 3;
    /// How many classes of blocks of memory there may be.
    pub(super) const MAX_HEAPS: u32 = 1 << 8;
    /// How many such places there are.
    pub(super) const MAX_STATICS: u32 = 1 << 10;

    pub(super) fn new(thread: u8, ordinal: u32) -> Loc {
        Loc(u32::from(thread) << 24 | ordinal)
    }

    /// The place of what all threads know without having been told: the nth one.
    pub(super) fn of_static(n: u32) -> Loc {
        assert!(
            n < Loc::MAX_STATICS,
            "rc11: more than {} `Once`s, `OnceLock`s and `LazyLock`s in one execution",
            Loc::MAX_STATICS
        );
        Loc(Loc::STATICS - n)
    }

    /// The place of the blocks of memory of a class.
    pub(super) fn of_heap(class: usize) -> Loc {
        let class = u32::try_from(class).unwrap_or(u32::MAX);
        assert!(class < Loc::MAX_HEAPS, "rc11: pointers to more than {} layouts in one model", Loc::MAX_HEAPS);
        Loc(Loc::STATICS - Loc::MAX_STATICS - class)
    }

    /// Which of those of objects it is.
    pub(super) fn nth_static(self) -> Option<u32> {
        self.nth_reserved().filter(|nth| *nth < Loc::MAX_STATICS)
    }

    /// Which of those of objects it is, or, from [`Loc::MAX_STATICS`] on, of which class.
    fn nth_reserved(self) -> Option<u32> {
        let Loc(loc) = self;
        let all = Loc::MAX_STATICS + Loc::MAX_HEAPS;
        (loc <= Loc::STATICS && loc > Loc::STATICS - all).then(|| Loc::STATICS - loc)
    }

    /// Is it a place, among so many threads' that have made so many?
    pub(super) fn is_one(self, threads: usize, each: usize) -> bool {
        let (thread, ordinal) = self.slot();
        let is_made = self != Loc::NONE && thread < threads && ordinal < each;
        matches!(self, Loc::CLOCK | Loc::REFUSALS) || self.nth_reserved().is_some() || is_made
    }

    /// The thread that made it.
    pub(super) fn maker(self) -> Option<u8> {
        let (thread, _) = self.slot();
        (thread < MAX_THREADS).then_some(thread as u8)
    }

    /// Where the index has it.
    fn slot(self) -> (usize, usize) {
        match (self, self.nth_reserved()) {
            (Loc::CLOCK, _) => (MAX_THREADS, 0),
            (Loc::REFUSALS, _) => (MAX_THREADS, 1),
            // Side by side: there are few of either.
            (_, Some(n)) if n < Loc::MAX_STATICS => (MAX_THREADS, 2 + 2 * n as usize),
            (_, Some(n)) => (MAX_THREADS, 3 + 2 * (n - Loc::MAX_STATICS) as usize),
            (Loc(loc), None) => ((loc >> 24) as usize, (loc & 0xff_ffff) as usize),
        }
    }
}

/// How strong an access or a fence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Not atomic: must be ordered with every other access.
    Plain,
    /// Atomic, and no more.
    Relaxed,
    /// Acquires.
    Acquire,
    /// Releases.
    Release,
    /// Both.
    AcqRel,
    /// Both, and in one order with all other such.
    SeqCst,
}

impl Order {
    pub(super) fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcqRel | Order::SeqCst)
    }
    pub(super) fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel | Order::SeqCst)
    }
}

impl From<Ordering> for Order {
    fn from(order: Ordering) -> Order {
        match order {
            Ordering::Acquire => Order::Acquire,
            Ordering::Release => Order::Release,
            Ordering::AcqRel => Order::AcqRel,
            Ordering::SeqCst => Order::SeqCst,
            _ => Order::Relaxed,
        }
    }
}

/// What an update makes of the value that it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Update {
    /// Puts this in its place.
    Swap(u64),
    /// Adds this.
    Add(u64),
    /// Takes one away, if there is one.
    Take,
    /// Writes `new` if it is `current`; else it only reads, with `failure`.
    Exchange {
        /// What must be there.
        current: u64,
        /// What then comes in its place.
        new: u64,
        /// How strong a read it is otherwise.
        failure: Order,
    },
    /// Waits until it is `wanted`, then writes `new`. Every write of such a location is an update, or a [`Kind::Open`].
    Await {
        /// What it waits for.
        wanted: u64,
        /// What then comes in its place.
        new: u64,
    },
    /// Adds one, if the value is below that; else it waits, or only reads. Of the writes of such a location, the same
    /// is true.
    Enter {
        /// What the value must be below.
        below: u64,
        /// Does it wait until it is?
        waits: bool,
    },
    /// An operation on an integer of fewer bits, or another than addition.
    Compute(Compute, u64),
}

/// What an integer of so many bits becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compute {
    /// How.
    pub op: Op,
    /// Of how many bits it is: the others stay 0.
    pub bits: u8,
    /// Does its highest bit count as negative?
    pub is_signed: bool,
}

/// An operation on two integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Sum, wrapping around.
    Add,
    /// Difference, wrapping around.
    Sub,
    /// Bitwise and.
    And,
    /// Bitwise and, then not.
    Nand,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The greater one.
    Max,
    /// The smaller one.
    Min,
}

impl Compute {
    /// What it makes of `value` and `other`.
    #[must_use]
    pub fn of(self, value: u64, other: u64) -> u64 {
        let mask = u64::MAX >> (64 - u32::from(self.bits));
        let sign = if self.is_signed { 1 << (self.bits - 1) } else { 0 };
        // With the highest bit turned over, signed integers are in the order of unsigned ones.
        let is_below = (value ^ sign) & mask < (other ^ sign) & mask;
        mask & match self.op {
            Op::Add => value.wrapping_add(other),
            Op::Sub => value.wrapping_sub(other),
            Op::And => value & other,
            Op::Nand => !(value & other),
            Op::Or => value | other,
            Op::Xor => value ^ other,
            Op::Max => {
                if is_below {
                    other
                } else {
                    value
                }
            }
            Op::Min => {
                if is_below {
                    value
                } else {
                    other
                }
            }
        }
    }
}

impl Update {
    /// Does it wait for a value over which it writes?
    #[inline]
    pub fn is_await(self) -> bool {
        matches!(self, Update::Await { .. } | Update::Enter { waits: true, .. })
    }

    /// The values that it takes from the program; 0 for one that it does not.
    pub(super) fn values(self) -> [u64; 2] {
        match self {
            Update::Swap(new) | Update::Compute(_, new) => [new, 0],
            Update::Exchange { current, new, .. } => [current, new],
            _ => [0, 0],
        }
    }

    /// The same with other values for those that it takes from the program.
    pub(super) fn map(self, mut f: impl FnMut(u64) -> u64) -> Update {
        match self {
            Update::Swap(new) => Update::Swap(f(new)),
            Update::Exchange { current, new, failure } => {
                Update::Exchange { current: f(current), new: f(new), failure }
            }
            Update::Compute(compute, other) => Update::Compute(compute, f(other)),
            other => other,
        }
    }

    /// What is written over `value`. `None`: nothing.
    pub fn over(self, value: u64) -> Option<u64> {
        match self {
            Update::Swap(new) => Some(new),
            Update::Add(more) => Some(value.wrapping_add(more)),
            Update::Take => Some(value.saturating_sub(1)),
            Update::Exchange { current, new, .. } => (value == current).then_some(new),
            Update::Await { wanted, new } => (value == wanted).then_some(new),
            Update::Enter { below, .. } => (value < below).then_some(value.wrapping_add(1)),
            Update::Compute(compute, other) => Some(compute.of(value, other)),
        }
    }
}

/// What an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Opens a lock: a write after everything.
    Open,
    /// The reading half of an update; its writing half, if it writes, is its thread's next event.
    Updating(Update),
    /// The writing half of an update.
    Updated,
    /// A fence.
    Fence,
    /// A light fence. Its order is none: it counts beside heavy ones alone.
    Light,
    /// A heavy fence is called: a `SeqCst` fence.
    HeavyCall,
    /// It returns, its thread's next event: another one.
    HeavyReturn,
    /// A thread is started.
    Fork(u8),
    /// A thread has come to its end.
    Join(u8),
    /// One of so many, chosen.
    Choice(u32),
    /// Whether `park` wakes spuriously: 1 if it does.
    Spurious,
    /// A loop that waits: nothing happens here until something is written that it has read.
    Spin,
    /// A loop that waits has looked, and will look again: a round of it ends here.
    Yield,
    /// A block of memory is given out: it lies where the block lay that the event freed which it reads, or where none has
    /// been.
    Alloc,
    /// A block of memory is freed; its value is where it lies.
    Free,
}

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Whose.
    pub thread: u8,
    /// Which of its thread's, from 0.
    pub idx: u16,
    /// Of a read: the number of the write that it reads, or [`INIT`].
    pub rf: u16,
    /// Of a write: its rank in its location's order. The first value has rank 0.
    pub mo: u16,
    /// Where.
    pub loc: Loc,
    /// How strong.
    pub order: Order,
    /// What.
    pub kind: Kind,
    /// What was read, written or chosen.
    pub value: u64,
}

impl Event {
    /// Does it write?
    #[inline]
    pub fn is_write(&self) -> bool {
        matches!(self.kind, Kind::Store | Kind::Updated | Kind::Open)
    }

    /// Does it read?
    #[inline]
    pub fn is_read(&self) -> bool {
        matches!(self.kind, Kind::Load | Kind::Updating(_))
    }

    /// Is it a fence of RC11's? A light one is not.
    #[inline]
    pub fn is_fence(&self) -> bool {
        matches!(self.kind, Kind::Fence | Kind::HeavyCall | Kind::HeavyReturn)
    }

    /// What it writes next, if it is the reading half of an update that writes.
    pub fn will_write(&self) -> Option<u64> {
        match self.kind {
            Kind::Updating(update) => update.over(self.value),
            _ => None,
        }
    }

    /// Does it wait for a value that is not there?
    pub fn waits(&self) -> bool {
        matches!(self.kind, Kind::Updating(update) if update.is_await() && update.over(self.value).is_none())
    }

    /// How strong it is: an exchange that fails is a read of its own.
    pub fn strength(&self) -> Order {
        match self.kind {
            Kind::Updating(Update::Exchange { current, failure, .. }) if self.value != current => failure,
            _ => self.order,
        }
    }
}

/// What is known at an event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// What happens before it, and itself.
    pub hb: Clock,
    /// What is before it in `(sb ∪ rf)+`, and itself.
    pub porf: Clock,
    /// What an acquire fence after it would acquire.
    pending: Clock,
    /// What the last release fence before it released.
    pub(super) fenced: Clock,
    /// Of a write: what an acquiring read of it acquires.
    released: Clock,
}

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
        self.events.iter().for_each(|event| self.index.push(event.loc));
        self
    }

    /// The writes of `loc`, the first value among them, with their ranks.
    fn writes(&self, loc: Loc) -> impl Iterator<Item = (u16, u16)> + '_ {
        let made = self.of(loc).filter(|(_, e)| e.is_write());
        made.map(|(n, e)| (e.mo, n as u16)).chain([(0, INIT)])
    }

    /// The last write of `loc`.
    pub fn newest(&self, loc: Loc) -> u16 {
        self.writes(loc).max().map_or(INIT, |(_, write)| write)
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
        let known = self.of(loc).filter(|(_, e)| hb.has_event(e));
        known.map(|(_, e)| if e.is_write() { e.mo } else { self.rank(e.rf) }).max().unwrap_or(0)
    }

    /// The writes that `thread` may read, the newest first.
    pub(super) fn readable(&self, thread: u8, loc: Loc) -> Vec<u16> {
        let oldest = self.oldest(&self.state(thread).hb, loc);
        self.newest_first(loc, oldest).into_iter().map(|(_, write)| write).collect()
    }

    /// The writes of `loc` from that rank on, the newest first, with their ranks.
    fn newest_first(&self, loc: Loc, oldest: u16) -> Vec<(u16, u16)> {
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
        let event = Event { thread, idx, rf: INIT, mo: 0, loc, order, kind, value };
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
        self.index.push(new.event.loc);
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

    /// The reads that might read `new` instead of what they read: those that it does not depend on.
    pub(super) fn revisitable(&self, new: &New) -> impl Iterator<Item = usize> + use<> {
        let free = |e: &Event| e.is_read() && !new.past.has_event(e);
        let found: Vec<usize> = self.of(new.event.loc).filter(|(_, e)| free(e)).map(|(n, _)| n).collect();
        found.into_iter()
    }

    /// Was all that was added after `read` and does not lead to `new`, and `read` itself, added maximally? Of the many
    /// ways to the same graph, this is true for one.
    pub(super) fn may_revisit(&self, read: usize, new: &New) -> bool {
        let past = &new.past;
        let goes = |n: &usize| !past.has_event(&self.events[*n]);
        let mut leaving = (read..self.events.len()).filter(goes);
        leaving.all(|n| self.is_maximal(n, read, past))
    }

    /// This graph without what was added after `read` and does not lead to `new`. `read` now reads `new`, which is to
    /// be added next.
    pub(super) fn revisit(&self, read: usize, new: &New) -> Graph {
        let mut graph = self.without(read, &new.past);
        graph.reread(read, new);
        graph
    }

    /// The first `len` events: the graph as it was when it had no more.
    pub(super) fn first(&self, len: usize) -> Graph {
        let mut graph = self.emptied(len);
        graph.events.extend_from_slice(&self.events[..len]);
        graph.clocks.extend_from_slice(&self.clocks[..len]);
        if self.is_symmetric {
            graph.past.extend_from_slice(&self.past[..len]);
        }
        for (n, event) in self.events[..len].iter().enumerate() {
            graph.count(n as u16, event);
        }
        graph.renumber(self, |n| if usize::from(n) < len { n } else { INIT });
        graph.forget_threads();
        graph
    }

    /// `write` opens a lock: the write by which it was taken.
    fn taken_before(&self, write: u16) -> usize {
        let opened = &self.events[usize::from(write)];
        let taken = self.of(opened.loc).find(|(_, e)| e.is_write() && e.mo + 1 == opened.mo);
        taken.expect("a lock is opened by its taker").0
    }

    /// Was event `n` added maximally, seen from an event that has that past and would be read by `read`? (TruSt:
    /// Kokologiannakis, Marmanis, Gladstein, Vafeiadis, POPL 2022.)
    ///
    /// A lock that was opened for a waiting thread is an exception: the thread counts as if it still waited.
    fn is_maximal(&self, n: usize, read: usize, past: &Clock) -> bool {
        let event = &self.events[n];
        match event.kind {
            Kind::Choice(_) | Kind::Spurious => return event.value == 0,
            Kind::Fence | Kind::Light | Kind::HeavyCall | Kind::HeavyReturn => return true,
            Kind::Fork(_) | Kind::Join(_) | Kind::Spin | Kind::Yield => return true,
            Kind::Alloc => return event.rf == INIT,
            _ => (),
        }
        let before = |m: usize, e: &Event| m <= n || past.has_event(e);
        if event.kind == Kind::Free {
            return self.of(event.loc).all(|(m, e)| usize::from(e.rf) != n || !before(m, e));
        }
        let is_write = event.is_write();
        let write = if is_write { n as u16 } else { self.would_read(n, read, past) };
        if write != INIT && !before(usize::from(write), &self.events[usize::from(write)]) {
            return false;
        }
        let rank = self.rank(write);
        let mut of_it = self.of(event.loc).filter(|(m, e)| before(*m, e));
        of_it.all(|(m, e)| {
            let is_read_from = is_write && e.is_read() && self.would_read(m, read, past) == write;
            !is_read_from && (!e.is_write() || e.mo <= rank)
        })
    }

    /// What event `n` reads; or would, if what leaves had left: a thread that was given a lock then waits again, for
    /// the one that had it.
    fn would_read(&self, n: usize, read: usize, past: &Clock) -> u16 {
        let rf = self.events[n].rf;
        let leaves = usize::from(rf) > read && rf != INIT && !past.has_event(&self.events[usize::from(rf)]);
        if leaves && self.has_waited(n) { self.taken_before(rf) as u16 } else { rf }
    }

    /// Has it waited for a lock, which was then opened for it? It reads what was added after it.
    fn has_waited(&self, n: usize) -> bool {
        let event = &self.events[n];
        let takes = matches!(event.kind, Kind::Updating(Update::Await { wanted: 0, .. }));
        takes
            && event.rf != INIT
            && usize::from(event.rf) > n
            && matches!(self.events[usize::from(event.rf)].kind, Kind::Open)
    }

    /// The events up to `read`, and those in `past`.
    fn without(&self, read: usize, past: &Clock) -> Graph {
        self.only(|n, e| n <= read || past.has_event(e))
    }

    /// Only the events that stay. Each thread's are its first ones.
    fn only(&self, stays: impl Fn(usize, &Event) -> bool) -> Graph {
        let mut graph = self.emptied(self.events.len());
        let mut now = vec![INIT; self.events.len()];
        for (n, (event, clocks)) in self.events.iter().zip(&self.clocks).enumerate() {
            if !stays(n, event) {
                continue;
            }
            now[n] = graph.events.len() as u16;
            graph.count(now[n], event);
            graph.events.push(*event);
            graph.clocks.push(*clocks);
            if self.is_symmetric {
                graph.past.push(self.past[n]);
            }
        }
        graph.renumber(self, |n| now[usize::from(n)]);
        graph.forget_threads();
        graph
    }

    /// The same without its events, with room for so many and a few more.
    fn emptied(&self, events: usize) -> Graph {
        let room = events + 4;
        let left = |(n, thread): (usize, &Thread)| Thread { len: 0, last: INIT, is_there: n == 0, ..*thread };
        Graph {
            events: Vec::with_capacity(room),
            clocks: Vec::with_capacity(room),
            threads: self.threads.iter().enumerate().map(left).collect(),
            weight: self.weight,
            spurious: self.spurious,
            reuse: self.reuse,
            is_symmetric: self.is_symmetric,
            past: Vec::with_capacity(if self.is_symmetric { room } else { 0 }),
            index: self.index.emptied(room),
        }
    }

    /// Its threads and locations have `event`, which has that number.
    #[inline]
    fn count(&mut self, number: u16, event: &Event) {
        if let Kind::Fork(child) = event.kind {
            let child = &mut self.threads[usize::from(child)];
            (child.is_there, child.last) = (true, number);
        }
        let thread = &mut self.threads[usize::from(event.thread)];
        thread.len += 1;
        thread.last = number;
        self.index.push(event.loc);
    }

    /// The last threads, if they have not been forked.
    fn forget_threads(&mut self) {
        while self.threads.last().is_some_and(|thread| !thread.is_there) {
            self.threads.pop();
        }
    }

    /// The events were renumbered. A thread that reads what is no longer there waits for a lock again.
    fn renumber(&mut self, from: &Graph, now: impl Fn(u16) -> u16) {
        for n in 0..self.events.len() {
            let rf = self.events[n].rf;
            if rf == INIT {
                continue;
            }
            self.events[n].rf = now(rf);
            if now(rf) == INIT {
                let taken = now(from.taken_before(rf) as u16);
                let (clocks, past) = (self.clocks[usize::from(taken)], *self.past_at(usize::from(taken)));
                self.reads(n, taken, self.events[usize::from(taken)].value, &clocks, &past);
            }
        }
    }

    /// `read`, the last event of its thread, now reads `new`, whose number will be the next.
    pub(super) fn reread(&mut self, read: usize, new: &New) {
        self.reads(read, self.events.len() as u16, new.event.value, &new.clocks, &new.past);
    }

    /// `read`, the last event of its thread, now reads that.
    fn reads(&mut self, read: usize, write: u16, value: u64, written: &Clocks, its_past: &Clock) {
        if self.is_symmetric {
            let Event { thread, idx, .. } = self.events[read];
            let mut past = self.past_after(self.previous(read).unwrap_or(usize::MAX), thread, idx);
            past.join(its_past);
            self.past[read] = past;
        }
        let mut clocks = self.before(read);
        let event = &mut self.events[read];
        (event.rf, event.value) = (write, value);
        clocks.hb.count(event.thread, event.idx + 1);
        clocks.porf.count(event.thread, event.idx + 1);
        clocks.reads(written, event.strength());
        self.clocks[read] = clocks;
    }

    /// What its thread knew before event `n`.
    fn before(&self, n: usize) -> Clocks {
        match self.previous(n) {
            None => Clocks::default(),
            Some(m) if self.events[n].idx == 0 => Self::inherited(&self.clocks[m]),
            Some(m) => self.clocks[m],
        }
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

impl Clocks {
    /// A read of that strength, of a write that has those clocks.
    fn reads(&mut self, write: &Clocks, order: Order) {
        self.porf.join(&write.porf);
        if order.acquires() {
            self.hb.join(&write.released);
        } else if order != Order::Plain {
            self.pending.join(&write.released);
        }
    }
}
