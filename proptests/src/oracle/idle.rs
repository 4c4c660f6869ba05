//! The idle Ps with their bits and their count, and the sleeping Ms. What comes out is a number of a P or of an M.

use super::Subject;
use crate::check::Tally;
use proptest::prelude::*;
use spinpark::host::Host;
use spinpark::kernel::idle::{IdleMask, IdlePs, SleepingMs};
use spinpark::kernel::m::MId;
use spinpark::kernel::p::{OwnedP, PId};
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
}

/// The kernel's lists.
pub struct Kernel<H: Host> {
    idle: IdlePs,
    mask: IdleMask<H>,
    sleeping: SleepingMs,
    in_use: Vec<OwnedP>,
    awake: Vec<MId>,
    procs: usize,
}

impl<H: Host> Kernel<H> {
    /// For `procs` Ps, all in use, and as many Ms, all awake.
    pub fn new(procs: usize) -> Self {
        Kernel {
            idle: IdlePs::new(),
            mask: IdleMask::new(procs),
            sleeping: SleepingMs::new(),
            in_use: (0..procs).map(|p| OwnedP::assume(PId(p as u32))).collect(),
            awake: (0..procs).map(|m| MId(m as u32)).collect(),
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
            Op::PutM(i) if !self.awake.is_empty() => self.sleeping.put(self.awake.remove(i % self.awake.len()), 0),
            Op::PutP(_) | Op::PutM(_) => {}
            Op::GetP => {
                let Some(p) = self.idle.get(&self.mask) else { return Vec::new() };
                let id = p.id();
                self.in_use.push(p);
                return vec![u64::from(id.0)];
            }
            Op::GetM => {
                let Some(m) = self.sleeping.get() else { return Vec::new() };
                self.awake.push(m);
                return vec![u64::from(m.0)];
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
        }
    }

    fn drain(&mut self) -> Vec<u64> {
        let ps = std::iter::from_fn(|| Some(u64::from(self.idle.get(&self.mask)?.relinquish().0)));
        ps.chain(std::iter::from_fn(|| Some(u64::from(self.sleeping.get()?.0)))).collect()
    }
}

impl<H: Host> Drop for Kernel<H> {
    /// A P must not be dropped; its world ends here.
    fn drop(&mut self) {
        for p in self.in_use.drain(..) {
            p.relinquish();
        }
    }
}

/// Two stacks that know the answer.
#[derive(Debug, Clone)]
pub struct Oracle {
    idle: Vec<usize>,
    in_use: Vec<usize>,
    sleeping: Vec<usize>,
    awake: Vec<usize>,
    procs: usize,
    /// What was reached.
    pub seen: Tally,
}

impl Oracle {
    /// For `procs` Ps, all in use, and as many Ms, all awake.
    pub fn new(procs: usize) -> Self {
        let (all, none) = (Vec::from_iter(0..procs), Vec::new());
        let (in_use, awake, idle, sleeping) = (all.clone(), all, none.clone(), none);
        Oracle { idle, in_use, sleeping, awake, procs, seen: Tally::default() }
    }
}

impl Subject for Oracle {
    type Op = Op;
    type State = State;

    fn apply(&mut self, op: Op, _: Range<u64>) -> Vec<u64> {
        let (from, to, which) = match op {
            Op::PutP(i) => (&mut self.in_use, &mut self.idle, Some(i)),
            Op::PutM(i) => (&mut self.awake, &mut self.sleeping, Some(i)),
            Op::GetP => (&mut self.idle, &mut self.in_use, None),
            Op::GetM => (&mut self.sleeping, &mut self.awake, None),
        };
        if from.is_empty() {
            self.seen.note(if which.is_none() { "a get found nothing" } else { "there was nothing left to put" });
            return Vec::new();
        }
        let moved = from.remove(which.map_or(from.len() - 1, |i| i % from.len()));
        to.push(moved);
        self.seen.note_if(self.idle.len() == self.procs, "all Ps were idle");
        self.seen.note_if(self.sleeping.len() == self.procs, "all Ms slept");
        self.seen.note_if(self.idle.iter().any(|&p| p >= 64), "a bit beyond the first word was set");
        if which.is_none() { vec![moved as u64] } else { Vec::new() }
    }

    fn state(&self) -> State {
        let n = self.idle.len();
        State {
            bits: (0..self.procs).map(|p| self.idle.contains(&p)).collect(),
            idle: (n, n, n == 0),
            agree: true,
            sleeping: (self.sleeping.len(), self.sleeping.is_empty()),
        }
    }

    fn drain(&mut self) -> Vec<u64> {
        self.idle.drain(..).rev().chain(self.sleeping.drain(..).rev()).map(|n| n as u64).collect()
    }
}
