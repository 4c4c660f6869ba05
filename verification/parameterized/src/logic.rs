//! First-order formulas over the state of a protocol, and nothing about any protocol or solver.
//!
//! **Each transition stands once.** It is a value made of these formulas, and is read twice: `smt` prints it for a solver, which
//! knows no bound on the number of Ms, Ps and Gs; `finite` evaluates it in one state of a small universe.
//!
//! A post-state is a substitution: what a relation is after a transition is a formula over the state before it. So there
//! are no frame axioms, and what a transition does not name does not change.

use std::cell::Cell;

/// What a variable ranges over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sort(pub &'static str);

/// A relation of the state, or a Boolean, which is a relation of nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rel {
    /// Its place among the relations of its protocol.
    pub index: usize,
    /// Its name.
    pub name: &'static str,
    /// What it relates.
    pub sorts: &'static [Sort],
}

/// A variable, bound by a quantifier or a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Var {
    /// No other variable has this number.
    pub id: u32,
    /// What it is called.
    pub name: &'static str,
    /// What it ranges over.
    pub sort: Sort,
}

impl Var {
    /// A variable that no other formula knows.
    pub fn fresh(name: &'static str, sort: Sort) -> Var {
        thread_local!(static NEXT: Cell<u32> = const { Cell::new(0) });
        NEXT.set(NEXT.get() + 1);
        Var { id: NEXT.get(), name, sort }
    }
}

/// The places of a thread, as a set: bit n stands for place n.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Places(pub u128);

impl Places {
    /// These places.
    pub const fn of(places: &[u8]) -> Places {
        let (mut set, mut i) = (0, 0);
        while i < places.len() {
            set |= 1 << places[i];
            i += 1;
        }
        Places(set)
    }

    /// Those of both.
    pub const fn and(self, other: Places) -> Places {
        Places(self.0 | other.0)
    }

    /// Is this place among them?
    pub const fn has(self, place: u8) -> bool {
        self.0 >> place & 1 == 1
    }
}

/// A formula.
#[derive(Debug, Clone, PartialEq)]
pub enum Formula {
    /// True or false.
    Is(bool),
    /// A relation holds.
    Rel(Rel, Vec<Var>),
    /// Two variables are the same.
    Same(Var, Var),
    /// A thread is at one of these places.
    At(Var, Places),
    /// Not.
    Not(Box<Formula>),
    /// All of them.
    And(Vec<Formula>),
    /// One of them.
    Or(Vec<Formula>),
    /// For all.
    All(Var, Box<Formula>),
    /// For some.
    Some(Var, Box<Formula>),
}

use Formula::{All, And, At, Is, Not, Or, Same, Some};

/// All of them.
pub fn and(parts: impl IntoIterator<Item = Formula>) -> Formula {
    let mut all = Vec::new();
    for part in parts {
        match part {
            Is(true) => (),
            Is(false) => return Is(false),
            And(more) => all.extend(more),
            part => all.push(part),
        }
    }
    if all.len() == 1 {
        all.remove(0)
    } else if all.is_empty() {
        Is(true)
    } else {
        And(all)
    }
}

/// One of them.
pub fn or(parts: impl IntoIterator<Item = Formula>) -> Formula {
    let mut any = Vec::new();
    for part in parts {
        match part {
            Is(false) => (),
            Is(true) => return Is(true),
            Or(more) => any.extend(more),
            part => any.push(part),
        }
    }
    if any.len() == 1 {
        any.remove(0)
    } else if any.is_empty() {
        Is(false)
    } else {
        Or(any)
    }
}

/// Not.
pub fn not(formula: Formula) -> Formula {
    match formula {
        Is(truth) => Is(!truth),
        Not(inner) => *inner,
        formula => Not(Box::new(formula)),
    }
}

/// If the first, then the second.
pub fn implies(first: Formula, second: Formula) -> Formula {
    or([not(first), second])
}

/// Two variables are the same.
pub fn same(a: Var, b: Var) -> Formula {
    if a == b { Is(true) } else { Same(a, b) }
}

/// The thread is at this place.
pub fn at(m: Var, place: u8) -> Formula {
    At(m, Places::of(&[place]))
}

/// The thread is at one of these places.
pub fn among(m: Var, places: Places) -> Formula {
    At(m, places)
}

/// For all of a sort.
pub fn all(name: &'static str, sort: Sort, body: impl FnOnce(Var) -> Formula) -> Formula {
    let var = Var::fresh(name, sort);
    match body(var) {
        Is(truth) => Is(truth),
        body => All(var, Box::new(body)),
    }
}

