//! Is a trace of the kernel an execution of a system? The set of states in which the system may be is carried along; a step of the
//! trace keeps those in which it is possible. If none is left, the trace is refused.

use crate::finite::{Env, Finite, State};
use crate::system::System;
use std::collections::HashMap;

/// A transition, with those of its parameters that are known.
#[derive(Debug, Clone)]
pub struct Move {
    /// Its name.
    pub name: &'static str,
    /// Parameters, by name; and a set, by its relation's.
    pub args: Vec<(&'static str, u8)>,
}

impl Move {
    /// This transition with these parameters.
    pub fn new(name: &'static str, args: &[(&'static str, u8)]) -> Move {
        Move { name, args: args.to_vec() }
    }
}

/// A trace that is being played.
pub struct Replay<'a> {
    /// The system, in a universe that is large enough.
    pub finite: &'a Finite<'a>,
    /// Where it may be.
    pub states: Vec<State>,
    /// Did the last step take a transition that is not silent?
    pub moved: bool,
    /// How often each transition was taken, in some execution that is still possible or was.
    pub taken: Vec<usize>,
    names: HashMap<&'static str, usize>,
}

/// So many states at the most. More are a mapping that says too little.
const MOST: usize = 4096;

impl<'a> Replay<'a> {
    /// From these states.
    pub fn new(finite: &'a Finite<'a>, begins: Vec<State>) -> Replay<'a> {
        let system: &System = finite.system;
        let names = system.transitions.iter().enumerate().map(|(index, t)| (t.name, index)).collect();
        Replay { finite, states: begins, moved: false, taken: vec![0; system.transitions.len()], names }
    }

    /// All states after one of these moves from `state`.
    fn after(&mut self, state: &State, moves: &[Move], out: &mut Vec<State>) {
        for step in moves {
            let index = *self.names.get(step.name).unwrap_or_else(|| panic!("no transition {}", step.name));
            let transition = &self.finite.system.transitions[index];
            let fixed: Vec<Option<u8>> = transition
                .params
                .iter()
                .map(|param| param.name)
                .chain(transition.set.map(|rel| rel.name))
                .map(|known| step.args.iter().find(|(name, _)| *name == known).map(|(_, value)| *value))
                .collect();
            let mut count = 0;
            self.finite.after(index, state, &fixed, |after| {
                count += 1;
                if !out.contains(&after) {
                    out.push(after);
                }
            });
            self.taken[index] += count;
        }
    }

    /// In each state what `choose` says: `None` stays; else one of these sequences of moves, which must change it. Is any state
    /// left?
    pub fn step(&mut self, choose: impl Fn(&Finite<'_>, &State) -> Option<Vec<Vec<Move>>>) -> bool {
        let mut next = Vec::new();
        for state in std::mem::take(&mut self.states) {
            let Some(sequences) = choose(self.finite, &state) else {
                if !next.contains(&state) {
                    next.push(state);
                }
                continue;
            };
            for sequence in sequences {
                self.moved = true;
                let mut now = vec![state];
                for step in sequence {
                    let mut after = Vec::new();
                    for state in now {
                        self.after(&state, std::slice::from_ref(&step), &mut after);
                    }
                    now = after;
                }
                // A step that changes nothing is none.
                now.retain(|after| *after != state);
                now.into_iter().for_each(|state| {
                    if !next.contains(&state) {
                        next.push(state)
                    }
                });
            }
        }
        assert!(next.len() <= MOST, "{} states: the mapping says too little", next.len());
        self.states = next;
        !self.states.is_empty()
    }

    /// Any of these moves may have been made before, any number of times.
    pub fn silently(&mut self, moves: &[Move]) {
        let mut next = 0;
        while next < self.states.len() {
            let state = self.states[next];
            let mut after = Vec::new();
            self.after(&state, moves, &mut after);
            after.into_iter().for_each(|state| {
                if !self.states.contains(&state) {
                    self.states.push(state)
                }
            });
            assert!(self.states.len() <= MOST, "{} states: the mapping says too little", self.states.len());
            next += 1;
        }
    }

    /// Only those states in which this is so. Is any left?
    pub fn only(&mut self, test: impl Fn(&Finite<'_>, &State) -> bool) -> bool {
        let finite = self.finite;
        self.states.retain(|state| test(finite, state));
        !self.states.is_empty()
    }

    /// Does every state that is left satisfy the invariant? The first conjunct that one does not.
    pub fn invariant(&self) -> Option<&'static str> {
        let broken = |state: &State| {
            self.finite
                .system
                .invariant
                .iter()
                .find(|c| !self.finite.is_true(&c.says, state, &mut Env::new()))
                .map(|c| c.name)
        };
        self.states.iter().find_map(broken)
    }
}
