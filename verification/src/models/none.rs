//! No models: this crate's own tests play none, and take half the time to build without them.

use crate::model::Model;
use crate::mutation::mutant::Mutant;

/// None.
pub static MODELS: &[&[Model]] = &[];

/// None.
pub static MUTANTS: &[&[Mutant]] = &[];
