//! A time span as a number of nanoseconds, as the kernel counts. It asks no clock, so every host may use it.

use crate::host::{NEVER, Nanos};
use core::time::Duration;

/// So long; what is too long for a number is for ever.
pub(in crate::runtime) fn nanos(time: Duration) -> Nanos {
    u64::try_from(time.as_nanos()).unwrap_or(NEVER)
}
