//! Cases of which each changes its process, so each is a process of its own: the test program, called with the case's name.

use std::process::{Command, ExitCode};

/// Its name, and what it does.
pub(crate) type Case = (&'static str, fn());

/// Plays the case that the program was called for; or all of them, for so many seconds each at most.
pub(crate) fn main(cases: &[Case], seconds: u32) -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    if let Some((_, play)) = cases.iter().find(|(case, _)| *case == name) {
        play();
        return ExitCode::SUCCESS;
    }
    let mut failed = 0;
    for (case, _) in cases {
        let me = std::env::current_exe().expect("this program");
        let mut command = Command::new("timeout");
        let output = command.arg(seconds.to_string()).arg(me).arg(case).output().expect("it can be started");
        println!("test {case} ... {}", if output.status.success() { "ok" } else { "FAILED" });
        if !output.status.success() {
            failed += 1;
            println!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        }
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
