//! The signal by which a P is taken from a task that computes, among the signals of a process that has other plans. Each
//! case changes its process, so each is one of its own: this program, called with the case's name.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[path = "../programs/cargo.rs"]
mod cargo;
#[cfg(target_os = "linux")]
#[path = "../cases/mod.rs"]
mod cases;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod counting;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
use linux::main;

/// Elsewhere no signal is sent.
#[cfg(not(target_os = "linux"))]
fn main() {}
