//! What other libraries want of a runtime.
//!
//! **Imports** anything; nothing imports it.

#[cfg(feature = "hyper")]
pub mod hyper;
#[cfg(feature = "tokio-compat")]
pub mod tokio;
#[cfg(feature = "futures")]
pub mod stream;
