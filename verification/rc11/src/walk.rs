//! Where a bounded exploration looks first: at random.
//!
//! Each branch of the frontier is explored once, in whatever order: so a random order costs nothing but memory. Depth first,
//! a bounded exploration sees the last events of one execution in all ways, and the first ones in one. A walk begins at a
//! random branch, half of the time by weight, and goes on by a random branch of the execution that this led to, up to so many times: a bug of which the
//! schedule has few turns is a few random choices away, as with PCT (Burckhardt, Kothari, Musuvathi, Nagarakatte, 2010).

use crate::explore::Branch;

/// A walk has no more turns than this.
const TURNS: u64 = 8;

/// A walker, and where it stands.
#[derive(Debug)]
pub(super) struct Walk {
    state: u64,
    /// How many turns are left of this walk.
    turns: u64,
    /// From where on the branches are those of the last execution.
    from: usize,
}

impl Walk {
    pub(super) fn new(seed: u64) -> Walk {
        Walk { state: seed, turns: 0, from: 0 }
    }

    /// SplitMix64.
    fn below(&mut self, n: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % n.max(1) as u64) as usize
    }

    /// A branch, the more likely the more executions lie below it, as far as can be guessed: those are the early ones.
    fn by_weight(&mut self, frontier: &[Branch]) -> usize {
        let all: f64 = frontier.iter().map(Branch::weight).sum();
        let mut rest = all * (self.below(1 << 53) as f64 / (1u64 << 53) as f64);
        let stands = |branch: &Branch| {
            rest -= branch.weight();
            rest < 0.0
        };
        frontier.iter().position(stands).unwrap_or(frontier.len() - 1)
    }

    /// The next branch to explore. Its own branches are put at the end.
    pub(super) fn take(&mut self, frontier: &mut Vec<Branch>) -> Option<Branch> {
        let len = frontier.len();
        if len == 0 {
            return None;
        }
        let at = if self.turns > 0 && self.from < len {
            self.turns -= 1;
            self.from + self.below(len - self.from)
        } else {
            self.turns = self.below(TURNS as usize) as u64;
            if self.below(2) == 0 { self.below(len) } else { self.by_weight(frontier) }
        };
        // Branches of one execution stay side by side.
        let branch = frontier.remove(at);
        self.from = frontier.len();
        Some(branch)
    }
}
