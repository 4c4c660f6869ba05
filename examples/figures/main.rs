//! Draws figures 3 to 17 of docs/guide/figures.md, each from the trace of a run.
//!
//! `cargo run --example figures [DIR]`; without a directory into docs/pictures/figures.

mod figures;
mod lifelines;
mod pictures;
mod scenarios;
mod scene;
mod stage;
mod svg;

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let into = env::args_os().nth(1).map_or_else(|| PathBuf::from("docs/pictures/figures"), PathBuf::from);
    fs::create_dir_all(&into)?;
    for (name, picture) in pictures::all() {
        fs::write(into.join(name).with_extension("svg"), picture)?;
    }
    Ok(())
}
