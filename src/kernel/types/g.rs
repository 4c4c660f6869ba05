//! G: a task, to the kernel one opaque number that is moved and never copied.
//!
//! Go: `type g`, `guintptr`, `casgstatus`.
//!
//! **Every status edge is one of the table's, taken by one compare-and-exchange.** A G readied twice is caught at the
//! second time (golang/go's `casgstatus` is fatal there too).
//!
//! | status   | who holds the G                       | goes to                |
//! |----------|---------------------------------------|------------------------|
//! | Runnable | a queue, or an M about to run it      | Running                |
//! | Running  | the M that runs it                    | Runnable, Waiting, Dead|
//! | Waiting  | whoever will ready it                 | Runnable               |
//! | Dead     | nobody                                | (the end)              |
//!
//! Checked by: verification/src/models/g.rs, proptests/tests/words.rs

use crate::atomic::{Atomic, Value};
use crate::host::Host;
use crate::kernel::types::m::MId;
use core::num::NonZeroU64;
use core::sync::atomic::Ordering::{AcqRel, Relaxed};

/// A task. The embedder puts a number or a pointer into it and gets it back when the task is to run.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a G that is dropped never runs"]
pub struct G(NonZeroU64);

/// This bit set: no task, but a ticket for the M whose number the others are.
const TICKET: u64 = 1 << 63;

impl G {
    /// The G that stands for `raw`.
    ///
    /// # Panics
    /// If `raw` is 2^63 or more: these numbers are the kernel's own. No address of a program is so large.
    #[inline(always)]
    pub fn from_raw(raw: NonZeroU64) -> G {
        assert!(raw.get() < TICKET, "g: a number of 2^63 or more cannot be a G");
        G(raw)
    }

    /// What stands in a queue for the G that is bound to `m`: whoever finds it gives `m` its P. See `locked`.
    #[inline]
    pub fn bound_to(m: MId) -> G {
        G(NonZeroU64::MIN.saturating_add(TICKET | u64::from(m.0) << 1))
    }

    /// The M that this is a ticket for.
    #[inline(always)]
    pub fn bound(&self) -> Option<MId> {
        (self.0.get() & TICKET != 0).then_some(MId((self.0.get() >> 1) as u32))
    }

    /// What the embedder put in.
    #[inline(always)]
    pub fn into_raw(self) -> NonZeroU64 {
        self.0
    }

    /// Its number, to name it in a trace; owns nothing.
    #[inline(always)]
    pub fn id(&self) -> u64 {
        self.0.get()
    }
}

impl Value for Option<G> {
    #[inline(always)]
    fn into_word(self) -> u64 {
        self.map_or(0, |g| g.0.get())
    }
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        NonZeroU64::new(word).map(G)
    }
}

/// What a G is doing. The numbers are Go's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// In a queue, or on its way from one to an M.
    Runnable = 1,
    /// On an M.
    Running = 2,
    /// Recorded somewhere, until somebody readies it.
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

/// A G's status, kept by the embedder beside the task itself.
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
    /// If it was not runnable: somebody runs it already, or it was never readied.
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

    /// It stops running and waits to be readied (Go: `gopark`). Set before anybody can learn that it waits.
    ///
    /// # Panics
    /// If it was not running.
    #[track_caller]
    pub fn park(&self) {
        self.go(Status::Running, Status::Waiting);
    }

    /// What it waited for has happened (Go: `goready`). The caller puts it in a queue.
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
        // Relaxed: for display only. Whoever acts on a status takes an edge.
        self.0.load(Relaxed)
    }

    fn go(&self, from: Status, to: Status) {
        // AcqRel: `status`, both halves. Who takes an edge sees all that was done before the edge that led here.
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

static_assertions::assert_impl_all!(G: Send, Sync);
static_assertions::assert_not_impl_any!(G: Copy, Clone);
static_assertions::const_assert_eq!(size_of::<Option<G>>(), size_of::<u64>());
