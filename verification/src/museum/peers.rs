//! Bugs of other schedulers, queues and locks.

use super::Exhibit;
use crate::model::Model;
use crate::mutant::Mutant;

/// The bugs.
pub const EXHIBITS: &[Exhibit] = &[];

/// The twins' models.
pub const MODELS: &[Model] = &[];

/// The twins.
pub const MUTANTS: &[Mutant] = &[];
