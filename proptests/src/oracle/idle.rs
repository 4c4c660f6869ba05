//! The idle Ps with their bits and their count, and the sleeping Ms. What comes out is a number of a P or of an M.

use super::Subject;
use crate::check::Tally;
use proptest::prelude::*;
use spinpark_kernel::host::{Host, Nanos};
use spinpark_kernel::queues::idle::{IdleMask, IdlePs, SleepingMs};
use spinpark_kernel::types::m::MId;
use spinpark_kernel::types::p::{OwnedP, PId};
use std::ops::Range;

/// What can be done under the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Lists one of the Ps in use: the one with this number, modulo how many there are.
    PutP(usize),
    /// Takes the P listed last. Comes out: its number.
    GetP,
    /// Lists one of the Ms awake: the one with this number, modulo how many there are.
    PutM(usize),
    /// Takes the M that fell asleep last. Comes out: its number.
    GetM,
    /// So much time passes.
    Pass(Nanos),
    /// Takes an M that has slept for so long, or longer. Comes out: its number.
    GetOlder(Nanos),
}

impl super::Op for Op {
    fn fresh(self) -> usize {
        0
    }
}

/// Any operation.
pub fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => any::<usize>().prop_map(Op::PutP),
        2 => Just(Op::GetP),
        3 => any::<usize>().prop_map(Op::PutM),
        2 => Just(Op::GetM),
        2 => (0..3u64).prop_map(Op::Pass),
        1 => (0..6u64).prop_map(Op::GetOlder),
    ]
}

/// What can be seen of both lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Each P's bit.
    pub bits: Vec<bool>,
    /// How many bits there should be, three times: the mask's count, the list's `len`, and whether that is 0.
    pub idle: (usize, usize, bool),
    /// Do list, bits and count agree?
    pub agree: bool,
    /// How many Ms sleep, and whether none does.
    pub sleeping: (usize, bool),
    /// Since when the M sleeps that would be ended next.
    pub next_to_end: Option<Nanos>,
}

/// The kernel's lists.
pub struct Kernel<H: Host> {
    idle: IdlePs,
    mask: IdleMask<H>,
    sleeping: SleepingMs,
    in_use: Vec<OwnedP>,
    awake: Vec<MId>,
    now: Nanos,
    procs: usize,
}

impl<H: Host> Kernel<H> {
    /// For `procs` Ps, all in use, and as many Ms, all awake.
    pub fn new(procs: usize) -> Self {
        Kernel {
            idle: IdlePs::default(),
            mask: IdleMask::new(procs),
            sleeping: SleepingMs::default(),
            in_use: (0..procs).map(|p| OwnedP::forge(PId(p as u32))).collect(),
            awake: (0..procs).map(|m| MId(m as u32)).collect(),
            now: 0,
            procs,
        }
    }
}

impl<H: Host> Subject for Kernel<H> {
    type Op = Op;
    type State = State;

    fn apply(&mut self, op: Op, _: Range<u64>) -> Vec<u64> {
        match op {
            Op::PutP(i) if !self.in_use.is_empty() => {
                self.idle.put(self.in_use.remove(i % self.in_use.len()), &self.mask);
            }
            Op::PutM(i) if !self.awake.is_empty() => {
                self.sleeping.put(self.awake.remove(i % self.awake.len()), self.now);
            }
            Op::PutP(_) | Op::PutM(_) => {}
            Op::Pass(nanos) => self.now += nanos,
            Op::GetP => {
                let Some(p) = self.idle.get(&self.mask) else { return Vec::new() };
                let id = p.id();
                self.in_use.push(p);
                return vec![u64::from(id.0)];
            }
            Op::GetM | Op::GetOlder(_) => {
                let got = match op {
                    Op::GetOlder(slept) => self.now.checked_sub(slept).and_then(|since| self.sleeping.get_older(since)),
                    _ => self.sleeping.get(),
                };
                self.awake.extend(got);
                return got.into_iter().map(|m| u64::from(m.0)).collect();
            }
        }
        Vec::new()
    }

    fn state(&self) -> State {
        State {
            bits: (0..self.procs).map(|p| self.mask.is_idle(PId(p as u32))).collect(),
            idle: (self.mask.npidle(), self.idle.len(), self.idle.is_empty()),
            agree: self.idle.agrees_with(&self.mask),
            sleeping: (self.sleeping.len(), self.sleeping.is_empty()),
            next_to_end: self.sleeping.next_to_end(),
        }
    }

