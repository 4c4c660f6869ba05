//! The attributes `#[spinpark::main]` and `#[spinpark::test]`; used through the feature `macros` of the crate spinpark.

#![forbid(unsafe_code)]

mod arguments;
mod expand;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Runs an `async fn main` in a runtime: what the program does is that function. It runs on the main thread, as in
/// `Runtime::run`; when it returns, the runtime is shut down, and tasks that it did not await are dropped. A deadlock is
/// a panic that says what waits.
///
/// | argument | what it says |
/// |----------|--------------|
/// | `procs = n` | so many Ps: tasks that run at once. Without it, as many as there are cores, or `SPINPARK_PROCS` |
/// | `start_paused = true` | time stands still, and jumps when all waits, for tests: `Builder::start_paused` |
/// | `tokio` | tokio's timers, sockets and `tokio::spawn` work in every task: `Builder::tokio_context`; the feature `tokio-context` |
/// | `unsafe(stackful)` | goroutines have stacks of their own, as in Go, and not a thread each while they wait |
///
/// # Safety
/// `unsafe(stackful)` is a promise about all goroutines of the program: **nothing that belongs to a thread is held across a wait**, as
/// `Builder::stackful_goroutines` says it at length. It is unsafe code where it is written, so a crate with `#![forbid(unsafe_code)]` cannot
/// have it.
#[proc_macro_attribute]
pub fn main(arguments: TokenStream, function: TokenStream) -> TokenStream {
    expand::or_error(arguments, function, expand::Kind::Main)
}

/// Makes a test of an `async fn`: each has a runtime of its own. `#[should_panic]` and `#[ignore]` are as ever.
///
/// The arguments are those of `#[spinpark::main]`.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, function: TokenStream) -> TokenStream {
    expand::or_error(arguments, function, expand::Kind::Test)
}
