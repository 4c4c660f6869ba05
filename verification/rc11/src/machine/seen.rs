//! What is seen of memory while an execution is played again: of which type a location is, and what a plain access has found or
//! left there. The graph has neither.

use super::{Mode, with};
use crate::graph::Loc;
use std::collections::BTreeMap;

/// Types and values, as far as they are known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    pub(crate) types: BTreeMap<Loc, &'static str>,
    /// By the access: its thread, and which of its events.
    pub(crate) values: BTreeMap<(u8, u16), String>,
}

/// A location holds a value of that type.
pub(crate) fn note_type(loc: Loc, name: &'static str) {
    with(|machine| {
        if machine.mode == Mode::Replay {
            machine.seen.types.insert(loc, name);
        }
    });
}

/// The last event of the calling thread's, if what it finds is to be noted.
pub(crate) fn last_event_to_note() -> Option<(u8, u16)> {
    with(|machine| {
        let told = machine.slots.get(usize::from(machine.current))?.told;
        let is_noted = machine.is_on && machine.mode == Mode::Replay;
        is_noted.then(|| Some((machine.current, told.checked_sub(1)?))).flatten()
    })
}

/// A plain access has found or left that.
pub(crate) fn note_value(access: (u8, u16), value: String) {
    with(|machine| machine.seen.values.insert(access, value));
}
