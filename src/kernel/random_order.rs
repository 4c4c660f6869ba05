//! A random order in which each P comes once: where to begin, and how far to step, a step that shares no factor with
//! the number of Ps.
//!
//! Go: `randomOrder`, `randomEnum`.
//!
//! **Each of `0..n` comes exactly once**, whatever is chosen.
//!
//! Checked by: proptests/tests/random_order.rs

use alloc::boxed::Box;

/// The possible steps for one number of Ps.
#[derive(Debug)]
pub struct RandomOrder {
    n: usize,
    coprimes: Box<[usize]>,
}

impl RandomOrder {
    /// Of `0..n`.
    pub fn new(n: usize) -> Self {
        RandomOrder { n, coprimes: (1..=n).filter(|&step| gcd(step, n) == 1).collect() }
    }

    /// One order; `choose(k)` picks a number below `k`.
    pub fn pick(&self, choose: fn(usize) -> usize) -> impl Iterator<Item = usize> + use<> {
        let n = self.n;
        let (start, step) = match n {
            0 | 1 => (0, 1),
            _ => (choose(n) % n, self.coprimes[choose(self.coprimes.len()) % self.coprimes.len()]),
        };
        (0..n).map(move |i| (start + i * step) % n)
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
