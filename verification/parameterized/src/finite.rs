//! States of a small universe, and formulas evaluated in them.

use crate::logic::{Formula, Rel, Update, Var};
use crate::system::{System, Transition};
use std::fmt::Write;

/// How many elements each sort has, in the order of the system's sorts.
pub type Universe<'a> = &'a [usize];

/// So many words of bits hold a state's relations.
const WORDS: usize = 18;

/// A state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    /// Where each thread is.
    pub places: [u8; 8],
    bits: [u64; WORDS],
}

/// A system in one small universe.
pub struct Finite<'a> {
    /// The system.
    pub system: &'a System,
    /// How many elements each sort has.
    pub sizes: Vec<usize>,
    /// Where each relation begins among the bits.
    begins: Vec<usize>,
    /// The sizes of its arguments.
    shapes: Vec<Vec<usize>>,
    /// All that it may hold of, in the order of the bits.
    tuples: Vec<Vec<Vec<u8>>>,
    plans: Vec<Plan<'a>>,
}

/// A transition, with the parts of its guard: those that can be asked as soon as so many of its parameters are known.
pub struct Plan<'a> {
    transition: &'a Transition,
    parts: Vec<Vec<&'a Formula>>,
}

impl<'a> Plan<'a> {
    /// Of this transition.
    pub fn of(transition: &'a Transition) -> Self {
        let mut parts = vec![Vec::new(); transition.params.len() + 1];
        for part in &transition.guard {
            parts[needs(part, &transition.params)].push(part);
        }
        Plan { transition, parts }
    }
}

/// What the variables stand for.
pub type Env = Vec<(u32, u8)>;

/// A transition with its parameters, and the state after it.
#[derive(Debug, Clone)]
pub struct Taken {
    /// Which transition, as an index.
    pub transition: usize,
    /// What its parameters are; behind them the set, if it is for one, as a number.
    pub args: Vec<u8>,
    /// The state after it.
    pub after: State,
}

impl State {
    /// All threads at place 0, and no relation holds.
    pub const EMPTY: State = State { places: [0; 8], bits: [0; WORDS] };

    fn put(&mut self, bit: usize, holds: bool) {
        if holds {
            self.bits[bit / 64] |= 1 << (bit % 64);
        } else {
            self.bits[bit / 64] &= !(1 << (bit % 64));
        }
    }
}

impl<'a> Finite<'a> {
    /// The system, with so many of each sort.
    ///
    /// # Panics
    /// If that is too large.
    pub fn new(system: &'a System, sizes: &[usize]) -> Self {
        let shapes: Vec<Vec<usize>> = system
            .relations
            .iter()
            .map(|rel| rel.sorts.iter().map(|sort| sizes[place_of(system, sort.0)]).collect())
            .collect();
        let mut begins = Vec::new();
        let mut next = 0;
        for shape in &shapes {
            begins.push(next);
            next += shape.iter().product::<usize>();
        }
        assert!(next <= 64 * WORDS && sizes[0] <= 8, "{sizes:?} takes {next} bits");
        let count = |shape: &Vec<usize>| (0..shape.iter().product::<usize>()).map(|n| digits(n, shape)).collect();
        let (tuples, plans) = (shapes.iter().map(count).collect(), system.transitions.iter().map(Plan::of).collect());
        Finite { system, sizes: sizes.to_vec(), begins, shapes, tuples, plans }
    }

    fn bit(&self, rel: Rel, args: impl Iterator<Item = u8>) -> usize {
        let (mut at, shape) = (0, &self.shapes[rel.index]);
        for (n, arg) in args.enumerate() {
            at = at * shape[n] + usize::from(arg);
        }
        self.begins[rel.index] + at
    }

    /// Does the relation hold of these?
    pub fn holds(&self, state: &State, rel: Rel, args: &[u8]) -> bool {
        let bit = self.bit(rel, args.iter().copied());
        state.bits[bit / 64] >> (bit % 64) & 1 == 1
    }

    /// Makes it hold, or not.
    pub fn put(&self, state: &mut State, rel: Rel, args: &[u8], holds: bool) {
        state.put(self.bit(rel, args.iter().copied()), holds);
    }

    fn size(&self, v: &Var) -> usize {
        self.sizes[place_of(self.system, v.sort.0)]
    }

