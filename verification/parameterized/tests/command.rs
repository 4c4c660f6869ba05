//! The program, where no solver is installed, and where its output is not read.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spinpark-parameterized"));
    command.args(arguments).env("PATH", "").output().expect("the program starts")
}

mod without_solvers {
    use super::*;

    #[test]
    fn what_needs_them_is_skipped_with_a_line() {
        for arguments in [&[][..], &["check", "runq"], &["variants", "runq"], &["needed", "runq"]] {
            let output = run(arguments);
            let said = String::from_utf8_lossy(&output.stdout);
            assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
            assert!(said.contains("skipped: z3 is not installed"), "{arguments:?}: {said}");
        }
    }

    #[test]
    fn nothing_is_recorded() {
        let output = run(&["record", "nowhere.json"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(!std::path::Path::new("nowhere.json").exists(), "it was written");
    }
}

#[cfg(target_os = "linux")]
mod what_is_printed {
    use super::*;
    use std::fs::File;
    use std::process::Stdio;

    #[test]
    fn and_is_lost_is_an_error_and_no_panic() {
        let full = File::options().write(true).open("/dev/full").expect("Linux has it");
        let mut command = Command::new(env!("CARGO_BIN_EXE_spinpark-parameterized"));
        let output = command.arg("list").stdout(full).output().expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("cannot write to the standard output"), "{said}");
    }

    #[test]
    fn to_a_reader_that_has_gone_away_is_no_error() {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spinpark-parameterized"));
        let mut child = command.arg("page").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
