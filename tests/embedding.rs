//! The example for embedders does what it says: it is played to its end, and checks its own sums.

#[path = "../examples/embed_executor.rs"]
mod embed_executor;

#[test]
fn an_executor_of_ones_own_runs_a_tree_of_futures() {
    embed_executor::main().expect("its numbers are allowed");
}
