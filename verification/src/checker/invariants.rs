//! What must hold while a scheduler runs, and when all is quiet: one named invariant for each thing that can be seen.

use std::fmt;

/// Something that must hold. The numbers are those of docs/reference/invariants.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Invariant {
    /// Its number.
    pub number: u8,
    /// What it says.
    pub says: &'static str,
}

macro_rules! invariants {
    ($($name:ident = $number:literal: $says:literal;)*) => {
        $(
            #[doc = $says]
            pub const $name: Invariant = Invariant { number: $number, says: $says };
        )*
        /// All of them.
        pub const INVARIANTS: &[Invariant] = &[$($name),*];
    };
}

invariants! {
    NO_G_IS_LOST = 1: "no G is lost, and each sees what was done before it was queued";
    NO_G_RUNS_TWICE = 2: "no G runs twice for one readiness";
    ONE_OWNER = 4: "a P runs one G at a time, and there are no more than there are Ps";
    SLEEPERS_RUN_NOTHING = 12: "an M that sleeps runs nothing";
    ONE_WAKE_A_SLEEP = 13: "an M is woken once for each sleep";
    A_STOPPED_WORLD_STANDS_STILL = 16: "while the world is stopped no G runs, and every P is held";
    ONCE_UNDER_EACH_P = 18: "a safepoint's function runs once under each P";
    BOUND_GS_STAY = 19: "a bound G stays on its M";
    NO_FALSE_DEADLOCK = 25: "no deadlock is told while something can happen";
    WORK_IS_CONSERVED = 30: "no G waits while a P is idle";
    NOBODY_SPINS = 31: "when every M sleeps, none is counted as spinning";
    EVERY_P_IS_IDLE = 32: "when every M sleeps, every P is idle";
    LISTS_AGREE = 33: "the list of idle Ps, their bits and their count agree";
    MS_ARE_ACCOUNTED_FOR = 34: "when every M sleeps, each sleeps or waits for a G";
    EVERY_G_ENDS = 36: "every G that was made runnable runs to its end";
    NO_WAKE_WITHOUT_CAUSE = 39: "no M is woken without a cause";
    EVENTS_ARE_TRUE = 46: "what the events report can be, in the order in which they report it";
}

/// An invariant does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub of: Invariant,
    /// What was seen.
    pub seen: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invariant {}, {}: {}", self.of.number, self.of.says, self.seen)
    }
}

impl std::error::Error for Violation {}
