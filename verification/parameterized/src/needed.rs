//! Why each conjunct of an invariant is there: an obligation that fails without it. Written by `every-size needed`, and
//! checked by the tests.

/// Of spinning and parking.
pub const SPINNING: &[(&str, &str)] = &[];
/// Of the run queue.
pub const RUNQ: &[(&str, &str)] = &[];
/// Of the custody of a P.
pub const CUSTODY: &[(&str, &str)] = &[];
/// Of stopping the world.
pub const STW: &[(&str, &str)] = &[];
