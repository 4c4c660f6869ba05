//! Random programs over the public API, on real cores, in processes of their own; what fails is shrunk, and kept. What it
//! plays and what it has found: docs/evidence/soak.md.

#[cfg(target_os = "linux")]
mod api;
#[cfg(target_os = "linux")]
mod child;
#[cfg(target_os = "linux")]
mod draw;
#[cfg(target_os = "linux")]
mod hunt;
#[cfg(target_os = "linux")]
mod options;
#[cfg(target_os = "linux")]
mod ping_pong;
#[cfg(target_os = "linux")]
mod play;
#[cfg(target_os = "linux")]
mod program;
#[cfg(target_os = "linux")]
mod regression;
#[cfg(target_os = "linux")]
mod world;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    options::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("the soak needs Linux: its signals and its view of the threads of a process are Linux's");
}
