//! The record of the last run is that of the models that there are.

use super::root;
use spinpark_verification::engines::Verdict;
use spinpark_verification::model;
use spinpark_verification::mutation::mutant;
use spinpark_verification::record::{self, Fate, Record};
use std::collections::BTreeSet;

fn record() -> Record {
    record::read(&root().join("verification/record.json")).expect("there is a record")
}

#[test]
fn knows_every_run_of_every_model_and_no_other() {
    let declared: BTreeSet<String> = model::all()
        .flat_map(|model| model.runs.iter().map(move |run| format!("{} {} {}", model.name, run.engine, run.bounds)))
        .collect();
    let recorded: BTreeSet<String> =
        record().runs.iter().map(|run| format!("{} {} {}", run.model, run.engine, run.bounds)).collect();
    let new: Vec<_> = declared.difference(&recorded).collect();
    let gone: Vec<_> = recorded.difference(&declared).collect();
    let again = "`cargo verify --all --record verification/record.json && cargo verify pages`";
    assert!(new.is_empty() && gone.is_empty(), "run {again}: new {new:?}, gone {gone:?}");
}

#[test]
fn holds_and_each_wrong_variant_is_killed() {
    let record = record();
    assert!(record.runs.iter().all(|run| run.verdict != Verdict::Failed));
    assert!(record.mutants.iter().all(|mutant| mutant.fate == Fate::Killed));
    let expected: usize = mutant::all().map(|mutant| mutant.killed_by.len()).sum();
    assert_eq!(record.mutants.len(), expected, "the wrong variants have changed: record them again");
}
