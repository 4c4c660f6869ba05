//! The frame around a program of this project that is called by hand: its exit status, and what is said when it fails.

use crate::output;
use clap::Parser;
use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

/// Why a command did not succeed, and the exit status for it.
pub enum Stop {
    /// Something does not hold.
    DoesNotHold,
    /// A usage error.
    BadInput(String),
    /// Ctrl-C. What has been done until then stands where this says.
    Interrupted(String),
}

impl From<String> for Stop {
    fn from(message: String) -> Stop {
        Stop::BadInput(message)
    }
}

/// Reads the command line, does what it asks for, and says what was wrong. Output that could not be written is an error too.
pub fn main<C: Parser>(act: impl FnOnce(C) -> Result<ExitCode, Stop>) -> ExitCode {
    main_of(env::args_os().collect(), act)
}

/// The same, of these arguments.
pub fn main_of<C: Parser>(arguments: Vec<OsString>, act: impl FnOnce(C) -> Result<ExitCode, Stop>) -> ExitCode {
    let status = match C::try_parse_from(arguments) {
        Ok(asked) => status_of(act(asked)),
        Err(said) => {
            // `--help` and `--version` come this way too.
            output::note(said.print());
            ExitCode::from(u8::try_from(said.exit_code()).unwrap_or(2))
        }
    };
    match output::lost() {
        Some(error) => usage_error(&format!("cannot write to the standard output: {error}")),
        None => status,
    }
}

fn status_of(result: Result<ExitCode, Stop>) -> ExitCode {
    match result {
        Ok(status) => status,
        Err(Stop::DoesNotHold) => ExitCode::from(1),
        Err(Stop::BadInput(message)) => usage_error(&message),
        Err(Stop::Interrupted(message)) => {
            eprintln!("interrupted: {message}");
            // As a shell says of what SIGINT ends.
            ExitCode::from(130)
        }
    }
}

fn usage_error(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(2)
}
