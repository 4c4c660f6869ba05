//! A long execution, cut to what matters.

use crate::picture::cycle::{Edge, Rel};
use crate::picture::{Node, Picture};
use std::collections::BTreeSet;

/// A picture with more nodes is cut.
const LONGEST: usize = 100;
/// So many of the first and of the last nodes stay.
const FIRST: usize = 15;
const LAST: usize = 35;

impl Picture {
    /// The same without nodes that have nothing to do with what is wrong, if there are too many. The others keep their
    /// numbers.
    pub(super) fn trimmed(self) -> Picture {
        let all = self.nodes.len();
        if all <= LONGEST {
            return self;
        }
        let stays = self.staying();
        let now: Vec<Option<usize>> = (0..all).map(|n| stays.iter().position(|stay| *stay == n)).collect();
        let edge = |edge: &Edge| Some(Edge { from: now[edge.from]?, to: now[edge.to]?, rel: edge.rel });
        let mut edges: Vec<Edge> = self.edges.iter().filter_map(edge).collect();
        let node = |n: &usize| {
            let node = self.nodes[*n].clone();
            let from = node.from.and_then(|from| from.map_or(Some(None), |from| now[from].map(Some)));
            Node { from, stale: node.stale.and_then(|newer| now[newer]), ..node }
        };
        let nodes: Vec<Node> = stays.iter().map(node).collect();
        join_threads(&nodes, &mut edges);
        let cycle = self.cycle.iter().filter_map(edge).collect();
        let mut missing = self.missing;
        missing.retain_mut(|missing| match (now[missing.from], now[missing.to]) {
            (Some(from), Some(to)) => {
                (missing.from, missing.to) = (from, to);
                true
            }
            _ => false,
        });
        let mut ends = self.ends;
        for end in &mut ends {
            let last = end.last.and_then(|last| now[..=last].iter().rev().find_map(|now| *now));
            (end.newest, end.last) = (end.newest.and_then(|newest| now[newest]), last);
        }
        let mut notes = self.notes;
        notes.push(format!("{} of {all} events are left out: they have nothing to do with it", all - nodes.len()));
        Picture { nodes, edges, cycle, missing, ends, notes, ..self }
    }

    /// The nodes that stay, in their order.
    fn staying(&self) -> BTreeSet<usize> {
        let all = self.nodes.len();
        let mut stays: BTreeSet<usize> = (0..FIRST).chain(all - LAST..all).collect();
        stays.extend((0..all).filter(|&n| self.nodes[n].is_marked).take(LONGEST / 2));
        stays.extend(self.cycle.iter().flat_map(|edge| [edge.from, edge.to]));
        stays.extend(self.missing.iter().flat_map(|missing| [missing.from, missing.to]));
        stays.extend(self.ends.iter().filter_map(|end| end.newest));
        let sources: Vec<usize> = stays.iter().filter_map(|&n| self.nodes[n].from.flatten()).collect();
        stays.extend(sources);
        stays
    }
}

/// Program order between those that stay.
fn join_threads(nodes: &[Node], edges: &mut Vec<Edge>) {
    for (to, node) in nodes.iter().enumerate() {
        let from = nodes[..to].iter().rposition(|before| before.thread == node.thread);
        if let Some(from) = from
            && !edges.iter().any(|edge| (edge.from, edge.to, edge.rel) == (from, to, Rel::Sb))
        {
            edges.push(Edge { from, to, rel: Rel::Sb });
        }
    }
}
