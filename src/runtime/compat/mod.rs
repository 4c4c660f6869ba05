//! What other libraries want of a runtime.

pub mod hyper;
