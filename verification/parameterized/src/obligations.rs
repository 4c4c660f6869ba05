//! What must be shown of a system, and asking the solvers.

use crate::finite::{Finite, State};
use crate::logic::{Formula, Var, not};
use crate::smt;
use crate::solver::Solver;
use crate::system::System;
use std::time::Duration;

/// One thing to be shown: what it asserts is contradictory.
#[derive(Debug, Clone)]
pub struct Obligation {
    /// Its name: `begins/…`, `transition/…`, `safe/…`.
    pub name: String,
    /// The transition, as an index.
    pub transition: Option<usize>,
    /// The conjunct that would not hold.
    pub conjunct: &'static str,
    params: Vec<Var>,
    asserts: Vec<Formula>,
    /// Does it assume the invariant, or that the system begins?
    assumes: Assumes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Assumes {
    Beginning,
    Invariant,
}

/// What came of an obligation.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// Which one, as an index.
    pub obligation: usize,
    /// Is it proved? Else the solver found a counterexample, or gave up.
    pub is_proved: bool,
    /// How long it took.
    pub time: Duration,
}

/// The time for one query.
pub const LIMIT: Duration = Duration::from_secs(20);

/// All obligations of a system. A conjunct of which a transition touches nothing is kept by it.
pub fn of(system: &System) -> Vec<Obligation> {
    let mut all = Vec::new();
    for conjunct in &system.invariant {
        all.push(Obligation {
            name: format!("begins/{}", conjunct.name),
            transition: None,
            conjunct: conjunct.name,
            params: Vec::new(),
            asserts: vec![not(conjunct.says.clone())],
            assumes: Assumes::Beginning,
        });
    }
    for (index, transition) in system.transitions.iter().enumerate() {
        for conjunct in system.invariant.iter().filter(|conjunct| conjunct.says.is_touched_by(&transition.updates)) {
            let mut asserts = transition.guard.clone();
            asserts.push(not(conjunct.says.after(&transition.updates)));
            all.push(Obligation {
                name: format!("{}/{}", transition.name, conjunct.name),
                transition: Some(index),
                conjunct: conjunct.name,
                params: transition.params.clone(),
                asserts,
                assumes: Assumes::Invariant,
            });
        }
    }
    for conjunct in &system.safety {
        all.push(Obligation {
            name: format!("safe/{}", conjunct.name),
            transition: None,
            conjunct: conjunct.name,
            params: Vec::new(),
            asserts: vec![not(conjunct.says.clone())],
            assumes: Assumes::Invariant,
        });
    }
    all
}

impl Obligation {
    /// That these do not hold of a state of the invariant in which the transition is possible.
    pub fn of_transition(system: &System, transition: usize, name: String, wrong: Vec<Formula>) -> Obligation {
        let of = &system.transitions[transition];
        let (params, asserts) = (of.params.clone(), of.guard.iter().cloned().chain(wrong).collect());
        Obligation { name, transition: Some(transition), conjunct: "", params, asserts, assumes: Assumes::Invariant }
    }

    /// That no state of the invariant has such `params`.
    pub fn never(name: String, params: Vec<Var>, asserts: Vec<Formula>) -> Obligation {
        Obligation { name, transition: None, conjunct: "", params, asserts, assumes: Assumes::Invariant }
    }
}

/// Asks a solver for each of these.
///
/// # Panics
/// If the solver answers too little.
pub fn ask(solver: Solver, system: &System, obligations: &[Obligation]) -> Vec<Verdict> {
    verdicts(solver, system, obligations, |_| false)
}

/// Those of which this says that they are not proved.
pub fn refuted<'a>(obligations: &'a [Obligation], verdicts: &[Verdict]) -> Vec<&'a Obligation> {
    verdicts.iter().filter(|verdict| !verdict.is_proved).map(|verdict| &obligations[verdict.obligation]).collect()
}

/// The first of these that a solver does not discharge; it is asked no more after that.
///
/// # Panics
/// If the solver answers too little.
pub fn first_refuted(solver: Solver, system: &System, obligations: &[Obligation]) -> Option<Verdict> {
    verdicts(solver, system, obligations, |answer| answer != "unsat").pop().filter(|verdict| !verdict.is_proved)
}

