//! Executions of a system in a small universe: from how it begins to where it is wrong, and which transitions are taken.

use crate::finite::{Env, Finite, State, Taken};
use crate::logic::Formula;
use crate::system::System;
use std::collections::HashMap;
use std::fmt::Write;

/// What a search found.
#[derive(Debug)]
pub struct Found {
    /// How many states it has seen.
    pub states: usize,
    /// Has it seen all there are?
    pub is_complete: bool,
    /// How often each transition was taken.
    pub taken: Vec<usize>,
    /// A state that is not as it should be: what is wrong with it, and the way to it.
    pub wrong: Option<(&'static str, Vec<Taken>, State)>,
}

/// Looks at states breadth first, at so many at the most, until one is wrong.
pub fn breadth_first(finite: &Finite<'_>, at_most: usize, wanted: &[(&'static str, &Formula)]) -> Found {
    let system = finite.system;
    let begins = (system.begins)(system, &finite.sizes);
    let mut known: HashMap<State, usize> = HashMap::new();
    let mut states: Vec<(State, usize, Option<Taken>)> = Vec::new();
    for state in begins {
        known.insert(state, states.len());
        states.push((state, usize::MAX, None));
    }
    let mut taken = vec![0; system.transitions.len()];
    let mut next = 0;
    while next < states.len() {
        let state = states[next].0;
        if let Some(name) = wrong_in(finite, &state, wanted) {
            let (way, begin) = way_to(&states, next);
            return Found { states: states.len(), is_complete: false, taken, wrong: Some((name, way, begin)) };
        }
        finite.successors(&state, |step| {
            taken[step.transition] += 1;
            let canonical = finite.canonical(&step.after);
            if states.len() < at_most && !known.contains_key(&canonical) {
                known.insert(canonical, states.len());
                states.push((step.after, next, Some(step)));
            }
        });
        next += 1;
    }
    Found { states: states.len(), is_complete: states.len() < at_most, taken, wrong: None }
}

/// Walks at random, so many steps in all, each walk so long, until a state is wrong.
pub fn at_random(
    finite: &Finite<'_>,
    steps: usize,
    length: usize,
    seed: u64,
    wanted: &[(&'static str, &Formula)],
) -> Found {
    let mut found =
        Found { states: 0, is_complete: false, taken: vec![0; finite.system.transitions.len()], wrong: None };
    walk(finite, (steps, length), seed, |begin, way| {
        let Some(step) = way.last() else { return true };
        found.taken[step.transition] += 1;
        found.states += 1;
        found.wrong = wrong_in(finite, &step.after, wanted).map(|name| (name, way.to_vec(), begin));
        found.wrong.is_none()
    });
    found
}

/// Walks at random, so many steps in all, each walk so long, as long as `goes_on` says so: asked of where a walk begins and of its way, at
/// each state. Of one, two or three steps that are drawn, in turn by walks, the one is made whose transition was taken least
/// often.
pub fn walk(
    finite: &Finite<'_>,
    (steps, length): (usize, usize),
    seed: u64,
    mut goes_on: impl FnMut(State, &[Taken]) -> bool,
) {
    let begins = (finite.system.begins)(finite.system, &finite.sizes);
    let mut random = Random(seed | 1);
    let (mut walked, mut draws) = (0, 0);
    let mut taken = vec![0_usize; finite.system.transitions.len()];
    while walked < steps {
        let begin = begins[random.below(begins.len())];
        let (mut state, mut way) = (begin, Vec::new());
        draws = draws % 3 + 1;
        if !goes_on(begin, &way) {
            return;
        }
        for _ in 0..length {
            let mut nexts = Vec::new();
            finite.enabled(&state, |transition, args, _, _| nexts.push((transition, args)));
            if nexts.is_empty() {
                break;
            }
            let drawn = (0..draws).map(|_| random.below(nexts.len()));
            let rarest = drawn.min_by_key(|at| taken[nexts[*at].0]).expect("one is drawn");
            let (transition, args) = nexts.swap_remove(rarest);
            taken[transition] += 1;
            let known: Vec<Option<u8>> = args.iter().map(|arg| Some(*arg)).collect();
            let before = state;
            finite.after(transition, &before, &known, |after| state = after);
            way.push(Taken { transition, args, after: state });
            walked += 1;
            if !goes_on(begin, &way) {
                return;
            }
        }
    }
}

fn wrong_in(finite: &Finite<'_>, state: &State, wanted: &[(&'static str, &Formula)]) -> Option<&'static str> {
    wanted.iter().find(|(_, formula)| !finite.is_true(formula, state, &mut Env::new())).map(|(name, _)| *name)
}

fn way_to(states: &[(State, usize, Option<Taken>)], mut at: usize) -> (Vec<Taken>, State) {
    let mut way = Vec::new();
    while let Some(step) = &states[at].2 {
        way.push(step.clone());
        at = states[at].1;
    }
    way.reverse();
    (way, states[at].0)
}

/// What is wanted of a system.
pub fn safety(system: &System) -> Vec<(&'static str, &Formula)> {
    system.safety.iter().map(|conjunct| (conjunct.name, &conjunct.says)).collect()
}

/// The way to a wrong state, in the kernel's words.
pub fn tell(finite: &Finite<'_>, found: &Found) -> String {
    let Some((name, way, begin)) = &found.wrong else { return String::new() };
    let system = finite.system;
    let mut text = format!("begins:\n{}", finite.describe(begin));
    for step in way {
        let transition = &system.transitions[step.transition];
        let params = transition.params.iter().map(|p| format!("{} = {}", p.name, p.sort.0.to_uppercase()));
        let names = params.chain(transition.set.map(|rel| format!("{} = set ", rel.name)));
        let args: Vec<String> = names.zip(&step.args).map(|(name, x)| format!("{name}{x}")).collect();
        writeln!(text, " {} ({})", transition.name, args.join(", ")).expect("to memory");
    }
    let last = way.last().map_or(*begin, |step| step.after);
    let words = system.safety.iter().find(|c| c.name == *name).map_or("", |c| c.words);
    text + &format!("ends:\n{} and this is not so: {words}\n", finite.describe(&last))
}

/// Numbers that look random (xorshift).
pub struct Random(pub u64);

impl Random {
    /// One below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }
}
