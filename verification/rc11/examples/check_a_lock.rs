//! A lock of one's own, checked in thirty lines: `cargo run -p rc11 --example check_a_lock`.
//!
//! A ticket lock, as it is often written: a thread takes the next ticket, and waits until it is served. Two threads
//! add one each under it. The checker plays them in every way that RC11 allows. With one ordering too weak it draws the
//! execution in which both touch the number at once; with the right one there is none left to play.

use rc11::engine::{Config, PlainCell, Word, explore, fork, spin};
use std::sync::{
    Arc,
    atomic::Ordering::{self, Acquire, Relaxed, Release},
};

struct TicketLock {
    next: Word,
    served: Word,
}

impl TicketLock {
    /// `unlock` is what the lock's last line says. It is the line to get wrong.
    fn with(&self, unlock: Ordering, f: impl FnOnce()) {
        let mine = self.next.fetch_add(1, Relaxed);
        while self.served.load(Acquire) != mine {
            spin(); // a round without news is no execution of its own
        }
        f();
        self.served.store(mine + 1, unlock);
    }
}

/// One execution, and how it ended. The checker calls it once for each that there is.
fn two_add_one_each(unlock: Ordering) -> String {
    let shared = Arc::new((TicketLock { next: Word::new(0), served: Word::new(0) }, PlainCell::new(0)));
    let adder = |name| {
        let shared = Arc::clone(&shared);
        fork(name, move || shared.0.with(unlock, || shared.1.set(shared.1.get() + 1)))
    };
    let (one, two) = (adder("one"), adder("two"));
    one.join();
    two.join();
    format!("the number is {}", shared.1.get())
}

fn main() {
    let wrong = explore(&Config::default(), || two_add_one_each(Relaxed), |_| ());
    let failure = wrong.failure.expect("a lock that releases nothing is no lock");
    println!("{}", failure.picture("Unlocked with Relaxed", || two_add_one_each(Relaxed)).columns());

    let right = explore(&Config::default(), || two_add_one_each(Release), |_| ());
    assert!(right.is_proof() && right.tally.outcomes.keys().eq(["the number is 2"]));
    println!("Unlocked with Release");
    for (outcome, executions) in &right.tally.outcomes {
        println!("proved on RC11, for two threads: {outcome}, in each of {executions} executions");
    }
}
