//! No models: this crate's own tests play none, and take half the time to build without them.

#[allow(dead_code, reason = "it is there for models")]
pub mod common;
#[allow(dead_code, reason = "only its own tests are here")]
mod story;

use crate::model::Model;
use crate::mutant::Mutant;

/// None.
pub const MODELS: &[&[Model]] = &[];

/// None.
pub const MUTANTS: &[&[Mutant]] = &[];
