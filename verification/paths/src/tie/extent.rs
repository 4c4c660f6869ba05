//! Which of the kernel's operations a drawing is about: none that reads or writes what is drawn is forgotten.
//!
//! The drawings are of one scheduler. Each has the steps of every operation that touches its words, so each is wider than the whole, and
//! their theorems hold of it together, as long as no operation runs that one of them leaves out.

use super::Drawing;
use crate::path::{Operation, Room, automaton, edges, paths};
use crate::rooms::ROOMS;
use std::collections::BTreeSet;

/// What a drawing does with each operation.
#[derive(Debug, Default)]
pub struct Extent {
    /// Held against the drawing, path by path.
    pub read: usize,
    /// Parts of those.
    pub within: usize,
    /// None of the drawing's words occurs in them.
    pub apart: usize,
    /// Left out: what is left out so, and the operations.
    pub left_out: Vec<(&'static str, Vec<String>)>,
}

impl Extent {
    pub(super) fn of(drawing: &Drawing, differences: &mut Vec<String>) -> Extent {
        let left_out = drawing.left_out.iter().map(|(why, _)| (*why, Vec::new())).collect();
        let mut extent = Extent { left_out, ..Extent::default() };
        let mut used: BTreeSet<&str> = BTreeSet::new();
        for (room, operation) in ROOMS.iter().flat_map(|room| room.operations.iter().map(move |one| (*room, one))) {
            let name = room.name_of(operation);
            if drawing.begins.iter().any(|(read, _)| *read == name) {
                extent.read += 1;
                continue;
            }
            if !touches(drawing, room, operation) {
                extent.apart += 1;
                continue;
            }
            let is = |listed: &&str| *listed == name || (listed.ends_with("::") && name.starts_with(listed));
            if let Some(listed) = drawing.within.iter().find(|listed| **listed == name) {
                used.insert(listed);
                extent.within += 1;
            } else if let Some(why) = drawing.left_out.iter().position(|(_, names)| names.iter().any(is)) {
                used.extend(drawing.left_out[why].1.iter().filter(|listed| is(listed)));
                extent.left_out[why].1.push(name);
            } else {
                differences
                    .push(format!("{name}: it touches what is drawn, and the drawing does not say what becomes of it"));
            }
        }
        let listed = drawing.within.iter().chain(drawing.left_out.iter().flat_map(|(_, names)| names.iter()));
        let unused = listed.filter(|listed| !used.contains(**listed));
        differences.extend(unused.map(|name| format!("{name}: listed, and no operation is so")));
        extent
    }

    /// In one line.
    #[must_use]
    pub fn words(&self) -> String {
        let left_out: usize = self.left_out.iter().map(|(_, names)| names.len()).sum();
        let why: Vec<&str> = self.left_out.iter().map(|(why, _)| *why).collect();
        format!(
            "of {} operations {} are read, {} as parts of these, {} touch nothing of it, {left_out} are left out{}{}",
            self.read + self.within + self.apart + left_out,
            self.read,
            self.within,
            self.apart,
            if why.is_empty() { "" } else { ": " },
            why.join("; ")
        )
    }
}

/// Does it read or write what is drawn?
fn touches(drawing: &Drawing, room: &Room, operation: &Operation) -> bool {
    let is_word = |act: &str| drawing.words.iter().copied().flatten().any(|word| act.starts_with(word));
    automaton(&paths(room, operation)).iter().flat_map(edges).any(|edge| is_word(&edge.step.act))
}
