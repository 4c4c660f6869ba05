//! The books are balanced: what the documents say of the sources is what stands there, who imports whom is what is drawn,
//! and what the README says was found is what the last recorded run found. A file that is missing fails.

mod every_pair;
mod every_room;
mod imports;
mod other_machines;
mod sizes;
mod the_atomics;
mod the_documents;
mod the_facts;
mod the_figures;
mod the_fleet;
mod the_map_to_go;
mod the_museum;
mod the_names;
mod the_record;
mod the_usual_runs;
mod the_weak_memory_checker;
mod the_words;
mod unsafe_code;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The files in a folder of the project and below it: their paths below `root`, in order.
fn files(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.expect("it can be read");
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        match entry.path().is_dir() {
            true if path.ends_with("/target") => (),
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

/// The files of Rust in a folder and below it: their paths below `root`, and their texts.
fn sources(folder: &str) -> BTreeMap<String, String> {
    files(folder).into_iter().filter(|path| path.ends_with(".rs")).map(|path| (path.clone(), read(&path))).collect()
}

/// The kernel's files, by the paths of their modules: `protocol/stw` is `protocol/stw/mod.rs`.
fn kernel() -> BTreeMap<String, String> {
    let name = |path: &str| {
        let below = path.trim_start_matches("src/kernel/src/").trim_end_matches(".rs");
        below.strip_suffix("/mod").unwrap_or(below).to_owned()
    };
    let beside = ["task", "waits", "atomic", "host"];
    let is_of_the_kernel = |path: &str| !beside.iter().any(|one| path.starts_with(&format!("src/kernel/src/{one}")));
    let files = sources("src/kernel/src").into_iter().filter(|(path, _)| is_of_the_kernel(path));
    files.map(|(path, text)| (name(&path), text)).collect()
}

/// The sources of the crates below `src`: neither their tests nor their examples.
fn product() -> BTreeMap<String, String> {
    let beside = ["/tests/", "/tests.rs", "/examples/"];
    sources("src").into_iter().filter(|(path, _)| !beside.iter().any(|one| path.contains(one))).collect()
}

/// Words in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}
