//! What may be left out as long as it cannot be observed, and what turned out to be observed.

use crate::machine;
use crate::state::{self, At};
use std::alloc::Layout;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Objects whose events are all played, by where in the source they are made.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) observed: BTreeSet<String>,
    /// Layouts of blocks of memory whose addresses are.
    pub(crate) classes: Vec<Layout>,
    found: Mutex<BTreeSet<String>>,
}

impl Settings {
    pub(crate) fn new(observed: BTreeSet<String>) -> Settings {
        let classes = observed.iter().filter_map(|what| layout(what)).collect();
        Settings { observed, classes, found: Mutex::default() }
    }

    /// With what was found, if anything was.
    pub(super) fn extended(&self) -> Option<Settings> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let all = self.observed.union(&found).cloned();
        (!found.is_empty()).then(|| Settings::new(all.collect()))
    }
}

/// Are all events played of what is made there?
pub(crate) fn is_observed(at: At) -> bool {
    state::with(|state| {
        let observed = &state.settings.observed;
        !observed.is_empty() && observed.contains(&at.to_string())
    })
}

std::thread_local! {
    /// Where an object was made that is being dropped, and whose destructor has asked for nothing yet.
    static QUIET: Cell<Option<At>> = const { Cell::new(None) };
}

/// Until this is said again, a question to the model shows that the object that was made there is observed. What was said
/// before.
pub(crate) fn expect_no_question(of: Option<At>) -> Option<At> {
    QUIET.replace(of)
}

/// There is one.
pub(crate) fn question() {
    if let Some(at) = QUIET.take() {
        observe(at);
    }
}

/// What layouts begin with, among what is observed.
const BLOCKS: &str = "blocks of ";

fn layout(what: &str) -> Option<Layout> {
    let (size, align) = what.strip_prefix(BLOCKS)?.split_once('/')?;
    Layout::from_size_align(size.parse().ok()?, align.parse().ok()?).ok()
}

/// The addresses of blocks of that layout are.
pub(crate) fn observe_layout(layout: Layout) {
    observe_what(format!("{BLOCKS}{}/{}", layout.size(), layout.align()));
}

/// They must be: the exploration begins anew, and this execution is over.
pub(crate) fn observe(at: At) {
    observe_what(at.to_string());
}

fn observe_what(what: String) {
    state::with(|state| {
        state.settings.found.lock().unwrap_or_else(PoisonError::into_inner).insert(what);
    });
    machine::fail("something is observed that was taken not to be: the exploration begins anew");
}