/// The answers, to the first that `is_enough`.
fn verdicts(
    solver: Solver,
    system: &System,
    obligations: &[Obligation],
    is_enough: impl Fn(&str) -> bool,
) -> Vec<Verdict> {
    let (script, order) = questions(system, obligations);
    let is_last = |line: &str| is_answer(line) && is_enough(line.trim());
    let answers: Vec<_> =
        solver.run_until(&script, LIMIT, is_last).into_iter().filter(|(line, _)| is_answer(line)).collect();
    let (asked, answered) = (order.len(), answers.len());
    let is_all = answered == asked || answers.last().is_some_and(|(line, _)| is_last(line));
    assert!(is_all, "{}: {answered} answers to {asked} questions", solver.name());
    order.into_iter().zip(answers).map(verdict).collect()
}

fn verdict((obligation, (answer, time)): (usize, (String, Duration))) -> Verdict {
    Verdict { obligation, is_proved: answer.trim() == "unsat", time }
}

/// All as one script, and which obligation each answer is about.
fn questions(system: &System, obligations: &[Obligation]) -> (String, Vec<usize>) {
    let mut script = String::new();
    smt::declare_state(system, &mut script);
    let mut order = Vec::new();
    for assumes in [Assumes::Beginning, Assumes::Invariant] {
        script.push_str("(push 1)\n");
        let facts: Vec<&Formula> = match assumes {
            Assumes::Beginning => system.initial.iter().collect(),
            Assumes::Invariant => system.invariant.iter().map(|conjunct| &conjunct.says).collect(),
        };
        facts.into_iter().for_each(|fact| smt::assert(fact, system, &mut script));
        for (index, obligation) in obligations.iter().enumerate().filter(|(_, o)| o.assumes == assumes) {
            script.push_str("(push 1)\n");
            write_obligation(system, obligation, &mut script);
            script.push_str("(check-sat)\n(pop 1)\n");
            order.push(index);
        }
        script.push_str("(pop 1)\n");
    }
    (script, order)
}

/// Is this line of a solver's one? An error panics.
fn is_answer(line: &str) -> bool {
    ["sat", "unsat", "unknown"].contains(&line.trim()) || panic_if_error(line)
}

fn panic_if_error(answer: &str) -> bool {
    assert!(!answer.contains("error"), "a solver: {answer}");
    false
}

fn write_obligation(system: &System, obligation: &Obligation, script: &mut String) {
    obligation.params.iter().for_each(|param| smt::declare(param, script));
    obligation.asserts.iter().for_each(|fact| smt::assert(fact, system, script));
}

/// A counterexample to an obligation: in the smallest universe in which z3 finds one.
pub struct Counterexample {
    /// How many of each sort.
    pub sizes: Vec<usize>,
    /// The state before, and after if it is about a transition.
    pub states: Vec<State>,
    /// What the transition's parameters are.
    pub args: Vec<(String, u8)>,
}

/// Looks for a counterexample in small universes.
pub fn counterexample(system: &System, obligation: &Obligation) -> Option<Counterexample> {
    system.sizes.iter().find_map(|sizes| counterexample_of(system, obligation, sizes))
}

