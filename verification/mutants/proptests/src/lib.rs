//! What the property tests of the kernel need, out of `proptests/src`, on the mutated kernel. The rest of it also plays on
//! real cores, which the mutated kernel has not.
#![allow(missing_docs)]

#[path = "../../../../proptests/src/check.rs"]
pub mod check;
#[path = "../../../../proptests/src/deadlines.rs"]
pub mod deadlines;
#[path = "../../../../proptests/src/machine.rs"]
pub mod machine;
#[path = "../../../../proptests/src/oracle.rs"]
pub mod oracle;

pub use spinpark_verification::{puppets, solo, staged};
