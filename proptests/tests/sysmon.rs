//! Why three looks are enough. `verification/src/models/sysmon.rs` compares the monitor's verdict with Go's rule after every three looks at a
//! P: here every state that four looks lead to tells no more than one that three lead to.
//!
//! Numbers are compared only for being equal, times only with `SLICE`: two numbers, and times on both sides of `SLICE`, stand for all.

use spinpark_kernel::host::Nanos;
use spinpark_kernel::protocol::sysmon::{Around, Observed, SLICE, SysmonTick};
use std::collections::{BTreeMap, BTreeSet};

/// A look at a P, so long after the one before.
#[derive(Debug, Clone, Copy)]
struct Look {
    after: Nanos,
    dispatches: u32,
    syscall: Option<u32>,
}

impl Look {
    fn every() -> impl Iterator<Item = Look> {
        let times = [0, 1, SLICE - 1, SLICE, SLICE + 1].into_iter();
        let looks = times.flat_map(|after| [0, 1].map(|dispatches| Look { after, dispatches, syscall: None }));
        looks.flat_map(|look| [None, Some(0), Some(1)].map(|syscall| Look { syscall, ..look }))
    }

    /// The verdict, as the tick sees it after what it saw `before`.
    fn says(self, seen: &mut SysmonTick, before: Nanos, has_work: bool) -> u8 {
        let observed = Observed { dispatches: self.dispatches, syscall: self.syscall, has_work };
        let around = Around { now: before + self.after, somebody_looks: true, is_wanted: false, slice: SLICE };
        seen.verdict(observed, around) as u8
    }
}

/// Every state that so many looks lead to, and when the last of them was. What is remembered does not depend on the flags: the models
/// see to that.
fn states(looks: usize) -> Vec<(SysmonTick, Nanos)> {
    let mut states = vec![(SysmonTick::default(), 0)];
    for _ in 0..looks {
        let mut next = BTreeMap::new();
        for (state, before) in &states {
            for look in Look::every() {
                let mut seen = *state;
                look.says(&mut seen, *before, false);
                let now = before + look.after;
                next.entry(format!("{seen:?} {now}")).or_insert((seen, now));
            }
        }
        states = next.into_values().collect();
    }
    states
}

/// What one more look says. Of the flags these two settings tell whatever can be told: with work, whether the P was old; without,
/// whether its call was long.
fn tells((state, before): (SysmonTick, Nanos)) -> Vec<u8> {
    let flags = Look::every().flat_map(|look| [false, true].map(|has_work| (look, has_work)));
    flags.map(|(look, has_work)| look.says(&mut state.clone(), before, has_work)).collect()
}

#[test]
fn a_fourth_look_leads_nowhere_that_three_do_not() {
    let [two, three, four] = [2, 3, 4].map(|looks| -> BTreeSet<Vec<u8>> {
        (0..=looks).flat_map(|looks| states(looks).into_iter().map(tells)).collect()
    });
    assert!(two.len() < three.len(), "{} states after two looks, {} after three", two.len(), three.len());
    assert!(three == four, "{} states after three looks, {} after four", three.len(), four.len());
}
