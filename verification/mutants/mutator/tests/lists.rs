//! The lists of mutants are about the kernel as it is: `survivors.toml`, `open-steps.txt`, and how each goes into the text.

use serde::Deserialize;
use spinpark_mutator::{Placing, Step, mutate, mutated_sources};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Of all that compile, so many may be argued: 240 of the kernel's, 214 of those of tasks and waits.
const ARGUED: usize = 463;

/// One argument is about at most so many: what is said of more is true of none in particular.
const BY_ONE_ARGUMENT: usize = 4;

/// Of the mistakes of two lines, so many: most are changed scopes of locks.
const ARGUED_PAIRS: usize = 96;

#[derive(Deserialize)]
struct Survivors {
    step: Vec<Entry>,
    /// Of mistakes of two lines.
    #[serde(default)]
    pair: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    file: String,
    mutants: Vec<Pattern>,
}

#[derive(Deserialize)]
struct Pattern {
    kind: String,
    at: String,
    #[serde(default = "one")]
    count: usize,
}

fn one() -> usize {
    1
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn kernel(placing: &Placing) -> Vec<Step> {
    let mut steps = Vec::new();
    let source = root().join("src/kernel/src");
    for path in mutated_sources(&source).expect("the sources are there") {
        let file = path.strip_prefix(&source).expect("it is below").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("it is text");
        steps.extend(mutate(&file, &text, 1, placing).expect("it is Rust").steps);
    }
    steps
}

fn placing() -> Placing {
    Placing::read(&root().join("verification/mutants/kernel")).expect("the lists can be read")
}

/// Those of the common build, and those that need one of their own.
fn all_that_compile() -> Vec<Step> {
    kernel(&Placing { alone: BTreeSet::new(), copied: BTreeSet::new(), ..placing() })
}

#[test]
fn a_survivors_pattern_matches_as_many_mutants_of_its_kind_as_it_states() {
    let text = fs::read_to_string(root().join("verification/survivors.toml")).expect("it is there");
    let survivors: Survivors = toml::from_str(&text).expect("it is well formed");
    let all = all_that_compile();
    let (mut argued, mut wrong) = (BTreeSet::new(), Vec::new());
    let of_two_lines = survivors.pair.iter().map(|entry| (entry, true));
    for (Entry { file, mutants }, is_pair) in survivors.step.iter().map(|entry| (entry, false)).chain(of_two_lines) {
        let together: usize = mutants.iter().map(|pattern| pattern.count).sum();
        assert!(
            together <= BY_ONE_ARGUMENT,
            "{file}: one argument for {together} mutants: split it, at {}",
            mutants[0].at
        );
        for Pattern { kind, at, count } in mutants {
            let is_about = |step: &&Step| {
                let name = step.name();
                let place = name.strip_prefix(&format!("{} ", step.file)).expect("it begins with its file");
                let is_there = at.strip_suffix('$').map_or(place.starts_with(at), |all| place == all);
                let is_of_the_sort = step.kind.is_of_two_lines() == is_pair;
                is_of_the_sort && step.file == *file && step.kind.name() == kind && is_there
            };
            let found: Vec<String> = all.iter().filter(is_about).map(Step::name).collect();
            if found.len() != *count {
                wrong.push(format!("{file} {kind} {at}: it states {count}, and matches {found:#?}"));
            }
            for name in found {
                assert!(argued.insert(name.clone()), "{name} is argued twice");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let pairs = argued.iter().filter(|name| name.contains(" (two lines): ")).count();
    let steps = argued.len() - pairs;
    assert!(steps <= ARGUED, "{steps} mutants are argued, and {ARGUED} may be");
    assert!(pairs <= ARGUED_PAIRS, "{pairs} mistakes of two lines are argued, and {ARGUED_PAIRS} may be");
}

#[test]
fn an_open_mutant_is_one_of_the_kernel() {
    let text = fs::read_to_string(root().join("verification/open-steps.txt")).expect("it is there");
    let names: BTreeSet<String> = all_that_compile().iter().map(Step::name).collect();
    for name in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        assert!(names.contains(name), "open-steps.txt: there is no {name}");
    }
}

#[test]
fn a_list_names_mutants_of_the_kernel_each_in_one_way() {
    let keys: BTreeSet<String> = kernel(&Placing::default()).iter().map(Step::key).collect();
    let Placing { copied, alone, stillborn, .. } = placing();
    let mut seen = BTreeSet::new();
    let gone: Vec<&String> = copied.iter().chain(&alone).chain(&stillborn).filter(|&key| !keys.contains(key)).collect();
    assert!(gone.is_empty(), "there are none of {gone:#?}: run `cargo run -p spinpark-mutator --bin prune` again");
    for key in copied.iter().chain(&alone).chain(&stillborn) {
        assert!(seen.insert(key), "{key} is in two lists");
    }
}
