//! What can be found by its name: the models and mutants of the kernel, and those that a program has registered.

use crate::model::Model;
use crate::models;
use crate::mutation::mutant::Mutant;
use crate::sources::SOURCES;
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// Tables of models and of mutants, and the files in which they stand.
#[derive(Debug)]
pub struct Catalog {
    /// The models.
    pub models: &'static [&'static [Model]],
    /// The mutants that they kill.
    pub mutants: &'static [&'static [Mutant]],
    /// Each file's path below its `src`, and its text: printed beside a schedule, whose stamp it is part of.
    pub sources: &'static [(&'static str, &'static str)],
}

static KERNEL: Catalog = Catalog { models: models::MODELS, mutants: models::MUTANTS, sources: SOURCES };

static REGISTERED: Mutex<Vec<&Catalog>> = Mutex::new(Vec::new());

/// Adds `catalog` to what is found in this process, unless it is there already. A program registers it before it does anything
/// else: its workers are the same program.
pub fn register(catalog: &'static Catalog) {
    let mut registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    if !registered.iter().any(|other| ptr::eq(*other, catalog)) {
        registered.push(catalog);
    }
}

/// Those that were registered.
pub(crate) fn registered() -> Vec<&'static Catalog> {
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The kernel's, then those that were registered.
pub(crate) fn all() -> impl Iterator<Item = &'static Catalog> {
    [&KERNEL].into_iter().chain(registered())
}
