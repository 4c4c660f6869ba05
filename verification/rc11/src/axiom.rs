//! The axiom of sequentially consistent fences and accesses: `psc_base ∪ psc_F` is acyclic.
//!
//! The other axioms hold by construction: a read is only offered what it may see, a write only places where it may
//! stand.

use crate::asymmetric::{is_ordered, lights};
use crate::graph::{Event, Graph, Kind, Loc, MAX_THREADS, Order};

/// Is there one order of all `SeqCst` events that everything agrees with?
pub(super) fn is_sc_consistent(graph: &Graph) -> bool {
    let nodes: Vec<usize> = (0..graph.events.len()).filter(|&n| graph.events[n].strength() == Order::SeqCst).collect();
    let thread = |n: &usize| graph.events[*n].thread;
    let lights = lights(graph, &nodes);
    // One thread's are in its own order.
    if lights.is_empty() && nodes.iter().all(|n| thread(n) == thread(&nodes[0])) {
        return true;
    }
    let all = [nodes.as_slice(), &lights].concat();
    let edges = edges(graph, &all);
    if lights.is_empty() { edges.are_acyclic() } else { is_ordered(graph, &all, nodes.len(), |a, b| edges.has(a, b)) }
}

/// A relation on the first so many numbers, a row of bits each.
pub(super) struct Edges {
    size: usize,
    words: usize,
    bits: Vec<u64>,
}

impl Edges {
    pub(super) fn none(size: usize) -> Edges {
        let words = size.div_ceil(64);
        Edges { size, words, bits: vec![0; size * words] }
    }

    pub(super) fn add(&mut self, a: usize, b: usize) {
        self.bits[a * self.words + b / 64] |= 1 << (b % 64);
    }

    fn has(&self, a: usize, b: usize) -> bool {
        self.bits[a * self.words + b / 64] >> (b % 64) & 1 == 1
    }

    /// Takes away what leads nowhere, until there is nothing, or nothing more to take away. Most edges lead forward, so that
    /// one look from the end is often enough.
    pub(super) fn are_acyclic(&self) -> bool {
        let mut stays: Vec<usize> = (0..self.size).rev().collect();
        let mut there = vec![0; self.words];
        stays.iter().for_each(|n| there[n / 64] |= 1 << (n % 64));
        while !stays.is_empty() {
            let before = stays.len();
            stays.retain(|&n| {
                let row = &self.bits[n * self.words..][..self.words];
                let leads = row.iter().zip(&there).any(|(to, there): (&u64, &u64)| to & there != 0);
                if !leads {
                    there[n / 64] &= !(1 << (n % 64));
                }
                leads
            });
            if stays.len() == before {
                return false;
            }
        }
        true
    }
}

impl Graph {
    /// Does event `a` happen before event `b`?
    pub fn happens_before(&self, a: usize, b: usize) -> bool {
        let Event { thread, idx, .. } = self.events[a];
        a != b && self.clocks[b].hb.has(thread, idx)
    }

    /// Where an access stands in its location's order: reads stand right behind the write that they read.
    /// One is `eco`-before another of the same location if its place is smaller.
    fn place(&self, event: &Event) -> u32 {
        if event.is_write() { 2 * u32::from(event.mo) } else { 2 * u32::from(self.rank(event.rf)) + 1 }
    }
}

/// `psc_base` and `psc_F` between events of `nodes`.
fn edges(graph: &Graph, nodes: &[usize]) -> Edges {
    let is_fence = |n: usize| graph.events[n].is_fence() || graph.events[n].kind == Kind::Light;
    let (fences, accesses): (Vec<usize>, Vec<usize>) = (0..nodes.len()).partition(|&i| is_fence(nodes[i]));
    let mut edges = Edges::none(nodes.len());
    between_fences(graph, nodes, &fences, &mut edges);
    if !accesses.is_empty() {
        Accesses::of(graph).add_edges(nodes, &fences, &accesses, &mut edges);
    }
    edges
}

