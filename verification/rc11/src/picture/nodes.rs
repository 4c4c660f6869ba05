//! What is in a picture: the events in their order, and how those threads end that do not come to their end.

use crate::explore::{Counterexample, Played};
use crate::graph::{Graph, INIT, Kind};
use crate::machine::{Wait, Wants};
use crate::picture::cycle::{self, Edge};
use crate::picture::label::{self, Names, Place, Places};
use crate::picture::{End, Node, Picture, named};
use crate::verdict::Why;

/// The events as nodes, in the order in which they are shown, and what is before what.
pub(super) fn nodes(
    graph: &Graph,
    places: &Places,
    names: &Names,
    threads: &[String],
    columns: &[u8],
) -> (Vec<Node>, Vec<Edge>) {
    let mut nodes: Vec<Node> = Vec::new();
    let mut node_of = vec![0; graph.events.len()];
    for (n, event) in graph.events.iter().enumerate() {
        let half = nodes.iter().position(|node: &Node| node.thread == event.thread && node.idx + 1 == event.idx);
        node_of[n] = match half {
            Some(half) if event.kind == Kind::Updated => half,
            _ => nodes.len(),
        };
        if node_of[n] == nodes.len() {
            let column = columns.iter().position(|&thread| thread == event.thread).unwrap_or(0);
            let (label, place) = (label::label(event, names, threads), places.get(event.thread, event.idx));
            let (thread, idx, loc, event) = (event.thread, event.idx, event.loc, n);
            nodes.push(Node {
                thread,
                column,
                idx,
                loc,
                event,
                label,
                place,
                number: 0,
                reads: None,
                from: None,
                stale: None,
                is_marked: false,
            });
        }
    }
    let edges = cycle::edges(graph, &nodes, &node_of);
    let order = cycle::in_order(&nodes, &edges);
    let mut now = vec![0; nodes.len()];
    order.iter().enumerate().for_each(|(at, &n)| now[n] = at);
    let mut nodes: Vec<Node> = order.iter().map(|&n| nodes[n].clone()).collect();
    note_reads(graph, &mut nodes, |event| now[node_of[event]]);
    let renumber = |edge: &Edge| Edge { from: now[edge.from], to: now[edge.to], rel: edge.rel };
    (nodes, edges.iter().map(renumber).collect())
}

/// Where each read has its value from, and whether a newer one stands further up.
fn note_reads(graph: &Graph, nodes: &mut [Node], node_of: impl Fn(usize) -> usize) {
    let writes = cycle::writes(graph);
    for (at, node) in nodes.iter_mut().enumerate() {
        let event = &graph.events[node.event];
        node.number = at + 1;
        if !event.is_read() {
            continue;
        }
        let read = graph.rank(event.rf);
        node.from = Some((event.rf != INIT).then(|| node_of(usize::from(event.rf))));
        node.reads = node.from.map(|from| from.map_or(0, |from| from + 1));
        let newer = |&&write: &&usize| graph.events[write].mo > read && node_of(write) < at;
        let order = writes.get(&event.loc).map_or(&[][..], Vec::as_slice);
        node.stale = order.iter().rev().find(newer).map(|&write| node_of(write));
    }
}

/// The threads that wait, and the one that panics.
pub(super) fn ends(
    found: &Counterexample,
    played: &Played,
    places: &Places,
    names: &Names,
    columns: &[u8],
    picture: &Picture,
) -> Vec<End> {
    let Counterexample { failure, graph } = found;
    let column = |thread: u8| columns.iter().position(|&other| other == thread);
    let last = |thread: u8| {
        let starts = |node: &Node| graph.events[node.event].kind == Kind::Fork(thread);
        let own = picture.nodes.iter().rposition(|node| node.thread == thread);
        own.or_else(|| picture.nodes.iter().position(starts))
    };
    let end = |wait: &Wait| {
        let (loc, what) = match wait.wants {
            Wants::Value { loc, .. } if names.is_lock(loc) => (Some(loc), format!("waits for lock {}", names.get(loc))),
            Wants::Value { loc, .. } => (Some(loc), format!("park {}: waits", names.get(loc))),
            Wants::Thread(other) => (None, format!("waits for {}", named(&played.names, other))),
            Wants::Room(loc) => (Some(loc), format!("waits for {}", names.get(loc))),
            Wants::News => (None, "waits for news".to_owned()),
        };
        let newest = loc.map(|loc| graph.newest(loc)).filter(|&write| write != INIT);
        let newest = newest.and_then(|write| picture.node_of(usize::from(write), graph));
        let place = places.get(wait.thread, graph.threads[usize::from(wait.thread)].len);
        Some(End { column: column(wait.thread)?, what, place, newest, last: last(wait.thread) })
    };
    match &failure.why {
        Why::Deadlock(threads) | Why::Unjoined(threads) => {
            // A wait that is an event already is shown as that.
            let is_event = |thread: u8| {
                graph.last(thread).is_some_and(|n| graph.events[n].waits() || graph.events[n].kind == Kind::Spin)
            };
            let waits = |wait: &&Wait| threads.contains(&wait.thread) && !is_event(wait.thread);
            played.waits.iter().filter(waits).filter_map(end).collect()
        }
        Why::Freed { access, thread, is_end, at } => {
            let name = names.get(graph.events[*access].loc);
            let what = if *is_end { format!("frees {name}") } else { format!("borrows {name} alone") };
            let at = at.as_deref().map(label::short).unwrap_or_default().to_owned();
            let place = Place { at, ..Place::default() };
            let end = |column| End { column, what, place, newest: None, last: last(*thread) };
            column(*thread).map(end).into_iter().collect()
        }
        Why::Uninitialised => {
            let thread = failure.thread;
            let place = places.get(thread, graph.threads[usize::from(thread)].len);
            let name = place.name.clone().unwrap_or_else(|| "what it cannot know of".to_owned());
            let end = |column| End { column, what: format!("uses {name}"), place, newest: None, last: last(thread) };
            column(thread).map(end).into_iter().collect()
        }
        // What it says is the sentence above.
        Why::Panic(_) => {
            let (what, at) =
                ("panics".to_owned(), played.panicked.as_deref().map(label::short).unwrap_or_default().to_owned());
            let last = last(failure.thread);
            let end = |column| End { column, what, place: Place { at, ..Place::default() }, newest: None, last };
            column(failure.thread).map(end).into_iter().collect()
        }
        _ => Vec::new(),
    }
}
