//! The process that tries mistakes of the mutated kernel: `cargo verify mutants` starts it.

use serde::Serialize;
use spinpark_kernel::{STEPS, Step, hits, switch_on, take_reached};
use spinpark_verification::mutation::trial::{self, Switches};
use std::io::Write;
use std::process::ExitCode;

/// A mutant, as it is listed.
#[derive(Serialize)]
struct Listed {
    id: u32,
    file: &'static str,
    line: u32,
    kind: &'static str,
    name: &'static str,
    what: &'static str,
}

fn main() -> ExitCode {
    let result = match std::env::args().nth(1).as_deref() {
        Some("list") => list(),
        Some("trial") => trial::work(Switches { switch_on, hits, take_reached }),
        _ => Err("it is asked by `cargo verify mutants`: `list`, or `trial` with a trial on its input".to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn list() -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    for &Step { id, file, line, kind, name, what, .. } in STEPS {
        let listed = Listed { id, file, line, kind, name, what };
        let line = serde_json::to_string(&listed).map_err(|error| error.to_string())?;
        writeln!(out, "{line}").map_err(|error| error.to_string())?;
    }
    Ok(())
}
