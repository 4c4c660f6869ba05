//! Bound Gs: the waits of all Ms, compared with lists; and when those that wait are told that
//! they wait for ever.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spinpark_kernel::protocol::deadlock::Census;
use spinpark_kernel::protocol::locked::{Bindings, Wake, Woken};
use spinpark_kernel::types::m::MId;
use spinpark_proptests::check::{Broken, Tally, check, refute};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

const CASES: u32 = 1000;
const MS: usize = 4;

/// What can happen to the G of one M.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    /// It waits, unless it does so already.
    Wait(usize, Wake),
    /// Its M has given up its P.
    Rest(usize),
    /// What it waits for happens, or would have happened.
    Ready(usize, Woken),
    /// Its M ends, unless it waits.
    End(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let wake = select(&[Wake::Inside, Wake::Outside][..]);
    let why = select(&[Woken::Ready, Woken::Closed, Woken::Deadlock, Woken::NoThread][..]);
    prop_oneof![
        4 => (0..MS, wake).prop_map(|(m, wake)| Op::Wait(m, wake)),
        4 => (0..MS).prop_map(Op::Rest),
        4 => (0..MS, why).prop_map(|(m, why)| Op::Ready(m, why)),
        1 => (0..MS).prop_map(Op::End),
    ]
}

/// The Ms whose Gs wait, or a wrong variant of them.
trait Waits {
    fn wait(&mut self, m: MId, wake: Wake) -> bool;
    fn rest(&mut self, m: MId) -> bool;
    fn ready(&mut self, m: MId, why: Woken) -> bool;
    fn forget(&mut self, m: MId);
    fn bindings(&self) -> &Bindings;
}

impl Waits for Bindings {
    fn wait(&mut self, m: MId, wake: Wake) -> bool {
        Bindings::wait(self, m, wake)
    }
    fn rest(&mut self, m: MId) -> bool {
        Bindings::rest(self, m)
    }
    fn ready(&mut self, m: MId, why: Woken) -> bool {
        Bindings::ready(self, m, why)
    }
    fn forget(&mut self, m: MId) {
        Bindings::forget(self, m);
    }
    fn bindings(&self) -> &Bindings {
        self
    }
}

/// Three lists that know the answer.
#[derive(Debug, Default)]
struct Lists {
    /// Readied before they waited.
    readied: BTreeSet<usize>,
    /// Those that wait, and the parties that can end it.
    waiting: BTreeMap<usize, Wake>,
    /// Those that rest, in the order in which they began to.
    resting: Vec<usize>,
}

/// Every answer is the lists'; for each wait one ticket is asked for, and no other; and a wake that comes first makes
/// the next wait none, be it one wake or many.
fn as_lists_would(mut kernel: impl Waits, ops: &[Op]) -> Result<Tally, Broken> {
    let (mut lists, mut seen) = (Lists::default(), Tally::default());
    let (mut waits, mut tickets) = ([0; MS], [0; MS]);
    for (i, &op) in ops.iter().enumerate() {
        let (expected, found) = match op {
            Op::Wait(m, _) | Op::End(m) if lists.waiting.contains_key(&m) => continue,
            Op::Wait(m, wake) => {
                let waits_now = !lists.readied.remove(&m);
                if waits_now {
                    lists.waiting.insert(m, wake);
                    waits[m] += 1;
                }
                seen.note_if(!waits_now, "a wake had come first");
                (waits_now, kernel.wait(MId(m as u32), wake))
            }
            Op::Rest(m) => {
                let rests = lists.waiting.contains_key(&m) && !lists.resting.contains(&m);
                seen.note_if(!rests && waits[m] > 0, "it was readied before it rested");
                lists.resting.extend(rests.then_some(m));
                (rests, kernel.rest(MId(m as u32)))
            }
            Op::Ready(m, why) => {
                let needs_ticket = lists.waiting.remove(&m).is_some();
                if !needs_ticket {
                    seen.note_if(!lists.readied.insert(m), "a second wake came first");
                }
                lists.resting.retain(|&resting| resting != m);
                let found = kernel.ready(MId(m as u32), why);
                tickets[m] += usize::from(found);
                if needs_ticket && kernel.bindings().woken(MId(m as u32)) != why {
                    return Err(Broken::because(format_args!("step {i}: M{m} was not woken for {why:?}")));
                }
                (needs_ticket, found)
            }
            Op::End(m) => {
                seen.note_if(lists.readied.remove(&m), "a wake came too late");
                kernel.forget(MId(m as u32));
                (true, true)
            }
        };
        if expected != found {
            return Err(Broken::because(format_args!("step {i}, {op:?} gives {found} instead of {expected}")));
        }
        let inside: Vec<usize> =
            lists.resting.iter().copied().filter(|m| lists.waiting.get(m) == Some(&Wake::Inside)).collect();
        let (oldest, now) = (inside.first().map(|&m| MId(m as u32)), kernel.bindings());
        seen.note_if(inside.len() > 1 && inside.windows(2).any(|two| two[0] > two[1]), "a later M rested first");
        if (now.inside(), now.oldest_inside()) != (inside.len(), oldest) {
            let found = (now.inside(), now.oldest_inside());
            return Err(Broken::because(format_args!("step {i}, {op:?}: {inside:?} wait inside, it says {found:?}")));
        }
        if !now.waiting().map(MId::index).eq(lists.waiting.keys().copied()) {
            return Err(Broken::because(format_args!("step {i}, {op:?}: {:?} wait", lists.waiting)));
        }
        let open = |m: usize| usize::from(lists.waiting.contains_key(&m));
        if let Some(m) = (0..MS).find(|&m| waits[m] != tickets[m] + open(m)) {
            let (waits, tickets) = (waits[m], tickets[m]);
            return Err(Broken::because(format_args!("step {i}: M{m} waited {waits} times, for {tickets} tickets")));
        }
    }
    Ok(seen)
}

