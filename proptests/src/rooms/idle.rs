//! Idle Ps and sleeping Ms: what is done under the lock must be linearizable; and a bit or a count that was read without
//! it must have been right at some moment of the reading.

use crate::linear::{History, Spec, each_was_true_once};
use crate::room::{Program, Room, reached_if};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_kernel::host::Lock;
use spinpark_kernel::queues::idle::{IdleMask, IdlePs, SleepingMs};
use spinpark_kernel::types::m::MId;
use spinpark_kernel::types::p::{OwnedP, PId};
use spinpark_verification::engines::Engine;
use spinpark_verification::hosts::model_host::ModelHost;
use std::sync::Arc;

/// So many threads, each of them an M, and as many Ps.
const MS: usize = 3;

/// How it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// The number of the first P: the last ones may have their bits in another word.
    pub first: u32,
}

/// What an M does. At first each has a P.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Lists one of its Ps as idle, if it has any.
    Pidleput,
    /// Takes the P listed last.
    Pidleget,
    /// Lists itself as sleeping, if it is not listed.
    Mput,
    /// Takes the M listed last.
    Mget,
    /// Takes an M to be ended, of those listed so early.
    MgetOlder(u64),
    /// Reads how many Ps are idle.
    Npidle,
    /// Reads whether the P of this number is idle.
    IsIdle(u32),
}

/// What was called, and what was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// This P was listed.
    PutP(u32),
    /// This one was taken.
    GetP(Option<u32>),
    /// This M was listed, at this time.
    PutM(u32, u64),
    /// This one was taken.
    GetM(Option<u32>),
    /// This one was taken, of those listed until then.
    GetOlder(u64, Option<u32>),
    /// So many Ps were idle.
    Npidle(usize),
    /// Was this one?
    IsIdle(u32, bool),
}

/// Two stacks, and what they may answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Lists {
    ps: Vec<u32>,
    ms: Vec<(u32, u64)>,
}

impl Spec for Lists {
    type Call = Call;

    fn after(&self, call: &Call) -> Option<Self> {
        let mut after = self.clone();
        let is_right = match *call {
            Call::PutP(p) => {
                after.ps.push(p);
                true
            }
            Call::GetP(p) => after.ps.pop() == p,
            Call::PutM(m, now) => {
                after.ms.push((m, now));
                true
            }
            Call::GetM(m) => after.ms.pop().map(|(m, _)| m) == m,
            Call::GetOlder(until, m) => {
                let may_end = after.ms.len() > 1 && after.ms[0].1 <= until;
                may_end.then(|| after.ms.remove(0).0) == m
            }
            Call::Npidle(n) => self.ps.len() == n,
            Call::IsIdle(p, is_idle) => self.ps.contains(&p) == is_idle,
        };
        is_right.then_some(after)
    }
}

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct Idle;

impl Room for Idle {
    const NAME: &'static str = "idle";
    const CLAIM: &'static str =
        "both lists are linearizable, and bits and count, read without the lock, were true once";
    const THREADS: usize = MS;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] = &[];
    const PATHS: &'static [&'static str] = &[
        "there was no idle P",
        "a P seemed idle, and none was to be had",
        "none seemed idle, and one was to be had",
        "all Ps were idle",
        "an M was taken to be ended",
    ];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        prop_oneof![Just(0u32), Just(62)].prop_map(|first| Setup { first }).boxed()
    }
    fn op(_: usize) -> BoxedStrategy<Op> {
        prop_oneof![
            5 => Just(Op::Pidleput),
            4 => Just(Op::Pidleget),
            2 => Just(Op::Mput),
            1 => Just(Op::Mget),
            1 => (0..4u64).prop_map(Op::MgetOlder),
            2 => Just(Op::Npidle),
            3 => (0..MS as u32).prop_map(Op::IsIdle),
        ]
        .boxed()
    }
    fn simpler(setup: &Setup) -> Vec<Setup> {
        if setup.first == 0 { Vec::new() } else { vec![Setup { first: 0 }] }
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        let first = program.setup.first;
        let shared = Arc::new(Shared::<H> {
            central: H::Lock::new(Central::default()),
            mask: IdleMask::new(first as usize + MS),
            first,
            history: History::default(),
        });
        let plays = |me: usize| {
            let shared = Arc::clone(&shared);
            let ops = program.of(me);
            move || Played { shared: &*shared, me, ps: vec![PId(first + me as u32)], is_listed: false }.plays(ops)
        };
        let others: Vec<_> = (1..program.threads()).map(|me| H::fork("other", plays(me))).collect();
        plays(0)();
        others.into_iter().for_each(|other| H::join(other));
        let Ok(shared) = Arc::try_unwrap(shared) else { panic!("all threads have ended") };
        let is_hint = |call: &Call| matches!(call, Call::Npidle(_) | Call::IsIdle(..));
        each_was_true_once(&Lists::default(), &shared.history.records(), is_hint);
        shared.central.with(|c| format!("idle={} asleep={}", c.ps.len(), c.ms.len()))
    }
}

