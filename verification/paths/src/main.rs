//! Prints the paths of the kernel's operations, and holds them against the drawings. Try `--help`.

use clap::{Parser, Subcommand};
use spinpark_parameterized::said;
use spinpark_paths::tie::{DRAWINGS, Drawing, Tied, tie};
use spinpark_paths::{path, rooms};
use std::process::ExitCode;

/// `println`, but for a reader that has gone away.
macro_rules! say {
    ($($what:tt)*) => { said::say(&format!($($what)*)) };
}

#[derive(Parser)]
#[command(
    about = "Every path of an operation of spinpark's kernel: all that its environment may answer, and what it does then"
)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// The rooms and their operations, with how many paths each has (the default)
    List,
    /// The automaton of an operation, such as `spinning::wakep`; of each in a room, such as `spinning`; or of all
    Show {
        /// Which
        name: Option<String>,
        /// The same as a picture, in Graphviz's language: `… --dot | dot -Tsvg`
        #[arg(long)]
        dot: bool,
    },
    /// Is each path of the source one of the drawing that is proved for every size, and each drawn step one of the source?
    Tie {
        /// Only this drawing
        name: Option<String>,
        /// Each transition of the drawing, with the steps of the source that it is
        #[arg(long)]
        all: bool,
    },
}

fn main() -> ExitCode {
    let status = match Arguments::parse().command.unwrap_or(Command::List) {
        Command::List => list(),
        Command::Show { name, dot } => show(name.as_deref(), dot),
        Command::Tie { name, all } => ties(name.as_deref(), all),
    };
    match said::lost() {
        Some(error) => {
            eprintln!("error: cannot write to the standard output: {error}");
            ExitCode::from(2)
        }
        None => status,
    }
}

fn list() -> ExitCode {
    for room in rooms::ROOMS {
        for operation in room.operations {
            let paths = path::paths(room, operation).len();
            say!(
                "{:<48} {paths:>3} path{}",
                format!("{}::{}", room.name, operation.name),
                if paths == 1 { "" } else { "s" }
            );
        }
    }
    ExitCode::SUCCESS
}

fn show(name: Option<&str>, dot: bool) -> ExitCode {
    let is_asked = |full: &str, room: &str| name.is_none_or(|name| name == full || name == room);
    let mut any = false;
    for room in rooms::ROOMS {
        for operation in room.operations {
            if is_asked(&format!("{}::{}", room.name, operation.name), room.name) {
                any = true;
                let text = if dot { path::dot(room, operation) } else { path::text(room, operation, true) };
                say!("{}", text.trim_end());
            }
        }
    }
    if !any {
        eprintln!("error: no room and no operation has this name; `list` tells them");
        return ExitCode::from(2);
    }
    ExitCode::SUCCESS
}

fn ties(name: Option<&str>, all: bool) -> ExitCode {
    let asked: Vec<&Drawing> = DRAWINGS.iter().copied().filter(|d| name.is_none_or(|name| name == d.name)).collect();
    if asked.is_empty() {
        let names: Vec<&str> = DRAWINGS.iter().map(|drawing| drawing.name).collect();
        eprintln!("error: no drawing of this name is tied; there are: {}", names.join(", "));
        return ExitCode::from(2);
    }
    let mut is_tied = true;
    for drawing in asked {
        let tied = tie(drawing, "");
        say!("{}", tied.words(drawing.name));
        if all {
            tell(&tied);
        }
        is_tied &= tied.differences.is_empty();
    }
    if is_tied { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn tell(tied: &Tied) {
    for (transition, runs) in &tied.found {
        say!("  {transition}");
        runs.iter().for_each(|run| say!("      {run}"));
    }
    tied.silent.iter().for_each(|step| say!("  nothing in the drawing, {step}"));
}
