//! A counterexample as a picture: which events there are, where each read has its value from, and what is wrong with
//! that. In columns for a terminal ([`Picture::columns`]), and as a drawing ([`Picture::svg`]).
//!
//! The explanation is a cycle. If program order, reads-from, coherence and from-read together have none, there is an
//! order of all events in which each read finds the newest value: no fence would help. If they have one, what the
//! threads saw cannot be told as one story, and the steps of the cycle that nothing enforces are where order is
//! missing.

mod access;
mod cure;
mod cycle;
mod draw;
mod label;
mod layout;
mod nodes;
mod paint;
mod svg;
#[cfg(test)]
mod tests;
mod text;
mod trim;
mod words;

use crate::explore::{Counterexample, Played};
use crate::graph::{Graph, Loc};
use crate::machine::Wait;
use crate::verdict::Why;
use cycle::{Edge, Rel};
use label::{Names, Place, Places};

/// Finds the text of a line of a file, whose path is the one that the compiler knows.
pub type Source<'a> = &'a dyn Fn(&str, u32) -> Option<String>;

/// A counterexample, ready to be shown.
#[derive(Debug, Clone)]
pub struct Picture {
    title: String,
    /// What is wrong.
    sentence: String,
    threads: Vec<String>,
    /// In an order that goes with program order and reads-from.
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    cycle: Vec<Edge>,
    /// Steps of program order that nothing enforces, or two events of a race.
    missing: Vec<Missing>,
    /// How threads end that do not come to their end.
    ends: Vec<End>,
    /// Why it is wrong, in sentences.
    notes: Vec<String>,
}

/// One event; both halves of an update are one.
#[derive(Debug, Clone)]
struct Node {
    thread: u8,
    column: usize,
    idx: u16,
    loc: Loc,
    /// Its number in the graph: of an update, that of its reading half.
    event: usize,
    label: String,
    place: Place,
    /// Its number in the whole picture, from 1, and that of the node that it reads; 0: what the location was made with.
    number: usize,
    reads: Option<usize>,
    /// The node that it reads; `Some(None)`: what the location was made with.
    from: Option<Option<usize>>,
    /// It reads what a write further up has overwritten: that write.
    stale: Option<usize>,
    /// It has to do with what is wrong.
    is_marked: bool,
}

/// Where order is missing.
#[derive(Debug, Clone)]
struct Missing {
    from: usize,
    to: usize,
    what: &'static str,
}

/// How a thread ends that does not come to its end.
#[derive(Debug, Clone)]
struct End {
    column: usize,
    what: String,
    place: Place,
    /// The newest write of what it waits for.
    newest: Option<usize>,
    /// Its last event, or the one that started it.
    last: Option<usize>,
}

impl Picture {
    /// The picture of what was found, with what was seen when it was played again.
    pub fn of(title: &str, found: &Counterexample, played: &Played, source: Source<'_>) -> Picture {
        let found = as_played(found, played);
        let Counterexample { failure, graph } = found;
        let places = Places::of(&played.sites, graph, source);
        let names = Names::of(graph, &places, &played.waits);
        let columns = columns_of(graph, &played.waits);
        let name = |thread: u8| named(&played.names, thread);
        let (nodes, edges) = nodes::nodes(graph, &places, &names, &played.names, &columns);
        let mut picture = Picture {
            title: title.to_owned(),
            sentence: failure.why.sentence(graph, name),
            threads: columns.iter().map(|&thread| name(thread)).collect(),
            cycle: cycle::shortest(nodes.len(), &edges).unwrap_or_default(),
            nodes,
            edges,
            missing: Vec::new(),
            ends: Vec::new(),
            notes: Vec::new(),
        };
        picture.ends = nodes::ends(found, played, &places, &names, &columns, &picture);
        words::explain(&mut picture, found, played, &names, &places);
        picture.trimmed()
    }

    /// What is wrong, in one sentence.
    pub fn sentence(&self) -> &str {
        &self.sentence
    }

    /// Why it is wrong, in sentences.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Is there a cycle, so that the execution is not sequentially consistent?
    pub fn has_cycle(&self) -> bool {
        !self.cycle.is_empty()
    }

    /// The number of the node that event `n` of the graph is part of.
    fn node_of(&self, n: usize, graph: &Graph) -> Option<usize> {
        let event = graph.events.get(n)?;
        let of_thread = self.nodes.iter().enumerate().filter(|(_, node)| node.thread == event.thread);
        of_thread.filter(|(_, node)| node.idx <= event.idx).max_by_key(|(_, node)| node.idx).map(|(at, _)| at)
    }
}

/// What was found, or the same as it was found again, with the lines that are known only then. An access and the end of the
/// memory's life may be found in the other order.
fn as_played<'a>(found: &'a Counterexample, played: &'a Played) -> &'a Counterexample {
    match &played.found {
        Some(again) if is_of_memory(&found.failure.why) && is_of_memory(&again.failure.why) => again,
        _ => found,
    }
}

fn is_of_memory(why: &Why) -> bool {
    match why {
        Why::Freed { .. } => true,
        Why::Panic(text) => ["use after free:", "double free:"].iter().any(|kind| text.starts_with(kind)),
        _ => false,
    }
}

fn named(names: &[String], thread: u8) -> String {
    names.get(usize::from(thread)).cloned().unwrap_or_else(|| format!("thread {thread}"))
}

/// The threads that do something, in the order of their paths.
fn columns_of(graph: &Graph, waits: &[Wait]) -> Vec<u8> {
    let mut threads: Vec<u8> = graph.events.iter().map(|event| event.thread).collect();
    threads.extend(waits.iter().map(|wait| wait.thread));
    threads.sort_unstable_by_key(|&thread| (graph.threads[usize::from(thread)].path, thread));
    threads.dedup();
    threads
}

/// Is that step one of program order, or as good?
fn is_of_threads(edge: &Edge) -> bool {
    matches!(edge.rel, Rel::Sb | Rel::Fork)
}
