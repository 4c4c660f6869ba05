//! The page docs/guide/from-tokio.md has a row for each public item of tokio's modules, and what it says is here is here. tokio's
//! sources are those that cargo builds this crate with: with another version of tokio, its new items want rows.

#![cfg(unix)]

mod ours;
mod source;

use serde_json::Value;
use source::{Source, expanded};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The modules that the page is about.
const MODULES: [&str; 9] = ["fs", "io", "net", "process", "runtime", "signal", "sync", "task", "time"];

/// The platform that the compiler runs on.
fn host() -> String {
    let output = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("-vV").output();
    let text = String::from_utf8(output.expect("rustc runs").stdout).expect("text");
    text.lines().find_map(|line| line.strip_prefix("host: ")).expect("its host").to_owned()
}

/// Where the sources of the tokio are that this test is built with.
fn tokio() -> PathBuf {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // Packages that only other platforms need may not have been fetched.
    command.args(["metadata", "--offline", "--format-version=1", "--filter-platform", &host()]);
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let all: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let is_tokio = |package: &&Value| package["name"] == "tokio";
    let package = all["packages"].as_array().and_then(|packages| packages.iter().find(is_tokio)).expect("tokio");
    let manifest = package["manifest_path"].as_str().expect("a path");
    Path::new(manifest).with_file_name("src")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The rows below `## Item by item`: tokio's items, and what is said of them.
fn rows(page: &str) -> Vec<(Vec<String>, String)> {
    let section =
        page.split("\n## Item by item\n").nth(1).expect("the section").split("\n## ").next().unwrap_or_default();
    let lines = section.lines().filter(|line| line.starts_with("| `"));
    let cells = lines.map(|line| line.trim_matches('|').split_once(" | ").expect("two columns"));
    cells.map(|(left, right)| (quoted(left).flat_map(expanded).collect(), right.trim().to_owned())).collect()
}

fn page() -> Vec<(Vec<String>, String)> {
    rows(&fs::read_to_string(root().join("docs/guide/from-tokio.md")).expect("the page"))
}

/// What is asked of a row, and not so.
fn mistakes(rows: &[(Vec<String>, String)], theirs: &BTreeSet<String>, ours: &BTreeSet<String>) -> Vec<String> {
    let (mut found, mut times) = (Vec::new(), BTreeMap::<&str, u32>::new());
    for (items, says) in rows {
        for item in items {
            let named: Vec<&String> = match item.strip_suffix('*') {
                Some(module) => theirs.iter().filter(|path| path.starts_with(module)).collect(),
                None => theirs.iter().filter(|path| *path == item).collect(),
            };
            if named.is_empty() {
                found.push(format!("tokio has no `{item}`"));
            }
            named.into_iter().for_each(|path| *times.entry(path).or_default() += 1);
            let name = item.rsplit("::").next().unwrap_or_default();
            let here = match says.strip_prefix("the same") {
                Some(rest) => match rest.strip_prefix(" in `").and_then(|rest| rest.split('`').next()) {
                    Some(module) => vec![format!("{module}::{name}")],
                    None => vec![item.clone()],
                },
                None if says.starts_with("as ") => quoted(says).flat_map(expanded).collect(),
                None if says.starts_with("missing") => Vec::new(),
                None => vec![format!("{item}: {says}")],
            };
            found.extend(
                here.iter().filter(|path| !ours.contains(*path)).map(|path| format!("there is no `{path}` here")),
            );
        }
    }
    for path in theirs {
        match times.get(path.as_str()) {
            Some(1) => {}
            Some(rows) => found.push(format!("`{path}` has {rows} rows")),
            None => found.push(format!("`{path}` has no row")),
        }
    }
    found
}

fn their_items() -> BTreeSet<String> {
    let source = Source { root: tokio() };
    let items: BTreeSet<String> = MODULES.iter().flat_map(|module| source.items(module)).collect();
    assert!(items.len() > 200, "only {} items of tokio's were found", items.len());
    items
}

fn our_items() -> BTreeSet<String> {
    let source = Source { root: root().join("tests/from_tokio") };
    source.items("ours").into_iter().filter_map(|path| path.strip_prefix("ours::").map(str::to_owned)).collect()
}

mod the_page_for_those_that_come_from_tokio {
    use super::*;

    #[test]
    fn has_one_row_for_each_public_item() {
        let found = mistakes(&page(), &their_items(), &our_items());
        assert!(found.is_empty(), "{} mistakes in docs/guide/from-tokio.md:\n{}", found.len(), found.join("\n"));
    }

    #[test]
    fn says_of_each_item_that_the_compiler_found_where_it_is() {
        let said: String = page().into_iter().map(|(items, says)| format!("{} {says}\n", items.join(" "))).collect();
        for path in our_items() {
            let name = path.rsplit("::").next().unwrap_or_default();
            assert!(said.contains(name), "tests/from_tokio/ours.rs has `{path}`, and the page has not");
        }
    }
}

mod an_item_that_is_said_to_be_missing {
    use super::*;

    /// By the sources: their modules are where these are.
    fn public() -> BTreeSet<String> {
        let modules = [
            ("src", &["io", "task"][..]),
            ("src/runtime", &["sync", "time"]),
            ("src/runtime/io", &["fs", "net", "process", "signal"]),
        ];
        let items = |(folder, modules): (&str, &[&str])| {
            let source = Source { root: root().join(folder) };
            modules.iter().flat_map(|module| source.items(module)).collect::<Vec<_>>()
        };
        modules.into_iter().flat_map(items).collect()
    }

    #[test]
    fn is_not_here() {
        let ours = public();
        assert!(ours.contains("sync::chan::bounded") && ours.len() > 150, "{} public items", ours.len());
        for (items, _) in page().iter().filter(|(_, says)| says.starts_with("missing")) {
            for item in items {
                let path = item.replace("::mpsc::", "::chan::");
                assert!(!ours.contains(&path), "docs/guide/from-tokio.md says that `{item}` is missing");
            }
        }
    }
}

mod a_mistake_of_the_page {
    use super::*;

    fn found(page: &str) -> Vec<String> {
        let set = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
        let (theirs, ours) = (set(&["a::B", "a::c", "d::e"]), set(&["a::B", "f::c"]));
        mistakes(&rows(&format!("x\n## Item by item\n{page}\n## Next\n| `g::h` | the same |\n")), &theirs, &ours)
    }

    #[test]
    fn is_none_if_each_item_has_its_row() {
        assert!(found("| `a::B` | the same |\n| `a::{c}` | the same in `f` |\n| `d::*` | missing |").is_empty());
        assert!(found("| `{a::B, d::e}` | as `f::c`, by hand |\n| `a::c` | missing: `g` |").is_empty());
    }

    #[test]
    fn is_an_item_without_a_row() {
        assert_eq!(found("| `a::B` | the same |\n| `d::e` | missing |"), ["`a::c` has no row"]);
    }

    #[test]
    fn is_an_item_with_two() {
        assert_eq!(found("| `a::*` | missing |\n| `{a::B, d::e}` | missing |"), ["`a::B` has 2 rows"]);
    }

    #[test]
    fn is_an_item_that_tokio_does_not_have() {
        assert_eq!(found("| `{a::*, d::e, a::x}` | missing |"), ["tokio has no `a::x`"]);
    }

    #[test]
    fn is_a_name_that_is_not_here() {
        assert_eq!(found("| `{a::*, d::e}` | as `f::x` |")[0], "there is no `f::x` here");
        assert_eq!(found("| `d::e` | the same |\n| `a::*` | missing |"), ["there is no `d::e` here"]);
    }

    #[test]
    fn is_a_row_that_says_neither() {
        assert_eq!(
            found("| `d::e` | much the same |\n| `a::*` | missing |"),
            ["there is no `d::e: much the same` here"]
        );
    }
}

mod what_is_public {
    use super::*;

    fn items(text: &str) -> Vec<String> {
        source::items_of_text(text).into_iter().collect()
    }

    #[test]
    fn is_what_a_macro_gives_back_on_this_system() {
        let text = "cfg_net! {\n    pub mod unix {\n        pub use super::x::{self, A, b as C};\n    }\n}\ncfg_not_net! { pub fn d() {} }\n";
        assert_eq!(items(text), ["m::unix::A", "m::unix::C"]);
    }

    #[test]
    fn is_not_what_is_hidden_or_in_a_comment_or_below_a_function() {
        let text = "#[doc(hidden)] pub fn a() {}\n// pub fn b() {}\npub fn c(x: [u8; 3]) { \"}\"; '}'; pub struct D; }\npub(crate) fn e() {}\npub trait F {}\n";
        assert_eq!(items(text), ["m::F", "m::c"]);
    }
}
