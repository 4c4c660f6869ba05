//! What the property tests of the kernel need, as a crate of its own on the mutated kernel: `verification/mutants/proptests`.
//! The rest of this crate also plays on real cores, which the mutated kernel has not.
#![allow(missing_docs)]

pub mod check;
pub mod deadlines;
pub mod machine;
pub mod oracle;

pub use spinpark_verification::hosts::{solo, stepped};
