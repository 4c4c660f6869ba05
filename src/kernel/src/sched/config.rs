//! The scheduler's numbers, and which of them are allowed.

use crate::host::Nanos;
use crate::protocol::sources::SearchOrder;
use crate::protocol::sysmon::{SHORTEST, SLICE};
use crate::queues::runq::{BadCapacity, Capacity};
use core::fmt;

/// The numbers of a scheduler. Start from `Config::default()` and change what you need.
///
/// ```
/// # use spinpark_kernel::sched::config::Config;
/// let config = Config { procs: 4, max_procs: 16, ..Config::default() };
/// assert!(config.check().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// How many Gs may run at once: the number of Ps. Go: `GOMAXPROCS`. Default 1.
    pub procs: usize,
    /// How many Ps there may be after a resize. Memory is taken for all of them at once. Default 1: as many as `procs`.
    pub max_procs: usize,
    /// How many Gs a P's ring holds: a power of two. Default 256, as Go's.
    pub ring: usize,
    /// In which order to look for work.
    pub order: SearchOrder,
    /// One dispatch in this many serves the global queue first. Default 61, as Go's; 0: never. With 1, a submitter that
    /// keeps the global queue filled starves the rings.
    pub global_every: u32,
    /// K: at most this many dispatches in a row come from `runnext` while the ring holds a G. Default 16; 0: what a G readies
    /// goes behind the ring's.
    pub inherit_at_most: u32,
    /// How often to scan the other Ps before giving up, 64 times at most; the last pass takes their `runnext` too. Default 4, as
    /// Go's.
    pub steal_passes: u32,
    /// An M that has run out of Gs does not start to spin beside so many others, even if they are fewer than half of the busy Ps,
    /// which is Go's bound; beside none it always may. Each that starts or stops changes a word that every submitter reads: with
    /// 64 Ps and Go's bound alone, one producer's spawns wait for little else (in a simulation: docs/evidence/growth.md).
    /// Default 2, which changes nothing with up to 4 Ps; `usize::MAX`: Go's bound alone.
    pub spinning_at_most: usize,
    /// How many Ms there may be. Reaching it is no error: the work waits for an M that is done. Default 512.
    pub max_ms: usize,
    /// How many more Ms there may be while so many are detached: their G was preempted and runs without a P (see
    /// [`Sched::interrupt`](crate::sched::Sched::interrupt)), or yields and waits for its turn with its M. They are
    /// detached until the G has left the M, waits, or enters a system call. Default 0.
    pub max_detached: usize,
    /// For how long a G may run while the others wait, in nanoseconds, before it is preempted. Go: `forcePreemptNS`.
    /// Default 10 ms. Needs the monitor.
    pub slice: Nanos,
    /// A P that always finds a G looks into the poller at the global queue's turn, but only if no M was in it for so long, in
    /// nanoseconds. If it looked at each turn it would never come to steal: the Gs of a P whose thread the system has set aside would
    /// wait until that goes on, while it takes what has become ready since. Default 1 ms; 0: at each turn. A turn that the
    /// embedder [asks for](crate::sched::Sched::next_turn) looks in any case, and may steal from such a P. (In Go only the monitor
    /// looks beside busy Ps, after 10 ms, as here too.)
    pub peek_every: Nanos,
    /// For how long an M sleeps, in nanoseconds, before it is ended; one always stays. Needs the monitor. Default 10 s;
    /// `u64::MAX`: for ever, as in Go.
    pub keep_alive: Nanos,
}

impl Config {
    /// The largest number of Ps.
    pub const MAX_PROCS: usize = 4096;
    /// The largest number of Ms.
    pub const MAX_MS: usize = 1 << 16;
    /// The most passes of a thief, which no M can be called away from.
    pub const MAX_STEAL_PASSES: u32 = 64;

    /// For how many Ps there is a place: `max_procs`, or `procs` if that is more.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
    /// assert_eq!(Config { procs: 4, max_procs: 16, ..Config::default() }.capacity(), 16);
    /// # }
    /// ```
    pub fn capacity(&self) -> usize {
        self.procs.max(self.max_procs)
    }

