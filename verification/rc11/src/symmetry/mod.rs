//! Symmetric threads: threads that were started together, with the same code and the same captures. Executions that
//! differ only by which of them did what are one execution, up to their names, and one of them is explored.
//!
//! ```text
//!      thread 1       thread 2            what both did so far is alike: same reads from same writes;
//!      reads a ─┐     reads a             of their next events thread 1's comes first: it is added first, and
//!               │                         thread 2's counts as if it depended on it (the dashed line)
//!      reads b ─┼ ─ ▶ reads c             thread 2 reads nothing older than thread 1 did: b is not after c in mo
//! ```
//!
//! **Twins** of an event are the events of the same number in those threads of its group that were started before its
//! thread, as far as all that came before in both is alike ([`Graph::twins`]). Two rules:
//!
//! 1. *Past.* An event has in its [`past`](Graph::past_at) all that it depends on in `(sb ∪ rf)+`, and its twins with all
//!    that is in theirs. A write revisits no read in its past, and keeps its past when it revisits one. So a twin is never
//!    missing, and TruSt runs as it does, on a larger order.
//! 2. *Order.* A read reads no older write than its twins do, a write stands behind its twins, a choice is no greater than
//!    theirs. One exception: a twin that the write which is read depends on comes first, whatever `mo` says; and so do all
//!    twins before that one. (Else the past would go round in a circle. Only weak memory has it: a write that depends on a
//!    read, and stands in `mo` before what that reads.)
//!
//! Of the graphs that differ only by names, exactly one is in order: threads are sorted, event by event, by the least in
//! `mo` of those that depend on no other. The rules hold of what is left of a graph when a part goes that is closed under
//! the past, and an event that is added as the newest is in order. These are the two things that TruSt asks of a memory
//! model. Where two groups are in one execution, one after the other is sorted, in the order of their threads' paths, and
//! what the second one looks at for the exception is the past as the first one makes it.
//!
//! What a thread made itself is named alike in all threads of its group. Where it is read by others, or slept on, or where
//! a thread starts threads, its twins end: nothing is left out from there on, so that more than one of some executions may
//! be explored, but none is missed.

mod threads;

pub(crate) use self::threads::Group;

use crate::graph::{Clock, Event, Graph, INIT, Kind, Loc, Update};
use crate::step::Ask;

impl Graph {
    /// Symmetric threads begin: from here on pasts are kept.
    pub(super) fn begin_symmetry(&mut self) {
        if !std::mem::replace(&mut self.is_symmetric, true) {
            self.past = self.clocks.iter().map(|clocks| clocks.porf).collect();
        }
    }

    /// What event `n` depends on, itself included, and what its twins do.
    #[inline]
    pub(super) fn past_at(&self, n: usize) -> &Clock {
        if self.is_symmetric { &self.past[n] } else { &self.clocks[n].porf }
    }

    /// The past of the next event of `thread`, which will have that number, as far as its thread and its twins go, and
    /// `porf` without symmetry.
    #[inline]
    pub(super) fn past_of_next(&self, thread: u8, idx: u16, porf: &Clock) -> Clock {
        if !self.is_symmetric {
            return *porf;
        }
        let last = self.threads[usize::from(thread)].last;
        self.past_after(usize::from(last), thread, idx)
    }

    /// The past of event `idx` of `thread`, which comes after event `previous`.
    pub(super) fn past_after(&self, previous: usize, thread: u8, idx: u16) -> Clock {
        let mut past = self.past.get(previous).copied().unwrap_or_default();
        past.count(thread, idx + 1);
        for twin in self.twins(thread, idx) {
            past.join(&self.past[twin]);
            let Event { thread, idx, .. } = self.events[twin];
            if self.events[twin].will_write().is_some() {
                // An update is whole: its writing half is there too.
                past.count(thread, past.of(thread).max(idx + 2));
            }
        }
        past
    }

