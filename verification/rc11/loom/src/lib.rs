//! [`rc11`] under loom's name. Three lines in a workspace's manifest put it in loom's place, for the workspace and for all
//! that it depends on:
//!
//! ```toml
//! [patch.crates-io]
//! loom = { git = "https://github.com/spinpark/spinpark" }
//! ```

pub use rc11::*;
pub use rc11::{lazy_static, thread_local};
