//! No models: this crate's own tests play none, and take half the time to build without them.

#[allow(dead_code, reason = "it is there for models")]
#[allow(dead_code, reason = "only its own tests are here")]
use crate::model::Model;
use crate::mutation::mutant::Mutant;

/// None.
pub const MODELS: &[&[Model]] = &[];

/// None.
pub const MUTANTS: &[&[Mutant]] = &[];
