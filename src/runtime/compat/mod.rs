//! What other libraries want of a runtime.
//!
//! **Imports** anything; nothing imports it.

pub mod hyper;
