//! Classic figures of Go's scheduler, 3 to 17 of docs/guide/figures.md, each played and drawn from the trace of that run:
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
        let file = into.join(name).with_extension("svg");
        fs::write(&file, &picture)?;
        // Its headline is what is bold first.
        let headline = picture.split("\"bold\"").nth(1).and_then(|rest| rest.split(['>', '<']).nth(1));
        println!("{}: {}", file.display(), headline.unwrap_or_default());
    }
    Ok(())
}
