//! Linearizability: does what concurrent calls have answered have an order?
//!
//! Herlihy and Wing, 1990: a history is linearizable if its calls can be put in a row such that a call that had ended
//! before another began stands before it, and each answers what the sequential object would. The search is Wing and
//! Gong's (1993) with Lowe's memory (2017): a set of calls that are done, and the state they lead to, is tried once.

use spinpark_kernel::host::{Host, Word};
use std::collections::HashSet;
use std::fmt::{self, Debug, Write as _};
use std::hash::Hash;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A sequential object, which says what may be answered in each of its states.
pub trait Spec: Clone + Eq + Hash + Debug {
    /// What can be called, with what was answered.
    type Call: Clone + Debug;

    /// The state after `call`, if the object could answer that now.
    fn after(&self, call: &Self::Call) -> Option<Self>;
}

/// One call of one thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record<C> {
    /// The caller. Its calls are in order in the history.
    pub thread: usize,
    /// What, and what was answered.
    pub call: C,
    /// When it began, in steps of a common clock.
    pub begun: u64,
    /// When it had ended.
    pub ended: u64,
}

/// What happened, as each party saw it.
///
/// The clock is a word of the host's: its steps are part of what an engine tries in every order, so that none is missed
/// in which a call ends just before another begins. It is a locked exchange on cores, and so a full fence there and over
/// store buffers: play histories where that hides nothing.
pub struct History<H: Host, C> {
    clock: H::Word,
    records: Mutex<Vec<Record<C>>>,
}

impl<H: Host, C> Default for History<H, C> {
    fn default() -> Self {
        History { clock: Word::new(0), records: Mutex::new(Vec::new()) }
    }
}

impl<H: Host, C> History<H, C> {
    /// Thread `thread` does `act`. What that was, it says itself: several calls at once if `act` is not one step even
    /// to its own specification, which then happen in order, each at some moment between its beginning and its end.
    pub fn calls<R>(&self, thread: usize, act: impl FnOnce() -> (R, Vec<C>)) -> R {
        // SeqCst, both: one clock for all.
        let begun = self.clock.fetch_add(1, SeqCst);
        let (result, calls) = act();
        let ended = self.clock.fetch_add(1, SeqCst);
        let records = calls.into_iter().map(|call| Record { thread, call, begun, ended });
        self.lock().extend(records);
        result
    }

    /// Thread `thread` does `act`, which is one call.
    pub fn call<R>(&self, thread: usize, act: impl FnOnce() -> (R, C)) -> R {
        self.calls(thread, || {
            let (result, call) = act();
            (result, vec![call])
        })
    }

    /// All that was written down so far.
    pub fn records(&self) -> Vec<Record<C>>
    where
        C: Clone,
    {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Record<C>>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// No order explains what was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotLinearizable {
    /// The history, with the longest explained part marked.
    pub picture: String,
}

impl fmt::Display for NotLinearizable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no order of these calls explains their answers:\n{}", self.picture)
    }
}

impl std::error::Error for NotLinearizable {}

/// Finds an order of `history` that explains every answer, beginning with `initial`: indices into it.
///
/// # Errors
/// If there is none.
///
/// # Panics
/// If there are more than 128 calls.
pub fn linearize<S: Spec>(initial: &S, history: &[Record<S::Call>]) -> Result<Vec<usize>, NotLinearizable> {
    assert!(history.len() <= 128, "linear: {} calls; give 128 at most", history.len());
    let mut search = Search { history, seen: HashSet::new(), order: Vec::new(), best: Vec::new() };
    if search.go(initial, 0) { Ok(search.order) } else { Err(NotLinearizable { picture: search.picture() }) }
}

struct Search<'a, S: Spec> {
    history: &'a [Record<S::Call>],
    /// Lowe: what is done, and where that leads.
    seen: HashSet<(u128, S)>,
    order: Vec<usize>,
    best: Vec<usize>,
}

impl<S: Spec> Search<'_, S> {
    fn go(&mut self, state: &S, done: u128) -> bool {
        if self.order.len() == self.history.len() {
            return true;
        }
        for next in self.candidates(done) {
            let Some(after) = state.after(&self.history[next].call) else { continue };
            let done = done | 1 << next;
            if !self.seen.insert((done, after.clone())) {
                continue;
            }
            self.order.push(next);
            if self.order.len() > self.best.len() {
                self.best.clone_from(&self.order);
            }
            if self.go(&after, done) {
                return true;
            }
            self.order.pop();
        }
        false
    }

    /// The calls that may come next: begun before any that is left had ended, and the first that is left of its thread.
    fn candidates(&self, done: u128) -> Vec<usize> {
        let left = || self.history.iter().enumerate().filter(|(i, _)| done & 1 << i == 0);
        let first_end = left().map(|(_, record)| record.ended).min().unwrap_or(u64::MAX);
        let is_next = |i: usize, record: &Record<S::Call>| {
            record.begun < first_end && !left().any(|(j, earlier)| j < i && earlier.thread == record.thread)
        };
        left().filter(|(i, record)| is_next(*i, record)).map(|(i, _)| i).collect()
    }

    /// A line a call, by its beginning: the thread, what it did, and when.
    fn picture(&self) -> String {
        let mut text = String::new();
        let mut by_time: Vec<usize> = (0..self.history.len()).collect();
        by_time.sort_by_key(|&i| (self.history[i].begun, i));
        for i in by_time {
            let Record { thread, call, begun, ended } = &self.history[i];
            let place = self.best.iter().position(|&j| i == j);
            let place = place.map_or("  ?".to_owned(), |place| format!("{:3}", place + 1));
            let _ = writeln!(text, "  {place}  thread {thread}  {begun:3}..{ended:<3}  {call:?}");
        }
        text.push_str("  (in front: its place in the longest order that explains a part of it)\n");
        text
    }
}
