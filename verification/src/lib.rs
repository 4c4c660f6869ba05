#![doc = include_str!("../README.md")]

pub mod best;
pub mod catalog;
pub mod checker;
pub mod command_line;
pub mod engines;
pub mod files;
pub mod fnv;
pub mod harness;
pub mod hosts;
pub mod job;
pub mod kept;
pub mod model;
#[cfg(not(test))]
pub mod models;
#[cfg(test)]
#[path = "models/none.rs"]
pub mod models;
pub mod mutation;
#[cfg(all(doc, feature = "cores"))]
#[allow(unused_imports, reason = "links use them")]
pub mod named;
pub mod output;
pub mod parts;
pub mod record;
pub mod schedule;
pub mod selection;
pub mod sources;
pub mod spec;
pub mod stamp;
pub mod status;
pub mod worker;

/// The idioms of tokio compile, and run.
#[cfg(all(doctest, feature = "cores"))]
#[doc = include_str!("../../docs/guide/from-tokio.md")]
struct FromTokio;

/// Those of Go, too.
#[cfg(all(doctest, feature = "cores"))]
#[doc = include_str!("../../docs/guide/from-go.md")]
struct FromGo;

/// So do the programs of the other guides.
#[cfg(all(doctest, feature = "cores"))]
#[doc = include_str!("../../docs/guide/deterministic.md")]
#[doc = include_str!("../../docs/guide/seeing.md")]
struct Guides;
