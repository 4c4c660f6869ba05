//! What is before what in an execution, and the shortest cycle in that: if there is none, one order of everything
//! explains what each thread saw, and the execution is sequentially consistent.

use crate::graph::{Graph, INIT, Kind, Loc};
use crate::picture::Node;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Why one event is before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rel {
    /// Program order.
    Sb,
    /// A thread is started, or has ended.
    Fork,
    /// A read takes its value from a write.
    Rf,
    /// A write comes after another of the same location.
    Mo,
    /// A read has not seen a write.
    Rb,
}

impl Rel {
    pub(super) fn short(self) -> &'static str {
        match self {
            Rel::Sb => "sb",
            Rel::Fork => "fork/join",
            Rel::Rf => "rf",
            Rel::Mo => "mo",
            Rel::Rb => "rb",
        }
    }

    /// A cycle is short if it has few steps from one thread to another.
    fn cost(self) -> u32 {
        match self {
            Rel::Sb | Rel::Fork => 1,
            Rel::Mo => 400,
            Rel::Rf | Rel::Rb => 1000,
        }
    }

    /// One step in place of two, if both are of a kind.
    fn then(self, next: Rel) -> Option<Rel> {
        match (self, next) {
            (Rel::Sb, Rel::Sb) => Some(Rel::Sb),
            (Rel::Mo, Rel::Mo) => Some(Rel::Mo),
            (Rel::Rb, Rel::Mo) => Some(Rel::Rb),
            _ => None,
        }
    }
}

/// One step, between two nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Edge {
    pub from: usize,
    pub to: usize,
    pub rel: Rel,
}

/// Everything that is right before something else: `sb` to the next event, `mo` to the next write, `rb` to the first
/// write that was not seen.
pub(super) fn edges(graph: &Graph, nodes: &[Node], node_of: &[usize]) -> Vec<Edge> {
    let mut edges = program_order(graph, nodes);
    let mut push = |from: usize, to: usize, rel: Rel| {
        if from != to {
            edges.push(Edge { from, to, rel });
        }
    };
    let writes = writes(graph);
    for order in writes.values() {
        order.windows(2).for_each(|pair| push(node_of[pair[0]], node_of[pair[1]], Rel::Mo));
    }
    for (n, event) in graph.events.iter().enumerate().filter(|(_, event)| event.is_read()) {
        if event.rf != INIT {
            push(node_of[usize::from(event.rf)], node_of[n], Rel::Rf);
        }
        let newer = |&&write: &&usize| graph.events[write].mo > graph.rank(event.rf);
        if let Some(&unseen) = writes.get(&event.loc).and_then(|order| order.iter().find(newer)) {
            push(node_of[n], node_of[unseen], Rel::Rb);
        }
    }
    edges
}

/// The writes of each location, in their order.
pub(super) fn writes(graph: &Graph) -> BTreeMap<Loc, Vec<usize>> {
    let mut writes: BTreeMap<Loc, Vec<usize>> = BTreeMap::new();
    for (n, event) in graph.events.iter().enumerate().filter(|(_, event)| event.is_write()) {
        writes.entry(event.loc).or_default().push(n);
    }
    writes.values_mut().for_each(|order| order.sort_unstable_by_key(|&n| graph.events[n].mo));
    writes
}

fn program_order(graph: &Graph, nodes: &[Node]) -> Vec<Edge> {
    let mut edges = Vec::new();
    let of = |thread: u8| (0..nodes.len()).filter(move |&n| nodes[n].thread == thread);
    for thread in 0..graph.threads.len() as u8 {
        let mut own: Vec<usize> = of(thread).collect();
        own.sort_unstable_by_key(|&n| nodes[n].idx);
        edges.extend(own.windows(2).map(|pair| Edge { from: pair[0], to: pair[1], rel: Rel::Sb }));
    }
    for (n, node) in nodes.iter().enumerate() {
        let ends = match graph.events[node.event].kind {
            Kind::Fork(child) => of(child).min_by_key(|&m| nodes[m].idx).map(|first| (n, first)),
            Kind::Join(child) => of(child).max_by_key(|&m| nodes[m].idx).map(|last| (last, n)),
            _ => None,
        };
        edges.extend(ends.map(|(from, to)| Edge { from, to, rel: Rel::Fork }));
    }
    edges
}