    fn drain(&mut self) -> Vec<u64> {
        let ps = std::iter::from_fn(|| Some(u64::from(self.idle.get(&self.mask)?.discard().0)));
        ps.chain(std::iter::from_fn(|| Some(u64::from(self.sleeping.get()?.0)))).collect()
    }
}

impl<H: Host> Drop for Kernel<H> {
    /// A P must not be dropped; its world ends here.
    fn drop(&mut self) {
        for p in self.in_use.drain(..) {
            p.discard();
        }
    }
}

/// Two stacks that know the answer.
#[derive(Debug, Clone)]
pub struct Oracle {
    idle: Vec<usize>,
    in_use: Vec<usize>,
    /// And since when.
    sleeping: Vec<(usize, Nanos)>,
    awake: Vec<usize>,
    now: Nanos,
    procs: usize,
    /// What was reached.
    pub seen: Tally,
}

impl Oracle {
    /// For `procs` Ps, all in use, and as many Ms, all awake.
    pub fn new(procs: usize) -> Self {
        let all = Vec::from_iter(0..procs);
        let (in_use, awake, idle, sleeping) = (all.clone(), all, Vec::new(), Vec::new());
        Oracle { idle, in_use, sleeping, awake, now: 0, procs, seen: Tally::default() }
    }

    fn put<T>(&mut self, i: usize, from: fn(&mut Self) -> &mut Vec<T>) -> Option<T> {
        let from = from(self);
        let put = if from.is_empty() { None } else { Some(from.remove(i % from.len())) };
        self.seen.note_if(put.is_none(), "there was nothing left to put");
        put
    }

    /// Does the one at the bottom sleep for so long, and is it not the only one?
    fn may_end(&mut self, slept: Nanos) -> bool {
        let is_old = self.sleeping.first().is_some_and(|(_, since)| self.now >= since + slept);
        self.seen.note_if(is_old && self.sleeping.len() == 1, "the last one was left to sleep");
        self.seen.note_if(is_old && self.sleeping.len() > 1, "an old one was taken, not the last");
        self.seen.note_if(!is_old && self.sleeping.len() > 1, "none had slept for so long");
        is_old && self.sleeping.len() > 1
    }
}

impl Subject for Oracle {
    type Op = Op;
    type State = State;

    fn apply(&mut self, op: Op, _: Range<u64>) -> Vec<u64> {
        let now = self.now;
        let got = match op {
            Op::PutP(i) => {
                let p = self.put(i, |o| &mut o.in_use);
                self.idle.extend(p);
                None
            }
            Op::PutM(i) => {
                let m = self.put(i, |o| &mut o.awake);
                self.sleeping.extend(m.map(|m| (m, now)));
                None
            }
            Op::Pass(nanos) => {
                self.now += nanos;
                None
            }
            Op::GetP => {
                self.seen.note_if(self.idle.is_empty(), "a get found nothing");
                self.in_use.extend(self.idle.last());
                self.idle.pop()
            }
            Op::GetM | Op::GetOlder(_) => {
                let got = match op {
                    Op::GetOlder(slept) => self.may_end(slept).then(|| self.sleeping.remove(0)),
                    _ => self.sleeping.pop(),
                };
                self.seen.note_if(self.sleeping.is_empty() && got.is_none(), "a get found nothing");
                self.awake.extend(got.map(|(m, _)| m));
                got.map(|(m, _)| m)
            }
        };
        self.seen.note_if(self.idle.len() == self.procs, "all Ps were idle");
        self.seen.note_if(self.sleeping.len() == self.procs, "all Ms slept");
        self.seen.note_if(self.idle.iter().any(|&p| p >= 64), "a bit beyond the first word was set");
        got.into_iter().map(|n| n as u64).collect()
    }

    fn state(&self) -> State {
        let n = self.idle.len();
        State {
            bits: (0..self.procs).map(|p| self.idle.contains(&p)).collect(),
            idle: (n, n, n == 0),
            agree: true,
            sleeping: (self.sleeping.len(), self.sleeping.is_empty()),
            next_to_end: self.sleeping.first().filter(|_| self.sleeping.len() > 1).map(|(_, since)| *since),
        }
    }

    fn drain(&mut self) -> Vec<u64> {
        self.idle.drain(..).rev().chain(self.sleeping.drain(..).map(|(m, _)| m).rev()).map(|n| n as u64).collect()
    }
}
