//! All tests in one program.

mod command;
mod progress;
mod proofs;
