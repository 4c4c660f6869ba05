//! Models of `idle`: the lists under the lock, the mask that is read without it.

use crate::harness::common::party;
use crate::hosts::model_host::{Cell, ModelHost};
use crate::model::{Model, loom, loom_apart, loom_bounded, rc11, sc};
use crate::mutation::mutant::Mutant;
use spinpark_kernel::host::{Lock, Nanos};
use spinpark_kernel::queues::idle::{IdleMask, IdlePs, SleepingMs};
use spinpark_kernel::types::m::MId;
use spinpark_kernel::types::p::{OwnedP, PId};
use std::collections::BTreeSet;
use std::sync::Arc;

struct Idle<H: ModelHost> {
    list: H::Lock<IdlePs>,
    mask: IdleMask<H>,
    /// One cell a P: its owner writes it, so two owners would race.
    used: [H::Cell<u64>; 2],
}

impl<H: ModelHost> Idle<H> {
    fn with_two() -> Arc<Self> {
        let mask = IdleMask::new(2);
        let mut list = IdlePs::default();
        list.put(OwnedP::forge(PId(0)), &mask);
        list.put(OwnedP::forge(PId(1)), &mask);
        Arc::new(Idle { list: H::Lock::new(list), mask, used: [Cell::new(0), Cell::new(0)] })
    }

    /// Takes a P, uses it, and puts it back.
    fn use_one(&self) -> Option<u32> {
        let p = self.list.with(|list| {
            let p = list.get(&self.mask);
            assert!(list.agrees_with(&self.mask), "list and mask differ after a get");
            p
        })?;
        let index = p.id().index();
        assert!(!self.mask_of_own(index), "P{index} is in use, and its bit says idle");
        self.used[index].set(self.used[index].get() + 1);
        self.list.with(|list| {
            list.put(p, &self.mask);
            assert!(list.agrees_with(&self.mask), "list and mask differ after a put");
        });
        Some(index as u32)
    }

    fn mask_of_own(&self, index: usize) -> bool {
        self.mask.is_idle(PId(index as u32))
    }
}

fn two_ms_use_two_ps<H: ModelHost>() -> String {
    let idle = Idle::<H>::with_two();
    let other = party::<H, _, _>("other M", &idle, |idle| idle.use_one());
    let mine = idle.use_one();
    let theirs = H::join(other);
    let listed = idle.list.with(|list| list.len());
    assert!(listed == 2 && idle.mask.npidle() == 2, "{listed} listed, {} counted, of 2", idle.mask.npidle());
    format!("used {mine:?} {theirs:?}")
}

fn three_ms_want_two_ps<H: ModelHost>() -> String {
    let idle = Idle::<H>::with_two();
    let take = |idle: &Idle<H>| idle.list.with(|list| list.get(&idle.mask)).map(|p| p.discard().0);
    let (one, two) = (party::<H, _, _>("M1", &idle, take), party::<H, _, _>("M2", &idle, take));
    let mut taken = vec![take(&idle), H::join(one), H::join(two)];
    let who_got_none = taken.iter().position(Option::is_none);
    taken.sort();
    assert!(taken == [None, Some(0), Some(1)], "of P0 and P1 were taken {taken:?}");
    assert!(idle.mask.npidle() == 0, "none is idle, {} counted", idle.mask.npidle());
    format!("none for {who_got_none:?}")
}

/// Of 65 Ps: some of the first word of the mask, and the one of the second.
const SOME: [u32; 4] = [0, 1, 63, 64];

/// A list, and the numbers on it.
#[derive(Default)]
struct Listed {
    list: IdlePs,
    told: Vec<u32>,
}

impl Listed {
    fn is_right<H: ModelHost>(&self, mask: &IdleMask<H>, bits: &BTreeSet<u32>, count: usize) {
        let Listed { list, told } = self;
        assert!(list.len() == told.len() && list.is_empty() == told.is_empty(), "{} listed, of {told:?}", list.len());
        let agrees = bits.len() == told.len() && told.iter().all(|p| bits.contains(p)) && count == told.len();
        let found = list.agrees_with(mask);
        assert!(found == agrees, "list {told:?}, bits {bits:?}, count {count}: do they agree? {found}");
    }
}

