//! Formulas and systems as SMT-LIB, for universes of any size.

use crate::logic::{Formula, Update, Var};
use crate::system::{System, Transition};
use std::fmt::Write;

/// A name that no solver takes for one of its own.
fn var(v: &Var) -> String {
    format!("{}_{}", v.name, v.id)
}

/// Writes a formula.
pub fn print(formula: &Formula, system: &System, out: &mut String) {
    let many = |out: &mut String, head: &str, parts: &[Formula]| {
        write!(out, "({head}").expect("to memory");
        for part in parts {
            out.push(' ');
            print(part, system, out);
        }
        out.push(')');
    };
    let bound = |out: &mut String, head: &str, v: &Var, body: &Formula| {
        write!(out, "({head} (({} {})) ", var(v), v.sort.0).expect("to memory");
        print(body, system, out);
        out.push(')');
    };
    match formula {
        Formula::Is(truth) => write!(out, "{truth}").expect("to memory"),
        Formula::Rel(rel, args) if args.is_empty() => out.push_str(rel.name),
        Formula::Rel(rel, args) => {
            let args: Vec<String> = args.iter().map(var).collect();
            write!(out, "({} {})", rel.name, args.join(" ")).expect("to memory");
        }
        Formula::Same(a, b) => write!(out, "(= {} {})", var(a), var(b)).expect("to memory"),
        Formula::At(m, places) => {
            let places = (0..system.places.len()).filter(|place| places.has(*place as u8));
            let each: Vec<String> = places.map(|p| format!("(= (place {}) {})", var(m), system.places[p])).collect();
            match each.as_slice() {
                [] => out.push_str("false"),
                [one] => out.push_str(one),
                _ => write!(out, "(or {})", each.join(" ")).expect("to memory"),
            }
        }
        Formula::Not(inner) => {
            out.push_str("(not ");
            print(inner, system, out);
            out.push(')');
        }
        Formula::And(parts) => many(out, "and", parts),
        Formula::Or(parts) => many(out, "or", parts),
        Formula::All(v, body) => bound(out, "forall", v, body),
        Formula::Some(v, body) => bound(out, "exists", v, body),
    }
}

/// `(assert …)`.
pub fn assert(formula: &Formula, system: &System, out: &mut String) {
    out.push_str("(assert ");
    print(formula, system, out);
    out.push_str(")\n");
}

/// Declares a constant for a variable.
pub fn declare(v: &Var, out: &mut String) {
    writeln!(out, "(declare-const {} {})", var(v), v.sort.0).expect("to memory");
}

/// Sorts, places and relations.
pub fn declare_state(system: &System, out: &mut String) {
    for sort in system.sorts {
        writeln!(out, "(declare-sort {} 0)", sort.0).expect("to memory");
    }
    let places: Vec<String> = system.places.iter().map(|place| format!("({place})")).collect();
    writeln!(out, "(declare-datatypes ((Place 0)) (({})))", places.join(" ")).expect("to memory");
    writeln!(out, "(declare-fun place ({}) Place)", system.sorts[0].0).expect("to memory");
    for rel in system.relations {
        let sorts: Vec<&str> = rel.sorts.iter().map(|sort| sort.0).collect();
        writeln!(out, "(declare-fun {} ({}) Bool)", rel.name, sorts.join(" ")).expect("to memory");
    }
    for axiom in &system.axioms {
        assert(axiom, system, out);
    }
}

/// Only so many elements of each sort, each with a name.
pub fn declare_universe(system: &System, sizes: &[usize], out: &mut String) {
    for (sort, size) in system.sorts.iter().zip(sizes) {
        let names: Vec<String> = (0..*size).map(|i| element(sort.0, i)).collect();
        for name in &names {
            writeln!(out, "(declare-const {name} {})", sort.0).expect("to memory");
        }
        if *size > 1 {
            writeln!(out, "(assert (distinct {}))", names.join(" ")).expect("to memory");
        }
        let each: Vec<String> = names.iter().map(|name| format!("(= x {name})")).collect();
        writeln!(out, "(assert (forall ((x {})) (or {} false)))", sort.0, each.join(" ")).expect("to memory");
    }
}

/// The name of an element of a universe with names.
pub fn element(sort: &str, index: usize) -> String {
    format!("{}{index}!", sort.to_lowercase())
}

/// A variable's name, for `get-value`.
pub fn name_of(v: &Var) -> String {
    var(v)
}

/// A transition: its guard, and what becomes of each part of the state.
pub fn transition(transition: &Transition, system: &System, out: &mut String) {
    writeln!(out, "; {}: src/kernel/src/{}", transition.name, transition.source).expect("to memory");
    transition.params.iter().for_each(|param| declare(param, out));
    transition.set.iter().for_each(|rel| writeln!(out, "; for each set `{}`", rel.name).expect("to memory"));
    transition.guard.iter().for_each(|part| assert(part, system, out));
    for update in &transition.updates {
        match update {
            Update::Rel { rel, formals, body } => {
                let formals: Vec<String> = formals.iter().map(|v| format!("({} {})", var(v), v.sort.0)).collect();
                write!(out, "(define-fun {}_after ({}) Bool ", rel.name, formals.join(" ")).expect("to memory");
                print(body, system, out);
                out.push_str(")\n");
            }
            Update::Goes { m, to } => {
                for (when, place) in to {
                    write!(out, "; {} goes to {} if ", var(m), system.places[*place as usize]).expect("to memory");
                    print(when, system, out);
                    out.push('\n');
                }
            }
        }
    }
}
