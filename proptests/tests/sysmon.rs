//! Why three looks are enough. `verification/src/models/sysmon.rs` compares the monitor's verdict with Go's rule after every three looks at a
//! P: here every state that four looks lead to tells no more than one that three lead to.
//!
//! And what no model shows: two Gs that are asked to yield in one tick.
//!
//! Numbers are compared only for being equal, times only with `SLICE`: two numbers, and times on both sides of `SLICE`, stand for all.

use spinpark_kernel::host::Nanos;
use spinpark_kernel::protocol::sysmon::{Around, Observed, SLICE, SOON, SysmonTick};
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::config::Config;
use spinpark_proptests::oracle::g;
use spinpark_proptests::stepped::{self, Stepped, in_each_sleep};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow::{Break, Continue};
use std::rc::Rc;
use std::sync::Arc;

/// A look at a P, so long after the one before. The P may have been idle between the two.
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
            for (look, was_idle) in Look::every().flat_map(|look| [(look, false), (look, true)]) {
                let mut seen = *state;
                if was_idle {
                    seen.idles();
                }
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

/// Two are asked to yield at the same tick, and one of them does: at the next tick neither is news.
#[test]
fn the_monitor_comes_soon_once_though_it_asks_two_at_once() {
    let sched: Arc<Sched<Stepped>> =
        Sched::new(Config { procs: 2, ..Config::default() }, (), stepped::enter).expect("these numbers are allowed");
    (1..=2).for_each(|number| sched.submit(g(number)).expect("it is open"));
    let begin = || sched.next(Stepped::begin().expect("a thread was asked for")).expect("it is open").0;
    std::mem::forget(begin());
    let mut m2 = begin();
    sched.ready(&mut m2, g(3));
    let (later, mut m2) = (Arc::clone(&sched), Some(m2));
    sched.start_sysmon().expect("a thread");
    let naps = Rc::new(RefCell::new(Vec::new()));
    let slept = Rc::clone(&naps);
    let ended = in_each_sleep(Stepped::begin, move |nanos| {
        slept.borrow_mut().push(nanos);
        if m2.as_ref().is_some_and(|m2| later.is_preempted(m2)) {
            std::mem::forget(later.next(m2.take().expect("once")));
        }
        if slept.borrow().len() < 70 { Continue(()) } else { Break(()) }
    });
    assert!(ended.is_none(), "it lives for as long as the scheduler");
    let naps = naps.take();
    let asked = naps.iter().position(|nap| *nap == Some(SOON)).expect("they were asked");
    assert_eq!(naps[asked..asked + 3], [SOON, 2 * SOON, 4 * SOON].map(Some));
}
