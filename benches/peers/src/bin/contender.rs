//! One contender on one row. See `child`.

fn main() {
    spinpark_peers::child::main();
}