    /// Is it true in this state?
    pub fn is_true(&self, formula: &Formula, state: &State, env: &mut Env) -> bool {
        match formula {
            Formula::Is(truth) => *truth,
            Formula::Rel(rel, args) => {
                let bit = self.bit(*rel, args.iter().map(|arg| value(env, arg)));
                state.bits[bit / 64] >> (bit % 64) & 1 == 1
            }
            Formula::Same(a, b) => value(env, a) == value(env, b),
            Formula::At(m, places) => places.has(state.places[value(env, m) as usize]),
            Formula::Not(inner) => !self.is_true(inner, state, env),
            Formula::And(parts) => parts.iter().all(|part| self.is_true(part, state, env)),
            Formula::Or(parts) => parts.iter().any(|part| self.is_true(part, state, env)),
            Formula::All(v, body) => !self.any(v, env, |this, env| !this.is_true(body, state, env)),
            Formula::Some(v, body) => self.any(v, env, |this, env| this.is_true(body, state, env)),
        }
    }

    fn any(&self, v: &Var, env: &mut Env, mut test: impl FnMut(&Self, &mut Env) -> bool) -> bool {
        (0..self.size(v)).any(|x| {
            env.push((v.id, x as u8));
            let truth = test(self, env);
            env.pop();
            truth
        })
    }

    /// The state after these updates.
    pub fn apply(&self, updates: &[Update], state: &State, env: &mut Env) -> State {
        let mut after = *state;
        for update in updates {
            match update {
                Update::Rel { rel, formals, body } => {
                    for (n, args) in self.tuples(*rel).iter().enumerate() {
                        env.extend(formals.iter().zip(args).map(|(formal, arg)| (formal.id, *arg)));
                        let truth = self.is_true(body, state, env);
                        env.truncate(env.len() - formals.len());
                        after.put(self.begins[rel.index] + n, truth);
                    }
                }
                Update::Goes { m, to } => {
                    let place =
                        to.iter().find(|(when, _)| self.is_true(when, state, env)).expect("one condition holds").1;
                    after.places[value(env, m) as usize] = place;
                }
            }
        }
        after
    }

    /// All that can happen next.
    pub fn successors(&self, state: &State, mut each: impl FnMut(Taken)) {
        self.enabled(state, |index, args, state, env| {
            let after = self.apply(&self.system.transitions[index].updates, state, env);
            each(Taken { transition: index, args, after });
        });
    }

    /// Each transition that can be taken, with its parameters; behind them its set, and the state with it.
    pub fn enabled(&self, state: &State, mut each: impl FnMut(usize, Vec<u8>, &State, &mut Env)) {
        for (index, plan) in self.plans.iter().enumerate() {
            self.instances(plan, state, &[], |set, state, env| {
                let args = env.iter().map(|(_, x)| *x).chain(plan.transition.set.map(|_| set)).collect();
                each(index, args, state, env);
            });
        }
    }

    /// The states after a transition, of those whose parameters, and behind them whose set, are these.
    pub fn after(&self, index: usize, state: &State, args: &[Option<u8>], mut each: impl FnMut(State)) {
        let plan = &self.plans[index];
        self.instances(plan, state, args, |_, state, env| each(self.apply(&plan.transition.updates, state, env)));
    }

    /// Each way in which the transition's guard holds, if the first parameters are `fixed`, and behind them its set. `each` gets the set as
    /// a number, whose lowest bit stands for its first element, and the state with it.
    pub fn instances(
        &self,
        plan: &Plan<'_>,
        state: &State,
        fixed: &[Option<u8>],
        mut each: impl FnMut(u8, &State, &mut Env),
    ) {
        let transition = plan.transition;
        let all = transition.set.map_or(&[][..], |rel| self.tuples(rel));
        let known = fixed.get(transition.params.len()).copied().flatten();
        for set in known.map_or(0..=((1_u16 << all.len()) - 1) as u8, |known| known..=known) {
            let mut state = *state;
            for (at, args) in all.iter().enumerate() {
                self.put(&mut state, transition.set.expect("it has elements"), args, set >> at & 1 == 1);
            }
            self.bind(plan, &state, fixed, 0, &mut Env::new(), &mut |env| each(set, &state, env));
        }
    }

    fn bind(
        &self,
        plan: &Plan<'_>,
        state: &State,
        fixed: &[Option<u8>],
        depth: usize,
        env: &mut Env,
        each: &mut dyn FnMut(&mut Env),
    ) {
        // As soon as all that a part of the guard speaks of is known, it is asked.
        if !plan.parts[depth].iter().all(|part| self.is_true(part, state, env)) {
            return;
        }
        let Some(param) = plan.transition.params.get(depth) else { return each(env) };
        for x in 0..self.size(param) as u8 {
            if fixed.get(depth).copied().flatten().is_some_and(|fixed| fixed != x) {
                continue;
            }
            env.push((param.id, x));
            self.bind(plan, state, fixed, depth + 1, env, each);
            env.pop();
        }
    }

