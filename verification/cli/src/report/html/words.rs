//! What verdicts and fates are called, and what they mean.

use spinpark_verification::engines::Verdict;
use spinpark_verification::record::{Fate, Sort};

/// From the strongest to the worst.
pub(super) const VERDICTS: [Verdict; 5] =
    [Verdict::Proved, Verdict::Explored, Verdict::Bounded, Verdict::Sampled, Verdict::Failed];

/// From the best to the worst.
pub(super) const FATES: [Fate; 5] =
    [Fate::Killed, Fate::KilledByProptest, Fate::Argued, Fate::Survived, Fate::Unreached];

pub(super) const SORTS: [Sort; 4] = [Sort::Variant, Sort::Ordering, Sort::Step, Sort::Pair];

/// As a class of the style sheet, too.
pub(super) const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Proved => "proved",
        Verdict::Explored => "explored",
        Verdict::Bounded => "bounded",
        Verdict::Sampled => "sampled",
        Verdict::Failed => "failed",
    }
}

/// As it is printed: what failed is not to be overlooked.
pub(super) const fn loud(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Failed => "FAILED",
        other => self::verdict(other),
    }
}

pub(super) const fn meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Proved => {
            "A complete engine came to its end: every execution that its memory model allows was looked at, for a \
             model of the size that stands beside it. Not for more threads, nor for a weaker memory model."
        }
        Verdict::Explored => {
            "The engine came to its end, but is known to miss executions that its memory model allows. No proof."
        }
        Verdict::Bounded => "A bound on time, executions or preemptions was set and may have cut something off.",
        Verdict::Sampled => "Schedules were sampled at random, from the seed that stands beside it.",
        Verdict::Failed => "An execution breaks the claim, or one that must be there is not. It is drawn below.",
    }
}

pub(super) const fn fate(fate: Fate) -> &'static str {
    match fate {
        Fate::Killed => "killed",
        Fate::KilledByProptest => "proptest",
        Fate::Argued => "argued",
        Fate::Survived => "survived",
        Fate::Unreached => "unreached",
    }
}

pub(super) const fn meaning_of_fate(fate: Fate) -> &'static str {
    match fate {
        Fate::Killed => "A model failed with the mistake in it, as it must.",
        Fate::KilledByProptest => "No model failed with the mutant in it, but a property test did.",
        Fate::Argued => "No model failed, and a written reason says why none can: judged by people, not by an engine.",
        Fate::Survived => {
            "No model failed, and no reason is written down. A hole in the models, or a line that is not needed."
        }
        Fate::Unreached => "No model ever executes the line, so nothing is known about it.",
    }
}

pub(super) const fn sort(sort: Sort) -> &'static str {
    match sort {
        Sort::Variant => "variant",
        Sort::Ordering => "ordering",
        Sort::Step => "step",
        Sort::Pair => "pair",
    }
}

pub(super) const fn meaning_of_sort(sort: Sort) -> &'static str {
    match sort {
        Sort::Variant => "a room’s wrong variant, written by hand",
        Sort::Ordering => "an ordering weakened, a fence gone, or an atomic step torn in two",
        Sort::Step => "a step of the source dropped, doubled, swapped or turned around",
        Sort::Pair => "two lines of the source, or the scope of a lock",
    }
}
