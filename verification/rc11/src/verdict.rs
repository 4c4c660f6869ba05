//! What can be wrong with an execution.

use crate::graph::Graph;

/// Why an execution must not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// A thread panicked: a model's own assertion, or the code under test.
    Panic(String),
    /// Two accesses of one location, one a write, one not atomic, and neither happens before the other: the last event
    /// and this one.
    Race(usize),
    /// Memory is given back, or moved away, or lent to one thread alone, and nothing orders this access of it before that.
    Freed {
        /// The access.
        access: usize,
        /// The thread that does so.
        thread: u8,
        /// Does the memory's life end? Else it is only lent.
        is_end: bool,
        /// Where in the source, if the execution was played again.
        at: Option<String>,
    },
    /// These threads wait, and nothing that could wake them can come.
    Deadlock(Vec<u8>),
    /// The main thread has come to its end, and these never do.
    Unjoined(Vec<u8>),
    /// An execution has more events than this: a loop without an end, or a bound to be raised.
    TooManyEvents(usize),
    /// More threads than an execution may have.
    TooManyThreads,
    /// A thread uses a location that another has made, and nothing orders the making before the use.
    Uninitialised,
    /// The same graph did not lead to the same operations: time, addresses or chance came in past the checker.
    NotDeterministic,
}

/// What is wrong, and in whose step it showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Why.
    pub why: Why,
    /// The thread that went last.
    pub thread: u8,
}

impl Why {
    /// [`Why::NotDeterministic`], in a sentence.
    pub const NOT_DETERMINISTIC: &str = "the model is not deterministic: the same reads did not lead to the same \
        operations; time, chance and shared memory must go through the checker, not by std's atomics, locks or addresses";

    /// In a sentence; `name` names a thread.
    pub fn sentence(&self, graph: &Graph, name: impl Fn(u8) -> String) -> String {
        let names = |threads: &[u8]| threads.iter().map(|&thread| name(thread)).collect::<Vec<_>>().join(", ");
        match self {
            Why::Panic(text) => text.clone(),
            Why::Race(other) => {
                let other = graph.events.get(*other).map_or(String::new(), |event| name(event.thread));
                let last = graph.events.last().map_or(String::new(), |event| name(event.thread));
                format!("data race: {last} and {other} touch the same memory, and neither happens before the other")
            }
            Why::Freed { access, thread, is_end, at } => {
                let event = graph.events.get(*access);
                let (who, does) = event.map_or((String::new(), "accesses"), |event| {
                    (name(event.thread), if event.is_write() { "writes" } else { "reads" })
                });
                let ends = if *is_end { "frees or moves away" } else { "borrows for itself alone" };
                let at = at.as_ref().map_or_else(String::new, |at| format!(" at {at}"));
                let me = name(*thread);
                let kind = if *is_end { "use after free: " } else { "data race: " };
                format!("{kind}{who} {does} memory that {me} {ends}{at}, and nothing orders the access before that")
            }
            Why::Deadlock(threads) => {
                format!("deadlock: {} wait, and nothing that could wake them can come any more", names(threads))
            }
            Why::Unjoined(threads) => {
                format!("the main thread has ended, but {} wait for ever: no thread joins or wakes them", names(threads))
            }
            Why::TooManyEvents(n) => format!(
                "more than {n} events in one execution: a loop never ended: call `hint::spin_loop()` in it, or raise `max_branches`"
            ),
            Why::TooManyThreads => {
                format!("more than {} threads in one execution", crate::graph::MAX_THREADS)
            }
            Why::Uninitialised => {
                "uninitialised: a thread uses an object that another has made, but nothing orders the making before the use".to_owned()
            }
            Why::NotDeterministic => Why::NOT_DETERMINISTIC.to_owned(),
        }
    }
}
