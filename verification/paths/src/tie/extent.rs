//! Which of the kernel's operations a drawing is about: none that reads or writes what is drawn is forgotten.
//!
//! The drawings are of one scheduler. Each has the steps of every operation that touches its words, so each is wider than the whole, and
//! their theorems hold of it together, as long as no operation runs that one of them leaves out.

use super::Drawing;
use crate::path::{Operation, Room, automaton, edges, paths};
use crate::rooms::ROOMS;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// What a drawing does with each operation.
#[derive(Debug, Default)]
pub struct Extent {
    /// So many are held against the drawing, path by path.
    pub read: usize,
    /// Parts of those.
    pub within: usize,
    /// None of the drawing's words occurs in them.
    pub apart: usize,
    /// Left out.
    pub left_out: usize,
    /// What is left out so.
    pub why: Vec<&'static str>,
}

impl Extent {
    pub(super) fn of(drawing: &Drawing, differences: &mut Vec<String>) -> Extent {
        let why = drawing.left_out.iter().map(|(why, _)| *why).collect();
        let mut extent = Extent { why, ..Extent::default() };
        let left_out = || drawing.left_out.iter().flat_map(|(_, names)| names.iter());
        let mut used: BTreeSet<&str> = BTreeSet::new();
        for (name, acts) in ACTS.iter() {
            let is_this = |listed: &&&str| **listed == name;
            let is_of = |listed: &&&str| is_this(listed) || (listed.ends_with("::") && name.starts_with(**listed));
            if drawing.begins.iter().any(|(read, _)| read == name) {
                extent.read += 1;
            } else if !touches(drawing, acts) {
                extent.apart += 1;
            } else if let Some(listed) = drawing.within.iter().find(is_this) {
                used.insert(listed);
                extent.within += 1;
            } else if let Some(listed) = left_out().find(is_of) {
                used.insert(listed);
                extent.left_out += 1;
            } else {
                differences
                    .push(format!("{name}: it touches what is drawn, and the drawing does not say what becomes of it"));
            }
        }
        let unused = drawing.within.iter().chain(left_out()).filter(|listed| !used.contains(**listed));
        differences.extend(unused.map(|name| format!("{name}: listed, and no operation is so")));
        extent
    }

    /// In one line.
    #[must_use]
    pub fn words(&self) -> String {
        format!(
            "of {} operations {} are read, {} as parts of these, {} touch nothing of it, {} are left out{}{}",
            self.read + self.within + self.apart + self.left_out,
            self.read,
            self.within,
            self.apart,
            self.left_out,
            if self.why.is_empty() { "" } else { ": " },
            self.why.join("; ")
        )
    }
}

/// By operation: what its steps do.
static ACTS: LazyLock<Vec<(String, BTreeSet<String>)>> = LazyLock::new(|| {
    let acts = |(room, operation): (&Room, &Operation)| {
        let nodes = automaton(&paths(room, operation));
        (room.name_of(operation), nodes.iter().flat_map(edges).map(|edge| edge.step.act).collect())
    };
    ROOMS.iter().flat_map(|room| room.operations.iter().map(move |one| (*room, one))).map(acts).collect()
});

/// Does it read or write what is drawn?
fn touches(drawing: &Drawing, acts: &BTreeSet<String>) -> bool {
    acts.iter().any(|act| drawing.words.iter().copied().flatten().any(|word| act.starts_with(word)))
}
