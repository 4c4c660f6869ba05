//! A contender's life: it starts its runtime, and then does a round whenever it is asked to.

use crate::row::{Contender, Row, Sample};
use crate::rows;
use clap::Parser;
use std::io::{BufRead, Write, stdin, stdout};
use std::process::ExitCode;

/// What it says when its runtime has started.
pub const READY: &str = "ready";

/// One contender on one row, in a process of its own. The bench starts these; by hand, with --once, for callgrind, perf
/// and strace.
#[derive(Parser)]
#[command(
    name = "contender",
    after_help = "\
Without --once it reads how many operations it is to do from its input, a round a line, and answers each with a line.

  valgrind --tool=callgrind contender --once yield_one tokio --operations 100000
  perf record -g contender --once spawn_join smol
  strace -f -c contender --once sparse_2 tokio"
)]
struct Arguments {
    /// Name of the row
    row: String,
    /// Name of the contender
    contender: String,
    /// Do one round, check it, say what it gave, and end
    #[arg(long)]
    once: bool,
    /// With --once: how many operations
    #[arg(long, value_name = "N")]
    operations: Option<u64>,
}

pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let Some(row) = rows::all().find(|row| row.name == arguments.row) else {
        eprintln!("there is no row {}", arguments.row);
        return ExitCode::FAILURE;
    };
    let Some(contender) = row.contender(&arguments.contender) else {
        eprintln!("{} has no contender {}", row.name, arguments.contender);
        return ExitCode::FAILURE;
    };
    if arguments.once {
        let operations = arguments.operations.unwrap_or(row.operations(contender, false));
        once(row, contender, operations);
    }
    serve(row, contender);
    std::process::exit(0)
}

fn once(row: &Row, contender: &Contender, operations: u64) -> ! {
    let sample = (contender.open)(row.setup)(operations);
    // Without waiting for the runtime's threads, which have no end in all of the contenders.
    std::process::exit(match row.check(contender, operations, &sample) {
        Ok(()) => {
            say(&answer(&sample));
            0
        }
        Err(wrong) => {
            eprintln!("{wrong}");
            1
        }
    })
}

fn serve(row: &Row, contender: &Contender) {
    let mut round = (contender.open)(row.setup);
    say(READY);
    for line in stdin().lock().lines() {
        let operations = line.ok().and_then(|line| line.parse().ok()).expect("a number");
        say(&answer(&round(operations)));
    }
}

fn answer(sample: &Sample) -> String {
    serde_json::to_string(sample).expect("numbers")
}

fn say(line: &str) {
    let mut out = stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).expect("there is a reader");
}
