//! Every contender does its work on every row: a little of it, and the sums are right.

use spinpark_peers::rows;
use std::process::Command;

#[test]
fn every_contender_passes_the_checks_of_every_row() {
    for row in rows::all() {
        let program = match row.counting {
            false => env!("CARGO_BIN_EXE_contender"),
            true => env!("CARGO_BIN_EXE_contender-counting"),
        };
        for contender in row.contenders {
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
