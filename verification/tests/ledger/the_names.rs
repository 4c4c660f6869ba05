//! The items that the documents name by a path are there: `verification/named/*.txt` has each as a link, and `cargo doc` finds where it
//! leads. This test holds those lists against the documents; with `SPINPARK_WRITE=1` it writes them.

use super::the_documents::{documents, prose};
use super::{quoted, read, root, sources};
use spinpark_verification::model;
use std::collections::{BTreeMap, BTreeSet};

/// Pages that tell of others' code.
const THEIRS: [&str; 4] = ["/museum.md", "/findings.md", "/interop.md", "/rc11-peers.md"];

/// Names of other crates, and a placeholder.
const APART: [&str; 4] = ["loom::", "tokio::", "corosensei::", "room::property::"];

/// Not public, so that no link from outside leads there: `that_are_paths_of_items_stand_in_one_file` looks for them.
const PRIVATE: [&str; 4] = ["Central::reserve", "DetachedTasks::signal", "Monitor::Asleep", "Proc::preempt"];

/// The list of `verification/named` that has the names of a page: by whose items come first.
fn list(path: &str) -> &'static str {
    let of_the_kernel =
        ["src/kernel/", "verification/README.md", "docs/guide/embedding.md", "docs/reference/invariants.md"];
    let of_the_checker = ["verification/rc11/", "docs/guide/coming-from-loom.md", "docs/evidence/weak-memory.md"];
    let is_of = |pages: &[&str]| pages.iter().any(|page| path.starts_with(page));
    match (is_of(&of_the_kernel), is_of(&of_the_checker)) {
        (true, _) => "kernel",
        (_, true) => "checker",
        _ => "runtime",
    }
}

/// The link to an item, if `text` is its path: of a call without what it is called with.
fn item(text: &str) -> Option<String> {
    let (path, call) = text.split_once('(').map_or((text, ""), |(path, _)| (path, "()"));
    let (path, call) = path.strip_suffix('!').map_or((path, call), |path| (path, "!"));
    let is_word = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    (path.contains("::") && path.split("::").all(is_word)).then(|| format!("{path}{call}"))
}

/// What a line says of our code: of the tables of others' names the last column.
fn ours<'a>(path: &str, line: &'a str) -> &'a str {
    let is_map = ["docs/guide/from-tokio.md", "docs/guide/from-go.md"].contains(&path) && line.starts_with('|');
    if is_map { line.rsplit('|').nth(1).unwrap_or_default() } else { line }
}

/// By list: the names.
fn named() -> BTreeMap<&'static str, BTreeSet<String>> {
    let models: BTreeSet<&str> = model::all().map(|model| model.name).collect();
    let is_model = |name: &str| {
        models
            .iter()
            .any(|model| model.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with("::")))
    };
    let mut named = BTreeMap::<_, BTreeSet<String>>::new();
    for (path, text) in documents().into_iter().filter(|(path, _)| !THEIRS.iter().any(|page| path.ends_with(page))) {
        let prose = prose(&text);
        for name in prose.lines().flat_map(|line| quoted(ours(&path, line))).filter_map(item) {
            let is_left_out = APART.iter().any(|apart| name.starts_with(apart)) || PRIVATE.contains(&name.as_str());
            if !is_left_out && !is_model(&name) {
                named.entry(list(&path)).or_default().insert(name);
            }
        }
    }
    named
}

#[test]
fn are_links_that_the_compiler_follows() {
    let mut found = 0;
    for (list, names) in named() {
        let text: String = names.iter().map(|name| format!("[`{name}`]\n")).collect();
        let path = format!("verification/named/{list}.txt");
        if std::env::var_os("SPINPARK_WRITE").is_some() {
            std::fs::write(root().join(&path), &text).expect("it can be written");
        }
        assert!(read(&path) == text, "{path} is not of these documents: SPINPARK_WRITE=1 writes it; then `cargo doc`");
        found += names.len();
    }
    assert!(found > 150, "only {found}");
}

/// Words with parentheses that are no calls of ours: Go's, C's, attributes.
const NO_CALLS: [&str; 5] = ["forbid", "getsockopt", "make", "poll", "cfg"];

/// Of a function that is named alone, as in `checkpoint()`, or a macro, it is asked that there is one of that name.
#[test]
fn are_functions_that_begin_somewhere() {
    let product: String = sources("src").into_values().chain(sources("verification/rc11/src").into_values()).collect();
    let begins = |head: &str| {
        let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        product.match_indices(head).any(|(at, _)| !goes_on(&product[at + head.len()..]))
    };
    let mut found = 0;
    let is_ours = |path: &str| path.starts_with("docs/guide") || path.starts_with("docs/reference");
    for (path, text) in documents().into_iter().filter(|(path, _)| is_ours(path)) {
        let prose = prose(&text);
        for name in prose.lines().flat_map(|line| quoted(ours(&path, line))) {
            let called = name.split_once('(').map(|(name, _)| (name, "fn ")).filter(|_| name.ends_with(')'));
            let called = called.or_else(|| Some((name.strip_suffix('!')?, "macro_rules! ")));
            let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if let Some((name, head)) = called.filter(|(name, _)| is_word(name) && !NO_CALLS.contains(name)) {
                assert!(begins(&format!("{head}{name}")), "{path}: there is no `{head}{name}`");
                found += 1;
            }
        }
    }
    assert!(found > 60, "only {found}");
}

#[test]
fn are_told_from_other_words() {
    let items = ["Builder::procs(4)", "tokio::join!", "task::spawn"].map(|text| item(text).expect("it is one"));
    assert_eq!(items, ["Builder::procs()", "tokio::join!", "task::spawn"]);
    assert!(item("a::b c").is_none() && item("select!").is_none());
    assert_eq!(ours("docs/guide/from-go.md", "| `go f()` | `spinpark::go` |"), " `spinpark::go` ");
}
