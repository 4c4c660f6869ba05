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
    let only_fences = nodes.iter().all(|&n| graph.events[n].is_fence());
    let all = [nodes.as_slice(), &lights].concat();
    let fences = Fences::of(graph, &all);
    let accesses = (!only_fences).then(|| Accesses::of(graph, &fences));
    let edge = |a: usize, b: usize| match &accesses {
        None => fences.edges.has(a, b),
        Some(sc) => sc.are_ordered(all[a], all[b], a, b),
    };
    if lights.is_empty() { is_acyclic(nodes.len(), edge) } else { is_ordered(graph, &all, nodes.len(), edge) }
}

pub(super) fn is_acyclic(n: usize, edge: impl Fn(usize, usize) -> bool) -> bool {
    let mut reach = Relation::of(n, |a, b| a != b && edge(a, b));
    for via in 0..n {
        for from in 0..n {
            if reach.has(from, via) {
                reach.add_all(from, via);
            }
        }
    }
    (0..n).all(|a| !reach.has(a, a))
}

/// A relation between numbers, a row of bits each.
struct Relation {
    bits: Vec<u64>,
    words: usize,
}

impl Relation {
    fn of(n: usize, is_in: impl Fn(usize, usize) -> bool) -> Relation {
        let words = n.div_ceil(64);
        let mut relation = Relation { bits: vec![0; n * words], words };
        for a in 0..n {
            (0..n).filter(|&b| is_in(a, b)).for_each(|b| relation.add(a, b));
        }
        relation
    }

    fn has(&self, a: usize, b: usize) -> bool {
        self.bits[a * self.words + b / 64] >> (b % 64) & 1 == 1
    }

    fn add(&mut self, a: usize, b: usize) {
        self.bits[a * self.words + b / 64] |= 1 << (b % 64);
    }

    /// `a` is related to all that `b` is.
    fn add_all(&mut self, a: usize, b: usize) {
        for word in 0..self.words {
            self.bits[a * self.words + word] |= self.bits[b * self.words + word];
        }
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

/// Between fences all of it is: `a` happens before `b`, or before an access that is `eco`-before one that happens
/// before `b`.
struct Fences {
    edges: Relation,
}

impl Fences {
    fn of(graph: &Graph, nodes: &[usize]) -> Fences {
        let k = nodes.len();
        let mut edges = Relation::of(k, |a, b| graph.happens_before(nodes[a], nodes[b]));
        let (mut first, mut last) = (vec![0; k], vec![0; k]);
        // What one thread alone has accessed is in its own order.
        let is_shared = |loc: &Loc| {
            let mut threads = graph.of(*loc).map(|(_, event)| event.thread);
            let last = threads.next();
            threads.any(|other| last != Some(other))
        };
        for loc in graph.locations().filter(is_shared) {
            // Of what comes after each fence the first, of what comes before each fence the last.
            first.fill(u32::MAX);
            last.fill(0);
            for (n, event) in graph.of(loc) {
                let place = graph.place(event);
                for (f, &fence) in nodes.iter().enumerate() {
                    if graph.happens_before(fence, n) {
                        first[f] = first[f].min(place);
                    } else if graph.happens_before(n, fence) {
                        last[f] = last[f].max(place);
                    }
                }
            }
            for (a, first) in first.iter().enumerate() {
                (0..k).filter(|&b| *first < last[b]).for_each(|b| edges.add(a, b));
            }
        }
        Fences { edges }
    }
}

/// `scb` between all events, for graphs with `SeqCst` accesses.
struct Accesses<'a> {
    graph: &'a Graph,
    /// Of each event, the first one after it in its thread that is of another location, and the last one before it.
    next: Vec<Option<usize>>,
    previous: Vec<Option<usize>>,
    fences: &'a Fences,
}

impl Accesses<'_> {
    fn of<'a>(graph: &'a Graph, fences: &'a Fences) -> Accesses<'a> {
        let all = 0..graph.events.len();
        let previous = neighbours(graph, all.clone());
        Accesses { graph, next: neighbours(graph, all.rev()), previous, fences }
    }

    /// `([Esc] ∪ [Fsc];hb?) ; scb ; ([Esc] ∪ hb?;[Fsc])`, or `[Fsc] ; (hb ∪ hb;eco;hb) ; [Fsc]`. Between fences the second
    /// has all that the first has: `scb` is part of `hb ∪ mo ∪ rb`, and a fence is no access.
    /// Events `a` and `b`, the `i`th and the `j`th of the `SeqCst` ones.
    fn are_ordered(&self, a: usize, b: usize, i: usize, j: usize) -> bool {
        let graph = self.graph;
        let is_fence = |n: usize| graph.events[n].is_fence() || graph.events[n].kind == Kind::Light;
        let all = 0..graph.events.len();
        match (is_fence(a), is_fence(b)) {
            (true, true) => self.fences.edges.has(i, j),
            (true, false) => all.into_iter().any(|n| (n == a || graph.happens_before(a, n)) && self.scb(n, b)),
            (false, true) => all.into_iter().any(|n| (n == b || graph.happens_before(n, b)) && self.scb(a, n)),
            (false, false) => self.scb(a, b),
        }
    }

    /// `sb ∪ (sb to another location ; hb ; sb to another location) ∪ (hb on one location) ∪ mo ∪ rb`.
    fn scb(&self, a: usize, b: usize) -> bool {
        let graph = self.graph;
        let (first, second) = (&graph.events[a], &graph.events[b]);
        if first.thread == second.thread {
            return first.idx < second.idx;
        }
        let of_one_place = first.loc == second.loc && first.loc != Loc::NONE;
        if of_one_place && graph.happens_before(a, b) {
            return true;
        }
        // mo and rb, and no rf: what ends in a write.
        if of_one_place && second.is_write() && graph.place(first) < graph.place(second) {
            return true;
        }
        matches!((self.next[a], self.previous[b]), (Some(c), Some(d)) if graph.happens_before(c, d))
    }
}

/// Of each event, the last one of its thread that came before it in that order, and is of another location.
fn neighbours(graph: &Graph, order: impl Iterator<Item = usize>) -> Vec<Option<usize>> {
    let mut found = vec![None; graph.events.len()];
    let mut last: [Option<usize>; MAX_THREADS] = [None; MAX_THREADS];
    for n in order {
        let event = &graph.events[n];
        if matches!(event.kind, Kind::Alloc | Kind::Free) {
            // The allocator is no part of the program.
            continue;
        }
        let before = last[usize::from(event.thread)].replace(n);
        let is_elsewhere = |m: usize| graph.events[m].loc != event.loc || event.loc == Loc::NONE;
        found[n] = before.and_then(|m| if is_elsewhere(m) { Some(m) } else { found[m] });
    }
    found
}
