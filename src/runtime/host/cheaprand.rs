//! Random numbers, a generator for each thread. Go: `cheaprand`.

use crate::runtime::host::thread_state::thread_state;
use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
use std::thread;

/// Any number below `n`, for what a deterministic runtime need not decide again in the same way.
#[inline]
pub(in crate::runtime) fn random_below(n: usize) -> usize {
    // The high half of the product: below `n`, without a division.
    ((u128::from(draw()) * n as u128) >> u64::BITS) as usize
}

/// A random number, from a generator of this thread's own. Go: `cheaprand`.
fn draw() -> u64 {
    thread_state!(
        static STATE: Cell<u64> = Cell::new(0);
    );
    let drawn = STATE::with(|place| {
        // 0 is a state like any other, and means "not seeded" once in 2^64 draws more than it should.
        let state = match place.get() {
            0 => RandomState::new().hash_one(thread::current().id()),
            state => state,
        };
        let (state, drawn) = wyrand(state);
        place.set(state);
        drawn
    });
    drawn.unwrap_or(0)
}

/// The next state of the generator, and what it gives.
#[inline]
pub(in crate::runtime) fn wyrand(state: u64) -> (u64, u64) {
    let state = state.wrapping_add(0xa076_1d64_78bd_642f);
    let product = u128::from(state) * u128::from(state ^ 0xe703_7ed1_a0b4_28db);
    (state, (product >> u64::BITS) as u64 ^ product as u64)
}
