//! The example of a host does what it says: it is played to its end, and checks its own sums.

#[path = "../examples/embed_host.rs"]
mod embed_host;

#[test]
fn a_host_of_ones_own_runs_the_kernel() {
    embed_host::main().expect("its numbers are allowed");
}
