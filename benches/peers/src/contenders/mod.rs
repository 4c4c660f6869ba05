//! The contenders.

pub mod may;
pub mod smol;
pub mod spinpark;
pub mod spinpark_go;
pub mod tokio;