/// Two lists that write one mask, which is forbidden: so that it can be seen when a list and the mask differ.
fn four_operations_on_ps<H: ModelHost>() -> String {
    let mask = IdleMask::<H>::new(65);
    let mut lists = [Listed::default(), Listed::default()];
    let (mut bits, mut count, mut differed) = (BTreeSet::new(), 0, false);
    for step in 0..=4 {
        for p in SOME {
            assert!(mask.is_idle(PId(p)) == bits.contains(&p), "is P{p} idle? The bits should be {bits:?}");
        }
        assert!(mask.npidle() == count, "{} counted, not {count}", mask.npidle());
        lists.iter().for_each(|list| list.is_right(&mask, &bits, count));
        differed |= count != bits.len();
        let both = [&lists[0].told[..], &lists[1].told].concat();
        let free: Vec<u32> = SOME.into_iter().filter(|p| !both.contains(p)).collect();
        if step == 4 {
            break;
        }
        let Listed { list, told } = &mut lists[H::choose(2)];
        match free.get(H::choose(free.len() + 1)) {
            Some(&p) => {
                list.put(OwnedP::forge(PId(p)), &mask);
                told.push(p);
                bits.insert(p);
                count = told.len();
            }
            None => {
                let (taken, last) = (list.get(&mask).map(OwnedP::discard), told.pop());
                assert!(taken == last.map(PId), "taken {taken:?}, listed last was {last:?}");
                if let Some(p) = last {
                    bits.remove(&p);
                    count = told.len();
                }
            }
        }
    }
    format!("{} idle{}", bits.len(), if differed { ", differed" } else { "" })
}

/// A list of sleeping Ms, beside a plain one: which sleep, and since when.
fn five_operations_on_ms<H: ModelHost>() -> String {
    let (mut list, mut told) = (SleepingMs::default(), Vec::<(u32, Nanos)>::new());
    let mut ended = 0;
    for now in 1..=5 {
        let older: Vec<Nanos> = (0..now).collect();
        match H::choose(2 + older.len()) {
            0 => {
                list.put(MId(now as u32), now);
                told.push((now as u32, now));
            }
            1 => {
                let (woken, last) = (list.get(), told.pop());
                assert!(woken == last.map(|(m, _)| MId(m)), "{woken:?} was woken, the last was {last:?}");
            }
            n => {
                let before = older[n - 2];
                let is_old = told.len() > 1 && told[0].1 <= before;
                let old = is_old.then(|| MId(told.remove(0).0));
                let found = list.get_older(before);
                assert!(
                    found == old,
                    "{found:?} was ended at {now}, not {old:?}: it slept since {before}, and is not the last"
                );
                ended += u32::from(is_old);
            }
        }
        let next = if let [first, _, ..] = told[..] { Some(first.1) } else { None };
        assert!(list.next_to_end() == next, "{:?} is the next to end, not {next:?}", list.next_to_end());
        assert!(list.len() == told.len(), "{} sleep, not {}", list.len(), told.len());
        assert!(list.is_empty() == told.is_empty(), "{} sleep: none? {}", told.len(), list.is_empty());
    }
    format!("{ended} ended, {} sleep", told.len())
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("idle::the_mask_equals_the_list::two_ms_use_two_ps", two_ms_use_two_ps,
        claim: "a P in use has one user, and its bit is clear as long as its user looks",
        size: "2 threads, 2 Ps, each taken and put back",
        invariants: [4, 33],
        must_reach: ["used Some(1) Some(0)", "used Some(0) Some(1)", "used Some(1) Some(1)"],
        runs: [rc11(), loom(), loom_apart(), sc()]),
    crate::model!("idle::a_p_is_taken_once::three_ms_want_two_ps", three_ms_want_two_ps,
        claim: "two Ps go to two of three Ms",
        size: "3 threads, 2 Ps",
        invariants: [4, 33],
        must_reach: ["none for Some(0)", "none for Some(1)", "none for Some(2)"],
        runs: [rc11(), loom_bounded(2), sc()]),
    crate::model!("idle::answers_as_a_list_would::four_operations_on_ps", four_operations_on_ps,
        claim: "last in, first out; mask and count say what was put and taken; if they and a list differ, it is told",
        size: "1 thread, 2 lists, 4 Ps of 65, every 4 operations: put or get",
        invariants: [33],
        must_reach: ["4 idle", "0 idle, differed"],
        runs: [sc()]),
    crate::model!("idle::answers_as_a_list_would::five_operations_on_ms", five_operations_on_ms,
        claim: "the M that fell asleep last is woken first, the one that slept longest is ended first, and never the \
                last",
        size: "1 thread, every 5 operations: put, get, or end those older than any moment so far",
        invariants: [34],
        must_reach: ["0 ended, 5 sleep", "2 ended, 1 sleep", "0 ended, 0 sleep"],
        runs: [sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = &[];
