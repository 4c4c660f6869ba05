//! The first pages, README.md and the documentation, show what their programs print.

#![expect(clippy::undocumented_unsafe_blocks, reason = "the pages' programs ask whether they are safe")]

mod spin_lock {
    include!("first_page/spin_lock.rs");

    pub(crate) fn right() {
        two_add(Release);
    }

    pub(crate) fn wrong() {
        two_add(Relaxed);
    }
}

mod queue {
    include!("first_page/queue.rs");

    pub(crate) fn right() {
        push_and_pop(Release);
    }

    pub(crate) fn wrong() {
        push_and_pop(Relaxed);
    }
}

use rc11::model::{Builder, Verdict};

/// The crate's documentation.
fn documentation() -> String {
    let lines = include_str!("../src/lib.rs").lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned() + "\n").collect()
}

/// The page has the program, and what comes of it when it is wrong. When it is right, it is proved.
#[track_caller]
fn shows(page: &str, program: &str, title: &str, right: fn(), wrong: fn()) {
    assert!(page.contains(program), "the page has not the program");
    let picture = Builder::new().refute(title, wrong).expect("it is wrong");
    let printed: String = picture.columns().lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    assert!(page.contains(&printed), "it prints:\n{printed}");
    assert_eq!(Builder::new().outcome_of(right).verdict, Verdict::Proved);
}

#[test]
fn the_documentation_shows_a_spin_lock() {
    let program = include_str!("first_page/spin_lock.rs");
    shows(&documentation(), program, "a lock that releases nothing", spin_lock::right, spin_lock::wrong);
}

#[test]
fn the_readme_shows_a_queue() {
    let (page, program) = (include_str!("../README.md"), include_str!("first_page/queue.rs"));
    shows(page, program, "a queue that publishes nothing", queue::right, queue::wrong);
}