/// For some of a sort.
pub fn some(name: &'static str, sort: Sort, body: impl FnOnce(Var) -> Formula) -> Formula {
    let var = Var::fresh(name, sort);
    match body(var) {
        Is(truth) => Is(truth),
        body => Some(var, Box::new(body)),
    }
}

impl Rel {
    /// It holds of these.
    pub fn of<const N: usize>(self, args: [Var; N]) -> Formula {
        assert!(self.sorts.iter().eq(args.iter().map(|arg| &arg.sort)), "{} of {args:?}", self.name);
        Formula::Rel(self, args.to_vec())
    }
}

/// What a transition makes of one part of the state.
#[derive(Debug, Clone)]
pub enum Update {
    /// The relation holds of `formals` afterwards if `body` held before.
    Rel {
        /// Which relation.
        rel: Rel,
        /// What it is asked of.
        formals: Vec<Var>,
        /// The answer.
        body: Formula,
    },
    /// Thread `m` goes to the place whose condition held before.
    Goes {
        /// Which thread.
        m: Var,
        /// The places, of whose conditions exactly one holds.
        to: Vec<(Formula, u8)>,
    },
}

impl Formula {
    /// The same, with other variables.
    #[must_use]
    pub fn rename(&self, from: &[Var], to: &[Var]) -> Formula {
        let var = |v: &Var| from.iter().position(|f| f == v).map_or(*v, |i| to[i]);
        match self {
            Is(truth) => Is(*truth),
            Formula::Rel(rel, args) => Formula::Rel(*rel, args.iter().map(var).collect()),
            Same(a, b) => same(var(a), var(b)),
            At(m, places) => At(var(m), *places),
            Not(inner) => not(inner.rename(from, to)),
            And(parts) => and(parts.iter().map(|part| part.rename(from, to))),
            Or(parts) => or(parts.iter().map(|part| part.rename(from, to))),
            All(v, body) => all(v.name, v.sort, |fresh| body.rename(&with(from, *v), &with(to, fresh))),
            Some(v, body) => some(v.name, v.sort, |fresh| body.rename(&with(from, *v), &with(to, fresh))),
        }
    }

    /// What the formula says of the state after `updates`, as a formula over the state before them.
    #[must_use]
    pub fn after(&self, updates: &[Update]) -> Formula {
        match self {
            Is(_) | Same(..) => self.clone(),
            Formula::Rel(rel, args) => updates
                .iter()
                .find_map(|update| match update {
                    Update::Rel { rel: changed, formals, body } if changed == rel => {
                        Option::Some(body.rename(formals, args))
                    }
                    _ => None,
                })
                .unwrap_or_else(|| self.clone()),
            At(m, places) => {
                // The last that moved `m` decides.
                let mut formula = self.clone();
                for update in updates {
                    let Update::Goes { m: moved, to } = update else { continue };
                    let there = or(to.iter().filter(|(_, place)| places.has(*place)).map(|(when, _)| when.clone()));
                    formula = or([and([same(*m, *moved), there]), and([not(same(*m, *moved)), formula])]);
                }
                formula
            }
            Not(inner) => not(inner.after(updates)),
            And(parts) => and(parts.iter().map(|part| part.after(updates))),
            Or(parts) => or(parts.iter().map(|part| part.after(updates))),
            All(v, body) => all_of(*v, body.after(updates)),
            Some(v, body) => some_of(*v, body.after(updates)),
        }
    }

    /// Does it say anything about what `updates` change?
    pub fn is_touched_by(&self, updates: &[Update]) -> bool {
        match self {
            Is(_) | Same(..) => false,
            Formula::Rel(rel, _) => updates.iter().any(|u| matches!(u, Update::Rel { rel: r, .. } if r == rel)),
            At(..) => updates.iter().any(|u| matches!(u, Update::Goes { .. })),
            Not(inner) | All(_, inner) | Some(_, inner) => inner.is_touched_by(updates),
            And(parts) | Or(parts) => parts.iter().any(|part| part.is_touched_by(updates)),
        }
    }
}

fn all_of(v: Var, body: Formula) -> Formula {
    if let Is(truth) = body { Is(truth) } else { All(v, Box::new(body)) }
}

fn some_of(v: Var, body: Formula) -> Formula {
    if let Is(truth) = body { Is(truth) } else { Some(v, Box::new(body)) }
}

fn with(vars: &[Var], var: Var) -> Vec<Var> {
    vars.iter().copied().chain([var]).collect()
}
