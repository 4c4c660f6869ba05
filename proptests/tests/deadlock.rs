//! When those that wait are told that they wait for ever: for every count of Ms, Ps and Gs.

use spinpark_kernel::protocol::deadlock::Census;
use spinpark_kernel::protocol::locked::Woken;
use std::ops::Deref;

/// A census, and what its sources say.
#[derive(Debug, Clone, Copy)]
struct Counted {
    census: Census,
    is_expecting: bool,
}

impl Deref for Counted {
    type Target = Census;

    fn deref(&self) -> &Census {
        &self.census
    }
}

impl Counted {
    fn verdict(self) -> Option<Woken> {
        self.census.verdict(|| self.is_expecting)
    }
}

/// The asker has counted every M under the lock: no more sleep or wait than are alive.
fn every_census() -> Vec<Counted> {
    let (mut all, both) = (Vec::new(), [false, true]);
    for (alive, busy_ps, queued) in (0..=4).flat_map(|a| (0..=2).flat_map(move |b| (0..=2).map(move |q| (a, b, q)))) {
        for (sleeping, waiting) in (0..=alive).flat_map(|s| (0..=alive - s).map(move |w| (s, w))) {
            for (may_start, is_expecting) in both.into_iter().flat_map(|m| both.into_iter().map(move |e| (m, e))) {
                let census = Census { alive, sleeping, waiting, busy_ps, may_start, queued };
                all.push(Counted { census, is_expecting });
            }
        }
    }
    all
}

/// For every number of Ms up to 4, of Ps and of Gs up to 2. The verdict compares them with 0 and with each other, so
/// more bring nothing new.
mod those_that_wait_are_told_when_nothing_can_happen_any_more {
    use super::*;

    /// An M that neither sleeps nor waits, or a P with an owner.
    fn runs(c: &Counted) -> bool {
        c.alive > c.sleeping + c.waiting || c.busy_ps > 0
    }

    fn all(of: impl Fn(&Counted) -> bool) -> Vec<Counted> {
        let all: Vec<Counted> = every_census().into_iter().filter(of).collect();
        assert!(all.len() > 5, "only {} of all are so", all.len());
        all
    }

    #[test]
    fn never_while_an_m_runs() {
        assert!(all(|c| c.alive > c.sleeping + c.waiting).into_iter().all(|c| c.verdict().is_none()));
    }

    #[test]
    fn never_while_somebody_has_a_p() {
        assert!(all(|c| c.busy_ps > 0).into_iter().all(|c| c.verdict().is_none()));
    }

    #[test]
    fn never_while_work_is_expected_from_outside_and_an_m_can_be_had_for_it() {
        let alive = all(|c| c.is_expecting && (c.sleeping > 0 || c.may_start));
        assert!(alive.into_iter().all(|c| c.verdict().is_none()));
    }

    #[test]
    fn never_if_nobody_waits() {
        assert!(all(|c| c.waiting == 0).into_iter().all(|c| c.verdict().is_none()));
    }

    #[test]
    fn always_if_nobody_runs_and_nothing_is_queued_or_expected() {
        let dead = all(|c| !runs(c) && c.queued == 0 && !c.is_expecting && c.waiting > 0);
        assert!(dead.into_iter().all(|c| c.verdict() == Some(Woken::Deadlock)));
    }

    #[test]
    fn always_if_a_g_is_queued_and_no_m_can_be_had_for_it() {
        let has_work = |c: &Counted| c.queued > 0 || c.is_expecting;
        let dead = all(|c| has_work(c) && c.sleeping == 0 && !c.may_start && !runs(c) && c.waiting > 0);
        assert!(dead.into_iter().all(|c| c.verdict() == Some(Woken::NoThread)));
    }

    #[test]
    fn never_if_a_g_is_queued_and_an_m_can_be_had_for_it() {
        let alive = all(|c| c.queued > 0 && (c.sleeping > 0 || c.may_start));
        assert!(alive.into_iter().all(|c| c.verdict().is_none()));
    }

    /// The sentences above leave nothing open, and do not contradict each other.
    #[test]
    fn and_that_is_all() {
        for c in every_census() {
            let never = runs(&c) || c.waiting == 0;
            let has_m = (c.queued > 0 || c.is_expecting) && (c.sleeping > 0 || c.may_start);
            assert_eq!(c.verdict().is_none(), never || has_m, "{c:?}");
        }
    }
}
