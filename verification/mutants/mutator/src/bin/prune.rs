//! Finds out how each mutant goes into the kernel, and writes that to `kernel/copied.txt`, `alone.txt` and `stillborn.txt`.
//!
//! `cargo run -p spinpark-mutator --bin prune`, in `verification/mutants`, after a change of the kernel that breaks the
//! build of `spinpark-mutated`. First each gets a switch at its site. What rustc refuses there becomes an edited copy of its
//! function. What stands in no function that can be copied is tried by itself, as a real edit of the source. Only what rustc
//! refuses then is stillborn.

use serde_json::Value;
use spinpark_mutator::{Kind, Placing};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A mutant whose removal shows another takes a round; there are never many.
const ROUNDS: usize = 40;
const HEADERS: [&str; 3] = [
    "# Mutants that a switch at their site cannot express: edited copies of their function. Made by `prune`.",
    "# Mutants that compile only as real edits: each needs a build of its own. Made by `prune`.",
    "# Mutants that rustc refuses, as real edits too. Made by `prune`.",
];

fn main() -> Result<(), Box<dyn Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    // `--keep`: what the lists say of older mutants is believed, for when there are new ones only.
    let is_kept = std::env::args().any(|arg| arg == "--keep");
    let mut placing = if is_kept { Placing::read(&here.join("kernel"))? } else { Placing::default() };
    for round in 0..ROUNDS {
        write(&here, &placing)?;
        let (errors, out) = build(&here, None)?;
        let Placing { copied, stillborn, .. } = &placing;
        println!("round {round}: {} errors, {} copied, {} refused", errors.len(), copied.len(), stillborn.len());
        let out = out.ok_or("the build script has left no folder")?;
        if errors.is_empty() {
            return by_themselves(&here, placing, &out);
        }
        let blamed = blame(&errors, &out)?;
        if blamed.is_empty() {
            return Err(format!("these are no mutant's: {errors:#?}").into());
        }
        let by_hand: Vec<&String> = blamed.iter().filter(|key| key.contains(" | edited | ")).collect();
        if !by_hand.is_empty() {
            return Err(format!("{:?}: rustc refuses {by_hand:#?}", Placing::BY_HAND).into());
        }
        for key in blamed {
            // A copy that is refused was refused at its site before.
            let was_copied = placing.copied.remove(&key);
            if was_copied {
                placing.stillborn.insert(key)
            } else {
                placing.copied.insert(key)
            };
        }
    }
    Err(format!("it does not compile after {ROUNDS} rounds").into())
}

/// What has no function that could be copied is tried alone. A copy that was refused was the edit itself: it needs no other try.
fn by_themselves(here: &Path, mut placing: Placing, out: &Path) -> Result<(), Box<dyn Error>> {
    let keys = fs::read_to_string(out.join("src/keys.txt"))?;
    let built: BTreeSet<&str> = keys.lines().filter_map(|line| Some(line.split_once('\t')?.1)).collect();
    let is_built = |key: &String| built.contains(key.as_str());
    let (copied, left) = std::mem::take(&mut placing.copied).into_iter().partition::<BTreeSet<_>, _>(is_built);
    placing.copied = copied;
    for key in left {
        // Each of its own would take hours; of the others there are a few.
        if Kind::TWO_LINES.iter().any(|kind| key.contains(&format!(" | {kind} | "))) {
            placing.stillborn.insert(key);
            continue;
        }
        let compiles = build(here, Some(&key))?.0.is_empty();
        if compiles {
            placing.alone.insert(key)
        } else {
            placing.stillborn.insert(key)
        };
    }
    write(here, &placing)?;
    let Placing { copied, alone, stillborn, .. } = &placing;
    println!("{} copied, {} alone, {} stillborn", copied.len(), alone.len(), stillborn.len());
    Ok(())
}

fn write(here: &Path, placing: &Placing) -> Result<(), std::io::Error> {
    let lists = [&placing.copied, &placing.alone, &placing.stillborn];
    for ((name, header), keys) in Placing::LISTS.iter().zip(HEADERS).zip(lists) {
        let lines = std::iter::once(header).chain(keys.iter().map(String::as_str));
        fs::write(here.join("kernel").join(name), lines.flat_map(|line| [line, "\n"]).collect::<String>())?;
    }
    Ok(())
}

/// The compiler's errors, and where the build script writes to. `alone`: with this one mutant.
fn build(here: &Path, alone: Option<&str>) -> Result<(Vec<Value>, Option<PathBuf>), Box<dyn Error>> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.current_dir(here).args(["check", "--quiet", "-p", "spinpark-mutated", "--message-format=json"]);
    cargo.envs(alone.map(|key| ("SPINPARK_ALONE", key)));
    let output = cargo.output()?;
    let (mut errors, mut out) = (Vec::new(), None);
    for line in String::from_utf8(output.stdout)?.lines() {
        let Ok(said) = serde_json::from_str::<Value>(line) else { continue };
        let is_ours = said["package_id"].as_str().is_some_and(|id| id.contains("mutants/kernel"));
        match said["reason"].as_str() {
            Some("build-script-executed") if is_ours => out = said["out_dir"].as_str().map(PathBuf::from),
            Some("compiler-message") if said["message"]["level"] == "error" => errors.push(said["message"].clone()),
            _ => (),
        }
    }
    errors.retain(|error| !error["spans"].as_array().is_none_or(Vec::is_empty));
    if errors.is_empty() && !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
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
