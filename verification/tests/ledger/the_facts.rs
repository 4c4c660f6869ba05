//! Counts, flags, features and sizes that the documents state are those of the code.

use super::the_documents::{documents, prose};
use super::{files, kernel, quoted, read, root};
use spinpark_museum as museum;
use spinpark_verification::model;
use spinpark_verification::selection::usual;
use std::fs;

/// What `<!-- count: NAME -->N<!-- /count -->` counts.
fn count(name: &str) -> usize {
    match name {
        "litmus" => files("verification/litmus").iter().filter(|path| path.ends_with(".litmus")).count(),
        "models" => model::all().count(),
        "runs" => model::all().map(|model| model.runs.len()).sum(),
        "usual runs" => model::all().map(|model| usual(model).len()).sum(),
        "museum" => museum::all().count(),
        _ => panic!("nothing is counted as `{name}`"),
    }
}

#[test]
fn that_are_counted_are_so_many() {
    let mut compared = 0;
    for (path, text) in documents() {
        for rest in text.split("<!-- count: ").skip(1) {
            let (name, rest) = rest.split_once(" -->").expect("a marker ends");
            let said = rest.split("<!-- /count -->").next().unwrap_or_default();
            assert_eq!(said.replace(',', ""), count(name).to_string(), "{path}: {name}");
            compared += 1;
        }
    }
    assert!(compared >= 5, "only {compared}");
}

/// Options that documents show, `--like-this`, are somewhere in the code: in a script, or as a field of a command line.
#[test]
fn that_are_options_are_in_the_code() {
    let is_code =
        |path: &String| [".rs", ".py", ".toml"].iter().any(|end| path.ends_with(end)) || path.starts_with(".ci");
    let folders = ["verification", "proptests", "benches", "tests", "examples", ".ci", "src"];
    let code: String =
        folders.iter().flat_map(|folder| files(folder)).filter(is_code).map(|path| read(&path)).collect();
    let mut found = 0;
    for (path, text) in documents() {
        let words = text.split(|c: char| !(c.is_alphanumeric() || "_-".contains(c)));
        for option in words
            .filter_map(|word| word.strip_prefix("--"))
            .filter(|it| it.starts_with(|c: char| c.is_ascii_lowercase()))
        {
            let field = format!(" {}: ", option.replace('-', "_"));
            assert!(
                code.contains(&format!("--{option}")) || code.contains(&field),
                "{path}: no command has --{option}"
            );
            found += 1;
        }
    }
    assert!(found > 100, "only {found}");
}

#[test]
fn that_are_features_are_in_the_manifest() {
    let features: String = ["Cargo.toml", "src/kernel/Cargo.toml"]
        .map(|manifest| read(manifest).split("\n[").filter(|part| part.starts_with("features]")).collect::<String>())
        .concat();
    let mut found = 0;
    for (path, text) in documents().into_iter().filter(|(path, _)| !path.starts_with("verification/rc11")) {
        let text = prose(&text).replace('\n', " ");
        for rest in text.split(" feature `").skip(1) {
            let name = rest.split('`').next().unwrap_or_default();
            assert!(features.contains(&format!("\n{name} = ")), "{path}: there is no feature `{name}`");
            found += 1;
        }
    }
    assert!(found > 5, "only {found}");
}

/// `Type::method` and `module::item` stand together in one file at least.
#[test]
fn that_are_paths_of_items_stand_in_one_file() {
    let sources = ["src", "verification", "proptests", "examples", "benches", "tests"];
    let sources: Vec<String> = sources
        .iter()
        .flat_map(|folder| files(folder))
        .filter(|path| path.ends_with(".rs"))
        .map(|path| read(&path))
        .collect();
    let is_word = |text: &str, word: &str| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        text.match_indices(word)
            .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
    };
    let mut found = 0;
    for (path, text) in
        documents().into_iter().filter(|(path, _)| path.starts_with("docs/guide") || path.starts_with("docs/reference"))
    {
        if path.ends_with("/from-tokio.md") || path.ends_with("/from-go.md") {
            continue;
        }
        let prose = prose(&text);
        let names = quoted(&prose).map(|name| name.trim_end_matches('!').trim_end_matches("()"));
        let is_path =
            |name: &&str| name.contains("::") && name.chars().all(|c| c.is_ascii_alphanumeric() || "_:".contains(c));
        for name in names.filter(is_path) {
            let parts: Vec<&str> = name.split("::").filter(|part| !part.is_empty()).collect();
            let is_there = sources.iter().any(|text| parts.iter().all(|part| is_word(text, part)));
            assert!(is_there, "{path}: no file has all of `{name}`");
            found += 1;
        }
    }
    assert!(found > 100, "only {found}");
}

/// CONTRIBUTING.md: what a room needs of others is a trait of which an implementation writes at most four methods.
#[test]
fn that_rooms_ask_four_things_at_most() {
    let mut found = 0;
    for (name, text) in kernel() {
        let Some((_, rest)) = text.split_once("pub trait Neighbours") else { continue };
        let methods = rest.split("\n}").next().unwrap_or_default().lines().map(str::trim);
        let required = methods.filter(|line| line.starts_with("fn ") && line.ends_with(';')).count();
        assert!((1..=4).contains(&required), "{name}: {required}");
        found += 1;
    }
    assert!(found >= 8, "only {found}");
}

#[test]
fn that_are_pages_are_short() {
    let size = |path: &String| fs::metadata(root().join(path)).map_or(0, |file| file.len());
    let all: u64 = files("docs").iter().map(size).sum();
    assert!(all < 500_000, "the documents have {all} bytes");
    for (path, most) in
        [("docs/evidence/performance.md", 20_000), ("docs/evidence/every-size.md", 8_000), ("CHANGELOG.md", 8_000)]
    {
        assert!(size(&path.to_owned()) < most, "{path}: {} bytes", size(&path.to_owned()));
    }
}

/// Cargo.toml says how far each package of the checks is optimised: one that it forgets is three to seven times as slow.
#[test]
fn that_are_packages_of_the_checks_are_optimised() {
    let manifest = read("Cargo.toml");
    let others = ["verification/mutants/", "verification/rc11/loom/"]; // workspaces of their own
    let mut found = 0;
    for path in files("verification").into_iter().chain(["proptests/Cargo.toml".to_owned()]) {
        if !path.ends_with("/Cargo.toml") || others.iter().any(|other| path.starts_with(other)) {
            continue;
        }
        let text = read(&path);
        let name = text.split("\nname = \"").nth(1).and_then(|rest| rest.split('"').next()).expect("a package's name");
        let said = manifest.contains(&format!("\n[profile.dev.package.{name}]\nopt-level = "));
        assert!(said, "{path}: Cargo.toml does not say how far {name} is optimised");
        found += 1;
    }
    assert!(found >= 9, "only {found}");
}
