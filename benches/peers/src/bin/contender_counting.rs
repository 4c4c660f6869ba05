//! One contender on one row, with an allocator that counts. See `child`.

#[global_allocator]
static ALLOCATOR: spinpark_peers::meters::Counting = spinpark_peers::meters::Counting;

fn main() {
    spinpark_peers::child::main();
}
