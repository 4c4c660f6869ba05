//! Each exhibit can be played, and stands in the guide.

use super::read;
use spinpark_verification::mutation::mutant;
use spinpark_verification::{model, museum};
use std::collections::BTreeSet;

#[test]
fn shows_only_what_can_be_played() {
    assert!(museum::all().count() >= 110, "only {} exhibits", museum::all().count());
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
