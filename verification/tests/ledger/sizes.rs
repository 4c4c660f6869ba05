//! How large the kernel and its functions are.

use super::kernel;

/// Lines that are neither empty nor comments.
fn code(text: &str) -> usize {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

#[test]
fn are_within_the_budget() {
    let kernel = kernel();
    let all: usize = kernel.values().map(|text| code(text)).sum();
    assert!(all <= 3_960, "the kernel has {all} lines of code");
    for (name, text) in &kernel {
        let lines = code(text);
        assert!(lines <= 310, "{name}.rs has {lines} lines of code");
    }
}

#[test]
fn of_functions_are_those_of_one_glance() {
    for (name, text) in &kernel() {
        let mut begun: Option<(usize, usize, &str)> = None;
        for (n, line) in text.lines().enumerate() {
            let indent = line.len() - line.trim_start().len();
            let is_head = line.trim_start().starts_with("fn ") || line.contains(" fn ");
            match begun {
                None if is_head && !line.trim_start().starts_with("//") && !line.ends_with(';') => {
                    begun = Some((n, indent, line.trim()));
                }
                Some((from, outer, head)) if line.trim_end() == format!("{}}}", " ".repeat(outer)) => {
                    assert!(n - from <= 62, "{name}.rs: `{head}` has {} lines", n - from);
                    begun = None;
                }
                _ => (),
            }
        }
    }
}