/// Between fences all of it is: `a` happens before `b`, or before an access that is `eco`-before one that happens
/// before `b`.
fn between_fences(graph: &Graph, nodes: &[usize], fences: &[usize], edges: &mut Edges) {
    for &a in fences {
        fences.iter().filter(|&&b| graph.happens_before(nodes[a], nodes[b])).for_each(|&b| edges.add(a, b));
    }
    if fences.len() < 2 {
        return;
    }
    let (mut first, mut last) = (vec![0; fences.len()], vec![0; fences.len()]);
    for loc in graph.locations() {
        // Of what comes after each fence the first, of what comes before each fence the last.
        first.fill(u32::MAX);
        last.fill(0);
        for (n, event) in graph.of(loc) {
            let place = graph.place(event);
            for (f, &fence) in fences.iter().enumerate() {
                if graph.happens_before(nodes[fence], n) {
                    first[f] = first[f].min(place);
                } else if graph.happens_before(n, nodes[fence]) {
                    last[f] = last[f].max(place);
                }
            }
        }
        for (a, first) in first.iter().enumerate() {
            let after = last.iter().enumerate().filter(|(b, last)| *b != a && first < *last);
            after.for_each(|(b, _)| edges.add(fences[a], fences[b]));
        }
    }
}

/// How many of each thread's events.
type Counts = [u16; MAX_THREADS];

/// `scb` between all events, for graphs with `SeqCst` accesses:
/// `sb ∪ (sb to another location ; hb ; sb to another location) ∪ (hb on one location) ∪ mo ∪ rb`.
///
/// Of each thread's events, those that come before an event by the second part are its first ones, and those that come after
/// it its last ones. So they are counts, and a fence need not look at all events between.
struct Accesses<'a> {
    graph: &'a Graph,
    /// Of each event, the first one after it in its thread that is of another location, and the last one before it.
    next: Vec<Option<usize>>,
    previous: Vec<Option<usize>>,
    /// The events of each thread.
    of_thread: Vec<Vec<usize>>,
}

