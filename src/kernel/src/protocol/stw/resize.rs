//! More or fewer Ps, while the world is stopped.
//!
//! Go: `procresize`, `(*p).destroy`.
//!
//! **No G is lost, and those of one P keep their order**: what a P that ends still holds goes to the front of the
//! global queue, in the order in which it would have run. The Ps that there are have the numbers `0..procs`, before and
//! after.
//!
//! Checked by: verification/rooms/src/rooms/stw.rs, proptests/tests/resize.rs

use crate::types::p::OwnedP;
use alloc::vec::Vec;

/// Makes `held`, which are all Ps there are, `procs` many: takes from `spare`, or gives to it. `empty` takes every G
/// out of a P that ends and puts them before those in the global queue.
///
/// # Panics
/// If there are not enough Ps in all.
///
/// ```
/// use spinpark_kernel::{protocol::stw::resize::procresize, types::p::OwnedP};
/// // One P less, in a stopped world:
/// fn shrink(held: &mut Vec<OwnedP>, spare: &mut Vec<OwnedP>) {
///     let procs = held.len() - 1;
///     procresize(held, spare, procs, |p| assert_eq!(p.id().index(), procs)); // the last one ends
///     assert_eq!(held.len(), procs);
/// }
/// ```
pub fn procresize(held: &mut Vec<OwnedP>, spare: &mut Vec<OwnedP>, procs: usize, mut empty: impl FnMut(&OwnedP)) {
    assert!(procs > 0 && procs <= held.len() + spare.len(), "resize: {procs} Ps were asked for");
    // Lowest first in both: the ones to end are the last, the ones to begin the first.
    held.sort_by_key(OwnedP::id);
    spare.sort_by_key(OwnedP::id);
    while held.len() < procs {
        held.push(spare.remove(0));
    }
    while held.len() > procs {
        let Some(p) = held.pop() else { break };
        empty(&p);
        spare.push(p);
    }
}