    /// The threads of its group that were started before it, the first one first.
    fn before_in_group(&self, thread: u8) -> impl Iterator<Item = u8> + '_ {
        let me = self.threads[usize::from(thread)];
        let mut members: Vec<u8> = Vec::new();
        if me.nth > 1 {
            let is_member = |&n: &u8| {
                let other = &self.threads[usize::from(n)];
                other.is_there && other.first == me.first && other.nth > 0 && other.nth < me.nth
            };
            members.extend((0..self.threads.len() as u8).filter(is_member));
            members.sort_unstable_by_key(|&n| self.threads[usize::from(n)].nth);
        }
        members.into_iter()
    }

    /// The threads of its group that were started before it and have done alike up to their event `idx`, each with that
    /// event, if it is there.
    fn peers(&self, thread: u8, idx: u16) -> Vec<(u8, Option<usize>)> {
        if !self.is_symmetric || self.threads[usize::from(thread)].nth <= 1 {
            return Vec::new();
        }
        let mine: Vec<usize> = self.first_of(thread, idx).collect();
        let shares = |other: u8| {
            let mut theirs = self.first_of(other, idx + 1);
            let alike = mine.iter().all(|&a| theirs.next().is_some_and(|b| self.are_alike(b, a)));
            alike.then(|| (other, theirs.next()))
        };
        self.before_in_group(thread).filter_map(shares).collect()
    }

    /// The first `count` events of `thread`.
    fn first_of(&self, thread: u8, count: u16) -> impl Iterator<Item = usize> + '_ {
        let of_it = self.events.iter().enumerate().filter(move |(_, e)| e.thread == thread);
        of_it.map(|(n, _)| n).take(usize::from(count))
    }

    /// The events that stand where event `idx` of `thread` does, or will, in those threads of its group that were started
    /// before it and have done alike: the first thread's first.
    pub(super) fn twins(&self, thread: u8, idx: u16) -> Vec<usize> {
        self.peers(thread, idx).into_iter().filter_map(|(_, event)| event).collect()
    }

    /// Have two threads of a group, which had done alike before, done alike by these events too?
    fn are_alike(&self, a: usize, b: usize) -> bool {
        let (first, second) = (&self.events[a], &self.events[b]);
        let are_private = first.is_private() && second.is_private();
        match (first.kind, second.kind) {
            (Kind::Updating(update), Kind::Updating(_)) if are_private && update.is_await() => false,
            (Kind::Load, Kind::Load) | (Kind::Updating(_), Kind::Updating(_)) => {
                if are_private {
                    self.own_source(first) == self.own_source(second)
                } else {
                    first.rf == second.rf
                }
            }
            (Kind::Store, Kind::Store) | (Kind::Updated, Kind::Updated) => are_private,
            (Kind::Join(one), Kind::Join(other)) => one == other,
            (Kind::Choice(_), Kind::Choice(_)) | (Kind::Spurious, Kind::Spurious) => first.value == second.value,
            (Kind::Fence, Kind::Fence) | (Kind::Light, Kind::Light) => true,
            (Kind::HeavyCall, Kind::HeavyCall) | (Kind::HeavyReturn, Kind::HeavyReturn) => true,
            (Kind::Spin, Kind::Spin) | (Kind::Yield, Kind::Yield) => true,
            _ => false,
        }
    }

    /// Which of its own thread's writes a read reads: `Some(INIT)` if none was made, `None` if it is another's.
    fn own_source(&self, read: &Event) -> Option<u16> {
        match self.events.get(usize::from(read.rf)) {
            None => Some(INIT),
            Some(write) => (write.thread == read.thread).then_some(write.idx),
        }
    }

    /// May a read that has those twins read `write`?
    pub(super) fn may_read(&self, twins: &[usize], loc: Loc, write: u16) -> bool {
        let rank = self.rank(write);
        let is_older = |twin: &usize| {
            let event = &self.events[*twin];
            event.is_read() && event.loc == loc && self.rank(event.rf) > rank
        };
        if !twins.iter().any(is_older) {
            return true;
        }
        // From the last one on: before one that `write` depends on, all are in order.
        let decides = |twin: &&usize| is_older(twin) || self.leads_to(**twin, write);
        twins.iter().rev().find(decides).is_none_or(|twin| self.leads_to(*twin, write))
    }

    /// The rank behind which a write that has those twins must stand.
    pub(super) fn behind(&self, twins: &[usize], loc: Loc) -> u16 {
        let ranks = twins.iter().map(|&twin| &self.events[twin]).filter(|e| e.is_write() && e.loc == loc).map(|e| e.mo);
        ranks.max().unwrap_or(0)
    }

    /// The greatest choice that a thread with those twins may make.
    pub(super) fn most(&self, twins: &[usize]) -> u64 {
        twins.iter().map(|&twin| self.events[twin].value).min().unwrap_or(u64::MAX)
    }

    /// Is event `n`, a read that has just been given its value, in order?
    pub(super) fn is_in_order(&self, n: usize) -> bool {
        let Event { thread, idx, loc, rf, .. } = self.events[n];
        !self.is_symmetric || self.may_read(&self.twins(thread, idx), loc, rf)
    }

    /// Does `write` depend on `twin`: in `(sb ∪ rf)+`, and by the order of groups that come before?
    fn leads_to(&self, twin: usize, write: u16) -> bool {
        let Event { thread, idx, .. } = self.events[twin];
        if write == INIT {
            return false;
        }
        let path = |first: u8| self.threads[usize::from(first)].path;
        let group = path(self.threads[usize::from(thread)].first);
        let comes_before = |n: u8| {
            let other = &self.threads[usize::from(n)];
            other.is_there && other.nth > 1 && path(other.first) < group
        };
        let earlier: Vec<bool> = (0..self.threads.len() as u8).map(comes_before).collect();
        if !earlier.contains(&true) {
            return self.clocks[usize::from(write)].porf.has(thread, idx);
        }
        self.leads_to_by(twin, usize::from(write), &earlier)
    }

    /// The same by a search, where some threads have twins that count.
    fn leads_to_by(&self, from: usize, to: usize, has_twins: &[bool]) -> bool {
        let mut seen = vec![false; self.events.len()];
        let mut todo = vec![to];
        while let Some(n) = todo.pop() {
            if n == from {
                return true;
            }
            if std::mem::replace(&mut seen[n], true) {
                continue;
            }
            let event = &self.events[n];
            todo.extend(self.previous(n));
            if event.rf != INIT {
                todo.push(usize::from(event.rf));
            }
            if let Kind::Join(child) = event.kind {
                todo.extend(self.last(child));
            }
            if has_twins[usize::from(event.thread)] {
                todo.extend(self.twins(event.thread, event.idx));
            }
        }
        false
    }

    /// What is wrong, if `thread` asks for something else than threads of its group that have done alike.
    pub(super) fn is_no_twin(&self, thread: u8, ask: &Ask) -> bool {
        let idx = self.threads[usize::from(thread)].len;
        let asks_the_same = |&(_, event): &(u8, Option<usize>)| event.is_some_and(|n| self.is_same(n, thread, ask));
        !self.peers(thread, idx).iter().all(asks_the_same)
    }

    /// Is event `n` what its thread would have been given for `ask`, which `thread` of its group asks for?
    fn is_same(&self, n: usize, thread: u8, ask: &Ask) -> bool {
        let event = &self.events[n];
        let name = |value: u64| own_name(value, thread);
        let theirs = |value: u64| own_name(value, event.thread);
        let place = |loc: Loc| event.loc == loc || event.is_private() && loc.is_made_by(thread);
        match (*ask, event.kind) {
            (Ask::Load { loc, order, .. }, Kind::Load) => place(loc) && order == event.order,
            (Ask::Store { loc, value, order }, Kind::Store) => {
                place(loc) && order == event.order && name(value) == theirs(event.value)
            }
            (Ask::Update { loc, order, update, .. }, Kind::Updating(was)) => {
                place(loc) && order == event.order && renamed(update, name) == renamed(was, theirs)
            }
            (Ask::Open { loc }, Kind::Open) => place(loc),
            (Ask::Fence(order), Kind::Fence) => order == event.order,
            (Ask::Fork { nth }, Kind::Fork(_)) => event.value == u64::from(nth),
            (Ask::Join(child), Kind::Join(was)) => child == was,
            (Ask::Choose(n), Kind::Choice(was)) => n == was,
            (Ask::Light, Kind::Light) | (Ask::HeavyCall, Kind::HeavyCall) | (Ask::HeavyReturn, Kind::HeavyReturn) => {
                true
            }
            (Ask::Spurious, Kind::Spurious) => true,
            // A round without news becomes the one, a round with news the other.
            (Ask::Spin | Ask::Yield, Kind::Spin | Kind::Yield) => true,
            (Ask::Alloc { heap } | Ask::Free { heap, .. }, Kind::Alloc | Kind::Free) => heap == event.loc,
            _ => false,
        }
    }
}

/// The names of pointers begin with the thread and the event that first brought them. In a thread's own the thread is
/// left out.
fn own_name(value: u64, thread: u8) -> u64 {
    let owner = u64::from(thread) << 24;
    if value & 1 == 1 && value & 0xff00_0000 == owner { value | 0xff00_0000 } else { value }
}

fn renamed(update: Update, name: impl Fn(u64) -> u64) -> Update {
    match update {
        Update::Swap(value) => Update::Swap(name(value)),
        Update::Exchange { current, new, failure } => {
            Update::Exchange { current: name(current), new: name(new), failure }
        }
        other => other,
    }
}

impl Event {
    /// Is it of a location that its own thread has made?
    fn is_private(&self) -> bool {
        self.loc.is_made_by(self.thread)
    }
}

impl Loc {
    /// Did that thread make it?
    fn is_made_by(self, thread: u8) -> bool {
        self.maker() == Some(thread)
    }
}
