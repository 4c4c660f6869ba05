//! A picture of a moving world: `cargo run --example stop_the_world`.
//!
//! Tasks move money between accounts, without a lock around two of them. A task that adds the accounts up while they
//! run sees a wrong sum; one that stops the world sees the right one, every time. In between the number of tasks
//! that run at once is changed, too.

use spinpark::{Runtime, checkpoint};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::time::Instant;

const ACCOUNTS: usize = 64;
const EACH: i64 = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = Runtime::builder().procs(2).max_procs(8).build()?;
    let accounts: Arc<Vec<AtomicI64>> = Arc::new((0..ACCOUNTS).map(|_| AtomicI64::new(EACH)).collect());
    let is_over = Arc::new(AtomicBool::new(false));
    let tasks: Vec<_> = (1..=6)
        .map(|step| {
            let (accounts, is_over) = (Arc::clone(&accounts), Arc::clone(&is_over));
            runtime.go(move || {
                for n in (0..).step_by(step) {
                    if is_over.load(Relaxed) {
                        return n / step;
                    }
                    accounts[n % ACCOUNTS].fetch_sub(7, Relaxed);
                    // Between these two lines the money is nowhere.
                    accounts[(n + step) % ACCOUNTS].fetch_add(7, Relaxed);
                    // Here, and only here, the world can stop.
                    checkpoint();
                }
                unreachable!("the numbers do not end")
            })
        })
        .collect();

    let sum = || accounts.iter().map(|account| account.load(Relaxed)).sum::<i64>();
    let right = EACH * ACCOUNTS as i64;
    let (mut wrong, mut longest) = (0, 0);
    for round in 0..1000 {
        wrong += i32::from(sum() != right);
        let start = Instant::now();
        let stopped = runtime.stop_the_world(|| {
            longest = longest.max(start.elapsed().as_micros());
            sum()
        })?;
        assert_eq!(stopped, right, "the world did not stand still");
        if round % 250 == 0 {
            println!("{} Ps, now {}", runtime.set_procs(1 + round / 250 * 2)?, runtime.procs());
        }
    }
    is_over.store(true, Relaxed);
    let transfers = tasks.into_iter().map(|task| task.join()).sum::<Result<usize, _>>()?;
    println!(
        "{transfers} transfers by 6 tasks; 1000 times the accounts were added up while they ran: {wrong} sums were wrong"
    );
    println!("1000 times the world was stopped for it: none was wrong");
    println!("the longest wait for the world to stop: {longest} us");
    Ok(())
}
