//! Each room says which models check it, and is drawn.

use super::the_documents::spread;
use super::{kernel, read, root};

/// Files without a protocol: maps of folders, numbers, observers, evidence in debug builds.
const NO_ROOMS: [&str; 7] = ["lib", "protocol", "queues", "sched/config", "sched/observer", "types", "types/token"];

#[test]
fn says_who_checks_it() {
    for (name, text) in kernel().iter().filter(|(name, _)| !NO_ROOMS.contains(&name.as_str())) {
        let line = text.lines().find_map(|line| line.strip_prefix("//! Checked by: "));
        let line = line.unwrap_or_else(|| panic!("{name}.rs does not say who checks it"));
        for path in line.split(", ").flat_map(spread) {
            let path = path.split_whitespace().next().unwrap_or_default().trim_end_matches(['.', ';']);
            assert!(root().join(path).exists(), "{name}.rs is checked by {path}, which is not there");
        }
    }
}

#[test]
fn has_its_line_in_the_architecture() {
    let text = read("docs/reference/architecture.md");
    for name in kernel().keys().filter(|name| !NO_ROOMS.contains(&name.as_str())) {
        let last = name.rsplit('/').next().unwrap_or_default();
        assert!(text.contains(&format!("`{last}`")) || text.contains(&format!("{last}.rs")), "{name} is not drawn");
    }
}
