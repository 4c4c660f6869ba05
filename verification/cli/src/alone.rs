//! Mutants that no common build can have, `verification/mutants/kernel/alone.txt`: each is a real edit of the source, and a
//! build of its own, which is kept until the kernel changes.

use crate::how::How;
use crate::matrix::{self, Budget, Tried, Untried};
use crate::survivors::Survivors;
use crate::{Stop, mutants, progress};
use spinpark_verification::fnv;
use spinpark_verification::model::{self, Model};
use spinpark_verification::mutation::trial::Mistake;
use spinpark_verification::record::{MutantRecord, Sort};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Their keys, each with what is known of it before it is tried.
pub(crate) fn listed() -> impl Iterator<Item = (&'static str, MutantRecord)> {
    let lines = include_str!("../../mutants/kernel/alone.txt").lines();
    let keys = lines.filter(|line| !line.starts_with('#') && !line.is_empty());
    keys.filter_map(|key| Some((key, record(key)?)))
}

/// The mutator's `Step::name`, out of its key.
fn record(key: &str) -> Option<MutantRecord> {
    let [file, function, kind, before, after, nth] = key.split(" | ").collect::<Vec<_>>()[..] else { return None };
    let what = match kind {
        "dropped" => format!("`{before}` is left out"),
        "doubled" => format!("`{before}` is done twice"),
        "swapped" => format!("`{before}` comes {after}"),
        _ => format!("`{before}` is `{after}`"),
    };
    let nth = nth.parse().ok().filter(|&nth: &usize| nth > 0).map(|nth| format!(" #{}", nth + 1)).unwrap_or_default();
    Some(MutantRecord {
        name: format!("{file} {function}: {what}{nth}"),
        sort: Sort::Step,
        kind: kind.to_owned(),
        room: matrix::room(file),
        file: file.to_owned(),
        what,
        ..MutantRecord::unknown()
    })
}

/// Builds them, one after the other, and tries each before every model.
pub(crate) fn try_all(how: &How, is_selected: &dyn Fn(&str) -> bool) -> Result<Vec<Tried>, Stop> {
    let this = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let mut budget = if how.deep { Budget::DEEP } else { Budget::QUICK };
    // There are a few, and it is not known which models cover them: all are asked.
    budget.candidates = usize::MAX;
    let models: Vec<&'static Model> = model::all().collect();
    let survey = matrix::survey(&this, &models, how.seed, budget, how.jobs(), |_, _, _| ())?;
    let survivors = Survivors::read()?;
    let asked: Vec<_> = listed().filter(|(_, record)| is_selected(&record.name)).collect();
    let (bar, mut all) = (progress::single(asked.len()), Vec::new());
    for (key, record) in asked {
        bar.set_message(format!("builds and tries {}", record.name));
        let program = build(key)?;
        let candidates = (0..survey.candidates.len()).collect();
        let mut tried =
            matrix::try_one(&program, Untried { record, mistake: Mistake::Nothing, candidates }, &survey, budget)?;
        survivors.explain(&mut tried.record);
        all.push(tried);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(all)
}

/// The program with this mutant; from the last run, if the kernel is the same.
fn build(key: &str) -> Result<PathBuf, Stop> {
    let target = mutants::target()?.with_file_name("mutants-alone");
    let hash = fnv::hash(key.bytes().chain(mutants::fingerprint().to_le_bytes()));
    let kept = target.join(format!("{hash:016x}")).with_extension(std::env::consts::EXE_EXTENSION);
    if kept.exists() {
        return Ok(kept);
    }
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--manifest-path"]).arg(crate::sources()?.join("verification/mutants/Cargo.toml"));
    cargo.arg("--target-dir").arg(&target).env("SPINPARK_ALONE", key);
    let status = cargo.status().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !status.success() {
        return Err(Stop::BadInput(format!(
            "with {key} the kernel does not build: run `prune` in verification/mutants"
        )));
    }
    let built = target.join("debug").join("mutants").with_extension(std::env::consts::EXE_EXTENSION);
    fs::copy(&built, &kept).map_err(|error| format!("cannot keep {}: {error}", kept.display()))?;
    Ok(kept)
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_key_has_its_fields() {
        let keys = include_str!("../../mutants/kernel/alone.txt").lines().filter(|line| line.contains(" | ")).count();
        assert_eq!(super::listed().count(), keys);
    }
}
