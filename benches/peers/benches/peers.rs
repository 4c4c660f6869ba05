//! `cargo bench --manifest-path benches/peers/Cargo.toml -- --help`

use spinpark_peers::cli::{self, Programs};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main(Programs::new(
        Path::new(env!("CARGO_BIN_EXE_contender")),
        Path::new(env!("CARGO_BIN_EXE_contender-counting")),
    ))
}
