//! Finds the mistakes that do not compile, and writes them to `kernel/stillborn.txt`.
//!
//! `cargo run -p spinpark-mutator --bin prune`, in `verification/mutants`, after a change of the kernel that breaks the
//! build of `spinpark-mutated`.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A mistake whose removal shows another takes a round; there are never many.
const ROUNDS: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let list = here.join("kernel/stillborn.txt");
    let mut stillborn = BTreeSet::new();
    for round in 0..ROUNDS {
        fs::write(&list, text(&stillborn))?;
        let (errors, out) = build(&here)?;
        println!("round {round}: {} errors, {} left out", errors.len(), stillborn.len());
        if errors.is_empty() {
            return Ok(());
        }
        let blamed = blame(&errors, &out.ok_or("the build script has left no folder")?)?;
        if blamed.is_empty() {
            return Err(format!("these are no mistake's: {errors:#?}").into());
        }
        stillborn.extend(blamed);
    }
    Err(format!("it does not compile after {ROUNDS} rounds").into())
}

fn text(stillborn: &BTreeSet<String>) -> String {
    let mut text =
        String::from("# Mistakes that do not compile. Made by `cargo run -p spinpark-mutator --bin prune`.\n");
    stillborn.iter().for_each(|key| text.extend([key, "\n"]));
    text
}

/// The compiler's errors, and where the build script writes to.
fn build(here: &Path) -> Result<(Vec<Value>, Option<PathBuf>), Box<dyn Error>> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.current_dir(here).args(["build", "--quiet", "-p", "spinpark-mutated", "--message-format=json"]);
    let said = cargo.output()?.stdout;
    let (mut errors, mut out) = (Vec::new(), None);
    for line in String::from_utf8(said)?.lines() {
        let Ok(said) = serde_json::from_str::<Value>(line) else { continue };
        let is_ours = said["package_id"].as_str().is_some_and(|id| id.contains("mutants/kernel"));
        match said["reason"].as_str() {
            Some("build-script-executed") if is_ours => out = said["out_dir"].as_str().map(PathBuf::from),
            Some("compiler-message") if said["message"]["level"] == "error" => errors.push(said["message"].clone()),
            _ => (),
        }
    }
    errors.retain(|error| !error["spans"].as_array().is_none_or(Vec::is_empty));
    Ok((errors, out))
}

/// The keys of the mistakes whose text the errors point at.
fn blame(errors: &[Value], out: &Path) -> Result<BTreeSet<String>, Box<dyn Error>> {
    let mut inserted: BTreeMap<String, Vec<(u64, u64, String)>> = BTreeMap::new();
    for line in fs::read_to_string(out.join("src/inserted.txt"))?.lines() {
        let [file, from, to, id] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        inserted.entry(file.into()).or_default().push((from.parse()?, to.parse()?, id.into()));
    }
    let keys = fs::read_to_string(out.join("src/keys.txt"))?;
    let keys: BTreeMap<&str, &str> = keys.lines().filter_map(|line| line.split_once('\t')).collect();
    let mut blamed = BTreeSet::new();
    for error in errors {
        let spans: Vec<_> = error["spans"].as_array().into_iter().flatten().filter_map(place).collect();
        let of = |file: &str, from: u64, to: u64| {
            let here = inserted.get(file).into_iter().flatten();
            let here = here.filter(move |(start, end, _)| *start < to && from < *end);
            here.filter_map(|(.., id)| keys.get(id.as_str())).map(|key| (*key).to_owned()).collect::<Vec<_>>()
        };
        let mut theirs: Vec<String> = spans.iter().flat_map(|(file, from, to)| of(file, *from, *to)).collect();
        if let (true, Some((file, ..))) = (theirs.is_empty(), spans.first()) {
            // It points at what was there before; then it is something between that is left out.
            let from = spans.iter().map(|(_, from, _)| *from).min().unwrap_or(0);
            let to = spans.iter().map(|(.., to)| *to).max().unwrap_or(0);
            theirs = of(file, from, to).into_iter().filter(|key| key.contains(" | dropped | ")).collect();
        }
        blamed.extend(theirs);
    }
    Ok(blamed)
}

/// The file below `src`, and which bytes of it.
fn place(span: &Value) -> Option<(&str, u64, u64)> {
    let (_, file) = span["file_name"].as_str()?.rsplit_once("src/")?;
    Some((file, span["byte_start"].as_u64()?, span["byte_end"].as_u64()?))
}