fn counterexample_of(system: &System, obligation: &Obligation, sizes: &[usize]) -> Option<Counterexample> {
    let finite = Finite::new(system, sizes);
    let mut script = String::new();
    smt::declare_state(system, &mut script);
    smt::declare_universe(system, sizes, &mut script);
    match obligation.assumes {
        Assumes::Beginning => system.initial.iter().for_each(|fact| smt::assert(fact, system, &mut script)),
        Assumes::Invariant => system.invariant.iter().for_each(|fact| smt::assert(&fact.says, system, &mut script)),
    }
    write_obligation(system, obligation, &mut script);
    script.push_str("(check-sat)\n");
    // Each question is asked by itself: the answers come in the order of the questions.
    let mut asks = Vec::new();
    for m in 0..sizes[0] {
        for place in 0..system.places.len() {
            asks.push(Ask::Place(m as u8, place as u8));
            script.push_str(&format!(
                "(get-value ((= (place {}) {})))\n",
                smt::element(system.sorts[0].0, m),
                system.places[place]
            ));
        }
    }
    for rel in system.relations {
        for args in finite.tuples(*rel) {
            let names: Vec<String> =
                rel.sorts.iter().zip(args).map(|(sort, arg)| smt::element(sort.0, *arg as usize)).collect();
            let term =
                if names.is_empty() { rel.name.to_owned() } else { format!("({} {})", rel.name, names.join(" ")) };
            script.push_str(&format!("(get-value ((= true {term})))\n"));
            asks.push(Ask::Rel(*rel, args.clone()));
        }
    }
    for (at, param) in obligation.params.iter().enumerate() {
        let size = sizes[system.sorts.iter().position(|sort| *sort == param.sort).expect("it is one of its sorts")];
        for x in 0..size {
            script.push_str(&format!("(get-value ((= {} {})))\n", smt::name_of(param), smt::element(param.sort.0, x)));
            asks.push(Ask::Param(at, x as u8));
        }
    }
    let answers = Solver::Z3.run(&script, LIMIT);
    let mut lines = answers.into_iter().map(|(line, _)| line);
    if lines.next()?.trim() != "sat" {
        return None;
    }
    // One answer may take two lines.
    let text: String = lines.collect::<Vec<_>>().join(" ");
    let truths: Vec<bool> = truths(&text);
    assert!(truths.len() == asks.len(), "{} values for {} questions", truths.len(), asks.len());
    let mut state = State::EMPTY;
    let mut args = vec![0; obligation.params.len()];
    for (ask, truth) in asks.into_iter().zip(truths) {
        match ask {
            Ask::Place(m, place) if truth => state.places[m as usize] = place,
            Ask::Param(at, x) if truth => args[at] = x,
            Ask::Rel(rel, args) => finite.put(&mut state, rel, &args, truth),
            _ => (),
        }
    }
    let mut states = vec![state];
    let mut env = obligation.params.iter().zip(&args).map(|(param, x)| (param.id, *x)).collect();
    if let Some(index) = obligation.transition {
        states.push(finite.apply(&system.transitions[index].updates, &state, &mut env));
    }
    let args = obligation.params.iter().zip(args).map(|(param, x)| (param.name.to_owned(), x)).collect();
    Some(Counterexample { sizes: sizes.to_vec(), states, args })
}

enum Ask {
    Place(u8, u8),
    Rel(crate::logic::Rel, Vec<u8>),
    Param(usize, u8),
}

/// The values in `((term value)) ((term value)) …`.
fn truths(text: &str) -> Vec<bool> {
    let mut found = Vec::new();
    let (mut depth, mut begin) = (0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => {
                if depth == 0 {
                    begin = at;
                }
                depth += 1;
            }
            ')' => {
                depth -= 1;
                if depth == 0 {
                    let value = text[begin..at].trim_end_matches(')').rsplit(' ').next().unwrap_or("");
                    found.push(value == "true");
                }
            }
            _ => (),
        }
    }
    found
}

/// The counterexample in the kernel's words.
pub fn tell(system: &System, obligation: &Obligation, found: &Counterexample) -> String {
    let finite = Finite::new(system, &found.sizes);
    let mut text = format!("{}\n before:\n{}", obligation.name, finite.describe(&found.states[0]));
    if let (Some(index), Some(after)) = (obligation.transition, found.states.get(1)) {
        let args: Vec<String> =
            found.args.iter().map(|(name, x)| format!("{name} = {}{x}", name[..1].to_uppercase())).collect();
        let transition = &system.transitions[index];
        text +=
            &format!(" {} ({}), {}:\n{}", transition.name, args.join(", "), transition.source, finite.describe(after));
    }
    let conjunct = system.invariant.iter().chain(&system.safety).find(|c| c.name == obligation.conjunct);
    text + &format!(" and then this is not so: {}\n", conjunct.map_or("", |c| c.words))
}
