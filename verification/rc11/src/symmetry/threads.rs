//! How symmetric threads are started and joined, so that nothing tells them apart.
//!
//! Each has a copy of the same closure, made before the first one starts. They are joined together, and what they return
//! is sorted: the thread that joins them does not learn which of them returned what.

use crate::machine;
use crate::step::Ask;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Threads that cannot be told apart.
pub(crate) struct Group<T> {
    numbers: Vec<u8>,
    results: Arc<Mutex<Vec<T>>>,
}

impl<T: Ord + 'static> Group<T> {
    /// Starts `n` of them, each of which runs a copy of `body`, and then `end`.
    #[track_caller]
    pub(crate) fn start(name: &str, n: usize, body: impl FnOnce() -> T + Clone + 'static, end: fn()) -> Group<T> {
        let results = Arc::new(Mutex::new(Vec::new()));
        // All copies are made before the first thread starts.
        let bodies: Vec<_> = std::iter::repeat_n(body, n).collect();
        let mut numbers = Vec::new();
        for (body, nth) in bodies.into_iter().zip(1..) {
            let place = Arc::clone(&results);
            let body = move || {
                let result = body();
                place.lock().unwrap_or_else(PoisonError::into_inner).push(result);
                end();
            };
            let nth = if n > 1 && machine::reduces_by_symmetry() { nth } else { 0 };
            numbers.push(machine::fork(name, nth, Box::new(body)));
        }
        Group { numbers, results }
    }

    /// Waits for all of them; what they returned, sorted.
    #[track_caller]
    pub(crate) fn join(self) -> Vec<T> {
        for &number in &self.numbers {
            machine::ask(Ask::Join(number));
        }
        let mut results = std::mem::take(&mut *self.results.lock().unwrap_or_else(PoisonError::into_inner));
        if results.len() < self.numbers.len() {
            // The execution is over.
            machine::rest_in_peace();
        }
        results.sort();
        results
    }
}

impl<T> fmt::Debug for Group<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("threads", &self.numbers.len()).finish_non_exhaustive()
    }
}