mod a_ticket_is_asked_for_once_a_wait {
    use super::*;

    #[test]
    fn by_any_ms() {
        let seen = check(CASES, vec(op(), 0..150), |ops| as_lists_would(Bindings::new(MS), &ops));
        seen.must_have(&[
            "a wake had come first",
            "a second wake came first",
            "a wake came too late",
            "it was readied before it rested",
            "a later M rested first",
        ]);
    }

    /// Right, but for one function.
    struct Variant {
        right: Bindings,
        wait: fn(&mut Bindings, MId, Wake) -> bool,
        rest: fn(&mut Bindings, MId) -> bool,
        ready: fn(&mut Bindings, MId, Woken) -> bool,
        forget: fn(&mut Bindings, MId),
    }

    impl Waits for Variant {
        fn wait(&mut self, m: MId, wake: Wake) -> bool {
            (self.wait)(&mut self.right, m, wake)
        }
        fn rest(&mut self, m: MId) -> bool {
            (self.rest)(&mut self.right, m)
        }
        fn ready(&mut self, m: MId, why: Woken) -> bool {
            (self.ready)(&mut self.right, m, why)
        }
        fn forget(&mut self, m: MId) {
            (self.forget)(&mut self.right, m);
        }
        fn bindings(&self) -> &Bindings {
            &self.right
        }
    }

    fn right() -> Variant {
        let right = Bindings::new(MS);
        let (wait, rest) = (Bindings::wait, Bindings::rest);
        Variant { right, wait, rest, ready: Bindings::ready, forget: Bindings::forget }
    }

    fn is_refuted(variant: impl Fn() -> Variant, steps: usize) {
        let (ops, _) = refute(CASES, vec(op(), 0..150), |ops| as_lists_would(variant(), ops));
        assert!(ops.len() <= steps, "{} operations, and {steps} are enough: {ops:?}", ops.len());
    }

    #[test]
    fn not_by_a_variant_that_forgets_a_wake_that_comes_first() {
        let ready: fn(&mut Bindings, MId, Woken) -> bool =
            |b, m, why| b.waiting().any(|waiting| waiting == m) && b.ready(m, why);
        is_refuted(|| Variant { ready, ..right() }, 2);
    }

    #[test]
    fn not_by_a_variant_that_remembers_it_for_two_waits() {
        let wait: fn(&mut Bindings, MId, Wake) -> bool = |b, m, wake| {
            b.wait(m, wake) || {
                assert!(!b.ready(m, Woken::Ready));
                false
            }
        };
        is_refuted(|| Variant { wait, ..right() }, 3);
    }

    #[test]
    fn not_by_a_variant_that_rests_though_it_was_readied() {
        let rest: fn(&mut Bindings, MId) -> bool = |b, m| b.rest(m) || b.wait(m, Wake::Outside) && b.rest(m);
        is_refuted(|| Variant { rest, ..right() }, 1);
    }

    #[test]
    fn not_by_a_variant_whose_late_wake_outlives_its_m() {
        is_refuted(|| Variant { forget: |_, _| (), ..right() }, 3);
    }

    /// The reason is a variant's too.
    #[test]
    fn not_by_a_variant_that_says_another_reason() {
        let ready: fn(&mut Bindings, MId, Woken) -> bool = |b, m, _| b.ready(m, Woken::Ready);
        is_refuted(|| Variant { ready, ..right() }, 2);
    }
}

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

