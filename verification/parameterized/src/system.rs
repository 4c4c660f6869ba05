//! A protocol as a transition system: what its state is, what may happen, what is always true.

use crate::finite::{State, Universe};
use crate::logic::{Formula, Places, Rel, Sort, Update, Var, among, and, at, implies, not, or, same};

/// A protocol.
pub struct System {
    /// Its name.
    pub name: &'static str,
    /// What it is about, in one sentence.
    pub about: &'static str,
    /// Under which memory model.
    pub memory: &'static str,
    /// The sorts; the first is that of threads, which have places.
    pub sorts: &'static [Sort],
    /// The places of a thread.
    pub places: &'static [&'static str],
    /// The relations of its state.
    pub relations: &'static [Rel],
    /// Facts about relations that never change.
    pub axioms: Vec<Formula>,
    /// How it begins.
    pub initial: Vec<Formula>,
    /// The states in which it begins, in a small universe.
    pub begins: fn(&System, Universe) -> Vec<State>,
    /// What may happen.
    pub transitions: Vec<Transition>,
    /// What is true at first, and stays true.
    pub invariant: Vec<Conjunct>,
    /// What is wanted, and follows from the invariant.
    pub safety: Vec<Conjunct>,
    /// Sizes for which counterexamples are looked for: small first.
    pub sizes: &'static [&'static [usize]],
}

/// A protocol, and what is changed in it to see that the change is noticed.
pub struct Protocol {
    /// Its name.
    pub name: &'static str,
    /// The system; or with one step changed, if the argument names a variant.
    pub system: fn(&str) -> System,
    /// Variants that are wrong.
    pub wrong: &'static [Variant],
    /// Variants that are right.
    pub right: &'static [Variant],
    /// For each conjunct of the invariant an obligation that fails without it.
    pub needed: &'static [(&'static str, &'static str)],
}

/// A named formula.
#[derive(Debug, Clone)]
pub struct Conjunct {
    /// Its name.
    pub name: &'static str,
    /// In words.
    pub words: &'static str,
    /// What it says.
    pub says: Formula,
}

impl Conjunct {
    /// A named formula.
    pub fn new(name: &'static str, words: &'static str, says: Formula) -> Conjunct {
        Conjunct { name, words, says }
    }
}

fn variables(rel: Rel) -> Vec<Var> {
    let name =
        |sort: Sort| ["m", "p", "c", "g"].into_iter().find(|name| name.eq_ignore_ascii_case(sort.0)).unwrap_or("x");
    rel.sorts.iter().map(|sort| Var::fresh(name(*sort), *sort)).collect()
}

fn for_all(vars: Vec<Var>, body: Formula) -> Formula {
    vars.into_iter().rev().fold(body, |body, var| Formula::All(var, Box::new(body)))
}

/// The relation holds of nothing.
pub fn nothing(rel: Rel) -> Formula {
    let vars = variables(rel);
    for_all(vars.clone(), not(Formula::Rel(rel, vars)))
}

/// The relation holds of at most one in its place `varies`, whatever the others are.
pub fn at_most_one(rel: Rel, varies: usize) -> Formula {
    let first = variables(rel);
    let mut second = first.clone();
    let name = ["n", "q", "d", "h"].into_iter().zip(["m", "p", "c", "g"]).find(|(_, of)| *of == first[varies].name);
    second[varies] = Var::fresh(name.map_or("y", |(name, _)| name), rel.sorts[varies]);
    let [a, b] = [&first, &second].map(|args| Formula::Rel(rel, args.clone()));
    let says = implies(and([a, b]), same(first[varies], second[varies]));
    let mut bound = first;
    bound.insert(varies + 1, second[varies]);
    for_all(bound, says)
}

/// A step that is changed.
#[derive(Debug, Clone, Copy)]
pub struct Variant {
    /// Its name.
    pub name: &'static str,
    /// What is changed.
    pub what: &'static str,
    /// Where else it is known: a mutant of the kernel, a wrong variant of the Promela model, an exhibit of the museum.
    pub known: &'static str,
    /// In how small a universe an execution goes wrong.
    pub sizes: &'static [usize],
    /// And in how many steps. `None`: none was found, or it is right.
    pub steps: Option<usize>,
}

/// Something that may happen, in one step.
#[derive(Debug, Clone)]
pub struct Transition {
    /// Its name.
    pub name: &'static str,
    /// Where it is in the kernel: a file below `src/kernel/src`, and a function.
    pub source: &'static str,
    /// For which party.
    pub params: Vec<Var>,
    /// For which set: a relation that is as the step likes, and holds of nothing before and after it.
    pub set: Option<Rel>,
    /// When: over the state before.
    pub guard: Vec<Formula>,
    /// What becomes of the state.
    pub updates: Vec<Update>,
}

impl Transition {
    /// A transition that does nothing yet.
    pub fn new(name: &'static str, source: &'static str) -> Transition {
        Transition { name, source, params: Vec::new(), set: None, guard: Vec::new(), updates: Vec::new() }
    }

    /// For each of this sort.
    pub fn for_each(&mut self, name: &'static str, sort: Sort) -> Var {
        let var = Var::fresh(name, sort);
        self.params.push(var);
        var
    }

