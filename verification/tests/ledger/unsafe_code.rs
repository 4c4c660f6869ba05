//! The files with unsafe code are those that the documents name.

use super::{product, quoted, read};
use std::collections::BTreeSet;

/// Files with a block, a function or an `impl` that is unsafe, below `src`.
fn in_the_sources() -> BTreeSet<String> {
    let is_unsafe = |text: &str| {
        let code = text.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
        code.into_iter().any(|line| {
            ["unsafe {", "unsafe impl", "unsafe fn", "unsafe extern"].iter().any(|word| line.contains(word))
        })
    };
    let files = product().into_iter().filter(|(_, text)| is_unsafe(text));
    files.map(|(path, _)| path.trim_start_matches("src/").to_owned()).collect()
}

#[test]
fn stands_in_the_table() {
    let text = read("docs/reference/unsafe.md");
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    let listed: BTreeSet<String> = rows.filter_map(|row| quoted(row).next().map(str::to_owned)).collect();
    let found = in_the_sources();
    assert!(found.len() >= 6, "only {found:?}");
    assert_eq!(listed, found, "left: docs/reference/unsafe.md; right: the sources");
}

#[test]
fn is_allowed_where_it_stands_and_nowhere_else() {
    let allows = |text: &str| text.contains("allow(unsafe_code)");
    let allowed = product().into_iter().filter(|(_, text)| allows(text));
    let allowed: BTreeSet<String> = allowed.map(|(path, _)| path.trim_start_matches("src/").to_owned()).collect();
    assert_eq!(allowed, in_the_sources(), "left: allowed; right: needed");
    assert!(read("src/lib.rs").contains("#![deny(unsafe_code)]"));
    assert!(read("src/kernel/src/lib.rs").contains("#![forbid(unsafe_code)]"));
}
