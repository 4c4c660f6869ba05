//! All tests in one program, since each that is built for itself is linked with much.

mod cli;
mod commands;
mod deleted_lines;
mod edges;
