//! futures-lite, but for `block_on`.

#![forbid(unsafe_code)]

pub use futures_lite::*;

/// Futures.
pub mod future {
    pub use futures_lite::future::*;
    pub use spinpark_interop::block_on;
}
