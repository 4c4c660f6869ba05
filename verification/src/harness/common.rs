//! What models share: parties, and Gs whose data one thread at a time may touch.

use crate::hosts::model_host::{Cell, ModelHost};
use spinpark_kernel::types::g::G;
use std::num::NonZeroU64;
use std::sync::Arc;

/// A party of the scenario: what one thread does with what all share.
pub(crate) fn party<H: ModelHost, S: Send + Sync + 'static, R: Send + 'static>(
    name: &'static str,
    shared: &Arc<S>,
    act: impl FnOnce(&S) -> R + Send + 'static,
) -> H::Thread<R> {
    let shared = Arc::clone(shared);
    H::fork(name, move || act(&shared))
}

/// One of `these`: a checker tries them all.
pub(crate) fn any_of<H: ModelHost, T: Copy>(these: &[T]) -> T {
    these[H::choose(these.len())]
}

/// The data of Gs 1 to n. A submitter writes it before it queues the G, the M that takes the G reads it: if a queue
/// hands a G on without what was done before, the engine sees a race, or the reader an old value.
pub(crate) struct Tasks<H: ModelHost>(Vec<H::Cell<u64>>);

impl<H: ModelHost> Tasks<H> {
    pub(crate) fn new(n: usize) -> Self {
        Tasks((0..n).map(|_| Cell::new(0)).collect())
    }

    /// Makes G `n`.
    pub(crate) fn make(&self, n: u64) -> G {
        self.0[n as usize - 1].set(n);
        g(n)
    }

    /// Runs `g`; returns its number.
    pub(crate) fn run(&self, g: G) -> u64 {
        let n = g.into_raw().get();
        assert!(n as usize <= self.0.len(), "a G that was never made was taken: {n}");
        let seen = self.0[n as usize - 1].get();
        assert!(seen == n, "G{n} was taken, but not what was done before it was put");
        n
    }

    /// Runs every G of `gs`; their numbers.
    pub(crate) fn run_all(&self, gs: impl IntoIterator<Item = G>) -> Vec<u64> {
        gs.into_iter().map(|g| self.run(g)).collect()
    }
}

/// G number `n`.
pub fn g(n: u64) -> G {
    G::from_raw(NonZeroU64::new(n).expect("a G has a number"))
}

/// Each of 1 to `n` is in exactly one of `taken`.
pub fn each_once(n: u64, taken: &[&[u64]]) {
    let mut all: Vec<u64> = taken.iter().flat_map(|some| some.iter().copied()).collect();
    all.sort_unstable();
    for (expected, found) in (1..=n).zip(&all) {
        assert!(*found >= expected, "G{found} was taken twice");
        assert!(*found <= expected, "G{expected} was lost");
    }
    assert!(all.len() as u64 <= n, "G{} was taken twice", all[n as usize]);
    assert!(all.len() as u64 >= n, "G{n} was lost");
}
