//! What docs/guide/coming-from-go.md calls ours is there.

use super::{quoted, read, root, sources};
use std::collections::BTreeSet;

/// The rows of its table: what is ours, and where that is.
fn rows(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let rows = text.lines().filter(|line| line.starts_with("| ")).map(|line| line.split('|').collect::<Vec<_>>());
    rows.filter(|cells| cells.len() == 5 && !cells[3].contains("file")).map(|cells| (cells[2], cells[3]))
}

#[test]
fn names_what_is_in_the_sources() {
    let (all, text) = (sources("src").into_values().collect::<String>(), read("docs/guide/coming-from-go.md"));
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words: BTreeSet<&str> = all.split(|c| !is_part(c)).collect();
    for (ours, _) in rows(&text) {
        let names = quoted(ours).filter(|name| !name.contains(": ")).flat_map(|name| name.split(|c| !is_part(c)));
        for name in names.filter(|name| !name.is_empty()) {
            assert!(words.contains(name), "docs/guide/coming-from-go.md: there is no `{name}` in src");
        }
    }
}

#[test]
fn names_files_that_are_there() {
    let text = read("docs/guide/coming-from-go.md");
    let mut found = 0;
    for (_, files) in rows(&text) {
        for link in files.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(root().join("docs/guide").join(link).exists(), "docs/guide/coming-from-go.md: there is no {link}");
            found += 1;
        }
    }
    assert!(found > 30, "only {found} files");
}
