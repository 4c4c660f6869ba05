//! The smallest scheduler around each room: what a model, or a generated program, is played on.

#[cfg_attr(test, allow(dead_code, reason = "it is there for models, and this crate's own tests have none"))]
pub mod common;
#[cfg_attr(test, allow(dead_code, reason = "it is there for models, and this crate's own tests have none"))]
pub(crate) mod embedder;
pub mod goroutine;
#[cfg_attr(test, allow(dead_code, reason = "it is there for models, and this crate's own tests have none"))]
pub(crate) mod script;
pub mod timer_queue;
pub mod timers;
pub mod told;
#[cfg_attr(test, allow(dead_code, reason = "it is there for models, and this crate's own tests have none"))]
pub(crate) mod transcript;
