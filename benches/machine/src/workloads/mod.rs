//! What the Gs do, and whether they have done it.
//!
//! A G is a number. A workload says what each does when it is run, and ends when the last has run. What is no part of a scheduler
//! (which G is at which step, how many are left) stands in memory that costs nothing; what a task touches on a real machine (its
//! own header, a channel) stands in lines.

mod fork_join;
mod ping_pong;
mod producer;
mod sparse;
mod storm;
mod yields;

pub use fork_join::ForkJoin;
pub use ping_pong::PingPong;
pub use producer::Producer;
pub use sparse::Sparse;
pub use storm::Storm;
pub use yields::Yields;

use crate::costs::{NANO, Picos};
use crate::engine::{self, Place};
use crate::host::Parker;
use spinpark_kernel::host::Parker as _;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a G may ask of the worker that runs it.
pub trait Tasks {
    /// Queues `g`: one that was just spawned, or one that waited.
    fn ready(&mut self, g: u64);
    /// Queues `g`, which runs now, behind what waits there.
    fn yields(&mut self, g: u64);
}

/// What a thread that is no worker may ask of a scheduler.
pub trait Outside {
    /// Queues `g`.
    fn submit(&self, g: u64);
}

/// A workload.
pub trait Workload: Send + Sync + 'static {
    /// How many operations it is.
    fn operations(&self) -> u64;
    /// What they take on one worker if the scheduler took nothing: to see what is lost.
    fn computing(&self) -> Picos;
    /// Begins it, from a thread that is no worker; may take its time.
    fn begin(&self, outside: &dyn Outside);
    /// `g` runs.
    fn run(&self, g: u64, tasks: &mut dyn Tasks);
    /// How often each G has run, and what was to be.
    fn tally(&self) -> &Tally;
    /// Other figures: their names, and what they are, in nanoseconds.
    fn figures(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

/// How often each G has run; and the waiter for the last.
pub struct Tally {
    /// Index 0 is no G.
    runs: Vec<AtomicU64>,
    /// Each G is to run so often.
    each: u64,
    left: AtomicU64,
    done: Parker,
}

impl Tally {
    /// Gs `1..=gs`, each of which is to run `each` times.
    pub fn new(gs: u64, each: u64) -> Tally {
        let runs = (0..=gs).map(|_| AtomicU64::new(0)).collect();
        Tally { runs, each, left: AtomicU64::new(gs * each), done: Parker::new() }
    }

    /// How many Gs there are.
    pub fn gs(&self) -> u64 {
        self.runs.len() as u64 - 1
    }

    /// `g` has run once more. Says how often it had run before.
    fn ran(&self, g: u64) -> u64 {
        self.runs[g as usize].fetch_add(1, Relaxed)
    }

    /// A run has ended; the last wakes the thread that waits.
    fn ends(&self) {
        if self.left.fetch_sub(1, Relaxed) == 1 {
            self.done.unpark();
        }
    }

    /// Waits for the last.
    pub fn wait(&self) {
        while self.left.load(Ordering::Relaxed) > 0 {
            self.done.park();
        }
    }

    /// The first G that has not run as often as it was to.
    pub fn wrong(&self) -> Option<(u64, u64)> {
        let all = self.runs.iter().enumerate().skip(1).map(|(g, runs)| (g as u64, runs.load(Relaxed)));
        all.into_iter().find(|(_, runs)| *runs != self.each)
    }
}

/// A task begins to run: its state is changed by the thread that runs it.
fn begins(g: u64) {
    engine::locked(Place::Task(g));
}

/// It has run: its state is changed again.
fn ends(g: u64) {
    engine::locked(Place::Task(g));
}

/// A task is made, and queued.
fn spawn(g: u64, tasks: &mut dyn Tasks) {
    engine::work(SPAWN);
    engine::fresh(Place::Task(g));
    tasks.ready(g);
}

/// Making a task: its memory, its future.
const SPAWN: Picos = 20 * NANO;

/// A tree of at most `gs` Gs: `g` has the children `2 g` and `2 g + 1`.
fn tree(gs: u64) -> u64 {
    (1 << (gs + 1).ilog2()) - 1
}
