//! What this crate was built from, as two numbers: a schedule is of one kernel and of one checker, and says which.

// Public to the crate that shares it.
#[allow(unreachable_pub)]
#[path = "src/fnv.rs"]
mod fnv;

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Parts of the checker that no execution depends on.
const NO_MATTER: [&str; 3] = ["src/record.rs", "src/output.rs", "src/command_line.rs"];

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    stamp("SPINPARK_KERNEL", &[here.join("../src/kernel/src")])?;
    stamp("SPINPARK_CHECKER", &["src", "rc11/src"].map(|name| here.join(name)))
}

/// The variable `name` is the hash of all sources below `roots`.
fn stamp(name: &str, roots: &[PathBuf]) -> io::Result<()> {
    let mut files = Vec::new();
    for root in roots {
        println!("cargo::rerun-if-changed={}", root.display());
        sources(root, &mut files)?;
    }
    let texts: Vec<Vec<u8>> = files.iter().map(fs::read).collect::<io::Result<_>>()?;
    println!("cargo::rustc-env={name}={:016x}", fnv::hash(texts.into_iter().flatten()));
    Ok(())
}

fn sources(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut inside: Vec<PathBuf> = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    inside.retain(|path| !NO_MATTER.iter().any(|name| path.ends_with(name)));
    inside.sort();
    inside.iter().try_for_each(|path| sources(path, files))
}