impl Accesses<'_> {
    fn of(graph: &Graph) -> Accesses<'_> {
        let all = 0..graph.events.len();
        let previous = neighbours(graph, all.clone());
        let mut of_thread = vec![Vec::new(); graph.threads.len()];
        all.clone().for_each(|n| of_thread[usize::from(graph.events[n].thread)].push(n));
        Accesses { graph, next: neighbours(graph, all.rev()), previous, of_thread }
    }

    /// `([Esc] ∪ [Fsc];hb?) ; scb ; ([Esc] ∪ hb?;[Fsc])`. Between fences `psc_F` has all of that: `scb` is part of
    /// `hb ∪ mo ∪ rb`, and a fence is no access.
    fn add_edges(&self, nodes: &[usize], fences: &[usize], accesses: &[usize], edges: &mut Edges) {
        for &i in accesses {
            let of_others = accesses.iter().filter(|&&j| self.scb(nodes[i], nodes[j]));
            of_others.for_each(|&j| edges.add(i, j));
        }
        let after: Vec<Counts> = fences.iter().map(|&f| self.first_after(nodes[f])).collect();
        for &i in accesses.iter().filter(|_| !fences.is_empty()) {
            let (node, up_to, from) = (nodes[i], self.up_to(nodes[i]), self.from(nodes[i]));
            for (&f, after) in fences.iter().zip(&after) {
                if self.leads_to_access(nodes[f], after, node, &up_to) {
                    edges.add(f, i);
                }
                if self.leads_to_fence(node, &from, nodes[f]) {
                    edges.add(i, f);
                }
            }
        }
    }

    /// `scb`. (An event is not before itself.)
    fn scb(&self, a: usize, b: usize) -> bool {
        let graph = self.graph;
        let (first, second) = (&graph.events[a], &graph.events[b]);
        if first.thread == second.thread {
            return first.idx < second.idx;
        }
        if self.is_before_at_one_place(a, b) {
            return true;
        }
        matches!((self.next[a], self.previous[b]), (Some(c), Some(d)) if graph.happens_before(c, d))
    }

    /// `hb` on one location, `mo` and `rb`, and no `rf`: what ends in a write.
    fn is_before_at_one_place(&self, a: usize, b: usize) -> bool {
        let graph = self.graph;
        let (first, second) = (&graph.events[a], &graph.events[b]);
        let of_one_place = first.loc == second.loc && first.loc != Loc::NONE;
        of_one_place && (second.is_write() && graph.place(first) < graph.place(second) || graph.happens_before(a, b))
    }

    /// Of each thread, how many events come before those that `fence` happens before; itself counts as one of those.
    fn first_after(&self, fence: usize) -> Counts {
        let Event { thread, idx, .. } = self.graph.events[fence];
        self.counts(|n| !self.graph.clocks[n].hb.has(thread, idx))
    }

    /// Of each thread, how many events have one behind them, of another location, that happens before what is before `node`.
    fn up_to(&self, node: usize) -> Counts {
        let Some(before) = self.previous[node] else { return Counts::default() };
        self.counts(|n| self.next[n].is_some_and(|next| self.graph.happens_before(next, before)))
    }

    /// Of each thread, how many events come before those that have one before them, of another location, that comes after
    /// what is behind `node`.
    fn from(&self, node: usize) -> Counts {
        let Some(after) = self.next[node] else { return [u16::MAX; MAX_THREADS] };
        self.counts(|n| !self.previous[n].is_some_and(|previous| self.graph.happens_before(after, previous)))
    }

    /// Of each thread, how many events there are of which that is true. They are its first ones.
    fn counts(&self, is_so: impl Fn(usize) -> bool) -> Counts {
        let mut counts = Counts::default();
        for (events, count) in self.of_thread.iter().zip(&mut counts) {
            *count = events.partition_point(|&n| is_so(n)) as u16;
        }
        counts
    }

    /// `[Fsc] ; hb? ; scb` from `fence` to `access`.
    fn leads_to_access(&self, fence: usize, after: &Counts, access: usize, up_to: &Counts) -> bool {
        let Event { thread, idx, loc, .. } = self.graph.events[access];
        let by_others = || {
            let both = after.iter().zip(up_to).enumerate();
            both.into_iter().any(|(t, (after, up_to))| t != usize::from(thread) && after < up_to)
        };
        let is_between = |n: usize| self.graph.happens_before(fence, n) && self.is_before_at_one_place(n, access);
        after[usize::from(thread)] < idx
            || by_others()
            || self.graph.of(loc).any(|(n, event)| event.thread != thread && is_between(n))
    }

    /// `scb ; hb? ; [Fsc]` from `access` to `fence`.
    fn leads_to_fence(&self, access: usize, from: &Counts, fence: usize) -> bool {
        let Event { thread, idx, loc, .. } = self.graph.events[access];
        // A thread that was joined counts one more than it has events.
        let known = |t: usize| self.graph.clocks[fence].hb.of(t as u8).min(self.of_thread[t].len() as u16);
        let by_others = || (0..self.of_thread.len()).any(|t| t != usize::from(thread) && from[t] < known(t));
        let is_between = |n: usize| self.graph.happens_before(n, fence) && self.is_before_at_one_place(access, n);
        idx + 1 < known(usize::from(thread))
            || by_others()
            || self.graph.of(loc).any(|(n, event)| event.thread != thread && is_between(n))
    }
}

/// Of each event, the last one of its thread that came before it in that order, and is of another location.
fn neighbours(graph: &Graph, order: impl Iterator<Item = usize>) -> Vec<Option<usize>> {
    let mut found = vec![None; graph.events.len()];
    let mut last: [Option<usize>; MAX_THREADS] = [None; MAX_THREADS];
    for n in order {
        let event = &graph.events[n];
        let before = last[usize::from(event.thread)].replace(n);
        let is_elsewhere = |m: usize| graph.events[m].loc != event.loc || event.loc == Loc::NONE;
        found[n] = before.and_then(|m| if is_elsewhere(m) { Some(m) } else { found[m] });
    }
    found
}
