//! Of each model `cargo verify` takes the runs that its rule names: verification/src/selection.rs.

use spinpark_verification::model::{self, Run};
use spinpark_verification::selection::{is_usual, make, usual, weakness};

#[test]
fn are_of_every_model() {
    assert!(model::all().count() > 100, "the models are not there");
    for model in model::all() {
        let runs = usual(model);
        assert!(!runs.is_empty() && runs.len() <= 2, "{}: {runs:?}", model.name);
        for run in runs {
            let is_part = |all: &&Run| all.engine == run.engine && all.bounds.executions >= run.bounds.executions;
            let whole = model.runs.iter().filter(is_part).filter(|all| is_usual(model, all));
            assert_eq!(whole.count(), 1, "{}: {run:?}", model.name);
        }
    }
}

/// Nothing that is proved by all engines together is not proved, on as weak a memory, by those of the usual run.
#[test]
fn prove_what_can_be_proved() {
    for model in model::all() {
        let strongest = |runs: &[Run]| {
            let complete = runs.iter().filter(|run| run.engine.is_complete() && run.ends());
            complete.map(|run| (weakness(run.engine), usize::MAX - run.bounds.spurious)).min()
        };
        assert_eq!(strongest(model.runs), strongest(&usual(model)), "{}", model.name);
    }
}

#[test]
fn are_of_two_makes() {
    for model in model::all() {
        if let [one, other] = usual(model).as_slice() {
            let both_sample = one.engine.samples() && other.engine.samples();
            assert!(both_sample || make(one.engine) != make(other.engine), "{}", model.name);
        }
    }
}
