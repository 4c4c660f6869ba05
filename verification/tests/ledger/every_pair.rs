//! Each pair of orderings stands in the document, and at two places of the source.

use super::{kernel, quoted, read, sources};
use std::collections::{BTreeMap, BTreeSet};

/// The first column of the table, but for the lock, which has no name in the source.
fn in_the_document() -> BTreeSet<String> {
    let text = read("docs/reference/orderings.md");
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    rows.filter_map(|row| quoted(row).next().map(str::to_owned)).collect()
}

/// How often each is named in a comment beside an access: `// Release: `publish`, …`, or `// `publish` …`.
fn in_the_source() -> BTreeMap<String, usize> {
    const ORDERINGS: [&str; 4] = ["Acquire: ", "Release: ", "AcqRel: ", "SeqCst: "];
    let mut places = BTreeMap::new();
    // One that is not there any more is an error, not one less to read.
    let hosts =
        ["src/runtime/host/cores.rs", "verification/src/hosts/shuttle.rs", "verification/src/hosts/loom.rs"].map(read);
    for text in kernel().into_values().chain(sources("src/kernel/src/waits").into_values()).chain(hosts) {
        let comments = text.lines().filter_map(|line| line.trim_start().strip_prefix("// "));
        for comment in comments {
            let argued = ORDERINGS.iter().find_map(|ordering| comment.strip_prefix(ordering)).unwrap_or(comment);
            let Some(name) = argued.strip_prefix('`').and_then(|rest| rest.split('`').next()) else { continue };
            // A thread that acquires and releases is both halves of a pair: for the one before, and for the one after.
            let both = comment.starts_with("AcqRel: ");
            *places.entry(name.to_owned()).or_default() += if both { 2 } else { 1 };
        }
    }
    places
}

#[test]
fn of_the_document_stands_in_two_places() {
    let (pairs, places) = (in_the_document(), in_the_source());
    assert!(pairs.len() >= 12, "only {pairs:?}");
    for pair in pairs {
        // `request` is argued where `baton` is, by the same access.
        let n = places.get(&pair).copied().unwrap_or(0);
        assert!(n >= 2 || pair == "request", "`{pair}` is named beside {n} accesses");
    }
}

#[test]
fn of_the_source_stands_in_the_document() {
    let pairs = in_the_document();
    let mut files = kernel();
    files.extend(sources("src/kernel/src/waits"));
    for (name, file) in files.iter().flat_map(|(file, text)| named_as_pairs(text).map(move |name| (name, file))) {
        assert!(pairs.contains(&name), "{file}.rs names the pair `{name}`, docs/reference/orderings.md does not");
    }
}

/// Names that open an ordering's comment and say which half it is.
fn named_as_pairs(text: &str) -> impl Iterator<Item = String> {
    let comments = text.lines().filter_map(|line| line.trim_start().strip_prefix("// "));
    let halves = comments.filter(|comment| comment.contains("half"));
    let names = halves.filter_map(|comment| {
        let argued = comment.split_once(": ").map_or(comment, |(_, rest)| rest);
        argued.strip_prefix('`').and_then(|rest| rest.split('`').next()).map(str::to_owned)
    });
    names.collect::<Vec<_>>().into_iter()
}

/// Names in brackets in comments beside accesses: `Release: (wake) with …`.
fn in_brackets(text: &str) -> BTreeMap<String, usize> {
    let mut places = BTreeMap::new();
    for comment in text.lines().filter_map(|line| line.trim_start().strip_prefix("// ")) {
        for name in comment.split('(').skip(1).filter_map(|opened| Some(opened.split_once(')')?.0)) {
            *places.entry(name.to_owned()).or_default() += 1;
        }
    }
    places
}

#[test]
fn of_a_tasks_word_stands_in_the_document_and_in_two_places() {
    let places = in_brackets(&read("src/kernel/src/task/word.rs"));
    let text = read("docs/reference/orderings.md");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| (")?.split(')').next());
    let documented: BTreeSet<&str> = rows.collect();
    let named: BTreeSet<&str> = places.keys().map(String::as_str).collect();
    assert_eq!(documented, named, "left: docs/reference/orderings.md; right: comments in src/kernel/src/task/word.rs");
    for (name, n) in &places {
        assert!(*n >= 2, "({name}) is named beside {n} accesses");
    }
}
