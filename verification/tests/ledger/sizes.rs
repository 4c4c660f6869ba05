//! How large the kernel, files and functions are.

use super::{kernel, product};

/// Lines that are neither empty nor comments.
fn code(text: &str) -> usize {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

#[test]
fn are_within_the_budget() {
    let kernel = kernel();
    let all: usize = kernel.values().map(|text| code(text)).sum();
    assert!(all <= 4_280, "the kernel has {all} lines of code");
    for (name, text) in &kernel {
        let lines = code(text);
        assert!(lines <= 310, "{name}.rs has {lines} lines of code");
    }
}

#[test]
fn of_files_are_those_of_one_idea() {
    for (path, text) in product() {
        let lines = text.lines().count();
        assert!(lines <= 400, "{path} has {lines} lines");
    }
}

/// Functions that are longer than so many lines, with their heads.
fn longer_than(text: &str, most: usize) -> Vec<String> {
    let (mut begun, mut found): (Option<(usize, usize, &str)>, _) = (None, Vec::new());
    for (n, line) in text.lines().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let is_head = line.trim_start().starts_with("fn ") || line.contains(" fn ");
        match begun {
            None if is_head && !line.trim_start().starts_with("//") && !line.ends_with(';') => {
                begun = Some((n, indent, line.trim()));
            }
            Some((from, outer, head)) if line.trim_end() == format!("{}}}", " ".repeat(outer)) => {
                if n - from > most {
                    found.push(format!("`{head}` has {} lines", n - from));
                }
                begun = None;
            }
            _ => (),
        }
    }
    found
}

#[test]
fn of_functions_are_those_of_one_glance() {
    for (path, text) in product() {
        let found = longer_than(&text, 60);
        assert!(found.is_empty(), "{path}: {found:?}");
    }
    let long = format!("fn long() {{\n{}}}\n", "    a();\n".repeat(70));
    assert_eq!(longer_than(&long, 60).len(), 1, "a long function is seen");
}
