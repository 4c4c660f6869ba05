//! Checking a scheduler by what it reports, and by what its embedder knows.
//!
//! ```text
//!   Event  ──► order: which event can follow which ─────────────┐
//!     │                                                         ├──► the invariant that does not hold, and why
//!     └──────► facts: what is true of each G, M and P now ──────┘
//!   Fact, from the embedder ──► facts
//! ```
//!
//! Models check the order ([`EventChecker`](order::EventChecker)); a [`Checker`], which random programs of the whole scheduler are
//! played before, checks both. [`tally`] counts what came of an exploration.

pub mod facts;
pub mod invariants;
pub mod order;
pub mod tally;

use facts::{Fact, Facts};
use invariants::{EVENTS_ARE_TRUE, Invariant, Violation};
use order::Order;
use spinpark_kernel::sched::observer::Event;
use std::collections::BTreeMap;

/// Both, of one scheduler.
#[derive(Debug, Clone)]
pub struct Checker {
    order: Order,
    facts: Facts,
}

impl Checker {
    /// Nothing has happened. There are `most` Ps at most.
    pub fn new(most: usize) -> Checker {
        Checker { order: Order::default(), facts: Facts::new(most) }
    }

    /// The scheduler has reported this.
    ///
    /// # Errors
    /// The invariant that does not hold.
    pub fn hear(&mut self, event: &Event<'_>) -> Result<(), Violation> {
        *self.facts.checked.entry(EVENTS_ARE_TRUE).or_default() += 1;
        self.order.check(event)?;
        Fact::of(event).map_or(Ok(()), |fact| self.facts.tell(fact))
    }

    /// The embedder knows this.
    ///
    /// # Errors
    /// The invariant that does not hold.
    pub fn tell(&mut self, fact: Fact) -> Result<(), Violation> {
        if let Fact::WithoutEvent { m } = fact {
            self.order.leaves(m);
        }
        self.facts.tell(fact)
    }

    /// How often each invariant was looked at.
    pub fn checked(&self) -> &BTreeMap<Invariant, u64> {
        &self.facts.checked
    }
}
