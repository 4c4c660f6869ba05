//! Goroutines with stacks of their own, as Go has them, that wait where others would await. A sieve of a goroutine for each prime
//! (as in the first papers on Go), a select with a timeout, and a loop that never ends beside a clock that never stops.
//!
//! ```text
//! cargo run --release --example goroutines
//! ```

use spinpark::chan::{Receiver, bounded};
use spinpark::{Runtime, Wait, go, select, time};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// All numbers from 2 on.
fn numbers() -> Receiver<u32> {
    let (send, receive) = bounded(8);
    go(move || (2..).take_while(|&n| send.send(n).wait().is_ok()).count());
    receive
}

/// Those that `prime` does not divide.
fn sieve(numbers: Receiver<u32>, prime: u32) -> Receiver<u32> {
    let (send, receive) = bounded(8);
    go(move || {
        while let Ok(n) = numbers.recv().wait() {
            if n % prime != 0 && send.send(n).wait().is_err() {
                return; // the receiver is gone
            }
        }
    });
    receive
}

fn primes(count: usize) -> Vec<u32> {
    let mut left = numbers();
    let mut primes = Vec::new();
    while primes.len() < count {
        let Ok(prime) = left.recv().wait() else { break };
        primes.push(prime);
        left = sieve(left, prime);
    }
    primes
}

/// The first answer, or none in time.
fn first_of(quick: Receiver<&'static str>, slow: Receiver<&'static str>) -> Option<&'static str> {
    select!(wait {
        answer = quick.recv() => answer.ok(),
        answer = slow.recv() => answer.ok(),
        timeout(Duration::from_secs(1)) => None,
    })
}

/// How late the latest of a hundred ticks comes, while a loop occupies the only P.
fn ticks_beside_a_hog() -> Duration {
    let is_over = Arc::new(AtomicBool::new(false));
    let hog = go({
        let is_over = Arc::clone(&is_over);
        move || {
            while !is_over.load(Relaxed) {
                std::hint::spin_loop();
            }
        }
    });
    let latest = (0..100).map(|_| {
        let due = Instant::now() + Duration::from_millis(1);
        time::sleep(Duration::from_millis(1)).wait();
        Instant::now().saturating_duration_since(due)
    });
    let latest = latest.max().unwrap_or_default();
    is_over.store(true, Relaxed);
    hog.wait().expect("it ends when it is told");
    latest
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // SAFETY: nothing below holds anything of its thread across a wait.
    let runtime = unsafe { Runtime::builder().procs(1).stackful_goroutines() }.build()?;
    runtime
        .go(|| {
            println!("a sieve of a goroutine for each prime, on one P: {:?}", primes(20));
            let answers = [1, 50].map(|millis| {
                let (send, receive) = bounded(1);
                go(move || {
                    time::sleep(Duration::from_millis(millis)).wait();
                    let _ = send.send(if millis == 1 { "quick" } else { "slow" }).wait();
                });
                receive
            });
            let [quick, slow] = answers;
            println!("a select of an answer in 1 ms, one in 50 ms, and a timeout: {:?}", first_of(quick, slow));
            let latest = ticks_beside_a_hog();
            println!(
                "100 ticks of 1 ms beside a loop that never yields: the latest came {latest:.1?} late, and all came"
            );
        })
        .wait()?;
    Ok(())
}
