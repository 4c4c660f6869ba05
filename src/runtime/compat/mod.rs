//! What other libraries want of a runtime.
//!
//! **Imports** anything; nothing imports it.

#[cfg(feature = "hyper")]
pub mod hyper;
#[cfg(feature = "futures")]
pub mod stream;
#[cfg(feature = "tokio-compat")]
pub mod tokio;
