//! What time it is on a simulated machine, and which machine that is.

use crate::host::Nanos;
use crate::runtime::host::thread_state::thread_state;
use core::cell::Cell;

thread_state! {
    /// What time it is on this thread's machine; 0: it has none.
    static CLOCK: Cell<Nanos> = Cell::new(0);
}

/// What time it is on this thread's machine; 0: it has none.
pub(super) fn clock() -> Nanos {
    CLOCK::with(Cell::get).unwrap_or(0)
}

pub(super) fn set_clock(time: Nanos) {
    CLOCK::with(|clock| clock.set(time));
}

/// Which machine; 0: real cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::runtime) struct Number(u64);

impl Number {
    pub(in crate::runtime) const NONE: Number = Number(0);

    pub(super) const fn of(number: u64) -> Number {
        Number(number)
    }

    /// Is it a machine?
    pub(in crate::runtime) fn is_any(self) -> bool {
        self != Number::NONE
    }
}
