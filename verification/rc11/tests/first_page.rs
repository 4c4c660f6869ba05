//! The first page's spin lock prints what the page says.

#![expect(clippy::undocumented_unsafe_blocks, reason = "the page's program asks whether it is safe")]

include!("first_page/spin_lock.rs");

use rc11::model::{Builder, Verdict};

/// The crate's documentation.
fn page() -> String {
    let lines = include_str!("../src/lib.rs").lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned() + "\n").collect()
}

#[test]
fn shows_the_spin_lock() {
    assert!(page().contains(include_str!("first_page/spin_lock.rs")));
}

#[test]
fn says_what_it_prints() {
    let picture = Builder::new().refute("a lock that releases nothing", || two_add(Relaxed)).expect("a data race");
    let printed: String = picture.columns().lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    assert!(page().contains(&printed), "it prints:\n{printed}");
    assert_eq!(Builder::new().outcome_of(|| two_add(Release)).verdict, Verdict::Proved);
}
