//! Models of a `Cond`: no notification is missed, and one that was meant for one is not lost.

use crate::engines::Engine;
use crate::harness::common::party;
use crate::harness::sleeper::Sleeper;
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, loom, rc11, rc11_spurious, sampled, sc};
use crate::mutation::mutant::Mutant;
use crate::mutation::variants::cond::{self as steps, Condition};
use spinpark_kernel::host::Lock;
use std::sync::Arc;

/// Apples under a lock, and where those wait that find none.
struct Stock<H: ModelHost> {
    apples: H::Lock<u64>,
    cond: Condition<H>,
}

/// What became of one that wanted an apple.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Got {
    /// It had not to wait.
    AtOnce,
    /// It waited.
    Later,
}

impl<H: ModelHost> Stock<H> {
    fn new() -> Arc<Self> {
        Arc::new(Stock { apples: H::Lock::new(0), cond: Condition::<H>::new() })
    }

    /// More apples, under the lock.
    fn bring(&self, n: u64) {
        self.apples.with(|apples| *apples += n);
    }

    /// Waits until `is_over` says so, which is asked under the lock.
    fn wait_until(&self, mut is_over: impl FnMut(&mut u64) -> bool) -> Got {
        let mut got = Got::AtOnce;
        loop {
            let sleeper = Sleeper::new();
            let mut place = self.cond.place();
            if steps::ask_or_enqueue::<H, _>(&self.apples, &mut place, &sleeper, &mut is_over) {
                return got;
            }
            got = Got::Later;
            sleeper.wait_for(|lender| place.poll(lender));
            // It goes on: it locks again, and looks.
            place.goes_on();
        }
    }

    /// Takes an apple, when there is one.
    fn take(&self) -> Got {
        self.wait_until(|apples| {
            let is_there = *apples > 0;
            *apples -= u64::from(is_there);
            is_there
        })
    }

    /// Waits for an apple, and gives up, at once or after it was notified. `true`: it took one before.
    fn take_or_give_up(&self) -> bool {
        let sleeper = Sleeper::new();
        let mut place = self.cond.place();
        let took = steps::ask_or_enqueue::<H, _>(&self.apples, &mut place, &sleeper, |apples| {
            let is_there = *apples > 0;
            *apples -= u64::from(is_there);
            is_there
        });
        if !took && H::choose(2) == 1 {
            let _ = place.poll(&mut sleeper.lender());
        }
        steps::give_up(place);
        took
    }

    fn left(&self) -> u64 {
        self.apples.with(|apples| *apples)
    }
}

/// One waits, one notifies.
fn one_notifies_one<H: ModelHost>() -> String {
    let stock = Stock::<H>::new();
    let notifier = party::<H, _, _>("notifier", &stock, |stock| {
        stock.bring(1);
        stock.cond.notify_one();
    });
    let got = stock.take();
    H::join(notifier);
    assert!(stock.left() == 0, "an apple was taken, and is there");
    format!("{got:?}")
}

/// Two wait, two apples come, one after the other.
fn two_notifications_for_two<H: ModelHost>() -> String {
    let stock = Stock::<H>::new();
    let one = party::<H, _, _>("taker", &stock, Stock::take);
    let other = party::<H, _, _>("other taker", &stock, Stock::take);
    (0..2).for_each(|_| {
        stock.bring(1);
        stock.cond.notify_one();
    });
    let mut got = [H::join(one), H::join(other)];
    got.sort_unstable();
    assert!(stock.left() == 0, "two apples were taken, and {} is there", stock.left());
    format!("{got:?}")
}

/// Two wait, and all are notified.
fn all_are_notified<H: ModelHost>() -> String {
    let stock = Stock::<H>::new();
    let waiter = |stock: &Stock<H>| stock.wait_until(|apples| *apples > 0);
    let one = party::<H, _, _>("waiter", &stock, waiter);
    let other = party::<H, _, _>("other waiter", &stock, waiter);
    stock.bring(1);
    steps::notify_all(&stock.cond);
    let mut got = [H::join(one), H::join(other)];
    got.sort_unstable();
    format!("{got:?}")
}

/// Of two that wait one gives up; one apple comes.
fn one_gives_up<H: ModelHost>() -> String {
    let stock = Stock::<H>::new();
    let gives_up = party::<H, _, _>("gives up", &stock, Stock::take_or_give_up);
    let taker = party::<H, _, _>("taker", &stock, Stock::take);
    stock.bring(1);
    stock.cond.notify_one();
    let took = H::join(gives_up);
    if took {
        // Another, so that nobody waits for ever.
        stock.bring(1);
        stock.cond.notify_one();
    }
    let got = H::join(taker);
    assert!(stock.left() == 0, "apples are left");
    format!("took one: {took}, the other {got:?}")
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("cond::no_notification_is_missed::one_notifies_one", one_notifies_one,
        claim: "who waits for a change is notified of one that is made under the lock after it looked",
        size: "2 threads, 1 notification",
        invariants: [98],
        must_reach: ["AtOnce", "Later"],
        runs: [rc11(), rc11_spurious(1), loom(), sc()]),
    crate::model!("cond::no_notification_is_missed::two_notifications_for_two", two_notifications_for_two,
        claim: "two that wait are woken by two notifications, each by one",
        size: "3 threads, 2 notifications",
        invariants: [98],
        must_reach: ["[AtOnce, AtOnce]", "[AtOnce, Later]", "[Later, Later]"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
    crate::model!("cond::no_notification_is_missed::all_are_notified", all_are_notified,
        claim: "a notification of all wakes all that wait",
        size: "3 threads, 1 notification of all",
        invariants: [98],
        must_reach: ["[AtOnce, AtOnce]", "[AtOnce, Later]", "[Later, Later]"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
    crate::model!("cond::no_notification_is_missed::one_gives_up", one_gives_up,
        claim: "a notification for one that gives up, before or after it was woken, goes to the next",
        size: "3 threads, 1 notification",
        invariants: [98],
        must_reach: ["took one: true, the other AtOnce", "took one: true, the other Later", "took one: false, the other AtOnce",
            "took one: false, the other Later"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
];

const GIVES_UP: &str = "cond::no_notification_is_missed::one_gives_up";

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "cond";
    "cond-enqueues-after-unlocking": "who waits unlocks the user's lock, and enqueues its waiter after that",
        variant("enqueues-after-unlocking"), by "cond::no_notification_is_missed::one_notifies_one" => [Sc, Rc11];
    "cond-notifies-one-of-all": "of all that wait the first is woken",
        variant("notifies-one-of-all"), by "cond::no_notification_is_missed::all_are_notified" => [Sc, Rc11];
    "cond-keeps-the-notification": "who gives up takes the notification along that was meant for one",
        variant("keeps-the-notification"), by GIVES_UP => [Sc, Rc11];
};
