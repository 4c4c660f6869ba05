//! The examples for embedders do what they say: each is played to its end, and checks its own sums.

#[path = "../examples/embed_executor.rs"]
mod embed_executor;
#[path = "../examples/embed_host.rs"]
mod embed_host;

#[test]
fn an_executor_of_ones_own_runs_a_tree_of_futures() {
    embed_executor::main().expect("its numbers are allowed");
}

#[test]
fn a_host_of_ones_own_runs_the_kernel() {
    embed_host::main().expect("its numbers are allowed");
}
