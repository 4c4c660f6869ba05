//! Runtimes whose time is simulated: deterministic ones, and those whose clock is paused.

mod deterministic;
mod paused;
