//! How to explore.

use crate::graph::{Graph, MAX_THREADS};
use crate::machine::Limits;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How to explore.
#[derive(Clone)]
pub struct Config {
    /// How many threads of the machine explore. The counts do not depend on it.
    pub jobs: NonZeroUsize,
    /// No more than so many executions, about.
    pub executions: Option<u64>,
    /// No more than so many seconds, about.
    pub seconds: Option<f64>,
    /// So many times an execution `park` may wake spuriously.
    pub spurious: u16,
    /// No more than so many events an execution; one with more is a failure.
    pub max_events: usize,
    /// No more than so many threads an execution, those that have ended included; at most
    /// [`MAX_THREADS`].
    pub max_threads: usize,
    /// When an execution is over and threads of it are not, do they unwind? If not, what they have is left as it is,
    /// and its memory is lost: for code that must not be stopped where it stands.
    pub unwind: bool,
    /// Is memory that an execution frees kept until its end? An address then means one allocation.
    pub quarantine: bool,
    /// Of the executions that differ only by which of some symmetric threads did what, is one explored? If not, all are. See
    /// [`fork_symmetric`](crate::engine::fork_symmetric).
    pub symmetry: bool,
    /// So many times an execution a block of memory may lie where one lay that was freed, of a layout whose addresses are
    /// compared or exchanged.
    pub reuse: u16,
    /// Is it counted which blocks of memory an execution does not free?
    pub leaks: bool,
    /// Done once on each thread that explores, before it does.
    pub on_thread: Option<Arc<dyn Fn() + Send + Sync>>,
    /// Executions that take more preemptions than this are left out, and then the exploration is no proof: see
    /// [`Tally::preempted`](super::Tally::preempted). `None`: all are explored.
    pub preemptions: Option<usize>,
    /// With a bound of executions or of time, the first half of it goes along random branches every other turn, by this seed,
    /// and the rest depth first. Without a bound, or `None`: all does.
    pub seed: Option<u64>,
    /// Called with the graph of each execution in which all threads have come to their end.
    pub at_graph: Option<AtGraph>,
    /// Set by another thread, it ends the exploration soon, as if its time was over.
    pub stop: Option<Arc<AtomicBool>>,
    /// A checkpoint's file stays when nothing is left: for a program that adds up what several explorations of parts have found.
    pub leaves_checkpoint: bool,
    /// Asked when all threads of an execution have come to their end: how it ended, if the closure does not say so; or what is
    /// wrong with it nevertheless. It may read every word and take every lock of the model: what was written last is there.
    pub at_end: Option<AtEnd>,
}

/// Looks at an execution.
pub type AtGraph = Arc<dyn Fn(&Graph) + Send + Sync>;

/// How an execution ended whose threads have come to their end, if the closure does not say so; or what is wrong with it.
pub type AtEnd = Arc<dyn Fn() -> Result<Option<String>, String> + Send + Sync>;

impl Config {
    pub(super) fn limits(&self) -> Limits {
        let Config { max_events, max_threads, unwind, quarantine, symmetry, reuse, leaks, .. } = *self;
        Limits { max_events, max_threads, unwind, quarantine, symmetry, reuse, leaks }
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            jobs: NonZeroUsize::MIN,
            executions: None,
            seconds: None,
            spurious: 0,
            max_events: 3_000,
            max_threads: MAX_THREADS,
            unwind: true,
            quarantine: false,
            symmetry: true,
            reuse: 0,
            leaks: false,
            on_thread: None,
            preemptions: None,
            seed: None,
            at_graph: None,
            stop: None,
            leaves_checkpoint: false,
            at_end: None,
        }
    }
}
