//! What the commands print: `cargo verify paths`, and this package's own program.

use crate::tie::{DRAWINGS, Drawing, Tied, tie};
use crate::{path, rooms};
use std::fmt::Write;

/// The rooms and their operations, with how many paths each has.
#[must_use]
pub fn list() -> String {
    let mut out = String::new();
    for room in rooms::ROOMS {
        for operation in room.operations {
            let (name, paths) = (room.name_of(operation), path::paths(room, operation).len());
            writeln!(out, "{name:<48} {paths:>3} path{}", if paths == 1 { "" } else { "s" }).expect("to memory");
        }
    }
    out
}

/// The automaton of an operation, such as `spinning::wakep`, or of each in a room; as text, or in Graphviz's language.
///
/// # Errors
/// No room and no operation has this name.
pub fn show(name: &str, dot: bool) -> Result<String, String> {
    let mut out = String::new();
    for room in rooms::ROOMS {
        for operation in room.operations {
            if name == room.name || name == room.name_of(operation) {
                out += &if dot { path::dot(room, operation) } else { path::text(room, operation, true) };
            }
        }
    }
    let unknown = || format!("no room and no operation is named `{name}`; without a name all are listed");
    if out.is_empty() { Err(unknown()) } else { Ok(out) }
}

/// Holds the source against a drawing, or all: what came of it, and whether they agree. `all`: with each transition.
///
/// # Errors
/// No drawing of this name is tied.
pub fn ties(name: Option<&str>, all: bool) -> Result<(String, bool), String> {
    let asked: Vec<&Drawing> = DRAWINGS.iter().copied().filter(|d| name.is_none_or(|name| name == d.name)).collect();
    if asked.is_empty() {
        let names: Vec<&str> = DRAWINGS.iter().map(|drawing| drawing.name).collect();
        return Err(format!("no drawing of this name is tied; there are: {}", names.join(", ")));
    }
    let (mut out, mut agree) = (String::new(), true);
    for drawing in asked {
        let tied = tie(drawing, "");
        writeln!(out, "{}", tied.words(drawing.name)).expect("to memory");
        if all {
            tell(&tied, &mut out);
        }
        agree &= tied.differences.is_empty();
    }
    Ok((out, agree))
}

fn tell(tied: &Tied, out: &mut String) {
    for (transition, runs) in &tied.found {
        writeln!(out, "  {transition}").expect("to memory");
        for run in runs {
            writeln!(out, "      {run}").expect("to memory");
        }
    }
    for step in &tied.silent {
        writeln!(out, "  nothing in the drawing, {step}").expect("to memory");
    }
}
