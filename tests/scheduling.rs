//! A runtime and its threads: what runs where, when a P is given away, and what can be seen of it.

mod called;
mod handoff;
mod runtime;
mod seeing;
mod states;
mod trace;
