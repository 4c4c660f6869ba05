//! The reference, up to symmetry: graphs that differ only by the names of threads that do the same are one.
//!
//! All graphs are enumerated, and of each the least renaming is kept. Slow, and plain.

use crate::enumerate::{Answer, Reference, enumerate_some};
use crate::graph::Graph;
use crate::program::Program;
use std::collections::HashSet;
use std::ops::Range;

/// What each thread read and chose, and the order of the writes of each location, with a thread's number for a thread.
type Shape = (Vec<Vec<Part>>, Vec<Vec<Part>>);
type Part = (usize, usize);

/// One graph of each orbit: the threads of each of `groups` have the same code. In outcomes the registers of a group are
/// sorted, thread by thread.
///
/// # Errors
/// As [`enumerate`](crate::enumerate::enumerate).
pub fn enumerate_orbits(program: &Program, groups: &[Range<usize>]) -> Result<Reference, String> {
    let renamings = renamings(program.threads.len(), groups);
    let mut seen = HashSet::new();
    let is_new = |answers: &[Vec<Answer>], graph: &Graph, orders: &[Vec<usize>]| {
        let least = renamings.iter().map(|to| shape(answers, graph, orders, to)).min();
        seen.insert(least.expect("there is at least the one that renames nothing"))
    };
    enumerate_some(program, groups, || true, is_new).map(|(found, _)| found)
}

/// All renamings: of each thread its new number.
fn renamings(threads: usize, groups: &[Range<usize>]) -> Vec<Vec<usize>> {
    let mut all = vec![(0..threads).collect::<Vec<_>>()];
    for group in groups {
        // Each place of the group in turn takes one of those that come behind it.
        for at in group.clone() {
            let swapped = |to: &Vec<usize>| {
                let swap = |other: usize| {
                    let mut to = to.clone();
                    to.swap(at, other);
                    to
                };
                (at..group.end).map(swap).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(swapped).collect();
        }
    }
    all
}

fn shape(answers: &[Vec<Answer>], graph: &Graph, orders: &[Vec<usize>], to: &[usize]) -> Shape {
    let name = |thread: Option<usize>| thread.map_or(0, |thread| 1 + to[thread]);
    let part = |answer: &Answer| match *answer {
        Answer::Reads { thread, event, .. } => (name(thread), event),
        Answer::Chooses(value) => (usize::MAX, value),
    };
    let mut reads = vec![Vec::new(); answers.len()];
    for (thread, answers) in answers.iter().enumerate() {
        reads[to[thread]] = answers.iter().map(part).collect();
    }
    let place = |&n: &usize| {
        let thread = graph.events[n].thread;
        (name(thread), graph.events[..n].iter().filter(|e| e.thread == thread).count())
    };
    (reads, orders.iter().map(|order| order.iter().map(place).collect()).collect())
}

#[cfg(test)]
mod tests {
    use super::renamings;

    #[test]
    fn each_renaming_once() {
        let all = renamings(6, &[1..4, 4..6]);
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!((all.len(), different.len()), (12, 12));
        assert!(all.iter().all(|to| to[0] == 0 && to[4] + to[5] == 9));
    }
}
