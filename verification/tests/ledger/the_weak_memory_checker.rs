//! Counts that the prose gives of recorded runs.

use super::{quoted, read, root};
use spinpark_verification::engines::{Engine, Verdict};
use spinpark_verification::kept::{Kept, KeptRun};
use spinpark_verification::model::{self, Model};
use spinpark_verification::output;
use std::collections::BTreeSet;

/// Every model that is played on RC11, and what came of it.
fn runs() -> Vec<(&'static str, KeptRun)> {
    let kept = Kept::read(&root().join("verification/record.jsonl")).expect("there is a record");
    let of_model = |model: &'static Model| {
        let on_rc11 = kept.runs_of(model).filter(|(engine, _)| *engine == Engine::Rc11);
        on_rc11.map(|(_, run)| (model.name, run.clone())).collect::<Vec<_>>()
    };
    model::all().flat_map(of_model).collect()
}

#[test]
fn proves_as_many_models_as_its_page_says() {
    let runs = runs();
    let models: BTreeSet<&str> = runs.iter().map(|(model, _)| *model).collect();
    let is_cut = |model: &&&str| runs.iter().any(|(name, run)| name == *model && run.verdict == Verdict::Bounded);
    let cut = models.iter().filter(is_cut).count();
    let says = format!("Of the {} models, {} are proved on RC11", models.len(), models.len() - cut);
    let text = read("docs/evidence/weak-memory.md").replace('\n', " ");
    assert!(text.contains(&format!("{says}, in a default run or by `best`; {cut}, ")), "not so: {says}; {cut}, …");
}

#[test]
fn explores_as_many_executions_as_its_page_says() {
    let (runs, text) = (runs(), read("docs/evidence/weak-memory.md"));
    let mut compared = 0;
    for row in text.lines().filter(|line| line.starts_with("| ") && line.ends_with("| proved |")) {
        let (Some(name), Some(count)) = (quoted(row).next(), row.split('|').nth(2)) else { continue };
        let name = format!("::{name}");
        let run = runs.iter().find(|(model, run)| model.ends_with(&name) && run.verdict == Verdict::Proved);
        if let Some((_, run)) = run {
            assert_eq!(count.trim(), output::thousands(run.executions), "{row}");
            compared += 1;
        }
    }
    assert!(compared >= 4, "only {compared} rows are of models that are recorded as proved");
}
