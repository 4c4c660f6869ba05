//! Cases of which each changes its process, so each is a process of its own: the test program, called with the case's name.

use std::process::{Command, ExitCode};
use std::{panic, process, thread};

/// Its name, and what it does.
pub(crate) type Case = (&'static str, fn());

/// What `timeout` ends with.
const TIMED_OUT: i32 = 124;

/// If the case panics, its process ends at once: to drop a runtime that does not do what it should may take for ever.
fn end_at_the_first_panic() {
    let case = thread::current().id();
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        report(info);
        if thread::current().id() == case {
            process::exit(101);
        }
    }));
}

/// Plays the case that the program was called for; or all of them, for so many seconds each at most.
pub(crate) fn main(cases: &[Case], seconds: u32) -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    if let Some((_, play)) = cases.iter().find(|(case, _)| *case == name) {
        end_at_the_first_panic();
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
            if output.status.code() == Some(TIMED_OUT) {
                println!("{case}: it has not ended after {seconds} s");
            }
            println!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        }
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
