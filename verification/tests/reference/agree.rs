//! The checker beside the reference, which finds executions in the plainest way there is.

use rc11::engine::{Config, Report, explore};
use rc11::verdict::Why;
use spinpark_litmus::enumerate::{Reference, enumerate};
use spinpark_litmus::play::{CUT, play};
use spinpark_litmus::program::{Expr, Location, Program, Stmt};
use spinpark_verification::hosts::rc11::Rc11;
use std::fmt::Write as _;
use std::sync::Arc;

/// Do both find the same? An await of a word is not waited for when it is played: whether such a program may get stuck,
/// the checker cannot know.
///
/// # Errors
/// The program, and what both found.
pub(super) fn agree(program: &Program, has_awaits: bool) -> Result<(), String> {
    let reference = enumerate(program)?;
    let played = Arc::new(program.clone());
    let report = explore(&Config::default(), move || play::<Rc11>(&played), |_| ());
    if is_same(program, &reference, &report, has_awaits) {
        return Ok(());
    }
    let Report { tally, failure, .. } = report;
    let why = failure.map(|found| found.failure.why);
    Err(format!("{}\nthe reference: {reference:#?}\nthe checker: {why:?}, {tally:#?}", text(program)))
}

fn is_same(program: &Program, reference: &Reference, report: &Report, has_awaits: bool) -> bool {
    match report.failure.as_ref().map(|found| &found.failure.why) {
        Some(Why::Race(_)) => reference.race,
        Some(Why::Deadlock(_)) => reference.stuck && !has_awaits,
        Some(_) => false,
        None if reference.race || (reference.stuck && !has_awaits) => false,
        None => has_same_executions(program, reference, report),
    }
}

/// The same outcomes, each as often; and no execution was wasted.
fn has_same_executions(program: &Program, reference: &Reference, report: &Report) -> bool {
    let mut outcomes = report.tally.outcomes.clone();
    let cut = outcomes.remove(CUT).unwrap_or(0);
    if !program.is_native() {
        // An update that is played as a load and an exchange fails in executions of its own.
        return outcomes.keys().eq(reference.outcomes.keys());
    }
    let is_each_played_once = report.tally.plays == report.tally.executions && report.tally.blocked == 0;
    is_each_played_once && outcomes == reference.outcomes && report.tally.executions - cut == reference.executions
}

/// The program, to be read.
fn text(program: &Program) -> String {
    let mut text = String::new();
    for (n, thread) in program.threads.iter().enumerate() {
        let start: Vec<String> =
            thread.registers.iter().zip(thread.start()).map(|(r, v)| format!("{r} = {v}")).collect();
        let _ = writeln!(text, "P{n} ({}) {{", start.join(", "));
        block(&mut text, &program.locations, &thread.body, 1);
        text.push_str("}\n");
    }
    text
}

fn block(text: &mut String, places: &[Location], body: &[Stmt], depth: usize) {
    for stmt in body {
        let indent = "  ".repeat(depth);
        let (line, inner): (String, &[Stmt]) = match stmt {
            Stmt::If { condition, then, .. } => (format!("if {}", value(condition)), then),
            Stmt::Locked(lock, body) => (format!("lock {}", places[*lock].name), body),
            stmt => (line(places, stmt), &[]),
        };
        let _ = writeln!(text, "{indent}{line}");
        block(text, places, inner, depth + 1);
    }
}

fn line(places: &[Location], stmt: &Stmt) -> String {
    let name = |loc: &usize| &places[*loc].name;
    match stmt {
        Stmt::Load { into, loc, access } => format!("r{into} = {} {access:?}", name(loc)),
        Stmt::Store { loc, value: new, access } => format!("{} = {} {access:?}", name(loc), value(new)),
        Stmt::Update { into, loc, op, operand, order } => {
            format!("{into:?} = {op:?} {} {} {order:?}", name(loc), value(operand))
        }
        Stmt::Exchange { done, loc, expected, new, success, failure, weak } => {
            let (new, loc) = (value(new), name(loc));
            format!("{done:?} = exchange {loc}, r{expected} by {new}, {success:?} {failure:?}, weak {weak}")
        }
        Stmt::Await { loc, value, order, then } => format!("await {} = {value} {order:?}, then {then:?}", name(loc)),
        Stmt::Park(parker) => format!("park {}", name(parker)),
        Stmt::Unpark(parker) => format!("unpark {}", name(parker)),
        other => format!("{other:?}"),
    }
}

fn value(expr: &Expr) -> String {
    match expr {
        Expr::Const(value) => value.to_string(),
        Expr::Reg(reg) => format!("r{reg}"),
        other => format!("{other:?}"),
    }
}
