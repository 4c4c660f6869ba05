//! futures, but for `block_on`.

#![forbid(unsafe_code)]

pub use futures::*;

/// Its executors.
pub mod executor {
    pub use futures::executor::*;
    pub use spinpark_interop::block_on;
}
