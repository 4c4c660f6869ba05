//! Tasks that block in the system do not hold up the others: `cargo run --example blocking_io`.
//!
//! One P, so one task runs at a time. Sixteen tasks each wait 20 ms for "the disk" inside of `syscall`, while another one
//! computes. Without `syscall` the whole would take 16 times 20 ms, and the computation would come last.

use spinpark::{Runtime, checkpoint, syscall};
use std::error::Error;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Slow, and it blocks the thread: a file on a network drive, say.
fn read_slowly(n: u32) -> u32 {
    sleep(Duration::from_millis(20));
    n * n
}

/// Takes a while, and never waits. `checkpoint` lets tasks run that have waited for long.
fn count_primes(below: u32) -> usize {
    let is_prime = |n: &u32| {
        checkpoint();
        (2..*n).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d))
    };
    (2..below).filter(is_prime).count()
}

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = Runtime::builder().procs(1).build()?;
    println!(
        "one P; 16 reads that block for 20 ms each, and a computation; one after the other that is 320 ms and more"
    );
    let start = Instant::now();
    let reads: Vec<_> = (1..=16).map(|n| runtime.go(move || syscall(|| read_slowly(n)))).collect();
    let primes = runtime.go(|| count_primes(200_000));
    let sum = reads.into_iter().map(|read| read.join()).sum::<Result<u32, _>>()?;
    println!("after {:>5.1?}: all 16 reads are done, sum {sum}", start.elapsed());
    println!("after {:>5.1?}: the computation too, {} primes", start.elapsed(), primes.join()?);
    println!("{} threads: a read that blocks keeps its own, and gives its P away", runtime.snapshot().alive);
    Ok(())
}
