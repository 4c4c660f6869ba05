//! What a process has to itself, as it changes it, measures it, or ends it. Each case is one: this program, called with the case's name.

mod called;
mod cases;
mod exits;
mod idle;
mod limits;
mod memory;
mod tracing;
mod wakes;

fn main() -> std::process::ExitCode {
    let all = [
        exits::CASES,
        #[cfg(target_os = "linux")]
        idle::CASES,
        #[cfg(target_os = "linux")]
        limits::CASES,
        memory::CASES,
        #[cfg(feature = "tracing")]
        tracing::CASES,
        wakes::CASES,
    ];
    cases::main(&all.concat(), 40)
}
