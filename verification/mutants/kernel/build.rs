//! Copies the kernel's source, with the mistakes in it.

use spinpark_mutator::{FOLDERS, Placing, Step, edited, mutate, mutated_sources};
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The key of the one mutant that this build has, as a real edit.
const ALONE: &str = "SPINPARK_ALONE";

fn main() -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let source = here.join("../../../src/kernel/src");
    let out = PathBuf::from(env::var("OUT_DIR")?).join("src");
    fs::create_dir_all(&out)?;
    println!("cargo::rerun-if-changed={}", source.display());
    Placing::LISTS.iter().for_each(|list| println!("cargo::rerun-if-changed={list}"));
    Placing::BY_HAND.iter().for_each(|list| println!("cargo::rerun-if-changed={list}"));
    println!("cargo::rerun-if-changed={}", Placing::VARIANTS);
    println!("cargo::rerun-if-env-changed={ALONE}");
    let alone = env::var(ALONE).ok();
    let placing = Placing::read(&here)?;
    let mut modules = String::new();
    for file in ["atomic", "host", "model"] {
        fs::copy(source.join(file).with_extension("rs"), out.join(file).with_extension("rs"))?;
        writeln!(modules, "#[path = {:?}]\npub mod {file};", out.join(file).with_extension("rs"))?;
    }
    for folder in FOLDERS {
        writeln!(modules, "#[path = {:?}]\npub mod {folder};", out.join(folder).join("mod.rs"))?;
    }
    let (mut steps, mut inserted) = (Vec::<Step>::new(), String::new());
    for path in mutated_sources(&source)? {
        let file = path.strip_prefix(&source)?.to_string_lossy().replace('\\', "/");
        fs::create_dir_all(out.join(&file).parent().ok_or("a file is in a folder")?)?;
        let first = steps.len() as u32 + 1;
        let text = fs::read_to_string(&path)?;
        if let Some(key) = &alone {
            write_if_new(&out.join(&file), &edited(&file, &text, key)?.unwrap_or(text))?;
            continue;
        }
        let mutated = mutate(&file, &text, first, &placing)?;
        for (bytes, id) in mutated.inserted {
            writeln!(inserted, "{file} {} {} {id}", bytes.start, bytes.end)?;
        }
        write_if_new(&out.join(&file), &mutated.text)?;
        steps.extend(mutated.steps);
    }
    write_if_new(&out.join("modules.rs"), &modules)?;
    write_if_new(&out.join("steps.rs"), &table(&steps)?)?;
    // For a search of the mistakes that do not compile.
    let keys: String = steps.iter().map(|step| format!("{}\t{}\n", step.id, step.key())).collect();
    fs::write(out.join("inserted.txt"), inserted)?;
    fs::write(out.join("keys.txt"), keys)?;
    Ok(())
}

fn write_if_new(path: &Path, text: &str) -> Result<(), std::io::Error> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) { Ok(()) } else { fs::write(path, text) }
}

fn table(steps: &[Step]) -> Result<String, std::fmt::Error> {
    let mut text = String::from("/// All mistakes, in the order of their numbers.\npub const STEPS: &[Step] = &[\n");
    for step in steps {
        let (Step { id, file, line, both, .. }, kind, name, what) = (step, step.kind.name(), step.name(), step.what());
        writeln!(
            text,
            "    Step {{ id: {id}, file: {file:?}, line: {line}, kind: {kind:?}, name: {name:?}, what: {what:?}, both: {both:?} }},"
        )?;
    }
    text.push_str("];\n");
    Ok(text)
}
