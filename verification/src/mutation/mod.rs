//! What is wrong on purpose, and whether a model sees it.
//!
//! ```text
//!   mutant    a wrong variant by hand: a weaker line, or a step of `variants`
//!   weaken    any access of the kernel, made in any weaker way, at the seam
//!   trial     one mutant against its candidate models, in a process of its own
//! ```

pub mod mutant;
pub mod trial;
pub mod variants;
pub mod weaken;
