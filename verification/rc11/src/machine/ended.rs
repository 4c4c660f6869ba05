//! What is asked when all threads have come to their end.

use super::{Machine, with};
use crate::graph::Graph;
use crate::step::Ask;

/// While `f` runs, whatever is asked is answered by what was written last, and nothing is written.
pub(crate) fn with_last_values<R>(graph: &mut Graph, f: impl FnOnce() -> R) -> R {
    let taken = std::mem::take(graph);
    with(|machine| machine.ended = Some(taken));
    let result = f();
    *graph = with(|machine| machine.ended.take()).expect("it was put there");
    result
}

impl Machine {
    /// The answer, if all threads have come to their end. A lock is open then.
    pub(super) fn last_value(&self, ask: &Ask) -> Option<u64> {
        let graph = self.ended.as_ref()?;
        Some(match *ask {
            Ask::Load { loc, init, .. } | Ask::Update { loc, init, .. } => graph.value_of(graph.newest(loc), init),
            _ => 0,
        })
    }
}
