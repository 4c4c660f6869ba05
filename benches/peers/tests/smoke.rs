//! Every contender does its work on every row: a little of it, and the sums are right.

use spinpark_peers::cli::Programs;
use spinpark_peers::row::Sample;
use spinpark_peers::rows;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn every_contender_passes_the_checks_of_every_row() {
    for row in rows::all() {
        let program = match row.counting {
            false => env!("CARGO_BIN_EXE_contender"),
            true => env!("CARGO_BIN_EXE_contender-counting"),
        };
        for contender in row.contenders.iter().filter(|contender| contender.in_go.is_none()) {
            let operations = row.operations(contender, true).to_string();
            // It checks itself.
            let output = Command::new(program)
                .args([row.name, contender.name, "--once", "--operations", &operations])
                .output()
                .expect("it starts");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {}: {said}", row.name, contender.name);
        }
    }
}

/// The same of Go's, where there is Go.
#[test]
fn go_does_too() {
    let programs = Programs::new(Path::new(env!("CARGO_BIN_EXE_contender")), Path::new(""));
    for row in rows::all() {
        for contender in row.contenders.iter().filter(|contender| contender.in_go.is_some()) {
            let Some(mut command) = programs.command(row, contender) else { return };
            let operations = row.operations(contender, true);
            let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
            writeln!(process.stdin.take().expect("its input"), "{operations}").expect("it reads");
            let said = process.wait_with_output().expect("it ends");
            let said = String::from_utf8(said.stdout).expect("it is text");
            let sample: Sample = serde_json::from_str(said.lines().nth(1).unwrap_or_default()).expect("an answer");
            row.check(contender, operations, &sample).unwrap_or_else(|wrong| panic!("{wrong}"));
        }
    }
}