#[derive(Default)]
struct Central {
    ps: IdlePs,
    ms: SleepingMs,
    /// How many Ms were listed so far: the time.
    now: u64,
}

struct Shared<H: ModelHost> {
    central: H::Lock<Central>,
    mask: IdleMask<H>,
    first: u32,
    history: History<H, Call>,
}

struct Played<'a, H: ModelHost> {
    shared: &'a Shared<H>,
    me: usize,
    /// Those it has; evidence is made when one is listed.
    ps: Vec<PId>,
    is_listed: bool,
}

impl<H: ModelHost> Played<'_, H> {
    fn plays(mut self, ops: Vec<Op>) {
        for op in ops {
            self.does(op);
            for &p in &self.ps {
                assert!(!self.shared.mask.is_idle(p), "P{} is in use, and its bit says idle", p.0);
            }
        }
    }

    fn does(&mut self, op: Op) {
        match op {
            Op::Pidleput => self.ps.pop().into_iter().for_each(|p| self.puts(p)),
            Op::Pidleget => self.gets(),
            Op::Mput if !self.is_listed => self.lists_itself(),
            Op::Mput => (),
            Op::Mget => self.under_lock(|c| {
                let m = c.ms.get().map(|m| m.0);
                ((), Call::GetM(m))
            }),
            Op::MgetOlder(until) => self.under_lock(|c| {
                let m = c.ms.get_older(until).map(|m| m.0);
                reached_if(m.is_some(), "an M was taken to be ended");
                ((), Call::GetOlder(until, m))
            }),
            Op::Npidle => drop(self.npidle()),
            Op::IsIdle(p) => {
                let p = self.shared.first + p;
                self.shared.history.call(self.me, || ((), Call::IsIdle(p, self.shared.mask.is_idle(PId(p)))));
            }
        }
    }

    /// Does `act` under the lock, where list, bits and count agree before and after.
    fn under_lock<R>(&self, act: impl FnOnce(&mut Central) -> (R, Call)) -> R {
        let Shared { central, mask, history, .. } = self.shared;
        history.call(self.me, || {
            central.with(|c| {
                let result = act(c);
                assert!(c.ps.agrees_with(mask), "list, bits and count differ");
                result
            })
        })
    }

    fn puts(&self, p: PId) {
        self.under_lock(|c| {
            c.ps.put(OwnedP::forge(p), &self.shared.mask);
            reached_if(c.ps.len() == MS, "all Ps were idle");
            ((), Call::PutP(p.0))
        });
    }

    fn gets(&mut self) {
        let seemed = self.npidle();
        let p = self.under_lock(|c| {
            let p = c.ps.get(&self.shared.mask).map(OwnedP::discard);
            (p, Call::GetP(p.map(|p| p.0)))
        });
        reached_if(p.is_none(), "there was no idle P");
        reached_if(p.is_none() && seemed > 0, "a P seemed idle, and none was to be had");
        reached_if(p.is_some() && seemed == 0, "none seemed idle, and one was to be had");
        self.ps.extend(p);
    }

    /// It does not sleep; the M that takes it off the list does nothing with it. It may be listed once.
    fn lists_itself(&mut self) {
        self.is_listed = true;
        self.under_lock(|c| {
            c.now += 1;
            c.ms.put(MId(self.me as u32), c.now);
            ((), Call::PutM(self.me as u32, c.now))
        });
    }

    fn npidle(&self) -> usize {
        self.shared.history.call(self.me, || {
            let n = self.shared.mask.npidle();
            (n, Call::Npidle(n))
        })
    }
}