/// A G that is bound to its M, and waits, on a scheduler whose other Ms the test plays.
mod why_a_wait_ends {
    use super::*;
    use spinpark_kernel::protocol::find::Worker;
    use spinpark_kernel::sched::Sched;
    use spinpark_kernel::sched::config::Config;
    use spinpark_proptests::oracle::g;
    use spinpark_proptests::stepped::{self, Stepped, close, for_ever, until_woken};
    use std::sync::Arc;

    type S = Arc<Sched<Stepped>>;

    /// With one P. M0 runs G1, which is bound to it.
    fn with_ms(max_ms: usize) -> (S, Worker) {
        let config = Config { max_ms, ..Config::default() };
        let sched: S = Sched::new(config, (), stepped::enter).expect("these numbers are allowed");
        sched.submit(g(1)).expect("it is open");
        let (m0, _) = sched.next(Stepped::begin().expect("a thread was asked for")).expect("it is open");
        (sched, m0)
    }

    /// An M that has looked everywhere sleeps, and never wakes up in this test.
    fn somebody_looks(sched: &S) {
        let looks = Stepped::begin().expect("an M searches");
        for_ever(|| sched.next(looks));
    }

    #[test]
    fn another_g_has_readied_it() {
        let (sched, m0) = with_ms(2);
        sched.submit(g(2)).expect("it is open");
        let (id, later) = (m0.m(), Arc::clone(&sched));
        let ((m0, woken), m1) = until_woken(
            || sched.park_bound(m0, Wake::Inside),
            move || {
                let (m1, g2) = later.next(Stepped::begin().expect("G2 waits")).expect("it is open");
                assert_eq!((g2, later.snapshot().waiting), (g(2), 1));
                later.ready_bound(id);
                assert_eq!(later.snapshot().global, 1, "the ticket");
                // G2 is over; M1 finds the ticket, gives M0 its P, and sleeps.
                for_ever(|| later.next(m1));
            },
        );
        assert_eq!((m0.m(), woken, m1), (id, Woken::Ready, ()));
        assert_eq!((sched.snapshot().waiting, sched.snapshot().global), (0, 0));
        sched.end(m0);
    }

    #[test]
    fn it_was_readied_before() {
        let (sched, m0) = with_ms(2);
        sched.ready_bound(m0.m());
        sched.ready_bound(m0.m());
        let (m0, woken) = sched.park_bound(m0, Wake::Inside);
        assert_eq!((woken, Stepped::suspended()), (Woken::Ready, 0), "it did not let go of its P");
        close(&sched, vec![m0]);
    }

    #[test]
    fn nobody_is_left_to_ready_it() {
        let (sched, m0) = with_ms(2);
        let later = Arc::clone(&sched);
        let ((m0, woken), ()) = until_woken(|| sched.park_bound(m0, Wake::Inside), move || somebody_looks(&later));
        assert_eq!((woken, sched.snapshot().waiting), (Woken::Deadlock, 0));
        sched.end(m0);
    }

    #[test]
    fn those_who_could_ready_it_get_no_thread() {
        let (sched, m0) = with_ms(1);
        sched.submit(g(2)).expect("it is open");
        let (m0, woken) = sched.park_bound(m0, Wake::Inside);
        assert_eq!((woken, sched.snapshot().global), (Woken::NoThread, 1));
        assert_eq!(close(&sched, vec![m0]), [2]);
    }

    #[test]
    fn the_scheduler_is_closed() {
        let (sched, m0) = with_ms(2);
        let later = Arc::clone(&sched);
        let ((m0, woken), ()) = until_woken(
            || sched.park_bound(m0, Wake::Outside),
            move || {
                somebody_looks(&later);
                // It waits for M0 to end, for longer than this test.
                for_ever(|| later.close());
            },
        );
        assert_eq!(woken, Woken::Closed);
        let (m0, woken) = sched.park_bound(m0, Wake::Inside);
        assert_eq!(woken, Woken::Closed, "and it waits no more");
        assert!(sched.next(m0).is_none());
    }

    /// A thread outside may ready it: no deadlock is reported, though every M sleeps or waits. (The first of all reasons then.)
    #[test]
    fn somebody_outside_has_readied_it_and_until_then_it_waits() {
        let (sched, m0) = with_ms(2);
        let (id, later) = (m0.m(), Arc::clone(&sched));
        let ((m0, woken), ()) = until_woken(
            || sched.park_bound(m0, Wake::Outside),
            move || {
                somebody_looks(&later);
                let now = later.snapshot();
                assert_eq!((now.alive, now.sleeping, now.waiting, now.idle_ps), (2, 1, 0, 1));
                later.ready_bound(id);
            },
        );
        assert_eq!((m0.m(), woken), (id, Woken::Ready));
        sched.end(m0);
    }
}
