//! How the threads of a parsed test access each location, and so what it is. The types of the parameters do not decide
//! it: published tests hand `int*` to C's atomic functions, and the same object as `atomic_int*` to one thread and as
//! `int*` to another.

use crate::program::{Access, Kind, Program, Stmt};

/// How one location is accessed.
#[derive(Debug, Clone, Copy, Default)]
struct Used {
    atomically: bool,
    plainly: bool,
}

/// Sets the kind of each location.
pub(super) fn settle_kinds(program: &mut Program) {
    let mut used = vec![Used::default(); program.locations.len()];
    for thread in &program.threads {
        look(&thread.body, &mut used);
    }
    for (location, used) in program.locations.iter_mut().zip(used) {
        location.kind = match used {
            Used { atomically: true, plainly: true } => Kind::Mixed,
            Used { atomically: false, plainly: true } => Kind::Plain,
            _ => Kind::Atomic,
        };
    }
}

fn look(body: &[Stmt], used: &mut [Used]) {
    for stmt in body {
        match stmt {
            Stmt::Load { loc, access, .. } | Stmt::Store { loc, access, .. } => match access {
                Access::Plain => used[*loc].plainly = true,
                Access::Atomic(_) => used[*loc].atomically = true,
            },
            Stmt::Update { loc, .. } | Stmt::Await { loc, .. } | Stmt::Exchange { loc, .. } => {
                used[*loc].atomically = true;
            }
            Stmt::If { then, otherwise, .. } => {
                look(then, used);
                look(otherwise, used);
            }
            _ => (),
        }
    }
}
