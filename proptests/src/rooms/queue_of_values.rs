//! What a channel may answer, as a list would.
//!
//! A receive that gave up may have been given a value meanwhile, which went back: no thread saw which. So every value is tried for
//! it, and none; one of these histories must be linearizable.

use crate::linear::{Record, Spec, linearize};
use crate::room::reached_if;
use std::collections::BTreeSet;

/// What was called, and what was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// This value was sent.
    Sent(u64),
    /// This one was not: the channel is closed.
    Refused(u64),
    /// This one was not: there is no room.
    Full(u64),
    /// This one was received.
    Received(u64),
    /// This one went back, from a receive that gave up.
    Back(u64),
    /// Nothing was there.
    Empty,
    /// Nothing was there, and nothing will be.
    NoneLeft,
    /// The channel was closed; was it the first time?
    Closed(bool),
    /// A receive waited, and gave up.
    GaveUp,
}

/// A list with room for so many.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Queue {
    capacity: usize,
    /// All that was sent, in order.
    sent: Vec<u64>,
    /// Which of them are inside. A value that comes back has its old place.
    inside: BTreeSet<usize>,
    is_closed: bool,
}

impl Queue {
    /// An empty one.
    pub fn new(capacity: usize) -> Queue {
        Queue { capacity, sent: Vec::new(), inside: BTreeSet::new(), is_closed: false }
    }

    /// Without room, a value is inside for as long as it takes to hand it over.
    fn has_room(&self) -> bool {
        self.inside.len() < self.capacity.max(1)
    }
}

impl Spec for Queue {
    type Call = Call;

    fn after(&self, call: &Call) -> Option<Self> {
        let mut after = self.clone();
        let is_right = match *call {
            Call::Sent(n) => {
                after.inside.insert(self.sent.len());
                after.sent.push(n);
                !self.is_closed && self.has_room()
            }
            Call::Refused(_) => self.is_closed,
            Call::Full(_) => !self.is_closed && self.inside.len() >= self.capacity,
            Call::Received(n) => after.inside.pop_first().is_some_and(|at| self.sent[at] == n),
            Call::Back(n) => {
                let at = self.sent.iter().position(|&sent| sent == n)?;
                after.inside.insert(at)
            }
            Call::Empty => !self.is_closed && self.inside.is_empty(),
            Call::NoneLeft => self.is_closed && self.inside.is_empty(),
            Call::Closed(is_first) => {
                after.is_closed = true;
                self.is_closed != is_first
            }
            Call::GaveUp => true,
        };
        is_right.then_some(after)
    }
}

/// Is there an order of these calls, and of the `rest` that was received at last, in which a list answers so?
///
/// # Panics
/// If not.
pub fn check(capacity: usize, mut history: Vec<Record<Call>>, rest: &[u64]) {
    let now = history.iter().map(|record| record.ended).max().unwrap_or(0);
    let last = rest.iter().map(|&n| Call::Received(n)).chain([Call::NoneLeft]);
    history.extend(last.zip(1..).map(|(call, n)| Record {
        thread: 0,
        call,
        begun: now + 2 * n,
        ended: now + 2 * n + 1,
    }));
    let sent: Vec<u64> = history.iter().filter_map(|record| sent_by(&record.call)).collect();
    let as_it_is = linearize(&Queue::new(capacity), &history);
    let Err(wrong) = as_it_is else { return };
    let explains = |history: &[Record<Call>]| linearize(&Queue::new(capacity), history).is_ok();
    let is_explained = with_given(&history, &sent).iter().any(|history| explains(history));
    reached_if(is_explained, "a value was given to a receive that gave up");
    assert!(is_explained, "{wrong}");
}

fn sent_by(call: &Call) -> Option<u64> {
    if let Call::Sent(n) = *call { Some(n) } else { None }
}

/// The history, where each receive that gave up was given one of these, or nothing.
fn with_given(history: &[Record<Call>], values: &[u64]) -> Vec<Vec<Record<Call>>> {
    let mut all = vec![Vec::new()];
    for record in history {
        let with = |calls: &[Call]| {
            let records = calls.iter().map(|&call| Record { call, ..record.clone() }).collect::<Vec<_>>();
            all.iter().map(|begun: &Vec<_>| [&begun[..], &records].concat()).collect::<Vec<_>>()
        };
        all = match record.call {
            Call::GaveUp => {
                let given = values.iter().flat_map(|&n| with(&[Call::Received(n), Call::Back(n)]));
                with(&[]).into_iter().chain(given).collect()
            }
            call => with(&[call]),
        };
    }
    all
}
