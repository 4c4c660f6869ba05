//! Checking what the scheduler reports: its events as a story, and what came of an exploration.

#[cfg_attr(test, allow(dead_code, reason = "it is there for models, and this crate's own tests have none"))]
pub(crate) mod diary;
#[cfg_attr(test, allow(dead_code, reason = "it is there for models, and this crate's own tests have none"))]
pub(crate) mod story;
pub mod tally;
