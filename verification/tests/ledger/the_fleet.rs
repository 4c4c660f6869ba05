//! What the fleet adds up is what the checker counts: its scripts read the checker's checkpoints.

use super::root;
use std::process::Command;

#[test]
fn knows_all_that_a_checkpoint_counts() {
    let its_tests = ["-m", "unittest", "test_fleet.Fronts"];
    match Command::new("python3").args(its_tests).current_dir(root().join("verification/fleet")).output() {
        Ok(told) => assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr)),
        Err(absent) => eprintln!("not compared: python3 is absent: {absent}"),
    }
}
