//! Backward revisits: an earlier read reads a later write, and what was added between them and does not lead to the
//! write leaves the graph.

use super::{Clock, Clocks, Event, Graph, INIT, Kind, New, Thread};
use std::ops::Range;

impl Graph {
    /// The reads that might read `new` instead of what they read: those that it does not depend on.
    pub(crate) fn revisitable(&self, new: &New) -> impl Iterator<Item = usize> + use<> {
        let free = |e: &Event| e.is_read() && !new.past.has_event(e);
        let found: Vec<usize> = self.of(new.event.loc).filter(|(_, e)| free(e)).map(|(n, _)| n).collect();
        found.into_iter()
    }

    /// Was all that was added after `read` and does not lead to `new`, and `read` itself, added maximally? Of the many
    /// ways to the same graph, this is true for one.
    pub(crate) fn may_revisit(&self, read: usize, new: &New) -> bool {
        let past = &self.stays_with(read, &new.past);
        let goes = |n: &usize| !past.has_event(&self.events[*n]);
        let mut leaving = (read..self.events.len()).filter(goes);
        leaving.all(|n| self.is_maximal(n, read, past))
    }

    /// This graph without what was added after `read` and does not lead to `new`. `read` now reads `new`, which is to
    /// be added next.
    pub(crate) fn revisit(&self, read: usize, new: &New) -> Graph {
        let mut graph = self.without(read, &self.stays_with(read, &new.past));
        graph.reread(read, new);
        graph
    }

    /// What stays after `read`: `past`, and of each lock that was handed on in place by what stays, that it was taken. That comes
    /// after `read`, but belongs to the thread that waited before.
    fn stays_with(&self, read: usize, past: &Clock) -> Clock {
        let mut stays = *past;
        for event in self.events[..read].iter().filter(|event| event.handed && !event.waits()) {
            if self.events.get(usize::from(event.rf)).is_some_and(|opens| past.has_event(opens)) {
                stays.count(event.thread, stays.of(event.thread).max(event.idx + 2));
            }
        }
        stays
    }

    /// The first `len` events: the graph as it was when it had no more.
    pub(crate) fn first(&self, len: usize) -> Graph {
        self.keeping(len, |_| false)
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
    pub(crate) fn would_read(&self, n: usize, read: usize, past: &Clock) -> u16 {
        let leaves = |write: u16| usize::from(write) > read && !past.has_event(&self.events[usize::from(write)]);
        self.waited_for(&self.events[n], leaves)
    }

    /// What `event` reads. If that leaves, and was given to it in place: what it waited for before.
    fn waited_for(&self, event: &Event, leaves: impl Fn(u16) -> bool) -> u16 {
        let mut rf = event.rf;
        while rf != INIT && event.handed && leaves(rf) {
            let before = &self.events[usize::from(rf)];
            let waited = |(_, e): &(usize, &Event)| e.is_write() && e.mo + 1 == before.mo && event.waits_at(e.value);
            // It was displaced by a write that had read what it had.
            let Some((write, _)) = self.of(event.loc).find(waited) else { break };
            rf = write as u16;
        }
        rf
    }

    /// The events up to `read`, and those in `past`.
    pub(super) fn without(&self, read: usize, past: &Clock) -> Graph {
        self.keeping(read + 1, |event| past.has_event(event))
    }

    /// The first `len` events, and of the others those that stay. Each thread's are its first ones.
    fn keeping(&self, len: usize, stays: impl Fn(&Event) -> bool) -> Graph {
        let all = self.events.len();
        let (mut graph, mut now) = (self.emptied(), vec![INIT; all]);
        let mut run = 0..len;
        // Those that stay side by side are copied at once.
        while !run.is_empty() {
            now[run.clone()].iter_mut().zip(graph.events.len() as u16..).for_each(|(now, n)| *now = n);
            graph.copy(self, run.clone());
            let next = (run.end..all).find(|&n| stays(&self.events[n])).unwrap_or(all);
            run = next..(next..all).find(|&n| !stays(&self.events[n])).unwrap_or(all);
        }
        graph.renumber(self, |n| now[usize::from(n)]);
        graph.forget_threads();
        graph
    }

    /// The same without its events, with room for them and a few more.
    fn emptied(&self) -> Graph {
        let room = self.events.len() + 4;
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

    /// Adds some of the events of another.
    fn copy(&mut self, from: &Graph, run: Range<usize>) {
        let begins = self.events.len();
        self.events.extend_from_slice(&from.events[run.clone()]);
        self.clocks.extend_from_slice(&from.clocks[run.clone()]);
        if self.is_symmetric {
            self.past.extend_from_slice(&from.past[run]);
        }
        (begins..self.events.len()).for_each(|n| self.count(n));
    }

    /// Its threads and locations have event `n`.
    fn count(&mut self, n: usize) {
        let event = &self.events[n];
        if let Kind::Fork(child) = event.kind {
            let child = &mut self.threads[usize::from(child)];
            (child.is_there, child.last) = (true, n as u16);
        }
        let thread = &mut self.threads[usize::from(event.thread)];
        thread.len += 1;
        thread.last = n as u16;
        self.index.push(event, &self.events);
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
            if now(rf) == INIT {
                let waits_for = now(from.waited_for(&self.events[n], |write| now(write) == INIT));
                let (clocks, past) = (self.clocks[usize::from(waits_for)], *self.past_at(usize::from(waits_for)));
                self.reads(n, waits_for, self.events[usize::from(waits_for)].value, &clocks, &past);
            } else {
                self.events[n].rf = now(rf);
            }
        }
    }

    /// `read`, the last event of its thread, now reads `new`, whose number will be the next.
    pub(crate) fn reread(&mut self, read: usize, new: &New) {
        self.events[read].handed = false;
        self.reads(read, self.events.len() as u16, new.event.value, &new.clocks, &new.past);
    }

    /// `read` has waited, and is given `new`, whose number will be the next, in place: its thread has done nothing since.
    pub(crate) fn hand(&mut self, read: usize, new: &New) {
        self.reread(read, new);
        self.events[read].handed = true;
    }

    /// `read`, the last event of its thread, now reads that.
    pub(super) fn reads(&mut self, read: usize, write: u16, value: u64, written: &Clocks, its_past: &Clock) {
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
    pub(crate) fn before(&self, n: usize) -> Clocks {
        match self.previous(n) {
            None => Clocks::default(),
            Some(m) if self.events[n].idx == 0 => Self::inherited(&self.clocks[m]),
            Some(m) => self.clocks[m],
        }
    }
}
