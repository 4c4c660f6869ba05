//! Places of objects that a `const fn` makes: no thread makes them, so that the first event of such a place names it. In a
//! play the first thread that uses the object takes the name from its next event, if it has one in the graph; else the name
//! is new, and no place of the graph has it.

use super::{Machine, quarantine, suspend, with};
use crate::graph::{Event, Kind, Loc, Order};
use crate::step::Ask;

/// The number of the place of the object at `address`, which the calling thread is about to use. `known` says whether it
/// has one, maybe since another thread has used it meanwhile.
pub(crate) fn bind(address: usize, known: impl Fn() -> Option<u32>) -> u32 {
    if let Some(number) = known() {
        return number;
    }
    quarantine::leave();
    let number = loop {
        match known().or_else(|| with(|machine| machine.late_place(address))) {
            Some(number) => break number,
            None => suspend(),
        }
    };
    quarantine::enter();
    number
}

/// The number of the place of the object that was at `address` when it was used first in this play.
pub(crate) fn late_number(address: usize) -> Option<u32> {
    with(|machine| machine.late.get(&address).copied())
}

impl Machine {
    /// None: the rest of the graph must be played first, since it may name the place.
    fn late_place(&mut self, address: usize) -> Option<u32> {
        self.must_be_on();
        let slot = &mut self.slots[usize::from(self.current)];
        let next = slot.events.get(usize::from(slot.told)).map(|n| self.graph.events[usize::from(*n)].loc);
        if next.is_none() && self.left > 0 && !self.is_over {
            // It is enabled at once, and never asked.
            slot.asks = Some(Ask::Fence(Order::Relaxed));
            return None;
        }
        let is_free = |n: &u32| !self.bound.contains(n);
        let is_new = |n: &u32| self.graph.of(Loc::of_static(*n)).next().is_none();
        let recorded = next.and_then(Loc::nth_static).filter(is_free);
        // One too many is refused by `Loc::of_static`.
        let number = recorded.or_else(|| (0..=Loc::MAX_STATICS).find(|n| is_free(n) && is_new(n)));
        self.bound.extend(number);
        self.late.extend(number.map(|number| (address, number)));
        number
    }

    /// Has every thread been joined that was started? Then no other thread is left.
    fn all_are_joined(&self) -> bool {
        let is_join_of = |thread: u8| move |e: &Event| e.kind == Kind::Join(thread);
        self.order.iter().all(|&thread| thread == 0 || self.graph.events.iter().any(is_join_of(thread)))
    }
}

/// Has every thread been joined that was started in this execution?
pub(crate) fn all_are_joined() -> bool {
    with(|machine| machine.all_are_joined())
}
