//! A random order in which each P comes once: where to begin, and how far to step, a step that shares no factor with
//! the number of Ps.
//!
//! Go: `randomOrder`, `randomEnum`; there the steps are computed whenever the number of Ps changes, here when one is
//! needed, so that nothing has to change.
//!
//! **Each of `0..n` comes exactly once**, whatever is chosen.
//!
//! Checked by: proptests/tests/random_order.rs

/// An order of `0..n`; `choose(k)` picks a number below `k`.
///
/// ```
/// use spinpark_kernel::protocol::random_order::random_order;
/// let mut order: Vec<_> = random_order(4, |n| n - 1).collect();
/// order.sort();
/// assert_eq!(order, [0, 1, 2, 3]); // each once, whatever is chosen
/// ```
#[inline]
pub fn random_order(n: usize, choose: fn(usize) -> usize) -> impl Iterator<Item = usize> {
    let (start, step) = match n {
        0 | 1 => (0, 1),
        _ => (choose(n) % n, coprime_from(1 + choose(n - 1) % (n - 1), n)),
    };
    (0..n).map(move |i| (start + i * step) % n)
}

/// The first number from `at` on, going round at `n`, that shares no factor with `n`. `1` always is one.
fn coprime_from(at: usize, n: usize) -> usize {
    (at..n).find(|&step| gcd(step, n) == 1).unwrap_or(1)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