    /// Checks every number.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
    /// let config = Config { procs: 0, ..Config::default() };
    /// assert_eq!(config.check().unwrap_err().to_string(), "procs is 0: give 1 to 4096; it is how many tasks may run at once");
    /// # }
    /// ```
    ///
    /// # Errors
    /// The first number that is not allowed, and what is.
    pub fn check(&self) -> Result<Capacity, ConfigError> {
        let ring = Capacity::new(self.ring).map_err(ConfigError::Ring)?;
        if !(1..=Self::MAX_PROCS).contains(&self.procs) {
            return Err(ConfigError::Procs(self.procs));
        }
        if self.max_procs > Self::MAX_PROCS {
            return Err(ConfigError::MaxProcs(self.max_procs));
        }
        if !(1..=Self::MAX_STEAL_PASSES).contains(&self.steal_passes) {
            return Err(ConfigError::StealPasses(self.steal_passes));
        }
        if !(1..=Self::MAX_MS).contains(&self.max_ms) {
            return Err(ConfigError::MaxMs(self.max_ms));
        }
        if self.max_detached > Self::MAX_MS {
            return Err(ConfigError::MaxDetached(self.max_detached));
        }
        if self.slice < SHORTEST {
            return Err(ConfigError::Slice(self.slice));
        }
        Ok(ring)
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            procs: 1,
            max_procs: 1,
            ring: Capacity::DEFAULT.get(),
            order: SearchOrder::default(),
            global_every: 61,
            inherit_at_most: 16,
            steal_passes: 4,
            spinning_at_most: 2,
            max_ms: 512,
            max_detached: 0,
            slice: SLICE,
            peek_every: 1_000_000,
            keep_alive: 10_000_000_000,
        }
    }
}

/// A number in a [`Config`] is not allowed.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
/// let error = Sched::<Os>::new(Config { procs: 0, ..Config::default() }, (), live).err().expect("no P");
/// println!("{error}");
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The number of Ps is out of range.
    Procs(usize),
    /// The largest number of Ps is out of range.
    MaxProcs(usize),
    /// The scheduler was made for fewer Ps.
    NoRoom {
        /// How many there should be.
        procs: usize,
        /// How many there can be.
        capacity: usize,
    },
    /// A ring cannot have that size.
    Ring(BadCapacity),
    /// The source of this index shows another waker than the one it was made from.
    Waker(usize),
    /// The number of passes is out of range: with none nothing would ever be stolen.
    StealPasses(u32),
    /// The largest number of Ms is out of range.
    MaxMs(usize),
    /// The largest number of detached Ms is out of range.
    MaxDetached(usize),
    /// The slice is shorter than the monitor's shortest pause.
    Slice(Nanos),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::Procs(n) => {
                write!(f, "procs is {n}: give 1 to {}; it is how many tasks may run at once", Config::MAX_PROCS)
            }
            ConfigError::MaxProcs(n) => write!(f, "max_procs is {n}: give {} at most", Config::MAX_PROCS),
            ConfigError::NoRoom { procs, capacity } => {
                write!(f, "procs is {procs}: give 1 to {capacity}; more only if max_procs is set when it is made")
            }
            ConfigError::Ring(bad) => write!(f, "ring: {bad}"),
            ConfigError::Waker(index) => write!(
                f,
                "source {index} shows another scheduler's waker: keep the one it was made from, and wake it when there \
                 is work, or that is missed"
            ),
            ConfigError::StealPasses(n) => write!(f, "steal_passes is {n}: give 1 to {}", Config::MAX_STEAL_PASSES),
            ConfigError::MaxMs(n) => write!(f, "max_ms is {n}: give 1 to {}", Config::MAX_MS),
            ConfigError::MaxDetached(n) => write!(f, "max_detached is {n}: give {} at most", Config::MAX_MS),
            ConfigError::Slice(n) => write!(f, "slice is {n} ns: give {SHORTEST} ns or more"),
        }
    }
}

impl core::error::Error for ConfigError {}
