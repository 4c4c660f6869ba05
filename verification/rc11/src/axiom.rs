//! The axiom of sequentially consistent fences and accesses: `psc_base ∪ psc_F` is acyclic.
//!
//! The other axioms hold by construction: a read is only offered what it may see, a write only places where it may
//! stand.

use crate::graph::{Event, Graph, Kind, Loc, Order};

/// Is there one order of all `SeqCst` events that everything agrees with?
pub(super) fn is_sc_consistent(graph: &Graph) -> bool {
    let nodes: Vec<usize> = (0..graph.events.len()).filter(|&n| graph.events[n].strength() == Order::SeqCst).collect();
    let thread = |n: &usize| graph.events[*n].thread;
    // One thread's are in its own order.
    if nodes.iter().all(|n| thread(n) == thread(&nodes[0])) {
        return true;
    }
    let only_fences = nodes.iter().all(|&n| graph.events[n].kind == Kind::Fence);
    if only_fences {
        let fences = Fences::of(graph, &nodes);
        is_acyclic(nodes.len(), |a, b| fences.edges[a][b])
    } else {
        let sc = Accesses::of(graph, &nodes);
        is_acyclic(nodes.len(), |a, b| sc.are_ordered(nodes[a], nodes[b], a, b))
    }
}

fn is_acyclic(n: usize, edge: impl Fn(usize, usize) -> bool) -> bool {
    let mut reach: Vec<Vec<bool>> = (0..n).map(|a| (0..n).map(|b| a != b && edge(a, b)).collect()).collect();
    for via in 0..n {
        let beyond = reach[via].clone();
        for from in reach.iter_mut().filter(|from| from[via]) {
            from.iter_mut().zip(&beyond).for_each(|(to, on)| *to |= on);
        }
    }
    (0..n).all(|a| !reach[a][a])
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
    edges: Vec<Vec<bool>>,
}

impl Fences {
    fn of(graph: &Graph, nodes: &[usize]) -> Fences {
        let k = nodes.len();
        let mut edges: Vec<Vec<bool>> =
            nodes.iter().map(|&a| nodes.iter().map(|&b| graph.happens_before(a, b)).collect()).collect();
        let (mut first, mut last) = (vec![0; k], vec![0; k]);
        for loc in graph.locations() {
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
            for a in 0..k {
                for b in 0..k {
                    edges[a][b] |= first[a] < last[b];
                }
            }
        }
        Fences { edges }
    }
}

/// `scb` between all events, for graphs with `SeqCst` accesses.
struct Accesses<'a> {
    graph: &'a Graph,
    scb: Vec<Vec<bool>>,
    fences: Fences,
}

impl Accesses<'_> {
    fn of<'a>(graph: &'a Graph, nodes: &[usize]) -> Accesses<'a> {
        let n = graph.events.len();
        let scb = (0..n).map(|a| (0..n).map(|b| a != b && scb(graph, a, b)).collect()).collect();
        Accesses { graph, scb, fences: Fences::of(graph, nodes) }
    }

    /// `([Esc] ∪ [Fsc];hb?) ; scb ; ([Esc] ∪ hb?;[Fsc])`, or `[Fsc] ; (hb ∪ hb;eco;hb) ; [Fsc]`.
    /// Events `a` and `b`, the `i`th and the `j`th of the `SeqCst` ones.
    fn are_ordered(&self, a: usize, b: usize, i: usize, j: usize) -> bool {
        let graph = self.graph;
        let is_fence = |n: usize| graph.events[n].kind == Kind::Fence;
        if is_fence(a) && is_fence(b) && self.fences.edges[i][j] {
            return true;
        }
        let starts = |n: usize| n == a || (is_fence(a) && graph.happens_before(a, n));
        let ends = |n: usize| n == b || (is_fence(b) && graph.happens_before(n, b));
        let n = graph.events.len();
        (0..n).filter(|&from| starts(from)).any(|from| (0..n).any(|to| ends(to) && self.scb[from][to]))
    }
}

/// `sb ∪ (sb to another location ; hb ; sb to another location) ∪ (hb on one location) ∪ mo ∪ rb`.
fn scb(graph: &Graph, a: usize, b: usize) -> bool {
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
    let elsewhere = |e: &Event, f: &Event| e.loc != f.loc || e.loc == Loc::NONE;
    let next = graph.events.iter().position(|e| e.thread == first.thread && e.idx > first.idx && elsewhere(e, first));
    let previous = |e: &Event| e.thread == second.thread && e.idx < second.idx && elsewhere(e, second);
    let previous = graph.events.iter().rposition(previous);
    matches!((next, previous), (Some(c), Some(d)) if graph.happens_before(c, d))
}
