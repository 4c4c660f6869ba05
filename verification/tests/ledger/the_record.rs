//! What is kept of the last whole run is of the models that there are.

use super::{read, root};
use spinpark_verification::engines::Verdict;
use spinpark_verification::kept::{self, Kept};
use spinpark_verification::model;
use std::collections::BTreeSet;

fn kept() -> Kept {
    Kept::read(&root().join("verification/record.jsonl")).expect("there is a record")
}

#[test]
fn knows_every_run_of_every_model_and_no_other() {
    let declared: BTreeSet<String> = model::all()
        .flat_map(|model| {
            model.runs.iter().map(move |run| format!("{} {}", model.name, kept::key(run.engine, run.bounds)))
        })
        .collect();
    let kept = kept();
    let known: BTreeSet<String> = kept.all().map(|(model, key, _)| format!("{model} {key}")).collect();
    let new: Vec<_> = declared.difference(&known).collect();
    let gone: Vec<_> = known.difference(&declared).collect();
    let again = "`cargo verify --all --record verification/record.jsonl && cargo verify pages`";
    assert!(new.is_empty() && gone.is_empty(), "run {again}: new {new:?}, gone {gone:?}");
}

#[test]
fn holds() {
    let kept = kept();
    let failed: Vec<_> = kept.all().filter(|(_, _, run)| run.verdict == Verdict::Failed).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn is_small_enough_to_be_read_in_a_diff() {
    let bytes = read("verification/record.jsonl").len();
    assert!(bytes < 300_000, "{bytes} bytes");
}

mod the_files_of_a_model {
    use spinpark_verification::models::MODELS;
    use spinpark_verification::parts;
    use spinpark_verification::sources::SOURCES;
    use std::collections::BTreeSet;

    fn of(room: &str) -> BTreeSet<&'static str> {
        let model = MODELS.iter().flat_map(|models| models.iter()).find(|model| model.name.starts_with(room));
        parts::of(model.expect("a model"))
    }

    #[test]
    fn of_one_protocol_are_not_those_of_what_waits() {
        let files = of("spinning::");
        assert!(files.contains("protocol/spinning.rs") && files.contains("models/spinning.rs"), "{files:?}");
        assert!(!files.iter().any(|file| file.starts_with("waits/")), "{files:?}");
    }

    /// A method may stand in any file of it.
    #[test]
    fn of_the_scheduler_are_all_of_it() {
        let files = of("stw::");
        let of_sched = SOURCES.iter().map(|(path, _)| *path).filter(|path| path.starts_with("sched/"));
        let missing: Vec<_> = of_sched.filter(|path| !files.contains(path)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn take_along_what_they_import() {
        for (room, file) in [("sched::", "harness/common.rs"), ("select::", "waits/claim.rs")] {
            assert!(of(room).contains(file), "{room} without {file}");
        }
    }
}
