//! The status of a model's G: a G that is readied or run twice is caught at the second time.
//!
//! Go: `casgstatus`, which is fatal there too.
//!
//! **Every edge is one of the table's, taken by one compare-and-exchange.** The kernel knows no status: a G is a number to it.
//! The runtime's tasks have the state word of `async-task`. This one is the checker's, beside each G of the models of the
//! whole scheduler.
//!
//! | status   | who holds the G                       | goes to                |
//! |----------|---------------------------------------|------------------------|
//! | Runnable | a queue, or an M about to run it      | Running                |
//! | Running  | the M that runs it                    | Runnable, Waiting, Dead|
//! | Waiting  | the thread that will ready it         | Runnable               |
//! | Dead     | no thread                             | (the end)              |

use spinpark_kernel::atomic::{Atomic, Value};
use spinpark_kernel::host::Host;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};

/// What a G is doing. The numbers are Go's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// In a queue, or on its way from one to an M.
    Runnable = 1,
    /// On an M.
    Running = 2,
    /// Recorded somewhere, until a thread readies it.
    Waiting = 4,
    /// Finished; its number may be used again.
    Dead = 6,
}

impl Value for Status {
    fn into_word(self) -> u64 {
        self as u64
    }
    fn from_word(word: u64) -> Self {
        match word {
            1 => Status::Runnable,
            2 => Status::Running,
            4 => Status::Waiting,
            6 => Status::Dead,
            other => unreachable!("g: {other} is no status"),
        }
    }
}

/// A G's status.
pub struct StatusWord<H: Host>(Atomic<H, Status>);

impl<H: Host> StatusWord<H> {
    /// Of a G that was just made: runnable.
    #[track_caller]
    pub fn new() -> Self {
        StatusWord(Atomic::new(Status::Runnable))
    }

    /// An M starts to run it.
    ///
    /// # Panics
    /// If it was not runnable: another M runs it already, or it was never readied.
    #[track_caller]
    pub fn execute(&self) {
        self.go(Status::Runnable, Status::Running);
    }

    /// It stops running, and stays runnable (Go: `Gosched`).
    ///
    /// # Panics
    /// If it was not running.
    #[track_caller]
    pub fn preempt(&self) {
        self.go(Status::Running, Status::Runnable);
    }

    /// It stops running and waits to be readied (Go: `gopark`). Set before any thread can learn that it waits.
    ///
    /// # Panics
    /// If it was not running.
    #[track_caller]
    pub fn park(&self) {
        self.go(Status::Running, Status::Waiting);
    }

    /// What it waited for has happened (Go: `goready`). The caller queues it.
    ///
    /// # Panics
    /// If it was not waiting; in particular when it is readied twice.
    #[track_caller]
    pub fn ready(&self) {
        self.go(Status::Waiting, Status::Runnable);
    }

    /// It is over.
    ///
    /// # Panics
    /// If it was not running.
    #[track_caller]
    pub fn exit(&self) {
        self.go(Status::Running, Status::Dead);
    }

    /// What it is at this moment; stale as soon as it is known.
    pub fn peek(&self) -> Status {
        // Relaxed: for display only. A thread that acts on a status takes an edge.
        self.0.load(Relaxed)
    }

    fn go(&self, from: Status, to: Status) {
        // AcqRel: the thread that takes an edge sees all that was done before the edge that led here.
        if let Err(found) = self.0.compare_exchange(from, to, AcqRel, Relaxed) {
            panic!("g: {from:?} to {to:?}, but it is {found:?}");
        }
    }
}

impl<H: Host> Default for StatusWord<H> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{Status, StatusWord};
    use crate::hosts::solo::Solo;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    type Edge = (fn(&StatusWord<Solo>), Status, Status);

    const EDGES: [Edge; 5] = [
        (StatusWord::execute, Status::Runnable, Status::Running),
        (StatusWord::preempt, Status::Running, Status::Runnable),
        (StatusWord::park, Status::Running, Status::Waiting),
        (StatusWord::ready, Status::Waiting, Status::Runnable),
        (StatusWord::exit, Status::Running, Status::Dead),
    ];

    /// A word with this status.
    fn at(status: Status) -> StatusWord<Solo> {
        let word = StatusWord::<Solo>::default();
        let way: &[fn(&StatusWord<Solo>)] = match status {
            Status::Runnable => &[],
            Status::Running => &[StatusWord::execute],
            Status::Waiting => &[StatusWord::execute, StatusWord::park],
            Status::Dead => &[StatusWord::execute, StatusWord::exit],
        };
        way.iter().for_each(|edge| edge(&word));
        word
    }

    #[test]
    fn an_edge_is_taken_from_its_status_and_refused_from_any_other() {
        for (edge, from, to) in EDGES {
            for status in [Status::Runnable, Status::Running, Status::Waiting, Status::Dead] {
                let word = at(status);
                let answer = catch_unwind(AssertUnwindSafe(|| edge(&word)));
                match answer {
                    Ok(()) => assert!(status == from && word.peek() == to, "{from:?} to {to:?}, from {status:?}"),
                    Err(why) => {
                        let why = why.downcast_ref::<String>().cloned().unwrap_or_default();
                        assert_eq!(why, format!("g: {from:?} to {to:?}, but it is {status:?}"));
                        assert!(status != from && word.peek() == status);
                    }
                }
            }
        }
    }
}
