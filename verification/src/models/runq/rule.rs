//! The ring beside a plain list.

use super::capacity;
use crate::harness::common::g;
use crate::hosts::model_host::ModelHost;
use spinpark_kernel::queues::runq::{Full, RunQueue};
use std::collections::VecDeque;

/// A ring of four, with cursors as narrow as they may be and about to wrap around, beside a plain list.
struct Both<H: ModelHost> {
    ring: RunQueue<H, 3>,
    list: VecDeque<u64>,
    put: u64,
}

impl<H: ModelHost> Both<H> {
    fn news(&mut self, n: u64) -> impl Iterator<Item = u64> + use<H> {
        self.put += n;
        self.put - n + 1..=self.put
    }

    /// One operation of five.
    fn does(&mut self) {
        match H::choose(5) {
            0 => {
                let n = self.put + 1;
                self.put = n;
                let fits = self.ring.put(g(n)).map_err(|Full(g)| g.into_raw().get());
                let told = if self.list.len() < 4 { Ok(()) } else { Err(n) };
                assert!(fits == told, "G{n} was put beside {:?}: {fits:?}", self.list);
                self.list.extend(told.is_ok().then_some(n));
            }
            1 => {
                let mut news = self.news(3).map(g);
                let (n, told) = (self.ring.put_batch(&mut news), 3.min(4 - self.list.len()));
                assert!(n == told, "of a batch of 3 there were put {n} beside {:?}", self.list);
                self.list.extend(self.put - 2..self.put - 2 + told as u64);
            }
            2 => {
                let (found, told) = (self.ring.get().map(|g| g.into_raw().get()), self.list.pop_front());
                assert!(found == told, "the oldest is {found:?}, not {told:?}");
            }
            3 => {
                let told: Vec<u64> = if self.list.len() == 4 { self.list.drain(..2).collect() } else { Vec::new() };
                let found: Vec<u64> =
                    self.ring.spill_half().into_iter().flatten().map(|g| g.into_raw().get()).collect();
                assert!(found == told, "spilled {found:?}, not {told:?}");
            }
            _ => {
                let mine = RunQueue::new(capacity(4));
                let (first, n) = self.ring.steal_some(&mine).map_or((None, 0), |(first, n)| (Some(first), n));
                let rest = std::iter::from_fn(|| mine.get());
                let found: Vec<u64> = first.into_iter().chain(rest).map(|g| g.into_raw().get()).collect();
                let told: Vec<u64> = self.list.drain(..self.list.len().div_ceil(2)).collect();
                assert!(found == told && n == told.len(), "stole {n}, {found:?}, not {told:?}");
            }
        }
        let (len, is_empty) = (self.ring.len(), self.ring.is_empty());
        assert!(len == self.list.len() && is_empty == self.list.is_empty(), "{len} in it, not {:?}", self.list);
    }
}

pub(super) fn five_operations<H: ModelHost>() -> String {
    let mut both = Both::<H> { ring: RunQueue::starting_at(capacity(4), 5), list: VecDeque::new(), put: 0 };
    (0..5).for_each(|_| both.does());
    format!("{} left", both.list.len())
}