    /// For each set of what `rel` is of. [`with_set_done`](Self::with_set_done) comes last.
    pub fn for_each_set(&mut self, rel: Rel) -> &mut Self {
        self.set = Some(rel);
        self
    }

    /// The set is used no more.
    pub fn with_set_done(&mut self) -> &mut Self {
        match self.set {
            Some(rel) => self.assign(rel, |_| Formula::Is(false)),
            None => self,
        }
    }

    /// Only if this is so now, after what was done by earlier calls.
    pub fn when(&mut self, formula: Formula) -> &mut Self {
        match and([formula.after(&self.updates)]) {
            Formula::And(parts) => self.guard.extend(parts),
            Formula::Is(true) => (),
            part => self.guard.push(part),
        }
        self
    }

    /// Only if `m` is at `place`.
    pub fn from(&mut self, m: Var, place: u8) -> &mut Self {
        self.when(at(m, place))
    }

    /// Only if `m` is at one of these.
    pub fn from_any(&mut self, m: Var, places: Places) -> &mut Self {
        self.when(among(m, places))
    }

    /// The relation becomes what `body` says, which speaks of the state as earlier calls have made it.
    pub fn assign(&mut self, rel: Rel, body: impl FnOnce(&[Var]) -> Formula) -> &mut Self {
        let formals: Vec<Var> = rel.sorts.iter().map(|sort| Var::fresh("x", *sort)).collect();
        let body = body(&formals).after(&self.updates);
        self.updates.retain(|update| !matches!(update, Update::Rel { rel: r, .. } if *r == rel));
        self.updates.push(Update::Rel { rel, formals, body });
        self
    }

    /// From now on it holds of these.
    pub fn set(&mut self, rel: Rel, args: &[Var]) -> &mut Self {
        let args = args.to_vec();
        self.assign(rel, |formals| or([Formula::Rel(rel, formals.to_vec()), is(formals, &args)]))
    }

    /// From now on it does not hold of these.
    pub fn clear(&mut self, rel: Rel, args: &[Var]) -> &mut Self {
        let args = args.to_vec();
        self.assign(rel, |formals| and([Formula::Rel(rel, formals.to_vec()), not(is(formals, &args))]))
    }

    /// From now on it does not hold of anything that begins with these.
    pub fn clear_all(&mut self, rel: Rel, first: &[Var]) -> &mut Self {
        let first = first.to_vec();
        self.assign(rel, |formals| and([Formula::Rel(rel, formals.to_vec()), not(is(&formals[..first.len()], &first))]))
    }

    /// `m` goes to `place`.
    pub fn goes(&mut self, m: Var, place: u8) -> &mut Self {
        self.updates.push(Update::Goes { m, to: vec![(Formula::Is(true), place)] });
        self
    }

    /// `m` goes to `then` if `condition` holds as things are now, else to `otherwise`.
    pub fn goes_if(&mut self, m: Var, condition: Formula, then: u8, otherwise: u8) -> &mut Self {
        self.goes_where(m, [(condition, then), (Formula::Is(true), otherwise)])
    }

    /// `m` goes to the first place whose condition holds as things are now.
    pub fn goes_where(&mut self, m: Var, to: impl IntoIterator<Item = (Formula, u8)>) -> &mut Self {
        let mut before = Vec::new();
        let mut first = |(condition, place): (Formula, u8)| {
            let condition = condition.after(&self.updates);
            let is_first = and(before.iter().cloned().map(not).chain([condition.clone()]));
            before.push(condition);
            (is_first, place)
        };
        let to = to.into_iter().map(&mut first).collect();
        self.updates.push(Update::Goes { m, to });
        self
    }
}

fn is(formals: &[Var], args: &[Var]) -> Formula {
    and(formals.iter().zip(args).map(|(formal, arg)| same(*formal, *arg)))
}

/// Declares relations, numbered in order.
macro_rules! relations {
    ($($(#[$doc:meta])* $konst:ident = $name:literal($($sort:ident),*);)*) => {
        relations!(@ 0usize; []; $($(#[$doc])* $konst = $name($($sort),*);)*);
    };
    (@ $n:expr; [$($done:ident)*]; $(#[$doc:meta])* $konst:ident = $name:literal($($sort:ident),*); $($rest:tt)*) => {
        $(#[$doc])*
        pub const $konst: crate::logic::Rel = crate::logic::Rel { index: $n, name: $name, sorts: &[$($sort),*] };
        relations!(@ $n + 1usize; [$($done)* $konst]; $($rest)*);
    };
    (@ $n:expr; [$($done:ident)*];) => {
        /// The relations of the state.
        pub const RELATIONS: &[crate::logic::Rel] = &[$($done),*];
    };
}
pub(crate) use relations;

/// Declares places, numbered in order.
macro_rules! places {
    ($($(#[$doc:meta])* $konst:ident;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Numbers { $($konst),* }
        $($(#[$doc])* pub const $konst: u8 = Numbers::$konst as u8;)*
        /// The names of the places.
        pub const PLACES: &[&str] = &[$(stringify!($konst)),*];
    };
}
pub(crate) use places;
