//! All tests in one program.

mod command;
mod proofs;
