//! What readers see of a protocol: its invariant in words and in symbols, and its wrong variants. docs/evidence/every-size.md
//! names the command that prints these tables.

use crate::logic::{Formula, Var};
use crate::system::{Protocol, System};
use std::fmt::Write;

/// The formula in symbols.
pub fn symbols(formula: &Formula, system: &System) -> String {
    inner(formula, system, &mut Vec::new())
}

/// A variable's name, with a number if another has the same.
fn name(v: &Var, scope: &[Var]) -> String {
    let same: Vec<&Var> = scope.iter().filter(|other| other.name == v.name).collect();
    match same.iter().position(|other| *other == v) {
        Some(n) if n > 0 => format!("{}{}", v.name, n + 1),
        _ => v.name.to_owned(),
    }
}

fn inner(formula: &Formula, system: &System, scope: &mut Vec<Var>) -> String {
    let many = |parts: &[Formula], with: &str, scope: &mut Vec<Var>| {
        let parts: Vec<String> = parts.iter().map(|part| inner(part, system, scope)).collect();
        format!("({})", parts.join(with))
    };
    match formula {
        Formula::Is(truth) => truth.to_string(),
        Formula::Rel(rel, args) => {
            let args: Vec<String> = args.iter().map(|arg| name(arg, scope)).collect();
            if args.is_empty() { rel.name.to_owned() } else { format!("{}({})", rel.name, args.join(", ")) }
        }
        Formula::Same(a, b) => format!("{} = {}", name(a, scope), name(b, scope)),
        Formula::At(m, places) => {
            let names: Vec<&str> =
                (0..system.places.len()).filter(|p| places.has(*p as u8)).map(|p| system.places[p]).collect();
            match names.as_slice() {
                [one] => format!("{} at {one}", name(m, scope)),
                _ => format!("{} at {{{}}}", name(m, scope), names.join(", ")),
            }
        }
        Formula::Not(body) => match &**body {
            Formula::Same(a, b) => format!("{} ≠ {}", name(a, scope), name(b, scope)),
            body => format!("¬{}", inner(body, system, scope)),
        },
        Formula::And(parts) => many(parts, " ∧ ", scope),
        Formula::Or(parts) => {
            // What is negated comes before the arrow.
            let negated = |part: &&Formula| matches!(part, Formula::Not(body) if !matches!(**body, Formula::Same(..)));
            let (before, after): (Vec<&Formula>, Vec<&Formula>) = parts.iter().partition(negated);
            if before.len() != 1 || after.is_empty() {
                return many(parts, " ∨ ", scope);
            }
            let Formula::Not(first) = before[0] else { unreachable!("it is negated") };
            let after: Vec<Formula> = after.into_iter().cloned().collect();
            let after = if after.len() == 1 { inner(&after[0], system, scope) } else { many(&after, " ∨ ", scope) };
            format!("({} → {after})", inner(first, system, scope))
        }
        Formula::All(v, body) | Formula::Some(v, body) => {
            scope.push(*v);
            let sign = if matches!(formula, Formula::All(..)) { "∀" } else { "∃" };
            let text = format!("{sign}{} {}", name(v, scope), inner(body, system, scope));
            scope.pop();
            text
        }
    }
}

/// The tables of a protocol.
pub fn tables(protocol: &Protocol) -> String {
    let system = (protocol.system)("");
    let mut out = format!("| conjunct of `{}` | in words | without it fails |\n|---|---|---|\n", protocol.name);
    for (conjunct, (_, needed)) in system.invariant.iter().zip(protocol.needed) {
        writeln!(out, "| {} | {} | {needed} |", conjunct.name, conjunct.words).expect("to memory");
    }
    out.push_str("\n```text\n");
    for conjunct in &system.invariant {
        writeln!(out, "{}\n    {}", conjunct.name, symbols(&conjunct.says, &system)).expect("to memory");
    }
    out.push_str("```\n\n| what follows | in words |\n|---|---|\n");
    for conjunct in &system.safety {
        writeln!(out, "| {} | {} |", conjunct.name, conjunct.words).expect("to memory");
    }
    out.push_str("\n| wrong variant | what is wrong | known as | an execution goes wrong |\n|---|---|---|---|\n");
    for variant in protocol.wrong {
        let steps = variant.steps.map_or("none was found".to_owned(), |steps| format!("in {steps} steps"));
        writeln!(out, "| {} | {} | {} | {steps} |", variant.name, variant.what, variant.known).expect("to memory");
    }
    out
}
