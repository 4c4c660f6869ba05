//! What the calls of a channel answered, and whether a list could have answered so.
//!
//! A call that is seen to have ended before another begins stands before it. Each thread writes how many of its calls have
//! ended, and reads what the others wrote before each of its own: Relaxed, so nothing is ordered that the channel does not
//! order, and yet what was read was written before. The order that is sought respects it (Herlihy and Wing's real time, as far
//! as any thread in the execution can tell it).

use crate::hosts::model_host::ModelHost;
use spinpark_kernel::atomic::Atomic;
use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;

/// Threads that call.
pub const CALLERS: usize = 3;

/// What was called, and what was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// A send: it was.
    Sent(u64),
    /// A send: there was no room.
    Full(u64),
    /// A send: it was closed.
    Refused(u64),
    /// A receive: this.
    Received(u64),
    /// A receive: nothing was there.
    Empty,
    /// A receive: it was closed, and nothing was there.
    Over,
    /// A close: was it the first?
    Closed(bool),
}

/// A call, and how many of each thread's calls had ended before, as far as was seen.
#[derive(Debug, Clone, Copy)]
pub struct Record {
    call: Call,
    seen: [u64; CALLERS],
}

/// How many calls of each thread have ended.
pub struct Ended<H: ModelHost>([Atomic<H, u64>; CALLERS]);

impl<H: ModelHost> Ended<H> {
    /// None.
    pub fn new() -> Self {
        Ended(std::array::from_fn(|_| Atomic::new(0)))
    }

    /// Caller `me` makes these calls, one after the other.
    pub fn record(&self, me: usize, calls: impl IntoIterator<Item = impl FnOnce() -> Call>) -> Vec<Record> {
        let mut records = Vec::new();
        for call in calls {
            // Relaxed: what is read was written; nothing else is to follow from it.
            let seen = std::array::from_fn(|other| if other == me { 0 } else { self.0[other].load(Relaxed) });
            records.push(Record { call: call(), seen });
            // Relaxed: as above.
            self.0[me].store(records.len() as u64, Relaxed);
        }
        records
    }
}

impl<H: ModelHost> Default for Ended<H> {
    fn default() -> Self {
        Self::new()
    }
}

/// A channel as a list.
#[derive(Debug, Clone)]
struct List {
    capacity: usize,
    values: VecDeque<u64>,
    is_closed: bool,
}

impl List {
    /// Could it answer so? Then it does.
    fn answers(&mut self, call: Call) -> bool {
        let (len, is_open) = (self.values.len(), !self.is_closed);
        match call {
            Call::Sent(n) if is_open && len < self.capacity => self.values.push_back(n),
            Call::Full(_) => return is_open && len >= self.capacity,
            Call::Refused(_) => return !is_open,
            Call::Received(n) if self.values.front() == Some(&n) => drop(self.values.pop_front()),
            Call::Empty => return is_open && len == 0,
            Call::Over => return !is_open && len == 0,
            Call::Closed(is_first) if is_first == is_open => self.is_closed = true,
            Call::Sent(_) | Call::Received(_) | Call::Closed(_) => return false,
        }
        true
    }

    /// Could it hand this value over, from sender to receiver?
    fn hands_over(&self, sent: Call, received: Call) -> bool {
        let is_one = matches!((sent, received), (Call::Sent(n), Call::Received(m)) if n == m);
        is_one && !self.is_closed && self.values.is_empty()
    }
}

/// Is there an order of these calls in which a list of this capacity answers so?
pub fn is_linearizable(capacity: usize, threads: &[Vec<Record>]) -> bool {
    let list = List { capacity, values: VecDeque::new(), is_closed: false };
    explains(&list, threads, &vec![0; threads.len()])
}

fn explains(list: &List, threads: &[Vec<Record>], done: &[usize]) -> bool {
    let next: Vec<_> = (0..threads.len()).filter_map(|thread| may_come(threads, done, thread)).collect();
    if next.is_empty() {
        return threads.iter().zip(done).all(|(records, &done)| records.len() == done);
    }
    let go = |list: List, come: &[usize]| {
        let mut done = done.to_vec();
        come.iter().for_each(|&thread| done[thread] += 1);
        explains(&list, threads, &done)
    };
    let alone = |&(thread, call): &(usize, Call)| {
        let mut list = list.clone();
        list.answers(call) && go(list, &[thread])
    };
    let both = |&(one, sent): &(usize, Call)| {
        let met = |&&(_, received): &&(usize, Call)| list.hands_over(sent, received);
        next.iter().filter(met).any(|&(other, _)| go(list.clone(), &[one, other]))
    };
    next.iter().any(alone) || next.iter().any(both)
}

/// The next call of this thread, if all have come that it saw to have ended.
fn may_come(threads: &[Vec<Record>], done: &[usize], thread: usize) -> Option<(usize, Call)> {
    let record = threads[thread].get(done[thread])?;
    let is_after = |other: usize| done.get(other).is_none_or(|&done| done as u64 >= record.seen[other]);
    (0..CALLERS).all(is_after).then_some((thread, record.call))
}

/// The calls without what was seen.
pub fn calls(records: &[Record]) -> Vec<Call> {
    records.iter().map(|record| record.call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(call: Call, seen: [u64; CALLERS]) -> Record {
        Record { call, seen }
    }

    #[test]
    fn a_list_gives_in_the_order_of_sending() {
        let sends = vec![record(Call::Sent(1), [0; 3]), record(Call::Sent(2), [0; 3])];
        let receives =
            |first, second| vec![record(Call::Received(first), [0; 3]), record(Call::Received(second), [0; 3])];
        assert!(is_linearizable(2, &[sends.clone(), receives(1, 2)]));
        assert!(is_linearizable(0, &[sends.clone(), receives(1, 2)]), "handed over");
        assert!(!is_linearizable(2, &[sends, receives(2, 1)]));
    }

    #[test]
    fn what_was_seen_to_have_ended_stands_before() {
        let sends = vec![record(Call::Sent(1), [0; 3])];
        assert!(is_linearizable(1, &[sends.clone(), vec![record(Call::Empty, [0; 3])]]));
        assert!(!is_linearizable(1, &[sends, vec![record(Call::Empty, [1, 0, 0])]]));
    }

    #[test]
    fn a_full_list_refuses_and_a_closed_one_too() {
        let closes = vec![record(Call::Closed(true), [0; 3])];
        assert!(is_linearizable(1, &[vec![record(Call::Refused(1), [0; 3])], closes.clone()]));
        assert!(!is_linearizable(1, &[vec![record(Call::Refused(1), [0; 3])]]));
        assert!(!is_linearizable(1, &[vec![record(Call::Full(1), [0; 3])]]));
        assert!(!is_linearizable(1, &[closes.clone(), closes]), "both were the first");
    }
}