    /// The state in the kernel's words.
    pub fn describe(&self, state: &State) -> String {
        let mut out = String::new();
        let name = |sort: &str, i: u8| format!("{}{i}", sort.to_uppercase());
        for m in 0..self.sizes[0] {
            let thread = name(self.system.sorts[0].0, m as u8);
            write!(out, "  {thread}: {}", self.system.places[state.places[m] as usize]).expect("to memory");
            for rel in self.system.relations.iter().filter(|rel| rel.sorts.first() == self.system.sorts.first()) {
                self.holding(state, rel, Some(m as u8), &mut out);
            }
            out.push('\n');
        }
        out.push_str("  shared:");
        for rel in self.system.relations.iter().filter(|rel| rel.sorts.first() != self.system.sorts.first()) {
            self.holding(state, rel, None, &mut out);
        }
        out.push('\n');
        out
    }

    fn holding(&self, state: &State, rel: &Rel, first: Option<u8>, out: &mut String) {
        for args in self.tuples(*rel) {
            if first.is_some_and(|first| args[0] != first) || !self.holds(state, *rel, args) {
                continue;
            }
            let skip = usize::from(first.is_some());
            let names: Vec<String> = rel
                .sorts
                .iter()
                .zip(args)
                .skip(skip)
                .map(|(sort, arg)| format!("{}{arg}", sort.0.to_uppercase()))
                .collect();
            let names = if names.is_empty() { String::new() } else { format!(" {}", names.join(" ")) };
            write!(out, ", {}{names}", rel.name.replace('_', " ")).expect("to memory");
        }
    }
}

#[inline]
fn value(env: &Env, var: &Var) -> u8 {
    env.iter().rev().find(|(id, _)| *id == var.id).unwrap_or_else(|| panic!("{var:?} is free")).1
}

fn digits(mut n: usize, shape: &[usize]) -> Vec<u8> {
    let mut args: Vec<u8> = shape
        .iter()
        .rev()
        .map(|size| {
            let digit = n % size;
            n /= size;
            digit as u8
        })
        .collect();
    args.reverse();
    args
}

fn place_of(system: &System, sort: &str) -> usize {
    system.sorts.iter().position(|s| s.0 == sort).unwrap_or_else(|| panic!("{} has no sort {sort}", system.name))
}

/// How many of the parameters must be known before the formula can be asked.
fn needs(formula: &Formula, params: &[Var]) -> usize {
    let of = |v: &Var| params.iter().position(|p| p == v).map_or(0, |at| at + 1);
    match formula {
        Formula::Is(_) => 0,
        Formula::Rel(_, args) => args.iter().map(of).max().unwrap_or(0),
        Formula::Same(a, b) => of(a).max(of(b)),
        Formula::At(m, _) => of(m),
        Formula::Not(inner) | Formula::All(_, inner) | Formula::Some(_, inner) => needs(inner, params),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().map(|part| needs(part, params)).max().unwrap_or(0),
    }
}

impl Finite<'_> {
    /// All that a relation may hold of.
    pub fn tuples(&self, rel: Rel) -> &[Vec<u8>] {
        &self.tuples[rel.index]
    }
}

impl Finite<'_> {
    /// The least of the states that differ from this one only in the names of elements.
    pub fn canonical(&self, state: &State) -> State {
        let mut least = *state;
        let choices: Vec<Vec<Vec<u8>>> = self.sizes.iter().map(|size| permutations(*size as u8)).collect();
        let mut names: Vec<usize> = vec![0; choices.len()];
        loop {
            let renamed = self.renamed(state, &|sort, x| choices[sort][names[sort]][x as usize]);
            least = least.min(renamed);
            let Some(at) = (0..names.len()).find(|at| names[*at] + 1 < choices[*at].len()) else { return least };
            names[at] += 1;
            names[..at].fill(0);
        }
    }

    fn renamed(&self, state: &State, name: &dyn Fn(usize, u8) -> u8) -> State {
        let mut renamed = State::EMPTY;
        for m in 0..self.sizes[0] {
            renamed.places[name(0, m as u8) as usize] = state.places[m];
        }
        for rel in self.system.relations {
            for args in self.tuples(*rel).iter().filter(|args| self.holds(state, *rel, args)) {
                let args = args.iter().zip(rel.sorts).map(|(x, sort)| name(place_of(self.system, sort.0), *x));
                let args: Vec<u8> = args.collect();
                self.put(&mut renamed, *rel, &args, true);
            }
        }
        renamed
    }
}

fn permutations(n: u8) -> Vec<Vec<u8>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(n - 1);
    shorter
        .into_iter()
        .flat_map(|p| {
            (0..n as usize).map(move |at| {
                let mut p = p.clone();
                p.insert(at, n - 1);
                p
            })
        })
        .collect()
}
