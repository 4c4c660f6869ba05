//! Models of `monitor`.

use crate::model::Model;
use crate::mutant::Mutant;

/// The models.
pub const MODELS: &[Model] = &[];

/// The mutants.
pub const MUTANTS: &[Mutant] = &[];
