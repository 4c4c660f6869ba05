//! How long a G may be overtaken: by when each one must have gone on.

use crate::check::Broken;
use std::collections::BTreeMap;

/// Gs that wait in one place, and by which dispatch each must have left it.
#[derive(Debug, Clone)]
pub struct Deadlines {
    place: &'static str,
    due: BTreeMap<u64, (usize, usize)>,
}

impl Deadlines {
    /// For the place of this name, in which no thread waits.
    pub fn of(place: &'static str) -> Self {
        Deadlines { place, due: BTreeMap::new() }
    }

    /// `g` must leave within `bound` dispatches, of which there were `now` so far. A G that waits already keeps the
    /// deadline it has.
    pub fn enter(&mut self, g: u64, now: usize, bound: usize) {
        self.due.entry(g).or_insert((now + bound, bound));
    }

    /// Does it wait?
    pub fn has(&self, g: u64) -> bool {
        self.due.contains_key(&g)
    }

    /// `g` waits no longer, and not because it was dispatched.
    pub fn forget(&mut self, g: u64) {
        self.due.remove(&g);
    }

    /// There were `now` dispatches so far, and those for which `waits` still wait. How many have left at the last
    /// moment?
    ///
    /// # Errors
    /// The G that should have left before.
    pub fn check(&mut self, now: usize, waits: impl Fn(u64) -> bool) -> Result<u64, Broken> {
        if let Some((g, (_, bound))) = self.due.iter().find(|(_, (when, _))| now > *when) {
            let place = self.place;
            return Err(Broken::because(format_args!("G{g} was not dispatched from {place} within {bound}")));
        }
        let mut last_moment = 0;
        self.due.retain(|&g, (when, _)| {
            let stays = waits(g);
            last_moment += u64::from(!stays && *when == now);
            stays
        });
        Ok(last_moment)
    }
}
