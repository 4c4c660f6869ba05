//! Time spans and moments as numbers of nanoseconds, as the kernel counts. They ask no clock, so every host may use them.

use crate::host::{NEVER, Nanos};
use core::time::Duration;
use std::time::Instant;

/// What a clock shows when it is first asked. So it can show moments before that: no `Instant` of a process is 36 years older.
pub(in crate::runtime) const START: Nanos = 1 << 60;

/// What a clock shows at that moment, or as much as it can, if it shows [`START`] at `base`.
#[inline]
pub(in crate::runtime) fn nanos_of(moment: Instant, base: Instant) -> Nanos {
    match moment.checked_duration_since(base) {
        Some(later) => START.saturating_add(nanos(later)),
        None => START.saturating_sub(nanos(base.duration_since(moment))),
    }
}

/// The moment at which such a clock shows that; `None`, if no `Instant` does.
pub(in crate::runtime) fn instant_of(time: Nanos, base: Instant) -> Option<Instant> {
    match time.checked_sub(START) {
        Some(later) => base.checked_add(Duration::from_nanos(later)),
        None => base.checked_sub(Duration::from_nanos(START - time)),
    }
}

/// So long; what is too long for a number is for ever.
pub(in crate::runtime) fn nanos(time: Duration) -> Nanos {
    u64::try_from(time.as_nanos()).unwrap_or(NEVER)
}
