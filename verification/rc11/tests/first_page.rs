//! The first page's spin lock prints what the page says.

include!("first_page/spin_lock.rs");

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
    let wrong = rc11::explore(&Config::default(), || two_add(Relaxed), |_| ()).failure.expect("a data race");
    let printed = wrong.picture("A lock that releases nothing", || two_add(Relaxed)).columns();
    let printed: String = printed.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    assert!(page().contains(&printed), "it prints:\n{printed}");
    assert!(rc11::explore(&Config::default(), || two_add(Release), |_| ()).is_proof());
}