/// The shortest cycle, its steps one after the other.
pub(super) fn shortest(n: usize, edges: &[Edge]) -> Option<Vec<Edge>> {
    let mut out: Vec<Vec<Edge>> = vec![Vec::new(); n];
    edges.iter().for_each(|edge| out[edge.from].push(*edge));
    let cycles = (0..n).filter_map(|start| shortest_through(start, &out));
    cycles.min_by_key(|(cost, _)| *cost).map(|(_, cycle)| merged(cycle))
}

/// The shortest cycle through `start`, and its cost.
fn shortest_through(start: usize, out: &[Vec<Edge>]) -> Option<(u32, Vec<Edge>)> {
    let mut best: Vec<(u32, Option<Edge>)> = vec![(u32::MAX, None); out.len()];
    let mut heap = BinaryHeap::from([Reverse((0, start))]);
    while let Some(Reverse((cost, at))) = heap.pop() {
        if at == start && cost > 0 {
            return Some((cost, way_to(start, &best)));
        }
        for edge in &out[at] {
            let cost = cost + edge.rel.cost();
            if cost < best[edge.to].0 {
                best[edge.to] = (cost, Some(*edge));
                heap.push(Reverse((cost, edge.to)));
            }
        }
    }
    None
}

/// The way from `start` back to it.
fn way_to(start: usize, best: &[(u32, Option<Edge>)]) -> Vec<Edge> {
    let mut way: Vec<Edge> = Vec::new();
    let mut at = start;
    while let Some(edge) = best[at].1.filter(|_| way.is_empty() || at != start) {
        way.push(edge);
        at = edge.from;
    }
    way.reverse();
    way
}

/// Steps of a kind, one after the other, are one. The cycle begins with a step of program order, if it has one.
fn merged(mut cycle: Vec<Edge>) -> Vec<Edge> {
    let begins = |n: usize| {
        let before = cycle[(n + cycle.len() - 1) % cycle.len()];
        before.rel.then(cycle[n].rel).is_none()
    };
    let first = (0..cycle.len()).filter(|&n| begins(n)).min_by_key(|&n| (cycle[n].rel != Rel::Sb, cycle[n].from));
    cycle.rotate_left(first.unwrap_or(0));
    let mut steps: Vec<Edge> = Vec::new();
    for edge in cycle {
        match steps.last_mut().and_then(|last| last.rel.then(edge.rel).map(|rel| (last, rel))) {
            Some((last, rel)) => (last.to, last.rel) = (edge.to, rel),
            None => steps.push(edge),
        }
    }
    steps
}

/// An order of all nodes that goes with program order and with what is read from what, and with the rest as far as that
/// can be. It stays with a thread as long as it can.
pub(super) fn in_order(nodes: &[Node], edges: &[Edge]) -> Vec<usize> {
    let mut open: Vec<(u32, u32)> = vec![(0, 0); nodes.len()];
    let mut out: Vec<Vec<Edge>> = vec![Vec::new(); nodes.len()];
    let soft = |rel: Rel| match rel {
        Rel::Mo => 100,
        Rel::Rb => 1,
        _ => 0,
    };
    for edge in edges {
        out[edge.from].push(*edge);
        let (must, should) = &mut open[edge.to];
        *must += u32::from(soft(edge.rel) == 0);
        *should += soft(edge.rel);
    }
    let mut order: Vec<usize> = Vec::new();
    let mut left: Vec<usize> = (0..nodes.len()).collect();
    while !left.is_empty() {
        let last = order.last().map(|&n: &usize| nodes[n].thread);
        let ready = left.iter().enumerate().filter(|(_, n)| open[**n].0 == 0);
        let rank = |n: usize| (open[n].1, last != Some(nodes[n].thread), nodes[n].column, nodes[n].idx);
        // `sb ∪ rf` has no cycle, so one is ready.
        let Some((at, _)) = ready.min_by_key(|(_, n)| rank(**n)) else { break };
        let next = left.swap_remove(at);
        for edge in &out[next] {
            let (must, should) = &mut open[edge.to];
            *must -= u32::from(soft(edge.rel) == 0);
            *should -= soft(edge.rel);
        }
        order.push(next);
    }
    order
}
