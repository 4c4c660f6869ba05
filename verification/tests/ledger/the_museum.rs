//! Each exhibit can be played, and stands in the guide.

use super::{files, read};
use spinpark_museum as museum;
use spinpark_verification::mutation::mutant;
use spinpark_verification::sources::SOURCES;
use spinpark_verification::{catalog, model};
use std::collections::BTreeSet;

#[test]
fn shows_only_what_can_be_played() {
    assert!(museum::all().count() >= 110, "only {} exhibits", museum::all().count());
    catalog::register(&museum::CATALOG);
    let mut names = BTreeSet::new();
    for exhibit in museum::all() {
        assert!(names.insert(exhibit.name), "{} is there twice", exhibit.name);
        let mutant = mutant::find(exhibit.mutant);
        let mutant = mutant.unwrap_or_else(|| panic!("{}: there is no mutant {}", exhibit.name, exhibit.mutant));
        for (name, engine) in mutant.killed_by {
            assert!(model::find(name).is_some(), "{}: there is no model {name} for {engine}", exhibit.name);
        }
    }
}

#[test]
fn has_a_guide_with_every_exhibit() {
    let guide = read("docs/evidence/museum.md");
    for exhibit in museum::all() {
        let heading = format!("\n| {} | ", exhibit.name);
        assert!(guide.contains(&heading), "docs/evidence/museum.md has no `{}`: write it again", exhibit.name);
        assert!(guide.contains(exhibit.people), "docs/evidence/museum.md tells another story of {}", exhibit.name);
    }
}

#[test]
fn has_no_variant_without_an_exhibit() {
    let shown: BTreeSet<&str> = museum::all().map(|exhibit| exhibit.mutant).collect();
    for mutant in museum::MUTANTS.iter().copied().flatten() {
        assert!(shown.contains(mutant.name), "{} is no exhibit", mutant.name);
    }
}

/// A step names its file by the path below `src`: of two with one path, the wrong one would be printed beside a schedule.
#[test]
fn brings_each_of_its_files_under_a_path_that_no_other_has() {
    let brought: Vec<&str> = museum::CATALOG.sources.iter().map(|(path, _)| *path).collect();
    let ours = files("verification/museum/src").into_iter().filter(|path| !path.ends_with("src/lib.rs"));
    let ours: Vec<String> = ours.map(|path| path.replace("verification/museum/src/", "")).collect();
    assert_eq!(brought, ours);
    for (other, _) in SOURCES {
        assert!(!brought.contains(other), "{other} is a file of the kernel or of the models, too");
    }
}
